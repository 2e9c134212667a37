//! Membranes in a running scene: what is done to them once a step, and how all that rests on them follows.

use crate::{
    Event, Simulation,
    build::{Model, membrane::list_triangles},
    command::Command,
    event::Happening,
    file::InstrumentKind,
    folds::Folding,
    group::{Group, Motion},
    works::Work,
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_collide::closest;
use trocar_dynamics::{Anchor, Local, MatterId, Nodes};
use trocar_math::{Pose, real};
use trocar_mesh::sheet::{NodeStep, Sheet, TriangleId};
use trocar_soft::membrane::{Membrane, tear::Growth};
use trocar_tools::membrane::Blades;

/// A point of a membrane that somebody outside goes on naming as it was when they took hold of it: a hand, or a command of the scene. Both are
/// inputs, and know nothing of tears.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Follower {
    /// The point as it is named.
    pub named: Anchor,
    /// Where it is by now; none if it was lost.
    pub now: Option<Anchor>,
}

impl Simulation {
    /// Puts membranes back to how the scene has them. Only before groups are made anew.
    pub(crate) fn mend_films(&mut self) {
        for film in 0..self.model.films.len() {
            self.model.mend(film);
        }
        self.tears = vec![[0; 2]; self.model.films.len()];
        self.followers.clear();
        self.followers
            .extend(self.lasting.iter().map(|anchor| Follower {
                named: *anchor,
                now: Some(*anchor),
            }));
        self.longest = self.model.longest_step();
    }

    /// Points of membranes that commands name.
    pub(crate) fn named(model: &Model, commands: &[Command]) -> Vec<Anchor> {
        let mut named: Vec<Anchor> = Vec::new();
        for anchor in commands.iter().filter_map(Command::on) {
            if model.membrane(anchor.matter).is_some() && !named.contains(&anchor) {
                named.push(anchor);
            }
        }
        named
    }

    /// What a membrane sticks to is where it is at this time (W66).
    pub(crate) fn place_grounds(&mut self, time: f64) {
        for k in 0..self.model.films.len() {
            if let Some(ground) = self.ground(k, time)
                && let Some(membrane) = self.model.membrane_mut(self.model.films[k].matter)
            {
                membrane.set_ground(ground);
            }
        }
    }

    /// Nodes that are copied or read have no room for what tears will make.
    pub(crate) fn make_room_for_tears(&mut self) {
        for film in &self.model.films {
            if let Some(membrane) = self.model.membrane(film.matter) {
                self.state.nodes[film.matter.index()].reserve(membrane.room());
            }
        }
    }

    /// Puts membranes that were put back to rest onto what they stick to, where that is at this time.
    pub(crate) fn rest_on_grounds(&mut self, time: f64) {
        for k in 0..self.model.films.len() {
            if let Some(ground) = self.ground(k, time) {
                let matter = self.model.films[k].matter.index();
                for at in &mut self.state.nodes[matter].position {
                    *at = ground.point(*at);
                }
            }
        }
    }

    /// How what a membrane sticks to has moved since the start, if it may.
    fn ground(&self, film: usize, time: f64) -> Option<Pose> {
        let node = self.model.films[film].ground? as usize;
        let (start, now) = (
            self.model.fixture(node, 0.0),
            self.model.fixture(node, time),
        );
        let rotation = (now.rotation * start.rotation.conjugate()).normalize();
        Some(Pose::new(
            now.position - rotation * start.position,
            rotation,
        ))
    }

    /// Where pulls of the hand act by now. Those that have let go are forgotten.
    pub(crate) fn follow_pulls(&mut self) {
        let Self {
            pulls,
            followers,
            lasting,
            model,
            ..
        } = self;
        let films = &model.films;
        if films.is_empty() {
            return;
        }
        let mut at = lasting.len();
        while at < followers.len() {
            let named = followers[at].named;
            if pulls.iter().any(|pull| pull.anchor == named) {
                at += 1;
            } else {
                followers.remove(at);
            }
        }
        pulls.retain_mut(|pull| {
            if !films.iter().any(|film| film.matter == pull.anchor.matter) {
                return true;
            }
            // The scene's own are found as well: a hand may hold the same point.
            let known = followers.iter().find(|f| f.named == pull.anchor);
            let now = match known {
                Some(follower) => follower.now,
                // What a hand says it holds may have been mended away since.
                None if !model.has(&pull.anchor) => None,
                None => {
                    followers.push(Follower {
                        named: pull.anchor,
                        now: Some(pull.anchor),
                    });
                    Some(pull.anchor)
                }
            };
            match now {
                Some(now) => {
                    pull.anchor = now;
                    true
                }
                None => false,
            }
        });
    }

    /// Where a point named by the scene is by now; none if it was lost.
    pub(crate) fn followed(&self, named: &Anchor) -> Option<Anchor> {
        let found = self.followers.iter().find(|f| f.named == *named);
        found.map_or(Some(*named), |f| f.now)
    }

