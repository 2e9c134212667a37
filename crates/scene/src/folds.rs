//! Tissues that touch themselves and each other (K106, W57): surfaces with a thickness stay apart.
//!
//! All tissues of a group that have a thickness are one surface to [`Folds`], so that it makes no difference whether a sheet lies on itself or on
//! another. Each has numbers of its own in it, with room to grow: a tear changes what it tears, and nothing else is counted anew until
//! a tissue has outgrown its room.

use crate::build::{Model, membrane::numbered};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_collide::{
    fold::{Ahead, Feature, Fold, Folds, Spot},
    torn::{self, Share, Torn},
    tree::{Change, Side, Tree},
};
use trocar_dynamics::{Anchor, Contact, Crew, Local, MatterId, Nodes};
use trocar_math::{Alone, Bounds};
use trocar_soft::membrane::Membrane;

/// Least number of places for the nodes, and for the triangles, of a tissue.
const LEAST_PLACES: usize = 64;

/// A look is given room for about so many substeps.
const LASTING: f64 = 16.0;

/// Its room is at most this part of the mean edge.
const MOST_ROOM: f64 = 0.25;

/// Share of an overlap that is undone in one substep.
const RECOVERY: f64 = 0.05;

/// How far surfaces yield at a point, m/N: a tenth of a millimetre under a fifth of a newton.
const GIVE: f64 = 5e-4;

/// What was nearer than this part of the thickness at rest stays free, of one tissue or of two that are tied together: edges of a cut, and where the one is grown to the other.
const LEAST_APART: f64 = 0.25;

/// What is farther away than this part of the thickness more, and does not come nearer, is let be.
const WATCH: f64 = 0.25;

/// In place of a probe in the name of a contact: none. What follows is the contact's own number.
pub const NO_PROBE: u32 = u32::MAX;

/// A tissue with a thickness.
#[derive(Clone, Copy, Debug)]
struct Member {
    matter: MatterId,
    share: Share,
    thickness: f64,
}

/// True if one of two tissues follows nodes of the other, or is tied to it.
fn are_coupled(model: &Model, a: MatterId, b: MatterId) -> bool {
    let are = |x: MatterId, y: MatterId| [x, y] == [a, b] || [y, x] == [a, b];
    let copies = model.hypers.iter().any(|h| are(h.master.0, h.slave.0));
    copies || model.ties.iter().any(|t| are(t.a.matter, t.b.matter))
}

/// The tissues of a group that touch themselves and each other.
pub struct Folding {
    members: Vec<Member>,
    tree: Tree,
    folds: Folds,
    /// Of all members, by number, m.
    positions: Vec<DVec3>,
    /// How far they go in the substep, m, if that is farther than triangles are large; else of some time before.
    ways: Vec<DVec3>,
    /// Where they were at the last look.
    looked: Vec<DVec3>,
    /// How far that reached, m; none yet if it is negative.
    reach: f64,
    /// The greatest thickness, m.
    thickness: f64,
    /// The mean length of edges, m, of all tissues as they were built: what is found depends on it, so that it must not depend on what has been torn, or may be touched, when
    /// it is measured.
    spacing: f64,
    changes: Vec<Change>,
    /// How far anything pushes tissue in the substep, m.
    pushed: f64,
    /// Pairs of members that are one tissue, or tied together, by their places: row by row.
    grown: Vec<bool>,
}

/// What is remembered of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldRecord {
    id: u64,
    a: [u32; 2],
    b: [u32; 3],
    triangles: [u32; 2],
    weights: [[f64; 3]; 2],
    normal: DVec3,
    distance: f64,
    side: i8,
}

impl FoldRecord {
    fn of(fold: &Fold) -> Self {
        Self {
            id: fold.id,
            a: fold.feature.a,
            b: fold.feature.b,
            triangles: fold.spots.map(|s| s.triangle),
            weights: fold.spots.map(|s| s.weights),
            normal: fold.normal,
            distance: fold.distance,
            side: fold.side,
        }
    }

    fn fold(&self) -> Fold {
        let spot = |k: usize| Spot {
            triangle: self.triangles[k],
            weights: self.weights[k],
        };
        Fold {
            id: self.id,
            feature: Feature {
                a: self.a,
                b: self.b,
            },
            spots: [spot(0), spot(1)],
            normal: self.normal,
            distance: self.distance,
            side: self.side,
        }
    }

