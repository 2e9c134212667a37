//! Capsules on the triangles of a surface, four triangles at a time.

use super::{
    NO_DIRECTION, Patch, Scene, Touch,
    probe::{Ahead, Capsule, Probe, Way},
};
use crate::{
    closest::{self, FourPairs, SegmentPair, dot, lerp},
    sweep,
};
use glam::DVec3;
use std::ops::Range;
use trocar_math::{Four, f64x4, four::LANES};

impl Patch {
    /// The gathered pairs of `range`, all of them of probe `c`, a capsule. First all are looked at, four at a time, then those that are near one by one: in between, no four wait
    /// for what becomes of others.
    pub(super) fn touch_capsules(
        &mut self,
        (c, range): (u32, Range<usize>),
        (capsule, probe): (&Capsule, &Probe),
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let tool = Tool::new(capsule, probe);
        let mut fours = std::mem::take(&mut self.fours);
        fours.clear();
        for corners in self.near_corners[range.clone()].chunks(LANES) {
            fours.push(tool.look(corners, scene));
        }
        for (four, start) in fours.iter().zip(range.step_by(LANES)) {
            let mut rest = four.left;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.touch_one((c, start + lane), (&tool, four, lane), scene, out);
            }
        }
        self.fours = fours;
    }

    /// The `n`-th gathered pair, of probe `c`, as it was found in a lane.
    #[inline(always)]
    fn touch_one(
        &mut self,
        (c, n): (u32, usize),
        (tool, four, lane): (&Tool<'_>, &Found, usize),
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let capsule = tool.capsule;
        let nodes = self.near_corners[n];
        let pair = (c, self.near[n].1);
        let found = four.pair(lane);
        let apart = four.apart >> lane & 1 != 0;
        let clear = tool.swept.is_some() && found.distance_squared > NO_DIRECTION * NO_DIRECTION;
        let known = if clear { self.remembered(pair) } else { None };
        if let Some(side) = known {
            // Whoever sees it clear of the axis asks for no side, and what is remembered stays.
            self.sides.push((c, pair.1, side));
            if apart {
                return;
            }
        }
        let place = scene.corners(nodes);
        let at = capsule.axis(found.along);
        let way = closest::point(place, found.weights) - at;
        let out_of_it = match known {
            Some(_) => None,
            None => Some(self.way_out(pair, nodes, (found.weights, way), scene.positions)),
        };
        if apart {
            return;
        }
        let mut touch = Touch {
            probe: c as usize,
            at,
            distance: capsule.radius,
            nodes,
            weights: found.weights,
            normal: DVec3::ZERO,
            key: (0, nodes),
        };
        let Some((ahead, _)) = &tool.swept else {
            if self.is_new(&touch) {
                touch.normal = out_of_it.unwrap_or(DVec3::ZERO);
                out.push(touch);
            }
            return;
        };
        let watched = capsule.radius + ahead.watch;
        if found.distance_squared > watched * watched {
            let ways = scene.ways(&nodes);
            let Some(impact) = ahead.meets(capsule, &found, place, ways) else {
                return;
            };
            touch.at = capsule.axis(impact.along);
            touch.weights = impact.weights;
            touch.normal = impact.normal;
        } else if clear {
            // As long as the axis does not pierce the triangle, the tool is on the side on which it is. What is remembered may
            // say otherwise where the surface is crumpled, and would then pull it through.
            let else_where = || out_of_it.unwrap_or_else(|| way / way.length());
            touch.normal = way.try_normalize().unwrap_or_else(else_where);
        } else {
            touch.normal = out_of_it.unwrap_or(DVec3::ZERO);
        }
        if self.is_new(&touch) {
            out.push(touch);
        }
        let features = four.twice.map(|lanes| lanes >> lane & 1 != 0);
        if features.contains(&true)
            && let Some(other) = second(&touch, capsule, place, watched, features)
            && self.is_new(&other)
        {
            out.push(other);
        }
    }

    /// The way out for a triangle whose nearest point has such weights and lies such a `way` (m) from the axis, by the side from which the capsule came.
    #[inline(never)]
    fn way_out(
        &mut self,
        pair: (u32, u32),
        nodes: [u32; 3],
        (weights, way): ([f64; 3], DVec3),
        positions: &[DVec3],
    ) -> DVec3 {
        let outward = self.outward(nodes, weights, positions);
        let (side, now) = self.side(pair, outward.dot(way), true);
        let distance = way.length();
        if side == now && distance > NO_DIRECTION {
            way / distance
        } else {
            // The axis is in the surface or beyond it: the way out is back to where it came from.
            outward.normalize_or(DVec3::Y) * -f64::from(side)
        }
    }
}

/// A capsule and how it moves.
struct Tool<'a> {
    capsule: &'a Capsule,
    /// How far from its axis something may be touched, m.
    reach: f64,
    swept: Option<(Ahead, [DVec3; 2])>,
}

