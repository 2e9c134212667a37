//! A body with a distance grid on the triangles of a surface (F12–F20, F42, F43).
//!
//! Boxes have been compared when triangles were gathered; then each node goes through [`Grid::detect`], and of triangles that are larger than a cell
//! places between their corners do, about a cell apart, wherever the grid reaches. What is beyond the skin is followed along its way,
//! which is an arc to a body that turns.

use super::{
    Patch, Scene, Touch, bearing,
    probe::{Ahead, Probe, Way},
};
use crate::grid::{Depth, Grid, Part, Sunk, halves};
use glam::DVec3;
use std::ops::Range;
use trocar_math::{Bounds, Pose, rotation};

/// A triangle with edges longer than so many cells is halved, and halves that are beside the grid's box are left out: a body may be small beside a triangle.
const MOST_PLACES: u32 = 16;

/// Parts of a triangle that may wait. Each halving leaves one more, and two make them shorter by half: enough for one of 10¹⁸ cells.
const OPEN: usize = 128;

/// A place between corners counts if it is deeper than they are by so much, in cells: on what is flat all are as deep, and corners are enough.
const DEEPER: f64 = 0.125;

/// What turns is followed along chords that are no farther from the arc than this, in cells.
const BEND: f64 = 1.0 / 64.0;

/// Parts of a way that may wait. Each halving leaves one more, and makes them bend a quarter as much.
const ARCS: usize = 64;

/// The feature of a contact between corners.
const BETWEEN: u32 = 1;

/// What is kept from probe to probe, so that nothing has to be asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Depths {
    /// Each node once, ascending: the first pair with it, and which corner it is there.
    nodes: Vec<(u32, u32, u8)>,
    points: Vec<DVec3>,
    /// How deep each is, m; far outside if that is not known.
    depths: Vec<f64>,
    sunk: Vec<Sunk>,
}

impl Depths {
    /// Room for the corners of so many triangles.
    pub fn reserve(&mut self, triangles: usize) {
        let corners = 3 * triangles;
        super::make_room(&mut self.nodes, corners);
        super::make_room(&mut self.points, corners);
        super::make_room(&mut self.depths, corners);
        super::make_room(&mut self.sunk, corners);
    }

    fn depth(&self, node: u32) -> f64 {
        let place = self.nodes.binary_search_by_key(&node, |n| n.0);
        place.map_or(f64::NEG_INFINITY, |k| self.depths[k])
    }
}

/// A body where it is, and where it goes.
struct Course<'a> {
    grid: &'a Grid,
    pose: &'a Pose,
    /// Where it ends, if that is known.
    end: Option<Pose>,
    /// How far it turns until then, rad.
    turn: f64,
    /// What is nearer than this touches in any case, m.
    skin: f64,
}

/// A triangle, and where its corners go (world, m).
struct Face {
    corners: [DVec3; 3],
    ways: [DVec3; 3],
}

impl Face {
    fn weighed(of: &[DVec3; 3], weights: DVec3) -> DVec3 {
        of[0] * weights.x + of[1] * weights.y + of[2] * weights.z
    }

    /// The longest edge of a part, m: its length, and from which corner of the part it goes to the next.
    fn longest(&self, part: &Part) -> (f64, usize) {
        let at = part.map(|w| Self::weighed(&self.corners, w));
        let lengths = [0, 1, 2].map(|k| at[k].distance(at[(k + 1) % 3]));
        let longer = |best, k| if lengths[k] > lengths[best] { k } else { best };
        let longest = (1..3).fold(0, longer);
        (lengths[longest], longest)
    }
}