    /// False if it can't be one; `next` is the number of the next.
    fn is_sound(&self, next: u64) -> bool {
        let weights = self.weights.as_flattened().iter();
        self.id < next
            && weights.copied().all(f64::is_finite)
            && self.normal.is_finite()
            && self.distance.is_finite()
            && matches!(self.side, -1..=1)
    }
}

/// True if a snapshot may hold this.
pub fn are_folds((list, next): &(Vec<FoldRecord>, u64)) -> bool {
    list.iter().all(|f| f.is_sound(*next)) && list.is_sorted_by(|f, g| (f.a, f.b) < (g.a, g.b))
}

/// A contact of two surfaces, and its own number.
pub struct Folded {
    /// How it is solved; without impulses yet.
    pub contact: Contact,
    /// Its name, for as long as it lasts.
    pub key: crate::probes::Key,
    /// The corners that bear it on either side, and their weights.
    pub bears: [([u32; 3], [f64; 3]); 2],
}

impl Folding {
    /// Of those tissues `within` a group that have a thickness; none if there are none.
    pub fn new(model: &Model, within: impl Fn(MatterId) -> bool) -> Option<Self> {
        let thick = |t: &&crate::build::Tissue| within(t.matter) && t.contact_thickness.is_some();
        let members: Vec<Member> = model
            .tissues
            .iter()
            .filter(thick)
            .map(|t| Member {
                matter: t.matter,
                share: Share::WHOLE,
                thickness: t.contact_thickness.unwrap_or_default(),
            })
            .collect();
        if members.is_empty() {
            return None;
        }
        let mut folding = Self {
            thickness: members.iter().map(|m| m.thickness).fold(0.0, f64::max),
            members,
            tree: Tree::default(),
            folds: Folds::default(),
            positions: Vec::new(),
            ways: Vec::new(),
            looked: Vec::new(),
            reach: -1.0,
            spacing: 0.0,
            changes: Vec::new(),
            pushed: 0.0,
            grown: Vec::new(),
        };
        folding.number(model);
        folding.spacing = folding.mean_edge(model);
        Some(folding)
    }

    /// Gives all nodes and triangles their numbers, and makes the tree. The numbers depend on how many places there are in nets and sheets, free ones included. A sheet never has
    /// fewer than it had, and a snapshot keeps them, so that a tissue that has just outgrown its room and one that is taken up later have the same.
    fn number(&mut self, model: &Model) {
        let (mut node, mut triangle) = (0, 0);
        let mut list = Vec::new();
        self.positions.clear();
        for member in &mut self.members {
            let m = member.matter;
            let places = |count: usize| count.next_power_of_two().max(LEAST_PLACES) as u32;
            let start = &model.start[m.index()].position;
            let tissue = model.tissues.iter().find(|t| t.matter == m);
            let own: Vec<(u32, [u32; 3])> = match model.membrane(m) {
                Some(membrane) => numbered(membrane.sheet()).collect(),
                None => {
                    let all = tissue.into_iter().flat_map(|t| model.touchable(t));
                    all.collect()
                }
            };
            let slots = match model.membrane(m) {
                // The last ones may be free now and taken again later.
                Some(membrane) => membrane.sheet().triangle_slots(),
                // As many as there are, touchable or not: its numbers stay what they are.
                None => tissue.map_or(0, |t| t.triangles.len()),
            };
            let share = Share {
                nodes: [node, node + places(start.len())],
                triangles: [triangle, triangle + places(slots)],
            };
            list.extend(own.iter().map(|(t, c)| (t + triangle, c.map(|n| n + node))));
            [node, triangle] = [share.nodes[1], share.triangles[1]];
            member.share = share;
            self.positions.extend_from_slice(start);
            self.positions.resize(node as usize, DVec3::ZERO);
        }
        // Nodes that are nowhere are found out by whoever moves them.
        self.tree = Tree::over(list.iter().copied(), &self.positions).0;
        self.join(model);
        self.looked.clear();
        self.reach = -1.0;
    }