    /// Once a step (W71, W75, M4): membranes come off, lie flat where they are folded, and tear.
    pub(crate) fn work_films(&mut self) {
        for k in 0..self.model.films.len() {
            let film = &self.model.films[k];
            let (matter, calls) = (film.matter, film.calls);
            if self.groups.iter().any(|g| g.is_frozen(matter)) {
                continue;
            }
            let mut torn = false;
            for call in 0..calls {
                let nodes = &mut self.state.nodes[matter.index()];
                let Some(membrane) = self.model.membrane_mut(matter) else {
                    break;
                };
                if call == 0 {
                    membrane.detach(nodes);
                    membrane.support_folds(nodes);
                }
                let tear = match call {
                    0 => membrane.tear(nodes),
                    _ => membrane.tear_again(nodes),
                };
                // What is refused is no harm; whoever fails next had its turn already.
                let Ok(Some(growth)) = tear else {
                    break;
                };
                if membrane.event().is_empty() {
                    break;
                }
                torn = true;
                self.tears[k][0] += 1;
                self.follow_tear(matter);
                self.tell_tear(k, growth);
            }
            if torn {
                self.take_over(k, true);
            }
        }
    }

    /// Closing scissors cut what is between their blades (W80): once a step, before anything tears.
    pub(crate) fn cut_films(&mut self) {
        let Some(edge) = self.finest_edge() else {
            return;
        };
        for t in 0..self.model.tools.len() {
            let tool = &self.model.tools[t];
            if tool.kind != InstrumentKind::Scissors {
                continue;
            }
            let Motion { from, to } = self.motions[t];
            let blades = Blades {
                shaft: [from, to].map(|h| tool.grasper.poses(&h)[0]),
                jaw: to.jaw,
                shut: tool.grasper.limits.jaw[0],
                length: tool.grasper.jaw_length,
            };
            if let Some(surface) = self.strokes[t].follow(&blades, edge) {
                for k in 0..self.model.films.len() {
                    self.cut_film(t, k, &surface);
                }
            }
        }
    }

    fn cut_film(&mut self, t: usize, k: usize, surface: &[[DVec3; 3]]) {
        let matter = self.model.films[k].matter;
        if self.groups.iter().any(|g| g.is_frozen(matter)) {
            return;
        }
        let nodes = &mut self.state.nodes[matter.index()];
        let Some(membrane) = self.model.membrane_mut(matter) else {
            return;
        };
        // What is refused is no harm: the blades close in vain.
        let Ok(opened) = membrane.cut(nodes, surface) else {
            return;
        };
        if membrane.event().is_empty() {
            return;
        }
        let pieces = membrane.sheet().pieces();
        self.follow_tear(matter);
        self.take_over(k, true);
        if opened > 0 {
            self.tears[k][1] += 1;
            let what = Happening::Cut {
                instrument: self.model.tools[t].name.clone(),
                membrane: self.model.names[matter.index()].clone(),
                pieces,
            };
            let time = self.state.time;
            self.report.events.push(Event { time, what });
        }
    }

    /// Mean edge of the finest membrane as it was built, m; none if there is no membrane.
    fn finest_edge(&self) -> Option<f64> {
        let edges = self.model.films.iter().map(|film| film.edge);
        edges.reduce(f64::min)
    }

    /// Forceps take hold of what is between their jaws: of which membrane most, and at how many points.
    pub(crate) fn close_films(&mut self, t: usize, shaft: &Pose) -> (usize, MatterId) {
        let mut most = (0, MatterId::WORLD);
        for work in self.groups.iter_mut().flat_map(|g| &mut g.works) {
            if work.tool == t
                && let Some(membrane) = self.model.membrane(work.matter)
            {
                let nodes = &self.state.nodes[work.matter.index()];
                let count = work.close(membrane, nodes, shaft);
                if count > most.0 {
                    most = (count, work.matter);
                }
            }
        }
        most
    }

    /// Forceps let go of membranes.
    pub(crate) fn open_films(&mut self, t: usize) {
        let works = self.groups.iter_mut().flat_map(|g| &mut g.works);
        works.filter(|w| w.tool == t).for_each(Work::open);
    }

    /// Jaws that did not overlap a membrane at the end of the step are clear of it, if they do not hold it.
    pub(crate) fn clear_films(&mut self) {
        for group in &mut self.groups {
            for skin in &mut group.skins {
                let works = &mut group.works;
                skin.amid.retain(|jaws| {
                    let own = |w: &&mut Work| w.matter == skin.matter && w.tool == jaws.tool;
                    let Some(work) = works.iter_mut().find(own) else {
                        return false;
                    };
                    if !jaws.overlap {
                        work.get_clear();
                    }
                    work.is_amid()
                });
            }
        }
    }

