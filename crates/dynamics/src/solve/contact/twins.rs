//! The two bodies of a pair side by side.
//!
//! The points of a pair come one after the other, and each needs all of both bodies. So these are fetched once for all of them, and
//! what is reckoned for the one is reckoned for the other at the same time.

use super::{
    slab::Tally,
    spot::{Body, Spot},
    stride::{Next, Step},
};
use glam::DVec3;
use wide::f64x2;

/// A number of each of two bodies.
pub type Two = f64x2;

/// A number of the one and of the other.
#[inline(always)]
pub fn two(a: f64, b: f64) -> Two {
    f64x2::from([a, b])
}

/// A vector of each of two bodies: x, y, z.
pub type Both = [Two; 3];

/// A vector of the one and of the other.
#[inline(always)]
pub fn both(a: DVec3, b: DVec3) -> Both {
    [two(a.x, b.x), two(a.y, b.y), two(a.z, b.z)]
}

/// That of the second (1) or of the first (0).
#[inline(always)]
pub fn one_of(both: &Both, which: usize) -> DVec3 {
    let [x, y, z] = both;
    DVec3::new(
        x.as_array()[which],
        y.as_array()[which],
        z.as_array()[which],
    )
}

/// A × B.
#[inline(always)]
fn cross(a: &Both, b: &Both) -> Both {
    [
        a[2].mul_neg_add(b[1], a[1] * b[2]),
        a[0].mul_neg_add(b[2], a[2] * b[0]),
        a[1].mul_neg_add(b[0], a[0] * b[1]),
    ]
}

/// Inverse inertias of two bodies: xx, yy, zz, yz, zx, xy.
pub type Inertias = [Two; 6];

/// M v + w.
#[inline(always)]
fn times_and(m: &Inertias, v: &Both, w: &Both) -> Both {
    let [xx, yy, zz, yz, zx, xy] = m;
    let [x, y, z] = v;
    [
        xx.mul_add(*x, xy.mul_add(*y, zx.mul_add(*z, w[0]))),
        xy.mul_add(*x, yy.mul_add(*y, yz.mul_add(*z, w[1]))),
        zx.mul_add(*x, yz.mul_add(*y, zz.mul_add(*z, w[2]))),
    ]
}

/// How the points at `arms` of both answer together to an impulse between them: Σ 1/m − [r] J⁻¹ [r] with [r] the matrix of the cross
/// product, 1/kg; xx, yy, zz, yz, zx, xy.
#[inline(always)]
pub fn answers(inverse_mass: Two, inverse_inertia: &Inertias, arms: &Both) -> [f64; 6] {
    let [xx, yy, zz, yz, zx, xy] = *inverse_inertia;
    let [x, y, z] = *arms;
    // The rows of [r] J⁻¹.
    let p = [
        z.mul_neg_add(xy, y * zx),
        z.mul_neg_add(yy, y * yz),
        z.mul_neg_add(yz, y * zz),
    ];
    let q = [
        x.mul_neg_add(zx, z * xx),
        x.mul_neg_add(yz, z * xy),
        x.mul_neg_add(zz, z * zx),
    ];
    let r = [y.mul_neg_add(xx, x * xy), y.mul_neg_add(xy, x * yy)];
    [
        p[2].mul_add(y, z.mul_neg_add(p[1], inverse_mass))
            .reduce_add(),
        q[0].mul_add(z, x.mul_neg_add(q[2], inverse_mass))
            .reduce_add(),
        r[1].mul_add(x, y.mul_neg_add(r[0], inverse_mass))
            .reduce_add(),
        y.mul_neg_add(q[0], q[1] * x).reduce_add(),
        y.mul_neg_add(p[0], p[1] * x).reduce_add(),
        x.mul_neg_add(p[2], p[0] * z).reduce_add(),
    ]
}

/// How the bodies of a pair move and answer. The motion of the first is that against its own direction: so the point of the second
/// moves against that of the first by the sum of both, and an impulse is the same for both.
#[derive(Clone, Copy, Debug)]
pub struct Twins {
    velocity: Both,
    spin: Both,
    inverse_mass: Two,
    inverse_inertia: Inertias,
}

