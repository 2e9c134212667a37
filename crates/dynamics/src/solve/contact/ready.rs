//! Making contacts ready for the sweeps.

use super::{
    Body, CHUNK, Entry, List, Pace, Place, Press, Run, STILL, Slab, Spot, Step, Task,
    slab::{Course, MOST_SLABS, Round, push_far},
    spot::{Symmetric, numbers},
    stride::Trail,
    twins::{Hall, Inertias, Two, answers, both, two},
};
use crate::{
    BodyContact, Cast, Crew,
    solve::mover::{BODIES, Level, Mover, Movers, NONE},
};
use glam::{DMat3, DVec3};

/// So many points are worth a slab of their own.
const POINTS_A_SLAB: usize = 192;

/// Share of an overlap that is undone in one substep. The rest follows: undone at once, it would be a blow. With a quarter of
/// it a high tower would lean faster than its joints are put right, with twice as much they would tremble.
const RECOVERY: f64 = 0.1;

/// An overlap deeper than this, m, comes from a blow, not from a weight; what is beyond it is undone faster.
const DEEP: f64 = 1e-3;
const DEEP_RECOVERY: f64 = 0.2;

/// Overlap that is left alone, m: it keeps resting contacts from coming and going.
const SLOP: f64 = 1e-5;

/// What the points of all slabs are made of.
struct Material<'a> {
    movers: &'a Movers,
    contacts: &'a [BodyContact],
    entries: &'a [Entry],
    taken: &'a [u32],
    place: &'a [Place],
    /// Of each mover whether joints act on it, or on something it touches; empty if they act on none.
    joined: &'a [bool],
    task: Task,
    level: Level,
}

impl Press {
    /// Makes all contacts ready that `task` is about. Movers that are there already are those that joints and tissue act on.
    pub fn begin(
        &mut self,
        movers: &mut Movers,
        cast: &Cast<'_>,
        (contacts, task): (&[BodyContact], Task),
        level: Level,
        crew: Option<&Crew>,
    ) {
        self.others = movers.len();
        self.sweeps = 0;
        self.left = false;
        self.active = 0;
        self.far.clear();
        self.pace = Pace::default();
        self.shared.clear();
        self.place.clear();
        self.entries.clear();
        self.taken.clear();
        self.entry_of.clear();
        self.nth.clear();
        self.slabs.iter_mut().for_each(Slab::clear);
        self.runs.resize(contacts.len(), Run::default());
        Crew::spread(crew, &mut self.runs, CHUNK, |first, some| {
            let mut before = first.checked_sub(1).map(|i| &contacts[i]);
            for (run, contact) in some.iter_mut().zip(&contacts[first..]) {
                run.taken = task.takes(contact);
                run.begins = before.is_none_or(|b| (b.a, b.b) != (contact.a, contact.b));
                if run.begins {
                    run.ends = [contact.a, contact.b];
                }
                before = Some(contact);
            }
        });
        // The points of a pair come together: who they are between is asked once.
        let (mut ends, mut is_new) = (&Run::default().ends, true);
        for (i, run) in (0..).zip(&self.runs) {
            if run.begins {
                (ends, is_new) = (&run.ends, true);
            }
            if !run.taken {
                self.nth.push(NONE);
                continue;
            }
            let k = self.taken.len() as u32;
            self.nth.push(k);
            self.taken.push(i);
            if std::mem::take(&mut is_new) {
                self.entries.push(Entry {
                    movers: ends.map(|(matter, node)| movers.enlist(cast, matter, node)),
                    first: k,
                    count: 0,
                    seat: None,
                });
            }
            let entry = self.entries.len() - 1;
            self.entries[entry].count += 1;
            self.entry_of.push(entry as u32);
        }
        if self.entries.is_empty() {
            return;
        }
        movers.read_from(self.others, cast, level, crew);
        let seen = &*movers;
        self.posts.resize(seen.len(), None);
        Crew::spread(crew, &mut self.posts, BODIES, |first, some| {
            for (m, post) in (first as u32..).zip(some) {
                let mover = &seen[m];
                *post = (mover.freedom > 0).then_some(mover.position);
            }
        });
        self.cut(movers, level);
        self.seat();
        let material = Material {
            movers,
            contacts,
            entries: &self.entries,
            taken: &self.taken,
            place: &self.place,
            joined: &self.joined,
            task,
            level,
        };
        let round = Round {
            inside: |slab: &mut Slab| material.fill(slab),
            border: |one: &mut Slab, next: &mut Slab| {
                let mut hall = Hall::Two(&mut one.bodies, &mut next.bodies);
                let points = one.border_of.iter().flat_map(|e| material.contacts_of(*e));
                for (spot, contact) in one.border.iter().zip(points) {
                    let start = material.start(contact, spot);
                    if start != DVec3::ZERO {
                        hall.push(spot, start);
                    }
                }
            },
        };
        round.run(&mut self.slabs[..self.active], Course::There, crew);
        for (e, entry) in (0..).zip(&self.entries) {
            if let Some((_, List::Far, _)) = entry.seat {
                let [a, b] = entry.movers.map(|m| self.place[m as usize]);
                let meeting = material.meeting(entry);
                for contact in material.contacts_of(e) {
                    let spot = material.spot(&meeting, contact);
                    push_far(&mut self.slabs, a, b, &spot, material.start(contact, &spot));
                    self.far.push((a, b, spot));
                }
            }
        }
        self.far_steps.resize(self.far.len(), Step::default());
    }

