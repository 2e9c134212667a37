//! Cutting along a surface: what scissors do (W80, M22). Nothing is taken away; edges that cross the surface are split there, and the way between
//! the points is opened.

use super::Membrane;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use trocar_dynamics::Nodes;
use trocar_math::orient3d;
use trocar_mesh::sheet::{EdgeId, Edit, Kind, NodeId, Refusal, TriangleId};

/// A crossing nearer to the end of its edge than this part of it is moved to that end: slivers would cost substeps. In the tissue
/// a tenth of an edge.
const SNAP: f64 = 0.1;

/// An edge between two points of the cut belongs to it if its middle is no farther from the surface than the points may be, and this part of its
/// length: a surface of several strips is not even.
const OFF: f64 = 1e-2;

impl Membrane {
    /// Cuts the sheet where the triangles of `surface` (corners in m) go through it; how many edges were opened. [`Membrane::event`] then says what became of
    /// the sheet; it covers as much at rest as before. A cut may begin and end anywhere, follow a rim or cross an older cut. One that lies within a
    /// single triangle is too small to be made.
    pub fn cut(&mut self, nodes: &mut Nodes, surface: &[[DVec3; 3]]) -> Result<usize, Refusal> {
        self.event.clear();
        let Self { sheet, event, .. } = self;
        let places = nodes.position.clone();
        let opened = sheet.edit(event, |edit| Blade { surface, places }.cut(edit))?;
        if !self.event.is_empty() {
            self.follow(nodes);
        }
        Ok(opened)
    }
}

/// Nodes on the way of a cut, and how far from it they may be, m: those that were there and are taken for a crossing nearby.
type Way = BTreeMap<NodeId, f64>;

/// A cut at work.
struct Blade<'a> {
    surface: &'a [[DVec3; 3]],
    /// Where all nodes are, by place, those that the cut makes included.
    places: Vec<DVec3>,
}

