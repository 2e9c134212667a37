//! Elements between different things (K53, K57), and how long a substep may be for the bodies at their ends.

use super::{
    Item, Model,
    answer::{self, Signals},
    check::Checker,
    edit, items,
};
use crate::{
    command::{Draw, Push},
    file::{AnswerSpec, CommandSpec, GlobalSpec},
    load::{Scene, SceneError, Source},
};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Anchor, Bodies, Local, MatterId, Tie, anchor::Support};
use trocar_soft::{Global, Input, Link, Net, NodeFlags, global::End, stability};

/// What a timed command pushes, by what force and until when; none if it pushes nothing.
pub(crate) fn timed_pushes(
    model: &Model,
    source: &Source,
    index: usize,
    spec: &CommandSpec,
) -> Result<(Option<Push>, Option<Draw>), SceneError> {
    let check = Checker {
        source,
        table: "command",
        index,
    };
    // Of a command that only leads an instrument the time is that of the way.
    let leads = spec.instrument.is_some() && spec.push.is_none() && spec.pull.is_none();
    let until = spec.until.filter(|_| !leads);
    let (force, on, until) = match (spec.push, &spec.on, until) {
        (None, None, None) if spec.pull.is_none() && spec.force.is_none() => {
            return Ok((None, None));
        }
        (None, Some(on), Some(until)) if spec.pull.is_some() => (DVec3::ZERO, on, until),
        (Some(force), Some(on), Some(until)) => (DVec3::from(force), on, until),
        _ => {
            return Err(check.error(
                &["push".into()],
                "a push needs a force, what it is on, and until when; a pull its way instead of a force",
                "Give `push` or `pull`, and `on` and `until`.",
            ));
        }
    };
    if !(force.is_finite() && force.length() <= 1e3 && until > spec.at && until.is_finite()) {
        return Err(check.error(
            &["push".into()],
            "a push is at most 1000 N and ends after it began",
            "Correct the numbers.",
        ));
    }
    let anchor = model.anchor_at(&check, "on", on, None)?;
    if model.matters[anchor.matter.index()].is_prescribed() {
        return Err(check.error(
            &["on".into()],
            "what is pushed there does not move",
            "Push a tissue, a body or a particle.",
        ));
    }
    let push = spec.push.map(|_| (anchor, force, until));
    let Some(way) = &spec.pull else {
        if spec.force.is_some() {
            return Err(check.error(
                &["force".into()],
                "`force` is how hard a `pull` draws; there is none",
                "Give `push` the force itself, or a `pull`.",
            ));
        }
        return Ok((push, None));
    };
    check.points(way, "pull")?;
    let force = spec.force.unwrap_or(10.0);
    if way.is_empty() || !(force > 0.0 && force <= 1e3) {
        return Err(check.error(
            &["pull".into()],
            "a pull has one point or more, and a force of at most 1000 N",
            "Correct the numbers.",
        ));
    }
    let way = way.iter().map(|p| DVec3::from(*p)).collect();
    let draw = Draw {
        anchor,
        way,
        until,
        force,
    };
    Ok((push, Some(draw)))
}

/// An anchor as the end of an element.
fn end(anchor: Anchor) -> End {
    match (anchor.matter, anchor.at) {
        (MatterId::WORLD, Local::Frame(_, point)) => End::At(point),
        _ => End::On(anchor),
    }
}

impl Model {
    /// Elements between different things, and ties of what bodies hold.
    pub(super) fn add_elements(&mut self, scene: &Scene) -> Result<(), SceneError> {
        let signals = answer::signals(scene)?;
        for item in items(scene, |s| &s.file.element) {
            let element = self.element(&item, &signals)?;
            self.globals.push(element);
        }
        self.expect_all();
        self.mark_joined();
        self.draw_bodies();
        Ok(())
    }

    /// Bodies and particles that springs draw move as nodes do: by the mean of old and new velocity they would gain energy.
    fn draw_bodies(&mut self) {
        let Some(matter) = self.bodies else { return };
        let springs = self.globals.iter().filter(|g| !g.damps());
        let mut drawn: Vec<u32> = Vec::new();
        for anchor in springs.flat_map(Global::anchors) {
            let parts = Support::of(anchor);
            let ours = parts.parts().iter().filter(|p| p.0 == matter);
            drawn.extend(ours.map(|(_, at, _)| at.node));
        }
        let any: &mut dyn std::any::Any = &mut *self.matters[matter.index()];
        if let Some(bodies) = any.downcast_mut::<Bodies>() {
            drawn.into_iter().for_each(|n| bodies.draw(n as usize));
        }
    }

    /// The bodies and particles that a matter consists of; none if it is something else.
    pub fn bodies_of(&self, matter: MatterId) -> Option<&Bodies> {
        let any: &dyn std::any::Any = &**self.matters.get(matter.index())?;
        any.downcast_ref::<Bodies>()
    }

