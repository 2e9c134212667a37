//! Parameters that can be changed while a scene runs (K13).

mod film;
mod joint;
pub(crate) mod single;

use crate::{
    Event, Simulation,
    build::{Model, Wish},
    collisions::Collisions,
    event::Happening,
    file::{InstrumentKind, IntegratorName, LawSpec, MaterialSpec},
};
use film::FILM_NUMBERS;
use serde::{Deserialize, Serialize};
use single::Touches;
use trocar_dynamics::{Matter, MatterId};
use trocar_soft::net::Yielding;

/// A number of the scene that can be changed while it runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// What it belongs to: "world", the name of a tissue or an instrument, or "joint" or "body" and a name.
    pub group: String,
    /// What it is called there.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Least value.
    pub least: f64,
    /// Greatest value.
    pub greatest: f64,
    /// What it is now.
    pub value: f64,
    /// What the scene says.
    pub start: f64,
    /// What its values 0, 1, 2 … mean, if it is one of a few; empty if it is a number.
    pub choices: &'static [&'static str],
}

impl Parameter {
    /// Why it can't have a value whatever the others are; none if it can.
    pub(crate) fn objection(&self, value: f64) -> Option<String> {
        let (least, greatest) = (self.least, self.greatest);
        if !(least..=greatest).contains(&value) {
            return Some(format!(
                "{value} does not lie between {least} and {greatest}"
            ));
        }
        let whole = self.choices.is_empty() || value == trocar_math::real::floor(value);
        (!whole).then(|| {
            let last = self.choices.len() - 1;
            format!("it is one of the whole numbers 0 to {last}")
        })
    }
}

/// A wish to change a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Index into [`Simulation::parameters`](crate::Simulation::parameters).
    pub parameter: u32,
    /// What it shall be.
    pub value: f64,
}

/// What a parameter is a number of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    /// Gravity along an axis.
    Gravity(usize),
    /// How much of a step's time passes.
    SlowMotion,
    /// Whether substeps follow the state.
    Adaptive,
    /// A number of a tissue's material: which tissue, which of [`NUMBERS`].
    Material(usize, usize),
    /// The pull that an instrument's jaws hold.
    GripForce(usize),
    /// The greatest speed of an instrument.
    Speed(usize),
    /// The force that tears membranes off a needle.
    TearOff(usize),
    /// A number of a membrane: which membrane, which of [`FILM_NUMBERS`].
    Film(usize, usize),
    /// A number of what drives a joint: which joint, which number.
    Drive(usize, usize),
    /// The force beyond which a joint gives way.
    Strength(usize),
    /// Whether a joint holds.
    Held(usize),
    /// A number of a body that touches others: which collider, which number.
    Body(usize, usize),
    /// A number of a single thing: its place among all of them, and what follows from it.
    Single(usize, Touches),
}

/// How far a number may be changed.
#[derive(Clone, Copy)]
enum Range {
    /// A tenth to ten times of what the scene says.
    Tenfold,
    /// From 0 to ten times of what the scene says, or to this if it says 0.
    UpTo(f64),
    /// From 0 to this.
    Within(f64),
    /// A part of one.
    Share,
    /// So much more or less than the scene says.
    Around(f64),
    /// Ten times of what the scene says to either side, or so far if it says 0.
    Either(f64),
    /// One of two.
    Choice,
}

impl Range {
    fn bounds(self, start: f64) -> [f64; 2] {
        match self {
            Self::Tenfold => [0.1 * start, 10.0 * start],
            Self::UpTo(most) if start == 0.0 => [0.0, most],
            Self::UpTo(_) => [0.0, 10.0 * start],
            Self::Within(most) => [0.0, most.max(start)],
            Self::Share => [0.01, 1.0],
            Self::Around(reach) => [start - reach, start + reach],
            Self::Either(most) if start == 0.0 => [-most, most],
            Self::Either(_) => [-10.0 * start.abs(), 10.0 * start.abs()],
            Self::Choice => [0.0, 1.0],
        }
    }
}

/// Which tissues have a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tissues {
    /// All.
    All,
    /// Those with central nodes: organs and pipes.
    Carried,
    /// Pipes.
    Pipes,
}

