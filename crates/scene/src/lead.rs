//! Who leads an instrument: the hand, or a command of the scene until a hand moves it (W139).

use crate::{Simulation, command::EARLY};
use serde::{Deserialize, Serialize};
use trocar_tools::Handle;

/// Who leads an instrument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lead {
    /// Where the hand was in the last step; none before the first.
    pub hand: Option<Handle>,
    /// A command has led it.
    pub is_led: bool,
    /// The hand has moved since the start: it leads from then on.
    pub is_taken: bool,
    /// Where a command has it in this step.
    #[serde(skip)]
    pub(crate) script: Option<Handle>,
}

impl Lead {
    /// Where the instrument is wanted, if the hand is at `hand` and the instrument at `now`. A command that has ended leaves it where it is.
    pub(crate) fn wish(&mut self, hand: &Handle, now: &Handle) -> Handle {
        let still = self.hand.is_none_or(|before| before == *hand);
        self.hand = Some(*hand);
        self.is_taken |= !still;
        let script = self.script.take();
        self.is_led |= script.is_some();
        match script {
            _ if self.is_taken => *hand,
            Some(wish) => wish,
            None if self.is_led => *now,
            None => *hand,
        }
    }
}

/// The way of an instrument's tip, and how it is rolled and opened on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Which instrument.
    pub tool: usize,
    /// Points of the way, m; none if the tip stays where it is.
    pub tip: Vec<glam::DVec3>,
    /// Jaw angles, evenly over the time, rad; none if they stay.
    pub jaw: Vec<f64>,
    /// Turns about the shaft, likewise.
    pub roll: Vec<f64>,
    /// Until when, s.
    pub until: f64,
}

impl Simulation {
    /// Has commands say where instruments shall be at the end of a step of `dt` seconds.
    pub(crate) fn script(&mut self, dt: f64) {
        let commands = std::mem::take(&mut self.commands);
        let time = self.state.time;
        for command in &commands {
            let Some(course) = &command.course else {
                continue;
            };
            if command.at >= time + dt - EARLY || time - EARLY >= course.until {
                continue;
            }
            let t = course.tool;
            let now = self.handles[t];
            let part = (time + dt - command.at) / (course.until - command.at);
            let part = part.clamp(0.0, 1.0);
            let grasper = &self.model.tools[t].grasper;
            // Several may lead one instrument at once: one its tip, another its jaws.
            let wish = self.leads[t].script.unwrap_or(now);
            let jaw = along(&course.jaw, part).unwrap_or(wish.jaw);
            let roll = along(&course.roll, part).unwrap_or(wish.roll);
            let tip = match course.tip.is_empty() {
                true if course.roll.is_empty() => None,
                // Rolled, a bent tip is to stay where it is.
                true => Some(grasper.tip(&grasper.poses(&wish)[0])),
                false => Some(crate::command::on_way(&course.tip, part)),
            };
            self.leads[t].script = Some(match tip {
                Some(tip) => grasper.handle_at(tip, roll, jaw),
                None => Handle { jaw, ..wish },
            });
        }
        self.commands = commands;
    }
}

/// The value at a part (0 to 1) of the time, straight between values that are evenly spread over it; none if there are none.
fn along(values: &[f64], part: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = part * last as f64;
    let k = (at as usize).min(last.saturating_sub(1));
    let next = values.get(k + 1).unwrap_or(&values[k]);
    Some(values[k] + (next - values[k]) * (at - k as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_that_moves_takes_over_for_good() {
        let at = |yaw: f64| Handle {
            yaw,
            ..Handle::default()
        };
        let mut lead = Lead::default();
        // Nobody leads: the hand does.
        assert_eq!(lead.wish(&at(0.1), &at(0.0)), at(0.1));
        lead.script = Some(at(0.5));
        assert_eq!(lead.wish(&at(0.1), &at(0.2)), at(0.5));
        // The command has ended: it stays.
        assert_eq!(lead.wish(&at(0.1), &at(0.4)), at(0.4));
        lead.script = Some(at(0.5));
        assert_eq!(lead.wish(&at(0.2), &at(0.4)), at(0.2));
        lead.script = Some(at(0.5));
        assert_eq!(lead.wish(&at(0.2), &at(0.4)), at(0.2));
    }

    #[test]
    fn values_are_spread_over_the_time() {
        assert_eq!(along(&[], 0.3), None);
        assert_eq!(along(&[2.0], 0.7), Some(2.0));
        assert_eq!(along(&[0.0, 1.0, 3.0], 0.25), Some(0.5));
        assert_eq!(along(&[0.0, 1.0, 3.0], 0.75), Some(2.0));
        assert_eq!(along(&[0.0, 1.0, 3.0], 1.0), Some(3.0));
    }
}
