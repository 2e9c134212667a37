//! What asks for many substeps, by name (K69).

use super::{Connected, Model, substeps};
use serde::Serialize;
use trocar_dynamics::{Lock, Matter, MatterId, anchor::Support};
use trocar_soft::{
    Global,
    stability::{self, Stiffest},
};

/// Groups that need more substeps than this in a step are told of, with what asks for them: below, a stiff part costs hardly more than what is
/// done once a step.
pub const MANY_SUBSTEPS: u32 = 20;

/// While a scene runs, a group is told of again once it needs so many times more.
const SEVERAL: u32 = 3;

/// A group that needs many substeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Demand {
    /// The names of its members.
    pub group: String,
    /// Substeps in a step.
    pub substeps: u32,
    /// What asks for them; empty if no single part does.
    pub part: String,
}

impl std::fmt::Display for Demand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} needs {} substeps", self.group, self.substeps)?;
        if self.part.is_empty() {
            return Ok(());
        }
        write!(f, ", because of {}", self.part)
    }
}

/// How often the count of a group has gone past [`MANY_SUBSTEPS`] and [`SEVERAL`] times that, again and again. It depends on the count alone, so
/// that no way of many small changes leads past it unseen.
pub(crate) fn level(substeps: u32) -> u32 {
    let passed = std::iter::successors(Some(MANY_SUBSTEPS), |n| n.checked_mul(SEVERAL));
    passed.take_while(|n| substeps > *n).count() as u32
}

impl Model {
    /// The longest substep of a group that any state may need, s, or, where they follow the state, that rest does.
    fn usual_step(&self, group: &Connected) -> f64 {
        let bounds = self.bounds_now(group);
        if self.adaptive {
            (0.9 * bounds.exact).min(self.film_step(&group.members))
        } else {
            bounds.safe
        }
    }

    /// Substeps that a group takes in a step at least.
    pub fn substeps_of(&self, group: &Connected) -> u32 {
        substeps(self.step, self.usual_step(group))
    }

    /// What asks for the substeps of a group, if there are [many](MANY_SUBSTEPS).
    pub fn demand(&self, group: &Connected) -> Option<Demand> {
        let substeps = self.substeps_of(group);
        (substeps > MANY_SUBSTEPS).then(|| {
            let names = group.members.iter().map(|m| self.names[m.index()].as_str());
            let part = self.stiffest(&group.members, self.usual_step(group));
            Demand {
                group: names.collect::<Vec<&str>>().join(" + "),
                substeps,
                part: part.map_or_else(String::new, |(part, _)| self.called(&part)),
            }
        })
    }

    /// All groups that need many substeps.
    pub fn demands(&self) -> Vec<Demand> {
        let groups = self.groups.iter();
        groups.filter_map(|group| self.demand(group)).collect()
    }
}

impl Model {
    /// What of connected matter asks for substeps as short as `bound` s, and its rate, 1/s²; none if nothing does.
    pub(super) fn stiffest(&self, members: &[MatterId], bound: f64) -> Option<(Blamed, f64)> {
        // If a membrane asks for it, nothing else is to blame.
        let films = members.iter().filter_map(|m| {
            let step = self.film_step(&[*m]);
            (step <= bound && step.is_finite()).then_some((Blamed::Film(*m), 4.0 / (step * step)))
        });
        let film = films.max_by(|a, b| a.1.total_cmp(&b.1));
        if film.is_some() {
            return film;
        }
        let nets = members.iter().filter_map(|m| {
            let (what, rate) = stability::stiffest(self.net(*m)?)?;
            Some((Blamed::Net(*m, what), rate))
        });
        let elements = self.globals.iter().enumerate();
        let elements = elements.map(|(i, g)| (Blamed::Element(i), self.rate(g, members)));
        let bodies = self.bodies.filter(|b| members.contains(b));
        let bodies = bodies.and_then(|m| Some((m, self.bodies_of(m)?)));
        let holds = bodies.into_iter().flat_map(|(m, bodies)| {
            let masses = bodies.masses();
            bodies.holds().iter().map(move |hold| {
                let node = hold.body as usize;
                let inertia = masses.rigid().get(node).and_then(|r| r.inertia);
                let turning = inertia.map_or(0.0, |j| hold.torsion / j.min_element());
                let rate = hold.stiffness / masses.mass()[node] + turning;
                (Blamed::Hold(m, hold.body), rate)
            })
        });
        let all = nets.chain(elements).chain(holds).filter(|x| x.1 > 0.0);
        all.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// How fast an element between things makes what it draws swing, 1/s²; of dampers the square of their rate.
    fn rate(&self, global: &Global, members: &[MatterId]) -> f64 {
        let ends = global.anchors();
        let ends = ends.filter(|anchor| members.contains(&anchor.matter));
        let rates = ends.map(|anchor| {
            let support = Support::of(anchor);
            let parts = support.parts().iter().map(|(m, at, weight)| {
                let (masses, i) = (self.matters[m.index()].masses(), at.node as usize);
                let inertia = masses.rigid().get(i).and_then(|r| r.inertia);
                let turn = inertia.map_or(0.0, |j| at.offset.length_squared() / j.min_element());
                // What is locked stays where it is, but may turn there.
                let light = match masses.lock(i) {
                    Lock::Fixed => turn,
                    _ => 1.0 / masses.mass()[i] + turn,
                };
                let swings = global.slope() * light * weight * weight;
                swings + inertia.map_or(0.0, |j| global.turning() / j.min_element())
            });
            parts.sum::<f64>()
        });
        let rate = rates.sum::<f64>();
        if global.damps() { rate * rate } else { rate }
    }

    /// The same in words.
    pub(super) fn called(&self, blamed: &Blamed) -> String {
        let (matter, what) = match blamed {
            Blamed::Net(matter, what) => (*matter, what),
            Blamed::Film(matter) => {
                return format!("the membrane {}", self.names[matter.index()]);
            }
            Blamed::Element(i) => return format!("[[element]] {i}, counted from 0"),
            Blamed::Hold(matter, node) => {
                let look = self.looks.iter().find(|l| l.at == (*matter, *node));
                let name = look.map_or("a body", |look| look.name.as_str());
                return format!("what draws {name} back to its place");
            }
        };
        let first = self
            .net(matter)
            .map_or(0, |net| net.masses().frames() as u32);
        let node = |n: u32| match n.checked_sub(first) {
            Some(point) => format!("node {point}"),
            None => format!("central node {n}"),
        };
        let of = &self.names[matter.index()];
        match *what {
            Stiffest::Element(i, [a, b]) => {
                format!("element {i} of {of}, between {} and {}", node(a), node(b))
            }
            Stiffest::Memory(n) => format!("the shape memory of {} of {of}", node(n)),
            Stiffest::Bend(i, n) => format!("bending element {i} of {of}, at {}", node(n)),
            Stiffest::Torsion(i, n) => format!("torsion element {i} of {of}, at {}", node(n)),
            Stiffest::Twist(i, n) => {
                format!(
                    "torsion element {i} about the main axis of {of}, at {}",
                    node(n)
                )
            }
        }
    }
}

/// What asks for the shortest substeps.
pub(super) enum Blamed {
    /// A membrane as a whole.
    Film(MatterId),
    /// A part of a tissue.
    Net(MatterId, Stiffest),
    /// An element between things, by its number.
    Element(usize),
    /// What draws a body back to its place.
    Hold(MatterId, u32),
}
