//! Any closed triangle mesh as a surface net (K28, K29), with masses, fathers and elements made from its shape.

use crate::{
    net::{NetParts, Torsion},
    primitive::Material,
};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;
use thiserror::Error;
use trocar_dynamics::MassNode;
use trocar_math::Pose;
use trocar_mesh::Surface;

/// How heavy a surface net is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// Every surface node as the material says, and every central one.
    Material,
    /// So many kg for every square metre; the central nodes as the material says.
    Area(f64),
    /// So many kg for every cubic metre, half of it on the surface, half in the central nodes: to equal parts, the one that several belong to among
    /// them. (Its inertia is that of the whole box, so that it resists the turning of all.)
    Volume(f64),
}

/// How a mesh becomes a net.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Build {
    /// How heavy it is.
    pub weight: Weight,
    /// Central nodes: each is the father of the nodes nearest to it; more than one belong to one in the middle.
    pub centres: usize,
    /// Springs across every edge, too, from one opposite corner to the other.
    pub cross_links: bool,
}

/// Why a mesh can't become a net.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MeshError {
    /// It has a rim, a branch or a twist.
    #[error("the mesh is not a closed, manifold surface: {0}")]
    Open(String),
    /// It has no inside.
    #[error("the mesh encloses no volume")]
    Flat,
    /// A triangle has no area.
    #[error("triangle {0} of the mesh has no area")]
    Degenerate(usize),
    /// There are more central nodes than the surface can carry.
    #[error("{0} central nodes are more than a mesh of {1} nodes can have")]
    Centres(usize, usize),
}

/// No node gets less than this part of the mean mass of a node.
const LEAST_SHARE: f64 = 0.5;