    /// Two nets of which one follows nodes of the other, as a duct does those of an organ, are grown together where they go through each other at rest: what would push those triangles
    /// apart has no side to push to. Whatever else touches at rest is a contact like any other. Membranes are laid beside each other, and their triangles come and go.
    fn join(&mut self, model: &Model) {
        let net = |t: u32| {
            let own = self.members.iter().find(|m| t < m.share.triangles[1])?;
            model.membrane(own.matter).is_none().then_some(own.matter)
        };
        self.grown.clear();
        for a in &self.members {
            let with = |b: &Member| a.matter == b.matter || are_coupled(model, a.matter, b.matter);
            self.grown.extend(self.members.iter().map(with));
        }
        let surface = Side {
            tree: &self.tree,
            positions: &self.positions,
        };
        let grown = |[s, t]: [u32; 2]| {
            let (Some(a), Some(b)) = (net(s), net(t)) else {
                return false;
            };
            a != b && are_coupled(model, a, b)
        };
        self.folds.join(surface, grown);
    }

    /// Of all members as they were built, m: whole, and with what cannot be touched now.
    fn mean_edge(&self, model: &Model) -> f64 {
        let (mut sum, mut count) = (0.0, 0_u32);
        let mut add = |[a, b, c]: [DVec3; 3]| {
            sum += a.distance(b) + b.distance(c) + c.distance(a);
            count += 3;
        };
        for Member { matter, .. } in &self.members {
            let Some(tissue) = model.tissues.iter().find(|t| t.matter == *matter) else {
                continue;
            };
            match model.films.iter().find(|film| film.matter == *matter) {
                Some(film) => {
                    let sheet = film.whole.sheet();
                    sheet.triangles().for_each(|t| add(sheet.rest_corners(t)));
                }
                None => {
                    let start = &model.start[matter.index()].position;
                    let corners = tissue.triangles.iter();
                    corners.for_each(|t| add(t.map(|n| start[n as usize])));
                }
            }
        }
        sum / f64::from(count.max(1))
    }

    /// Makes a tissue thicker or thinner, m.
    pub fn thicken(&mut self, matter: MatterId, thickness: f64) {
        let ours = self.members.iter_mut().filter(|m| m.matter == matter);
        ours.for_each(|member| member.thickness = thickness);
        let all = self.members.iter().map(|m| m.thickness);
        self.thickness = all.fold(0.0, f64::max);
        // What was looked for before may not reach as far.
        self.reach = -1.0;
    }

    /// Other triangles can be touched now. Numbers stay what they were, so what came from which side is still known.
    pub fn count_anew(&mut self, model: &Model) {
        self.number(model);
    }

    /// How many pairs of triangles are looked at, and how many contacts there are.
    pub fn counts(&self) -> [usize; 2] {
        [self.folds.pairs(), self.folds.folds().len()]
    }

    /// How many of those pairs go through each other, exactly, as of the last substep (H10).
    pub fn crossings(&self) -> usize {
        self.folds.crossings(Side {
            tree: &self.tree,
            positions: &self.positions,
        })
    }

    /// Shows the boxes over all triangles as of the last look: how many levels are below each, and whether a triangle inside is near another.
    /// `near` is memory that is used again.
    pub fn see_boxes(&self, near: &mut Vec<u32>, see: impl FnMut(usize, &Bounds, bool)) {
        near.clear();
        near.extend(self.folds.near().iter().flatten());
        near.sort_unstable();
        near.dedup();
        self.tree.see_boxes(|t| near.binary_search(&t).is_ok(), see);
    }

    /// What goes on from step to step.
    pub fn memory(&self) -> (Vec<FoldRecord>, u64) {
        let (folds, next) = self.folds.memory();
        (folds.iter().map(FoldRecord::of).collect(), next)
    }

    /// Takes that up.
    pub fn remember(&mut self, (records, next): &(Vec<FoldRecord>, u64)) {
        let folds: Vec<Fold> = records.iter().map(FoldRecord::fold).collect();
        self.folds.remember(&folds, *next);
    }

    /// Forgets what came from which side: something was put elsewhere.
    pub fn forget(&mut self) {
        let (_, next) = self.folds.memory();
        self.folds.remember(&[], next);
    }

    /// Shows all that goes on from step to step as numbers.
    pub fn see(&self, mut see: impl FnMut(u64)) {
        let (folds, next) = self.folds.memory();
        see(next);
        for fold in folds {
            see(fold.id);
            let nodes = fold.feature.a.iter().chain(&fold.feature.b);
            nodes.for_each(|n| see(u64::from(*n)));
            see(fold.side as u64);
            fold.normal.to_array().iter().for_each(|x| see(x.to_bits()));
        }
    }

