//! Capsules on the triangles of a surface, four triangles at a time.

use super::{
    NO_DIRECTION, Patch, Scene, Touch,
    probe::{Capsule, Probe, Way},
};
use crate::{
    closest::{self, FourPairs, SegmentPair, dot, lerp},
    sweep,
};
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
        let swept = probe.ahead.and_then(|ahead| match ahead.way {
            Way::Axis(way) => Some((ahead, way)),
            Way::Pose(_) => None,
        });
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
        let left = !far & ((1 << count) - 1);
        if left == 0 {
            return;
        }
        let culled = match swept {
            Some((ahead, way)) => {
                let watched = f64x4::splat(capsule.radius + ahead.watch);
                let beyond = found.distance_squared.simd_gt(watched * watched);
                let beyond = beyond.to_bitmask();
                let meeting = match left & beyond {
                    0 => 0,
                    _ => may_meet((capsule, way), (corners, &ways), &found),
                };
                Culled {
                    apart: beyond & !meeting,
                    once: !beyond & !may_touch_twice(&found, capsule, capsule.radius + ahead.watch),
                }
            }
            None => Culled { apart: 0, once: 0 },
        };
        let lanes = Lanes::new(&found);
        let mut rest = left;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let pair = (c, self.near[start + lane].1);
            let distance_squared = lanes.distance_squared[lane];
            let clear = swept.is_some() && distance_squared > NO_DIRECTION * NO_DIRECTION;
            let known = if clear { self.remembered(pair) } else { None };
            if let Some(side) = known {
                // Whoever sees it clear of the axis asks for no side, and what is remembered stays.
                self.sides.push((c, pair.1, side));
                if culled.apart >> lane & 1 != 0 {
                    continue;
                }
            }
            let place = [*at(lane, 0), *at(lane, 1), *at(lane, 2)];
            let meet = Meet::new(capsule, place, lanes.pair(lane));
            let normal = match known {
                Some(_) => meet.apart / meet.distance,
                None => self.way_out(pair, nodes[lane], &meet, scene.positions),
            };
            let mut touch = Touch {
                probe: c as usize,
                at: meet.at,
                distance: capsule.radius,
                nodes: nodes[lane],
                weights: meet.pair.weights,
                normal,
                key: (0, nodes[lane]),
            };
            let Some((ahead, _)) = &swept else {
                if self.is_new(&touch) {
                    out.push(touch);
                }
                continue;
            };
            if culled.apart >> lane & 1 != 0 {
                continue;
            }
            let watched = capsule.radius + ahead.watch;
            if distance_squared > watched * watched {
                let impact = ahead.meets(capsule, &meet.pair, place, ways[lane]);
                let Some(impact) = impact else {
                    continue;
                };
                touch.at = capsule.axis(impact.along);
                touch.weights = impact.weights;
                touch.normal = impact.normal;
            } else if clear {
                // As long as the axis does not pierce the triangle, the tool is on the side on which it is. What is remembered may
                // say otherwise where the surface is crumpled, and would then pull it through.
                touch.normal = meet.apart.normalize_or(touch.normal);
            }
            if self.is_new(&touch) {
                out.push(touch);
            }
            if culled.once >> lane & 1 == 0
                && let Some(other) = second(&touch, capsule, place, watched)
                && self.is_new(&other)
            {
                out.push(other);
            }
        }
    }

    /// The way out for a triangle, by the side from which the capsule came.
    #[inline]
    fn way_out(
        &mut self,
        pair: (u32, u32),
        nodes: [u32; 3],
        meet: &Meet,
        positions: &[DVec3],
    ) -> DVec3 {
        let outward = self.outward(nodes, meet.pair.weights, positions);
        let (side, now) = self.side(pair, outward.dot(meet.apart), true);
        if side == now && meet.distance > NO_DIRECTION {
            meet.apart / meet.distance
        } else {
            // The axis is in the surface or beyond it: the way out is back to where it came from.
            outward.normalize_or(DVec3::Y) * -f64::from(side)
        }
    }
}

/// What is known of four triangles before one is looked at, a bit for each.
struct Culled {
    /// They do not meet the capsule on its way.
    apart: u32,
    /// They touch it at one place at most.
    once: u32,
}