impl Blade<'_> {
    fn at(&self, node: NodeId) -> DVec3 {
        self.places[node.slot()]
    }

    fn put(&mut self, node: NodeId, place: DVec3) {
        if self.places.len() <= node.slot() {
            self.places.resize(node.slot() + 1, DVec3::ZERO);
        }
        self.places[node.slot()] = place;
    }

    fn cut(mut self, edit: &mut Edit<'_>) -> Result<usize, Refusal> {
        let mut on_way = BTreeMap::new();
        self.mark_ends(edit, &mut on_way);
        self.mark_crossings(edit, &mut on_way);
        let mut way = self.way(edit, &on_way);
        drop_shortcuts(edit, &mut way);
        open_all(edit, way)
    }

    /// Whether a triangle may meet the surface: by boxes.
    fn is_near(&self, corners: &[DVec3]) -> bool {
        let bounds = |points: &[DVec3]| {
            let (first, rest) = (points[0], &points[1..]);
            rest.iter()
                .fold((first, first), |(low, high), p| (low.min(*p), high.max(*p)))
        };
        let (low, high) = bounds(corners);
        self.surface.iter().any(|part| {
            let (least, most) = bounds(part);
            least.cmple(high).all() && most.cmpge(low).all()
        })
    }

    /// Nodes where the border of the surface goes through a triangle: there the cut begins or ends.
    fn mark_ends(&mut self, edit: &mut Edit<'_>, on_way: &mut Way) {
        let borders = borders(self.surface);
        let mut triangles: Vec<TriangleId> = edit.sheet().triangles().collect();
        let mut next = 0;
        while let Some(triangle) = triangles.get(next).copied() {
            next += 1;
            if !edit.sheet().has_triangle(triangle) {
                continue;
            }
            let names = edit.sheet().corners(triangle);
            let corners = names.map(|n| self.at(n));
            if !self.is_near(&corners) {
                continue;
            }
            let end = borders.iter().find_map(|[p, q]| {
                let along = crossing(*p, *q, corners)?;
                Some(p.lerp(*q, along))
            });
            let Some(end) = end else {
                continue;
            };
            let before = edit.sheet().triangle_count();
            if let Some(node) = self.mark_end(edit, triangle, end) {
                on_way.insert(node, self.at(node).distance(end));
                // What lies across an older cut was split, too, and this border may go through either half.
                if edit.sheet().triangle_count() > before {
                    let twins = edit.sheet().siblings(node);
                    triangles.extend(twins.flat_map(|n| edit.sheet().triangles_around(n)));
                }
            }
        }
    }

    /// The node at which the cut ends in a triangle: at a corner, on a side or inside, whichever is near.
    fn mark_end(
        &mut self,
        edit: &mut Edit<'_>,
        triangle: TriangleId,
        end: DVec3,
    ) -> Option<NodeId> {
        let names = edit.sheet().corners(triangle);
        let corners = names.map(|n| self.at(n));
        let weights = weights(end, corners);
        if weights.iter().all(|w| *w >= SNAP)
            && let Ok(node) = edit.subdivide(triangle, weights)
        {
            self.put(node, end);
            return Some(node);
        }
        let order = |w: &[f64; 3], most: bool| {
            let by = |x: &usize, y: &usize| w[*x].total_cmp(&w[*y]);
            if most {
                (0..3).max_by(by)
            } else {
                (0..3).min_by(by)
            }
        };
        let (least, most) = (order(&weights, false)?, order(&weights, true)?);
        let (a, b) = ((least + 1) % 3, (least + 2) % 3);
        let part = weights[b] / (weights[a] + weights[b]);
        if (SNAP..=1.0 - SNAP).contains(&part) {
            let side = edit.sheet().edge_between(names[a], names[b]).ok()?;
            let from_a = edit.sheet().ends(side)[0] == names[a];
            let split = edit.split_edge(side, if from_a { part } else { 1.0 - part });
            if let Ok(node) = split {
                self.put(node, corners[a].lerp(corners[b], part));
                self.put_twins(edit, node);
                return Some(node);
            }
        }
        Some(names[most])
    }

    /// Nodes where edges cross the surface.
    fn mark_crossings(&mut self, edit: &mut Edit<'_>, on_way: &mut Way) {
        let mut edges: Vec<EdgeId> = edit.sheet().edges().collect();
        let mut next = 0;
        while let Some(edge) = edges.get(next).copied() {
            next += 1;
            // A rim that faces another is split along with it.
            if !edit.sheet().has_edge(edge) {
                continue;
            }
            let ends = edit.sheet().ends(edge);
            let [p, q] = ends.map(|n| self.at(n));
            let marked = ends.map(|n| on_way.contains_key(&n));
            if marked == [true; 2] || !self.is_near(&[p, q]) {
                continue;
            }
            let Some(part) = self.surface.iter().find_map(|s| crossing(p, q, *s)) else {
                continue;
            };
            // An end that is on the way already stands for the half of the edge that is next to it.
            if marked[usize::from(part > 0.5)] {
                continue;
            }
            if (SNAP..=1.0 - SNAP).contains(&part)
                && let Ok(node) = edit.split_edge(edge, part)
            {
                let place = p.lerp(q, part);
                self.put(node, place);
                on_way.insert(node, 0.0);
                self.put_twins(edit, node);
                // Where an older cut stands open, the blade meets its two rims at different parts: it may go through the other half of the one
                // across, which has come only now, and through the edge that divides the triangle there.
                let twins = edit.sheet().siblings(node);
                edges.extend(twins.flat_map(|n| edit.sheet().edges_around(n).map(|(e, _)| e)));
                continue;
            }
            let nearer = if part < 0.5 { ends[0] } else { ends[1] };
            on_way.insert(nearer, part.min(1.0 - part) * p.distance(q));
        }
    }

    /// Puts what a split made on the rim across an older cut, which may stand open, where it belongs. It is on this cut only if that goes
    /// through it, too.
    fn put_twins(&mut self, edit: &Edit<'_>, node: NodeId) {
        for twin in edit.sheet().siblings(node) {
            self.put(twin, self.between(edit, twin));
        }
    }

    /// Where a node is that a split made on the rim across: on the line between its neighbours along that rim, as at rest.
    fn between(&self, edit: &Edit<'_>, node: NodeId) -> DVec3 {
        let sheet = edit.sheet();
        let Some([a, b]) = sheet.rim_neighbours(node) else {
            return DVec3::ZERO;
        };
        let (from, to) = (sheet.rest(a), sheet.rest(b));
        let along = to - from;
        let part = (sheet.rest(node) - from).dot(along) / along.length_squared();
        self.at(a).lerp(self.at(b), part)
    }

    /// The edges that lie on the way.
    fn way(&self, edit: &Edit<'_>, on_way: &Way) -> Vec<EdgeId> {
        let sheet = edit.sheet();
        let mut way = BTreeSet::new();
        for (node, slack) in on_way {
            for (edge, other) in sheet.edges_around(*node) {
                let Some(other_slack) = on_way.get(&other).filter(|_| !sheet.is_rim(edge)) else {
                    continue;
                };
                let (p, q) = (self.at(*node), self.at(other));
                let middle = p.lerp(q, 0.5);
                let off = slack.max(*other_slack) + OFF * p.distance(q);
                if self.surface.iter().any(|s| distance(middle, *s) <= off) {
                    way.insert(edge);
                }
            }
        }
        way.into_iter().collect()
    }
}

