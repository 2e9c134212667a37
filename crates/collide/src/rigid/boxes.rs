//! Two boxes: the axis along which they are furthest apart, or overlap least.

use glam::{DMat3, DVec3};
use trocar_math::Pose;

/// Edges nearer to parallel than this (the square of the sine) have no common normal worth the name: a milliradian.
const PARALLEL: f64 = 1e-6;

/// The features that decide how two boxes touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axis {
    /// A side of the first: its axis, and whether it is the lower one.
    FaceA(usize, bool),
    /// A side of the second.
    FaceB(usize, bool),
    /// An edge of each: the unit normal from the first to the second, in the frame of the first, and the axes.
    Edges(DVec3, usize, usize),
}

/// The axis of greatest separation of two boxes (Gottschalk 1996), the second at `pose` in the frame of the first; half
/// edges in m. Nothing if they are further apart than `margin` (m).
///
/// Faces are preferred to edges and the first box to the second, unless the other is better by `bias` (m): else a
/// stack whose depths agree to rounding would change its mind with every step.
pub(super) fn separation(a: DVec3, b: DVec3, pose: &Pose, margin: f64, bias: f64) -> Option<Axis> {
    let turn = DMat3::from_quat(pose.rotation);
    let axes = [turn.x_axis, turn.y_axis, turn.z_axis];
    let away = pose.position;
    let size = axes.map(DVec3::abs);

    let spread = size[0] * b.x + size[1] * b.y + size[2] * b.z;
    let apart_a = away.abs() - (a + spread);
    let (axis_a, face_a) = largest(apart_a);
    if face_a > margin {
        return None;
    }
    let along = DVec3::new(away.dot(axes[0]), away.dot(axes[1]), away.dot(axes[2]));
    let apart_b = along.abs() - b - DVec3::new(a.dot(size[0]), a.dot(size[1]), a.dot(size[2]));
    let (axis_b, face_b) = largest(apart_b);
    if face_b > margin {
        return None;
    }

    let mut edges = f64::NEG_INFINITY;
    let mut edge_axes = (0, 0);
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let square = 1.0 - axes[j][i] * axes[j][i];
            if square < PARALLEL {
                continue;
            }
            let reach = a[i1] * size[j][i2]
                + a[i2] * size[j][i1]
                + b[j1] * size[j2][i]
                + b[j2] * size[j1][i];
            // away · (eᵢ × axisⱼ)
            let distance = (away[i2] * axes[j][i1] - away[i1] * axes[j][i2]).abs();
            let apart = (distance - reach) / square.sqrt();
            if apart > margin {
                return None;
            }
            if apart > edges {
                edges = apart;
                edge_axes = (i, j);
            }
        }
    }

    let faces = face_a.max(face_b);
    if edges > faces + bias {
        let (i, j) = edge_axes;
        let normal = DVec3::AXES[i].cross(axes[j]).normalize();
        let normal = if normal.dot(away) < 0.0 {
            -normal
        } else {
            normal
        };
        return Some(Axis::Edges(normal, i, j));
    }
    if face_b > face_a + bias {
        // The side of the second that looks at the first.
        return Some(Axis::FaceB(axis_b, along[axis_b] > 0.0));
    }
    Some(Axis::FaceA(axis_a, away[axis_a] < 0.0))
}

fn largest(v: DVec3) -> (usize, f64) {
    let mut best = 0;
    for axis in 1..3 {
        if v[axis] > v[best] {
            best = axis;
        }
    }
    (best, v[best])
}

/// The edge along `axis` of a box with half edges `half` that reaches furthest along `direction`: its middle, and the
/// signs of the other two axes as bits.
pub(super) fn support_edge(half: DVec3, axis: usize, direction: DVec3) -> (DVec3, u32) {
    let mut middle = DVec3::ZERO;
    let mut bits = 0;
    for other in [(axis + 1) % 3, (axis + 2) % 3] {
        let positive = direction[other] > 0.0;
        middle[other] = if positive { half[other] } else { -half[other] };
        bits |= u32::from(positive) << other;
    }
    (middle, bits)
}