    /// Marks the nodes from which elements lead to something else, and those that are tied to bodies (K26).
    pub(super) fn mark_joined(&mut self) {
        let ends = self.globals.iter().flat_map(Global::anchors);
        let led = ends.map(|anchor| (*anchor, NodeFlags::GLOBAL_ELEMENT));
        let ours = |a: &Anchor| Some(a.matter) == self.bodies;
        let tied = self.ties.iter().flat_map(|tie| {
            let held = [(tie.a, tie.b), (tie.b, tie.a)].into_iter();
            held.filter(|(_, other)| ours(other))
                .map(|(node, _)| (node, NodeFlags::GLOBAL_DYNAMIC))
        });
        let marks: Vec<(Anchor, NodeFlags)> = led.chain(tied).collect();
        for (anchor, mark) in marks {
            let any: &mut dyn std::any::Any = &mut *self.matters[anchor.matter.index()];
            if let Some(net) = any.downcast_mut::<Net>() {
                for (_, at, _) in Support::of(&anchor).parts() {
                    net.set_flags(at.node as usize, mark, true);
                }
            }
        }
    }

    pub(super) fn element(
        &self,
        item: &Item<'_, GlobalSpec>,
        signals: &Signals,
    ) -> Result<Global, SceneError> {
        let check = Checker {
            source: item.source,
            table: "element",
            index: item.index,
        };
        let spec = item.item;
        let a = self.anchor_at(&check, "a", &spec.a, None)?;
        let from = self.place_of(&a);
        let b = match &spec.b {
            None => Anchor::world(from),
            Some(spec) => self.anchor_at(&check, "b", spec, None)?,
        };
        let middle = spec.middle.as_ref();
        let middle = middle.map(|spec| self.anchor_at(&check, "middle", spec, None));
        let middle = middle.transpose()?;
        let mut ends = [Some(a), middle, Some(b)].into_iter().flatten();
        if a == b || ends.all(|e| self.matters[e.matter.index()].is_prescribed()) {
            return Err(check.error(
                &["b".into()],
                "an element joins two different points, and one of them must move",
                "Name another point.",
            ));
        }
        let element = match (&spec.answer, spec.bend, spec.torsion) {
            (Some(answer), None, None) if spec.middle.is_none() => {
                self.link(&check, (a, b), answer, (spec, signals))?
            }
            (None, Some(constant), None) => self.bend(&check, [a, b], constant, (spec, middle))?,
            (None, None, Some(constant)) if spec.middle.is_none() => {
                let rest = [a, b].map(|e| self.turn_of(&e));
                Global::torsion([a, b].map(end), constant, rest)
            }
            _ => {
                return Err(check.error(
                    &["a".into()],
                    "an element is a spring or damper, bends, or turns back",
                    "Give one of `answer`, `bend` with `middle`, and `torsion`.",
                ));
            }
        };
        let told = spec.rest_length.is_some() || spec.shorten != 0.0 || spec.drive.is_some();
        if spec.answer.is_none() && told {
            return Err(check.error(
                &["a".into()],
                "only springs have a length and are driven",
                "Leave `rest_length`, `shorten` and `drive` out.",
            ));
        }
        match element.objection() {
            None => Ok(element),
            Some(objection) => {
                let kinds = [("bend", spec.bend), ("torsion", spec.torsion)];
                let kind = kinds.iter().find(|k| k.1.is_some());
                let key = kind.map_or("answer", |k| k.0);
                Err(check.error(&[key.into()], objection, "Correct it."))
            }
        }
    }

    /// A spring or damper.
    fn link(
        &self,
        check: &Checker<'_>,
        (a, b): (Anchor, Anchor),
        answer: &AnswerSpec,
        (spec, signals): (&GlobalSpec, &Signals),
    ) -> Result<Global, SceneError> {
        let law = answer::law(check, &["answer".into()], answer)?;
        let on_film = [a, b].iter().any(|e| self.membrane(e.matter).is_some());
        if on_film && law.input == Input::Velocity {
            return Err(check.error(
                &["answer".into()],
                "a damper can't end on a membrane: how light its nodes become as it tears, nobody knows",
                "Give the membrane `damping`, or end the damper on something else.",
            ));
        }
        let apart = self.place_of(&a).distance(self.place_of(&b));
        let rest = edit::rest_length(spec.rest_length, spec.shorten, apart)
            .map_err(|problem| check.error(&["rest_length".into()], problem, "Correct it."))?;
        let drive = match &spec.drive {
            None => None,
            Some(active) => {
                let (signal, drive) = answer::drive(check, &["drive".into()], active, signals)?;
                Some((signals[signal].1.clone(), drive))
            }
        };
        let length = match law.input {
            Input::Distance => rest,
            Input::Velocity => 0.0,
        };
        let link = Link {
            drive,
            ..Link::new(length, law)
        };
        Ok(Global::link([a, b].map(end), link))
    }

