//! Surfaces of tissues, as instruments and bodies meet them.

use super::{Group, Stage, Sub, quarantine::PATIENCE};
use crate::{
    file::InstrumentKind,
    probes::{FARTHEST, Place, WATCH},
    report::Clock,
};
use glam::DVec3;
use trocar_collide::{Patch, Touch, closest};
use trocar_dynamics::{Anchor, Contact, Kinematic, Local, Lock, Masses, MatterId, Outcome, solve};
use trocar_math::Alone;
use trocar_tools::grasper::PARTS;

/// No hand leads an instrument faster than this, m/s; what is flung by one that is led slower needs no closer look.
const HAND: f64 = 2.0;

/// Friction of a tissue with bodies if it does not say: wet, but held by an instrument's teeth.
const TISSUE_FRICTION: [f64; 2] = [0.4, 0.3];

/// Least share of free corners, of the sum of squared weights, for a touched point to be pushed: they then move at most
/// about five times as far as the point.
const LEAST_SHARE: f64 = 0.05;

/// The surface of a tissue, as instruments and bodies meet it.
pub struct Skin {
    /// Whose it is.
    pub matter: MatterId,
    /// The surface.
    pub patch: Patch,
    /// Static and dynamic coefficient of friction; none if it does not say.
    pub friction: Option<[f64; 2]>,
    /// Instruments and bodies can touch it; otherwise they pass through.
    pub touchable: bool,
    /// Tool and node of everything held; closed jaws do not push what they hold.
    pub held: Vec<(usize, u32)>,
    /// Jaws amid it, which push it no more than if they held it: what lies around them may be on either side of them.
    pub amid: Vec<Amid>,
    /// The greatest speed of any of its nodes at the start of the step, m/s.
    pub speed: f64,
}

/// Jaws that hold a membrane, or did and are not clear of it yet.
pub struct Amid {
    /// Whose jaws.
    pub tool: usize,
    /// Whether they overlapped it in the last substep.
    pub overlap: bool,
}

impl Group {
    /// Which triangles instruments and bodies may touch in this step.
    pub fn gather(&mut self, stage: &Stage<'_>) {
        self.reactions.fill(DVec3::ZERO);
        self.aim = Outcome::RIGHT;
        self.correct = self.aim;
        self.fallen.clear();
        self.halvings = 0;
        self.blows = 0;
        self.blows_left = 0;
        self.penetration = 0.0;
        self.slip = 0.0;
        self.too_fast = 0;
        self.lost.clear();
        self.redundant.clear();
        self.clock = Clock::start();
        self.approach = 0.0;
        if self.skins.is_empty() {
            return;
        }
        // Tissue that is pushed goes as far as what pushes it, and as far as it goes by itself.
        let motion = self.place_tools(stage, 0.0, 1.0);
        let reach = match self.only_films {
            true => 2.0 * motion,
            false => 2.0 * motion + 2.0 * WATCH,
        };
        self.lead_fixtures(stage, 0.0, 1.0, stage.dt);
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        self.probes.place(
            stage.model,
            (&self.capsules, &self.ahead),
            (reach, self.only_films),
            share,
            stage.dt,
        );
        for probe in &mut self.probes.list {
            probe.margin = match (self.only_films, &probe.ahead) {
                (true, Some(ahead)) => probe.margin + ahead.watch,
                _ => probe.margin.max(reach),
            };
        }
        // Where nothing is that could touch anything, nobody asks how far tissue went.
        if self.probes.list.is_empty() {
            self.mend_skins(stage);
            self.begin_works(stage);
            return;
        }
        self.moved.clear();
        for skin in &mut self.skins {
            let nodes = share(skin.matter);
            let (position, velocity) = (&nodes.position, &nodes.velocity);
            let (moved, speed) = match stage.crew {
                Some(crew) => skin.patch.follow_by(position, velocity, crew),
                None => skin.patch.follow_by(position, velocity, &Alone),
            };
            self.moved.push(moved);
            skin.speed = speed;
        }
        let surfaces = self.skins.iter().zip(&self.moved);
        let surfaces = surfaces.map(|(s, moved)| (s.matter, s.patch.extent(), *moved));
        self.probes.look(stage.model, surfaces, stage.dt);
        for (s, (skin, moved)) in self.skins.iter_mut().zip(&self.moved).enumerate() {
            let nodes = share(skin.matter);
            let touchable = skin.touchable;
            let wants = |p: usize| touchable && self.probes.may_touch(s, p);
            let list = &self.probes.list;
            let near = skin.patch.gather_some(list, wants, &nodes.position, *moved);
            if near > 0 {
                let speeds = stage.model.tools.iter().map(|t| t.grasper.speed);
                let fastest = speeds.fold(0.0, f64::max);
                let mut tissue = 0.0_f64;
                if fastest > HAND {
                    let masses = stage.model.matters[skin.matter.index()].masses();
                    let speed = |n: u32| masses.node_velocity(nodes, n as usize).length();
                    tissue = skin.patch.near_nodes().map(speed).fold(0.0, f64::max);
                }
                let flung = tissue.min(fastest) * stage.dt;
                self.approach = self.approach.max(motion + flung);
            }
        }
        self.mend_skins(stage);
        self.begin_works(stage);
    }