impl Twins {
    #[inline(always)]
    fn new(a: &Body, b: &Body) -> Self {
        let [m, n] = [&a.inverse_inertia, &b.inverse_inertia];
        Self {
            velocity: both(-a.velocity, b.velocity),
            spin: both(-a.spin, b.spin),
            inverse_mass: two(a.inverse_mass, b.inverse_mass),
            inverse_inertia: [
                two(m[0], n[0]),
                two(m[1], n[1]),
                two(m[2], n[2]),
                two(m[3], n[3]),
                two(m[4], n[4]),
                two(m[5], n[5]),
            ],
        }
    }

    /// How fast the point at `arms` of the second moves against that of the first, m/s.
    #[inline(always)]
    fn motion(&self, arms: &Both) -> DVec3 {
        let [v, w] = [&self.velocity, &self.spin];
        let [x, y, z] = *arms;
        let u = [
            w[2].mul_neg_add(y, w[1].mul_add(z, v[0])),
            w[0].mul_neg_add(z, w[2].mul_add(x, v[1])),
            w[1].mul_neg_add(x, w[0].mul_add(y, v[2])),
        ];
        DVec3::new(u[0].reduce_add(), u[1].reduce_add(), u[2].reduce_add())
    }

    /// Gives the second an impulse, and the first its opposite.
    #[inline(always)]
    fn push(&mut self, arms: &Both, impulse: DVec3) {
        let impulse = both(impulse, impulse);
        for (v, p) in self.velocity.iter_mut().zip(&impulse) {
            *v = p.mul_add(self.inverse_mass, *v);
        }
        let moment = cross(arms, &impulse);
        self.spin = times_and(&self.inverse_inertia, &moment, &self.spin);
    }

    /// Makes a point right; returns the square of how wrong it was, m²/s², and what that does towards its goal, J.
    #[inline(always)]
    fn solve(&mut self, spot: &mut Spot) -> (f64, f64) {
        let u = self.motion(&spot.arms);
        if spot.is_idle(u) {
            return (0.0, 0.0);
        }
        let (change, wrong) = spot.impulse_for(u);
        spot.impulse += change;
        self.push(&spot.arms, change);
        (wrong, spot.goal.dot(change))
    }
}

/// Where the bodies of points are.
pub enum Hall<'a> {
    /// All in one slab.
    One(&'a mut [Body]),
    /// The first ones in this slab, the second ones in the next.
    Two(&'a mut [Body], &'a mut [Body]),
}