impl Course<'_> {
    /// False if no place of a part of a triangle comes into the grid's box on its way, so that nothing is known of any.
    fn reaches(&self, face: &Face, part: &Part) -> bool {
        let at = part.map(|w| Face::weighed(&face.corners, w));
        let ways = part.map(|w| Face::weighed(&face.ways, w));
        let now = at.map(|p| self.pose.local(p));
        // All places go straight, or as far from there as the body's turn takes a corner, so that they stay between those of the corners.
        let then = self
            .end
            .map(|end| [0, 1, 2].map(|k| end.local(at[k] + ways[k])));
        let around = Bounds::of(now.into_iter().chain(then.into_iter().flatten()));
        let bends = [0, 1, 2].map(|k| self.bend(at[k], ways[k]));
        // Places of a part may be a rounding beside what is around its corners.
        let aside = bends[0].max(bends[1]).max(bends[2]) + 1e-6 * self.grid.cell();
        around.grown(aside).certain().overlaps(&self.grid.bounds())
    }

    /// How far from a straight line, m, a point that is now at `p` and goes `way` (world, m) may come on its way as the body sees it.
    ///
    /// Seen from a frame that turns by `turn` at a constant rate while the point goes straight by u in it, the point is accelerated by at most turn²·|p| + 2·turn·|u|; and what is
    /// accelerated by at most a is never farther than a/8 from the line between its ends.
    fn bend(&self, p: DVec3, way: DVec3) -> f64 {
        let Some(end) = self.end.filter(|_| self.turn > 0.0) else {
            return 0.0;
        };
        let (from, to) = (p - self.pose.position, p + way - end.position);
        let far = from.length().max(to.length());
        0.125 * self.turn * (self.turn * far + 2.0 * from.distance(to))
    }

    /// How a point that is now at `p` and goes `way` (world, m) comes into the body, if it does: after which part of its way, the way out there, and the place of the surface as it
    /// is now. A body that turns sees it come along an arc, of which nothing is left out: it is cut into chords, and what comes as near to the body as the arc may be from its chord is taken to come in.
    fn meets(&self, p: DVec3, way: DVec3) -> Option<(f64, DVec3, DVec3)> {
        let end = self.end?;
        let (from, to) = (self.pose.local(p), end.local(p + way));
        let bend = self.bend(p, way);
        let far = from.distance(to) + bend;
        if !far.is_finite() {
            // Nobody can tell: it may meet at once.
            return Some((0.0, self.pose.rotation * way_out(DVec3::ZERO, from), p));
        }
        // What goes less far than the skin is thick is met within it.
        if far <= self.skin {
            return None;
        }
        let at = |time: f64| {
            let pose = self.pose.interpolate(&end, time);
            pose.local(p + way * time)
        };
        let mut open = [((0.0, from), (1.0, to)); ARCS];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let ((start, from), (stop, to)) = open[count];
            let aside = bend * (stop - start) * (stop - start);
            let around = Bounds::of([from, to]).grown(aside);
            if !around.certain().overlaps(&self.grid.bounds()) {
                continue;
            }
            if aside > BEND * self.grid.cell() && count + 2 <= ARCS {
                let middle = 0.5 * (start + stop);
                let between = (middle, at(middle));
                // What comes first has its turn first.
                open[count] = (between, (stop, to));
                open[count + 1] = ((start, from), between);
                count += 2;
                continue;
            }
            let aside = aside.min(BEND * self.grid.cell());
            if let Some(part) = self.grid.comes_near(from, to, aside) {
                let there = from.lerp(to, part);
                let depth = self.grid.at(there)?;
                let normal = self.pose.rotation * way_out(depth.normal, there);
                // A step of the way may end a little inside.
                let surface = self.pose.point(there) + normal * depth.depth;
                return Some((start + part * (stop - start), normal, surface));
            }
        }
        None
    }
}

/// The way out that a grid gives; where all ways are equally long, and it gives none, away from the body's origin, from where the point is at `place`.
fn way_out(normal: DVec3, place: DVec3) -> DVec3 {
    match normal == DVec3::ZERO {
        true => place.normalize_or(DVec3::Y),
        false => normal,
    }
}