/// Segments at the border of a surface: sides that only one of its triangles has.
fn borders(surface: &[[DVec3; 3]]) -> Vec<[DVec3; 2]> {
    let sides = || {
        surface
            .iter()
            .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
    };
    sides()
        .filter(|[p, q]| {
            let same = |[r, s]: &[DVec3; 2]| (p == r && q == s) || (p == s && q == r);
            sides().filter(same).count() == 1
        })
        .collect()
}

/// Where on the way from `p` to `q`, 0 to 1, it goes through a triangle. Signs are exact, so that nothing slips through between two triangles that share a side.
fn crossing(p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    let (from, to) = (orient3d(a, b, c, p), orient3d(a, b, c, q));
    if from == to || from * to > 0 {
        return None;
    }
    let turns = [
        orient3d(p, q, a, b),
        orient3d(p, q, b, c),
        orient3d(p, q, c, a),
    ];
    if turns.contains(&1) && turns.contains(&-1) {
        return None;
    }
    let normal = (b - a).cross(c - a);
    let (above, below) = (normal.dot(p - a), normal.dot(q - a));
    let along = above / (above - below);
    along.is_finite().then(|| along.clamp(0.0, 1.0))
}

/// Barycentric weights of a point in the plane of a triangle.
fn weights(point: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let share = |u: DVec3, v: DVec3| (u - point).cross(v - point).dot(normal);
    let parts = [share(b, c), share(c, a), share(a, b)];
    let sum: f64 = parts.iter().sum();
    parts.map(|p| p / sum)
}

/// Distance of a point from a triangle, m; infinite beside it.
fn distance(point: DVec3, corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let inside = weights(point, corners).iter().all(|w| *w >= -1e-6);
    if inside && normal != DVec3::ZERO {
        (point - a).dot(normal).abs()
    } else {
        f64::INFINITY
    }
}

/// Where all three sides of a triangle lie on the way, the longest is left out: it would fall out of the sheet.
fn drop_shortcuts(edit: &Edit<'_>, way: &mut Vec<EdgeId>) {
    let sheet = edit.sheet();
    let mut dropped = BTreeSet::new();
    for edge in way.iter() {
        let (one, two) = sheet.beside(*edge);
        for triangle in [Some(one), two].into_iter().flatten() {
            let sides = sheet.sides(triangle);
            if sides.iter().all(|s| way.contains(s)) {
                let longest = sides
                    .into_iter()
                    .max_by(|x, y| sheet.rest_length(*x).total_cmp(&sheet.rest_length(*y)));
                dropped.extend(longest);
            }
        }
    }
    way.retain(|edge| !dropped.contains(edge));
}

/// Opens edges, those at rims first: whatever is opened has a rim for the next.
fn open_all(edit: &mut Edit<'_>, mut way: Vec<EdgeId>) -> Result<usize, Refusal> {
    let mut opened = 0;
    while !way.is_empty() {
        let sheet = edit.sheet();
        way.retain(|e| sheet.has_edge(*e) && !sheet.is_rim(*e));
        let at_rim = |e: &EdgeId| {
            let on_rim = |n: &NodeId| sheet.kind(*n) != Some(Kind::Inner);
            sheet.ends(*e).iter().any(on_rim)
        };
        if let Some(k) = way.iter().position(at_rim) {
            edit.open(way.swap_remove(k))?;
            opened += 1;
            continue;
        }
        let Some(first) = way.first().copied() else {
            break;
        };
        // All inside: two edges at a node, or the only one there is.
        let ends = edit.sheet().ends(first);
        let pair = ends.into_iter().find_map(|node| {
            let touches = |e: &&EdgeId| **e != first && edit.sheet().ends(**e).contains(&node);
            way.iter().find(touches).map(|other| (node, *other))
        });
        match pair {
            Some((node, other)) => {
                edit.split_node(node, [first, other])?;
                way.retain(|e| *e != first && *e != other);
                opened += 2;
            }
            None => {
                edit.open(first)?;
                way.retain(|e| *e != first);
                opened += 1;
            }
        }
    }
    Ok(opened)
}