impl Hall<'_> {
    #[inline(always)]
    fn fetch(&self, [a, b]: [u32; 2]) -> Twins {
        let (ours, theirs) = match self {
            Self::One(all) => (&**all, &**all),
            Self::Two(ours, theirs) => (&**ours, &**theirs),
        };
        // What can't be moved has no place.
        let of = |bodies: &[Body], k: u32| bodies.get(k as usize).copied().unwrap_or(Body::STILL);
        Twins::new(&of(ours, a), &of(theirs, b))
    }

    #[inline(always)]
    fn put(&mut self, [a, b]: [u32; 2], twins: &Twins) {
        let (velocity, spin) = (&twins.velocity, &twins.spin);
        let ours = match self {
            Self::One(all) | Self::Two(all, _) => all.get_mut(a as usize),
        };
        if let Some(body) = ours {
            body.velocity = -one_of(velocity, 0);
            body.spin = -one_of(spin, 0);
        }
        let theirs = match self {
            Self::One(all) | Self::Two(_, all) => all.get_mut(b as usize),
        };
        if let Some(body) = theirs {
            body.velocity = one_of(velocity, 1);
            body.spin = one_of(spin, 1);
        }
    }

    /// Gives the second body of a point an impulse, and the first its opposite.
    #[inline]
    pub fn push(&mut self, spot: &Spot, impulse: DVec3) {
        let pair = [spot.a, spot.b];
        let mut twins = self.fetch(pair);
        twins.push(&spot.arms, impulse);
        self.put(pair, &twins);
    }

    /// Makes points right one after the other, from the first to the last or from the last to the first. Before that, each does what is
    /// `next` if it is not joined; with `joined`, those alone are made right that are.
    pub fn sweep(
        &mut self,
        (spots, steps): (&mut [Spot], &mut [Step]),
        forwards: bool,
        (next, joined): (Option<Next>, bool),
        tally: &mut Tally,
    ) {
        let count = spots.len();
        let at = |k: usize| if forwards { k } else { count - 1 - k };
        let mut k = 0;
        while k < count {
            let pair = [spots[at(k)].a, spots[at(k)].b];
            let mut twins = self.fetch(pair);
            while k < count {
                let i = at(k);
                let spot = &mut spots[i];
                if [spot.a, spot.b] != pair {
                    break;
                }
                k += 1;
                if let (Some(next), false) = (next, spot.joined) {
                    steps[i].go_on(&mut spot.impulse, next);
                }
                if spot.joined || !joined {
                    let done = twins.solve(spot);
                    tally.add(spot, done);
                }
            }
            self.put(pair, &twins);
        }
    }

    /// The same with points that have no steps.
    pub fn make_right(&mut self, spots: &mut [Spot], forwards: bool) {
        let none = (None, false);
        self.sweep((spots, &mut []), forwards, none, &mut Tally::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::mover::NONE;
    use glam::DMat3;
    use trocar_math::skew;

    fn body(seed: f64) -> Body {
        let vector = |k: f64| DVec3::new(seed + k, 0.3 - seed * k, 0.1 * seed - k);
        Body {
            velocity: vector(0.2),
            spin: vector(1.3),
            inverse_mass: 0.5 + seed,
            inverse_inertia: [3.0 + seed, 2.0, 4.0, 0.3, -0.2, 0.1 * seed],
        }
    }

    fn matrix(m: &[f64; 6]) -> DMat3 {
        DMat3::from_cols_array(&[m[0], m[5], m[4], m[5], m[1], m[3], m[4], m[3], m[2]])
    }

    #[test]
    fn side_by_side_is_one_by_one() {
        let (a, b) = (body(0.4), body(1.1));
        let arms = [DVec3::new(0.1, -0.7, 0.3), DVec3::new(-0.4, 0.2, 0.9)];
        let impulse = DVec3::new(0.3, -1.2, 0.8);
        let of = |body: &Body, arm: DVec3| body.velocity + body.spin.cross(arm);
        let mut twins = Twins::new(&a, &b);
        let lanes = both(arms[0], arms[1]);
        let before = of(&b, arms[1]) - of(&a, arms[0]);
        assert!((twins.motion(&lanes) - before).length() < 1e-14);
        let answer = answers(twins.inverse_mass, &twins.inverse_inertia, &lanes);
        let mut whole = DMat3::ZERO;
        for (body, arm) in [(&a, arms[0]), (&b, arms[1])] {
            let cross = skew(arm);
            whole += DMat3::from_diagonal(DVec3::splat(body.inverse_mass))
                - cross * matrix(&body.inverse_inertia) * cross;
        }
        assert!((matrix(&answer) - whole).abs_diff_eq(DMat3::ZERO, 1e-13));
        twins.push(&lanes, impulse);
        let change = twins.motion(&lanes) - before;
        assert!((change - whole * impulse).length() < 1e-13);
        let mut all = [a, b];
        Hall::One(&mut all).put([0, 1], &twins);
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let old = [a, b][k];
            let spin = old.spin + matrix(&old.inverse_inertia) * arms[k].cross(impulse * sign);
            let velocity = old.velocity + impulse * (sign * old.inverse_mass);
            assert!((all[k].velocity - velocity).length() < 1e-14);
            assert!((all[k].spin - spin).length() < 1e-14);
        }
    }

    #[test]
    fn what_has_no_place_stays() {
        let mut all = [body(0.4)];
        let mut twins = Hall::One(&mut all).fetch([NONE, 0]);
        twins.push(&both(DVec3::X, DVec3::Y), DVec3::Z);
        assert_eq!(one_of(&twins.velocity, 0), DVec3::ZERO);
        assert_eq!(one_of(&twins.spin, 0), DVec3::ZERO);
    }
}
