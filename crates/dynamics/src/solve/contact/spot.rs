//! One point of contact: how it answers, and what makes it right.

use crate::solve::mover::NONE;
use glam::{DMat3, DVec3};

/// A body as the sweeps see it: how it moves, and how it answers.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub velocity: DVec3,
    pub spin: DVec3,
    pub inverse_mass: f64,
    pub inverse_inertia: DMat3,
}

/// A symmetric matrix in few bytes. Sweeps read far more than they reckon, and how far a sweep goes need not be known to the
/// last digit: where it ends is where the velocities are right, and these are.
#[derive(Clone, Copy, Debug)]
pub struct Symmetric {
    diagonal: [f32; 3],
    /// yz, zx, xy.
    rest: [f32; 3],
}

impl Symmetric {
    pub const ZERO: Self = Self {
        diagonal: [0.0; 3],
        rest: [0.0; 3],
    };

    pub fn new(m: &DMat3) -> Self {
        Self {
            diagonal: [m.x_axis.x as f32, m.y_axis.y as f32, m.z_axis.z as f32],
            rest: [m.y_axis.z as f32, m.z_axis.x as f32, m.x_axis.y as f32],
        }
    }

    #[inline(always)]
    pub fn times(&self, v: DVec3) -> DVec3 {
        let [xx, yy, zz] = self.diagonal.map(f64::from);
        let [yz, zx, xy] = self.rest.map(f64::from);
        DVec3::new(
            xx * v.x + xy * v.y + zx * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            zx * v.x + yz * v.y + zz * v.z,
        )
    }
}

/// A point of contact made ready.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub a: u32,
    pub b: u32,
    pub arms: [DVec3; 2],
    pub normal: DVec3,
    /// How b should move against a at the point, as far as that is up to what can be moved, if the point sticks.
    pub goal: DVec3,
    /// Change of their velocity against each other for an impulse, and its inverse.
    pub answer: Symmetric,
    pub inverse: Symmetric,
    /// Impulse for each m/s along the normal, and across it where the point answers most.
    pub firmness: [f32; 2],
    /// Velocity for each N·s where the point answers most.
    pub softness: f32,
    /// True if joints act on one of its bodies, or on something they touch, directly or through others.
    pub joined: bool,
    pub friction: f64,
    pub impulse: DVec3,
}

/// Velocity of a point of a body.
#[inline(always)]
pub fn motion(body: &Body, arm: DVec3) -> DVec3 {
    body.velocity + body.spin.cross(arm)
}

#[inline(always)]
pub fn push(body: &mut Body, arm: DVec3, impulse: DVec3) {
    body.velocity += impulse * body.inverse_mass;
    body.spin += body.inverse_inertia * arm.cross(impulse);
}

impl Spot {
    /// Takes over how it answers. Where that has no inverse nothing can be made right, and the point does nothing.
    pub fn answers(&mut self, answer: &DMat3) {
        let inverse = answer.inverse();
        if !inverse.is_finite() {
            return;
        }
        let n = self.normal;
        let along = n.dot(*answer * n);
        // Sum and product of the two answers across the normal give the greater one.
        let sum = answer.x_axis.x + answer.y_axis.y + answer.z_axis.z - along;
        let product = answer.determinant() * n.dot(inverse * n);
        let most = 0.5 * (sum + (sum * sum - 4.0 * product).max(0.0).sqrt());
        self.answer = Symmetric::new(answer);
        self.inverse = Symmetric::new(&inverse);
        self.firmness = [(1.0 / along) as f32, (1.0 / most) as f32];
        self.softness = along.max(most) as f32;
    }

    /// The same seen from the other side.
    pub fn turned(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            arms: [self.arms[1], self.arms[0]],
            normal: -self.normal,
            goal: -self.goal,
            impulse: -self.impulse,
            ..self
        }
    }

    #[inline(always)]
    pub fn push(&self, bodies: &mut [Body], impulse: DVec3) {
        if self.a != NONE {
            push(&mut bodies[self.a as usize], self.arms[0], -impulse);
        }
        if self.b != NONE {
            push(&mut bodies[self.b as usize], self.arms[1], impulse);
        }
    }

    #[inline(always)]
    pub fn push_across(&self, ours: &mut [Body], theirs: &mut [Body], impulse: DVec3) {
        push(&mut ours[self.a as usize], self.arms[0], -impulse);
        push(&mut theirs[self.b as usize], self.arms[1], impulse);
    }

    /// Makes this point right; returns the square of how wrong it was, m²/s², and what that does towards its goal, J.
    #[inline]
    pub fn solve(&mut self, bodies: &mut [Body]) -> (f64, f64) {
        let mut u = DVec3::ZERO;
        if self.b != NONE {
            u += motion(&bodies[self.b as usize], self.arms[1]);
        }
        if self.a != NONE {
            u -= motion(&bodies[self.a as usize], self.arms[0]);
        }
        if self.is_idle(u) {
            return (0.0, 0.0);
        }
        let (change, wrong) = self.impulse_for(u);
        self.impulse += change;
        self.push(bodies, change);
        (wrong, self.goal.dot(change))
    }

    #[inline]
    pub fn solve_across(&mut self, ours: &mut [Body], theirs: &mut [Body]) -> (f64, f64) {
        let u = motion(&theirs[self.b as usize], self.arms[1])
            - motion(&ours[self.a as usize], self.arms[0]);
        if self.is_idle(u) {
            return (0.0, 0.0);
        }
        let (change, wrong) = self.impulse_for(u);
        self.impulse += change;
        self.push_across(ours, theirs, change);
        (wrong, self.goal.dot(change))
    }

    /// True if nothing is to be done: it does not push, and moves apart fast enough.
    #[inline(always)]
    pub fn is_idle(&self, u: DVec3) -> bool {
        self.impulse == DVec3::ZERO && self.normal.dot(self.goal - u) <= 0.0
    }

    /// The change of impulse on b that makes this point right if what can be moved moves it at `u` against a, and the square
    /// of how wrong it was, m²/s².
    ///
    /// What would stop all motion is asked for first. If friction can hold it, the point sticks (B88: while |pₜ| ≤ μ pₙ).
    /// Else the normal impulse is made right, never to pull, and friction takes a step against the sliding that is left, cut
    /// at its limit (B89): where it comes to rest, friction is against the sliding and at its limit, or sliding has
    /// stopped.
    #[inline(always)]
    pub fn impulse_for(&self, u: DVec3) -> (DVec3, f64) {
        let n = self.normal;
        let lack = self.goal - u;
        let wanted = self.impulse + self.inverse.times(lack);
        let along = n.dot(wanted);
        let across = wanted - n * along;
        let hold = self.friction * along;
        let new = if along > 0.0 && across.length_squared() <= hold * hold {
            wanted
        } else {
            let before = n.dot(self.impulse);
            let pressed = (before + n.dot(lack) * f64::from(self.firmness[0])).max(0.0);
            let lack = lack - self.answer.times(n * (pressed - before));
            let rub =
                self.impulse - n * before + (lack - n * n.dot(lack)) * f64::from(self.firmness[1]);
            n * pressed + rub.clamp_length_max(self.friction * pressed)
        };
        let change = new - self.impulse;
        let softness = f64::from(self.softness);
        (change, change.length_squared() * (softness * softness))
    }
}
