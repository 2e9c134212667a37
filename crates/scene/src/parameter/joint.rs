//! Numbers of joints that can be changed while a scene runs: what drives a joint, when it gives way, and whether it holds.
//!
//! What a joint does not have is not there to be changed: one without a drive can't be driven, one that never gives way can't be made to. A target
//! that follows a timetable is the timetable's.

use super::{Parameter, Range, Subject};
use crate::{Simulation, build::Model, collisions::Collisions};
use std::f64::consts::PI;
use trocar_dynamics::joint::{Drive, Target};

/// A number of a drive.
struct Number {
    name: &'static str,
    /// Along a line, and about an axis.
    units: [&'static str; 2],
    about: &'static str,
    /// Likewise.
    ranges: [Range; 2],
    place: fn(&mut Drive) -> Option<&mut f64>,
}

const NUMBERS: [Number; 9] = [
    Number {
        name: "target speed",
        units: ["m/s", "rad/s"],
        about: "The speed that its drive is to reach.",
        ranges: [Range::Either(1.0), Range::Either(10.0)],
        place: |drive| match drive {
            Drive::Speed { target, .. }
            | Drive::Pid {
                target: Target::Speed(target),
                ..
            } => Some(target),
            _ => None,
        },
    },
    Number {
        name: "target",
        units: ["m", "rad"],
        about: "The place that its drive is to reach.",
        ranges: [Range::Around(0.5), Range::Around(PI)],
        place: |drive| match drive {
            Drive::Servo { target, .. }
            | Drive::Pid {
                target: Target::Place(target),
                ..
            } => Some(target),
            _ => None,
        },
    },
    Number {
        name: "rest",
        units: ["m", "rad"],
        about: "Where its spring rests.",
        ranges: [Range::Around(0.5), Range::Around(PI)],
        place: |drive| match drive {
            Drive::Spring { rest, .. } => Some(rest),
            _ => None,
        },
    },
    Number {
        name: "force",
        units: ["N", "N·m"],
        about: "What drives it, always the same.",
        ranges: [Range::Either(10.0), Range::Either(1.0)],
        place: |drive| match drive {
            Drive::Force(force) => Some(force),
            _ => None,
        },
    },
    Number {
        name: "greatest force",
        units: ["N", "N·m"],
        about: "The most that its drive gives.",
        ranges: [Range::UpTo(100.0), Range::UpTo(10.0)],
        place: |drive| match drive {
            Drive::Speed { most, .. } | Drive::Servo { most, .. } | Drive::Pid { most, .. } => {
                Some(most)
            }
            _ => None,
        },
    },
    Number {
        name: "stiffness",
        units: ["N/m", "N·m/rad"],
        about: "Its spring, or that of its servo.",
        ranges: [Range::UpTo(1000.0), Range::UpTo(10.0)],
        place: |drive| match drive {
            Drive::Spring { stiffness, .. } | Drive::Servo { stiffness, .. } => Some(stiffness),
            Drive::Pid { proportional, .. } => Some(proportional),
            _ => None,
        },
    },
    Number {
        name: "damping",
        units: ["N·s/m", "N·m·s/rad"],
        about: "What slows its spring or servo.",
        ranges: [Range::UpTo(100.0), Range::UpTo(1.0)],
        place: |drive| match drive {
            Drive::Spring { damping, .. } | Drive::Servo { damping, .. } => Some(damping),
            _ => None,
        },
    },
    Number {
        name: "integral",
        units: ["N/(m·s)", "N·m/(rad·s)"],
        about: "What its controller gives for what it has summed up.",
        ranges: [Range::UpTo(1000.0), Range::UpTo(10.0)],
        place: |drive| match drive {
            Drive::Pid { integral, .. } => Some(integral),
            _ => None,
        },
    },
    Number {
        name: "differential",
        units: ["N·s/m", "N·m·s/rad"],
        about: "What its controller gives for how fast the error changes.",
        ranges: [Range::UpTo(100.0), Range::UpTo(1.0)],
        place: |drive| match drive {
            // That of a speed would be noise.
            Drive::Pid {
                target: Target::Place(_),
                differential,
                ..
            } => Some(differential),
            _ => None,
        },
    },
];

/// A parameter as it is listed.
pub(super) struct Listed {
    pub group: String,
    pub name: &'static str,
    pub unit: &'static str,
    pub about: &'static str,
    pub bounds: [f64; 2],
    pub start: f64,
    pub choices: &'static [&'static str],
    pub subject: Subject,
}

impl Listed {
    /// As everybody sees it, and what it is about.
    pub fn parameter(self) -> (Parameter, Subject) {
        let parameter = Parameter {
            choices: self.choices,
            group: self.group,
            name: self.name.into(),
            unit: self.unit,
            about: self.about,
            least: self.bounds[0],
            greatest: self.bounds[1],
            value: self.start,
            start: self.start,
        };
        (parameter, self.subject)
    }
}