/// A number of a material.
struct Number {
    name: &'static str,
    unit: fn(&MaterialSpec) -> &'static str,
    about: &'static str,
    range: Range,
    tissues: Tissues,
    place: fn(&mut MaterialSpec) -> &mut f64,
}

fn spring_unit(material: &MaterialSpec) -> &'static str {
    of_law(material.law)
}

fn memory_unit(material: &MaterialSpec) -> &'static str {
    of_law(material.memory_law)
}

fn of_law(law: LawSpec) -> &'static str {
    match law {
        LawSpec::Linear => "N/m",
        LawSpec::Quadratic => "N/m²",
    }
}

/// Every number of a material.
const NUMBERS: [Number; 20] = [
    Number {
        name: "mass",
        unit: |_| "kg",
        about: "Mass of a surface node.",
        range: Range::Tenfold,
        tissues: Tissues::All,
        place: |m| &mut m.mass,
    },
    Number {
        name: "damping",
        unit: |_| "N·s/m",
        about: "Damping of a surface node.",
        range: Range::UpTo(1.0),
        tissues: Tissues::All,
        place: |m| &mut m.damping,
    },
    Number {
        name: "stiffness",
        unit: spring_unit,
        about: "Springs between surface nodes.",
        range: Range::UpTo(100.0),
        tissues: Tissues::All,
        place: |m| &mut m.stiffness,
    },
    Number {
        name: "gain when shorter",
        unit: |_| "",
        about: "Gain of those springs when shorter than at rest; 0 bears tension only.",
        range: Range::Within(4.0),
        tissues: Tissues::All,
        place: |m| &mut m.gain[0],
    },
    Number {
        name: "gain when longer",
        unit: |_| "",
        about: "Gain of those springs when longer than at rest.",
        range: Range::Within(4.0),
        tissues: Tissues::All,
        place: |m| &mut m.gain[1],
    },
    Number {
        name: "memory",
        unit: memory_unit,
        about: "What draws a surface node back to its place.",
        range: Range::UpTo(100.0),
        tissues: Tissues::All,
        place: |m| &mut m.memory,
    },
    Number {
        name: "centre mass",
        unit: |_| "kg",
        about: "Mass of a central node.",
        range: Range::Tenfold,
        tissues: Tissues::Carried,
        place: |m| &mut m.centre_mass,
    },
    Number {
        name: "centre damping",
        unit: |_| "N·s/m",
        about: "Damping of a central node.",
        range: Range::UpTo(5.0),
        tissues: Tissues::Carried,
        place: |m| &mut m.centre_damping,
    },
    Number {
        name: "turn damping",
        unit: |_| "N·m·s/rad",
        about: "Rotational damping of a central node.",
        range: Range::UpTo(5e-3),
        tissues: Tissues::Carried,
        place: |m| &mut m.turn_damping,
    },
    Number {
        name: "torsion",
        unit: |_| "N·m/rad",
        about: "What turns a central node back to how it was built.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Carried,
        place: |m| &mut m.torsion,
    },
    Number {
        name: "twist",
        unit: |_| "N·m/rad",
        about: "What turns the rings of a pipe across its axis.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Pipes,
        place: |m| &mut m.twist,
    },
    Number {
        name: "centre stiffness",
        unit: |_| "N/m",
        about: "Springs between the central nodes.",
        range: Range::UpTo(100.0),
        tissues: Tissues::Pipes,
        place: |m| &mut m.centre_stiffness,
    },
    Number {
        name: "bending",
        unit: |_| "N/rad",
        about: "What straightens it at its central nodes.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Pipes,
        place: |m| &mut m.bending,
    },
    Number {
        name: "brace",
        unit: |_| "N·s/m",
        about: "Dampers from ring to ring.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Pipes,
        place: |m| &mut m.brace,
    },
    Number {
        name: "bears",
        unit: |_| "N",
        about: "Force at which a grasped point tears out.",
        range: Range::Tenfold,
        tissues: Tissues::All,
        place: |m| &mut m.bears,
    },
    Number {
        name: "dead when shorter",
        unit: |_| "m",
        about: "Dead zone of the springs between surface nodes when shorter than at rest.",
        range: Range::UpTo(0.005),
        tissues: Tissues::All,
        place: |m| &mut m.dead[0],
    },
    Number {
        name: "dead when longer",
        unit: |_| "m",
        about: "Dead zone of those springs when longer than at rest.",
        range: Range::UpTo(0.005),
        tissues: Tissues::All,
        place: |m| &mut m.dead[1],
    },
    Number {
        name: "shorten",
        unit: |_| "",
        about: "By what part those springs are shorter at rest than built: pre-tension.",
        range: Range::Within(0.5),
        tissues: Tissues::All,
        place: |m| &mut m.shorten,
    },
    Number {
        name: "quasi factor",
        unit: |_| "",
        about: "Factor of the velocity, if it moves quasi-dynamically.",
        range: Range::Share,
        tissues: Tissues::All,
        place: |m| &mut m.quasi_factor,
    },
    Number {
        name: "velocity weight",
        unit: |_| "",
        about: "Weight of the new velocity, if it moves by the weighted scheme.",
        range: Range::Share,
        tissues: Tissues::All,
        place: |m| &mut m.velocity_weight,
    },
];

