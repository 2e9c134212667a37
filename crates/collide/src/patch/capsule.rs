//! Capsules on the triangles of a surface, four triangles at a time.

use super::{
    Meet, NO_DIRECTION, Patch, Scene, Touch,
    probe::{Capsule, Probe, Way},
};
use crate::closest;
use glam::DVec3;
use std::ops::Range;
use trocar_math::{Four, f64x4, four::LANES};

impl Patch {
    /// The gathered pairs of `range`, all of them of probe `c`, a capsule.
    pub(super) fn touch_capsules(
        &mut self,
        (c, range): (u32, Range<usize>),
        (capsule, probe): (&Capsule, &Probe),
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let mut start = range.start;
        while start < range.end {
            let count = LANES.min(range.end - start);
            let wanted = &self.near_corners[start..start + count];
            // Lanes that are left over look at the last triangle again.
            let last = wanted[count - 1];
            let mut nodes = [last; LANES];
            nodes[..count].copy_from_slice(wanted);
            self.touch_four((c, start, count), nodes, (capsule, probe), scene, out);
            start += count;
        }
    }

    /// So many pairs of probe `c` from `start` on, whose triangles have these corners.
    #[inline]
    fn touch_four(
        &mut self,
        (c, start, count): (u32, usize, usize),
        nodes: [[u32; 3]; LANES],
        (capsule, probe): (&Capsule, &Probe),
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let at = |lane: usize, k: usize| &scene.positions[nodes[lane][k] as usize];
        let corner = |k: usize| Four::of(at(0, k), at(1, k), at(2, k), at(3, k));
        let reach = capsule.radius + probe.margin;
        let swept = probe.ahead.filter(|a| matches!(a.way, Way::Axis(_)));
        let mut ways = [[DVec3::ZERO; 3]; LANES];
        let mut range = [reach; LANES];
        if swept.is_some() {
            for lane in 0..count {
                ways[lane] = nodes[lane].map(scene.way);
                let squares = ways[lane].iter().map(|w| w.length_squared());
                range[lane] += squares.fold(0.0, f64::max).sqrt();
            }
        }
        let corners = [corner(0), corner(1), corner(2)];
        let found = closest::segment_triangles(capsule.a, capsule.b, corners, f64x4::new(range));
        let Some(found) = found else {
            return;
        };
        for lane in 0..count {
            let distance_squared = found.distance_squared[lane];
            if distance_squared > range[lane] * range[lane] {
                continue;
            }
            let weights = found.weights.map(|w| w[lane]);
            let place = [*at(lane, 0), *at(lane, 1), *at(lane, 2)];
            let along = found.along[lane];
            let meet = Meet {
                along,
                weights,
                apart: closest::point(place, weights) - capsule.axis(along),
            };
            self.touch_one(
                (c, self.near[start + lane].1),
                (capsule, probe),
                (&meet, distance_squared),
                (place, ways[lane]),
                scene.positions,
                out,
            );
        }
    }

    fn touch_one(
        &mut self,
        (c, t): (u32, u32),
        (capsule, probe): (&Capsule, &Probe),
        (meet, distance_squared): (&Meet, f64),
        (corners, ways): ([DVec3; 3], [DVec3; 3]),
        positions: &[DVec3],
        out: &mut Vec<Touch>,
    ) {
        let swept = probe.ahead.filter(|a| matches!(a.way, Way::Axis(_)));
        let clear = swept.is_some() && distance_squared > NO_DIRECTION * NO_DIRECTION;
        let mut touch = self.touch((c, t), capsule, (meet, clear), positions);
        let Some(ahead) = swept else {
            if self.is_new(&touch) {
                out.push(touch);
            }
            return;
        };
        let watched = capsule.radius + ahead.watch;
        if distance_squared > watched * watched {
            let Some(impact) = ahead.meets(capsule, corners, ways) else {
                return;
            };
            touch.at = capsule.axis(impact.along);
            touch.weights = impact.weights;
            touch.normal = impact.normal;
        } else if distance_squared > NO_DIRECTION * NO_DIRECTION {
            // As long as the axis does not pierce the triangle, the tool is on the side on which it is. What is remembered may
            // say otherwise where the surface is crumpled, and would then pull it through.
            touch.normal = meet.apart.normalize_or(touch.normal);
        }
        if self.is_new(&touch) {
            out.push(touch);
        }
        if let Some(other) = second(&touch, capsule, corners, watched)
            && self.is_new(&other)
        {
            out.push(other);
        }
    }

    fn touch(
        &mut self,
        (c, t): (u32, u32),
        capsule: &Capsule,
        (meet, clear): (&Meet, bool),
        positions: &[DVec3],
    ) -> Touch {
        let nodes = self.triangles[t as usize];
        let distance = meet.apart.length();
        if clear && let Some(side) = self.remembered((c, t)) {
            // Whoever sees it clear of the axis asks for no side, and what is remembered stays.
            self.sides.push((c, t, side));
            return Touch {
                probe: c as usize,
                at: capsule.axis(meet.along),
                distance: capsule.radius,
                nodes,
                weights: meet.weights,
                normal: meet.apart / distance,
                key: (0, nodes),
            };
        }
        let outward = self.outward(nodes, meet.weights, positions);
        let (side, now) = self.side((c, t), outward.dot(meet.apart), true);
        let normal = if side == now && distance > NO_DIRECTION {
            meet.apart / distance
        } else {
            // The axis is in the surface or beyond it: the way out is back to where it came from.
            outward.normalize_or(DVec3::Y) * -f64::from(side)
        };
        Touch {
            probe: c as usize,
            at: capsule.axis(meet.along),
            distance: capsule.radius,
            nodes,
            weights: meet.weights,
            normal,
            key: (0, nodes),
        }
    }
}

/// Where a part of a tool that lies along a triangle touches it, too: held at one place alone, the triangle would turn about that
/// and cut into the axis beside it. The place farthest along the axis at which an end lies over the triangle, or the axis over
/// one of its sides, within `range` (m).
fn second(first: &Touch, capsule: &Capsule, corners: [DVec3; 3], range: f64) -> Option<Touch> {
    let length = capsule.a.distance(capsule.b);
    let from = first.at.distance(capsule.a);
    let mut best: Option<(f64, Touch)> = None;
    let mut consider = |feature: u32, along: f64, weights: [f64; 3]| {
        let at = capsule.axis(along);
        let apart = closest::point(corners, weights) - at;
        let aside = (along * length - from).abs();
        let farther = aside > 2.0 * capsule.radius && best.as_ref().is_none_or(|b| aside > b.0);
        let Some(normal) = apart.try_normalize() else {
            return;
        };
        // Behind the axis it would push the other way.
        if farther && apart.length_squared() <= range * range && normal.dot(first.normal) > 0.5 {
            let touch = Touch {
                at,
                weights,
                normal,
                key: (feature, first.nodes),
                ..*first
            };
            best = Some((aside, touch));
        }
    };
    consider(1, 0.0, closest::on_triangle(capsule.a, corners));
    consider(2, 1.0, closest::on_triangle(capsule.b, corners));
    for (feature, (i, j)) in [(3, (0, 1)), (4, (1, 2)), (5, (2, 0))] {
        let (along, s) = closest::segment_segment(capsule.a, capsule.b, corners[i], corners[j]);
        let mut weights = [0.0; 3];
        weights[i] = 1.0 - s;
        weights[j] = s;
        consider(feature, along, weights);
    }
    best.map(|(_, touch)| touch)
}