    /// Points of membranes that forceps hold.
    pub(crate) fn held_in_films(&self, t: usize) -> usize {
        let works = self.groups.iter().flat_map(|g| &g.works);
        works.filter(|w| w.tool == t).map(Work::held).sum()
    }

    /// Triangles of membranes that stick to a needle.
    pub fn sticking(&self, t: usize) -> usize {
        let works = self.groups.iter().flat_map(|g| &g.works);
        works.filter(|w| w.tool == t).map(Work::sticking).sum()
    }

    /// Closing forceps draw what they hold to the middle between their jaws.
    pub(crate) fn squeeze_films(&mut self) {
        for work in self.groups.iter_mut().flat_map(|g| &mut g.works) {
            let Motion { from, to } = self.motions[work.tool];
            if to.jaw < from.jaw && work.held() > 0 {
                let [now, then] = [to.jaw, from.jaw].map(|jaw| real::sin(0.5 * jaw));
                work.draw_together(now / then);
            }
        }
    }

    /// All points of a membrane that something holds follow its last tear; then where its nodes lie at rest is noted anew.
    fn follow_tear(&mut self, matter: MatterId) {
        let start = &mut self.model.start[matter.index()];
        let any: &dyn std::any::Any = &*self.model.matters[matter.index()];
        let Some(membrane) = any.downcast_ref::<Membrane>() else {
            return;
        };
        let follow = |anchor: &mut Anchor| {
            anchor.matter != matter || follow(membrane, &start.position, &mut anchor.at)
        };
        for grip in &mut self.grips {
            grip.holds.retain_mut(|hold| follow(&mut hold.tie.b));
        }
        for group in &mut self.groups {
            let works = group.works.iter_mut().filter(|w| w.matter == matter);
            works.for_each(|work| work.follow(membrane));
            group.each_foot(|end| {
                // Ties, joints and elements are for good: if what they were on is gone, they cling to what was next to it.
                if !follow(end) {
                    cling(membrane, &start.position, &mut end.at);
                }
            });
        }
        // What this step did is still looked at.
        self.pulls.retain_mut(|pull| follow(&mut pull.anchor));
        self.pushes.retain_mut(|push| follow(&mut push.0));
        for follower in &mut self.followers {
            follower.now = follower
                .now
                .and_then(|mut now| follow(&mut now).then_some(now));
        }
        rest_again(membrane, start);
        self.follow_surfaces(matter);
    }

    /// What touches a membrane, and what it touches, follows its last tear: a probe stays on the side it came from, of what is still there and of
    /// what it became.
    fn follow_surfaces(&mut self, matter: MatterId) {
        let Some(membrane) = self.model.membrane(matter) else {
            return;
        };
        let positions = &self.state.nodes[matter.index()].position;
        self.torn.read(membrane.event(), membrane.sheet());
        for group in &mut self.groups {
            for skin in group.skins.iter_mut().filter(|s| s.matter == matter) {
                // What a sheet says of itself is never refused.
                if self.torn.patch(&mut skin.patch, positions).is_err()
                    && let Ok(patch) = self.model.patch(matter)
                {
                    skin.patch = patch;
                }
            }
            if let Some(folding) = &mut group.folding {
                folding.follow(&self.model, (matter, membrane), &self.torn, positions);
            }
        }
    }

    fn tell_tear(&mut self, k: usize, growth: Growth) {
        let film = &self.model.films[k];
        let membrane = self.model.names[film.matter.index()].clone();
        let what = match growth {
            Growth::Started => Happening::TearBegan { membrane },
            Growth::Ended => {
                let pieces = self.model.membrane(film.matter);
                let pieces = pieces.map_or(0, |m| m.sheet().pieces());
                Happening::TearEnded { membrane, pieces }
            }
            Growth::Grew(_) | Growth::Held => return,
        };
        let time = self.state.time;
        self.report.events.push(Event { time, what });
    }

    /// Takes up membranes as they were stored, and where what is on them was.
    pub(crate) fn resume_films(
        &mut self,
        films: Vec<(Membrane, [u64; 2])>,
        followers: Vec<Follower>,
    ) {
        for (k, (membrane, tears)) in films.into_iter().enumerate() {
            let m = self.model.films[k].matter.index();
            let rest = membrane.rest();
            let moved = self.model.start[m].position != rest.position;
            self.model.start[m] = rest;
            self.model.matters[m] = Box::new(membrane);
            self.tears[k] = tears;
            self.take_over(k, moved);
            let matter = self.model.films[k].matter;
            for skin in self.groups.iter_mut().flat_map(|g| &mut g.skins) {
                // The corners of a sheet are its nodes, so that it always is one.
                if let (true, Ok(patch)) = (skin.matter == matter, self.model.patch(matter)) {
                    skin.patch = patch;
                }
            }
        }
        for group in &mut self.groups {
            group.folding = Folding::new(&self.model, |m| group.members.contains(&m));
        }
        self.followers = followers;
        self.make_room_for_tears();
        self.place_grounds(self.state.time);
    }

