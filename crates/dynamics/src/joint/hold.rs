//! Joints that let go and take hold again while things move (B51).

use super::{Base, Control, Coordinate, Joint, Kind};
use crate::{Anchor, Local};
use glam::DVec3;
use trocar_math::Pose;

/// Angles nearer than this to 0 or π, rad, have no direction in which they could be kept.
const FLAT: f64 = 1e-3;

impl Joint {
    /// True if both ends of all its parts are on bodies or on the world.
    pub fn is_framed(&self) -> bool {
        let framed = |anchor: Anchor| matches!(anchor.at, Local::Frame(..));
        self.anchors().flatten().all(framed)
    }

    /// True if it can take hold of its sides wherever they are: both have frames, and no curve or surface says where they have to be.
    pub fn can_catch(&self) -> bool {
        let guided = |base: &Base| matches!(base.kind, Kind::Curve(..) | Kind::Sheet(..));
        self.is_framed() && !self.bases.iter().any(guided)
    }

    /// Takes hold of its sides as they stand, if it [can](Self::can_catch): `pose` is that of b's node in the frame of a's. What it leaves
    /// free is as it was `written`, and counts from here.
    pub fn catch(&mut self, written: &Self, pose: &Pose) {
        self.bases.clone_from(&written.bases);
        self.bases.iter_mut().for_each(|base| caught(base, pose));
        let drives = written.controls.iter().zip(&self.controls);
        self.controls = drives
            .map(|(as_written, now)| Control {
                drive: now.drive,
                ..caught_control(as_written, pose)
            })
            .collect();
        self.caught = Some(*pose);
    }
}

/// The place of b's node that is now where a's `anchor` is.
fn same_place(a: &Anchor, b: &Anchor, pose: &Pose) -> Anchor {
    match (a.at, b.at) {
        (Local::Frame(_, offset), Local::Frame(node, _)) => {
            Anchor::frame(b.matter, node, pose.local(offset))
        }
        _ => *b,
    }
}

/// From a's point to b's, in a's frame, m.
fn between(a: &Anchor, b: &Anchor, pose: &Pose) -> Option<DVec3> {
    match (a.at, b.at) {
        (Local::Frame(_, from), Local::Frame(_, to)) => Some(pose.point(to) - from),
        _ => None,
    }
}

fn caught(base: &mut Base, pose: &Pose) {
    let back = pose.rotation.conjugate();
    match &mut base.kind {
        Kind::Point | Kind::Line(_) | Kind::Plane(_) => {
            base.b = same_place(&base.a, &base.b, pose);
        }
        Kind::Distance(length) => {
            let now = between(&base.a, &base.b, pose).map(DVec3::length);
            *length = now.filter(|d| *d > 0.0).unwrap_or(*length);
        }
        Kind::Orientation(turn) => *turn = pose.rotation,
        Kind::Axis(a, b) => *b = back * *a,
        Kind::Angle(a, b, angle) => {
            let now = trocar_math::angle(*a, pose.rotation * *b);
            *angle = now.clamp(FLAT, std::f64::consts::PI - FLAT);
        }
        Kind::Curve(..) | Kind::Sheet(..) | Kind::Velocity | Kind::Spin => {}
    }
}

fn caught_control(control: &Control, pose: &Pose) -> Control {
    let back = pose.rotation.conjugate();
    let both = |v: [DVec3; 2]| [v[0], back * v[0]];
    let coordinate = match control.coordinate {
        Coordinate::Turn { axis, zero } => Coordinate::Turn {
            axis: both(axis),
            zero: both(zero),
        },
        Coordinate::Twist { axis, zero } => Coordinate::Twist {
            axis: both(axis),
            zero: both(zero),
        },
        Coordinate::Swing(a, _) => Coordinate::Swing(a, back * a),
        other => other,
    };
    let b = match control.coordinate {
        Coordinate::Distance => control.b,
        _ => same_place(&control.a, &control.b, pose),
    };
    Control {
        b,
        coordinate,
        ..*control
    }
}
