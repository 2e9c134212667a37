//! Checks on one goal at one level.

use super::Checker;
use crate::{
    exercise::{Aim, Ball, Goal, Material, Place, Sight},
    file::{GoalChange, GoalFile, GoalKind, Vector},
    place::Key,
};
use trocar_scene::SceneError;

/// Points beyond this (m) are in no body; most likely they are millimetres.
const MAX_COORDINATE: f64 = 10.0;

/// Checks one goal at one level.
pub struct GoalCheck<'a> {
    /// The level.
    pub checker: &'a Checker<'a>,
    /// The goal.
    pub goal: &'a GoalFile,
    /// Which one it is.
    pub index: usize,
    /// What the level says about it.
    pub change: Option<&'a GoalChange>,
}

impl GoalCheck<'_> {
    /// An error at a key of the level's word on the goal, or of the goal.
    fn error(&self, key: &str, problem: String, remedy: &str) -> SceneError {
        let level = [Key::Name("goal"), Key::Name(&self.goal.id), Key::Name(key)];
        let exercise = [Key::Name("goal"), Key::Index(self.index), Key::Name(key)];
        let changed = self.change.is_some_and(|c| match key {
            "at" => c.at.is_some(),
            "centre" => c.centre.is_some(),
            "radius" => c.radius.is_some(),
            "hold" => c.hold.is_some(),
            "force" => c.force.is_some(),
            "speed" => c.speed.is_some(),
            "angle" => c.angle.is_some(),
            _ => false,
        });
        self.checker
            .error(changed.then_some(&level[..]), &exercise, problem, remedy)
    }

    /// The goal at this level.
    pub fn goal(&self) -> Result<Goal, SceneError> {
        let goal = self.goal;
        let aim = match goal.kind {
            GoalKind::Grasp => {
                self.only(&["tissue", "at", "radius"])?;
                let spot = match self.point("at", goal.at, |c| c.at)? {
                    Some(at) => Some((at.into(), self.radius()?)),
                    None => None,
                };
                Aim::Grasp {
                    tissue: self.tissue()?,
                    spot,
                }
            }
            GoalKind::Carry => {
                self.only(&["tissue", "at", "centre", "radius", "hold"])?;
                Aim::Carry {
                    what: self.material()?,
                    ball: self.ball()?,
                    hold: self.hold()?,
                }
            }
            GoalKind::Touch => {
                self.only(&["tissue", "at", "centre", "radius", "hold"])?;
                let place = if goal.centre.is_some() {
                    self.only(&["centre", "radius", "hold"])?;
                    Place::Ball(self.ball()?)
                } else if let Some(material) = self.material()? {
                    Place::Point(material, self.radius()?)
                } else {
                    Place::Surface(self.tissue()?, self.radius()?)
                };
                Aim::Touch {
                    place,
                    hold: self.hold()?,
                }
            }
            GoalKind::Release => {
                self.only(match goal.centre {
                    Some(_) => &["tissue", "at", "centre", "radius", "force", "speed"],
                    None => &["force", "speed"],
                })?;
                let ball = match goal.centre {
                    Some(_) => Some(self.ball()?),
                    None => None,
                };
                Aim::Release {
                    what: self.material()?,
                    ball,
                    force: self.positive("force", goal.force, |c| c.force)?,
                    speed: self.positive("speed", goal.speed, |c| c.speed)?,
                }
            }
            GoalKind::Look => {
                self.only(&["tissue", "at", "centre", "angle", "hold"])?;
                let at = match (
                    self.material()?,
                    self.point("centre", goal.centre, |c| c.centre)?,
                ) {
                    (Some(material), None) => Sight::Material(material),
                    (None, Some(centre)) => Sight::Point(centre.into()),
                    _ => {
                        return Err(self.error(
                            "centre",
                            "it is not said what to look at".into(),
                            "Give either `centre`, or `tissue` and `at`.",
                        ));
                    }
                };
                let angle = self
                    .positive("angle", goal.angle, |c| c.angle)?
                    .ok_or_else(|| self.lacks("angle"))?;
                Aim::Look {
                    at,
                    angle: angle.to_radians(),
                    hold: self.hold()?,
                }
            }
        };
        Ok(Goal {
            id: goal.id.clone(),
            title: goal.title.clone(),
            instruction: goal.instruction.clone(),
            aim,
            limits: self.checker.limits(goal, self.index)?,
        })
    }

    /// Refuses keys that mean nothing to this kind of goal.
    fn only(&self, keys: &[&str]) -> Result<(), SceneError> {
        let g = self.goal;
        let c = self.change.copied().unwrap_or_default();
        let given = [
            ("tissue", g.tissue.is_some()),
            ("at", g.at.is_some() || c.at.is_some()),
            ("centre", g.centre.is_some() || c.centre.is_some()),
            ("radius", g.radius.is_some() || c.radius.is_some()),
            ("hold", g.hold.is_some() || c.hold.is_some()),
            ("force", g.force.is_some() || c.force.is_some()),
            ("speed", g.speed.is_some() || c.speed.is_some()),
            ("angle", g.angle.is_some() || c.angle.is_some()),
        ];
        match given.iter().find(|(key, is)| *is && !keys.contains(key)) {
            None => Ok(()),
            Some((key, _)) => Err(self.error(
                key,
                format!("`{key}` means nothing to the goal \"{}\" as it is", g.id),
                &format!("It may have: {}.", keys.join(", ")),
            )),
        }
    }

    fn lacks(&self, key: &str) -> SceneError {
        self.error(
            key,
            format!("the goal \"{}\" has no `{key}`", self.goal.id),
            "Give it.",
        )
    }

    fn tissue(&self) -> Result<String, SceneError> {
        self.goal.tissue.clone().ok_or_else(|| self.lacks("tissue"))
    }

    /// The point of a tissue, if there is one.
    fn material(&self) -> Result<Option<Material>, SceneError> {
        match self.point("at", self.goal.at, |c| c.at)? {
            None => Ok(None),
            Some(at) => Ok(Some(Material {
                tissue: self.tissue()?,
                at: at.into(),
            })),
        }
    }

    fn ball(&self) -> Result<Ball, SceneError> {
        let centre = self
            .point("centre", self.goal.centre, |c| c.centre)?
            .ok_or_else(|| self.lacks("centre"))?;
        Ok(Ball {
            centre: centre.into(),
            radius: self.radius()?,
        })
    }

    fn radius(&self) -> Result<f64, SceneError> {
        let radius = self
            .positive("radius", self.goal.radius, |c| c.radius)?
            .ok_or_else(|| self.lacks("radius"))?;
        if radius <= MAX_COORDINATE {
            return Ok(radius);
        }
        Err(self.error(
            "radius",
            format!("a radius of {radius} m is out of range"),
            "Trocar measures in metres: 8 mm is 0.008.",
        ))
    }

    fn hold(&self) -> Result<f64, SceneError> {
        let hold = self
            .change
            .and_then(|c| c.hold)
            .or(self.goal.hold)
            .unwrap_or(0.0);
        if (0.0..=3600.0).contains(&hold) {
            return Ok(hold);
        }
        Err(self.error(
            "hold",
            format!("holding for {hold} s is out of range"),
            "It is in seconds, at least 0.",
        ))
    }

    fn point(
        &self,
        key: &str,
        own: Option<Vector>,
        changed: fn(&GoalChange) -> Option<Vector>,
    ) -> Result<Option<Vector>, SceneError> {
        let point = self.change.and_then(changed).or(own);
        match point {
            Some(p) if !p.iter().all(|x| x.abs() <= MAX_COORDINATE) => Err(self.error(
                key,
                format!("`{key}` is farther than {MAX_COORDINATE} m away"),
                "Trocar measures in metres: 85 mm is 0.085.",
            )),
            point => Ok(point),
        }
    }

    fn positive(
        &self,
        key: &str,
        own: Option<f64>,
        changed: fn(&GoalChange) -> Option<f64>,
    ) -> Result<Option<f64>, SceneError> {
        match self.change.and_then(changed).or(own) {
            Some(x) if !(x > 0.0 && x.is_finite()) => Err(self.error(
                key,
                format!("`{key}` is {x}; it must be positive"),
                "Correct the number.",
            )),
            value => Ok(value),
        }
    }
}
