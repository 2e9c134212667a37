//! Snapshots: everything the next step reads that the scene file does not determine.

use crate::{
    Simulation,
    build::Retuned,
    collisions::{Given, Rest},
    films::Follower,
    folds::{FoldRecord, Folding, are_folds},
    group::Group,
    lead::Lead,
    probes::Warm,
    works::{Work, WorkRecord},
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use trocar_collide::patch::Side;
use trocar_dynamics::{Anchor, Local, MatterId, Nodes, State, TieKind, joint::Memory};
use trocar_math::Pose;
use trocar_soft::{
    Global,
    global::Flow,
    membrane::{Membrane, MembraneRecord},
    stability::Tempo,
};
use trocar_tools::{EndoscopeHandle, Grip, Handle, grasper::PARTS, grip::Hold, membrane::Stroke};

const MAGIC: &[u8; 8] = b"TROCSNPI";

/// No grip bears more than this, N.
const MAX_FORCE: f64 = 1e6;

/// No joint has taken hold of bodies farther from each other than this, m.
const FARTHEST: f64 = 1e6;

/// Nothing is held farther from an instrument's hinge than this, m.
const MAX_REACH: f64 = 1.0;

/// No tie or contact of one substep has passed on more than this, N·s: a blow of a tonne at 1000 m/s.
const MAX_IMPULSE: f64 = 1e6;

/// Why a snapshot can't be taken up.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SnapshotError {
    /// It is no snapshot, or of another version.
    #[error("this is not a snapshot that this program can read")]
    Foreign,
    /// It is damaged.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
    /// It belongs to another scene.
    #[error("the snapshot belongs to another scene, or the scene's files have changed")]
    OtherScene,
}

/// Of a group.
#[derive(Serialize, Deserialize)]
struct GroupPart {
    /// Impulses of its ties, N·s, and the substeps they are of, s.
    ties: Vec<(DVec3, f64)>,
    /// What its joints remember.
    joints: Vec<Memory>,
    /// Of joints that have taken hold again: which one, in ascending order, and how its sides stood.
    caught: Vec<(u32, Pose)>,
    /// How often members went bad.
    bad: Vec<u32>,
    /// Sides of its surfaces.
    sides: Vec<Vec<Side>>,
    /// Contacts of its tissues with instruments and bodies.
    warm: Vec<Warm>,
    /// Its contacts between bodies.
    pressed: Vec<Given>,
    /// How its bodies rest.
    rest: Vec<Rest>,
    /// Where its tissues touch themselves and each other, and the number of the next such contact.
    folds: Option<(Vec<FoldRecord>, u64)>,
    /// Ends of its ties, joints and elements, if the scene has membranes: tears move them.
    feet: Vec<Anchor>,
    /// What needles and forceps remember of its membranes.
    works: Vec<WorkRecord>,
    /// How long its substeps are, if they follow the state.
    tempo: Option<Tempo>,
    /// What its elements between things remember of having yielded.
    flows: Vec<Flow>,
}

#[derive(Serialize, Deserialize)]
struct Snapshot {
    scene: u64,
    steps: u64,
    state: State,
    handles: Vec<Handle>,
    endoscope: Option<EndoscopeHandle>,
    /// Parameters that are not what the scene says: index, in ascending order, and value.
    parameters: Vec<(usize, f64)>,
    grips: Vec<Grip>,
    /// How far scissors have closed.
    strokes: Vec<Stroke>,
    /// Who leads the instruments.
    leads: Vec<Lead>,
    groups: Vec<GroupPart>,
    /// What became of each membrane, how often it tore, and how often it was cut.
    films: Vec<(MembraneRecord, [u64; 2])>,
    followers: Vec<Follower>,
}

