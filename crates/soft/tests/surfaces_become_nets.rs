//! Closed meshes become nets whose masses, fathers and springs follow from the shape alone (K28, K29): against what a cube and a sphere are known to weigh.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::MATERIAL;
use glam::DVec3;
use std::collections::BTreeSet;
use trocar_mesh::{Surface, primitive::TubeShape};
use trocar_soft::{
    Net, NetParts,
    surface::{self, Build, MeshError, Weight},
};

/// A cube with an edge of `edge` m, each side cut into n × n squares and these along one diagonal.
fn cube(edge: f64, n: usize) -> Surface {
    let mut positions: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    let mut index = |p: DVec3| -> u32 {
        let found = positions.iter().position(|q| q.distance(p) < 1e-9 * edge);
        found.unwrap_or_else(|| {
            positions.push(p);
            positions.len() - 1
        }) as u32
    };
    let step = edge / n as f64;
    for axis in 0..3 {
        for side in [0.0, 1.0] {
            let place = |u: usize, v: usize| {
                let mut p = [0.0; 3];
                p[axis] = side * edge;
                p[(axis + 1) % 3] = u as f64 * step;
                p[(axis + 2) % 3] = v as f64 * step;
                DVec3::from(p)
            };
            for u in 0..n {
                for v in 0..n {
                    let [a, b, c, d] = [(u, v), (u + 1, v), (u + 1, v + 1), (u, v + 1)]
                        .map(|(u, v)| index(place(u, v)));
                    let mut both = [[a, b, c], [a, c, d]];
                    if side == 0.0 {
                        both.iter_mut().for_each(|t| t.swap(1, 2));
                    }
                    triangles.extend(both);
                }
            }
        }
    }
    Surface {
        positions,
        triangles,
    }
}

/// A sphere of `radius` m: a cube's nodes put at that distance from its middle.
fn sphere(radius: f64, n: usize) -> Surface {
    let mut surface = cube(2.0, n);
    for p in &mut surface.positions {
        *p = (*p - DVec3::ONE).normalize() * radius;
    }
    surface
}

const BUILD: Build = Build {
    weight: Weight::Material,
    centres: 1,
    cross_links: false,
};

fn made(surface: &Surface, build: &Build) -> NetParts {
    surface::net(surface, build, &MATERIAL).unwrap()
}

fn mass(parts: &NetParts) -> [f64; 2] {
    let frames = parts.frames.len();
    let sum = |nodes: &[trocar_dynamics::MassNode]| nodes.iter().map(|n| n.mass).sum::<f64>();
    [sum(&parts.nodes[..frames]), sum(&parts.nodes[frames..])]
}

#[test]
fn a_density_is_shared_half_and_half() {
    let (density, edge) = (1050.0, 0.04);
    for centres in [1, 4] {
        let build = Build {
            weight: Weight::Volume(density),
            centres,
            ..BUILD
        };
        let parts = made(&cube(edge, 4), &build);
        let whole = density * edge * edge * edge;
        let [inside, outside] = mass(&parts);
        assert!((inside / (0.5 * whole) - 1.0).abs() < 1e-12, "{inside}");
        assert!((outside / (0.5 * whole) - 1.0).abs() < 1e-12, "{outside}");
        // Of several central nodes each has the same part of it, the one that carries the others, too.
        let frames = parts.frames.len();
        assert_eq!(frames, if centres == 1 { 1 } else { centres + 1 });
        for node in &parts.nodes[..frames] {
            assert!((node.mass * frames as f64 / (0.5 * whole) - 1.0).abs() < 1e-12);
        }
        Net::new(parts).unwrap();
    }
    // A sphere of enough facets weighs what the formula says, within what they cut off.
    let radius = 0.03;
    let build = Build {
        weight: Weight::Volume(density),
        ..BUILD
    };
    let [inside, outside] = mass(&made(&sphere(radius, 24), &build));
    let ball = density * 4.0 / 3.0 * std::f64::consts::PI * (radius * radius * radius);
    let missing = 1.0 - (inside + outside) / ball;
    assert!((0.0..0.01).contains(&missing), "{missing}");
}

