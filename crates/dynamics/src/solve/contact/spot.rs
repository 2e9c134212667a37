//! One point of contact: how it answers, and what makes it right.

use super::twins::{Both, both, one_of};
use glam::{DMat3, DVec3};

/// A body as the sweeps see it: how it moves, and how it answers.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub velocity: DVec3,
    pub spin: DVec3,
    pub inverse_mass: f64,
    /// xx, yy, zz, yz, zx, xy.
    pub inverse_inertia: [f64; 6],
}

impl Body {
    /// What can't be moved.
    pub const STILL: Self = Self {
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        inverse_mass: 0.0,
        inverse_inertia: [0.0; 6],
    };
}

/// The numbers of a symmetric matrix: xx, yy, zz, yz, zx, xy.
#[inline(always)]
pub fn numbers(m: &DMat3) -> [f64; 6] {
    [
        m.x_axis.x, m.y_axis.y, m.z_axis.z, m.y_axis.z, m.z_axis.x, m.x_axis.y,
    ]
}

/// A symmetric matrix in few bytes. Sweeps read far more than they reckon, and how far a sweep goes need not be known to the
/// last digit: where it ends is where the velocities are right, and these are.
#[derive(Clone, Copy, Debug)]
pub struct Symmetric {
    xx: f32,
    yy: f32,
    zz: f32,
    yz: f32,
    zx: f32,
    xy: f32,
}

impl Symmetric {
    pub const ZERO: Self = Self::new(&[0.0; 6]);

    pub const fn new(m: &[f64; 6]) -> Self {
        Self {
            xx: m[0] as f32,
            yy: m[1] as f32,
            zz: m[2] as f32,
            yz: m[3] as f32,
            zx: m[4] as f32,
            xy: m[5] as f32,
        }
    }

    /// It times v, and w added.
    #[inline(always)]
    pub fn times_and(&self, v: DVec3, w: DVec3) -> DVec3 {
        let (xx, yy, zz) = (f64::from(self.xx), f64::from(self.yy), f64::from(self.zz));
        let (yz, zx, xy) = (f64::from(self.yz), f64::from(self.zx), f64::from(self.xy));
        DVec3::new(
            xx.mul_add(v.x, xy.mul_add(v.y, zx.mul_add(v.z, w.x))),
            xy.mul_add(v.x, yy.mul_add(v.y, yz.mul_add(v.z, w.y))),
            zx.mul_add(v.x, yz.mul_add(v.y, zz.mul_add(v.z, w.z))),
        )
    }
}

#[inline(always)]
fn dot(a: DVec3, b: DVec3) -> f64 {
    a.x.mul_add(b.x, a.y.mul_add(b.y, a.z * b.z))
}

/// a + n s.
#[inline(always)]
fn along(a: DVec3, n: DVec3, s: f64) -> DVec3 {
    DVec3::new(
        n.x.mul_add(s, a.x),
        n.y.mul_add(s, a.y),
        n.z.mul_add(s, a.z),
    )
}

/// A point of contact made ready.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub a: u32,
    pub b: u32,
    /// From the centre of each body to the point, m.
    pub arms: Both,
    pub normal: DVec3,
    /// How b should move against a at the point, as far as that is up to what can be moved, if the point sticks.
    pub goal: DVec3,
    /// Change of their velocity against each other for an impulse along the normal; and the impulse for any change of it.
    pub answer: [f32; 3],
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

pub fn push(body: &mut Body, arm: DVec3, impulse: DVec3) {
    let [xx, yy, zz, yz, zx, xy] = body.inverse_inertia;
    let m = arm.cross(impulse);
    body.velocity += impulse * body.inverse_mass;
    body.spin += DVec3::new(
        xx * m.x + xy * m.y + zx * m.z,
        xy * m.x + yy * m.y + yz * m.z,
        zx * m.x + yz * m.y + zz * m.z,
    );
}

impl Spot {
    /// From the centre of the first (0) or second (1) body to the point, m.
    pub fn arm(&self, which: usize) -> DVec3 {
        one_of(&self.arms, which)
    }

    /// Takes over how it answers: xx, yy, zz, yz, zx, xy. Where that has no inverse nothing can be made right, and the point does nothing.
    pub fn answers(&mut self, answer: &[f64; 6]) {
        let [xx, yy, zz, yz, zx, xy] = *answer;
        let cofactors = [
            yy * zz - yz * yz,
            zz * xx - zx * zx,
            xx * yy - xy * xy,
            zx * xy - xx * yz,
            xy * yz - yy * zx,
            yz * zx - zz * xy,
        ];
        let determinant = xx * cofactors[0] + xy * cofactors[5] + zx * cofactors[4];
        let inverse = determinant.recip();
        if !inverse.is_finite() {
            return;
        }
        let n = self.normal;
        // nᵀ M n.
        let within = |m: &[f64; 6]| {
            let [xx, yy, zz, yz, zx, xy] = *m;
            n.x * (xx * n.x + 2.0 * (xy * n.y + zx * n.z))
                + n.y * (yy * n.y + 2.0 * yz * n.z)
                + zz * n.z * n.z
        };
        let along = within(answer);
        // Sum and product of the two answers across the normal give the greater one.
        let sum = xx + yy + zz - along;
        let product = within(&cofactors);
        let most = 0.5 * (sum + (sum * sum - 4.0 * product).max(0.0).sqrt());
        self.answer = [
            xx * n.x + xy * n.y + zx * n.z,
            xy * n.x + yy * n.y + yz * n.z,
            zx * n.x + yz * n.y + zz * n.z,
        ]
        .map(|x| x as f32);
        self.inverse = Symmetric::new(&cofactors.map(|c| c * inverse));
        self.firmness = [(1.0 / along) as f32, (1.0 / most) as f32];
        self.softness = along.max(most) as f32;
    }

    /// How b moves against a for an impulse along the normal, m/s for each N·s.
    #[inline(always)]
    fn answer(&self) -> DVec3 {
        let [x, y, z] = self.answer.map(f64::from);
        DVec3::new(x, y, z)
    }

    /// The same seen from the other side.
    pub fn turned(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            arms: both(self.arm(1), self.arm(0)),
            normal: -self.normal,
            goal: -self.goal,
            answer: self.answer.map(|x| -x),
            impulse: -self.impulse,
            ..self
        }
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
        let wanted = self.inverse.times_and(lack, self.impulse);
        let pressed = dot(n, wanted);
        let across = along(wanted, n, -pressed);
        let hold = self.friction * pressed;
        let new = if pressed > 0.0 && dot(across, across) <= hold * hold {
            wanted
        } else {
            let before = dot(n, self.impulse);
            let firmness = f64::from(self.firmness[0]);
            let pressed = dot(n, lack).mul_add(firmness, before).max(0.0);
            let lack = along(lack, self.answer(), before - pressed);
            let slip = along(lack, n, -dot(n, lack));
            let rub = along(
                along(self.impulse, n, -before),
                slip,
                f64::from(self.firmness[1]),
            );
            let (most, length) = (self.friction * pressed, dot(rub, rub));
            let part = if length > most * most {
                most / length.sqrt()
            } else {
                1.0
            };
            along(rub * part, n, pressed)
        };
        let change = new - self.impulse;
        let softness = f64::from(self.softness);
        (change, dot(change, change) * (softness * softness))
    }
}
