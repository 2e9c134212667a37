//! A goal's aim in a running scene: where its target is now, and how far it is.

use crate::{
    exercise::{Aim, Ball, Material, Place, Sight},
    measure::kernel,
    signal,
    task::{Mark, MarkKind, MarkState},
};
use glam::DVec3;
use trocar_dynamics::Anchor;
use trocar_scene::{Simulation, build::Tissue};

/// A goal's aim in a running scene.
#[derive(Debug)]
pub struct Target {
    aim: Aim,
    /// The point of a tissue it is about.
    anchor: Option<Anchor>,
    /// The tissue it is about: its index.
    tissue: Option<usize>,
    /// Where that point is now, and which way the surface faces there.
    point: DVec3,
    normal: DVec3,
}

impl Target {
    /// Finds in the scene what the aim is about; fails with the name of a tissue that is not there.
    pub fn new(aim: &Aim, simulation: &Simulation) -> Result<Self, String> {
        let (name, at) = match aim {
            Aim::Grasp { tissue, spot } => (Some(tissue), spot.map(|s| s.0)),
            Aim::Carry { what: Some(m), .. }
            | Aim::Release { what: Some(m), .. }
            | Aim::Touch {
                place: Place::Point(m, _),
                ..
            }
            | Aim::Look {
                at: Sight::Material(m),
                ..
            } => {
                let Material { tissue, at } = m;
                (Some(tissue), Some(*at))
            }
            Aim::Touch {
                place: Place::Surface(tissue, _),
                ..
            } => (Some(tissue), None),
            _ => (None, None),
        };
        let tissues = &simulation.model().tissues;
        let tissue = match name {
            None => None,
            Some(name) => Some(
                tissues
                    .iter()
                    .position(|t| t.name == *name)
                    .ok_or_else(|| name.clone())?,
            ),
        };
        let anchor = tissue
            .zip(at)
            .map(|(tissue, at)| signal::on_surface(simulation, &tissues[tissue], at));
        let mut target = Self {
            aim: aim.clone(),
            anchor,
            tissue,
            point: DVec3::ZERO,
            normal: DVec3::Y,
        };
        target.follow(simulation);
        Ok(target)
    }

    /// Finds where it is now.
    pub fn follow(&mut self, simulation: &Simulation) {
        if let Some(anchor) = &self.anchor {
            self.point = signal::position(simulation.state(), anchor);
            self.normal = signal::normal(simulation.state(), anchor);
        }
    }

    /// How far what counts is from the target's centre, and how far it may be: both in m, or in rad for a look. None for
    /// goals that are reached by an event, and if what counts is not there. `grip`: the middle of what is held.
    pub fn distance(
        &self,
        simulation: &Simulation,
        tip: DVec3,
        grip: Option<DVec3>,
    ) -> Option<(f64, f64)> {
        match &self.aim {
            Aim::Grasp { .. } | Aim::Release { .. } => None,
            Aim::Carry { .. } => {
                let (from, ball) = self.carried(grip)?;
                Some((from.distance(ball.centre), ball.radius))
            }
            Aim::Touch { place, .. } => Some(match place {
                Place::Ball(ball) => (tip.distance(ball.centre), ball.radius),
                Place::Point(_, radius) => (tip.distance(self.point), *radius),
                Place::Surface(_, radius) => {
                    let tissue = self.tissue_of(simulation)?;
                    (signal::distance(simulation, tissue, tip), *radius)
                }
            }),
            Aim::Look { at, angle, .. } => {
                let point = match at {
                    Sight::Point(point) => *point,
                    Sight::Material(_) => self.point,
                };
                let eye = simulation.eye()?;
                let ahead = eye.pose.rotation * DVec3::NEG_Z;
                let off = trocar_math::angle(ahead, point - eye.pose.position);
                Some((off, *angle))
            }
        }
    }

