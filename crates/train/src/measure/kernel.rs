//! The mathematics of the measures, on plain samples.

use glam::{DQuat, DVec3};
use std::f64::consts::{PI, SQRT_2};
use trocar_math::{real, rotation};

/// Length of the way through `points`, in their unit.
pub fn path_length(points: &[DVec3]) -> f64 {
    points.windows(2).map(|w| w[0].distance(w[1])).sum()
}

/// Sum of the angles between successive orientations, rad.
pub fn angular_path(orientations: &[DQuat]) -> f64 {
    orientations
        .windows(2)
        .map(|w| rotation::to_scaled_axis(w[1] * w[0].conjugate()).length())
        .sum()
}

/// Root mean square; none of nothing.
pub fn root_mean_square(values: &[f64]) -> Option<f64> {
    mean(values.iter().map(|v| v * v)).map(f64::sqrt)
}

/// Mean; none of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Greatest relative lengthening of any edge: `edges` are pairs of indices and their length at rest (m). Never below 0.
pub fn greatest_stretch(positions: &[DVec3], edges: &[([u32; 2], f64)]) -> f64 {
    edges.iter().fold(0.0, |most, ([a, b], rest)| {
        let length = positions[*a as usize].distance(positions[*b as usize]);
        (length / rest - 1.0).max(most)
    })
}

/// Distance from `point` to the segment from `a` to `b`.
pub fn distance_to_segment(point: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let share = (point - a).dot(along) / along.length_squared().max(1e-18);
    point.distance(a + along * share.clamp(0.0, 1.0))
}

/// Low-pass without delay: a Butterworth filter of second order, forwards and backwards, that lets half of the power through
/// at `cutoff` (Hz) for samples at `rate` (Hz). Before its first and after its last sample the signal stands still.
/// (Winter, Biomechanics and Motor Control of Human Movement, 2009, ch. 3, with its correction of the cut-off for two passes.)
pub fn low_pass(samples: &mut [DVec3], cutoff: f64, rate: f64) {
    // Two passes square the gain: each must let 2^(-1/4) of the amplitude through at the cut-off, where (w/c)⁴ = √2 − 1.
    let c = real::tan(PI * cutoff / rate) / (SQRT_2 - 1.0).sqrt().sqrt();
    let scale = 1.0 / (1.0 + SQRT_2 * c + c * c);
    let forward = c * c * scale;
    let back = [
        2.0 * (c * c - 1.0) * scale,
        (1.0 - SQRT_2 * c + c * c) * scale,
    ];
    for _ in 0..2 {
        let Some(first) = samples.first().copied() else {
            return;
        };
        let (mut x1, mut x2, mut y1, mut y2) = (first, first, first, first);
        for sample in samples.iter_mut() {
            let x = *sample;
            let y = (x + x1 * 2.0 + x2) * forward - y1 * back[0] - y2 * back[1];
            (x2, x1, y2, y1) = (x1, x, y1, y);
            *sample = y;
        }
        samples.reverse();
    }
}

