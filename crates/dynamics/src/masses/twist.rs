//! The six equations of a frame in its family, and what those that belong to it add to them.

use glam::{DMat3, DVec3};
use trocar_math::{rotation::outer, skew};

/// A symmetric matrix of 3×3 blocks: [[a, b], [bᵀ, c]].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    pub a: DMat3,
    pub b: DMat3,
    pub c: DMat3,
}

/// Zero; a matrix by default is one.
impl Default for Block {
    fn default() -> Self {
        Self {
            a: DMat3::ZERO,
            b: DMat3::ZERO,
            c: DMat3::ZERO,
        }
    }
}

impl Block {
    fn add(&mut self, other: &Self) {
        self.a += other.a;
        self.b += other.b;
        self.c += other.c;
    }

    /// The inverse of this matrix with `own` B⁻¹ added to its first block, where B is the lock and `root` √B; none if nothing is locked.
    /// With V = √B y the first three rows are (own + √B a √B) y + √B b ω = √B f: along a locked axis nothing moves, and nothing is
    /// divided by zero.
    pub fn inverse(&self, own: f64, root: Option<DMat3>, turns: bool) -> Self {
        let own = DMat3::from_diagonal(DVec3::splat(own));
        let (a, b) = match root {
            None => (self.a + own, self.b),
            Some(root) => (root * self.a * root + own, root * self.b),
        };
        let mut inverse = Self::default();
        if turns {
            let c = self.c.inverse();
            let across = b * c;
            inverse.a = (a - across * b.transpose()).inverse();
            inverse.b = -(inverse.a * across);
            inverse.c = c - across.transpose() * inverse.b;
        } else {
            inverse.a = a.inverse();
        }
        if let Some(root) = root {
            inverse.a = root * inverse.a * root;
            inverse.b = root * inverse.b;
        }
        inverse
    }

    pub fn times(&self, [x, y]: [DVec3; 2]) -> [DVec3; 2] {
        [self.a * x + self.b * y, self.b.transpose() * x + self.c * y]
    }
}

/// How strongly a child holds its father, N·s for each m/s: alike in all directions, or by its lock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hold {
    Even(f64),
    Axes(DMat3),
}

impl Hold {
    pub fn times(&self, velocity: DVec3) -> DVec3 {
        match self {
            Self::Even(weight) => velocity * *weight,
            Self::Axes(weight) => *weight * velocity,
        }
    }
}

/// What points that belong to a frame add to its equations: G for each that holds it by G at the arm r, and G w* on the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    pub(super) block: Block,
    pub(super) push: DVec3,
    pub(super) moment: DVec3,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        self.block.add(&other.block);
        self.push += other.push;
        self.moment += other.moment;
    }

    /// A child at `arm` that holds its father.
    pub(super) fn hold(&mut self, hold: &Hold, arm: DVec3) {
        let Block { a, b, c } = &mut self.block;
        match *hold {
            Hold::Even(weight) => {
                *a += DMat3::from_diagonal(DVec3::splat(weight));
                *b -= skew(arm * weight);
                let square = DMat3::from_diagonal(DVec3::splat(arm.dot(arm))) - outer(arm, arm);
                *c += square * weight;
            }
            Hold::Axes(weight) => {
                let cross = skew(arm);
                let held = weight * cross;
                *a += weight;
                *b -= held;
                *c -= cross * held;
            }
        }
    }

    /// An impulse (N·s) that comes to the father at `arm`.
    pub(super) fn give(&mut self, impulse: DVec3, arm: DVec3) {
        self.push += impulse;
        self.moment += arm.cross(impulse);
    }

    /// Impulse (N·s) and its moment (N·m·s) that the children give a father that will move with `velocity` and `spin`.
    fn pull(&self, found: [DVec3; 2]) -> [DVec3; 2] {
        let [held, turned] = self.block.times(found);
        [self.push - held, self.moment - turned]
    }
}

/// Six equations of a frame: matrix, right-hand side, and what came out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// What resists its motion before its lock does: mass and its own damping over a substep, kg.
    pub(super) own: f64,
    /// How strongly it is bound to its father, as it moves (kg) and as it turns (kg·m²); 0 without one.
    pub(super) bond: [f64; 2],
    /// The rest of its matrix.
    pub(super) block: Block,
    /// Inverse of all of it.
    pub(super) inverse: Block,
    /// Momentum (N·s) and angular momentum (N·m·s).
    pub(super) given: [DVec3; 2],
    /// Sums over its points alone.
    pub(super) points: Sums,
    /// Velocity (m/s) and spin (rad/s) at the end of the substep.
    pub(super) found: [DVec3; 2],
}

impl Twist {
    /// Some of its points.
    pub(super) fn add(&mut self, sums: &Sums) {
        self.block.add(&sums.block);
        self.given[0] += sums.push;
        self.given[1] += sums.moment;
        self.points.add(sums);
    }

    /// Impulse and moment that its points give it.
    pub(super) fn pull(&self) -> [DVec3; 2] {
        self.points.pull(self.found)
    }
}
