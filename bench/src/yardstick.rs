//! How fast the machine is at two things that every simulation is made of.

use crate::{
    measure::{Effort, Summary, time},
    row::Row,
};
use std::hint::black_box;

/// Links of the chain of square roots in one sample: about two milliseconds.
const LINKS: usize = 200_000;

/// Numbers in each of the triad's three arrays: 32 MiB each, more than a cache holds.
const NUMBERS: usize = 4 << 20;

/// What was measured so far.
#[derive(Default)]
pub struct Yardstick {
    /// ns.
    square_roots: Vec<f64>,
    /// GB/s.
    triads: Vec<f64>,
}

impl Yardstick {
    /// Measures once more.
    pub fn measure(&mut self, effort: Effort) {
        let (mut a, b, c) = (vec![0.0; NUMBERS], vec![1.0; NUMBERS], vec![2.0; NUMBERS]);
        // The first pass only maps the pages.
        triad(&mut a, &b, &c);
        for _ in 0..effort.repeats(15, 5) {
            self.square_roots
                .push(time(|| chain(LINKS)) * 1e9 / LINKS as f64);
            let seconds = time(|| triad(&mut a, &b, &c));
            self.triads
                .push((3 * NUMBERS * size_of::<f64>()) as f64 / seconds / 1e9);
        }
        black_box(&a);
    }

    /// The pace of the memory, once, GB/s.
    pub fn triad_once(&mut self) -> f64 {
        let before = self.triads.len();
        self.measure(Effort::Quick);
        Summary::of(self.triads[before..].iter().copied()).median
    }

    /// Time of one link of the chain, ns.
    pub fn square_root(&self) -> f64 {
        Summary::of(self.square_roots.iter().copied()).median
    }

    /// The rows.
    pub fn rows(&self) -> Vec<Row> {
        let summary = |samples: &[f64]| Summary::of(samples.iter().copied());
        vec![
            Row::new(
                "machine",
                "square root, each waiting for the last",
                summary(&self.square_roots),
                "ns",
            ),
            Row::new(
                "machine",
                "triad a = b + s c in memory",
                summary(&self.triads),
                "GB/s",
            ),
        ]
    }
}

/// Square roots that wait for each other, with an addition between them: √(1 + √(1 + …)) tends to
/// the golden ratio, whose digits no divider can cut short.
fn chain(links: usize) {
    let mut x = black_box(0.3_f64);
    for _ in 0..links {
        x = (x + 1.0).sqrt();
    }
    black_box(x);
}

#[inline(never)]
fn triad(a: &mut [f64], b: &[f64], c: &[f64]) {
    let s = black_box(3.0);
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + s * c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triad_is_right() {
        let mut a = vec![0.0; 5];
        triad(&mut a, &[1.0; 5], &[2.0; 5]);
        assert_eq!(a, [7.0; 5]);
    }
}