impl Simulation {
    /// The snapshot of this moment.
    pub fn snapshot(&self) -> Vec<u8> {
        let (state, steps, handles, grips, groups) = self.parts();
        let films = &self.model.films;
        let snapshot = Snapshot {
            scene: self.scene_hash(),
            steps,
            state: state.clone(),
            handles: handles.to_vec(),
            endoscope: self.endoscope(),
            parameters: self.changed().collect(),
            grips: grips.to_vec(),
            strokes: self.strokes.clone(),
            leads: self.leads.clone(),
            groups: groups
                .iter()
                .map(|g| GroupPart {
                    ties: g.ties[..g.scene_ties]
                        .iter()
                        .map(|t| (t.impulse, t.h))
                        .collect(),
                    joints: g.joints.iter().map(|j| j.memory.clone()).collect(),
                    caught: (0..)
                        .zip(&g.joints)
                        .filter_map(|(k, j)| Some((k, j.caught?)))
                        .collect(),
                    bad: g.bad.clone(),
                    sides: g.skins.iter().map(|s| s.patch.sides().to_vec()).collect(),
                    warm: g.warm.clone(),
                    pressed: g.collisions.as_ref().map_or(vec![], |c| c.warm.clone()),
                    rest: g.collisions.as_ref().map_or(vec![], |c| c.rest.clone()),
                    folds: g.folding.as_ref().map(Folding::memory),
                    feet: match films.is_empty() {
                        true => Vec::new(),
                        false => g.feet().collect(),
                    },
                    works: g.works.iter().map(Work::record).collect(),
                    tempo: g.tempo(),
                    flows: g.globals().iter().map(Global::flow).collect(),
                })
                .collect(),
            films: films
                .iter()
                .zip(&self.tears)
                .filter_map(|(film, tears)| {
                    Some((self.model.membrane(film.matter)?.record(), *tears))
                })
                .collect(),
            followers: self.followers.clone(),
        };
        // Plain numbers in vectors: writing them to memory can't fail.
        let body = postcard::to_stdvec(&snapshot).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Takes up a snapshot of the same scene. On error nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let Some((magic, rest)) = bytes.split_at_checked(8) else {
            return Err(SnapshotError::Foreign);
        };
        if magic != MAGIC {
            return Err(SnapshotError::Foreign);
        }
        let Some((sum, body)) = rest.split_at_checked(4) else {
            return Err(SnapshotError::Damaged("it is cut short"));
        };
        if sum != crc32fast::hash(body).to_le_bytes() {
            return Err(SnapshotError::Damaged("its checksum is wrong"));
        }
        let mut snapshot: Snapshot =
            postcard::from_bytes(body).map_err(|_| SnapshotError::Damaged("it can't be read"))?;
        if snapshot.scene != self.scene_hash() {
            return Err(SnapshotError::OtherScene);
        }
        let way = self.way_to(&snapshot.parameters);
        let tuned = self
            .retuned(&way)
            .map_err(|_| SnapshotError::Damaged("a membrane can't be so"))?;
        let films = self.read_films(std::mem::take(&mut snapshot.films), &tuned)?;
        self.check(&snapshot, &films)?;
        let before: Vec<(usize, f64)> = self.changed().collect();
        let tempos: Vec<Option<Tempo>> = self.groups.iter().map(Group::tempo).collect();
        self.assume(&way)
            .map_err(|_| SnapshotError::Damaged("the scene can't run with its parameters"))?;
        // Which elements there are depends on the parameters.
        let shares = snapshot.state.nodes.iter().zip(&self.model().start);
        if shares
            .into_iter()
            .any(|(a, b)| a.flow.len() != b.flow.len())
        {
            let back = self.way_to(&before);
            // It ran with these a moment ago.
            let _ = self.assume(&back);
            for (group, tempo) in self.groups.iter_mut().zip(tempos) {
                group.resume_tempo(tempo);
            }
            return Err(SnapshotError::Damaged("it has other elements"));
        }
        self.resume(
            snapshot.state,
            snapshot.steps,
            snapshot.handles,
            snapshot.endoscope,
            snapshot.grips,
        );
        self.resume_films(films, snapshot.followers);
        (self.strokes, self.leads) = (snapshot.strokes, snapshot.leads);
        for (group, part) in self.groups.iter_mut().zip(snapshot.groups) {
            let mut feet = part.feet.into_iter();
            group.each_foot(|foot| *foot = feet.next().unwrap_or(*foot));
            for (tie, (impulse, h)) in group.ties.iter_mut().zip(part.ties) {
                (tie.impulse, tie.h) = (impulse, h);
            }
            for (joint, memory) in group.joints.iter_mut().zip(part.joints) {
                joint.memory = memory;
            }
            for (k, pose) in &part.caught {
                group.catch(*k as usize, &self.model, pose);
            }
            for (work, record) in group.works.iter_mut().zip(&part.works) {
                if let Some(membrane) = self.model.membrane(work.matter) {
                    work.resume(membrane, record);
                }
            }
            group.bad = part.bad;
            group.resume_tempo(part.tempo);
            group.resume_flows(part.flows);
            group.warm = part.warm;
            for (skin, sides) in group.skins.iter_mut().zip(part.sides) {
                skin.patch.set_sides(&sides);
            }
            if let (Some(folding), Some(folds)) = (&mut group.folding, &part.folds) {
                folding.remember(folds);
            }
            if let Some(collisions) = &mut group.collisions {
                collisions.warm = part.pressed;
                collisions.take_rest(part.rest);
            }
        }
        // Only now is known what forceps hold.
        self.mark_held();
        Ok(())
    }

