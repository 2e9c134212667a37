//! Tissues of their own nodes, neighbours and facets (K75), and tissues in the shape of closed meshes (K28).

use super::{
    Item,
    check::Checker,
    material::material,
    tissue::{Common, Draft},
};
use crate::{
    file::{CentreSpec, NetTissue, SurfaceTissue},
    load::{Key, Scene, SceneError},
};
use glam::{DQuat, DVec3};
use std::collections::BTreeSet;
use trocar_math::Pose;
use trocar_mesh::Surface;
use trocar_soft::{
    Material, NetParts, primitive,
    surface::{self, Build, Weight},
};

/// Most central nodes of a mesh.
const MOST_CENTRES: usize = 64;

/// Most nodes of a mesh.
const MOST_NODES: usize = 200_000;

impl<'a> Draft<'a> {
    /// A tissue of its own nodes.
    pub fn net_tissue(item: &Item<'a, NetTissue>) -> Result<Self, SceneError> {
        let spec = item.item;
        let check = Checker {
            source: item.source,
            table: "net",
            index: item.index,
        };
        check.share(&spec.colour, "colour")?;
        let material = material(&check, &spec.material)?;
        check.points(&spec.points, "points")?;
        let count = spec.points.len();
        let wrong = |key: &'static str, problem: String, remedy: &str| {
            check.error(&[key.into()], problem, remedy)
        };
        if count == 0 {
            return Err(wrong(
                "points",
                "there is no node".into(),
                "Give at least one point.",
            ));
        }
        for (key, list) in [
            ("fathers", spec.fathers.len()),
            ("texture", spec.texture.len()),
        ] {
            if list != 0 && list != count {
                return Err(wrong(
                    key,
                    format!("there are {list} entries for {count} points"),
                    "Give none, or one for each point.",
                ));
            }
        }
        let known = |list: &[u32]| list.iter().all(|n| (*n as usize) < count);
        if !spec.facets.iter().all(|f| known(f)) {
            return Err(wrong(
                "facets",
                "a facet names a point there is not".into(),
                "Points are counted from 0.",
            ));
        }
        let points: Vec<DVec3> = spec.points.iter().map(|p| DVec3::from(*p)).collect();
        if let Some(i) = without_area(&points, &spec.facets) {
            return Err(wrong(
                "facets",
                format!("facet {i} has no area"),
                "Move one of its points.",
            ));
        }
        let springs: Vec<[u32; 2]> = match &spec.springs {
            Some(springs) => springs.clone(),
            None => {
                let edges = spec
                    .facets
                    .iter()
                    .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
                let edges: BTreeSet<[u32; 2]> = edges.map(|[a, b]| [a.min(b), a.max(b)]).collect();
                edges.into_iter().collect()
            }
        };
        if !springs.iter().all(|s| known(s) && s[0] != s[1]) {
            return Err(wrong(
                "springs",
                "a spring joins two different points".into(),
                "Points are counted from 0.",
            ));
        }
        let order = in_order(&check, &spec.centres)?;
        let parts = Explicit {
            spec,
            material: &material,
            points: &points,
            springs: &springs,
            order: &order,
        }
        .parts(&check)?;
        let mut draft = Self::of(
            check,
            parts,
            Common {
                name: &spec.name,
                position: spec.position,
                rotation: spec.rotation,
                material: &spec.material,
                fixed: &spec.fixed,
                colour: spec.colour,
                look: spec.look,
            },
            material,
        )?;
        let given = spec.centres.iter().zip(&order);
        let given = given.filter(|(centre, _)| centre.inertia.is_some());
        draft.turning = given.map(|(_, z)| *z).collect();
        draft.centres = order;
        draft.texture = spec.texture.clone();
        Ok(draft)
    }

    /// A tissue in the shape of a closed mesh.
    pub fn surface(scene: &Scene, item: &Item<'a, SurfaceTissue>) -> Result<Self, SceneError> {
        let spec = item.item;
        let check = Checker {
            source: item.source,
            table: "surface",
            index: item.index,
        };
        check.share(&spec.colour, "colour")?;
        check.positive(spec.scale, "scale")?;
        let material = material(&check, &spec.material)?;
        if !(1..=MOST_CENTRES).contains(&spec.centres) {
            return Err(check.error(
                &["centres".into()],
                format!("{} central nodes are out of range", spec.centres),
                format!("Choose between 1 and {MOST_CENTRES}."),
            ));
        }
        if !(4..=MOST_NODES).contains(&spec.most_nodes) {
            return Err(check.error(
                &["most_nodes".into()],
                format!("{} nodes are out of range", spec.most_nodes),
                format!("Choose between 4 and {MOST_NODES}."),
            ));
        }
        let weight = match (spec.surface_density, spec.density) {
            (None, None) => Weight::Material,
            (Some(d), None) => {
                check.positive(d, "surface_density")?;
                Weight::Area(d)
            }
            (None, Some(d)) => {
                check.positive(d, "density")?;
                Weight::Volume(d)
            }
            (Some(_), Some(_)) => {
                return Err(check.error(
                    &["density".into()],
                    "it can't have a surface density and a density",
                    "Give one of them.",
                ));
            }
        };
        let mesh = scene.mesh(item.source, &spec.mesh).ok_or_else(|| {
            check.error(&["mesh".into()], "the mesh was not read", "Check its name.")
        })?;
        let mut mesh: Surface = mesh.clone();
        mesh.positions.iter_mut().for_each(|p| *p *= spec.scale);
        let far = mesh
            .positions
            .iter()
            .any(|p| p.abs().max_element() > item.source.reach);
        if far {
            return Err(check.error(
                &["scale".into()],
                "the mesh reaches farther than the world",
                "A mesh in millimetres has the scale 0.001.",
            ));
        }
        if mesh.positions.len() > spec.most_nodes {
            mesh = mesh.coarsened(spec.most_nodes);
        }
        let build = Build {
            weight,
            centres: spec.centres,
            cross_links: spec.cross_links,
        };
        let parts = surface::net(&mesh, &build, &material).map_err(|e| {
            check.error(
                &["mesh".into()],
                e.to_string(),
                "Close its holes in a mesh editor, or use it as scenery.",
            )
        })?;
        Self::of(
            check,
            parts,
            Common {
                name: &spec.name,
                position: spec.position,
                rotation: spec.rotation,
                material: &spec.material,
                fixed: &spec.fixed,
                colour: spec.colour,
                look: spec.look,
            },
            material,
        )
    }
}

