//! Contacts between rigid bodies: non-penetration and Coulomb friction at every point of every pair (B80–B92).
//!
//! Each point is solved as a whole, its normal and its friction together, against all others in turn. The bodies are cut
//! into slabs; points inside different slabs share no body, so threads may work on them at the same time. The cut depends
//! on where the bodies are and on nothing else: any number of threads gives the same bits.

mod ready;
mod shock;
mod slab;
mod spot;
mod stride;
mod sweep;
mod twins;

use super::mover::{BODIES, Level, Mover, Movers, NONE};
use crate::{BodyContact, Crew, MatterId};
use glam::DVec3;
use shock::Shock;
use slab::{Slab, Tally};
use spot::{Body, Spot};
use stride::{Pace, Step};
use trocar_math::Sets;

/// Sweeps times points that are worth their time in a solve, and sweeps that are worth theirs for any number of points.
pub const WORK: usize = 52_000;
pub const LEAST: u32 = 8;

/// So many contacts are handed to a thread at once. It shows in nothing but time.
const CHUNK: usize = 256;

/// Contacts between the same two bodies, one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    ends: [(MatterId, u32); 2],
    /// The first of them, and the first that is none of them any more.
    first: u32,
    end: u32,
    /// How many of them take part.
    count: u32,
    /// Its entry, or [`NONE`].
    entry: u32,
}

impl Run {
    fn contacts(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// What contacts are solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Where bodies will be; all contacts, from the impulses they had.
    Aim,
    /// How fast those move whose contacts push.
    Correct,
    /// How fast those move that strike each other; all contacts given, from nothing.
    Rebound,
}

impl Task {
    /// True if it is about a contact.
    fn takes(self, contact: &BodyContact) -> bool {
        self != Self::Correct || contact.impulse != DVec3::ZERO
    }

    /// The impulse a contact starts from, and what of it is not yet in the bodies' motion. `joined` if joints act on its bodies, or
    /// on something they touch.
    fn start(self, contact: &BodyContact, joined: bool) -> [DVec3; 2] {
        match self {
            Self::Aim => [contact.impulse; 2],
            // A wheel that a motor turns lets go of as much as in the last substep, and rounds with joints are few.
            Self::Correct if joined => {
                let total = contact.impulse + contact.relief;
                // What was let go of in the last substep is not to be let go of twice.
                let pulls = total.dot(contact.normal) <= 0.0;
                let relief = if pulls { DVec3::ZERO } else { contact.relief };
                [contact.impulse + relief, relief]
            }
            // For all others it is none of this substep's. Where more points bear a body than it takes, impulses that cancel each
            // other would be handed on from substep to substep, and nothing would ever come to rest.
            Self::Correct => [contact.impulse, DVec3::ZERO],
            Self::Rebound => [DVec3::ZERO; 2],
        }
    }
}

/// Which body of which slab; of neither if nothing moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    slab: u32,
    body: u32,
}

const STILL: Place = Place {
    slab: NONE,
    body: NONE,
};

/// Which list of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    /// Inside a slab.
    Inside,
    /// Between a slab and the next one: which part of it.
    Border(u8),
    /// Between slabs that are not neighbours.
    Far,
}

/// Where the point of a contact is: slab, list, and which one of the list.
type Seat = (u32, List, u32);

/// Two bodies and the points between them that take part.
#[derive(Clone, Copy, Debug)]
struct Entry {
    movers: [u32; 2],
    /// Its contacts: the first, and the first that is none of them any more.
    first: u32,
    end: u32,
    /// How many of them take part.
    count: u32,
    /// Where the first one is; the others follow it. None if nothing moves either body.
    seat: Option<Seat>,
}

/// Memory for the contacts of rigid bodies.
#[derive(Debug, Default)]
pub struct Press {
    slabs: Vec<Slab>,
    /// So many of them are in use. The others are empty, and keep their memory for when there are more points again.
    active: usize,
    /// Points between slabs that are not neighbours: few, and swept alone.
    far: Vec<(Place, Place, Spot)>,
    far_steps: Vec<Step>,
    far_tally: Tally,
    pace: Pace,
    shock: Shock,
    entries: Vec<Entry>,
    /// All contacts, cut into stretches, each in runs; and where the contacts of each stretch end. They are large, and whoever has to go through all of
    /// them alone should not have to look at them.
    stretches: Vec<Vec<Run>>,
    ends: Vec<usize>,
    /// How many contacts take part.
    points: usize,
    place: Vec<Place>,
    /// Of each mover where it is, m; none if nothing moves it.
    posts: Vec<Option<DVec3>>,
    /// Movers that are pushed, by where they are along the slabs, m; and those of them as they come.
    order: Vec<(f64, u32)>,
    fresh: Vec<u32>,
    /// Movers that joints act on too, with their motion without any impulse.
    shared: Vec<(u32, DVec3, DVec3)>,
    /// Movers that touch each other, directly or through others; and of each whether joints act on one of its set.
    sets: Sets,
    joined: Vec<bool>,
    /// Of each mover: how many points it has.
    load: Vec<u32>,
    /// Movers before this one are those that joints and tissue act on too.
    others: usize,
    sweeps: u32,
    /// True if only points are swept any more that joints have a part in.
    left: bool,
}