    /// The membranes of a snapshot.
    fn read_films(
        &self,
        records: Vec<(MembraneRecord, [u64; 2])>,
        tuned: &[Retuned],
    ) -> Result<Vec<(Membrane, [u64; 2])>, SnapshotError> {
        let films = &self.model.films;
        if records.len() != films.len() {
            return Err(SnapshotError::Damaged("it does not fit the scene"));
        }
        let read = films.iter().zip(records).enumerate();
        let read = read.map(|(k, (film, (record, tears)))| {
            let tuned = tuned.iter().find(|t| t.film == k);
            let whole = tuned.map_or(&film.whole, |t| &t.whole);
            let membrane = whole.from_record(record);
            let membrane = membrane.map_err(|_| SnapshotError::Damaged("a membrane is none"))?;
            Ok((membrane, tears))
        });
        read.collect()
    }

    /// A snapshot may come from anywhere: what does not fit the scene, or is no number, is refused.
    fn check(
        &self,
        snapshot: &Snapshot,
        films: &[(Membrane, [u64; 2])],
    ) -> Result<(), SnapshotError> {
        let all = self.model.films.iter().zip(films);
        let film = |m: MatterId| all.clone().find(|(f, _)| f.matter == m).map(|(_, x)| &x.0);
        let count = |m: usize, now: usize| {
            film(MatterId(m as u32)).map_or(now, |membrane| membrane.sheet().node_slots())
        };
        let has = |anchor: &Anchor| {
            let m = anchor.matter.index();
            let now = self.model.start.get(m).map_or(0, Nodes::len);
            self.model.has_among(anchor, count(m, now))
        };
        // Only what is on a membrane may have moved, and it stays on it.
        let stays = |was: &Anchor, is: &Anchor| match film(was.matter) {
            Some(_) => was.matter == is.matter && has(is),
            None => was == is,
        };
        let lasting = self.lasting.len();
        let same_films = films.iter().all(|f| f.1.iter().all(|n| is_count(*n)))
            && snapshot.followers.len() >= lasting
            && self
                .lasting
                .iter()
                .zip(&snapshot.followers)
                .all(|(a, f)| *a == f.named)
            && snapshot.followers.iter().all(|f| {
                film(f.named.matter).is_some() && f.now.is_none_or(|now| stays(&f.named, &now))
            });
        let (state, _, handles, grips, groups) = self.parts();
        let same_nodes = snapshot.state.time.is_finite()
            && is_count(snapshot.steps)
            && state.nodes.len() == snapshot.state.nodes.len()
            && the_world_stands(&state.nodes, &snapshot.state.nodes)
            && (state.nodes.iter().zip(&snapshot.state.nodes).enumerate()).all(|(m, (a, b))| {
                let len = count(m, a.len());
                b.is_consistent() && (len, a.frames()) == (b.len(), b.frames()) && is_sound(b)
            });
        let tools = &self.model().tools;
        // Following a hand may overshoot a limit by rounding.
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        let same_tools = handles.len() == snapshot.handles.len()
            && grips.len() == snapshot.grips.len()
            && snapshot.strokes.len() == grips.len()
            && snapshot.strokes.iter().all(Stroke::is_sound)
            && snapshot.leads.len() == grips.len()
            && (snapshot.leads.iter().filter_map(|lead| lead.hand))
                .all(|hand| hand.to_array().iter().all(|x| x.is_finite()))
            && tools.iter().zip(&snapshot.handles).all(|(tool, handle)| {
                let reached = tool.grasper.reachable(handle, handle).to_array();
                near(&reached, &handle.to_array())
            });
        let same_eye = match (&self.model().endoscope, &snapshot.endoscope) {
            (None, None) => true,
            (Some(scope), Some(handle)) => near(
                &scope.endoscope.reachable(handle, handle).to_array(),
                &handle.to_array(),
            ),
            _ => false,
        };
        let same_parameters = snapshot.parameters.is_sorted_by(|a, b| a.0 < b.0)
            && snapshot
                .parameters
                .iter()
                .all(|(p, value)| self.objection(*p, *value).is_none());
        let same_groups = groups.len() == snapshot.groups.len()
            && groups.iter().zip(&snapshot.groups).all(|(g, part)| {
                part.ties.len() == g.scene_ties
                    && (part.ties.iter()).all(|(impulse, h)| is_impulse(impulse) && is_substep(*h))
                    && part.joints.len() == g.joints.len()
                    && (g.joints.iter().zip(&part.joints))
                        .all(|(joint, memory)| joint.can_remember(memory, MAX_IMPULSE))
                    && part.caught.is_sorted_by(|a, b| a.0 < b.0)
                    && part.caught.iter().all(|(k, pose)| {
                        let joint = g.joint_index.get(*k as usize);
                        let latched = |j: &usize| self.model.latches.iter().any(|l| l.joint == *j);
                        joint.is_some_and(latched)
                            && pose.position.length() <= FARTHEST
                            && pose.rotation.is_normalized()
                    })
                    && part.warm.is_sorted_by_key(|w| w.key)
                    && part.warm.iter().all(|w| {
                        (0.0..=MAX_IMPULSE).contains(&w.impulse)
                            && is_impulse(&w.rub)
                            && is_substep(w.h)
                    })
                    && part.bad.len() == g.members.len()
                    && (part.tempo.iter()).all(|t| t.is_sound(snapshot.state.time))
                    && part.flows.len() == g.globals().len()
                    && (part.flows.iter()).all(|f| f.numbers().iter().all(|x| x.abs() <= FARTHEST))
                    && match films.is_empty() {
                        true => part.feet.is_empty(),
                        false => {
                            part.feet.len() == g.feet().count()
                                && (g.feet().zip(&part.feet)).all(|(was, is)| stays(&was, is))
                        }
                    }
                    && part.works.len() == g.works.len()
                    && g.works.iter().zip(&part.works).all(|(work, record)| {
                        film(work.matter).is_some_and(|m| work.can_resume(m, record))
                    })
                    && part.sides.len() == g.skins.len()
                    && g.skins.iter().zip(&part.sides).all(|(skin, sides)| {
                        let triangles = match film(skin.matter) {
                            Some(membrane) => membrane.sheet().triangle_slots(),
                            None => self.triangles_of(skin.matter),
                        };
                        let last = (g.probes.len(), triangles);
                        are_sides(sides, last)
                    })
                    && part.folds.is_some() == g.folding.is_some()
                    && part.folds.iter().all(are_folds)
                    && match &g.collisions {
                        None => part.pressed.is_empty() && part.rest.is_empty(),
                        Some(c) => c.can_take(&part.pressed, &part.rest, MAX_IMPULSE),
                    }
            });
        let held = tools.iter().zip(&snapshot.grips).all(|(tool, grip)| {
            grip.jaw.is_finite()
                && grip.load.length() <= MAX_FORCE
                && grip
                    .holds
                    .iter()
                    .all(|hold| hold.tie.a.matter == tool.matter && self.can_hold(hold, &has))
        });
        if same_films
            && same_nodes
            && same_tools
            && same_eye
            && same_parameters
            && same_groups
            && held
        {
            Ok(())
        } else {
            Err(SnapshotError::Damaged("it does not fit the scene"))
        }
    }