    /// The straight way that is left, m.
    pub fn way(&self, simulation: &Simulation, tip: DVec3, grip: Option<DVec3>) -> f64 {
        let left = match &self.aim {
            Aim::Look { .. } => 0.0,
            Aim::Grasp { spot, .. } => match (spot, self.tissue_of(simulation)) {
                (Some((_, radius)), _) => tip.distance(self.point) - radius,
                (None, Some(tissue)) => signal::distance(simulation, tissue, tip),
                (None, None) => 0.0,
            },
            Aim::Release { .. } => self
                .carried(grip)
                .map_or(0.0, |(at, ball)| at.distance(ball.centre) - ball.radius),
            Aim::Carry { .. } | Aim::Touch { .. } => self
                .distance(simulation, tip, grip)
                .map_or(0.0, |(distance, reach)| distance - reach),
        };
        left.max(0.0)
    }

    /// Whether what the instrument holds is what is asked for: its distance from the spot (m) if there is one, or what is wrong.
    pub fn taken(&self, simulation: &Simulation, tool: usize) -> Result<Option<f64>, String> {
        let Some(tissue) = self.tissue_of(simulation) else {
            return Ok(None);
        };
        let holds = &simulation.grip(tool).holds;
        if !holds.iter().any(|h| h.tie.b.matter == tissue.matter) {
            return Err(format!("That is not the {}.", tissue.name));
        }
        let Aim::Grasp {
            spot: Some((_, radius)),
            ..
        } = &self.aim
        else {
            return Ok(None);
        };
        let grasper = &simulation.model().tools[tool].grasper;
        let shaft = simulation.poses(tool)[0];
        let middle = shaft.point(DVec3::Z * (0.5 * grasper.jaw_length));
        let distance = kernel::distance_to_segment(self.point, middle, grasper.tip(&shaft));
        if distance <= *radius {
            return Ok(Some(distance));
        }
        Err(format!(
            "That is {:.0} mm beside the marked spot.",
            1e3 * distance
        ))
    }

    /// What is carried, and the ball it has to go to.
    pub fn carried(&self, grip: Option<DVec3>) -> Option<(DVec3, Ball)> {
        match &self.aim {
            Aim::Carry { what, ball, .. }
            | Aim::Release {
                what,
                ball: Some(ball),
                ..
            } => {
                let from = if what.is_some() {
                    Some(self.point)
                } else {
                    grip
                };
                Some((from?, *ball))
            }
            _ => None,
        }
    }

    /// True if its target is a ball in which something can be held still.
    pub fn is_ball(&self) -> bool {
        matches!(
            self.aim,
            Aim::Carry { .. }
                | Aim::Touch {
                    place: Place::Ball(_),
                    ..
                }
        )
    }

    /// How it is shown in the scene.
    pub fn mark(&self, state: MarkState, label: String) -> Option<Mark> {
        let (kind, position, normal, radius) = match &self.aim {
            Aim::Grasp { spot, .. } => (MarkKind::Spot, self.point, self.normal, spot.as_ref()?.1),
            Aim::Carry { ball, .. }
            | Aim::Release {
                ball: Some(ball), ..
            }
            | Aim::Touch {
                place: Place::Ball(ball),
                ..
            } => (MarkKind::Ball, ball.centre, DVec3::Y, ball.radius),
            Aim::Touch {
                place: Place::Point(_, radius),
                ..
            } => (MarkKind::Spot, self.point, self.normal, *radius),
            Aim::Look { at, .. } => match at {
                Sight::Point(point) => (MarkKind::Ring, *point, DVec3::Y, 0.006),
                Sight::Material(_) => (MarkKind::Ring, self.point, self.normal, 0.006),
            },
            Aim::Touch {
                place: Place::Surface(..),
                ..
            }
            | Aim::Release { ball: None, .. } => return None,
        };
        Some(Mark {
            kind,
            position: position.to_array(),
            normal: normal.to_array(),
            radius,
            state,
            label,
        })
    }

    fn tissue_of<'a>(&self, simulation: &'a Simulation) -> Option<&'a Tissue> {
        Some(&simulation.model().tissues[self.tissue?])
    }
}