    /// Puts tissues back whose nodes are no numbers where something could touch them, before they are looked at in substeps; and bodies that are nowhere, of which no tissue could tell whether
    /// they touch it. Instruments never are: whatever a hand asks for, they go where numbers are.
    fn mend_skins(&mut self, stage: &Stage<'_>) {
        let lost = self.skins.iter().filter_map(|s| s.patch.lost()).min();
        if let Some(probe) = lost {
            let ((matter, _), _) = self.probes.owner(stage.model, probe, PARTS);
            if let Some(k) = self.members.iter().position(|m| *m == matter) {
                self.quarantine(stage, k);
            }
        }
        for k in 0..self.members.len() {
            let m = self.members[k];
            let nodes = &self.nodes[stage.slot[m.index()] as usize];
            let places = || nodes.position.iter().chain(&nodes.velocity);
            // What touches tissues without being near an instrument would hand on what is no number.
            let folds = self.folding.as_ref().is_some_and(|f| f.has(m));
            let skin = self.skins.iter().position(|s| s.matter == m);
            let broken = skin.is_some_and(|s| self.skins[s].patch.broken().is_some());
            if broken || folds && !places().all(|p| p.is_finite()) {
                self.quarantine(stage, k);
                if let Some(skin) = skin {
                    self.look_anew(stage, skin);
                }
            }
        }
    }

    /// A tissue has been put elsewhere: it may be near to others there.
    fn look_anew(&mut self, stage: &Stage<'_>, skin: usize) {
        let skin = &mut self.skins[skin];
        let nodes = &self.nodes[stage.slot[skin.matter.index()] as usize];
        let (moved, speed) = skin
            .patch
            .follow_by(&nodes.position, &nodes.velocity, &Alone);
        skin.speed = speed;
        skin.patch.gather(&self.probes.list, &nodes.position, moved);
    }

    /// Gathers anew which triangles may be touched where that of the start of the step does not hold: something has been flung, or struck, and goes farther than anybody could foresee then.
    /// What is touched never depends on when it was gathered; so what is calm has the bits that it would have without.
    fn gather_again(&mut self, stage: &Stage<'_>, sub: Sub) {
        if self.probes.len() == 0 {
            return;
        }
        let left = (1.0 - sub.from) * stage.dt;
        for skin in self.skins.iter_mut().filter(|s| s.touchable) {
            let nodes = &self.nodes[stage.slot[skin.matter.index()] as usize];
            let (position, velocity) = (&nodes.position, &nodes.velocity);
            let (strayed, speed) = match stage.crew {
                // Nothing has moved since the step began.
                _ if sub.from == 0.0 => (0.0, skin.speed),
                Some(crew) => skin.patch.strayed(position, velocity, crew),
                None => skin.patch.strayed(position, velocity, &Alone),
            };
            if skin.patch.holds(&self.probes.list, strayed + speed * sub.h) {
                continue;
            }
            // For as long as the step lasts, if it goes on like that; and as much for what it may meet as is watched around everything.
            let far = (speed * left).min(FARTHEST).max(speed * sub.h) + WATCH;
            self.probes.widen(far);
            let moved = skin.patch.follow(&nodes.position);
            let extent = skin.patch.extent();
            let probes = &self.probes;
            let wants = |p: usize| {
                extent.overlaps(&probes.list[p].bounds())
                    && !probes.is_apart(stage.model, p, skin.matter)
            };
            skin.patch
                .gather_some(&probes.list, wants, &nodes.position, moved);
            self.probes.narrow();
        }
    }