    /// Cuts the bodies into slabs across the axis along which they are spread farthest.
    fn cut(&mut self, movers: &Movers, level: Level) {
        self.place.resize(movers.len(), STILL);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        self.order.clear();
        self.load.clear();
        self.load.resize(movers.len(), 0);
        for (m, count) in self
            .entries
            .iter()
            .flat_map(|e| e.movers.map(|m| (m, e.count)))
        {
            self.load[m as usize] += count;
            let place = &mut self.place[m as usize];
            if let (STILL, Some(post)) = (*place, self.posts[m as usize]) {
                place.slab = 0;
                low = low.min(post);
                high = high.max(post);
                self.order.push((0.0, m));
            }
        }
        let spread = high - low;
        let axis = (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best });
        for (x, m) in &mut self.order {
            *x = self.posts[*m as usize].map_or(0.0, |post| post[axis]);
        }
        self.order
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let slabs = (self.taken.len() / POINTS_A_SLAB).clamp(1, MOST_SLABS);
        if self.slabs.len() < slabs {
            self.slabs.resize_with(slabs, Slab::default);
        }
        self.active = slabs;
        self.join(movers);
        let all: u64 = self.order.iter().map(|(_, m)| self.load(*m)).sum();
        let mut before = 0;
        for (_, m) in &self.order {
            // As many points in each: that is what it takes time for.
            let load = self.load(*m);
            let slab = ((2 * before + load) * slabs as u64 / (2 * all).max(1)) as u32;
            let slab = slab.min(slabs as u32 - 1);
            before += load;
            let to = &mut self.slabs[slab as usize];
            self.place[*m as usize] = Place {
                slab,
                body: to.movers.len() as u32,
            };
            to.movers.push(*m);
            if (*m as usize) < self.others {
                let mover = &movers[*m];
                let (velocity, spin) = mover.course(level);
                let (push, turn) = mover.pushed();
                self.shared.push((*m, velocity - push, spin - turn));
            }
        }
    }

    /// How many points a mover has.
    fn load(&self, mover: u32) -> u64 {
        u64::from(self.load[mover as usize])
    }

    /// Finds out which bodies joints act on, directly or through others that they touch.
    fn join(&mut self, movers: &Movers) {
        self.joined.clear();
        let moved = |m: u32| self.posts[m as usize].is_some();
        let ours = |m: &u32| (*m as usize) < self.others && moved(*m);
        if !self.entries.iter().flat_map(|e| e.movers).any(|m| ours(&m)) {
            return;
        }
        self.sets.part(movers.len());
        for entry in &self.entries {
            let [a, b] = entry.movers;
            if moved(a) && moved(b) {
                self.sets.join(a, b);
            }
        }
        self.joined.resize(movers.len(), false);
        for m in self.entries.iter().flat_map(|e| e.movers).filter(ours) {
            self.joined[self.sets.lowest(m) as usize] = true;
        }
        // The lowest knows before others ask.
        for m in 0..movers.len() as u32 {
            self.joined[m as usize] = self.joined[self.sets.lowest(m) as usize];
        }
    }

    /// Finds out in which list the points of each pair belong.
    fn seat(&mut self) {
        let mut far = 0;
        for (e, entry) in (0..).zip(&mut self.entries) {
            let (list, slab) = match entry.movers.map(|m| self.place[m as usize]) {
                [STILL, STILL] => continue,
                [one, STILL] | [STILL, one] => (List::Inside, one.slab),
                [a, b] if a.slab == b.slab => (List::Inside, a.slab),
                [a, b] if a.slab.abs_diff(b.slab) == 1 => (List::Border, a.slab.min(b.slab)),
                _ => (List::Far, 0),
            };
            let to = &mut self.slabs[slab as usize];
            let count = match list {
                List::Inside => {
                    to.inside_of.push(e);
                    &mut to.points[0]
                }
                List::Border => {
                    to.border_of.push(e);
                    &mut to.points[1]
                }
                List::Far => &mut far,
            };
            entry.seat = Some((slab, list, *count));
            *count += entry.count;
        }
    }
}