/// The first facet that has no area, if there is one.
pub(super) fn without_area(points: &[DVec3], facets: &[[u32; 3]]) -> Option<usize> {
    // Judged by the size of the whole, as meshes are: a net of a millimetre has facets of a millionth of a square metre.
    let least = 1e-12 * size(points) * size(points);
    facets.iter().position(|facet| {
        let [a, b, c] = facet.map(|n| points[n as usize]);
        0.5 * (b - a).cross(c - a).length() < least
    })
}

/// The diagonal of the box around some points, m.
fn size(points: &[DVec3]) -> f64 {
    let low = points.iter().copied().reduce(DVec3::min);
    let high = points.iter().copied().reduce(DVec3::max);
    low.zip(high).map_or(0.0, |(low, high)| low.distance(high))
}

/// The place of each central node among the frames: fathers before children. Fathers in a cycle are refused by name.
fn in_order(check: &Checker<'_>, centres: &[CentreSpec]) -> Result<Vec<usize>, SceneError> {
    let called = |i: usize| centres[i].name.clone().unwrap_or_else(|| i.to_string());
    let father = |i: usize| -> Result<Option<usize>, SceneError> {
        let Some(name) = &centres[i].father else {
            return Ok(None);
        };
        let found = (0..centres.len()).find(|k| called(*k) == *name);
        found.map(Some).ok_or_else(|| {
            check.error(
                &["centres".into(), Key::Index(i), "father".into()],
                format!("there is no central node called \"{name}\""),
                "Use the name or the number of one of them.",
            )
        })
    };
    let mut order = vec![usize::MAX; centres.len()];
    let mut next = 0;
    for start in 0..centres.len() {
        let mut way = Vec::new();
        let mut at = Some(start);
        while let Some(i) = at.filter(|i| order[*i] == usize::MAX) {
            if let Some(begin) = way.iter().position(|k| *k == i) {
                let names: Vec<String> = way[begin..]
                    .iter()
                    .chain([&i])
                    .map(|k| called(*k))
                    .collect();
                return Err(check.error(
                    &["centres".into(), Key::Index(i), "father".into()],
                    format!("fathers carry each other in a cycle: {}", names.join(" → ")),
                    "One of them must have no father.",
                ));
            }
            way.push(i);
            at = father(i)?;
        }
        for i in way.into_iter().rev() {
            order[i] = next;
            next += 1;
        }
    }
    Ok(order)
}