/// What was found of four triangles, lane by lane.
struct Lanes {
    along: [f64; LANES],
    weights: [[f64; LANES]; 3],
    distance_squared: [f64; LANES],
}

impl Lanes {
    #[inline(always)]
    fn new(found: &FourPairs) -> Self {
        Self {
            along: found.along.to_array(),
            weights: found.weights.map(|w| w.to_array()),
            distance_squared: found.distance_squared.to_array(),
        }
    }

    #[inline(always)]
    fn pair(&self, lane: usize) -> SegmentPair {
        SegmentPair {
            along: self.along[lane],
            weights: self.weights.map(|w| w[lane]),
            distance_squared: self.distance_squared[lane],
        }
    }
}

/// Where a capsule and a triangle are nearest.
struct Meet {
    pair: SegmentPair,
    /// On the axis, m.
    at: DVec3,
    /// The way from there to the triangle, and how long it is, m.
    apart: DVec3,
    distance: f64,
}

impl Meet {
    #[inline(always)]
    fn new(capsule: &Capsule, place: [DVec3; 3], pair: SegmentPair) -> Self {
        let at = capsule.axis(pair.along);
        let apart = closest::point(place, pair.weights) - at;
        Self {
            pair,
            at,
            apart,
            distance: apart.length(),
        }
    }
}

/// Which of four triangles whose corners go `ways` (m) a capsule may meet whose ends go `way` (m), a bit for each: all but those that the direction of now
/// keeps apart until the end, which is what a [sweep](crate::sweep) finds out first.
#[inline(always)]
fn may_meet(
    (capsule, way): (&Capsule, [DVec3; 2]),
    (corners, ways): ([Four; 3], &[[DVec3; 3]; LANES]),
    found: &FourPairs,
) -> u32 {
    let ends = [capsule.a, capsule.b].map(Four::splat);
    let [p, q, r] = [0, 1, 2].map(|k| corners[k].times(found.weights[k]));
    let apart = p + q + r - lerp(ends[0], ends[1], found.along);
    let unit = apart.times(f64x4::ONE / apart.length());
    let along = |v: Four| dot(v, unit);
    let start = ends[0];
    let go = |k: usize| Four::of(&ways[0][k], &ways[1][k], &ways[2][k], &ways[3][k]);
    let go = [go(0), go(1), go(2)];
    let nearest = |[x, y, z]: [f64x4; 3]| x.fast_min(y).fast_min(z);
    let from = corners.map(|corner| along(corner - start));
    let to = [0, 1, 2].map(|k| from[k] + along(go[k]));
    let axis = along(Four::splat(capsule.b - capsule.a));
    let way = way.map(|way| along(Four::splat(way)));
    let began = nearest(from) - axis.fast_max(f64x4::ZERO);
    let ended = nearest(to) - (axis + way[1]).fast_max(way[0]);
    // The sweep asks for half the tolerance: what is rounded here is far below the other half.
    let least = f64x4::splat(capsule.radius + sweep::TOLERANCE);
    let apart = began.simd_gt(least) & ended.simd_gt(least);
    // Zero where all ways are finite: of others nobody can tell.
    let sum = go[0] + go[1] + go[2];
    let poison = (sum.x + sum.y + sum.z + way[0] + way[1]) * f64x4::ZERO;
    !(apart & poison.simd_eq(f64x4::ZERO)).to_bitmask()
}