/// What a joint is called where parameters are: "joint" and its name, or its number.
fn title(model: &Model, joint: usize) -> String {
    match model.joint_names.get(joint) {
        Some(name) if !name.is_empty() => format!("joint {name}"),
        _ => format!("joint {joint}"),
    }
}

/// Numbers of all joints.
pub(super) fn joints(model: &Model) -> Vec<Listed> {
    let mut list = Vec::new();
    for (j, joint) in model.joints.iter().enumerate() {
        if joint.strength.is_finite() {
            list.push(Listed {
                group: title(model, j),
                name: "strength",
                unit: "N",
                about: "Beyond this force it gives way; N·m where it holds a turn.",
                bounds: Range::Tenfold.bounds(joint.strength),
                start: joint.strength,
                choices: &[],
                subject: Subject::Strength(j),
            });
        }
        // A scene file gives a joint one drive at most.
        let Some(control) = joint.controls.first() else {
            continue;
        };
        let Some(mut drive) = control.drive else {
            continue;
        };
        let timed = model.timetables.iter().any(|t| t.joint == j);
        let kind = usize::from(control.coordinate.is_angle());
        for (k, number) in NUMBERS.iter().enumerate() {
            let Some(start) = (number.place)(&mut drive).map(|x| *x) else {
                continue;
            };
            if timed && number.name.starts_with("target") {
                continue;
            }
            list.push(Listed {
                group: title(model, j),
                name: number.name,
                unit: number.units[kind],
                about: number.about,
                bounds: number.ranges[kind].bounds(start),
                start,
                choices: &[],
                subject: Subject::Drive(j, k),
            });
        }
    }
    list
}

/// Joints that can be opened and closed.
pub(super) fn latches(model: &Model) -> Vec<Listed> {
    let listed = model.latches.iter().map(|latch| Listed {
        group: title(model, latch.joint),
        name: "held",
        unit: "",
        about: "Whether it holds. Closed again, it takes hold of its sides as they stand.",
        bounds: Range::Choice.bounds(0.0),
        start: f64::from(u8::from(!model.joints[latch.joint].open)),
        choices: &["open", "held"],
        subject: Subject::Held(latch.joint),
    });
    listed.collect()
}

impl Simulation {
    /// Gives a number of a drive its value, in the model and in the group that steps it.
    pub(super) fn set_drive(&mut self, joint: usize, number: usize, value: f64) {
        let place = NUMBERS[number].place;
        self.each_copy(joint, |joint| {
            let drive = joint.controls.first_mut().and_then(|c| c.drive.as_mut());
            if let Some(x) = drive.and_then(place) {
                *x = value;
            }
        });
    }

    /// Says beyond which force a joint gives way, N.
    pub(super) fn set_strength(&mut self, joint: usize, value: f64) {
        self.each_copy(joint, |joint| joint.strength = value);
    }

    /// Opens a joint, or lets it take hold of its sides as they stand.
    pub(super) fn set_held(&mut self, joint: usize, held: bool) {
        self.each_copy(joint, |joint| joint.open = !held);
        let Self {
            model,
            groups,
            state,
            ..
        } = self;
        for group in groups {
            let Some(k) = group.joint_index.iter().position(|k| *k == joint) else {
                continue;
            };
            group.joints[k] = model.joints[joint].clone();
            if held {
                group.take_hold(k, model, state);
            }
            if let Some(collisions) = &mut group.collisions {
                collisions.rejoin(model);
            }
            group.replan();
        }
    }

    /// Has joints that were open at the start, and hold now, take hold of their sides as they stand.
    pub(crate) fn close_latches(&mut self) {
        let closed = self.parameters.iter().zip(&self.subjects);
        let closed = closed.filter(|(p, _)| p.start == 0.0 && p.value != 0.0);
        for (_, subject) in closed {
            let Subject::Held(joint) = *subject else {
                continue;
            };
            for group in &mut self.groups {
                if let Some(k) = group.joint_index.iter().position(|k| *k == joint) {
                    group.take_hold(k, &self.model, &self.state);
                }
            }
        }
    }

    /// Shows a joint of the model, and the same one of its group; whoever slept is awake then.
    fn each_copy(&mut self, joint: usize, mut show: impl FnMut(&mut trocar_dynamics::Joint)) {
        show(&mut self.model.joints[joint]);
        for group in &mut self.groups {
            if let Some(place) = group.joint_index.iter().position(|k| *k == joint) {
                show(&mut group.joints[place]);
                group
                    .collisions
                    .as_mut()
                    .into_iter()
                    .for_each(Collisions::wake_all);
            }
        }
    }
}