    /// How many triangles a tissue has.
    fn triangles_of(&self, matter: MatterId) -> usize {
        let tissue = self.model.tissues.iter().find(|t| t.matter == matter);
        tissue.map_or(0, |t| t.triangles.len())
    }

    /// True if a hold is on the surface of a tissue, and its numbers are sound.
    fn can_hold(&self, hold: &Hold, has: &dyn Fn(&Anchor) -> bool) -> bool {
        let tie = &hold.tie;
        let tissues = &self.model().tissues;
        let on_tissue = tissues.iter().any(|t| t.matter == tie.b.matter)
            && matches!(tie.b.at, Local::Node(_) | Local::Triangle(..))
            && has(&tie.b);
        let on_tool = matches!(tie.a.at, Local::Frame(part, offset)
            if (part as usize) < PARTS && offset.length() <= MAX_REACH);
        on_tissue
            && on_tool
            && tie.kind == TieKind::Point
            && is_impulse(&tie.impulse)
            && is_substep(tie.h)
            && hold.taken.length() <= MAX_REACH
            && hold.force.length() <= MAX_FORCE
            && (0.0..=MAX_FORCE).contains(&hold.pull)
    }
}

/// The world is the first matter; nothing moves it.
fn the_world_stands(here: &[Nodes], there: &[Nodes]) -> bool {
    let place = |nodes: &[Nodes]| {
        nodes
            .first()
            .map(|w| (w.position.clone(), w.orientation.clone()))
    };
    place(here) == place(there)
}

