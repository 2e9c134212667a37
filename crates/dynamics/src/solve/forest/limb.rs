//! What a tree of ball joints is made of, and the small matrices of its elimination.

use super::super::mover::LEAST_COSINE;
use crate::{
    Nodes,
    rigid::{Split, Turn, turning},
};
use glam::{DMat3, DQuat, DVec3};
use trocar_math::{rotation, skew};

/// No parent, or no joint.
pub const NONE: u32 = u32::MAX;

/// A body of a tree and the ball joint that holds it to its parent: what does not change.
#[derive(Clone, Copy, Debug)]
pub struct Limb {
    pub node: u32,
    /// Which limb it hangs on; [`NONE`] for the first one.
    pub parent: u32,
    /// Which joint holds it; [`NONE`] if it is the first of a tree that hangs on nothing.
    pub joint: u32,
    /// 1 if it is side b of its joint, −1 if it is side a.
    pub side: f64,
    /// Where its joint is in its own frame and in its parent's, m.
    pub own: DVec3,
    pub other: DVec3,
    /// True if nothing hangs on it.
    pub is_leaf: bool,
}

/// A body at the start of a substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    pub mass: f64,
    /// One over its mass.
    pub light: f64,
    /// Principal moments, one over each, and how they split its turn.
    pub moments: DVec3,
    pub agile: DVec3,
    pub split: Split,
    pub position: DVec3,
    pub velocity: DVec3,
    pub orientation: DQuat,
    /// The same as a matrix.
    pub axes: DMat3,
    pub spin: DVec3,
    /// Mean velocity over the substep if it were left alone, and the force on it.
    pub drift: DVec3,
    pub force: DVec3,
}

impl Body {
    /// Where it is and how it moves now.
    #[inline]
    pub fn read(&mut self, nodes: &Nodes, node: usize) {
        self.position = nodes.position[node];
        self.velocity = nodes.velocity[node];
        self.orientation = nodes.orientation[node];
        self.spin = nodes.spin[node];
        self.axes = DMat3::from_quat(self.orientation);
    }

    /// Its inertia along the world's axes. It is made whenever it is wanted: what large trees cost is memory.
    #[inline]
    pub fn inertia(&self) -> DMat3 {
        let (a, m) = (self.axes, self.moments);
        DMat3::from_cols(a.x_axis * m.x, a.y_axis * m.y, a.z_axis * m.z) * a.transpose()
    }

    /// By how much angular momentum along the world's axes, N·m·s, changes its spin.
    #[inline]
    pub fn spun(&self, twist: DVec3) -> DVec3 {
        self.axes * ((self.axes.transpose() * twist) * self.agile)
    }

    /// Kinetic energy with such a motion, J.
    #[inline]
    pub fn energy(&self, velocity: DVec3, spin: DVec3) -> f64 {
        let local = self.axes.transpose() * spin;
        0.5 * (self.mass * velocity.length_squared() + local.dot(self.moments * local))
    }
}

/// How a body goes through a substep, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course {
    /// Mean velocity, and spin at the start with all that bonds gave it.
    pub velocity: DVec3,
    pub spin: DVec3,
    /// Where it will be.
    pub position: DVec3,
    pub orientation: DQuat,
    pub axes: DMat3,
    /// Its spin then, once it is finished.
    pub last_spin: DVec3,
    /// What its bonds should have given it by their impulses, and what of that it has not had: N·s and N·m·s.
    pub due: [DVec3; 2],
    /// How a small change of spin turns it at the end, for each second.
    pub turning: DMat3,
    pub lack: [DVec3; 2],
}

