//! Which triangles a probe may touch: looked for in the tree seldom, with some room, and judged by where they are every time (W39, W57).

use super::{
    Patch, Probe, grow, make_room,
    probe::{Capsule, Hull, Reaching},
};
use glam::DVec3;
use trocar_math::{Bounds, four::LANES};

/// A look is given room for about so many questions. It lasts shorter where that would be more than the probe's own reach: what lies in the room
/// is judged every time.
const LASTING: f64 = 8.0;

/// What looks in the tree found, by probe.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    list: Vec<Look>,
    /// Triangles and their corners, of one probe after the other, each in ascending order.
    found: Vec<(u32, [u32; 3])>,
    before: Vec<(u32, [u32; 3])>,
    /// How far any node may have moved since the beginning, m.
    travel: f64,
    /// While no node is far from where it was when the whole tree was fitted, that stays as it was.
    calm: Option<Calm>,
    count: u64,
    /// Where the probes were, and how far they reached, when triangles were last gathered.
    gathered: Vec<Sought>,
}

/// A surface that swings about where it was when its tree was fitted.
#[derive(Clone, Copy, Debug, Default)]
struct Calm {
    /// How far from there any node has been at most, m.
    drift: f64,
    /// Some boxes were fitted since: what is in them may have moved twice as far.
    edited: bool,
}

impl Calm {
    /// How far a node may be from its boxes, m.
    fn slack(&self) -> f64 {
        self.drift * if self.edited { 2.0 } else { 1.0 }
    }
}

/// A surface that was carried away is at rest again when it would take so many questions to go as far as a calm one may drift.
const STILL: f64 = 200.0;

/// A surface counts as calm up to a drift of so many times what its probes reach.
const CALM: f64 = 2.0;

impl Looks {
    /// With room for so many triangles.
    pub fn with_capacity(triangles: usize) -> Self {
        Self {
            found: Vec::with_capacity(triangles),
            before: Vec::with_capacity(triangles),
            ..Self::default()
        }
    }

    /// How far a node may be from its boxes, m: while the surface is calm, the tree does not know.
    pub fn slack(&self) -> f64 {
        self.calm.map_or(0.0, |calm| calm.slack())
    }

    /// The first probe that is at no place, of those that somebody wanted the last time.
    pub fn lost(&self, probes: &[Probe]) -> Option<u32> {
        let wanted = |c: usize| {
            let look = self.list.get(c);
            look.is_none_or(|look| !matches!(look.sought, Sought::Nothing))
        };
        let lost = |(c, probe): (usize, &Probe)| !probe.is_placed() && wanted(c);
        let found = probes.iter().enumerate().position(lost);
        found.map(|c| c as u32)
    }

    /// Has all look again.
    fn forget(&mut self) {
        self.list.clear();
        self.found.clear();
    }

    /// Some triangles have changed, and their boxes with them.
    pub fn edit(&mut self) {
        self.forget();
        if let Some(calm) = &mut self.calm {
            calm.edited = true;
        }
    }

    /// Begins anew with a tree that has just been fitted.
    fn begin(&mut self) {
        self.forget();
        self.calm = Some(Calm::default());
    }
}

/// The last look of a probe.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// What it looked for.
    sought: Sought,
    /// The surface's travel then, m.
    travel: f64,
    /// What is found holds until probe and surface have moved this far together, m.
    room: f64,
    /// How often it was asked since.
    asked: u32,
    /// Where its triangles end.
    end: usize,
}

impl Look {
    const NONE: Self = Self {
        sought: Sought::Nothing,
        travel: 0.0,
        room: 0.0,
        asked: 0,
        end: 0,
    };

    /// How much of the room is used, m; infinite, or no number, if the look is of no use.
    fn used(&self, probe: &Probe, (travel, most): (f64, f64)) -> f64 {
        (self.sought.outgrown(probe) + (travel - self.travel).min(most)) * (1.0 + 1e-9)
    }
}

/// Where a probe was when it looked, and how far it reached, m.
#[derive(Clone, Copy, Debug)]
enum Sought {
    Nothing,
    Near(Capsule, f64),
    Below(DVec3, DVec3, f64),
    Within(Bounds),
}

impl Sought {
    fn of(probe: &Probe) -> Self {
        match &probe.hull {
            Hull::Capsule(capsule) => Self::Near(*capsule, capsule.radius + probe.margin),
            Hull::Below(point, normal) => Self::Below(*point, *normal, probe.margin),
            Hull::Convex(_) | Hull::Grid(..) => Self::Within(probe.bounds()),
        }
    }