#[test]
fn inertia_grows_with_the_mass_it_belongs_to() {
    let of = |density: f64| {
        let build = Build {
            weight: Weight::Volume(density),
            ..BUILD
        };
        made(&cube(0.04, 4), &build).nodes[0]
    };
    let (light, heavy) = (of(500.0), of(1500.0));
    let inertia = |node: trocar_dynamics::MassNode| node.rigid.unwrap().inertia.unwrap();
    assert!((inertia(heavy) / inertia(light)).distance(DVec3::splat(3.0)) < 1e-12);
    // Of a box around the cube: m (a² + a²)/3 with half the edge.
    let wanted = heavy.mass * 2.0 * 0.02 * 0.02 / 3.0;
    assert!(inertia(heavy).distance(DVec3::splat(wanted)) < 1e-12 * wanted.max(1.0));
}

#[test]
fn a_surface_density_is_shared_by_the_area_around_each_node() {
    let (density, edge, n) = (0.8, 0.05, 5);
    let surface = cube(edge, n);
    let build = Build {
        weight: Weight::Area(density),
        ..BUILD
    };
    let parts = made(&surface, &build);
    let [inside, outside] = mass(&parts);
    assert!((outside / (density * 6.0 * edge * edge) - 1.0).abs() < 1e-12);
    assert!(
        (inside - MATERIAL.centre_mass).abs() < 1e-15,
        "as the material says"
    );
    // In the middle of a side a node has a third of six triangles: one square. None has less than half of the mean.
    let square = (edge / n as f64) * (edge / n as f64);
    let count = surface.positions.len() as f64;
    let mean = 6.0 * edge * edge / count;
    let mut shares = vec![0.0; surface.positions.len()];
    for t in &surface.triangles {
        t.iter()
            .for_each(|v| shares[*v as usize] += square * 0.5 / 3.0);
    }
    let floored: Vec<f64> = shares.iter().map(|s| f64::max(*s, 0.5 * mean)).collect();
    let scale = shares.iter().sum::<f64>() / floored.iter().sum::<f64>();
    let first = parts.frames.len();
    for (node, share) in parts.nodes[first..].iter().zip(&floored) {
        assert!((node.mass / (density * share * scale) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_sliver_does_not_make_a_node_light() {
    // A node drawn near its neighbour has hardly any area around it.
    let mut surface = cube(0.04, 4);
    let [a, b, _] = surface.triangles[10];
    let near = surface.positions[b as usize];
    surface.positions[a as usize] = surface.positions[a as usize].lerp(near, 0.97);
    let build = Build {
        weight: Weight::Area(1.0),
        ..BUILD
    };
    let parts = made(&surface, &build);
    let masses: Vec<f64> = parts.nodes[1..].iter().map(|n| n.mass).collect();
    let mean = masses.iter().sum::<f64>() / masses.len() as f64;
    let least = masses.iter().copied().fold(f64::MAX, f64::min);
    // Half of the mean, less what lifting takes from all.
    assert!(least > 0.4 * mean, "{least} of {mean}");
    assert!((masses.iter().sum::<f64>() / surface.area() - 1.0).abs() < 1e-12);
}

#[test]
fn springs_lie_along_edges_and_cross_links_across_them() {
    let surface = cube(0.04, 3);
    let edges: BTreeSet<[u32; 2]> = surface.edges().into_iter().collect();
    let plain = made(&surface, &BUILD);
    let pairs = |parts: &NetParts| -> BTreeSet<[u32; 2]> {
        let ends = parts.elements.iter().map(|e| e.nodes.map(|n| n - 1));
        ends.map(|[a, b]| [a.min(b), a.max(b)]).collect()
    };
    assert_eq!(pairs(&plain), edges);
    assert_eq!(plain.elements.len(), edges.len(), "each once");
    for e in &plain.elements {
        let [a, b] = e.nodes.map(|n| plain.points[n as usize - 1]);
        assert!((e.rest_length - a.distance(b)).abs() < 1e-15);
    }
    // Brute force: two triangles with a common edge have opposite corners.
    let crossed = made(
        &surface,
        &Build {
            cross_links: true,
            ..BUILD
        },
    );
    let mut wanted = edges.clone();
    for (i, s) in surface.triangles.iter().enumerate() {
        for t in &surface.triangles[..i] {
            let only = |a: &[u32; 3], b: &[u32; 3]| -> Vec<u32> {
                a.iter().copied().filter(|v| !b.contains(v)).collect()
            };
            if let ([a], [b]) = (&only(s, t)[..], &only(t, s)[..]) {
                wanted.insert([*a.min(b), *a.max(b)]);
            }
        }
    }
    assert_eq!(pairs(&crossed), wanted);
    assert_eq!(crossed.elements.len(), wanted.len());
    // A closed surface has 3/2 edges for each triangle, and as many pairs across them.
    assert_eq!(edges.len(), surface.triangles.len() * 3 / 2);
}

#[test]
fn regions_belong_to_the_nearest_centre_and_hold_to_the_root() {
    let surface = sphere(0.05, 8);
    let centres = 5;
    let build = Build { centres, ..BUILD };
    let parts = made(&surface, &build);
    assert_eq!(parts.frames.len(), centres + 1);
    let first = centres + 1;
    for z in 1..=centres {
        assert_eq!(parts.nodes[z].father, Some(0), "regions belong to the root");
    }
    assert_eq!(parts.nodes[0].father, None);
    let mut counts = vec![0; centres];
    for (i, p) in parts.points.iter().enumerate() {
        let father = parts.nodes[first + i].father.unwrap() as usize;
        let far = |z: usize| parts.frames[z].position.distance(*p);
        let nearest = (1..=centres).map(far).fold(f64::MAX, f64::min);
        // Lloyd's rounds have come to rest within a part of an edge.
        assert!(
            far(father) < nearest + 1e-3,
            "{i}: {} {nearest}",
            far(father)
        );
        counts[father - 1] += 1;
    }
    assert!(counts.iter().all(|n| *n > 10), "{counts:?}");
    // Regions hold to the root as strongly as their surface holds to them: by the sum of memories, and by half their moments.
    assert_eq!(parts.torsions.len(), centres);
    for (torsion, z) in parts.torsions.iter().zip(1..) {
        assert_eq!(torsion.frame as usize, z);
        let ours = |i: &usize| parts.nodes[first + *i].father == Some(z as u32);
        let ours: Vec<usize> = (0..parts.points.len()).filter(ours).collect();
        let holds = MATERIAL.memory * ours.len() as f64;
        assert!((parts.memory[z] - holds).abs() < 1e-12);
        let arms = ours
            .iter()
            .map(|i| parts.points[*i].distance_squared(parts.frames[z].position));
        let turns = 0.5 * MATERIAL.memory * arms.sum::<f64>();
        assert!((torsion.constant - turns.max(MATERIAL.torsion)).abs() < 1e-12);
    }
    // One alone has the torsion of its material, or none.
    assert_eq!(
        made(&surface, &BUILD).torsions[0].constant,
        MATERIAL.torsion
    );
    Net::new(parts).unwrap();
}

#[test]
fn what_is_no_closed_surface_is_refused_by_name() {
    let refused = |surface: &Surface, build: &Build| {
        surface::net(surface, build, &MATERIAL).expect_err("refused")
    };
    let mut open = cube(0.04, 3);
    open.triangles.pop();
    assert!(matches!(refused(&open, &BUILD), MeshError::Open(_)));
    // Two corners of a triangle in one place.
    let mut degenerate = cube(0.04, 3);
    let [a, b, _] = degenerate.triangles[7];
    degenerate.positions[a as usize] = degenerate.positions[b as usize];
    let found = degenerate.triangles.iter().position(|t| {
        let [a, b, c] = t.map(|v| degenerate.positions[v as usize]);
        (b - a).cross(c - a).length() == 0.0
    });
    assert_eq!(
        refused(&degenerate, &BUILD),
        MeshError::Degenerate(found.unwrap())
    );
    // All in one plane: two sides on top of each other.
    let mut flat = cube(0.04, 3);
    for p in &mut flat.positions {
        // Sheared so that no triangle loses its area.
        *p = DVec3::new(p.x + 0.31 * p.z, p.y + 0.17 * p.z, 0.0);
    }
    assert_eq!(refused(&flat, &BUILD), MeshError::Flat);
    for centres in [0, 1000] {
        assert!(matches!(
            refused(&cube(0.04, 3), &Build { centres, ..BUILD }),
            MeshError::Centres(..)
        ));
    }
    // An organ of the primitives is a closed mesh, too.
    let tube = TubeShape {
        path: vec![DVec3::ZERO, DVec3::X * 0.08],
        radii: vec![[0.03; 2]],
        up: DVec3::Y,
        rings: 6,
        around: 8,
    };
    assert!(surface::net(&tube.organ().unwrap().surface, &BUILD, &MATERIAL).is_ok());
}