/// Makes a net of a closed mesh.
pub fn net(surface: &Surface, build: &Build, material: &Material) -> Result<NetParts, MeshError> {
    let topology = surface.topology();
    if !(topology.is_closed() && topology.is_manifold() && topology.is_oriented()) {
        return Err(MeshError::Open(topology.to_string()));
    }
    let size = surface.bounds().map_or(0.0, |b| b.diagonal());
    let mut shares = vec![0.0; surface.positions.len()];
    for (t, corners) in surface.triangles.iter().enumerate() {
        let [a, b, c] = corners.map(|v| surface.positions[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        if area < 1e-12 * size * size {
            return Err(MeshError::Degenerate(t));
        }
        corners
            .iter()
            .for_each(|v| shares[*v as usize] += area / 3.0);
    }
    // A node at a sliver would be so light that the whole net paid for it with short substeps.
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let floored: Vec<f64> = shares.iter().map(|s| s.max(LEAST_SHARE * mean)).collect();
    let scale = shares.iter().sum::<f64>() / floored.iter().sum::<f64>();
    let shares: Vec<f64> = floored.iter().map(|s| s * scale).collect();
    let volume = surface.volume().abs();
    if volume < 1e-9 * size * size * size {
        return Err(MeshError::Flat);
    }
    let count = surface.positions.len();
    if build.centres == 0 || 4 * build.centres > count {
        return Err(MeshError::Centres(build.centres, count));
    }
    let (frames, region) = fathers(surface, build, material);
    let first = frames.len() as u32;
    let carried = frames.len().min(2) as u32 - 1;
    let mut parts = material.parts(
        frames.into_iter().map(|f| (f.0, f.1)).collect(),
        &surface.positions,
        |v| Some(region[v as usize] + carried),
    );
    weigh(&mut parts, build.weight, &shares, volume);
    let springs = springs(surface, build.cross_links);
    parts.elements = springs
        .into_iter()
        .map(|[a, b]| {
            let length = surface.positions[a as usize].distance(surface.positions[b as usize]);
            material.spring([first + a, first + b], length)
        })
        .collect();
    parts.triangles = surface
        .triangles
        .iter()
        .map(|t| t.map(|v| first + v))
        .collect();
    hold_regions(&mut parts, material);
    Ok(parts)
}

/// Central nodes, the one that all belong to first if there are several; and for each surface node its region.
fn fathers(
    surface: &Surface,
    build: &Build,
    material: &Material,
) -> (Vec<(Pose, MassNode)>, Vec<u32>) {
    let points = &surface.positions;
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let region = clusters(points, build.centres);
    let pose = |at: DVec3| Pose::new(at, DQuat::IDENTITY);
    let mut frames = Vec::new();
    if build.centres > 1 {
        let centre = pose(middle);
        frames.push((centre, material.frame(&centre, points.iter().copied())));
    }
    for k in 0..build.centres as u32 {
        let ours = || {
            points
                .iter()
                .zip(&region)
                .filter(|p| *p.1 == k)
                .map(|p| *p.0)
        };
        let at = match build.centres {
            1 => middle,
            _ => ours().sum::<DVec3>() / ours().count().max(1) as f64,
        };
        let centre = pose(at);
        let mut node = material.frame(&centre, ours());
        if build.centres > 1 {
            node.father = Some(0);
        }
        frames.push((centre, node));
    }
    (frames, region)
}

/// Which of `count` regions each point belongs to: points far from each other first, then Lloyd's rounds.
fn clusters(points: &[DVec3], count: usize) -> Vec<u32> {
    let mut centres = vec![points[0]];
    while centres.len() < count {
        let far = |p: &DVec3| {
            let near = centres.iter().map(|c| c.distance_squared(*p));
            near.fold(f64::INFINITY, f64::min)
        };
        let next = points.iter().max_by(|a, b| far(a).total_cmp(&far(b)));
        centres.extend(next.copied());
    }
    let nearest = |centres: &[DVec3], p: &DVec3| {
        let by = |a: &usize, b: &usize| {
            let d = |k: &usize| centres[*k].distance_squared(*p);
            d(a).total_cmp(&d(b))
        };
        (0..centres.len()).min_by(by).unwrap_or(0)
    };
    for _ in 0..12 {
        let mut sums = vec![(DVec3::ZERO, 0.0); count];
        for p in points {
            let k = nearest(&centres, p);
            sums[k].0 += *p;
            sums[k].1 += 1.0;
        }
        for (centre, (sum, n)) in centres.iter_mut().zip(&sums) {
            if *n > 0.0 {
                *centre = *sum / *n;
            }
        }
    }
    points.iter().map(|p| nearest(&centres, p) as u32).collect()
}

fn weigh(parts: &mut NetParts, weight: Weight, shares: &[f64], volume: f64) {
    let frames = parts.frames.len();
    let area: f64 = shares.iter().sum();
    let (density, centres) = match weight {
        Weight::Material => return,
        Weight::Area(density) => (density, None),
        Weight::Volume(density) => {
            let half = 0.5 * density * volume;
            (half / area, Some(half / frames as f64))
        }
    };
    for (node, share) in parts.nodes[frames..].iter_mut().zip(shares) {
        node.mass = density * share;
    }
    for node in &mut parts.nodes[..frames] {
        let Some(mass) = centres else { break };
        let scale = mass / node.mass;
        node.mass = mass;
        if let Some(inertia) = node.rigid.as_mut().and_then(|r| r.inertia.as_mut()) {
            *inertia *= scale;
        }
    }
}

/// The edges, and pairs of corners that lie opposite each other across an edge; each pair once, in ascending order.
fn springs(surface: &Surface, cross_links: bool) -> Vec<[u32; 2]> {
    let mut opposite: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for t in &surface.triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            let edge = [a.min(b), a.max(b)];
            opposite.entry(edge).or_default().push(t[(k + 2) % 3]);
        }
    }
    let mut pairs: Vec<[u32; 2]> = opposite.keys().copied().collect();
    if cross_links {
        let across = opposite.values().filter_map(|c| match c[..] {
            [a, b] if a != b => Some([a.min(b), a.max(b)]),
            _ => None,
        });
        pairs.extend(across);
        pairs.sort_unstable();
        pairs.dedup();
    }
    pairs
}

/// Regions hold to the node they belong to as strongly as their surface holds to them.
fn hold_regions(parts: &mut NetParts, material: &Material) {
    let frames = parts.frames.len();
    let turned = |constant: f64, frame: usize| Torsion {
        frame: frame as u32,
        constant,
    };
    if frames == 1 {
        if material.torsion > 0.0 {
            parts.torsions.push(turned(material.torsion, 0));
        }
        return;
    }
    for z in 1..frames {
        let ours = (frames..parts.nodes.len()).filter(|i| parts.nodes[*i].father == Some(z as u32));
        let (mut holds, mut turns) = (0.0, 0.0);
        for i in ours {
            let arm = parts.points[i - frames].distance(parts.frames[z].position);
            holds += parts.memory[i];
            turns += 0.5 * parts.memory[i] * arm * arm;
        }
        parts.memory[z] = holds;
        parts.torsions.push(turned(turns.max(material.torsion), z));
    }
}