impl<'a> Tool<'a> {
    fn new(capsule: &'a Capsule, probe: &Probe) -> Self {
        Self {
            capsule,
            reach: capsule.radius + probe.margin,
            swept: probe.ahead.and_then(|ahead| match ahead.way {
                Way::Axis(way) => Some((ahead, way)),
                Way::Pose(_) => None,
            }),
        }
    }

    /// Looks at up to four triangles by their corners.
    #[inline(always)]
    fn look(&self, wanted: &[[u32; 3]], scene: &Scene<'_>) -> Found {
        let Self { capsule, reach, .. } = *self;
        // Lanes that are left over look at the last triangle again.
        let last = wanted.len() - 1;
        let nodes = |lane: usize| &wanted[lane.min(last)];
        let at = |lane: usize, k: usize| &scene.positions[nodes(lane)[k] as usize];
        let corner = |k: usize| Four::of(at(0, k), at(1, k), at(2, k), at(3, k));
        let corners = [corner(0), corner(1), corner(2)];
        let all = (1_u32 << wanted.len()) - 1;
        let question = closest::Question::new(capsule.a, capsule.b, corners);
        let mut ways = Ways::NONE;
        if question.all_beyond(f64x4::splat(reach)) {
            // Out of reach by their planes alone: only how far they come may bring them near.
            if self.swept.is_none() {
                return Found::NONE;
            }
            ways.ask(all, |lane| scene.ways(nodes(lane)));
            if question.all_beyond(ways.range(reach)) {
                return Found::NONE;
            }
        }
        let found = question.nearest();
        let beyond = |range: f64x4| {
            let beyond = found.distance_squared.simd_gt(range * range);
            beyond.to_bitmask()
        };
        let (mut left, mut apart, mut twice) = (all, 0, [0; FEATURES]);
        match &self.swept {
            Some((ahead, way)) => {
                let watched = capsule.radius + ahead.watch;
                // What is watched in any case is touched, wherever it goes.
                let asked = all & beyond(f64x4::splat(watched.min(reach)));
                if asked != 0 {
                    ways.ask(asked, |lane| scene.ways(nodes(lane)));
                    left &= !beyond(ways.range(reach));
                    apart = beyond(f64x4::splat(watched));
                    if left & apart != 0 {
                        apart &= !may_meet((capsule, *way), (corners, ways.corners()), &found);
                    }
                }
                twice = may_touch_twice(&found, capsule, watched);
            }
            None => left &= !beyond(f64x4::splat(reach)),
        }
        Found {
            along: found.along,
            weights: found.weights,
            distance_squared: found.distance_squared,
            left,
            apart,
            twice,
        }
    }
}

/// What was found of four triangles, a lane for each; masks have a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    along: f64x4,
    weights: [f64x4; 3],
    distance_squared: f64x4,
    /// Those that are near.
    left: u32,
    /// Those that do not meet the capsule on its way.
    apart: u32,
    /// Those that may touch it at a [second] place, for each feature that this may be.
    twice: [u8; FEATURES],
}

impl Found {
    const NONE: Self = Self {
        along: f64x4::ZERO,
        weights: [f64x4::ZERO; 3],
        distance_squared: f64x4::ZERO,
        left: 0,
        apart: 0,
        twice: [0; FEATURES],
    };

    /// Of one lane.
    #[inline(always)]
    fn pair(&self, lane: usize) -> SegmentPair {
        let of = |list: &f64x4| list.as_array()[lane];
        SegmentPair {
            along: of(&self.along),
            weights: [
                of(&self.weights[0]),
                of(&self.weights[1]),
                of(&self.weights[2]),
            ],
            distance_squared: of(&self.distance_squared),
        }
    }
}

/// How far the corners of four triangles go until the next question, m, as far as that was asked.
struct Ways {
    list: [[DVec3; 3]; LANES],
    /// The longest of each.
    longest: f64x4,
}

impl Ways {
    const NONE: Self = Self {
        list: [[DVec3::ZERO; 3]; LANES],
        longest: f64x4::ZERO,
    };

    /// Asks for those of a mask.
    #[inline(always)]
    fn ask(&mut self, mask: u32, way: impl Fn(usize) -> [DVec3; 3]) {
        for lane in 0..LANES {
            if mask >> lane & 1 != 0 {
                self.list[lane] = way(lane);
            }
        }
        let mut most = f64x4::ZERO;
        for corner in self.corners() {
            // What is no number leaves what is there.
            most = corner.length_squared().fast_max(most);
        }
        self.longest = most.sqrt();
    }

    /// Of the first corners, the second, the third.
    #[inline(always)]
    fn corners(&self) -> [Four; 3] {
        let [p, q, r, s] = &self.list;
        [
            Four::of(&p[0], &q[0], &r[0], &s[0]),
            Four::of(&p[1], &q[1], &r[1], &s[1]),
            Four::of(&p[2], &q[2], &r[2], &s[2]),
        ]
    }