    /// What is made of a membrane's triangles is made anew: the list of them, how long substeps may be. `moved` if nodes lie elsewhere at rest.
    pub(crate) fn take_over(&mut self, k: usize, moved: bool) {
        let model = &mut self.model;
        let film = &model.films[k];
        let any: &dyn std::any::Any = &*model.matters[film.matter.index()];
        let Some(membrane) = any.downcast_ref::<Membrane>() else {
            return;
        };
        let tissue = &mut model.tissues[film.tissue];
        let shown = std::mem::take(&mut tissue.triangles);
        list_triangles(membrane.sheet(), &mut tissue.triangles);
        if moved || shown != tissue.triangles {
            tissue.edits += 1;
        }
        tissue.elements = membrane.sheet().edge_count() + membrane.bending_springs();
        self.note_film_steps();
        self.mark_held();
    }

    /// Tells groups how long substeps may be now that membranes have changed.
    pub(crate) fn note_film_steps(&mut self) {
        let model = &self.model;
        self.groups
            .iter_mut()
            .for_each(|g: &mut Group| g.note_films(model));
        self.longest = model.longest_step();
    }
}

/// Where nodes lie at rest by now.
pub(crate) fn rest_again(membrane: &Membrane, start: &mut Nodes) {
    let sheet = membrane.sheet();
    let event = membrane.event();
    start.position.resize(sheet.node_slots(), DVec3::ZERO);
    start.velocity.resize(sheet.node_slots(), DVec3::ZERO);
    start.make_ready();
    for node in &event.nodes {
        start.position[node.slot()] = sheet.rest(*node);
    }
    // Nobody reads those of free places, but whoever is put back to rest takes them over, and a restored one must do the same.
    for step in &event.steps {
        if let NodeStep::Removed(node) = step {
            start.position[node.slot()] = sheet.rest(*node);
        }
    }
}

/// Lets a point on a membrane follow its last tear: it stays where it is at rest. `before` is where nodes lay at rest before it. False if what carried
/// it is gone.
fn follow(membrane: &Membrane, before: &[DVec3], at: &mut Local) -> bool {
    let sheet = membrane.sheet();
    let stayed = |n: u32| {
        let n = n as usize;
        sheet.has_live_node(n) && before.get(n) == Some(&sheet.rest(sheet.node_at(n)))
    };
    let stays = match *at {
        Local::Node(n) => stayed(n),
        Local::Triangle(nodes, _) => nodes.iter().all(|n| stayed(*n)) && is_triangle(sheet, nodes),
        // Nothing else is on a membrane.
        Local::Frame(..) | Local::Tetrahedron(..) => true,
    };
    if stays {
        return true;
    }
    let place = place_at_rest(before, at);
    let Some(found) = place.and_then(|place| membrane.event().find(sheet, place)) else {
        return false;
    };
    let corners = sheet.corners(found.triangle).map(|n| n.slot() as u32);
    *at = Local::Triangle(corners, found.weights);
    true
}

/// Where a point of a membrane lay at rest.
fn place_at_rest(before: &[DVec3], at: &Local) -> Option<DVec3> {
    let rest = |n: u32| before.get(n as usize).copied();
    match *at {
        Local::Node(n) => rest(n),
        Local::Triangle([a, b, c], [u, v, w]) => Some(rest(a)? * u + rest(b)? * v + rest(c)? * w),
        Local::Frame(..) | Local::Tetrahedron(..) => None,
    }
}

/// Puts a point whose triangle is gone onto the one that is nearest at rest.
fn cling(membrane: &Membrane, before: &[DVec3], at: &mut Local) {
    let sheet = membrane.sheet();
    let Some(place) = place_at_rest(before, at) else {
        return;
    };
    let near = |t: &TriangleId| {
        let corners = sheet.rest_corners(*t);
        let weights = closest::on_triangle(place, corners);
        let off = closest::point(corners, weights).distance_squared(place);
        (off, weights)
    };
    let all = sheet.triangles().map(|t| (near(&t), t));
    if let Some(((_, weights), t)) = all.min_by(|a, b| a.0.0.total_cmp(&b.0.0)) {
        *at = Local::Triangle(sheet.corners(t).map(|n| n.slot() as u32), weights);
    }
}

fn is_triangle(sheet: &Sheet, [a, b, c]: [u32; 3]) -> bool {
    let node = sheet.node_at(a as usize);
    sheet.fan(node).any(|(_, x, y)| {
        let others = [x.slot() as u32, y.slot() as u32];
        others == [b, c] || others == [c, b]
    })
}
