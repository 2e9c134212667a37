//! Distance grids: Wienss' scene (324 elements against a body of 8064 grid points), finer ones, and what they are held against.

use super::meshes::sphere;
use crate::measure::{Effort, Summary, interleave, time};
use crate::row::Row;
use anyhow::{Context, Result};
use glam::DVec3;
use std::hint::black_box;
use trocar_collide::{
    closest,
    grid::{Grid, Tree},
};
use trocar_math::{Bounds, Pose, real};

/// A body with a waist, concave like the source's bishop: a surface of revolution about y, 0.1 m high.
fn bishop() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (rings, around) = (40_u32, 40_u32);
    let mut points = vec![DVec3::ZERO];
    for i in 1..rings {
        let x = f64::from(i) / f64::from(rings);
        let waist = 0.55 + 0.45 * real::cos(2.0 * std::f64::consts::TAU * x);
        let radius = 0.03 * (x * (1.0 - x) * 4.0).sqrt() * waist + 0.002;
        for k in 0..around {
            let (s, c) = real::sin_cos(f64::from(k) / f64::from(around) * std::f64::consts::TAU);
            points.push(DVec3::new(radius * c, 0.1 * x, radius * s));
        }
    }
    let top = points.len() as u32;
    points.push(DVec3::Y * 0.1);
    let mut triangles = Vec::new();
    let at = |i: u32, k: u32| 1 + (i - 1) * around + k % around;
    for k in 0..around {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([top, at(rings - 1, k + 1), at(rings - 1, k)]);
        for i in 1..rings - 1 {
            triangles.push([at(i, k), at(i + 1, k), at(i + 1, k + 1)]);
            triangles.push([at(i, k), at(i + 1, k + 1), at(i, k + 1)]);
        }
    }
    (points, triangles)
}

/// Voxmap and point shell (F8): voxels are free, surface or interior; a point in a surface voxel is as deep as it lies below the plane
/// of the triangle nearest to the voxel's middle. The source gives each point of the shell its inward normal and adds up a force along it; that is left out here, as it costs as much with any
/// way of finding out how deep a point is: depths are what is compared, in time and in error.
struct Voxmap {
    low: DVec3,
    cell: f64,
    size: [usize; 3],
    voxels: Vec<u8>,
    planes: Vec<(DVec3, DVec3)>,
}

impl Voxmap {
    fn new(points: &[DVec3], triangles: &[[u32; 3]], cell: f64) -> Self {
        let corners: Vec<[DVec3; 3]> = triangles
            .iter()
            .map(|t| t.map(|n| points[n as usize]))
            .collect();
        let tree = Tree::new(&corners);
        let bounds = Bounds::of(points.iter().copied()).grown(cell);
        let size = (bounds.size() / cell).to_array().map(|x| x as usize + 1);
        let (mut voxels, mut planes) = (Vec::new(), Vec::new());
        for k in 0..size[0] * size[1] * size[2] {
            let place = [k / (size[1] * size[2]), k / size[2] % size[1], k % size[2]];
            let middle = bounds.low + (DVec3::from(place.map(|n| n as f64)) + 0.5) * cell;
            let Some(nearest) = tree.nearest(middle) else {
                continue;
            };
            let [a, b, c] = corners[nearest.triangle as usize];
            planes.push((nearest.point, (b - a).cross(c - a).normalize_or_zero()));
            let surface = nearest.distance_squared.sqrt() < 0.87 * cell;
            let inside = tree.winding(middle) > 0.5;
            voxels.push(if surface { 1 } else { 2 * u8::from(inside) });
        }
        Self {
            low: bounds.low,
            cell,
            size,
            voxels,
            planes,
        }
    }

    fn depth(&self, p: DVec3) -> Option<f64> {
        let q = (p - self.low) / self.cell;
        let [x, y, z] = q.to_array().map(|x| x as usize);
        if q.min_element() < 0.0 || x >= self.size[0] || y >= self.size[1] || z >= self.size[2] {
            return None;
        }
        let k = (x * self.size[1] + y) * self.size[2] + z;
        match self.voxels[k] {
            0 => None,
            1 => {
                let (point, normal) = self.planes[k];
                Some((point - p).dot(normal))
            }
            // Inside, it only knows that it is.
            _ => Some(self.cell),
        }
    }
}

/// The source's own preparation (F23, F24): of all triangles the one whose centroid is nearest, as deep as that is far, and inside if it lies behind that
/// triangle's normal.
struct Centroids(Vec<(DVec3, DVec3)>);