impl Patch {
    /// The gathered pairs of `range`, all of them of probe `c`, a body with a grid at a pose.
    #[inline(never)]
    pub(super) fn touch_grid(
        &mut self,
        (c, range): (u32, Range<usize>),
        (grid, pose): (&Grid, &Pose),
        probe: &Probe,
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let (end, watch) = match probe.ahead {
            Some(Ahead {
                way: Way::Pose(end),
                watch,
            }) => (Some(end), watch),
            _ => (None, probe.margin),
        };
        let turn = end.map_or(0.0, |end| {
            let turn = end.rotation * pose.rotation.conjugate();
            rotation::to_scaled_axis(turn).length()
        });
        let course = Course {
            grid,
            pose,
            end,
            turn,
            skin: watch.min(grid.cell()),
        };
        let mut deep = std::mem::take(&mut self.deep);
        let placed = self.touch_nodes((c, range.clone()), &course, scene, &mut deep, out);
        for n in range.filter(|_| placed) {
            self.touch_between((c, n), &course, scene, &deep, out);
        }
        self.deep = deep;
    }

    /// Each node of the gathered triangles. False if the body is at no place.
    fn touch_nodes(
        &mut self,
        (c, range): (u32, Range<usize>),
        course: &Course<'_>,
        scene: &Scene<'_>,
        deep: &mut Depths,
        out: &mut Vec<Touch>,
    ) -> bool {
        let Depths {
            nodes,
            points,
            depths,
            sunk,
        } = deep;
        nodes.clear();
        for n in range {
            let corners = self.near_corners[n].into_iter();
            nodes.extend(corners.zip(0_u8..).map(|(node, k)| (node, n as u32, k)));
        }
        nodes.sort_unstable();
        nodes.dedup_by_key(|n| n.0);
        points.clear();
        points.extend(nodes.iter().map(|n| scene.positions[n.0 as usize]));
        depths.clear();
        depths.resize(nodes.len(), f64::NEG_INFINITY);
        // Triangles with a corner that is no number are not gathered, and a body at no place touches nothing.
        let asked = course
            .grid
            .detect(course.pose, points, course.skin, sunk)
            .is_ok();
        let mut add = |(node, n, k): (u32, u32, u8), normal, at| {
            let corners = self.near_corners[n as usize];
            let mut weights = [0.0; 3];
            weights[usize::from(k)] = 1.0;
            let touch = Touch {
                probe: c as usize,
                at,
                distance: 0.0,
                nodes: corners,
                weights,
                normal,
                key: (0, [node, u32::MAX, u32::MAX]),
            };
            if self.is_new(&touch) {
                out.push(touch);
            }
        };
        for Sunk { point, at } in sunk.iter() {
            let k = *point as usize;
            depths[k] = at.depth;
            let normal = way_out(at.normal, points[k] - course.pose.position);
            add(nodes[k], normal, points[k] + normal * at.depth);
        }
        if course.end.is_none() || !asked {
            return asked;
        }
        for (k, node) in nodes.iter().enumerate() {
            if depths[k] == f64::NEG_INFINITY
                && let Some((_, normal, at)) = course.meets(points[k], (scene.way)(node.0))
            {
                depths[k] = f64::MIN;
                add(*node, normal, at);
            }
        }
        true
    }