    /// How far a probe reaches beyond, m.
    fn outgrown(&self, probe: &Probe) -> f64 {
        match (self, Self::of(probe)) {
            (Self::Near(old, reach), Self::Near(new, now)) => {
                let moved = old.a.distance(new.a).max(old.b.distance(new.b));
                moved + (now - reach).max(0.0)
            }
            (Self::Below(from, up, reach), Self::Below(to, normal, now)) if *up == normal => {
                ((to - *from).dot(normal) + now - reach).max(0.0)
            }
            (Self::Within(old), Self::Within(new)) => {
                let out = (old.low - new.low).max(new.high - old.high);
                out.max_element().max(0.0)
            }
            _ => f64::INFINITY,
        }
    }

    /// How much less far a probe reaches in any direction than it did, m; negative if it reaches farther, no number if that can't be told.
    fn spare(&self, probe: &Probe) -> f64 {
        match (self, Self::of(probe)) {
            (Self::Near(old, reach), Self::Near(new, now)) => {
                reach - now - old.a.distance(new.a).max(old.b.distance(new.b))
            }
            (Self::Below(from, up, reach), Self::Below(to, normal, now)) if *up == normal => {
                reach - now - (to - *from).dot(normal)
            }
            (Self::Within(old), Self::Within(new)) => {
                (new.low - old.low).min(old.high - new.high).min_element()
            }
            _ => f64::NAN,
        }
    }

    /// How far it reaches, m.
    fn reach(&self, probe: &Probe) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Near(_, reach) => *reach,
            Self::Below(..) | Self::Within(_) => probe.margin,
        }
    }

    /// How much room a look is worth if a question uses `rate` (m) of it: never so little that what hardly moves looks often, and none if it
    /// would not last for two.
    fn room(&self, probe: &Probe, rate: f64) -> f64 {
        let most = self.reach(probe);
        if 2.0 * rate <= most {
            (LASTING * rate).clamp(0.125 * most, most)
        } else {
            0.0
        }
    }
}

impl Patch {
    /// Once a step: which triangles may be touched within the margins of the probes. No node has moved farther than `moved` (m) since the last
    /// time; infinite if that is not known. Returns the number of pairs.
    ///
    /// The tree is asked only when a probe and the surface have used up the room of the last look; what is near does not depend on when that was.
    pub fn gather(&mut self, probes: &[Probe], positions: &[DVec3], moved: f64) -> usize {
        self.gather_some(probes, |_| true, positions, moved)
    }

    /// [`gather`](Self::gather) for those probes only that somebody `wants`; others touch nothing.
    pub fn gather_some(
        &mut self,
        probes: &[Probe],
        wants: impl Fn(usize) -> bool,
        positions: &[DVec3],
        moved: f64,
    ) -> usize {
        self.near.clear();
        self.near_corners.clear();
        self.broken = None;
        let drift = self.drift.take();
        match &mut self.tree {
            Some(tree) if moved.is_finite() => {
                let looks = &mut self.looks;
                looks.travel += moved.max(0.0);
                let reaches = probes.iter().map(|p| Sought::of(p).reach(p));
                let most = CALM * reaches.fold(0.0, f64::max);
                match (&mut looks.calm, drift) {
                    (Some(calm), Some(drift)) if drift <= most || probes.is_empty() => {
                        calm.drift = calm.drift.max(drift);
                    }
                    (Some(calm), _) => {
                        tree.moved(2.0 * calm.drift + moved);
                        looks.calm = None;
                        looks.forget();
                    }
                    // It has come to rest elsewhere.
                    (None, Some(_)) if moved * STILL <= most && tree.refit(positions).is_ok() => {
                        self.begin(positions);
                    }
                    (None, _) => tree.moved(moved),
                }
            }
            Some(tree) => {
                // A node that is nowhere is named below, if anything could touch it.
                if tree.refit(positions).is_err() && positions.len() < tree.node_count() {
                    self.broken = Some(0);
                }
                self.begin(positions);
            }
            None => match grow(&self.triangles, positions) {
                Some(tree) => {
                    self.tree = Some(tree);
                    self.begin(positions);
                }
                // Without places for all nodes there is no tree yet.
                None => self.broken = Some(0),
            },
        }
        self.look(probes, &wants, positions);
        self.lost = self.looks.lost(probes);
        self.looks.gathered.clear();
        self.looks.gathered.extend(probes.iter().map(Sought::of));
        let Self {
            looks,
            broken,
            near,
            near_corners,
            ..
        } = self;
        let place = |n: u32| positions.get(n as usize).copied().unwrap_or(DVec3::NAN);
        let mut start = 0;
        for (c, (probe, look)) in probes.iter().zip(&looks.list).enumerate() {
            let reaching = Reaching::new(probe, 0.0);
            for (t, corners) in &looks.found[start..look.end] {
                match around(corners.map(place)) {
                    Some(bounds) if reaching.may_touch(&bounds) => {
                        near.push((c as u32, *t));
                        near_corners.push(*corners);
                    }
                    Some(_) => {}
                    None => *broken = Some(broken.map_or(*t, |b| b.min(*t))),
                }
            }
            start = look.end;
        }
        let pairs = self.near.len();
        make_room(&mut self.near, pairs);
        make_room(&mut self.near_corners, pairs);
        make_room(&mut self.sides, pairs);
        make_room(&mut self.sides_before, pairs);
        make_room(&mut self.seen, pairs);
        make_room(&mut self.fours, pairs.div_ceil(LANES));
        make_room(&mut self.outward, pairs);
        if probes.iter().any(|p| matches!(p.hull, Hull::Grid(..))) {
            self.deep.reserve(pairs);
        }
        pairs
    }

