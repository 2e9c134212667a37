//! Ties, and the points they join.

use super::{Item, Model, check::Checker, items, membrane::list_triangles, pose};
use crate::{
    file::{AnchorSpec, NodeName},
    load::{Scene, SceneError},
};
use glam::DVec3;
use std::borrow::Cow;
use trocar_collide::on_triangle;
use trocar_dynamics::{Anchor, Local, MatterId, Nodes, Tie};

impl Model {
    pub(super) fn add_ties(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.tie)
        {
            let check = Checker {
                source,
                table: "tie",
                index,
            };
            let a = self.anchor(&check, "a", &item.a)?;
            let b = self.anchor(&check, "b", &item.b)?;
            if a == b {
                return Err(check.error(
                    &["b".into()],
                    "both ends are the same point",
                    "Name two different points.",
                ));
            }
            if a.matter == MatterId::WORLD && b.matter == MatterId::WORLD {
                return Err(check.error(
                    &["b".into()],
                    "both ends are fixed in the world",
                    "Tie something that moves.",
                ));
            }
            self.ties.push(match item.length {
                None => Tie::point(a, b),
                Some(length) => {
                    check.size(length, "length")?;
                    Tie::distance(a, b, length)
                }
            });
        }
        Ok(())
    }

    fn anchor(
        &self,
        check: &Checker<'_>,
        key: &'static str,
        spec: &AnchorSpec,
    ) -> Result<Anchor, SceneError> {
        self.anchor_at(check, key, spec, None)
    }

    /// The point a file names. On a body without `at` it is the point of the world `place` at the start, if there is one.
    pub(super) fn anchor_at(
        &self,
        check: &Checker<'_>,
        key: &'static str,
        spec: &AnchorSpec,
        place: Option<[f64; 3]>,
    ) -> Result<Anchor, SceneError> {
        let wrong = |problem: String, remedy: &str| check.error(&[key.into()], problem, remedy);
        let unknown = |kind: &str, name: &str| {
            wrong(
                format!("there is no {kind} called \"{name}\""),
                "Check the name.",
            )
        };
        let named = [
            spec.world.is_some(),
            spec.body.is_some(),
            spec.particle.is_some(),
            spec.tissue.is_some(),
        ];
        if named == [false; 4]
            && let Some(place) = place
        {
            return Ok(Anchor::world(place.into()));
        }
        if named.iter().filter(|x| **x).count() != 1 {
            return Err(wrong(
                "a point is on one thing".into(),
                "Give exactly one of `world`, `body`, `particle`, `tissue`.",
            ));
        }
        if let Some(point) = spec.world {
            check.points(&[point], key)?;
            return Ok(Anchor::world(point.into()));
        }
        let bodies = self.bodies.unwrap_or(MatterId::WORLD);
        if let Some(name) = &spec.body {
            // A particle may have the name.
            let look = self
                .by_name
                .get(name)
                .and_then(|i| self.looks.get(*i))
                .filter(|look| look.name == *name)
                .ok_or_else(|| unknown("body", name))?;
            let (matter, node) = look.at;
            let own = pose(&self.start[matter.index()], node as usize);
            let at = match (spec.at, place) {
                (None, Some(place)) => own.local(place.into()),
                (at, _) => {
                    let at = at.unwrap_or_default();
                    check.points(&[at], key)?;
                    look.frame.local(at.into())
                }
            };
            return Ok(Anchor::frame(matter, node, at));
        }
        if let Some(name) = &spec.particle {
            let node = *self
                .by_name
                .get(name)
                .filter(|i| self.particles.get(**i).is_some_and(|p| p == name))
                .ok_or_else(|| unknown("particle", name))?;
            let frames = self.start[bodies.index()].frames();
            return Ok(Anchor::node(bodies, (frames + node) as u32));
        }
        let name = spec.tissue.as_deref().unwrap_or_default();
        let tissue = self
            .tissues
            .iter()
            .find(|t| t.name == name)
            .ok_or_else(|| unknown("tissue", name))?;
        let start = self.at_start(tissue.matter);
        let start = &*start;
        match (spec.node, spec.at.or(place)) {
            (Some(NodeName::Central(c)), _) if spec.at.is_none() => {
                let frame = match tissue.centres.get(c.centre as usize) {
                    Some(frame) => Some(*frame),
                    None => {
                        (tissue.centres.is_empty() && c.centre < tissue.first).then_some(c.centre)
                    }
                };
                let frame = frame.ok_or_else(|| {
                    let problem = format!("{name} has no central node {}", c.centre);
                    wrong(problem, &format!("It has {} of them.", tissue.first))
                })?;
                Ok(Anchor::frame(tissue.matter, frame, DVec3::ZERO))
            }
            (Some(NodeName::Surface(node)), _) if spec.at.is_none() => {
                let index = tissue.first as usize + node as usize;
                if index >= start.len() {
                    let most = start.len() - 1 - tissue.first as usize;
                    return Err(wrong(
                        format!("{name} has no node {node}"),
                        &format!("Its surface nodes are 0 to {most}."),
                    ));
                }
                Ok(Anchor::node(tissue.matter, index as u32))
            }
            (None, Some(at)) => {
                check.points(&[at], key)?;
                let film = self.films.iter().find(|f| f.matter == tissue.matter);
                let mut whole = Vec::new();
                let triangles = match film {
                    None => &tissue.triangles,
                    Some(film) => {
                        list_triangles(film.whole.sheet(), &mut whole);
                        &whole
                    }
                };
                Ok(Anchor {
                    matter: tissue.matter,
                    at: nearest(triangles, tissue.first, start, at.into()),
                })
            }
            _ => Err(wrong(
                "a point on a tissue is a node or a place".into(),
                "Give either `node` or `at`.",
            )),
        }
    }
}

impl Model {
    /// Where a matter's nodes are at the start; of a membrane as the scene has it, whatever became of it.
    pub(super) fn at_start(&self, matter: MatterId) -> Cow<'_, Nodes> {
        match self.films.iter().find(|f| f.matter == matter) {
            Some(film) => Cow::Owned(film.whole.rest()),
            None => Cow::Borrowed(&self.start[matter.index()]),
        }
    }
}

fn nearest(triangles: &[[u32; 3]], first: u32, start: &Nodes, point: DVec3) -> Local {
    let mut best = (f64::INFINITY, Local::Node(first));
    for t in triangles {
        let corners = t.map(|n| start.position[n as usize]);
        let weights = on_triangle(point, corners);
        let distance = trocar_collide::closest::point(corners, weights).distance_squared(point);
        if distance < best.0 {
            best = (distance, Local::Triangle(*t, weights));
        }
    }
    best.1
}