    /// Where a gathered triangle is deeper between its corners than there, or comes in between them (F42).
    fn touch_between(
        &mut self,
        (c, n): (u32, usize),
        course: &Course<'_>,
        scene: &Scene<'_>,
        deep: &Depths,
        out: &mut Vec<Touch>,
    ) {
        let nodes = self.near_corners[n];
        let mut face = Face {
            corners: nodes.map(|n| scene.positions[n as usize]),
            ways: [DVec3::ZERO; 3],
        };
        let cell = course.grid.cell();
        let places = |length: f64| trocar_math::real::ceil(length / cell);
        // Corners less than a cell apart see all that the grid shows.
        let whole = places(face.longest(&DVec3::AXES).0);
        if whole.is_nan() || whole < 2.0 {
            return;
        }
        if course.end.is_some() {
            face.ways = nodes.map(scene.way);
        }
        let known = nodes.map(|n| deep.depth(n));
        let deepest = known[0].max(known[1]).max(known[2]);
        let mut best: Option<([f64; 3], Depth, DVec3)> = None;
        let mut least = (deepest + DEEPER * cell).max(-course.skin);
        let mut first: Option<(f64, [f64; 3], DVec3, DVec3)> = None;
        // What is shorter can't be told from what rounding makes of it, and would be halved without end; so would be what is longer than numbers are.
        let far = face.corners.map(|p| p.abs().max_element());
        let blur = 16.0 * f64::EPSILON * far[0].max(far[1]).max(far[2]);
        let mut open: [Part; OPEN] = [[DVec3::ZERO; 3]; OPEN];
        open[0] = DVec3::AXES;
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let part = open[count];
            let (length, edge) = face.longest(&part);
            let places = places(length);
            if places > f64::from(MOST_PLACES) && length > blur && length.is_finite() {
                if !course.reaches(&face, &part) {
                    continue;
                }
                // Of what is so large that there is no room to halve it no place can be told.
                if count + 2 <= OPEN {
                    let [a, b] = halves(&part, edge);
                    // The half at the first corner has its turn first.
                    (open[count], open[count + 1]) = (b, a);
                    count += 2;
                    continue;
                }
            }
            let places = places.clamp(1.0, f64::from(MOST_PLACES)) as u32;
            for i in 0..=places {
                for j in 0..=places - i {
                    let shares = [i, j, places - i - j].map(|n| f64::from(n) / f64::from(places));
                    let weights = Face::weighed(&part, DVec3::from(shares));
                    // Corners have been asked.
                    if weights.max_element() == 1.0 {
                        continue;
                    }
                    let p = Face::weighed(&face.corners, weights);
                    let local = course.pose.local(p);
                    match course.grid.at(local) {
                        Some(at) if at.depth > least => {
                            least = at.depth;
                            best = Some((weights.to_array(), at, local));
                        }
                        Some(at) if at.depth >= -course.skin => {}
                        // If a corner comes in, too, that is enough: it is judged anew from there. Else the place that is the first to: rims come later.
                        _ if deepest == f64::NEG_INFINITY && best.is_none() => {
                            let met = course.meets(p, Face::weighed(&face.ways, weights));
                            if let Some((time, normal, at)) = met
                                && first.is_none_or(|first| time < first.0)
                            {
                                first = Some((time, weights.to_array(), normal, at));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        let found = match (best, first) {
            (Some((weights, at, local)), _) => {
                let normal = course.pose.rotation * way_out(at.normal, local);
                let place = course.pose.point(local) + normal * at.depth;
                Some((weights, normal, place))
            }
            (None, first) => first.map(|(_, weights, normal, at)| (weights, normal, at)),
        };
        if let Some((weights, normal, at)) = found {
            let touch = Touch {
                probe: c as usize,
                at,
                distance: 0.0,
                nodes,
                weights,
                normal,
                key: (BETWEEN, bearing(nodes, weights)),
            };
            if self.is_new(&touch) {
                out.push(touch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hull;
    use super::*;
    use glam::{DQuat, Vec3Swizzles};
    use proptest::prelude::*;
    use std::{cell::Cell, sync::Arc};

    /// A plate 20 mm wide and 2 mm thick about the origin, with cells of 1 mm.
    fn plate() -> Arc<Grid> {
        Arc::new(block(DVec3::new(0.01, 0.001, 0.01), 0.001))
    }

    /// A block about the origin.
    fn block(half: DVec3, cell: f64) -> Grid {
        let points: Vec<DVec3> = (0..8)
            .map(|k| {
                half * DVec3::from([0, 1, 2].map(|a| if k >> a & 1 == 1 { 1.0 } else { -1.0 }))
            })
            .collect();
        Grid::new(&points, &FACES.map(triangles_of).concat(), cell).unwrap()
    }

    /// Of a block whose corners are numbered by the bits of x, y and z.
    const FACES: [[u32; 4]; 6] = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];

    fn triangles_of([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
        [[a, b, c], [a, c, d]]
    }

    fn touches(grid: &Arc<Grid>, positions: &[DVec3], end: Pose, way: DVec3) -> Vec<Touch> {
        let mut patch = Patch::new(vec![[0, 1, 2]], 3).unwrap();
        let probe = Probe {
            hull: Hull::Grid(grid.clone(), Pose::IDENTITY),
            margin: 0.2,
            ahead: Some(Ahead {
                way: Way::Pose(end),
                watch: 0.001,
            }),
        };
        let probes = [probe];
        patch.gather(&probes, positions, f64::INFINITY);
        let mut out = Vec::new();
        patch.touches(&probes, positions, &|_| way, &mut out);
        out
    }

    fn triangle(size: f64, height: f64) -> [DVec3; 3] {
        [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, z]| DVec3::new(x * size, height, z * size))
    }

    #[test]
    fn nodes_in_a_plate_are_told_how_deep_they_are_and_which_way_is_out() {
        let grid = plate();
        for (height, up) in [(0.0007, 1.0), (-0.0007, -1.0), (0.0012, 1.0)] {
            let place = triangle(0.003, height);
            let found = touches(&grid, &place, Pose::IDENTITY, DVec3::ZERO);
            assert_eq!(found.len(), 3, "{found:?}");
            for touch in found {
                assert!((touch.normal - DVec3::Y * up).length() < 1e-3, "{touch:?}");
                let surface = DVec3::new(0.0, up * 0.001, 0.0);
                assert!((touch.at.y - surface.y).abs() < 1e-6, "{touch:?}");
                assert_eq!(touch.key.0, 0);
            }
        }
        let far = touches(&grid, &triangle(0.003, 0.0025), Pose::IDENTITY, DVec3::ZERO);
        assert_eq!(far, []);
    }

    #[test]
    fn a_triangle_larger_than_the_plate_is_met_between_its_corners() {
        let grid = plate();
        let found = touches(&grid, &triangle(0.05, 0.0009), Pose::IDENTITY, DVec3::ZERO);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].key, (BETWEEN, [0, 1, 2]));
        assert!((found[0].normal - DVec3::Y).length() < 1e-3, "{found:?}");
    }

    /// A post of half a millimetre and triangles of 12 mm, eighty cells: between places sixteen to an edge it would go through unseen, as it stands and as it flies.
    #[test]
    fn what_is_small_beside_a_triangle_is_met_wherever_it_is() {
        let half = DVec3::new(0.00025, 0.004, 0.00025);
        let grid = Arc::new(block(half, 0.00015));
        let still = Pose::IDENTITY;
        for k in 0..60 {
            // Its corners lie apart from the post; the place of the post in it is another each time.
            let shift = |s: f64| 0.002 * trocar_math::real::sin(s * f64::from(k) + s);
            let aside = DVec3::new(shift(1.7), 0.0, shift(2.9) + 0.002);
            let at = |height: f64| triangle(0.006, height).map(|p| p + aside);
            let found = touches(&grid, &at(0.0037), still, DVec3::ZERO);
            assert_eq!(found.len(), 1, "{k}");
            assert_eq!(found[0].key.0, BETWEEN, "{k}");
            let place = found[0].at;
            assert!(place.x.abs() < 0.0004 && place.z.abs() < 0.0004, "{place}");
            // From above to below its foot in one go.
            let flown = touches(&grid, &at(0.006), still, DVec3::Y * -0.012);
            assert_eq!(flown.len(), 1, "{k}");
            assert!(flown[0].normal.y > 0.7, "{:?}", flown[0]);
            assert!((flown[0].at.y - half.y).abs() < 1e-4, "{:?}", flown[0]);
            // Beside it there is nothing.
            assert_eq!(touches(&grid, &at(0.0045), still, DVec3::ZERO), []);
        }
        // Nor does it cost more than it may, however large the triangle is.
        for size in [1.0, 1e6, 1e15, 1e155, 1e200] {
            let found = touches(&grid, &triangle(size, 0.0037), still, DVec3::ZERO);
            assert!(found.len() == 1 || size > 1e9, "{size}");
        }
        // Nor so far away that its corners have only few places to be at.
        for far in [1e12, 1e14, 1e20] {
            let there = triangle(0.006, 0.0).map(|p| p + DVec3::splat(far));
            assert!(
                touches(&grid, &there, still, DVec3::splat(-far)).len() <= 1,
                "{far}"
            );
        }
    }

    #[test]
    fn what_goes_through_in_one_go_is_met_on_the_side_it_comes_from() {
        let grid = plate();
        let still = Pose::IDENTITY;
        let down = DVec3::Y * -0.1;
        for (size, key) in [(0.003, [0; 3]), (0.05, [1; 3])] {
            let place = triangle(size, 0.05);
            let body_comes = Pose::new(-down, DQuat::IDENTITY);
            for (end, way) in [(still, down), (body_comes, DVec3::ZERO)] {
                let found = touches(&grid, &place, end, way);
                assert!(!found.is_empty());
                for (touch, feature) in found.iter().zip(key) {
                    assert_eq!(touch.key.0, feature);
                    assert!(touch.normal.y > 0.99, "{touch:?}");
                    assert!((touch.at.y - 0.001).abs() < 1e-4, "{touch:?}");
                }
            }
            // What goes elsewhere, or not so far, meets nothing.
            for way in [-down, down * 0.4, DVec3::X * 0.1] {
                assert_eq!(touches(&grid, &place, still, way), []);
            }
        }
    }

    /// A plate at the end of an arm that is swung round by up to half a turn in one go: what it passes is met, although on the straight way between where it is seen first and last there may be nothing.
    #[test]
    fn a_body_that_turns_fast_passes_nothing_unseen() {
        let aside = DVec3::new(0.1, 0.0, 0.0);
        let points = (0..8).map(|k| {
            let corner = [0, 1, 2].map(|a| if k >> a & 1 == 1 { 1.0 } else { -1.0 });
            aside + DVec3::new(0.003, 0.002, 0.01) * DVec3::from(corner)
        });
        let points: Vec<DVec3> = points.collect();
        let grid = Arc::new(Grid::new(&points, &FACES.map(triangles_of).concat(), 0.001).unwrap());
        let (missed, met) = (Cell::new(0), Cell::new(0));
        let given = (
            prop::array::uniform3(-1.0..1.0_f64),
            prop::array::uniform3(-1.0..1.0_f64),
            prop::array::uniform3(-1.0..1.0_f64),
            (
                0.0..1.0_f64,
                prop::array::uniform3(-1.0..1.0_f64),
                0.0..3.1_f64,
            ),
            prop::sample::select(vec![0.0004, 0.01, 0.03]),
        );
        type Vector = [f64; 3];
        type Given = (Vector, Vector, Vector, (f64, Vector, f64), f64);
        let judge = |(start, turn, way, (when, off, angle), size): Given| {
            let pose = Pose::new(
                DVec3::from(way) * 0.02,
                rotation::from_scaled_axis(start.into()),
            );
            let axis = DVec3::from(turn).normalize_or(DVec3::Y) * angle;
            let end = Pose::new(
                DVec3::from(way).yzx() * 0.02,
                rotation::from_scaled_axis(axis) * pose.rotation,
            );
            let way = DVec3::from(way).zxy() * 0.03;
            // About where it is some time on its way.
            let centre = pose.interpolate(&end, when);
            let centre = centre.point(aside + DVec3::from(off) * 0.015) - way * when;
            let spread = [[1.0, 0.0, 0.0], [-0.5, 0.9, 0.1], [-0.4, -0.8, 0.3]];
            let corners = spread.map(|d| centre + DVec3::from(d) * size);
            let mut patch = Patch::new(vec![[0, 1, 2]], 3).unwrap();
            let probes = [Probe {
                hull: Hull::Grid(grid.clone(), pose),
                margin: 1.0,
                ahead: Some(Ahead {
                    way: Way::Pose(end),
                    watch: 1e-4,
                }),
            }];
            patch.gather(&probes, &corners, f64::INFINITY);
            let mut out = Vec::new();
            patch.touches(&probes, &corners, &|_| way, &mut out);
            let depth = |p: DVec3, time: f64| {
                let local = pose.interpolate(&end, time).local(p + way * time);
                grid.at(local).map_or(f64::NEG_INFINITY, |at| at.depth)
            };
            for (k, p) in corners.iter().enumerate() {
                if !(0..=1000).any(|n| depth(*p, f64::from(n) / 1000.0) >= 0.0) {
                    continue;
                }
                let of_corner = |t: &Touch| t.weights[k] == 1.0;
                prop_assert!(out.iter().any(of_corner), "corner {}", k);
                met.set(met.get() + 1);
                let straight = grid.enters(pose.local(*p), end.local(*p + way));
                missed.set(missed.get() + i32::from(straight.is_none()));
            }
            // Well inside between the corners.
            let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
            if (0..=300).any(|n| depth(middle, f64::from(n) / 300.0) >= 0.0012) {
                prop_assert!(!out.is_empty(), "middle");
            }
            for touch in &out {
                prop_assert!(touch.at.is_finite() && (touch.normal.length() - 1.0).abs() < 1e-6);
            }
            Ok(())
        };
        let config = ProptestConfig::with_cases(1500);
        let mut runner = proptest::test_runner::TestRunner::new(config);
        runner.run(&given, judge).unwrap();
        // Not for nothing: the straight way passes by many of them.
        assert!(
            met.get() > 200 && missed.get() > 100,
            "{} {}",
            met.get(),
            missed.get()
        );
    }

    #[test]
    fn what_goes_nobody_knows_where_may_meet() {
        let place = triangle(0.003, 0.05);
        for way in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(f64::MAX)] {
            let found = touches(&plate(), &place, Pose::IDENTITY, way);
            assert!(!found.is_empty() && found.iter().all(|t| t.at.is_finite()));
        }
    }

    #[test]
    fn a_way_enters_a_plate_where_geometry_says() {
        let grid = plate();
        let along = |from: [f64; 3], to: [f64; 3]| grid.enters(from.into(), to.into());
        let hit = along([0.0, 0.101, 0.0], [0.0, -0.099, 0.0]).unwrap();
        assert!((hit - 0.5).abs() < 1e-3, "{hit}");
        let slant = along([-0.1, 0.101, 0.0], [0.1, -0.099, 0.0]).unwrap();
        assert!((slant - 0.5).abs() < 1e-3, "{slant}");
        assert_eq!(along([0.0; 3], [0.0, 1.0, 0.0]), Some(0.0));
        assert_eq!(along([0.0; 3], [0.0; 3]), Some(0.0));
        assert_eq!(along([0.0, 0.003, 0.0], [0.0, 0.003, 0.0]), None);
        assert_eq!(along([-1.0, 0.003, 0.0], [1.0, 0.003, 0.0]), None);
        assert_eq!(along([f64::NAN, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
        assert_eq!(along([0.0, 0.1, 0.0], [0.0, f64::INFINITY, 0.0]), None);
    }
}