impl Centroids {
    fn new(corners: &[[DVec3; 3]]) -> Self {
        let of = |[a, b, c]: &[DVec3; 3]| ((*a + *b + *c) / 3.0, (*b - *a).cross(*c - *a));
        Self(corners.iter().map(of).collect())
    }

    /// m; below 0 outside.
    fn depth(&self, p: DVec3) -> f64 {
        let mut best = (f64::INFINITY, DVec3::ZERO, DVec3::ZERO);
        for (centre, normal) in &self.0 {
            let far = centre.distance_squared(p);
            if far < best.0 {
                best = (far, *centre, *normal);
            }
        }
        let (far, centre, normal) = best;
        far.sqrt()
            * if (p - centre).dot(normal) <= 0.0 {
                1.0
            } else {
                -1.0
            }
    }
}

/// How many frames the flexible body is seen in.
const FRAMES: usize = 8;

/// The flexible body: a ball with 324 nodes on its surface, pushed half into the other from the side where that is thick, so that some of its nodes are in the other, some in its box only and some
/// nowhere near. (The source says 324 elements; a body of so many tetrahedra has fewer nodes.) It is flattened by the other and waves, another way in each frame, m.
fn soft() -> Vec<Vec<DVec3>> {
    let (_, nodes) = sphere(23, 14);
    let frame = |k: usize| {
        let phase = k as f64 * 0.7;
        let place = |n: &DVec3| {
            let wave = real::sin(5.0 * n.y + phase) + real::sin(4.0 * n.z - phase);
            // Flat where it meets the other.
            let flat = DVec3::new(n.x.max(-0.7), n.y, n.z);
            DVec3::new(0.016, 0.017, 0.0) + flat * (0.014 + 0.0005 * wave)
        };
        nodes.iter().map(place).collect()
    };
    (0..FRAMES).map(frame).collect()
}