/// One of a few things that a material can be or do.
struct Choice {
    name: &'static str,
    about: &'static str,
    choices: &'static [&'static str],
    read: fn(&MaterialSpec) -> usize,
    write: fn(&mut MaterialSpec, usize),
}

const LAWS: &[&str] = &["linear", "quadratic"];

/// All of them; a [`Subject::Material`] counts them after [`NUMBERS`].
const CHOICES: [Choice; 4] = [
    Choice {
        name: "gravity",
        about: "Gravity acts on it.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.gravity),
        write: |m, k| m.gravity = k == 1,
    },
    Choice {
        name: "integrator",
        about: "By which scheme it moves.",
        choices: &[
            "MESD",
            "quasi-dynamic",
            "modified Runge-Kutta",
            "modified Heun",
            "Euler-Cauchy",
            "Runge-Kutta",
            "Heun",
            "weighted",
            "midpoint",
        ],
        read: |m| {
            let all = IntegratorName::ALL.iter();
            all.take_while(|i| **i != m.integrator).count()
        },
        write: |m, k| m.integrator = IntegratorName::ALL.get(k).copied().unwrap_or_default(),
    },
    Choice {
        name: "memory law",
        about: "How the shape memory grows; its constant counts in N/m or N/m².",
        choices: LAWS,
        read: |m| usize::from(m.memory_law == LawSpec::Quadratic),
        write: |m, k| m.memory_law = [LawSpec::Linear, LawSpec::Quadratic][k.min(1)],
    },
    Choice {
        name: "mobile",
        about: "Its central nodes feel the nodes they carry.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.mobile),
        write: |m, k| m.mobile = k == 1,
    },
];