fn is_impulse(impulse: &DVec3) -> bool {
    // Also false for what is no number.
    impulse.length() <= MAX_IMPULSE
}

/// More steps or tears than this nobody has made; counting on must not overflow.
fn is_count(n: u64) -> bool {
    n < 1 << 53
}

fn is_substep(h: f64) -> bool {
    (0.0..=1e3).contains(&h)
}

fn is_sound(nodes: &Nodes) -> bool {
    let finite = |list: &[DVec3]| list.iter().all(|v| v.is_finite());
    finite(&nodes.position)
        && finite(&nodes.velocity)
        && finite(&nodes.spin)
        && nodes
            .flow
            .iter()
            .chain(&nodes.spared)
            .all(|f| f.is_finite())
        && (nodes.spared.is_empty() || nodes.spared.len() == nodes.flow.len())
        && nodes
            .orientation
            .iter()
            .all(|q| (q.length() - 1.0).abs() < 1e-6)
}

/// True if `sides` are sorted, within `last` (probes, triangles), and each is a side.
fn are_sides(sides: &[Side], (probes, triangles): (usize, usize)) -> bool {
    let known =
        |s: &Side| (s.0 as usize) < probes && (s.1 as usize) < triangles && (s.2 == 1 || s.2 == -1);
    sides.iter().all(known) && sides.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1))
}