impl Course {
    /// Works out where it ends. `mean`: it turns as bodies do whose bonds pull along mean arms. Its orientation is left at any
    /// length: looks need its axes alone.
    #[inline]
    pub fn follow(&mut self, body: &Body, mean: bool, h: f64) {
        self.position = body.position + self.velocity * h;
        let momentum = body.moments * (body.axes.transpose() * self.spin);
        let turn = if mean {
            Turn::of(&body.split, momentum, h, |v| {
                DQuat::from_xyzw(0.5 * v.x, 0.5 * v.y, 0.5 * v.z, 1.0)
            })
        } else {
            Turn::of(&body.split, momentum, h, rotation::from_scaled_axis)
        };
        self.orientation = body.orientation * turn.rotation;
        self.axes = axes(self.orientation);
    }

    /// Takes what its bonds owe it. A free turn keeps angular momentum, so that its spin at the end follows from where it ends.
    #[inline]
    pub fn finish(&mut self, body: &Body) {
        self.orientation = self.orientation.normalize();
        let local = body.axes.transpose();
        let momentum = body.moments * (local * body.spin) + local * self.due[1];
        self.spin = body.axes * (momentum * body.agile);
        self.last_spin = self.spun(body, body.axes * momentum);
    }

    /// The spin that goes with the angular momentum `twist` (N·m·s) at its end.
    #[inline]
    pub fn spun(&self, body: &Body, twist: DVec3) -> DVec3 {
        self.axes * ((self.axes.transpose() * twist) * body.agile)
    }

    /// Velocity and spin of a body that gets what its bonds owe it once more.
    #[inline]
    pub fn pulled_again(&self, body: &Body) -> [DVec3; 2] {
        [
            body.velocity + self.due[0] * body.light,
            body.spin + body.spun(self.due[1]),
        ]
    }

    /// Works out what it lacks; returns the square of how far its motion lags behind, m² or rad².
    #[inline]
    pub fn compare(&mut self, body: &Body, h: f64) -> f64 {
        let local = body.axes.transpose();
        let twist = local * self.due[1] - body.moments * (local * (self.spin - body.spin));
        self.lack = [
            self.due[0] - (self.velocity - body.drift) * body.mass,
            body.axes * twist,
        ];
        let shift = self.lack[0] * (body.light * h);
        let turn = twist * body.agile * h;
        shift.length_squared().max(turn.length_squared())
    }

    /// Changes its motion.
    #[inline]
    pub fn change(&mut self, change: &Change) {
        self.velocity += change.shift;
        self.spin += change.turn;
    }

    /// Works out how a small change of spin turns it at the end.
    #[inline]
    pub fn find_turning(&mut self, body: &Body, mean: bool, h: f64) {
        self.turning = turning(&body.split, body.moments, body.axes, self.spin, (mean, h));
    }

    /// True if it turns farther than what is reckoned for it can be trusted.
    #[inline]
    pub fn is_whirled(&self, body: &Body, mean: bool) -> bool {
        let cosine = self.orientation.dot(body.orientation).abs();
        cosine.is_nan() || cosine < LEAST_COSINE[usize::from(mean)]
    }
}

/// What a limb does in a round; the later ones do more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Nothing of it changes.
    Rests,
    /// It goes along with its parent, as a chord says that is as old as its pivot.
    Follows,
    /// Something is wrong with it, or with what hangs on it; its pivot is good enough.
    Works,
    /// It is so wrong that its pivot is made anew, or something that hangs on it is.
    #[default]
    Renews,
}

impl Role {
    /// True if the round is about it.
    #[inline]
    pub fn works(self) -> bool {
        self >= Self::Works
    }
}

/// The joint of a limb. Arms are first the limb's own, then its parent's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold {
    /// What it pulls the limb with, and its parent against, N·s.
    pub impulse: DVec3,
    /// Arms at the start and at the end.
    pub start: [DVec3; 2],
    pub end: [DVec3; 2],
    /// How far its two points are apart (m), or how fast they part (m/s).
    pub apart: DVec3,
}

impl Hold {
    /// The arms that it pulls along: those of the start, or the means of them and those of the end.
    #[inline]
    pub fn arms(&self, mean: bool) -> [DVec3; 2] {
        [self.arm(0, mean), self.arm(1, mean)]
    }