/// Log dimensionless jerk: −ln(T³ / v_peak² · ∫ |j|² dt) of positions at `rate` (Hz); nearer to 0 is smoother. None if there are
/// fewer than five samples or nothing moves. (Balasubramanian, Melendez-Calderon, Burdet, IEEE Trans Biomed Eng 2012.)
pub fn log_dimensionless_jerk(points: &[DVec3], rate: f64) -> Option<f64> {
    if points.len() < 5 {
        return None;
    }
    let duration = (points.len() - 1) as f64 / rate;
    let peak = points
        .windows(2)
        .map(|w| w[0].distance(w[1]) * rate)
        .fold(0.0, f64::max);
    let squares: Vec<f64> = points
        .windows(4)
        .map(|w| (w[3] - w[2] * 3.0 + w[1] * 3.0 - w[0]).length_squared())
        .collect();
    // Third differences lie two intervals short of the whole time: the first and the last stand for one more each.
    let ends = squares
        .first()
        .zip(squares.last())
        .map_or(0.0, |(a, b)| a + b);
    let cube = rate * rate * rate;
    let jerk = (squares.iter().sum::<f64>() + ends) * cube * cube / rate;
    let dimensionless = duration * duration * duration / (peak * peak) * jerk;
    (peak > 1e-6 && dimensionless > 0.0).then(|| -real::ln(dimensionless))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 50.0;

    fn samples(seconds: f64, at: impl Fn(f64) -> DVec3) -> Vec<DVec3> {
        let count = (seconds * RATE) as usize;
        (0..=count).map(|k| at(k as f64 / RATE)).collect()
    }

    /// Minimum jerk from 0 to `length` in `seconds`.
    fn reach(length: f64, seconds: f64) -> impl Fn(f64) -> DVec3 {
        move |t| {
            let s = (t / seconds).clamp(0.0, 1.0);
            DVec3::X * (length * s * s * s * (10.0 + s * (6.0 * s - 15.0)))
        }
    }

    #[test]
    fn a_circle_is_as_long_as_it_is() {
        let circle = samples(2.0, |t| {
            let (s, c) = real::sin_cos(PI * t);
            DVec3::new(c, s, 0.0) * 0.1
        });
        assert!((path_length(&circle) - 0.2 * PI).abs() < 1e-3 * 0.2 * PI);
        assert_eq!(path_length(&circle[..1]), 0.0);
    }

    #[test]
    fn a_whole_turn_is_a_whole_turn_whichever_way() {
        let turn = |sign: f64| -> Vec<DQuat> {
            (0..=100)
                .map(|k| {
                    rotation::from_axis_angle(DVec3::Y, sign * 2.0 * PI * f64::from(k) / 100.0)
                })
                .collect()
        };
        assert!((angular_path(&turn(1.0)) - 2.0 * PI).abs() < 1e-9);
        assert!((angular_path(&turn(-1.0)) - 2.0 * PI).abs() < 1e-9);
    }

    #[test]
    fn minimum_jerk_has_the_jerk_of_its_closed_form() {
        // ∫ j² = 720 L²/T⁵ and v_peak = 15/8 L/T.
        let exact = -real::ln(720.0 / (1.875 * 1.875));
        for (length, seconds) in [(0.1, 2.0), (0.02, 4.0), (0.3, 1.2)] {
            let points = samples(seconds, reach(length, seconds));
            let found = log_dimensionless_jerk(&points, RATE).unwrap();
            assert!(
                (found - exact).abs() < 0.05,
                "{length} m in {seconds} s: {found}, not {exact}"
            );
        }
    }

    #[test]
    fn a_sine_has_the_jerk_of_its_closed_form() {
        // p = A sin(wt) for n periods: ∫ j² = A² w⁶ T/2, v_peak = A w, so T³/v² ∫ j² = (w T)⁴ / 2.
        let points = samples(4.0, |t| DVec3::Y * (0.05 * real::sin(PI * t)));
        let w = 4.0 * PI;
        let exact = -real::ln(w * w * w * w / 2.0);
        assert!((log_dimensionless_jerk(&points, RATE).unwrap() - exact).abs() < 0.03);
    }

    #[test]
    fn tremor_and_stops_are_less_smooth() {
        let smooth = log_dimensionless_jerk(&samples(2.0, reach(0.1, 2.0)), RATE).unwrap();
        let halves = samples(2.0, |t| reach(0.05, 1.0)(t) + reach(0.05, 1.0)(t - 1.0));
        let stop = log_dimensionless_jerk(&halves, RATE).unwrap();
        let shaken = samples(2.0, |t| {
            reach(0.1, 2.0)(t) + DVec3::Y * (0.001 * real::sin(2.0 * PI * 4.0 * t))
        });
        let tremor = log_dimensionless_jerk(&shaken, RATE).unwrap();
        assert!(
            stop < smooth - 1.0 && tremor < smooth - 1.0,
            "{smooth} {stop} {tremor}"
        );
        assert_eq!(log_dimensionless_jerk(&[DVec3::X; 20], RATE), None);
        assert_eq!(log_dimensionless_jerk(&[DVec3::X; 3], RATE), None);
    }

    #[test]
    fn the_low_pass_keeps_slow_halves_power_at_its_cutoff_and_does_not_delay() {
        let amplitude = |frequency: f64| {
            let mut wave = samples(8.0, |t| DVec3::X * real::sin(2.0 * PI * frequency * t));
            low_pass(&mut wave, 6.0, RATE);
            let middle = &wave[100..300];
            (middle.iter().map(|p| p.x * p.x).sum::<f64>() / middle.len() as f64 * 2.0).sqrt()
        };
        assert!((amplitude(0.5) - 1.0).abs() < 1e-3);
        assert!(
            (amplitude(6.0) - 0.5_f64.sqrt()).abs() < 0.02,
            "{}",
            amplitude(6.0)
        );
        assert!(amplitude(18.0) < 0.01);
        let mut ramp = samples(2.0, |t| DVec3::X * t);
        low_pass(&mut ramp, 6.0, RATE);
        assert!((ramp[50].x - 1.0).abs() < 1e-6);
        let mut still = vec![DVec3::ONE; 30];
        low_pass(&mut still, 6.0, RATE);
        assert!(still.iter().all(|p| p.distance(DVec3::ONE) < 1e-12));
        low_pass(&mut [], 6.0, RATE);
    }

    #[test]
    fn stretch_is_that_of_the_longest_edge_and_never_negative() {
        let edges = [([0, 1], 1.0), ([1, 2], 2.0)];
        let at = |x: f64, y: f64| [DVec3::ZERO, DVec3::X * x, DVec3::X * (x + y)];
        assert!((greatest_stretch(&at(1.1, 3.0), &edges) - 0.5).abs() < 1e-12);
        assert_eq!(greatest_stretch(&at(0.5, 1.0), &edges), 0.0);
    }

    #[test]
    fn a_segment_is_nearest_at_its_foot_or_its_ends() {
        let (a, b) = (DVec3::ZERO, DVec3::X * 2.0);
        assert_eq!(distance_to_segment(DVec3::new(1.0, 3.0, 0.0), a, b), 3.0);
        assert_eq!(distance_to_segment(DVec3::X * 5.0, a, b), 3.0);
        assert_eq!(distance_to_segment(DVec3::X, a, a), 1.0);
    }

    #[test]
    fn means_of_nothing_are_none() {
        assert_eq!(root_mean_square(&[]), None);
        assert_eq!(root_mean_square(&[3.0, 4.0, 0.0, 0.0]), Some(2.5));
    }
}