/// All parameters of a model, and what each is a number of.
pub(crate) fn list(model: &Model) -> (Vec<Parameter>, Vec<Subject>) {
    let (mut parameters, mut subjects) = (Vec::new(), Vec::new());
    let mut add =
        |group: &str, name: &str, unit, about, [least, greatest]: [f64; 2], start, subject| {
            let choices = match subject {
                Subject::Material(_, k) => choice(k).map_or(&[][..], |c| c.choices),
                Subject::Adaptive => &["no", "yes"][..],
                _ => &[][..],
            };
            parameters.push(Parameter {
                choices,
                group: group.into(),
                name: name.into(),
                unit,
                about,
                least,
                greatest,
                value: start,
                start,
            });
            subjects.push(subject);
        };
    for (axis, name) in ["gravity x", "gravity y", "gravity z"].iter().enumerate() {
        let start = model.gravity[axis];
        let range = [f64::min(-20.0, start), f64::max(20.0, start)];
        let about = "Gravity along this axis; y is up.";
        add(
            "world",
            name,
            "m/s²",
            about,
            range,
            start,
            Subject::Gravity(axis),
        );
    }
    for (t, tissue) in model.tissues.iter().enumerate() {
        let Some(mut material) = model.material(t).cloned() else {
            continue;
        };
        // Nets of one's own and meshes may have many central nodes, too, but not what joins those of a pipe.
        let kind = match tissue.first {
            _ if model.is_pipe(t) => Tissues::Pipes,
            0 => Tissues::All,
            _ => Tissues::Carried,
        };
        for (k, number) in NUMBERS.iter().enumerate().filter(|n| n.1.tissues <= kind) {
            let start = *(number.place)(&mut material);
            let unit = (number.unit)(&material);
            let range = number.range.bounds(start);
            let subject = Subject::Material(t, k);
            add(
                &tissue.name,
                number.name,
                unit,
                number.about,
                range,
                start,
                subject,
            );
        }
        for (k, choice) in CHOICES.iter().enumerate() {
            if choice.name == "mobile" && kind == Tissues::All {
                continue;
            }
            let start = (choice.read)(&material) as f64;
            add(
                &tissue.name,
                choice.name,
                "",
                choice.about,
                [0.0, (choice.choices.len() - 1) as f64],
                start,
                Subject::Material(t, NUMBERS.len() + k),
            );
        }
    }
    for (k, film) in model.films.iter().enumerate() {
        let Some(mut spec) = model.film_spec(k).cloned() else {
            continue;
        };
        let name = &model.tissues[film.tissue].name;
        for (n, number) in FILM_NUMBERS.iter().enumerate() {
            let unit = (number.unit)(&spec);
            if let Some(start) = (number.place)(&mut spec).map(|x| *x) {
                let range = number.range.bounds(start);
                let subject = Subject::Film(k, n);
                add(name, number.name, unit, number.about, range, start, subject);
            }
        }
    }
    for (t, tool) in model.tools.iter().enumerate() {
        let (name, grasper) = (&tool.name, &tool.grasper);
        let numbers = [
            (
                "grip force",
                "N",
                "How much pull the jaws hold.",
                grasper.grip_force,
                Subject::GripForce(t),
            ),
            (
                "speed",
                "m/s",
                "How fast its tip follows the hand at most.",
                grasper.speed,
                Subject::Speed(t),
            ),
        ];
        let sticks = tool.stick.map(|[_, limit]| {
            let about = "Force along its skin that tears off what sticks to it.";
            ("tears off at", "N", about, limit, Subject::TearOff(t))
        });
        // A needle has no jaws.
        let holds = tool.kind != InstrumentKind::Needle;
        let numbers = numbers.into_iter().skip(usize::from(!holds));
        for (what, unit, about, start, subject) in numbers.chain(sticks) {
            add(
                name,
                what,
                unit,
                about,
                Range::Tenfold.bounds(start),
                start,
                subject,
            );
        }
    }
    add(
        "world",
        "slow motion",
        "",
        "How much of each step's time passes in the scene; 1 is all of it.",
        [0.01, 1.0],
        model.slow_motion,
        Subject::SlowMotion,
    );
    add(
        "world",
        "adaptive",
        "",
        "Substeps are as many as the state needs now, instead of as many as any may need.",
        [0.0, 1.0],
        f64::from(u8::from(model.adaptive)),
        Subject::Adaptive,
    );
    let mut k = 0;
    single::visit(&mut model.plan().clone(), &mut |single| {
        let start = single.place.read();
        let [least, greatest] = single.range.bounds(start);
        parameters.push(Parameter {
            choices: if matches!(single.place, single::Place::Law(_)) {
                LAWS
            } else {
                &[]
            },
            group: single.group,
            name: single.name,
            unit: single.unit,
            about: single.about,
            least,
            greatest,
            value: start,
            start,
        });
        subjects.push(Subject::Single(k, single.touches));
        k += 1;
    });
    // Last: snapshots name parameters by their numbers, and those of older ones stay what they were.
    let joints = joint::joints(model).into_iter().chain(joint::bodies(model));
    for listed in joints.chain(joint::latches(model)) {
        parameters.push(Parameter {
            choices: listed.choices,
            group: listed.group,
            name: listed.name.into(),
            unit: listed.unit,
            about: listed.about,
            least: listed.bounds[0],
            greatest: listed.bounds[1],
            value: listed.start,
            start: listed.start,
        });
        subjects.push(listed.subject);
    }
    (parameters, subjects)
}