    /// True if the triangles that were last gathered are all that the probes may touch where they are now, although nodes have moved by up to `used` (m) since, what they are about to go
    /// included. If not, something has become faster than was foreseen: gather again.
    pub fn holds(&self, probes: &[Probe], used: f64) -> bool {
        let then = &self.looks.gathered;
        // A hair for rounding; what is no number does not hold.
        let used = used * (1.0 + 1e-9);
        let mut both = then.iter().zip(probes);
        then.len() == probes.len() && both.all(|(then, probe)| then.spare(probe) >= used)
    }

    /// The tree has just been fitted: nodes drift from here.
    fn begin(&mut self, positions: &[DVec3]) {
        self.looks.begin();
        self.fitted.clear();
        // Only for those that follow; others have to know it.
        if !self.followed.is_empty() {
            self.fitted.extend_from_slice(positions);
        }
    }

    /// Tells the next [`gather`](Self::gather) that no node is farther than this (m) from where it was at the last one that was told an infinite
    /// motion, the first included: of what swings about a place the tree then need not be fitted. [`follow`](Self::follow) tells it.
    pub fn drifted(&mut self, far: f64) {
        self.drift = Some(far);
    }

    /// How often a probe looked into the tree so far.
    pub fn looks(&self) -> u64 {
        self.looks.count
    }

    /// Has those probes look that have to.
    fn look(&mut self, probes: &[Probe], wants: &impl Fn(usize) -> bool, positions: &[DVec3]) {
        let Self {
            looks,
            tree: Some(tree),
            triangles,
            ..
        } = self
        else {
            return;
        };
        if looks.list.len() != probes.len() {
            looks.forget();
            looks.list.resize(probes.len(), Look::NONE);
        }
        let calm = looks.calm;
        let travel = looks.travel;
        // However long it swings, it is not farther away than this.
        let now = (travel, calm.map_or(f64::INFINITY, |c| 2.0 * c.drift));
        let mut all = true;
        for (c, (look, probe)) in looks.list.iter_mut().zip(probes).enumerate() {
            look.asked += 1;
            all &= match wants(c) {
                true => look.used(probe, now) <= look.room,
                false => matches!(look.sought, Sought::Nothing),
            };
        }
        if all {
            return;
        }
        std::mem::swap(&mut looks.found, &mut looks.before);
        looks.found.clear();
        let place = |n: u32| positions.get(n as usize).copied().unwrap_or(DVec3::NAN);
        let mut from = 0;
        for (c, (look, probe)) in looks.list.iter_mut().zip(probes).enumerate() {
            let old = from..look.end;
            from = look.end;
            if !wants(c) {
                *look = Look {
                    end: looks.found.len(),
                    ..Look::NONE
                };
                continue;
            }
            let used = look.used(probe, now);
            if used <= look.room {
                looks.found.extend_from_slice(&looks.before[old]);
                look.end = looks.found.len();
                continue;
            }
            looks.count += 1;
            let sought = Sought::of(probe);
            let room = sought.room(probe, used / f64::from(look.asked.max(1)));
            let reaching = Reaching::new(probe, room);
            let start = looks.found.len();
            let found = |t: u32| {
                let corners = triangles[t as usize];
                let bounds = around(corners.map(place));
                if bounds.is_none_or(|bounds| reaching.may_touch(&bounds)) {
                    looks.found.push((t, corners));
                }
            };
            match calm {
                Some(calm) => {
                    tree.reached_then(&Reaching::new(probe, room + calm.slack()), found);
                }
                None => tree.reached(&reaching, positions, found),
            }
            looks.found[start..].sort_unstable();
            *look = Look {
                sought,
                travel,
                room,
                asked: 0,
                end: looks.found.len(),
            };
        }
        let count = looks.found.len();
        make_room(&mut looks.found, count);
        make_room(&mut looks.before, count);
    }
}

/// The box around a triangle; none if a corner is no number.
#[inline]
fn around([p, q, r]: [DVec3; 3]) -> Option<Bounds> {
    let finite = p.is_finite() && q.is_finite() && r.is_finite();
    finite.then(|| Bounds {
        low: p.min(q).min(r),
        high: p.max(q).max(r),
    })
}