    /// What keeps the angle at a point between two others.
    fn bend(
        &self,
        check: &Checker<'_>,
        [a, b]: [Anchor; 2],
        constant: f64,
        (spec, middle): (&GlobalSpec, Option<Anchor>),
    ) -> Result<Global, SceneError> {
        let Some(middle) = middle else {
            return Err(check.error(
                &["bend".into()],
                "what bends has a `middle`, between `a` and `b`",
                "Name the point that bends.",
            ));
        };
        // Left out, it would be where `a` is: that is no angle.
        if spec.b.is_none() {
            return Err(check.error(
                &["bend".into()],
                "what bends has two other points, on either side of its `middle`",
                "Name `b` as well.",
            ));
        }
        let points = [a, middle, b];
        let places = points.map(|e| self.place_of(&e));
        Ok(Global::bend(points.map(end), constant, places))
    }

    /// How the frame that an anchor is on is turned at the start; of what has none, not at all.
    fn turn_of(&self, anchor: &Anchor) -> DQuat {
        let Local::Frame(node, _) = anchor.at else {
            return DQuat::IDENTITY;
        };
        let turned = self.start[anchor.matter.index()]
            .orientation
            .get(node as usize);
        turned.copied().unwrap_or_default()
    }

    /// Where a point is at the start, m.
    pub(super) fn place_of(&self, anchor: &Anchor) -> DVec3 {
        let support = Support::of(anchor);
        let parts = support.parts().iter().map(|(m, at, weight)| {
            self.matters[m.index()].position(&self.at_start(*m), at) * *weight
        });
        parts.sum()
    }

    /// A node of a tissue as an anchor: a central one is a frame.
    pub(super) fn node_anchor(&self, (matter, node): (MatterId, u32)) -> Anchor {
        if (node as usize) < self.start[matter.index()].frames() {
            Anchor::frame(matter, node, DVec3::ZERO)
        } else {
            Anchor::node(matter, node)
        }
    }

    /// A tie that holds a node of a tissue where it is on a body (K54 towards bodies).
    pub(super) fn hold(
        &mut self,
        check: &Checker<'_>,
        body: &str,
        (matter, node): (MatterId, u32),
    ) -> Result<(), SceneError> {
        let spec = crate::file::AnchorSpec {
            body: Some(body.into()),
            ..Default::default()
        };
        let slave = self.node_anchor((matter, node));
        let place = self.place_of(&slave);
        let master = self.anchor_at(check, "master", &spec, Some(place.into()))?;
        self.ties.push(Tie::point(master, slave));
        Ok(())
    }

    /// Elements of a group as its nets see them: an end on anything else is where it was at the start.
    pub(super) fn globals_of(&self, nets: &[MatterId]) -> Vec<Global> {
        let local = |end: &End| match end {
            End::On(anchor) => match nets.iter().position(|n| *n == anchor.matter) {
                Some(i) => End::On(Anchor {
                    matter: MatterId(i as u32),
                    ..*anchor
                }),
                None => End::Away(self.place_of(anchor)),
            },
            End::At(_) | End::Away(_) => *end,
        };
        let here = self.globals.iter().map(|g| g.with_ends(local));
        here.filter(|g| g.anchors().next().is_some()).collect()
    }

    /// The longest substep for bodies that elements of this group pull at, s: as if everything at their other ends stood still
    /// or came towards them as fast.
    pub(super) fn body_step(&self, members: &[MatterId]) -> f64 {
        let Some(bodies) = self.bodies.filter(|b| members.contains(b)) else {
            return f64::INFINITY;
        };
        let masses = self.matters[bodies.index()].masses();
        let mut answers: Vec<[f64; 2]> = vec![[0.0; 2]; masses.len()];
        for g in &self.globals {
            for anchor in g.anchors() {
                for (m, at, weight) in Support::of(anchor).parts().iter().filter(|p| p.0 == bodies)
                {
                    let i = at.node as usize;
                    let inertia = masses.rigid().get(i).and_then(|r| r.inertia);
                    let arm = at.offset.length_squared();
                    let turn = inertia.map_or(0.0, |j| arm / j.min_element());
                    let light = (1.0 / masses.mass()[i] + turn) * weight * weight;
                    let kind = usize::from(g.damps());
                    answers[i][kind] += 2.0 * g.slope() * light;
                    answers[i][0] += inertia.map_or(0.0, |j| 2.0 * g.turning() / j.min_element());
                    debug_assert!(*m == bodies);
                }
            }
        }
        for hold in self.bodies_of(bodies).map_or(&[][..], Bodies::holds) {
            let i = hold.body as usize;
            let inertia = masses.rigid().get(i).and_then(|r| r.inertia);
            // Place and turn as if in one mode: a body that is off its place is drawn by its elements as well.
            answers[i][0] += hold.stiffness / masses.mass()[i]
                + inertia.map_or(0.0, |j| hold.torsion / j.min_element());
        }
        let step = |[spring, damper]: &[f64; 2]| stability::critical_step(1.0, -*damper, *spring);
        answers.iter().map(step).fold(f64::INFINITY, f64::min)
    }
}
