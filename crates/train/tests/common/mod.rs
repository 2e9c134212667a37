//! Scripted hands: they see what a trainee sees (marks, the tip, the force) and move the handles.

// Every test file is a program of its own and uses only some of this.
#![allow(dead_code)]

use glam::DVec3;
use std::{path::PathBuf, sync::Arc};
use trocar_dynamics::Local;
use trocar_math::real;
use trocar_scene::{Input, Simulation};
use trocar_tools::{EndoscopeHandle, Handle};
use trocar_train::{Ending, Exercise, MarkKind, Performance, Run};

/// A file of the repository.
pub fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name)
}

pub fn exercise() -> Arc<Exercise> {
    let path = file("exercises/grasp-and-lift.toml");
    Arc::new(Exercise::load(path).unwrap_or_else(|e| panic!("{e}")))
}

/// How a hand works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Slow, smooth, straight; minds the force.
    Careful,
    /// Fast, jerky, overshooting, pulling hard.
    Hasty,
    /// Takes the wrong place, wanders out of view, drops.
    Clumsy,
    /// Does nothing.
    Idle,
}

/// One operation as it goes.
struct Operation<'a> {
    simulation: Simulation,
    run: Run,
    style: Style,
    handle: Handle,
    scope: Option<EndoscopeHandle>,
    each: &'a mut dyn FnMut(&Input, &Simulation),
}

/// Lets a hand operate at a level; `each` is called after every step.
pub fn operate(
    exercise: &Arc<Exercise>,
    level: usize,
    style: Style,
    threads: usize,
    each: &mut dyn FnMut(&Input, &Simulation),
) -> Performance {
    let simulation =
        Simulation::new(&exercise.levels[level].scene, threads).unwrap_or_else(|e| panic!("{e}"));
    let run = Run::new(exercise.clone(), level, &simulation).unwrap_or_else(|e| panic!("{e}"));
    let operation = Operation {
        handle: simulation.handle(0),
        scope: simulation.endoscope(),
        simulation,
        run,
        style,
        each,
    };
    operation.go()
}