    /// One of them.
    #[inline]
    pub fn arm(&self, side: usize, mean: bool) -> DVec3 {
        if mean {
            (self.start[side] + self.end[side]) * 0.5
        } else {
            self.start[side]
        }
    }
}

/// A limb in its elimination. First `a` to `d` say what it and all that hangs on it weigh: a mass of six degrees of freedom, in
/// blocks of shift from shift, shift from turn, turn from shift and turn from turn. Once it is eliminated they are a⁻¹,
/// a⁻¹ b, c a⁻¹ and (d − c a⁻¹ b)⁻¹.
#[derive(Clone, Copy, Debug)]
pub struct Pivot {
    /// One over its mass if nothing hangs on it; then `a`, `b` and `c` are not looked at.
    light: Option<f64>,
    a: DMat3,
    b: DMat3,
    c: DMat3,
    pub d: DMat3,
    /// What bonds add to its resistance against turning; once it is eliminated, how it turns for a unit impulse of its joint.
    pub turn: DMat3,
    /// Impulse for each m/s at its joint.
    grip: DMat3,
    /// How the points of its joint move as it turns, and as its parent turns.
    reach: DMat3,
    led: DMat3,
}

/// What is wrong with a limb's motion in a round, and what the round changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// What is still to be given to it and all that hangs on it; then how its motion changes.
    pub shift: DVec3,
    pub turn: DVec3,
    /// How the impulse of its joint changes.
    pub impulse: DVec3,
}

/// The matrix that a quaternion of any length turns with.
#[inline]
fn axes(q: DQuat) -> DMat3 {
    let DQuat { x, y, z, w } = q;
    let s = 2.0 / (x * x + y * y + z * z + w * w);
    let (sx, sy, sz) = (s * x, s * y, s * z);
    let (xx, xy, xz, xw) = (sx * x, sx * y, sx * z, sx * w);
    let (yy, yz, yw) = (sy * y, sy * z, sy * w);
    let (zz, zw) = (sz * z, sz * w);
    DMat3::from_cols(
        DVec3::new(1.0 - yy - zz, xy + zw, xz - yw),
        DVec3::new(xy - zw, 1.0 - xx - zz, yz + xw),
        DVec3::new(xz + yw, yz - xw, 1.0 - xx - yy),
    )
}

/// `m` [r]×.
#[inline]
fn times_cross(m: &DMat3, r: DVec3) -> DMat3 {
    DMat3::from_cols(
        m.y_axis * r.z - m.z_axis * r.y,
        m.z_axis * r.x - m.x_axis * r.z,
        m.x_axis * r.y - m.y_axis * r.x,
    )
}

/// [r]× `m`.
#[inline]
pub fn cross_times(r: DVec3, m: &DMat3) -> DMat3 {
    DMat3::from_cols(r.cross(m.x_axis), r.cross(m.y_axis), r.cross(m.z_axis))
}

impl Pivot {
    /// A limb that nothing moves.
    pub const NOTHING: Self = Self {
        light: None,
        a: DMat3::ZERO,
        b: DMat3::ZERO,
        c: DMat3::ZERO,
        d: DMat3::ZERO,
        turn: DMat3::ZERO,
        grip: DMat3::ZERO,
        reach: DMat3::ZERO,
        led: DMat3::ZERO,
    };

    /// Makes it that of a body alone, which turns with no resistance yet. `is_leaf`: nothing will be added to it.
    #[inline]
    pub fn weigh(&mut self, body: &Body, is_leaf: bool) {
        self.light = is_leaf.then_some(body.light);
        self.d = DMat3::ZERO;
        self.turn = DMat3::ZERO;
        if !is_leaf {
            self.a = DMat3::from_diagonal(DVec3::splat(body.mass));
            self.b = DMat3::ZERO;
            self.c = DMat3::ZERO;
        }
    }