/// Writes number `k` of a material.
fn write(material: &mut MaterialSpec, k: usize, value: f64) {
    match (NUMBERS.get(k), choice(k)) {
        (Some(number), _) => *(number.place)(material) = value,
        (None, Some(choice)) => (choice.write)(material, value as usize),
        (None, None) => {}
    }
}

/// The choice that number `k` of a material is, if it is one.
fn choice(k: usize) -> Option<&'static Choice> {
    CHOICES.get(k.checked_sub(NUMBERS.len())?)
}

impl Simulation {
    /// Every number that can be changed while the scene runs; its index is what a [`Change`] names.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Changes parameters before a step. What can't be changed is refused, with an event that says why; the rest is changed.
    pub(crate) fn change(&mut self, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let mut wanted: Vec<(usize, f64)> = Vec::new();
        for change in changes {
            let p = change.parameter as usize;
            // Said twice in one step, the last word counts; so there are never more than there are parameters.
            wanted.retain(|w| w.0 != p);
            match self
                .objection(p, change.value)
                .or_else(|| self.buries(p, change.value))
            {
                Some(reason) => self.refuse(p, reason),
                None if self.parameters[p].value == change.value => {}
                None => wanted.push((p, change.value)),
            }
        }
        if wanted.is_empty() {
            return;
        }
        // All together first: what is fine as a whole may not be so half way.
        match self.assume(&wanted) {
            Ok(()) => wanted.iter().for_each(|w| self.tell(w.0)),
            Err(reason) if wanted.len() == 1 => self.refuse(wanted[0].0, reason),
            Err(_) => {
                for one in wanted {
                    match self.assume(&[one]) {
                        Ok(()) => self.tell(one.0),
                        Err(reason) => self.refuse(one.0, reason),
                    }
                }
            }
        }
    }

    /// Why a parameter can't have a value whatever the others are; none if it can.
    pub(crate) fn objection(&self, p: usize, value: f64) -> Option<String> {
        let Some(parameter) = self.parameters.get(p) else {
            return Some(format!(
                "there are only {} parameters",
                self.parameters.len()
            ));
        };
        parameter.objection(value)
    }

    /// Why a ground can't come up to a height, m: it lifts what is below it within one substep, and would throw it.
    fn buries(&self, p: usize, height: f64) -> Option<String> {
        let Some(Subject::Single(_, Touches::Ground(t))) = self.subjects.get(p) else {
            return None;
        };
        let matter = self.model.tissues[*t].matter;
        let masses = self.model.net(matter)?.masses();
        let places = &self.state.nodes[matter.index()].position;
        let heights = places.iter().map(|p| p.y).enumerate();
        let lowest = heights
            .filter(|(i, _)| masses.can_rise(*i))
            .map(|(_, y)| y)
            .fold(f64::INFINITY, f64::min);
        (lowest < height).then(|| format!("its lowest free node is at {lowest} m now"))
    }

