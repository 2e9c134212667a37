//! Piecewise linear transforms of the input (K33).

use serde::{Deserialize, Serialize};

/// How many pieces a transform may have: as many as two dead zones need. More is had with parallel elements (K37).
pub const MOST_PIECES: usize = 4;

/// Neighbouring pieces may miss each other by this much (m or m/s): rounding of numbers a person wrote.
const MEETS: f64 = 1e-12;

/// One piece: Δe = b e + c, which is (3.31) with c = −b l₀, and level pieces beside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// Where it begins, m (m/s for a damper); it ends where the next begins. The first begins nowhere.
    pub from: f64,
    /// Gain b, ≥ 0.
    pub gain: f64,
    /// Shift c, m (m/s for a damper).
    pub shift: f64,
}

/// A piecewise linear transform.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pieces {
    count: u8,
    list: [Piece; MOST_PIECES],
}

impl Pieces {
    /// Of pieces in ascending order; none if there are none or too many. Whether they meet is asked later
    /// ([`Law::objection`](super::Law::objection)), where the element is known that wants them.
    pub fn new(pieces: &[Piece]) -> Option<Self> {
        if pieces.is_empty() || pieces.len() > MOST_PIECES {
            return None;
        }
        let mut list = [pieces[0]; MOST_PIECES];
        list[..pieces.len()].copy_from_slice(pieces);
        Some(Self {
            count: pieces.len() as u8,
            list,
        })
    }

    /// The lines through up to five points (e, Δe) in ascending order, the first and the last of them going on.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let mut list = Vec::new();
        for (i, pair) in points.windows(2).enumerate() {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let gain = (y1 - y0) / (x1 - x0);
            list.push(Piece {
                from: if i == 0 { f64::NEG_INFINITY } else { x0 },
                gain,
                shift: y0 - gain * x0,
            });
        }
        Self::new(&list)
    }

    /// The pieces.
    pub fn list(&self) -> &[Piece] {
        &self.list[..usize::from(self.count)]
    }

    /// Δe for the input `e`.
    #[inline]
    pub fn at(&self, e: f64) -> f64 {
        let (gain, shift) = self.line(e);
        gain * e + shift
    }

    /// Gain and shift of the piece on which `e` lies.
    #[inline]
    pub(super) fn line(&self, e: f64) -> (f64, f64) {
        let mut piece = self.list[0];
        for next in &self.list()[1..] {
            if e >= next.from {
                piece = *next;
            }
        }
        (piece.gain, piece.shift)
    }

    /// The next place beyond `e` in the direction of `sign` at which a piece begins; infinite if there is none.
    pub(super) fn next_break(&self, e: f64, sign: f64) -> f64 {
        let beyond = self.list()[1..].iter().map(|p| p.from * sign);
        let next = beyond
            .filter(|b| *b > e * sign)
            .fold(f64::INFINITY, f64::min);
        next * sign
    }

    pub(super) fn greatest_gain(&self) -> f64 {
        self.list().iter().map(|p| p.gain).fold(0.0, f64::max)
    }

    pub(super) fn objection(&self) -> Option<&'static str> {
        for (i, piece) in self.list().iter().enumerate() {
            let begins = i == 0 || piece.from.is_finite();
            if !(begins && piece.gain >= 0.0 && piece.gain.is_finite() && piece.shift.is_finite()) {
                return Some("the gains of a transform must be at least 0, its numbers finite");
            }
        }
        for pair in self.list().windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|p| p.gain * pair[1].from + p.shift);
            if pair[1].from <= pair[0].from {
                return Some("the pieces of a transform must ascend");
            }
            let scale = 1.0 + before.abs().max(after.abs());
            if (before - after).abs() > MEETS * scale {
                return Some(
                    "the pieces of its transform do not meet: it would be discontinuous (K38)",
                );
            }
        }
        None
    }
}
