//! What drives ask of their rows (B45, B46, B53).

use crate::joint::{Drive, Target};

/// What a drive's row asks for: `value + give · impulse = place`, in m or rad.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goal {
    pub place: f64,
    pub give: f64,
    /// True if it asks for nothing: its impulse is known beforehand.
    pub is_known: bool,
}

/// What a drive asks of its row in a substep of `h` seconds: where to, its greatest impulse, and the impulse itself if
/// that is known beforehand. `memory` is that of its control, from the last substep, which took `before` seconds.
pub fn row(
    drive: Drive,
    value: f64,
    memory: &mut [f64; 3],
    (h, before): (f64, f64),
) -> (Goal, f64, Option<f64>) {
    let known = Goal {
        is_known: true,
        ..Goal::default()
    };
    let spring = |rest: f64, stiffness: f64, damping: f64, most: f64| {
        // Force at the end of the substep: −k (x′ − r) − d (x′ − x)/h.
        let firmness = h * stiffness + damping;
        if firmness <= 0.0 {
            return (known, 0.0, Some(0.0));
        }
        let goal = Goal {
            place: rest + damping * (value - rest) / firmness,
            give: 1.0 / firmness,
            is_known: false,
        };
        (goal, most * h, None)
    };
    match drive {
        Drive::Force(force) => (known, force.abs() * h, Some(force * h)),
        Drive::Speed { target, most } => {
            let goal = Goal {
                place: value + target * h,
                ..Goal::default()
            };
            (goal, most * h, None)
        }
        Drive::Servo {
            target,
            stiffness,
            damping,
            most,
        } => spring(target, stiffness, damping, most),
        Drive::Spring {
            rest,
            stiffness,
            damping,
        } => spring(rest, stiffness, damping, f64::INFINITY),
        Drive::Pid {
            target,
            proportional,
            integral,
            differential,
            most,
        } => {
            // memory: value at the end of the last substep, sum of errors, value at its start.
            let rate = if memory[2].is_nan() {
                0.0
            } else {
                (value - memory[2]) / before
            };
            let (error, slope) = match target {
                Target::Place(place) => (place - value, -rate),
                Target::Speed(speed) => (speed - rate, 0.0),
            };
            let sum = memory[1] + error * h;
            let force = proportional * error + integral * sum + differential * slope;
            let held = force.clamp(-most, most);
            // What the motor can't give is not summed up: it would have to be undone later.
            if held == force {
                memory[1] = sum;
            }
            memory[2] = value;
            (known, most * h, Some(held * h))
        }
    }
}
