//! Capsules on the triangles of a surface, four triangles at a time.

use super::{
    NO_DIRECTION, NO_WEIGHT, Patch, Scene, Touch, bearing_of,
    probe::{Ahead, Capsule, Probe, Way},
};
use crate::closest::{self, FourPairs, dot, lerp};
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
        let range = f64x4::new(range);
        let found = closest::segment_triangles(capsule.a, capsule.b, corners, range);
        let Some(found) = found else {
            return;
        };
        let far = found.distance_squared.simd_gt(range * range).to_bitmask();
        let mut left = !far & ((1 << count) - 1);
        if left == 0 {
            return;
        }
        let four = FourMeets::new(capsule, corners, &found);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let t = self.near[start + lane].1;
            let meet = Meet {
                four: &four,
                lane,
                nodes: nodes[lane],
            };
            let Some(ahead) = &swept else {
                let bearing = meet.bearing();
                let normal = self.way_out((c, t), &meet, bearing, scene.positions);
                if self.is_new_at((c, 0), bearing) {
                    out.push(meet.touch(c, capsule, normal));
                }
                continue;
            };
            let place = [*at(lane, 0), *at(lane, 1), *at(lane, 2)];
            self.touch_swept(
                (c, t),
                (capsule, ahead),
                &meet,
                (place, ways[lane]),
                scene.positions,
                out,
            );
        }
    }

    fn touch_swept(
        &mut self,
        (c, t): (u32, u32),
        (capsule, ahead): (&Capsule, &Ahead),
        meet: &Meet<'_>,
        (corners, ways): ([DVec3; 3], [DVec3; 3]),
        positions: &[DVec3],
        out: &mut Vec<Touch>,
    ) {
        let distance_squared = meet.four.distance_squared[meet.lane];
        let clear = distance_squared > NO_DIRECTION * NO_DIRECTION;
        let remembered = if clear { self.remembered((c, t)) } else { None };
        let normal = match remembered {
            // Whoever sees it clear of the axis asks for no side, and what is remembered stays.
            Some(side) => {
                self.sides.push((c, t, side));
                meet.unit()
            }
            None => self.way_out((c, t), meet, meet.bearing(), positions),
        };
        let mut touch = meet.touch(c, capsule, normal);
        let watched = capsule.radius + ahead.watch;
        if distance_squared > watched * watched {
            let Some(impact) = ahead.meets(capsule, corners, ways) else {
                return;
            };
            touch.at = capsule.axis(impact.along);
            touch.weights = impact.weights;
            touch.normal = impact.normal;
        } else if clear {
            // As long as the axis does not pierce the triangle, the tool is on the side on which it is. What is remembered may
            // say otherwise where the surface is crumpled, and would then pull it through.
            touch.normal = meet.apart().normalize_or(touch.normal);
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

    /// The way out for a triangle, by the side from which the capsule came; `bearing` are the corners that bear the point.
    #[inline]
    fn way_out(
        &mut self,
        pair: (u32, u32),
        meet: &Meet<'_>,
        bearing: [u32; 3],
        positions: &[DVec3],
    ) -> DVec3 {
        let beside = bearing[2] == u32::MAX && bearing[0] != u32::MAX;
        let rise = match beside {
            true => self.outward_beside(bearing, positions).dot(meet.apart()),
            false => meet.four.rise[meet.lane],
        };
        let (side, now) = self.side(pair, rise, true);
        if side == now && meet.four.distance[meet.lane] > NO_DIRECTION {
            return meet.unit();
        }
        // The axis is in the surface or beyond it: the way out is back to where it came from.
        let outward = self.outward(meet.nodes, meet.weights(), positions);
        outward.normalize_or(DVec3::Y) * -f64::from(side)
    }
}

/// Four vectors by coordinate, as they are worked out.
type Columns = [[f64; LANES]; 3];

fn columns(v: Four) -> Columns {
    [v.x, v.y, v.z].map(|x| x.to_array())
}

/// Where a capsule and four triangles are nearest.
struct FourMeets {
    /// On the axis, m.
    at: Columns,
    /// The way from there to the triangle, m; and the same of unit length, if it has any.
    apart: Columns,
    unit: Columns,
    /// Of the first corners, of the second, of the third.
    weights: [[f64; LANES]; 3],
    distance: [f64; LANES],
    distance_squared: [f64; LANES],
    /// How far the way leads out of the triangle, times twice its area.
    rise: [f64; LANES],
    /// By corner, a bit for each lane: whether it bears the point.
    bears: [u32; 3],
}

impl FourMeets {
    #[inline(always)]
    fn new(capsule: &Capsule, corners: [Four; 3], found: &FourPairs) -> Self {
        let at = lerp(Four::splat(capsule.a), Four::splat(capsule.b), found.along);
        let [p, q, r] = [0, 1, 2].map(|k| corners[k].times(found.weights[k]));
        let apart = p + q + r - at;
        let distance = apart.length();
        let unit = Four {
            x: apart.x / distance,
            y: apart.y / distance,
            z: apart.z / distance,
        };
        let none = f64x4::splat(NO_WEIGHT);
        Self {
            at: columns(at),
            apart: columns(apart),
            unit: columns(unit),
            weights: found.weights.map(|w| w.to_array()),
            distance: distance.to_array(),
            distance_squared: found.distance_squared.to_array(),
            rise: dot(found.faces, apart).to_array(),
            bears: found.weights.map(|w| w.simd_gt(none).to_bitmask()),
        }
    }
}

/// Where a capsule and one of four triangles are nearest.
struct Meet<'a> {
    four: &'a FourMeets,
    lane: usize,
    /// Of the triangle.
    nodes: [u32; 3],
}

impl Meet<'_> {
    #[inline(always)]
    fn pick(&self, columns: &Columns) -> DVec3 {
        DVec3::from(columns.map(|x| x[self.lane]))
    }

    #[inline(always)]
    fn apart(&self) -> DVec3 {
        self.pick(&self.four.apart)
    }

    #[inline(always)]
    fn unit(&self) -> DVec3 {
        self.pick(&self.four.unit)
    }

    #[inline(always)]
    fn weights(&self) -> [f64; 3] {
        self.four.weights.map(|w| w[self.lane])
    }

    /// The corners that bear the point, in ascending order.
    #[inline(always)]
    fn bearing(&self) -> [u32; 3] {
        bearing_of(
            self.nodes,
            self.four.bears.map(|bits| bits >> self.lane & 1 != 0),
        )
    }

    #[inline(always)]
    fn touch(&self, c: u32, capsule: &Capsule, normal: DVec3) -> Touch {
        Touch {
            probe: c as usize,
            at: self.pick(&self.four.at),
            distance: capsule.radius,
            nodes: self.nodes,
            weights: self.weights(),
            normal,
            key: (0, self.nodes),
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
