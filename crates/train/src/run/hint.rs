//! Hints: each is given when its moment comes, and not again too soon.

use crate::{exercise::Hint, file::Trigger};

/// A hint and when it was given.
struct Watched {
    hint: Hint,
    /// Since when its condition holds, s.
    since: Option<f64>,
    /// When it was last given, s.
    given: Option<f64>,
}

/// All hints of an exercise.
pub struct Hints {
    all: Vec<Watched>,
}

impl Hints {
    /// None has been given yet.
    pub fn new(hints: &[Hint]) -> Self {
        let watched = |hint: &Hint| Watched {
            hint: hint.clone(),
            since: None,
            given: None,
        };
        Self {
            all: hints.iter().map(watched).collect(),
        }
    }

    /// Something happened; what is to be said about it while `goal` is worked on.
    pub fn event(&mut self, when: Trigger, time: f64, goal: Option<&str>) -> Vec<String> {
        self.all
            .iter_mut()
            .filter(|w| w.hint.when == when && w.fits(goal))
            .filter_map(|w| w.give(time))
            .collect()
    }

    /// A condition holds or does not; what is to be said about it.
    pub fn condition(
        &mut self,
        when: Trigger,
        is: bool,
        time: f64,
        goal: Option<&str>,
    ) -> Vec<String> {
        let mut said = Vec::new();
        for watched in self.all.iter_mut().filter(|w| w.hint.when == when) {
            if !is {
                watched.since = None;
                continue;
            }
            let since = *watched.since.get_or_insert(time);
            if time - since >= watched.hint.after && watched.fits(goal) {
                said.extend(watched.give(time));
            }
        }
        said
    }
}

impl Watched {
    fn fits(&self, goal: Option<&str>) -> bool {
        self.hint.goal.is_none() || self.hint.goal.as_deref() == goal
    }

    fn give(&mut self, time: f64) -> Option<String> {
        if self.given.is_some_and(|t| time - t < self.hint.every) {
            return None;
        }
        self.given = Some(time);
        Some(self.hint.text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints() -> Hints {
        Hints::new(&[Hint {
            when: Trigger::Force,
            text: "gently".into(),
            after: 0.5,
            every: 5.0,
            goal: Some("lift".into()),
        }])
    }

    #[test]
    fn a_condition_has_to_last_and_is_not_said_again_too_soon() {
        let mut hints = hints();
        let mut times = Vec::new();
        for k in 0..500 {
            let t = f64::from(k) * 0.02;
            // It is interrupted once, early.
            let is = k != 10;
            if !hints
                .condition(Trigger::Force, is, t, Some("lift"))
                .is_empty()
            {
                times.push(t);
            }
        }
        assert_eq!(times.len(), 2, "{times:?}");
        assert!((times[0] - 0.72).abs() < 0.021 && (times[1] - times[0] - 5.0).abs() < 0.021);
    }

    #[test]
    fn a_hint_for_another_goal_is_not_given() {
        let mut hints = hints();
        assert!(hints.event(Trigger::Force, 1.0, Some("grasp")).is_empty());
        assert!(hints.event(Trigger::Slipped, 1.0, Some("lift")).is_empty());
        assert_eq!(hints.event(Trigger::Force, 1.0, Some("lift")), ["gently"]);
    }
}