    /// Eliminates a limb that no joint holds: the first of a tree that hangs on nothing. `symmetric`: `c` is the transposed of
    /// `b` and has not been kept.
    pub fn free(&mut self, symmetric: bool) {
        if symmetric {
            self.c = self.b.transpose();
        }
        self.invert();
    }

    #[inline]
    fn invert(&mut self) {
        let b = self.b;
        self.a = self.a.inverse();
        self.c *= self.a;
        self.b = self.a * b;
        self.d = (self.d - self.c * b).inverse();
    }

    /// How it answers to what pulls it along `arm`; returns how it moves for a unit impulse.
    #[inline]
    fn pull(&mut self, arm: DVec3) -> DMat3 {
        match self.light {
            Some(light) => {
                self.d = self.d.inverse();
                self.turn = times_cross(&self.d, arm);
                DMat3::from_diagonal(DVec3::splat(light))
            }
            None => {
                self.turn = self.d * (skew(arm) - self.c);
                self.a - self.b * self.turn
            }
        }
    }

    /// Eliminates a limb and its joint; `parent` takes its share of the weight. The two of `reach` say how the points of the
    /// joint move at the end as the limb and its parent turn.
    #[inline]
    pub fn exact(&mut self, arms: [DVec3; 2], reach: [DMat3; 2], parent: Option<&mut Self>) {
        if self.light.is_none() {
            self.invert();
        }
        let shift = self.pull(arms[0]);
        [self.reach, self.led] = reach;
        self.grip = (shift + self.reach * self.turn).inverse();
        if let Some(parent) = parent {
            self.lean(arms[1], parent);
        }
    }

    /// The same if points move as `arms` say, and all is symmetric: `c` is the transposed of `b` and need not be kept.
    #[inline]
    pub fn symmetric(&mut self, arms: [DVec3; 2], parent: Option<&mut Self>) {
        if self.light.is_none() {
            let b = self.b;
            self.a = self.a.inverse();
            self.b = self.a * b;
            self.c = self.b.transpose();
            self.d = (self.d - self.c * b).inverse();
        }
        let shift = self.pull(arms[0]);
        (self.reach, self.led) = (skew(-arms[0]), skew(-arms[1]));
        self.grip = (shift - cross_times(arms[0], &self.turn)).inverse();
        if let Some(parent) = parent {
            let b = times_cross(&self.grip, -arms[1]);
            parent.a += self.grip;
            parent.b += b;
            parent.d += cross_times(arms[1], &b);
        }
    }

    /// Gives `parent` its share of the weight once more, as it was when it was eliminated; `arm` is where the parent is pulled.
    #[inline]
    pub fn lean(&self, arm: DVec3, parent: &mut Self) {
        let b = self.grip * self.led;
        parent.a += self.grip;
        parent.b += b;
        parent.c += cross_times(arm, &self.grip);
        parent.d += cross_times(arm, &b);
    }

    /// From the leaves: how the limb would move by what is to be given to it, and with what that pulls on its joint if its
    /// parent stays; `wrong` is how fast the points of its joint part.
    #[inline]
    pub fn gather(&self, change: &mut Change, wrong: DVec3) {
        let (f, t) = (change.shift, change.turn);
        match self.light {
            Some(light) => {
                change.turn = self.d * t;
                change.shift = f * light;
            }
            None => {
                change.turn = self.d * (t - self.c * f);
                change.shift = self.a * f - self.b * change.turn;
            }
        }
        change.impulse = self.grip * (-wrong - change.shift - self.reach * change.turn);
    }

    /// From the root: how it moves as its parent moves.
    #[inline]
    pub fn scatter(&self, change: &mut Change, parent: Option<(DVec3, DVec3)>) {
        if let Some((shift, turn)) = parent {
            change.impulse += self.grip * (shift + self.led * turn);
        }
        let turn = self.turn * change.impulse;
        change.shift += match self.light {
            Some(light) => change.impulse * light,
            None => self.a * change.impulse - self.b * turn,
        };
        change.turn += turn;
    }
}