    /// What may come within `reach` (m) is no farther away than this, m.
    #[inline(always)]
    fn range(&self, reach: f64) -> f64x4 {
        f64x4::splat(reach) + self.longest
    }
}

/// Which of four triangles whose corners `go` (m) a capsule may meet whose ends go `way` (m), a bit for each: all but those that the direction of now
/// keeps apart until the end, which is what a [sweep](crate::sweep) finds out first.
#[inline(always)]
fn may_meet(
    (capsule, way): (&Capsule, [DVec3; 2]),
    (corners, go): ([Four; 3], [Four; 3]),
    found: &FourPairs,
) -> u32 {
    let ends = [capsule.a, capsule.b].map(Four::splat);
    let [p, q, r] = [0, 1, 2].map(|k| corners[k].times(found.weights[k]));
    let apart = p + q + r - lerp(ends[0], ends[1], found.along);
    let unit = apart.times(f64x4::ONE / apart.length());
    let along = |v: Four| dot(v, unit);
    let start = ends[0];
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

/// Where else a capsule may touch a triangle: its ends, and over the sides.
const FEATURES: usize = 5;

/// Which of four triangles a capsule may touch within `range` (m) at a [second] place, for each feature a bit for each: the ends and the places nearest to
/// the sides are near each other, or far from the others.
#[inline(always)]
fn may_touch_twice(found: &FourPairs, capsule: &Capsule, range: f64) -> [u8; FEATURES] {
    // A hair more, for what was rounded.
    let range = range * (1.0 + 1e-9) + 1e-12;
    let square = f64x4::splat(range * range);
    let least = f64x4::splat(2.0 * capsule.radius * (1.0 - 1e-9) - 1e-12);
    let length = f64x4::splat(capsule.a.distance(capsule.b));
    let from = found.along * length;
    let aside = |along: f64x4| (along * length - from).abs().simd_gt(least);
    let any = !found.plain;
    let wide = square * found.normal.length_squared();
    let end = |along: f64x4, height: f64x4| aside(along) & (height * height).simd_le(wide);
    let side = |(along, squared): (f64x4, f64x4)| aside(along) & squared.simd_le(square);
    let bits = |may: f64x4| (may | any).to_bitmask() as u8;
    [
        bits(end(f64x4::ZERO, found.heights[0])),
        bits(end(f64x4::ONE, found.heights[1])),
        bits(side(found.sides[0])),
        bits(side(found.sides[1])),
        bits(side(found.sides[2])),
    ]
}

/// Where a part of a tool that lies along a triangle touches it, too: held at one place alone, the triangle would turn about that
/// and cut into the axis beside it. The place farthest along the axis at which an end lies over the triangle, or the axis over
/// one of its sides, within `range` (m); only of those `features` that it may be.
#[inline(never)]
fn second(
    first: &Touch,
    capsule: &Capsule,
    corners: [DVec3; 3],
    range: f64,
    features: [bool; FEATURES],
) -> Option<Touch> {
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
    for (feature, along, end) in [(1, 0.0, capsule.a), (2, 1.0, capsule.b)] {
        if features[feature as usize - 1] {
            consider(feature, along, closest::on_triangle(end, corners));
        }
    }
    for (feature, (i, j)) in [(3, (0, 1)), (4, (1, 2)), (5, (2, 0))] {
        if !features[feature as usize - 1] {
            continue;
        }
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
            let mut gone = Ways::NONE;
            gone.ask(15, |lane| ways[lane]);
            let meeting = may_meet((&capsule, way), (corners, gone.corners()), &found);
            let twofold = may_touch_twice(&found, &capsule, radius + watch);
            for (k, gone) in ways.iter().enumerate() {
                let pair = SegmentPair {
                    along: found.along.to_array()[k],
                    weights: found.weights.map(|w| w.to_array()[k]),
                    distance_squared: found.distance_squared.to_array()[k],
                };
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
                let at = capsule.axis(pair.along);
                let apart_by = closest::point(lane(k), pair.weights) - at;
                let first = Touch {
                    probe: 0,
                    at,
                    distance: radius,
                    nodes: [0, 1, 2],
                    weights: pair.weights,
                    normal: apart_by.normalize_or(DVec3::Y),
                    key: (0, [0, 1, 2]),
                };
                let every = [true; FEATURES];
                let other = second(&first, &capsule, lane(k), radius + watch, every);
                let features = twofold.map(|lanes| lanes >> k & 1 != 0);
                let again = features.contains(&true);
                prop_assert!(again || other.is_none(), "{k}: {other:?}");
                let few = second(&first, &capsule, lane(k), radius + watch, features);
                prop_assert_eq!(few, other);
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