    /// Contacts at the start of the substep, watched as far as the tools move in it.
    pub(super) fn detect(&mut self, stage: &Stage<'_>, sub: Sub) {
        self.h = sub.h;
        let (from, to) = (sub.from, sub.to);
        let motion = self.place_tools(stage, from, to);
        for (t, (tool, moves)) in stage.model.tools.iter().zip(stage.motions).enumerate() {
            let ahead = tool.grasper.poses(&moves.at(to));
            Kinematic::lead(
                &mut self.nodes[tool.matter.index()],
                &self.poses[t],
                &ahead,
                sub.h,
            );
        }
        self.lead_fixtures(stage, sub.from, sub.to, sub.h);
        self.detect_bodies(stage, sub);
        self.stir_pulled(stage);
        self.contacts.clear();
        self.keys.clear();
        if self.skins.is_empty() {
            return;
        }
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        self.probes.place(
            stage.model,
            (&self.capsules, &self.ahead),
            (motion, self.only_films),
            share,
            sub.h,
        );
        self.gather_again(stage, sub);
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        // How far what touches a tissue may push it.
        let mut pushed = 0.0_f64;
        for skin in &mut self.skins {
            // What is frozen can't give way, so no force could be right.
            let frozen = |(m, bad): (&MatterId, &u32)| *m == skin.matter && *bad >= PATIENCE;
            if !skin.touchable || self.members.iter().zip(&self.bad).any(frozen) {
                continue;
            }
            let nodes = share(skin.matter);
            let masses = stage.model.matters[skin.matter.index()].masses();
            let way = |n: u32| masses.node_velocity(nodes, n as usize) * sub.h;
            skin.amid.iter_mut().for_each(|jaws| jaws.overlap = false);
            skin.patch
                .touches(&self.probes.list, &nodes.position, &way, &mut self.touches);
            if self.contacts.capacity() - self.contacts.len() < self.touches.len() {
                // For a few times as many: what slides on has more of them before long.
                let room = 2 * self.touches.capacity();
                self.contacts.reserve(room);
                self.keys.reserve(room);
                self.warm
                    .reserve((self.contacts.len() + room).saturating_sub(self.warm.len()));
            }
            for touch in &self.touches {
                let tool = self.probes.tool(touch.probe, PARTS);
                if let Some((tool, part)) = tool {
                    // Whether jaws overlap a membrane is asked while they hold it, too: what they hold may slip in this step.
                    let amid = skin.amid.iter_mut().find(|jaws| jaws.tool == tool);
                    if let Some(jaws) = amid.filter(|_| part > 0) {
                        jaws.overlap |= is_overlapped(touch, &nodes.position);
                        continue;
                    }
                    // Between jaws that hold a tissue there is no way out for it: they would push it against
                    // each other. The shaft pushes all but what it carries.
                    let of_tool = |held: &&(usize, u32)| held.0 == tool;
                    let carries = |held: &(usize, u32)| part > 0 || touch.nodes.contains(&held.1);
                    if skin.held.iter().filter(of_tool).any(carries) {
                        continue;
                    }
                    // Of a membrane a needle's tip is a matter of forces, and closing blades are to cut it, not to push it away.
                    if part > 0 && stage.model.membrane(skin.matter).is_some() {
                        let moves = &stage.motions[tool];
                        match stage.model.tools[tool].kind {
                            InstrumentKind::Needle => continue,
                            InstrumentKind::Scissors if moves.to.jaw < moves.from.jaw => continue,
                            _ => {}
                        }
                    }
                }
                if self.probes.is_apart(stage.model, touch.probe, skin.matter) {
                    continue;
                }
                let (owner, friction) = self.probes.owner(stage.model, touch.probe, PARTS);
                let moves = Some(owner.0) == stage.model.bodies;
                if !moves && !yields(masses, touch) {
                    continue;
                }
                // A tissue that does not say how it rubs lets instruments slip, as it always has.
                let of_skin = skin.friction.unwrap_or(match tool {
                    Some(_) => [0.0; 2],
                    None => TISSUE_FRICTION,
                });
                let friction = [0, 1].map(|k| (friction[k] * of_skin[k]).sqrt());
                let mut contact = match tool {
                    Some((tool, part)) if friction[0] == 0.0 => Contact {
                        a: Anchor::frame(owner.0, owner.1, self.poses[tool][part].local(touch.at)),
                        b: Anchor {
                            matter: skin.matter,
                            at: Local::Triangle(touch.nodes, touch.weights),
                        },
                        normal: touch.normal,
                        distance: touch.distance,
                        friction: 0.0,
                        recovery: stage.budget.recovery,
                        give: 0.0,
                        impulse: 0.0,
                        rub: DVec3::ZERO,
                    },
                    _ => {
                        let corners = touch.nodes.iter().zip(touch.weights);
                        let sum = |of: &dyn Fn(usize) -> DVec3| {
                            let weighed = corners.clone().map(|(n, w)| of(*n as usize) * w);
                            weighed.fold(DVec3::ZERO, |sum, x| sum + x)
                        };
                        let place = Place {
                            touch,
                            tissue: skin.matter,
                            point: sum(&|i| nodes.position[i]),
                            velocity: sum(&|i| masses.node_velocity(nodes, i)),
                        };
                        place.contact(owner, share(owner.0), friction, sub.h, tool.is_none())
                    }
                };
                let key = (skin.matter, touch.probe as u32, touch.key.0, touch.key.1);
                if let Ok(i) = self.warm.binary_search_by(|w| w.key.cmp(&key)) {
                    let warm = &self.warm[i];
                    // A tool goes its own way, and a faster hand has shorter substeps: what keeps tissue off it is a matter of that way,
                    // not of weight. Made larger with the substep, it flung tissue that was crushed against fixed nodes.
                    let growth = match tool {
                        Some(_) => 1.0,
                        None => solve::growth(warm.h, sub.h),
                    };
                    contact.impulse = warm.impulse * growth;
                    contact.rub = warm.rub * growth;
                }
                let probe = &self.probes.list[touch.probe];
                let watch = probe.ahead.map_or(WATCH, |ahead| ahead.watch);
                pushed = pushed.max(probe.margin - watch);
                self.keys.push(key);
                self.contacts.push(contact);
            }
        }
        if let Some(folding) = &mut self.folding {
            folding.find(stage.model, share, (sub.h, pushed), stage.crew);
        }
        self.add_folds(stage, sub);
        self.stir_bodies(stage);
    }
}

/// Whether a point that is touched is within the hull.
fn is_overlapped(touch: &Touch, position: &[DVec3]) -> bool {
    let corners = touch.nodes.map(|n| position[n as usize]);
    let apart = closest::point(corners, touch.weights) - touch.at;
    apart.dot(touch.normal) < touch.distance
}

/// True if a touched point can be moved.
fn yields(masses: &Masses, touch: &Touch) -> bool {
    let corners = touch.nodes.iter().zip(touch.weights);
    can_move(corners.map(|(n, weight)| (masses.lock(*n as usize) != Lock::Fixed, weight)))
}

/// True if a point can be moved by moving the free ones of its nodes about as far. Of each node: whether it is free, and its
/// weight. Next to a fixed corner a free one has so small a share that to move the point a millimetre it would be flung a
/// metre; there the point counts as fixed, and what can't be moved is not pushed.
pub(super) fn can_move(nodes: impl Iterator<Item = (bool, f64)>) -> bool {
    let (mut share, mut all) = (0.0, 0.0);
    for (free, weight) in nodes {
        all += weight * weight;
        if free {
            share += weight * weight;
        }
    }
    share > LEAST_SHARE * all
}