impl Press {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many sweeps are worth their time: all that are asked for with a few points, fewer with a heap of thousands, which
    /// has other ways to hold than a tower has.
    pub fn budget(&self, budget: &super::Budget) -> u32 {
        let worth = budget.work / self.points.max(1);
        let worth = u32::try_from(worth).unwrap_or(u32::MAX);
        budget.sweeps.min(worth.max(budget.least))
    }

    fn spot(&self, (slab, list, k): Seat) -> &Spot {
        match list {
            List::Inside => &self.slabs[slab as usize].inside.spots[k as usize],
            List::Border(side) => {
                let border = &self.slabs[slab as usize].border;
                &border[side as usize].spots[k as usize]
            }
            List::Far => &self.far[k as usize].2,
        }
    }

    fn spot_mut(&mut self, (slab, list, k): Seat) -> &mut Spot {
        match list {
            List::Inside => &mut self.slabs[slab as usize].inside.spots[k as usize],
            List::Border(side) => {
                let border = &mut self.slabs[slab as usize].border;
                &mut border[side as usize].spots[k as usize]
            }
            List::Far => &mut self.far[k as usize].2,
        }
    }

    /// Puts the impulses found into the contacts.
    pub fn store(&self, contacts: &mut [BodyContact], task: Task, crew: Option<&Crew>) {
        if self.is_empty() && task == Task::Aim {
            return;
        }
        let put = |contact: &mut BodyContact, seat: Option<Seat>| {
            let found = seat.map(|seat| {
                let spot = self.spot(seat);
                // A point that was turned round for the border is turned back.
                let turned = spot.normal != contact.normal;
                if turned { -spot.impulse } else { spot.impulse }
            });
            match task {
                Task::Aim => contact.impulse = found.unwrap_or(contact.impulse),
                Task::Correct => {
                    contact.total = found.unwrap_or(contact.impulse);
                    contact.relief = contact.total - contact.impulse;
                }
                Task::Rebound => contact.blow += found.unwrap_or(DVec3::ZERO),
            }
        };
        Crew::parts(crew, contacts, &self.ends, |k, some| {
            let first = if k == 0 { 0 } else { self.ends[k - 1] };
            for run in &self.stretches[k] {
                let entry = self.entries.get(run.entry as usize);
                let mut seat = entry.and_then(|entry| entry.seat);
                let contacts = run.contacts();
                for contact in &mut some[contacts.start - first..contacts.end - first] {
                    let taken = task.takes(contact);
                    put(contact, seat.filter(|_| taken));
                    if let (true, Some((_, _, next))) = (taken, &mut seat) {
                        *next += 1;
                    }
                }
            }
        });
    }

    /// Gives the motion of all bodies, but those that others act on too, to their movers.
    pub fn give(&self, movers: &mut Movers, level: Level, crew: Option<&Crew>) {
        if self.is_empty() {
            return;
        }
        let (place, slabs) = (&self.place[self.others..], &self.slabs);
        let give = |mover: &mut Mover, place: Place| {
            if place == STILL {
                return;
            }
            let body = &slabs[place.slab as usize].bodies[place.body as usize];
            let (velocity, spin) = mover.course(level);
            let (push, twist) = (
                (body.velocity - velocity) / body.inverse_mass,
                mover.inertia * (body.spin - spin),
            );
            if push != DVec3::ZERO || twist != DVec3::ZERO {
                mover.push(push, twist);
                // Worked out here, by many threads, it need not be when it is written, by one.
                mover.refresh(level);
            }
        };
        Crew::spread(crew, movers.all_from(self.others), BODIES, |first, some| {
            for (mover, place) in some.iter_mut().zip(&place[first..]) {
                give(mover, *place);
            }
        });
    }

    /// Gives the motion of bodies that joints act on too to their movers.
    pub fn give_shared(&self, movers: &mut Movers) {
        for (m, velocity, spin) in &self.shared {
            let place = self.place[*m as usize];
            let body = &self.slabs[place.slab as usize].bodies[place.body as usize];
            let mover = &mut movers[*m];
            mover.push = (body.velocity - *velocity) / body.inverse_mass;
            mover.twist = mover.inertia * (body.spin - *spin);
            mover.dirty = true;
        }
    }

    /// Takes over what joints did to them.
    pub fn take_shared(&mut self, movers: &Movers) {
        for (m, velocity, spin) in &self.shared {
            let place = self.place[*m as usize];
            let body = &mut self.slabs[place.slab as usize].bodies[place.body as usize];
            let (push, turn) = movers[*m].pushed();
            body.velocity = *velocity + push;
            body.spin = *spin + turn;
        }
    }

    /// Movers of bodies that touch something and that joints act on, too.
    pub fn shared(&self) -> impl Iterator<Item = u32> + '_ {
        self.shared.iter().map(|s| s.0)
    }

    /// True if joints act on bodies that touch something.
    pub fn is_shared(&self) -> bool {
        !self.shared.is_empty()
    }
}