    /// Goes along with the last tear or cut of a membrane, of which `torn` has been read: at a cost that depends on what changed, unless it has outgrown its
    /// room.
    pub fn follow(
        &mut self,
        model: &Model,
        (matter, membrane): (MatterId, &Membrane),
        torn: &Torn,
        positions: &[DVec3],
    ) {
        let Some(k) = self.members.iter().position(|m| m.matter == matter) else {
            return;
        };
        let sheet = membrane.sheet();
        let Share { nodes, triangles } = self.members[k].share;
        let fits = sheet.node_slots() <= (nodes[1] - nodes[0]) as usize
            && sheet.triangle_slots() <= (triangles[1] - triangles[0]) as usize;
        if !fits {
            let before: Vec<Share> = self.members.iter().map(|m| m.share).collect();
            self.number(model);
            let after: Vec<Share> = self.members.iter().map(|m| m.share).collect();
            let moved = |n: u32, of: fn(&Share) -> [u32; 2]| {
                let place = before.iter().position(|s| n < of(s)[1]).unwrap_or(0);
                n - of(&before[place])[0] + of(&after[place])[0]
            };
            self.folds
                .renumber(|n| moved(n, |s| s.nodes), |t| moved(t, |s| s.triangles));
        }
        let share = self.members[k].share;
        torn::follow_folds(&mut self.folds, (membrane.event(), sheet), share, |_| {});
        if fits {
            let first = share.nodes[0] as usize;
            self.positions[first..first + positions.len()].copy_from_slice(positions);
            torn.changes_within(share, &mut self.changes);
            let edited = self.tree.edit(&self.changes, &self.positions);
            if edited.is_err() {
                self.number(model);
            }
        }
        self.reach = -1.0;
    }

