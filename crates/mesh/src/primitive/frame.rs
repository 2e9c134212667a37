//! Frames carried along a curve without twisting.

use glam::{DMat3, DQuat, DVec3};

use super::curve::Curve;

/// Steps between two stations. Double reflection errs with the fourth power of the step, so a few suffice even for rings
/// that stand far apart on a bend.
const STEPS: usize = 8;

/// A place on a curve with its axes: z along the path, y where `up` was carried to, x = y × z.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// m.
    pub centre: DVec3,
    /// Columns x, y, z: a rotation.
    pub axes: DMat3,
}

impl Frame {
    /// The axes as a rotation that takes z to the path's direction.
    pub fn rotation(&self) -> DQuat {
        DQuat::from_mat3(&self.axes).normalize()
    }
}

/// Frames at `stations` (ascending arc lengths, m), starting from `up` at arc length 0 and turning as little as possible
/// on the way (double reflection, Wang et al. 2008).
pub(super) fn carry(curve: &Curve, up: DVec3, stations: &[f64]) -> Vec<Frame> {
    let (mut centre, mut tangent) = curve.at(0.0);
    let mut y = across(up, tangent);
    let mut s = 0.0;
    let mut frames = Vec::with_capacity(stations.len());
    for &station in stations {
        let gap = station - s;
        for step in 1..=STEPS {
            let (next, next_tangent) = curve.at(s + gap * step as f64 / STEPS as f64);
            y = reflect_twice(y, centre, tangent, next, next_tangent);
            (centre, tangent) = (next, next_tangent);
        }
        s = station;
        frames.push(Frame {
            centre,
            axes: DMat3::from_cols(y.cross(tangent), y, tangent),
        });
    }
    frames
}

/// `up` made orthogonal to the unit `tangent`; another axis if the two are parallel.
fn across(up: DVec3, tangent: DVec3) -> DVec3 {
    let part = |v: DVec3| v - v.dot(tangent) * tangent;
    let up = up.normalize_or_zero();
    // Below a thousandth of a radian, `up` says nothing about which way is up.
    let chosen = if part(up).length() > 1e-3 {
        up
    } else {
        least_aligned_axis(tangent)
    };
    part(chosen).normalize_or(tangent.any_orthonormal_vector())
}

fn least_aligned_axis(v: DVec3) -> DVec3 {
    let v = v.abs();
    if v.y <= v.x && v.y <= v.z {
        DVec3::Y
    } else if v.x <= v.z {
        DVec3::X
    } else {
        DVec3::Z
    }
}

/// Carries `y` from one place on the curve to the next by two reflections: the first takes the place to the next, the
/// second the tangent.
fn reflect_twice(y: DVec3, from: DVec3, tangent: DVec3, to: DVec3, next_tangent: DVec3) -> DVec3 {
    let reflect = |v: DVec3, normal: DVec3| match normal.length_squared() {
        0.0 => v,
        squared => v - (2.0 / squared) * normal.dot(v) * normal,
    };
    let chord = to - from;
    let (mirrored, mirrored_tangent) = (reflect(y, chord), reflect(tangent, chord));
    let carried = reflect(mirrored, next_tangent - mirrored_tangent);
    // Orthogonal up to rounding; over thousands of steps rounding would add up.
    across(carried, next_tangent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_stay_a_rotation_and_do_not_twist_in_a_plane() {
        let points: Vec<_> = (0..=8)
            .map(|i| DVec3::new(i as f64, (i % 3) as f64, 0.0))
            .collect();
        let curve = Curve::through(&points);
        let stations: Vec<_> = (0..20).map(|i| curve.length() * i as f64 / 19.0).collect();
        for frame in carry(&curve, DVec3::Z, &stations) {
            assert!(
                frame.axes.y_axis.abs_diff_eq(DVec3::Z, 1e-12),
                "a plane curve keeps its normal"
            );
            assert!((frame.axes.determinant() - 1.0).abs() < 1e-12);
            assert!((frame.rotation() * DVec3::Z).abs_diff_eq(frame.axes.z_axis, 1e-12));
        }
    }

    /// On a helix the frame turns against the Frenet frame by the integral of the torsion: a closed form.
    #[test]
    fn on_a_helix_it_turns_by_the_torsion() {
        let (radius, pitch) = (1.0, 0.5);
        let squared: f64 = radius * radius + pitch * pitch;
        let at = |a: f64| DVec3::new(radius * libm::cos(a), radius * libm::sin(a), pitch * a);
        let points: Vec<_> = (0..=400).map(|i| at(i as f64 * 0.01)).collect();
        let curve = Curve::through(&points);
        let stations: Vec<_> = (0..=10)
            .map(|i| curve.length() * (0.1 + 0.08 * i as f64))
            .collect();
        let frames = carry(&curve, DVec3::Z, &stations);
        // The angle of y in the Frenet frame (normal, binormal), at arc length s.
        let angle = |frame: &Frame, s: f64| {
            let a = s / squared.sqrt();
            let normal = -DVec3::new(libm::cos(a), libm::sin(a), 0.0);
            let binormal = frame.axes.z_axis.cross(normal);
            libm::atan2(
                frame.axes.y_axis.dot(binormal),
                frame.axes.y_axis.dot(normal),
            )
        };
        let turned = angle(&frames[10], stations[10]) - angle(&frames[0], stations[0]);
        let expected = -pitch / squared * (stations[10] - stations[0]);
        let off = libm::remainder(turned - expected, 2.0 * std::f64::consts::PI);
        assert!(off.abs() < 1e-3, "{turned} instead of {expected}");
    }

    #[test]
    fn an_up_along_the_path_is_replaced() {
        let curve = Curve::through(&[DVec3::ZERO, DVec3::Z]);
        for up in [DVec3::Z, DVec3::ZERO, -5.0 * DVec3::Z] {
            let frame = carry(&curve, up, &[0.5])[0];
            assert!(frame.axes.y_axis.abs_diff_eq(DVec3::Y, 1e-12));
        }
    }
}