/// What the points of a pair have in common.
struct Meeting<'a> {
    /// Their places in their slabs.
    bodies: [u32; 2],
    /// How they answer; nothing of what can't be moved.
    inverse_mass: Two,
    inverse_inertia: Inertias,
    /// How they move if nothing can move them.
    carried: [Option<(DVec3, DVec3)>; 2],
    joined: bool,
    /// What the arms of both are reckoned with, if they may differ from those of the contact.
    ends: Option<([&'a Mover; 2], f64)>,
}

impl<'a> Material<'a> {
    /// Makes the bodies and points of a slab, and gives its bodies what those inside it start from.
    fn fill(&self, slab: &mut Slab) {
        let Slab {
            bodies,
            trails,
            movers,
            inside,
            border,
            inside_of,
            border_of,
            ..
        } = slab;
        for m in &*movers {
            let mover = &self.movers[*m];
            let (velocity, spin) = mover.course(self.level);
            let inverse_mass = mover.answer.x_axis.x;
            bodies.push(Body {
                velocity,
                spin,
                inverse_mass,
                inverse_inertia: numbers(&mover.inverse_inertia),
            });
            let joined = self.joined.get(*m as usize) == Some(&true);
            let (mass, inertia) = match joined {
                true => (0.0, DMat3::ZERO),
                false => (inverse_mass.recip(), mover.inertia),
            };
            trails.push(Trail {
                mass,
                inertia,
                steps: [Step::default(); 2],
                joined,
            });
        }
        let mut hall = Hall::One(bodies);
        for e in &*inside_of {
            let meeting = self.meeting(&self.entries[*e as usize]);
            for contact in self.contacts_of(*e) {
                let spot = self.spot(&meeting, contact);
                let start = self.start(contact, &spot);
                if start != DVec3::ZERO {
                    hall.push(&spot, start);
                }
                inside.push(spot);
            }
        }
        for e in &*border_of {
            let entry = &self.entries[*e as usize];
            let [a, b] = entry.movers.map(|m| self.place[m as usize].slab);
            let meeting = self.meeting(entry);
            for contact in self.contacts_of(*e) {
                let spot = self.spot(&meeting, contact);
                border.push(if a < b { spot } else { spot.turned() });
            }
        }
        // The first sweep says where all of them begin.
        slab.inside_steps.resize(slab.inside.len(), Step::default());
        slab.border_steps.resize(slab.border.len(), Step::default());
    }

    /// The contacts of an entry.
    fn contacts_of(&self, entry: u32) -> impl Iterator<Item = &'a BodyContact> + use<'a> {
        let contacts = self.contacts;
        let taken = &self.taken[self.entries[entry as usize].points()];
        taken.iter().map(|i| &contacts[*i as usize])
    }

    /// What of a point's impulse is not yet in the bodies' motion, N·s, as the point sees it.
    fn start(&self, contact: &BodyContact, spot: &Spot) -> DVec3 {
        let [_, start] = self.task.start(contact, spot.joined);
        if spot.softness == 0.0 {
            return DVec3::ZERO;
        }
        let turned = spot.normal != contact.normal;
        if turned { -start } else { start }
    }

    fn meeting(&self, entry: &Entry) -> Meeting<'a> {
        let movers = entry.movers.map(|m| &self.movers[m]);
        let places = entry.movers.map(|m| self.place[m as usize]);
        let mut moved = [Body::STILL; 2];
        let mut carried = [None; 2];
        let ends = moved.iter_mut().zip(&mut carried);
        for ((body, carried), (mover, place)) in ends.zip(movers.into_iter().zip(places)) {
            if place == STILL {
                *carried = Some(mover.course(self.level));
            } else {
                body.inverse_mass = mover.answer.x_axis.x;
                body.inverse_inertia = numbers(&mover.inverse_inertia);
            }
        }
        let [m, n] = [&moved[0].inverse_inertia, &moved[1].inverse_inertia];
        let mut inverse_inertia = [Two::ZERO; 6];
        for (k, to) in inverse_inertia.iter_mut().enumerate() {
            *to = two(m[k], n[k]);
        }
        let free = carried == [None; 2] && self.level == Level::Velocity;
        let ends = free.then(|| {
            let [s, t] = [m, n].map(|m| m[0] + m[1] + m[2]);
            // What does not turn does not mind where it is pushed.
            (movers, if s + t > 0.0 { t / (s + t) } else { 0.5 })
        });
        let joined = |m: &u32| self.joined.get(*m as usize) == Some(&true);
        Meeting {
            bodies: places.map(|place| place.body),
            inverse_mass: two(moved[0].inverse_mass, moved[1].inverse_mass),
            inverse_inertia,
            carried,
            joined: entry.movers.iter().any(joined),
            ends,
        }
    }

    /// The point of a contact.
    fn spot(&self, meeting: &Meeting<'_>, contact: &BodyContact) -> Spot {
        let arms = meeting.arms(contact);
        let mut drift = DVec3::ZERO;
        for ((carried, arm), sign) in meeting.carried.iter().zip(arms).zip([-1.0, 1.0]) {
            if let Some((velocity, spin)) = carried {
                drift += (*velocity + spin.cross(arm)) * sign;
            }
        }
        let target = match self.level {
            Level::Velocity => contact.rebound,
            Level::Position(h) if contact.gap >= -SLOP => -contact.gap.max(0.0) / h,
            Level::Position(h) => {
                let deep = (-contact.gap - DEEP).max(0.0);
                (RECOVERY * (-contact.gap - SLOP) + DEEP_RECOVERY * deep) / h
            }
        };
        let target = target.min(contact.recovery.max(contact.rebound));
        let [a, b] = meeting.bodies;
        let [impulse, _] = self.task.start(contact, meeting.joined);
        let mut spot = Spot {
            a,
            b,
            arms: both(arms[0], arms[1]),
            normal: contact.normal,
            goal: contact.normal * target - drift,
            answer: [0.0; 3],
            inverse: Symmetric::ZERO,
            firmness: [0.0; 2],
            softness: 0.0,
            joined: meeting.joined,
            friction: contact.friction,
            impulse,
        };
        spot.answers(&answers(
            meeting.inverse_mass,
            &meeting.inverse_inertia,
            &spot.arms,
        ));
        spot
    }
}

impl Meeting<'_> {
    /// From the centre of each body to the point where a contact pushes them, m. After both have moved, that is one and the same
    /// point p, or each impulse would turn the two of them by their distance times itself, and angular momentum would come
    /// from nothing.
    ///
    /// Each body k takes the arm to its own surface along, to eₖ, without turning it: what rolls on leaves its points behind, but
    /// not its contact. Between the two, p is where a push turns them least away from what it would do at their own ends,
    /// Σ sₖ |p − eₖ|² with sₖ the trace of the inverse inertia, 1/(kg m²): a bullet that glances off a wall is touched at its
    /// side and not beside it.
    fn arms(&self, contact: &BodyContact) -> [DVec3; 2] {
        let Some(([a, b], share)) = self.ends else {
            return contact.arms;
        };
        let across = contact.normal * (0.5 * contact.gap);
        let from = a.position + contact.arms[0] - across;
        let to = b.position + contact.arms[1] + across;
        let point = from + (to - from) * share;
        [point - a.position, point - b.position]
    }
}