/// Which of four triangles a capsule may touch within `range` (m) at a [second] place, a bit for each: the ends and the places nearest to the sides
/// are near each other, or far from the others.
#[inline(always)]
fn may_touch_twice(found: &FourPairs, capsule: &Capsule, range: f64) -> u32 {
    // A hair more, for what was rounded.
    let range = range * (1.0 + 1e-9) + 1e-12;
    let square = f64x4::splat(range * range);
    let least = f64x4::splat(2.0 * capsule.radius * (1.0 - 1e-9) - 1e-12);
    let length = f64x4::splat(capsule.a.distance(capsule.b));
    let from = found.along * length;
    let aside = |along: f64x4| (along * length - from).abs().simd_gt(least);
    let mut may = !found.plain;
    for (along, distance_squared) in found.sides {
        may |= aside(along) & distance_squared.simd_le(square);
    }
    let wide = square * found.normal.length_squared();
    for (along, height) in [f64x4::ZERO, f64x4::ONE].into_iter().zip(found.heights) {
        may |= aside(along) & (height * height).simd_le(wide);
    }
    may.to_bitmask()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Moving;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn vector() -> impl Strategy<Value = DVec3> {
        // Small integers make parallel, touching and degenerate cases common.
        prop_oneof![
            3 => prop::array::uniform3(-1.0..1.0).prop_map(DVec3::from_array),
            1 => prop::array::uniform3(-2..3_i32).prop_map(|v| DVec3::from_array(v.map(f64::from))),
        ]
    }

    #[test]
    fn what_is_culled_neither_meets_nor_touches_twice() {
        let [apart, met, once, twice] = [const { Cell::new(0) }; 4];
        let more = |count: &Cell<u32>, is: bool| count.set(count.get() + u32::from(is));
        let config = ProptestConfig::with_cases(4000);
        let given = (
            [vector(), vector()],
            prop::array::uniform12(vector()),
            prop::array::uniform12(vector()),
            [vector(), vector()],
            (0.0..0.5_f64, 0.0..1.0_f64, 0.0..1.0_f64),
        );
        type Given = (
            [DVec3; 2],
            [DVec3; 12],
            [DVec3; 12],
            [DVec3; 2],
            (f64, f64, f64),
        );
        let judge = |([a, b], places, goes, way, (radius, watch, speed)): Given| {
            let capsule = Capsule { a, b, radius };
            let lost = way[0].x == 1.0;
            let way = way.map(|w| w * speed);
            let lane = |k: usize| [places[k], places[4 + k], places[8 + k]];
            let mut ways: [[DVec3; 3]; LANES] =
                std::array::from_fn(|k| [goes[k], goes[4 + k], goes[8 + k]].map(|w| w * speed));
            if lost {
                ways[0][1].y = f64::INFINITY;
                ways[1][2].z = f64::NAN;
            }
            let corners = [0, 4, 8].map(|k| {
                let [p, q, r, s] = [0, 1, 2, 3].map(|lane| &places[k + lane]);
                Four::of(p, q, r, s)
            });
            let range = f64x4::splat(f64::INFINITY);
            let found = closest::segment_triangles(a, b, corners, range).unwrap();
            let meeting = may_meet((&capsule, way), (corners, &ways), &found);
            let twofold = may_touch_twice(&found, &capsule, radius + watch);
            for (k, gone) in ways.iter().enumerate() {
                let pair = Lanes::new(&found).pair(k);
                let axis = [(a, way[0]), (b, way[1])].map(|(from, way)| Moving { from, way });
                let moving = [0, 1, 2].map(|i| Moving {
                    from: lane(k)[i],
                    way: gone[i],
                });
                let full = sweep::capsule_triangle(axis, moving, radius, sweep::TOLERANCE);
                let from = sweep::capsule_triangle_from(
                    axis,
                    moving,
                    radius,
                    sweep::TOLERANCE,
                    Some(&pair),
                );
                match gone.iter().all(|w| w.is_finite()) {
                    true => prop_assert_eq!(full, from),
                    // Where it is found then does not matter.
                    false => prop_assert!(full.is_some() && from.is_some()),
                }
                let may = meeting >> k & 1 != 0;
                prop_assert!(may || full.is_none(), "{k}: {full:?}");
                let meet = Meet::new(&capsule, lane(k), pair);
                let first = Touch {
                    probe: 0,
                    at: meet.at,
                    distance: radius,
                    nodes: [0, 1, 2],
                    weights: pair.weights,
                    normal: meet.apart.normalize_or(DVec3::Y),
                    key: (0, [0, 1, 2]),
                };
                let other = second(&first, &capsule, lane(k), radius + watch);
                let again = twofold >> k & 1 != 0;
                prop_assert!(again || other.is_none(), "{k}: {other:?}");
                more(&apart, !may);
                more(&met, full.is_some());
                more(&once, !again);
                more(&twice, other.is_some());
            }
            Ok(())
        };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        runner.run(&given, judge).unwrap();
        let counts = [&apart, &met, &once, &twice].map(Cell::get);
        assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
    }
}