impl Operation<'_> {
    fn go(mut self) -> Performance {
        match self.style {
            Style::Careful => self.careful(),
            Style::Hasty => self.hasty(),
            Style::Clumsy => self.clumsy(),
            Style::Idle => self.wait(15.0),
        }
        self.run.finish(Ending::GivenUp)
    }

    fn careful(&mut self) {
        for _ in 0..20 {
            match self.kind() {
                None => return,
                Some(MarkKind::Ring) => self.centre(1.5),
                Some(MarkKind::Spot) => self.grasp(DVec3::ZERO, 1.0),
                Some(_) if self.is_release() => {
                    self.carry(2.5, 0.0);
                    self.wait(0.4);
                    self.jaws(1.0, 0.5);
                    self.wait(0.2);
                }
                Some(_) => {
                    let goal = self.run.task().goal;
                    self.carry(2.5, 0.0);
                    for _ in 0..20 {
                        self.wait(0.3);
                        if self.run.task().goal != goal || self.kind().is_none() {
                            break;
                        }
                        self.carry(0.5, 0.0);
                    }
                }
            }
        }
    }

    fn hasty(&mut self) {
        let mut rough = true;
        for _ in 0..20 {
            match self.kind() {
                None => return,
                Some(MarkKind::Ring) => self.centre(0.5),
                Some(MarkKind::Spot) => self.grasp(DVec3::new(0.005, -0.001, 0.0), 0.25),
                Some(_) if self.is_release() => {
                    // Open while still moving; once that went wrong, calmly.
                    if rough {
                        self.carry(0.3, 0.1);
                        self.jaws(1.0, 0.1);
                        rough = false;
                    } else {
                        self.style = Style::Careful;
                        self.carry(0.8, 0.0);
                        self.wait(0.3);
                        self.jaws(1.0, 0.4);
                        self.style = Style::Hasty;
                    }
                }
                Some(_) => {
                    // Too far, back, and shaking all the while.
                    let goal = self.run.task().goal;
                    self.carry(0.35, 0.9);
                    for _ in 0..12 {
                        self.carry(0.25, 0.15);
                        self.wait(0.5);
                        if self.run.task().goal != goal || self.kind().is_none() {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn clumsy(&mut self) {
        if self.kind() == Some(MarkKind::Ring) {
            self.centre(4.0);
        }
        // Beside the spot, twice.
        for aside in [DVec3::new(0.03, 0.0, 0.0), DVec3::new(0.025, 0.004, 0.0)] {
            self.grasp(aside, 1.0);
            self.jaws(1.0, 0.3);
        }
        // Somewhere else altogether.
        self.swing(DVec3::new(-0.16, 0.05, 0.10), 2.0);
        self.wait(3.0);
        self.swing(DVec3::new(0.10, 0.06, 0.06), 2.0);
        self.grasp(DVec3::ZERO, 1.0);
        self.carry(1.0, -0.5);
        self.jaws(1.0, 0.2);
        self.grasp(DVec3::ZERO, 1.0);
        self.carry(0.3, 3.0);
        self.wait(1.0);
        self.jaws(1.0, 0.2);
        self.swing(DVec3::new(0.10, 0.06, 0.06), 2.0);
        self.wait(5.0);
    }

    /// The mark of what is to be done; none once it is over.
    fn kind(&self) -> Option<MarkKind> {
        if self.run.ending().is_some() {
            return None;
        }
        self.run.task().marks.first().map(|m| m.kind)
    }

    fn is_release(&self) -> bool {
        self.run.task().title.contains("let go")
    }

    fn mark(&self) -> DVec3 {
        self.run
            .task()
            .marks
            .first()
            .map_or(DVec3::ZERO, |m| DVec3::from(m.position))
    }

    fn tip(&self) -> DVec3 {
        let shaft = self.simulation.poses(0)[0];
        self.simulation.model().tools[0].grasper.tip(&shaft)
    }

    /// One step with the hands where they are.
    fn step(&mut self) {
        if self.run.ending().is_some() {
            return;
        }
        let mut input = self.simulation.idle_input();
        input.handles[0] = self.handle;
        input.endoscope = self.scope;
        self.simulation.step(&input);
        self.run.observe(&self.simulation, self.simulation.report());
        self.run.notices().for_each(drop);
        (self.each)(&input, &self.simulation);
    }

    fn wait(&mut self, seconds: f64) {
        let steps = (seconds / self.simulation.model().step).round() as usize;
        let still = self.handle;
        for k in 0..steps {
            self.handle = still;
            self.shake(k);
            self.step();
        }
        self.handle = still;
    }

    /// No hand is quite still.
    fn shake(&mut self, k: usize) {
        let t = k as f64 * self.simulation.model().step;
        let (amplitude, frequency) = match self.style {
            Style::Careful => (0.0003, 1.1),
            Style::Hasty => (0.0025, 3.0),
            Style::Clumsy => (0.0015, 2.0),
            Style::Idle => return,
        };
        let angle = amplitude / 0.15;
        self.handle.yaw += angle * real::sin(2.0 * std::f64::consts::PI * frequency * t);
        self.handle.pitch += angle * real::sin(2.0 * std::f64::consts::PI * 0.7 * frequency * t);
    }

    /// The handle that puts the tip at a point.
    fn to(&self, point: DVec3, jaw: f64) -> Handle {
        let grasper = &self.simulation.model().tools[0].grasper;
        let local = grasper.trocar.local(point);
        Handle {
            yaw: real::atan2(local.x, local.z),
            pitch: real::atan2(local.y, real::hypot(local.x, local.z)),
            depth: local.length() - grasper.jaw_length,
            roll: self.handle.roll,
            jaw,
        }
    }

    /// Moves to a handle: in one even movement, or jerkily.
    fn drive(&mut self, to: Handle, seconds: f64) {
        let from = self.handle.to_array();
        let to = to.to_array();
        let steps = (seconds / self.simulation.model().step).round().max(1.0) as usize;
        for k in 1..=steps {
            let s = k as f64 / steps as f64;
            let share = match self.style {
                Style::Careful => s * s * s * (10.0 + s * (6.0 * s - 15.0)),
                _ => s,
            };
            let [yaw, pitch, depth, roll, jaw] =
                std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share);
            self.handle = Handle {
                yaw,
                pitch,
                depth,
                roll,
                jaw,
            };
            self.shake(k);
            self.step();
        }
        let [yaw, pitch, depth, roll, jaw] = to;
        self.handle = Handle {
            yaw,
            pitch,
            depth,
            roll,
            jaw,
        };
    }

    fn swing(&mut self, point: DVec3, seconds: f64) {
        let to = self.to(point, self.handle.jaw);
        self.drive(to, seconds);
    }

    fn jaws(&mut self, jaw: f64, seconds: f64) {
        let to = Handle { jaw, ..self.handle };
        self.drive(to, seconds);
    }

    /// Grasps the marked spot, or `aside` of it; `slow`: how slowly.
    fn grasp(&mut self, aside: DVec3, slow: f64) {
        self.jaws(1.0, 0.3 * slow);
        let spot = self.mark() + aside;
        let trocar = self.simulation.model().tools[0].grasper.trocar.position;
        let axis = (spot - trocar).normalize();
        let before = self.to(spot - axis * 0.015, 1.0);
        self.drive(before, 2.5 * slow);
        let spot = self.mark() + aside;
        let over = self.to(spot + axis * 0.004, 1.0);
        self.drive(over, 1.5 * slow);
        self.jaws(0.0, 0.8 * slow);
        self.wait(0.3 * slow);
    }

    /// Carries what is held to the ball; `beyond`: too far by this share.
    fn carry(&mut self, seconds: f64, beyond: f64) {
        let task = self.run.task();
        let Some(ball) = task.marks.iter().find(|m| m.kind == MarkKind::Ball) else {
            return;
        };
        let shaft = self.simulation.poses(0)[0];
        let held: Vec<DVec3> = self
            .simulation
            .grip(0)
            .holds
            .iter()
            .filter_map(|h| match h.tie.a.at {
                Local::Frame(_, offset) => Some(shaft.point(offset)),
                _ => None,
            })
            .collect();
        if held.is_empty() {
            return;
        }
        // The arrow begins where that is which has to be in the ball.
        let arrow = task.marks.iter().find(|m| m.kind == MarkKind::Arrow);
        let at = match arrow {
            Some(arrow) => DVec3::from(arrow.position),
            None => held.iter().sum::<DVec3>() / held.len() as f64,
        };
        let way = (DVec3::from(ball.position) - at) * (1.0 + beyond);
        let to = self.to(self.tip() + way, self.handle.jaw);
        self.drive(to, seconds);
    }

    /// Turns the endoscope until the mark is in the middle of its picture.
    fn centre(&mut self, seconds: f64) {
        let (Some(from), Some(build)) = (self.scope, self.simulation.model().endoscope.clone())
        else {
            return;
        };
        let mark = self.mark();
        let off = |h: &EndoscopeHandle| {
            let eye = build.endoscope.eye(h);
            let p = eye.pose.local(mark);
            (real::atan2(p.x, -p.z), real::atan2(p.y, -p.z))
        };
        // Whatever way the optics look: follow the error down.
        let mut to = from;
        for _ in 0..60 {
            let (x, y) = off(&to);
            let e = 1e-4;
            let nudge = |yaw, pitch| {
                let (a, b) = off(&EndoscopeHandle {
                    yaw: to.yaw + yaw,
                    pitch: to.pitch + pitch,
                    ..to
                });
                ((a - x) / e, (b - y) / e)
            };
            let ((a, c), (b, d)) = (nudge(e, 0.0), nudge(0.0, e));
            let det = a * d - b * c;
            if det.abs() < 1e-9 {
                break;
            }
            to.yaw -= 0.5 * (d * x - b * y) / det;
            to.pitch -= 0.5 * (a * y - c * x) / det;
        }
        let steps = (seconds / self.simulation.model().step).round() as usize;
        for k in 1..=steps {
            let s = k as f64 / steps as f64;
            self.scope = Some(EndoscopeHandle {
                yaw: from.yaw + (to.yaw - from.yaw) * s,
                pitch: from.pitch + (to.pitch - from.pitch) * s,
                ..from
            });
            self.step();
        }
        self.wait(1.3);
    }
}