struct Explicit<'a> {
    spec: &'a NetTissue,
    material: &'a Material,
    points: &'a [DVec3],
    springs: &'a [[u32; 2]],
    order: &'a [usize],
}

impl Explicit<'_> {
    fn parts(&self, check: &Checker<'_>) -> Result<NetParts, SceneError> {
        let centres = &self.spec.centres;
        let mut fathers = Vec::with_capacity(self.points.len());
        for (i, f) in self.spec.fathers.iter().enumerate() {
            fathers.push(match usize::try_from(*f) {
                Err(_) if *f == -1 => None,
                Ok(f) if f < centres.len() => Some(f),
                _ => {
                    return Err(check.error(
                        &["fathers".into()],
                        format!("point {i} names central node {f}, which there is not"),
                        "They are counted from 0; −1 is none.",
                    ));
                }
            });
        }
        fathers.resize(self.points.len(), None);
        let called = |i: usize| centres[i].name.clone().unwrap_or_else(|| i.to_string());
        let mut frames = Vec::new();
        for i in self.turns() {
            let spec = &centres[i];
            check.points(&[spec.position], "centres")?;
            let pose = Pose::new(spec.position.into(), DQuat::IDENTITY);
            let own = self
                .points
                .iter()
                .zip(&fathers)
                .filter(|p| *p.1 == Some(i))
                .map(|p| *p.0);
            let carried = centres
                .iter()
                .filter(|c| c.father.as_ref() == Some(&called(i)));
            let children = own.chain(carried.map(|c| DVec3::from(c.position)));
            let mut node = self.material.frame(&pose, children);
            if let Some(mass) = spec.mass {
                check.mass(mass, &["centres".into(), Key::Index(i)])?;
                if let Some(inertia) = node.rigid.as_mut().and_then(|r| r.inertia.as_mut()) {
                    *inertia *= mass / node.mass;
                }
                node.mass = mass;
            }
            if let Some(rigid) = &mut node.rigid {
                rigid.inertia = match spec.inertia {
                    Some(inertia) => Some(inertia.into()),
                    // One that carries nothing has nothing to be measured by: it does not turn.
                    None => rigid.inertia.filter(|j| j.min_element() > 0.0),
                };
            }
            let father = spec.father.as_ref();
            let father = father.and_then(|name| (0..centres.len()).find(|k| called(*k) == *name));
            node.father = father.map(|f| self.order[f] as u32);
            frames.push((pose, node));
        }
        let carried = |v: u32| fathers[v as usize].map(|f| self.order[f] as u32);
        let mut parts = primitive::explicit(frames, self.points, carried, self.material);
        for (i, spec) in centres.iter().enumerate() {
            parts.memory[self.order[i]] = spec.memory;
        }
        let first = centres.len() as u32;
        for [a, b] in self.springs {
            let length = self.points[*a as usize].distance(self.points[*b as usize]);
            parts
                .elements
                .push(self.material.spring([first + a, first + b], length));
        }
        parts.triangles = self
            .spec
            .facets
            .iter()
            .map(|f| f.map(|v| first + v))
            .collect();
        Ok(parts)
    }

    /// Central nodes in the order of the frames.
    fn turns(&self) -> Vec<usize> {
        let mut turns: Vec<usize> = (0..self.order.len()).collect();
        turns.sort_by_key(|i| self.order[*i]);
        turns
    }
}
