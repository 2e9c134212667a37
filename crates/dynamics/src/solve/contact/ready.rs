//! Making contacts ready for the sweeps.

use super::{
    Body, CHUNK, Entry, List, Pace, Place, Press, Run, STILL, Slab, Spot, Step, Task,
    slab::{ACROSS, Course, MOST_SLABS, Points, Round, push_far},
    spot::{Symmetric, numbers},
    stride::Trail,
    twins::{Hall, Inertias, Two, answers, both, two},
};
use crate::{
    BodyContact, Cast, Crew,
    crew::even_share,
    solve::mover::{BODIES, Level, Mover, Movers, NONE},
};
use glam::{DMat3, DVec3};
use trocar_math::nearly_sorted;

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
    place: &'a [Place],
    /// Where the second sides of slabs begin.
    splits: [u32; MOST_SLABS],
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
        self.slabs.iter_mut().for_each(Slab::clear);
        self.find_runs(contacts, task, crew);
        self.points = 0;
        for run in self.stretches[..self.ends.len()].iter_mut().flatten() {
            if run.count == 0 {
                continue;
            }
            self.points += run.count as usize;
            run.entry = self.entries.len() as u32;
            self.entries.push(Entry {
                movers: run.ends.map(|(m, node)| movers.enlist(cast, m, node)),
                first: run.first,
                end: run.end,
                count: run.count,
                seat: None,
            });
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
        let mut splits = [0; MOST_SLABS];
        for (to, slab) in splits.iter_mut().zip(&self.slabs) {
            *to = slab.split as u32;
        }
        let material = Material {
            splits,
            movers,
            contacts,
            entries: &self.entries,
            place: &self.place,
            joined: &self.joined,
            task,
            level,
        };
        let round = Round {
            inside: |slab: &mut Slab| material.fill(slab),
            border: |points: &mut Points, mut hall: Hall<'_>| {
                let contacts = points.of.iter().flat_map(|e| material.contacts_of(*e));
                for (spot, contact) in points.spots.iter().zip(contacts) {
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

    /// Cuts the contacts into stretches, and finds those that are between the same two bodies: they come together. Who begins in a stretch belongs to it
    /// as a whole.
    fn find_runs(&mut self, contacts: &[BodyContact], task: Task, crew: Option<&Crew>) {
        let share = even_share(contacts.len(), CHUNK, usize::MAX);
        let count = contacts.len().div_ceil(share);
        if self.stretches.len() < count {
            self.stretches.resize_with(count, Vec::new);
        }
        let same = |i: usize, j: usize| {
            let (c, d) = (&contacts[i], &contacts[j]);
            (c.a, c.b) == (d.a, d.b)
        };
        Crew::spread(crew, &mut self.stretches[..count], 1, |first, some| {
            for (k, runs) in (first..).zip(some) {
                runs.clear();
                let stop = contacts.len().min((k + 1) * share);
                let mut i = k * share;
                while i > 0 && i < stop && same(i - 1, i) {
                    i += 1;
                }
                while i < stop {
                    let first = i;
                    let mut count = 0;
                    while i < contacts.len() && same(first, i) {
                        count += u32::from(task.takes(&contacts[i]));
                        i += 1;
                    }
                    runs.push(Run {
                        ends: [contacts[first].a, contacts[first].b],
                        first: first as u32,
                        end: i as u32,
                        count,
                        entry: NONE,
                    });
                }
            }
        });
        self.ends.clear();
        let mut end = 0;
        for runs in &self.stretches[..count] {
            end = runs.last().map_or(end, |run| run.end as usize);
            self.ends.push(end);
        }
    }

    /// Cuts the bodies into slabs across the axis along which they are spread farthest.
    fn cut(&mut self, movers: &Movers, level: Level) {
        self.place.resize(movers.len(), STILL);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        self.fresh.clear();
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
                self.fresh.push(m);
            }
        }
        // In the order of the last time, which is nearly that of this one, as far as they were there. The order they are brought into does not depend on it.
        let place = &mut self.place;
        self.order.retain(|(_, m)| {
            let known = place.get_mut(*m as usize).filter(|place| place.slab == 0);
            known.map(|place| place.body = 0).is_some()
        });
        let others = self.fresh.iter();
        let others = others.filter(|m| place[**m as usize].body == NONE);
        self.order.extend(others.map(|m| (0.0, *m)));
        let spread = high - low;
        let mut axes = [0, 1, 2];
        axes.sort_by(|i, j| spread[*j].total_cmp(&spread[*i]));
        let [axis, side, _] = axes;
        for (x, m) in &mut self.order {
            *x = self.posts[*m as usize].map_or(0.0, |post| post[axis]);
        }
        nearly_sorted(&mut self.order, |a, b| {
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let slabs = (self.points / POINTS_A_SLAB).clamp(1, MOST_SLABS);
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
            self.place[*m as usize].slab = slab.min(slabs as u32 - 1);
            before += load;
        }
        let middle = self.middle(side);
        for second in [false, true] {
            for (_, m) in &self.order {
                let post = self.posts[*m as usize].unwrap_or(DVec3::ZERO);
                if (post[side] > middle) != second {
                    continue;
                }
                let place = &mut self.place[*m as usize];
                let to = &mut self.slabs[place.slab as usize];
                place.body = to.movers.len() as u32;
                to.movers.push(*m);
                if (*m as usize) < self.others {
                    let mover = &movers[*m];
                    let (velocity, spin) = mover.course(level);
                    let (push, turn) = mover.pushed();
                    self.shared.push((*m, velocity - push, spin - turn));
                }
            }
            if !second {
                for slab in &mut self.slabs[..slabs] {
                    slab.split = slab.movers.len();
                }
            }
        }
    }

    /// Where the bodies on the borders between slabs are along an axis, m, on average.
    fn middle(&self, axis: usize) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for entry in &self.entries {
            let [a, b] = entry.movers.map(|m| self.place[m as usize]);
            if a == STILL || b == STILL || a.slab.abs_diff(b.slab) != 1 {
                continue;
            }
            for m in entry.movers {
                sum +=
                    self.posts[m as usize].map_or(0.0, |post| post[axis]) * f64::from(entry.count);
            }
            count += 2 * entry.count;
        }
        sum / f64::from(count.max(1))
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
                [a, b] if a.slab.abs_diff(b.slab) == 1 => {
                    let second = |p: Place| p.body as usize >= self.slabs[p.slab as usize].split;
                    let side = match [a, b].map(second) {
                        [false, false] => 0,
                        [true, true] => 1,
                        _ => ACROSS as u8,
                    };
                    (List::Border(side), a.slab.min(b.slab))
                }
                _ => (List::Far, 0),
            };
            let to = &mut self.slabs[slab as usize];
            let count = match list {
                List::Inside => {
                    to.inside.of.push(e);
                    &mut to.inside.count
                }
                List::Border(side) => {
                    let border = &mut to.border[side as usize];
                    border.of.push(e);
                    &mut border.count
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
        for e in &inside.of {
            let meeting = self.meeting(&self.entries[*e as usize]);
            for contact in self.contacts_of(*e) {
                let spot = self.spot(&meeting, contact);
                let start = self.start(contact, &spot);
                if start != DVec3::ZERO {
                    hall.push(&spot, start);
                }
                inside.spots.push(spot);
            }
        }
        for (side, points) in border.iter_mut().enumerate() {
            for e in &points.of {
                let entry = &self.entries[*e as usize];
                let [a, b] = entry.movers.map(|m| self.place[m as usize].slab);
                let mut meeting = self.meeting(entry);
                if side == 1 {
                    meeting.bodies[0] -= self.splits[a as usize];
                    meeting.bodies[1] -= self.splits[b as usize];
                }
                for contact in self.contacts_of(*e) {
                    let spot = self.spot(&meeting, contact);
                    points.spots.push(if a < b { spot } else { spot.turned() });
                }
            }
        }
        for points in slab.points_mut() {
            // The first sweep says where all of them begin.
            points.steps.resize(points.spots.len(), Step::default());
        }
    }

    /// The contacts of an entry.
    fn contacts_of(&self, entry: u32) -> impl Iterator<Item = &'a BodyContact> + use<'a> {
        let entry = &self.entries[entry as usize];
        let all = &self.contacts[entry.first as usize..entry.end as usize];
        let task = self.task;
        all.iter().filter(move |contact| task.takes(contact))
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