/// The benches of grids.
pub fn grid(effort: Effort) -> Result<Vec<Row>> {
    let (points, triangles) = bishop();
    let mut rows = Vec::new();
    let bounds = Bounds::of(points.iter().copied());
    let volume = bounds.size().x * bounds.size().y * bounds.size().z;
    let frames = soft();
    let corners: Vec<[DVec3; 3]> = triangles
        .iter()
        .map(|t| t.map(|n| points[n as usize]))
        .collect();
    // As many that lie within a millimetre of the surface, on either side: where contacts are, and the grid is never asked in vain.
    let skin: Vec<DVec3> = (0..324)
        .map(|k| {
            let [a, b, c] = corners[(k * 7919) % corners.len()];
            let out = (b - a).cross(c - a).normalize_or_zero();
            (a + b + c) / 3.0 + out * (1e-3 * real::sin(k as f64 * 12.9898))
        })
        .collect();
    let tree = Tree::new(&corners);
    let centroids = Centroids::new(&corners);
    let brute = |p: DVec3| {
        let all = corners
            .iter()
            .map(|t| closest::point(*t, closest::on_triangle(p, *t)).distance_squared(p));
        all.fold(f64::INFINITY, f64::min).sqrt()
    };
    for wanted in [8064_u32, 22_000, 1_000_000] {
        let cell = real::pow(volume / f64::from(wanted), 1.0 / 3.0);
        let case = format!("collide/grid {wanted} points");
        let mut made = None;
        let building = time(|| made = Some(Grid::new(&points, &triangles, cell)));
        let grid = made.context("a grid")??;
        let voxmap = Voxmap::new(&points, &triangles, cell);
        let mut out = Vec::new();
        let each = 1e9 / skin.len() as f64;
        let apart = Pose::new(DVec3::X * 3.0, glam::DQuat::IDENTITY);
        let repeats = 3 * FRAMES as u32;
        let shells = || frames.iter().cycle().take(repeats as usize);
        let mut batch = || {
            let took = time(|| {
                for shell in shells() {
                    let done = grid.detect(black_box(&Pose::IDENTITY), shell, 0.0, &mut out);
                    let _ = black_box((done, &out));
                }
            });
            took * each / f64::from(repeats)
        };
        let mut close = Vec::new();
        let mut beside = || {
            let took = time(|| {
                for _ in 0..repeats {
                    let done = grid.detect(black_box(&Pose::IDENTITY), &skin, 0.0, &mut close);
                    let _ = black_box((done, &close));
                }
            });
            took * each / f64::from(repeats)
        };
        let mut none = Vec::new();
        let mut away = || {
            let took = time(|| {
                let done = grid.detect(black_box(&apart), &frames[0], 0.0, &mut none);
                let _ = black_box((done, &none));
            });
            took * each
        };
        let mut voxels = || {
            let took = time(|| {
                for shell in shells() {
                    for p in shell {
                        black_box(voxmap.depth(black_box(*p)));
                    }
                }
            });
            took * each / f64::from(repeats)
        };
        let mut all = || {
            time(|| {
                for p in frames[0].iter().step_by(81) {
                    black_box(brute(black_box(*p)));
                }
            }) * 1e9
                / 4.0
        };
        let mut nearest = || {
            let took = time(|| {
                for p in frames[0].iter().step_by(21).take(15) {
                    black_box(centroids.depth(black_box(*p)));
                }
            });
            took * 1e9 / 15.0
        };
        let samples = interleave(
            &case,
            effort.repeats(300, 60),
            &mut [
                &mut batch,
                &mut away,
                &mut voxels,
                &mut all,
                &mut beside,
                &mut nearest,
            ],
        );
        let [batch, away, voxels, all, beside, nearest] =
            [0, 1, 2, 3, 4, 5].map(|k| Summary::of(samples[k].iter().copied()));
        rows.push(
            Row::new(&case, "query in a batch of 324", batch, "ns")
                .against("voxmap", voxels.median)
                .at_most(25.0),
        );
        rows.push(Row::new(&case, "query near the surface", beside, "ns").at_most(25.0));
        rows.push(Row::new(&case, "query, every triangle instead", all, "ns"));
        rows.push(Row::new(
            &case,
            "query, every centroid and its normal instead",
            nearest,
            "ns",
        ));
        rows.push(Row::new(&case, "query, boxes apart", away, "ns"));
        rows.push(Row::single(&case, "points kept", grid.len() as f64, ""));
        rows.push(Row::single(&case, "building", building * 1e3, "ms"));
        let (mut ours, mut theirs, mut wrong, mut wrong_theirs) = (Vec::new(), Vec::new(), 0, 0);
        let (mut by_centroids, mut wrong_centroids) = (Vec::new(), 0);
        let boxed = bounds.grown(cell);
        let nodes = || frames.iter().flatten();
        let in_box = nodes().filter(|p| Bounds::of([**p]).overlaps(&boxed));
        let in_box = in_box.count() as f64 / FRAMES as f64;
        for p in nodes() {
            let inside = tree.winding(*p) > 0.5;
            let truth = brute(*p);
            let at = grid.at(*p).filter(|at| at.depth >= 0.0);
            let voxel = voxmap.depth(*p).filter(|d| *d >= 0.0);
            wrong += usize::from(at.is_some() != inside);
            wrong_theirs += usize::from(voxel.is_some() != inside);
            let centroid = centroids.depth(*p);
            wrong_centroids += usize::from((centroid >= 0.0) != inside);
            if inside {
                ours.push((at.map_or(0.0, |at| at.depth) - truth).abs() / cell);
                theirs.push((voxel.unwrap_or(0.0) - truth).abs() / cell);
                by_centroids.push((centroid.max(0.0) - truth).abs() / cell);
            }
        }
        let in_body = ours.len() as f64 / FRAMES as f64;
        rows.push(Row::single(&case, "points in the box, of 324", in_box, ""));
        rows.push(Row::single(
            &case,
            "points in the body, of 324",
            in_body,
            "",
        ));
        let of_all = |count: usize| count as f64 / FRAMES as f64;
        let [ours, theirs, by_centroids] = [ours, theirs, by_centroids].map(Summary::of);
        rows.push(
            Row::new(&case, "error of the depth inside, in cells", ours, "")
                .against("voxmap", theirs.median),
        );
        rows.push(
            Row::single(&case, "points on the wrong side, of 324", of_all(wrong), "")
                .against("voxmap", of_all(wrong_theirs)),
        );
        // Those of the source's preparation have rows of their own, whatever the cells: it is asked at the very points.
        rows.push(Row::new(
            &case,
            "error of the depth inside by centroids, in cells",
            by_centroids,
            "",
        ));
        rows.push(Row::single(
            &case,
            "points on the wrong side by centroids, of 324",
            of_all(wrong_centroids),
            "",
        ));
    }
    Ok(rows)
}