    /// Gives parameters their values, all or none; the values are within range.
    pub(crate) fn assume(&mut self, values: &[(usize, f64)]) -> Result<(), String> {
        self.check_bodies(values)?;
        let mut wish = Wish::default();
        for (p, value) in values {
            let materials = &mut wish.materials;
            let (t, k) = match self.subjects[*p] {
                Subject::Material(t, k) => (t, k),
                Subject::Single(k, touches) => {
                    wish.singles.push((k, *value, touches));
                    continue;
                }
                _ => continue,
            };
            let place = match materials.iter().position(|m| m.0 == t) {
                Some(place) => place,
                None => {
                    let Some(material) = self.model.material(t).cloned() else {
                        continue;
                    };
                    materials.push((t, material));
                    materials.len() - 1
                }
            };
            write(&mut materials[place].1, k, *value);
        }
        let films = self.retuned(values)?;
        if !(wish.materials.is_empty() && wish.singles.is_empty()) {
            let remembered = self.remembered();
            self.model.remake(&wish)?;
            for (matter, yielded) in remembered {
                if let Some(net) = self.model.net(matter) {
                    net.fit(&mut self.state.nodes[matter.index()], &yielded);
                    let flow = net.rest().flow.clone();
                    self.model.start[matter.index()].flow = flow;
                }
            }
            for (group, connected) in self.groups.iter_mut().zip(&self.model.groups) {
                group.renew(&self.model, &connected.bounds);
            }
            let of_element = |single: &(_, _, Touches)| matches!(single.2, Touches::Element(_));
            if wish.singles.iter().any(of_element) {
                self.model.expect_all();
                self.note_film_steps();
            }
            self.renew_skins();
            self.longest = self.model.longest_step();
            // The nets are new and know nothing of grips.
            self.mark_held();
        }
        for (p, value) in values {
            match self.subjects[*p] {
                Subject::Gravity(axis) => {
                    if self.model.gravity[axis].to_bits() != value.to_bits() {
                        // What rested under another weight may rest no longer.
                        let touching = self.groups.iter_mut().filter_map(|g| g.collisions.as_mut());
                        touching.for_each(Collisions::wake_all);
                    }
                    self.model.gravity[axis] = *value;
                }
                Subject::SlowMotion => self.model.slow_motion = *value,
                Subject::Adaptive => {
                    self.model.adaptive = *value != 0.0;
                    for (group, connected) in self.groups.iter_mut().zip(&self.model.groups) {
                        group.adapt(self.model.adaptive, &connected.bounds);
                    }
                }
                Subject::GripForce(t) => self.model.tools[t].grasper.grip_force = *value,
                Subject::Speed(t) => self.model.tools[t].grasper.speed = *value,
                Subject::TearOff(t) => {
                    if let Some([_, limit]) = &mut self.model.tools[t].stick {
                        *limit = *value;
                    }
                }
                Subject::Drive(j, k) => self.set_drive(j, k, *value),
                Subject::Strength(j) => self.set_strength(j, *value),
                Subject::Held(j) => self.set_held(j, *value != 0.0),
                Subject::Body(c, k) => self.set_body(c, k, *value),
                Subject::Material(..) | Subject::Single(..) | Subject::Film(..) => {}
            }
            self.parameters[*p].value = *value;
        }
        self.take_retuned(films);
        self.renew_works();
        Ok(())
    }

    /// Which elements remember how far they have flown, of each tissue.
    fn remembered(&self) -> Vec<(MatterId, Vec<Yielding>)> {
        let matters = self.model.tissues.iter().map(|t| t.matter);
        let nets = matters.filter_map(|m| Some((m, self.model.net(m)?)));
        nets.map(|(m, net)| (m, net.yielding())).collect()
    }

    /// Skins of tissues rub as their materials say now.
    fn renew_skins(&mut self) {
        for tissue in &self.model.tissues {
            let skins = self.groups.iter_mut().flat_map(|g| &mut g.skins);
            let ours = skins.filter(|skin| skin.matter == tissue.matter);
            ours.for_each(|skin| skin.friction = tissue.friction);
        }
    }

    /// Parameters that are not what the scene says: index and value.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let list = self.parameters.iter().enumerate();
        list.filter(|(_, p)| p.value.to_bits() != p.start.to_bits())
            .map(|(i, p)| (i, p.value))
    }

    /// What has to be set so that exactly `values` differ from what the scene says.
    pub(crate) fn way_to(&self, values: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let wanted = |i: usize| {
            let found = values.iter().find(|v| v.0 == i);
            found.map_or(self.parameters[i].start, |v| v.1)
        };
        (0..self.parameters.len())
            .map(|i| (i, wanted(i)))
            .filter(|(i, value)| value.to_bits() != self.parameters[*i].value.to_bits())
            .collect()
    }

    fn title(&self, p: usize) -> String {
        match self.parameters.get(p) {
            Some(parameter) => format!("{}: {}", parameter.group, parameter.name),
            None => format!("parameter {p}"),
        }
    }

    fn tell(&mut self, p: usize) {
        let what = Happening::Changed {
            parameter: self.title(p),
            value: self.parameters[p].value,
        };
        self.happened(what);
    }

    fn refuse(&mut self, p: usize, reason: String) {
        let what = Happening::Refused {
            parameter: self.title(p),
            reason,
        };
        self.happened(what);
    }

    fn happened(&mut self, what: Happening) {
        self.report.events.push(Event {
            time: self.state.time,
            what,
        });
    }
}
