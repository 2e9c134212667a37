//! The ends of bonds and contacts: points that rest on movers.

use super::mover::{Level, Movers, NONE, When};
use crate::{Cast, anchor::Support};
use glam::DVec3;

/// A point as a weighted sum of points of movers.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    count: u8,
    parts: [(u32, DVec3, f64); 4],
}

impl Ends {
    pub fn new(movers: &mut Movers, cast: &Cast<'_>, support: &Support, level: Level) -> Self {
        let mut ends = Self {
            count: 0,
            parts: [(NONE, DVec3::ZERO, 0.0); 4],
        };
        for (matter, point, weight) in support.parts() {
            let mover = movers.of(cast, *matter, point.node, level);
            ends.parts[ends.count as usize] = (mover, point.offset, *weight);
            ends.count += 1;
        }
        ends
    }

    #[inline]
    pub fn parts(&self) -> &[(u32, DVec3, f64)] {
        &self.parts[..self.count as usize]
    }

    /// True if it is made of the same movers as another one.
    pub fn rests_on_the_same(&self, other: &Self) -> bool {
        let movers = |e: &Self| e.parts.map(|p| p.0);
        self.count == other.count && movers(self) == movers(other)
    }

    /// The mover whose frame the point is fixed to.
    #[inline]
    pub fn frame(&self) -> u32 {
        self.parts[0].0
    }

    #[inline]
    pub fn position(&self, movers: &Movers) -> DVec3 {
        if let [(m, offset, 1.0)] = self.parts() {
            return movers[*m].point(*offset);
        }
        self.parts()
            .iter()
            .fold(DVec3::ZERO, |sum, (m, offset, weight)| {
                sum + movers[*m].point(*offset) * *weight
            })
    }

    #[inline]
    pub fn ahead(&self, movers: &Movers) -> DVec3 {
        if let [(m, offset, 1.0)] = self.parts() {
            return movers[*m].point_ahead(*offset);
        }
        self.parts()
            .iter()
            .fold(DVec3::ZERO, |sum, (m, offset, weight)| {
                sum + movers[*m].point_ahead(*offset) * *weight
            })
    }

    #[inline]
    pub fn place(&self, movers: &Movers, when: When) -> DVec3 {
        match when {
            When::Now => self.position(movers),
            When::Ahead => self.ahead(movers),
            When::Middle => (self.position(movers) + self.ahead(movers)) * 0.5,
        }
    }

    /// Pushes the point by `impulse`.
    #[inline]
    pub fn push(&self, movers: &mut Movers, impulse: DVec3) {
        for (m, offset, weight) in self.parts() {
            let mover = &mut movers[*m];
            if mover.freedom > 0 {
                let p = impulse * *weight;
                mover.push(p, (mover.orientation * *offset).cross(p));
            }
        }
    }

    /// How far the point answers along `n` to an impulse along `n`: change of velocity, or of place for each second.
    pub fn answer(&self, movers: &Movers, n: DVec3) -> f64 {
        self.parts().iter().fold(0.0, |sum, (m, offset, weight)| {
            let mover = &movers[*m];
            let moment = (mover.orientation * *offset).cross(n);
            let own = n.dot(mover.answer * n) + moment.dot(mover.inverse_inertia * moment);
            sum + own * weight * weight
        })
    }
}
