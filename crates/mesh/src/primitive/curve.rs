//! A smooth path through points, walked by arc length.

use glam::DVec3;

/// Pieces into which each span between two points is cut for measuring length. With five-point Gauss quadrature on each,
/// the length of any path a person would draw is right to about 1e-9 of itself.
const PIECES: usize = 16;

/// A centripetal Catmull–Rom curve (Yuksel et al. 2011: no cusps, no loops within a span), parametrised by arc length in m.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    spans: Vec<Span>,
    /// Arc length at the start of each piece, and at the end of the last.
    lengths: Vec<f64>,
}

/// A cubic a + b t + c t² + d t³, t from 0 to 1.
#[derive(Debug, Clone, Copy)]
struct Span {
    coefficients: [DVec3; 4],
}

impl Curve {
    /// A curve through `points`: two or more, neighbours in different places. Two give a straight line.
    pub fn through(points: &[DVec3]) -> Self {
        let spans: Vec<Span> = (1..points.len())
            .map(|i| {
                let (start, end) = (points[i - 1], points[i]);
                // Beyond the ends the path goes on as if mirrored, which leaves it straight there.
                let before = if i >= 2 {
                    points[i - 2]
                } else {
                    2.0 * start - end
                };
                let after = points.get(i + 1).copied().unwrap_or(2.0 * end - start);
                Span::centripetal([before, start, end, after])
            })
            .collect();
        let mut lengths = Vec::with_capacity(spans.len() * PIECES + 1);
        let mut length = 0.0;
        lengths.push(length);
        for span in &spans {
            for piece in 0..PIECES {
                let start = piece as f64 / PIECES as f64;
                length += span.length(start, start + 1.0 / PIECES as f64);
                lengths.push(length);
            }
        }
        Self { spans, lengths }
    }

    /// The whole length, m.
    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// The arc length, m, at which each of the points lies.
    pub fn places(&self) -> Vec<f64> {
        self.lengths.iter().step_by(PIECES).copied().collect()
    }

    /// Position, m, and unit tangent at arc length `s`, from 0 to [`Curve::length`], m.
    pub fn at(&self, s: f64) -> (DVec3, DVec3) {
        let piece = self
            .lengths
            .partition_point(|&l| l <= s)
            .clamp(1, self.lengths.len() - 1)
            - 1;
        let span = &self.spans[piece / PIECES];
        let start = (piece % PIECES) as f64 / PIECES as f64;
        let end = start + 1.0 / PIECES as f64;
        let wanted = s - self.lengths[piece];
        let whole = self.lengths[piece + 1] - self.lengths[piece];
        // Newton from a proportional guess. A piece is almost straight, so three steps reach rounding error.
        let mut t = start + (end - start) * (wanted / whole).clamp(0.0, 1.0);
        for _ in 0..3 {
            let speed = span.velocity(t).length();
            if speed > 0.0 {
                t = (t + (wanted - span.length(start, t)) / speed).clamp(start, end);
            }
        }
        (span.position(t), span.tangent(t))
    }
}

impl Span {
    fn centripetal([before, start, end, after]: [DVec3; 4]) -> Self {
        // Knot distances are square roots of chords.
        let [k0, k1, k2] =
            [start - before, end - start, after - end].map(|chord| chord.length().sqrt());
        let chord = end - start;
        let enter = k1 * ((start - before) / k0 - (end - before) / (k0 + k1)) + chord;
        let leave = k1 * ((after - end) / k2 - (after - start) / (k1 + k2)) + chord;
        Self {
            coefficients: [
                start,
                enter,
                3.0 * chord - 2.0 * enter - leave,
                enter + leave - 2.0 * chord,
            ],
        }
    }

    fn position(&self, t: f64) -> DVec3 {
        let [a, b, c, d] = self.coefficients;
        a + t * (b + t * (c + t * d))
    }

    fn velocity(&self, t: f64) -> DVec3 {
        let [_, b, c, d] = self.coefficients;
        b + t * (2.0 * c + t * 3.0 * d)
    }

    fn tangent(&self, t: f64) -> DVec3 {
        // Where the path turns back on itself the speed may vanish: the chord of the span is the best direction then.
        let chord = self.position(1.0) - self.position(0.0);
        self.velocity(t)
            .try_normalize()
            .unwrap_or_else(|| chord.normalize_or(DVec3::Z))
    }

    /// The length between two parameters, by five-point Gauss–Legendre quadrature.
    fn length(&self, from: f64, to: f64) -> f64 {
        const NODES: [(f64, f64); 5] = [
            (0.0, 0.568_888_888_888_888_9),
            (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
            (0.906_179_845_938_664, 0.236_926_885_056_189_08),
        ];
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        half * NODES
            .iter()
            .map(|(x, w)| w * self.velocity(middle + half * x).length())
            .sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_are_a_straight_line() {
        let curve = Curve::through(&[DVec3::X, DVec3::new(1.0, 3.0, 4.0)]);
        assert!((curve.length() - 5.0).abs() < 1e-14);
        let (position, tangent) = curve.at(2.5);
        assert!(position.abs_diff_eq(DVec3::new(1.0, 1.5, 2.0), 1e-14));
        assert!(tangent.abs_diff_eq(DVec3::new(0.0, 0.6, 0.8), 1e-14));
    }

    #[test]
    fn goes_through_its_points_and_walks_evenly() {
        let points = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 0.2, 0.0],
            [1.0, 3.0, 2.0],
            [0.0, 3.0, 2.0],
        ]
        .map(DVec3::from);
        let curve = Curve::through(&points);
        for (place, point) in curve.places().iter().zip(points) {
            assert!(curve.at(*place).0.abs_diff_eq(point, 1e-9));
        }
        let steps = 4000;
        let walk: Vec<_> = (0..=steps)
            .map(|i| curve.at(curve.length() * i as f64 / steps as f64).0)
            .collect();
        let step = curve.length() / steps as f64;
        assert!(
            walk.windows(2)
                .all(|w| (w[0].distance(w[1]) / step - 1.0).abs() < 1e-3)
        );
    }

    #[test]
    fn many_points_on_a_circle_measure_its_length() {
        let at = |i: usize| libm::sincos(std::f64::consts::PI * i as f64 / 64.0);
        let points: Vec<_> = (0..=64)
            .map(|i| DVec3::new(at(i).1, at(i).0, 0.0))
            .collect();
        assert!((Curve::through(&points).length() - std::f64::consts::PI).abs() < 1e-4);
    }
}
