//! Parameters that can be changed while a scene runs (K13).

mod body;
mod film;
mod joint;
mod material;
pub(crate) mod single;

use crate::{
    Event, Simulation,
    build::{MOST_THICKNESS, Model, Wish, level},
    event::Happening,
    file::InstrumentKind,
};
use film::FILM_NUMBERS;
use joint::Listed;
pub(crate) use material::CHOICES;
use material::{NUMBERS, OLD_CHOICES, Tissues, choice, of_law, write};
use serde::{Deserialize, Serialize};
use single::{Rank, Touches};
use trocar_dynamics::{Matter, MatterId};
use trocar_soft::net::Yielding;

/// The parameter of the world by which time passes slower.
pub(crate) const SLOW_MOTION: &str = "slow motion";

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
        let within = (least..=greatest).contains(&value);
        if self.choices.is_empty() {
            return (!within)
                .then(|| format!("{value} does not lie between {least} and {greatest}"));
        }
        let known = within && value == trocar_math::real::floor(value);
        (!known).then(|| {
            let named = (0..)
                .zip(self.choices)
                .map(|(k, name)| format!("{k} ({name})"));
            format!("it is one of {}", named.collect::<Vec<_>>().join(", "))
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
    /// How thick a tissue is to itself and to others.
    Thickness(usize),
    /// What a body or particle is by itself: which node, which number.
    Own(usize, usize),
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
        for (k, choice) in CHOICES.iter().enumerate().take(OLD_CHOICES) {
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
        SLOW_MOTION,
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
        "Substeps are as many as the state has needed within the last second, instead of as many as any may need.",
        [0.0, 1.0],
        f64::from(u8::from(model.adaptive)),
        Subject::Adaptive,
    );
    let (mut newer, mut newest, mut k) = (Vec::new(), Vec::new(), 0);
    single::visit(&mut model.plan().clone(), &mut |single| {
        let start = single.place.read();
        let [least, greatest] = single.range.bounds(start);
        let parameter = Parameter {
            choices: single.place.choices(),
            group: single.group,
            name: single.name,
            unit: single.unit,
            about: single.about,
            least,
            greatest,
            value: start,
            start,
        };
        let subject = Subject::Single(k, single.touches);
        k += 1;
        match single.rank {
            _ if single.hidden => {}
            Rank::First => {
                parameters.push(parameter);
                subjects.push(subject);
            }
            Rank::Second => newer.push((parameter, subject)),
            Rank::Third => newest.push((parameter, subject)),
        }
    });
    // Last: snapshots name parameters by their numbers, and those of older ones stay what they were.
    let joints = joint::joints(model).into_iter().chain(body::bodies(model));
    for listed in joints.chain(joint::latches(model)) {
        let (parameter, subject) = listed.parameter();
        parameters.push(parameter);
        subjects.push(subject);
    }
    newer.extend(thicknesses(model));
    newer.extend(newer_choices(model));
    newer.extend(body::own(model).into_iter().map(Listed::parameter));
    newer.extend(newest);
    for (parameter, subject) in newer {
        parameters.push(parameter);
        subjects.push(subject);
    }
    (parameters, subjects)
}

/// How thick tissues are to themselves and to each other.
fn thicknesses(model: &Model) -> impl Iterator<Item = (Parameter, Subject)> {
    let tissues = model.tissues.iter().enumerate();
    tissues.filter_map(|(t, tissue)| {
        let start = tissue.contact_thickness?;
        let [least, greatest] = Range::Tenfold.bounds(start);
        let parameter = Parameter {
            group: tissue.name.clone(),
            name: "contact thickness".into(),
            unit: "m",
            about: "How far parts of it stay from each other and from other tissues.",
            least,
            greatest: greatest.min(MOST_THICKNESS),
            value: start,
            start,
            choices: &[],
        };
        Some((parameter, Subject::Thickness(t)))
    })
}

/// What tissues can be or do, as far as it is not listed with their numbers.
fn newer_choices(model: &Model) -> impl Iterator<Item = (Parameter, Subject)> {
    let tissues = model.tissues.iter().enumerate();
    tissues.flat_map(move |(t, tissue)| {
        let choices = CHOICES.iter().enumerate().skip(OLD_CHOICES);
        choices.filter_map(move |(k, choice)| {
            let material = model.material(t)?;
            if choice.name == "bends" && !model.is_pipe(t) {
                return None;
            }
            let start = (choice.read)(material) as f64;
            let parameter = Parameter {
                group: tissue.name.clone(),
                name: choice.name.into(),
                unit: "",
                about: choice.about,
                least: 0.0,
                greatest: (choice.choices.len() - 1) as f64,
                value: start,
                start,
                choices: choice.choices,
            };
            Some((parameter, Subject::Material(t, NUMBERS.len() + k)))
        })
    })
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
            match self.objection(p, change.value) {
                Some(reason) => self.refuse(p, reason),
                None if self.parameters[p].value == change.value => {}
                None => wanted.push((p, change.value)),
            }
        }
        // What is wished of a ground is judged together: how high it is matters only where it acts.
        let buried = wanted.iter();
        let buried = buried.filter_map(|w| Some((w.0, self.buries(w.0, &wanted)?)));
        let buried: Vec<(usize, String)> = buried.collect();
        wanted.retain(|w| buried.iter().all(|b| b.0 != w.0));
        for (p, reason) in buried {
            self.refuse(p, reason);
        }
        if wanted.is_empty() {
            return;
        }
        let before: Vec<u32> = self.substeps_of_groups().collect();
        // All together first: what is fine as a whole may not be so half way.
        match self.assume(&wanted) {
            Ok(()) => wanted.iter().for_each(|w| self.tell(w.0)),
            Err(reason) if wanted.len() == 1 => self.refuse(wanted[0].0, reason),
            Err(_) => {
                for one in wanted {
                    let done = match self.buries(one.0, &[one]) {
                        Some(reason) => Err(reason),
                        None => self.assume(&[one]),
                    };
                    match done {
                        Ok(()) => self.tell(one.0),
                        Err(reason) => self.refuse(one.0, reason),
                    }
                }
            }
        }
        self.tell_stiffened(&before);
    }

    /// Substeps of every group by what it is made of now.
    fn substeps_of_groups(&self) -> impl Iterator<Item = u32> + '_ {
        let groups = self.model.groups.iter();
        groups.map(|group| self.model.substeps_of(group))
    }

    /// Tells of groups that need several times as many substeps as `before`, and which part of them asks for it.
    fn tell_stiffened(&mut self, before: &[u32]) {
        let model = &self.model;
        let counts = self.substeps_of_groups().zip(before);
        let stiffened = counts
            .zip(&model.groups)
            .filter_map(|((now, before), group)| {
                let demand = model.demand(group)?;
                (level(now) > level(*before)).then_some(Happening::Stiffened {
                    group: demand.group,
                    before: *before,
                    substeps: now,
                    part: demand.part,
                })
            });
        let stiffened: Vec<Happening> = stiffened.collect();
        stiffened.into_iter().for_each(|what| self.happened(what));
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

    /// Why a ground can't be as `values` make it, if `p` is a parameter of one: it lifts what is below it within one substep, and would throw it.
    fn buries(&self, p: usize, values: &[(usize, f64)]) -> Option<String> {
        let t = match *self.subjects.get(p)? {
            Subject::Single(_, Touches::Ground(t)) => t,
            Subject::Material(t, k) if choice(k)?.name == "on ground" => t,
            _ => return None,
        };
        let mut material = self.model.material(t)?.clone();
        for (p, value) in values {
            match self.subjects[*p] {
                Subject::Single(_, Touches::Ground(of)) if of == t => {
                    material.ground = Some(*value);
                }
                Subject::Material(of, k) if of == t => write(&mut material, k, *value),
                _ => {}
            }
        }
        // A ground that does not act hurts nobody.
        let height = material.floor()?;
        let matter = self.model.tissues[t].matter;
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
        wish.bodies = self.reweighed(values);
        if !wish.is_empty() {
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
            let touches = |single: &(_, _, Touches)| matches!(single.2, Touches::Skin(_));
            if wish.singles.iter().any(touches) {
                self.renew_surfaces();
            }
            // The nets are new and know nothing of grips.
            self.mark_held();
        }
        for (p, value) in values {
            match self.subjects[*p] {
                Subject::Gravity(axis) => {
                    if self.model.gravity[axis].to_bits() != value.to_bits() {
                        // What rested under another weight may rest no longer.
                        self.wake_bodies();
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
                Subject::Thickness(t) => {
                    let tissue = &mut self.model.tissues[t];
                    tissue.contact_thickness = Some(*value);
                    let foldings = self.groups.iter_mut().filter_map(|g| g.folding.as_mut());
                    foldings.for_each(|folding| folding.thicken(tissue.matter, *value));
                }
                Subject::Own(..) => self.wake_bodies(),
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

    /// Skins of tissues rub, and can be touched, as their materials say now.
    fn renew_skins(&mut self) {
        for tissue in &self.model.tissues {
            let skins = self.groups.iter_mut().flat_map(|g| &mut g.skins);
            let ours = skins.filter(|skin| skin.matter == tissue.matter);
            ours.for_each(|skin| {
                skin.friction = tissue.friction;
                skin.touchable = tissue.touchable;
                if !skin.touchable {
                    // What passes through meanwhile has not come from where it was.
                    skin.patch.set_sides(&[]);
                }
            });
        }
    }

    /// Other triangles can be touched now.
    fn renew_surfaces(&mut self) {
        for group in &mut self.groups {
            for skin in &mut group.skins {
                if self.model.net(skin.matter).is_some()
                    && let Ok(patch) = self.model.patch(skin.matter)
                {
                    let sides = skin.patch.sides().to_vec();
                    skin.patch = patch;
                    skin.patch.set_sides(&sides);
                }
            }
            if let Some(folding) = &mut group.folding {
                folding.count_anew(&self.model);
            }
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
        let parameter = &self.parameters[p];
        let choice = parameter.choices.get(parameter.value as usize);
        let what = Happening::Changed {
            parameter: self.title(p),
            value: parameter.value,
            choice: choice.map(|choice| (*choice).into()),
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

    pub(crate) fn happened(&mut self, what: Happening) {
        self.report.events.push(Event {
            time: self.state.time,
            what,
        });
    }
}