    /// Finds what touches in a substep of `h` seconds, in which something pushes tissue by up to `pushed` (m): what is pushed had no velocity yet that would tell.
    pub fn find<'n>(
        &mut self,
        model: &Model,
        share: impl Fn(MatterId) -> &'n Nodes,
        (h, pushed): (f64, f64),
        crew: Option<&Crew>,
    ) {
        self.pushed = pushed.min(self.spacing);
        let mut fastest = 0.0_f64;
        for member in &self.members {
            let (nodes, from) = (share(member.matter), member.share.nodes[0] as usize);
            self.positions[from..from + nodes.len()].copy_from_slice(&nodes.position);
            let masses = model.matters[member.matter.index()].masses();
            let speeds = (0..nodes.len()).map(|i| masses.node_velocity(nodes, i).length_squared());
            fastest = speeds.fold(fastest, f64::max);
        }
        // Two points come together at twice the speed, unless all go the same way.
        let mut way = 2.0 * fastest.sqrt() * h;
        if way > self.spacing {
            way = way.min(self.look_ahead(model, &share, h));
        }
        // What goes farther than an edge in a substep may be near nothing before and after it: it is swept.
        let swift = way > self.spacing;
        let range = self.thickness * (1.0 + WATCH) + way.min(self.spacing) + self.pushed;
        if swift || 2.0 * self.moved() + range > self.reach {
            // A node that is nowhere touches nothing, and hides no other.
            let _ = match crew {
                Some(crew) => self.tree.refit_by(&self.positions, crew),
                None => self.tree.refit(&self.positions),
            };
            // With more, triangles of a flat sheet that share no corner would be pairs.
            let most = (MOST_ROOM * self.spacing).max(0.25 * self.thickness);
            self.reach = range + (LASTING * way).clamp(0.25 * self.thickness, most);
            let surface = Side {
                tree: &self.tree,
                positions: &self.positions,
            };
            let ahead = swift.then_some(Ahead {
                ways: &self.ways,
                thickness: self.thickness,
            });
            match (crew, ahead) {
                (Some(crew), None) => self.folds.look_by(surface, self.reach, crew),
                (None, None) => self.folds.look_by(surface, self.reach, &Alone),
                (Some(crew), Some(ahead)) => self.folds.look_ahead_by(surface, range, ahead, crew),
                (None, Some(ahead)) => self.folds.look_ahead_by(surface, range, ahead, &Alone),
            };
            self.looked.clone_from(&self.positions);
            if swift {
                // What was looked for on these ways serves no others.
                self.reach = -1.0;
            }
        }
        let surface = Side {
            tree: &self.tree,
            positions: &self.positions,
        };
        let ahead = swift.then_some(Ahead {
            ways: &self.ways,
            thickness: self.thickness,
        });
        self.folds.find_ahead(surface, range, ahead);
    }

    /// True if a tissue is one of those that touch themselves and each other.
    pub fn has(&self, matter: MatterId) -> bool {
        self.members.iter().any(|member| member.matter == matter)
    }

    /// Works out the ways of all nodes in a substep of `h` seconds, and by how much any two of them differ at most, m.
    fn look_ahead<'n>(
        &mut self,
        model: &Model,
        share: &impl Fn(MatterId) -> &'n Nodes,
        h: f64,
    ) -> f64 {
        self.ways.resize(self.positions.len(), DVec3::ZERO);
        let mut all = Bounds::EMPTY;
        for member in &self.members {
            let (nodes, from) = (share(member.matter), member.share.nodes[0] as usize);
            let masses = model.matters[member.matter.index()].masses();
            for i in 0..nodes.len() {
                let way = masses.node_velocity(nodes, i) * h;
                self.ways[from + i] = way;
                all.add(way);
            }
            // Places that nobody has taken yet do not count.
            self.ways[from + nodes.len()..member.share.nodes[1] as usize].fill(all.low);
        }
        all.size().length()
    }

    /// How far any node has moved since the last look, m.
    fn moved(&self) -> f64 {
        if self.looked.len() != self.positions.len() {
            return f64::INFINITY;
        }
        let ways = self.looked.iter().zip(&self.positions);
        let squares = ways.map(|(a, b)| a.distance_squared(*b));
        squares.fold(0.0, f64::max).sqrt()
    }

    /// The contacts that were found last, ready to be solved in a substep of `h` seconds; `recovery` (m/s) is the greatest speed at which any overlap
    /// is undone.
    pub fn contacts<'s, 'n: 's>(
        &'s self,
        model: &'s Model,
        share: impl Fn(MatterId) -> &'n Nodes + 's,
        h: f64,
        recovery: f64,
    ) -> impl Iterator<Item = Folded> + 's {
        self.folds.folds().iter().filter_map(move |fold| {
            let [to, from] = [self.bearer(&fold.spots[0])?, self.bearer(&fold.spots[1])?];
            let [b, a] = [&self.members[to.0], &self.members[from.0]];
            let thickness = 0.5 * (a.thickness + b.thickness);
            let sum = |list: &[DVec3], (_, nodes, weights): &(usize, [u32; 3], [f64; 3])| {
                let corners = nodes.iter().zip(weights);
                corners.fold(DVec3::ZERO, |sum, (n, w)| sum + list[*n as usize] * *w)
            };
            let rest = |m: &Member, on| sum(&model.start[m.matter.index()].position, on);
            // What is nearer at rest has a right to be.
            let distance = thickness.min(rest(a, &from).distance(rest(b, &to)));
            let grown = self.grown[from.0 * self.members.len() + to.0];
            let free = grown && distance < LEAST_APART * thickness;
            if free || fold.normal == DVec3::ZERO {
                return None;
            }
            let speed = |m: &Member, on| sum(&share(m.matter).velocity, on);
            let closing = fold.normal.dot(speed(a, &from) - speed(b, &to)) * h;
            let gap = fold.distance - distance;
            if gap > WATCH * thickness + 2.0 * closing.max(0.0) + self.pushed {
                return None;
            }
            let on = |m: &Member, (_, nodes, weights): (usize, [u32; 3], [f64; 3])| Anchor {
                matter: m.matter,
                at: Local::Triangle(nodes, weights),
            };
            Some(Folded {
                contact: Contact {
                    a: on(a, from),
                    b: on(b, to),
                    normal: fold.normal,
                    distance,
                    // Wet surfaces of organs slide on each other.
                    friction: 0.0,
                    recovery: (-gap * RECOVERY / h).clamp(0.0, recovery),
                    give: GIVE,
                    impulse: 0.0,
                    rub: DVec3::ZERO,
                },
                key: (
                    b.matter,
                    NO_PROBE,
                    fold.id as u32,
                    [(fold.id >> 32) as u32, 0, 0],
                ),
                bears: [(from.1, from.2), (to.1, to.2)],
            })
        })
    }

    /// Which member a spot is on, its corners there, and their weights.
    fn bearer(&self, spot: &Spot) -> Option<(usize, [u32; 3], [f64; 3])> {
        let corners = self.tree.triangle(spot.triangle)?;
        let of = |m: &Member| spot.triangle < m.share.triangles[1];
        let member = self.members.iter().position(of)?;
        let first = self.members[member].share.nodes[0];
        Some((member, corners.map(|n| n - first), spot.weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scene, Simulation};
    use trocar_mesh::sheet::{EdgeId, Event, NodeId, Refusal, Sheet};
    use trocar_soft::membrane::MembraneParts;

    /// Two sheets of 60 triangles.
    fn two() -> Simulation {
        let sheet = |name: &str, height: f64| {
            format!(
                "[[membrane]]\nname = \"{name}\"\nposition = [0.0, {height}, 0.0]\n\
                 sheet = {{ u = [0.0, 0.0, 0.005], v = [0.006, 0.0, 0.0], rows = 7, columns = 6 }}\n\
                 film = {{ stiffness = 30, density = 1 }}\ncontact_thickness = 0.0004\n"
            )
        };
        let text = format!(
            "trocar = 1\n[world]\nstep = 0.005\n{}{}",
            sheet("first", 0.0),
            sheet("second", 0.003)
        );
        Simulation::new(&Scene::from_text("test.toml", &text).unwrap(), 1).unwrap()
    }

    /// Puts the first sheet in the place of what it was, and lets the contacts follow.
    fn change(simulation: &mut Simulation, sheet: &Sheet, folding: &mut Folding, event: &Event) {
        let matter = simulation.model.films[0].matter;
        let material = *simulation.model.membrane(matter).unwrap().material();
        let membrane = Membrane::new(MembraneParts::new(sheet.clone(), material)).unwrap();
        simulation.model.start[matter.index()] = membrane.rest();
        simulation.model.matters[matter.index()] = Box::new(membrane);
        let mut torn = Torn::default();
        torn.read(event, sheet);
        let membrane = simulation.model.membrane(matter).unwrap();
        let positions = &simulation.model.start[matter.index()].position;
        folding.follow(&simulation.model, (matter, membrane), &torn, positions);
    }

    /// A sheet that has more places than triangles, as its last ones are free: whoever has followed it, and whoever takes it up, gives all that comes after it the same numbers.
    #[test]
    fn numbers_do_not_depend_on_how_a_sheet_came_about() {
        let mut simulation = two();
        let mut folding = Folding::new(&simulation.model, |_| true).unwrap();
        let shares = |f: &Folding| -> Vec<_> { f.members.iter().map(|m| m.share).collect() };
        assert_eq!(shares(&folding)[0].triangles, [0, 64]);
        let matter = simulation.model.films[0].matter;
        let mut sheet = simulation.model.membrane(matter).unwrap().sheet().clone();
        let mut event = Event::default();
        while sheet.triangle_slots() < 66 {
            let inner = |s: &Sheet, e: &EdgeId| s.beside(*e).1.is_some();
            let longest = sheet.edges().filter(|e| inner(&sheet, e));
            let longest = longest.max_by(|a, b| {
                let [a, b] = [a, b].map(|e| sheet.rest_length(*e));
                a.total_cmp(&b)
            });
            let result: Result<NodeId, Refusal> =
                sheet.edit(&mut event, |edit| edit.split_edge(longest.unwrap(), 0.5));
            result.unwrap();
            change(&mut simulation, &sheet, &mut folding, &event);
        }
        for slot in [65, 64] {
            let triangle = sheet.triangle_at(slot);
            let result: Result<(), Refusal> = sheet.edit(&mut event, |edit| edit.remove(triangle));
            result.unwrap();
            change(&mut simulation, &sheet, &mut folding, &event);
        }
        assert!(sheet.triangles().all(|t| t.slot() < 64) && sheet.triangle_slots() == 66);
        let fresh = Folding::new(&simulation.model, |_| true).unwrap();
        assert_eq!(shares(&fresh), shares(&folding));
        // There is room for all that may come back, so that no further edit counts all anew.
        assert_eq!(shares(&fresh)[0].triangles, [0, 128]);
    }
}
