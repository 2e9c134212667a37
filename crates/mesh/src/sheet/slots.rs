//! A list with holes and a journal: everything written since the journal was opened can be taken back, bit for bit.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::id::Id;

/// No part: the neighbour beyond a rim.
pub(super) const NONE: u32 = u32::MAX;

/// One step back.
#[derive(Clone, Copy, Debug)]
pub(super) enum Undo<T> {
    /// A place was added at the end.
    Grew,
    /// The last free place was taken; it held this.
    Reused(u32, T),
    /// A place that held this became free.
    Freed(u32, T),
    /// A place held this.
    Changed(u32, T),
}

/// When a place was first touched: in which transaction, where in its journal, and how old the place was then.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    transaction: u32,
    at: u32,
    age: u32,
}

/// What of a list outlives its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored<T> {
    list: Vec<T>,
    age: Vec<u32>,
    free: Vec<u32>,
}

/// A place: what it holds and what is kept along with it. They stand together, because an edit anywhere in a large sheet waits for memory, and that by
/// how many lines of it are touched.
#[derive(Clone, Copy, Debug)]
struct Place<T> {
    value: T,
    /// How often it was given away; odd while it is free.
    age: u32,
    first: First,
}

impl<T> Place<T> {
    fn new(value: T, age: u32) -> Self {
        Self {
            value,
            age,
            first: First::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    list: Vec<Place<T>>,
    free: Vec<u32>,
    journal: Vec<Undo<T>>,
    transaction: u32,
}

impl<T: Copy + PartialEq> PartialEq for Slots<T> {
    /// Equal lists, names and free places; journals do not count.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Place<T>, &Place<T>)| a.age == b.age && a.value == b.value;
        self.list.len() == other.list.len()
            && self.list.iter().zip(&other.list).all(same)
            && self.free == other.free
    }
}

impl<T: Copy> Slots<T> {
    pub(super) fn new(list: Vec<T>) -> Self {
        let places = list.into_iter().map(|value| Place::new(value, 0));
        Self {
            list: places.collect(),
            free: Vec::new(),
            journal: Vec::new(),
            transaction: 0,
        }
    }

    /// Itself without its journal.
    pub(super) fn store(&self) -> Stored<T> {
        Stored {
            list: self.list.iter().map(|place| place.value).collect(),
            age: self.list.iter().map(|place| place.age).collect(),
            free: self.free.clone(),
        }
    }

    /// The list that was stored; none if ages and free places contradict each other.
    pub(super) fn restore(stored: Stored<T>) -> Option<Self> {
        let Stored { list, age, free } = stored;
        let fits = list.len() == age.len() && list.len() < NONE as usize / 3;
        let mut named = vec![false; list.len()];
        let once = free.iter().all(|slot| {
            let is_free = age.get(*slot as usize).is_some_and(|age| age & 1 == 1);
            is_free && !std::mem::replace(&mut named[*slot as usize], true)
        });
        let odd = age.iter().filter(|age| *age & 1 == 1).count();
        let places = list.into_iter().zip(age);
        (fits && once && odd == free.len()).then(|| Self {
            list: places.map(|(value, age)| Place::new(value, age)).collect(),
            free,
            journal: Vec::new(),
            transaction: 0,
        })
    }

    /// Makes room for `more` parts, so that growing by them moves nothing.
    pub(super) fn reserve(&mut self, more: usize) {
        self.list.reserve(more);
        // Memory is only given by the page when it is first written: better now than in the middle of an edit.
        if let Some(any) = self.list.first().copied() {
            for place in self.list.spare_capacity_mut().iter_mut().take(more) {
                place.write(any);
            }
        }
        // A transaction writes some tens of places.
        self.journal.reserve(256);
        self.free.reserve(more);
    }

    /// Places, free ones included.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Parts there are.
    pub(super) fn count(&self) -> usize {
        self.list.len() - self.free.len()
    }

    #[inline]
    pub(super) fn is_live(&self, slot: u32) -> bool {
        let place = self.list.get(slot as usize);
        place.is_some_and(|place| place.age & 1 == 0)
    }

    pub(super) fn live(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.list.len() as u32).filter(|slot| self.is_live(*slot))
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &T {
        &self.list[slot as usize].value
    }

    pub(super) fn id<Key>(&self, slot: u32) -> Id<Key> {
        Id {
            slot,
            age: self.list[slot as usize].age,
            key: PhantomData,
        }
    }

    /// The place of a name, if its part is still there.
    #[inline]
    pub(super) fn find<Key>(&self, id: Id<Key>) -> Option<u32> {
        // Asked for by its place, what is free has a name, too.
        let place = self.list.get(id.slot as usize)?;
        (place.age == id.age && id.age & 1 == 0).then_some(id.slot)
    }

    pub(super) fn make(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            let place = self.note(slot);
            let before = std::mem::replace(&mut place.value, value);
            place.age += 1;
            self.journal.push(Undo::Reused(slot, before));
            return slot;
        }
        let slot = self.list.len() as u32;
        self.list.push(Place::new(value, 0));
        self.note(slot);
        self.journal.push(Undo::Grew);
        slot
    }

    pub(super) fn free(&mut self, slot: u32) {
        let place = self.note(slot);
        place.age += 1;
        let value = place.value;
        self.journal.push(Undo::Freed(slot, value));
        self.free.push(slot);
    }

    /// The place, to be written.
    #[inline]
    pub(super) fn change(&mut self, slot: u32) -> &mut T {
        let value = self.note(slot).value;
        self.journal.push(Undo::Changed(slot, value));
        &mut self.list[slot as usize].value
    }

    /// The place, about to be written, with its first touch noted.
    fn note(&mut self, slot: u32) -> &mut Place<T> {
        let place = &mut self.list[slot as usize];
        if place.first.transaction != self.transaction {
            place.first = First {
                transaction: self.transaction,
                at: self.journal.len() as u32,
                age: place.age,
            };
        }
        place
    }

    /// Forgets what was written: from here on it can be taken back.
    pub(super) fn begin(&mut self) {
        self.journal.clear();
        self.transaction = self.transaction.wrapping_add(1);
        if self.transaction == 0 {
            // After 2³² transactions old marks would look like new ones.
            let firsts = self.list.iter_mut().map(|place| &mut place.first);
            firsts.for_each(|first| *first = First::default());
            self.transaction = 1;
        }
    }

    pub(super) fn mark(&self) -> usize {
        self.journal.len()
    }

    /// Takes back what was written since `mark`.
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.journal.len() > mark {
            let Some(undo) = self.journal.pop() else {
                return;
            };
            let slot = match undo {
                Undo::Grew => {
                    self.list.pop();
                    continue;
                }
                Undo::Reused(slot, value) => {
                    let place = &mut self.list[slot as usize];
                    place.value = value;
                    place.age -= 1;
                    self.free.push(slot);
                    slot
                }
                Undo::Freed(slot, _) => {
                    self.list[slot as usize].age -= 1;
                    self.free.pop();
                    slot
                }
                Undo::Changed(slot, value) => {
                    self.list[slot as usize].value = value;
                    slot
                }
            };
            // A first touch that was taken back is none.
            let first = &mut self.list[slot as usize].first;
            if first.transaction == self.transaction && first.at as usize == self.journal.len() {
                *first = First::default();
            }
        }
    }

    /// Every place touched in this transaction, in the order of the first touch.
    pub(super) fn touched(&self) -> impl Iterator<Item = Touch<T>> + '_ {
        let grew = |undo: &&Undo<T>| matches!(undo, Undo::Grew);
        let mut grown = (self.list.len() - self.journal.iter().filter(grew).count()) as u32;
        self.journal
            .iter()
            .enumerate()
            .filter_map(move |(k, undo)| {
                let (slot, before) = match *undo {
                    Undo::Grew => {
                        grown += 1;
                        (grown - 1, None)
                    }
                    Undo::Reused(slot, _) => (slot, None),
                    Undo::Freed(slot, value) | Undo::Changed(slot, value) => (slot, Some(value)),
                };
                let first = self.list[slot as usize].first;
                let is_first = first.transaction == self.transaction && first.at as usize == k;
                is_first.then_some(Touch {
                    slot,
                    before,
                    age: first.age,
                })
            })
    }

    /// What a place held before the transaction.
    pub(super) fn before(&self, slot: u32) -> T {
        let first = self.list[slot as usize].first;
        match self.journal.get(first.at as usize) {
            Some(Undo::Changed(_, value) | Undo::Freed(_, value) | Undo::Reused(_, value))
                if first.transaction == self.transaction =>
            {
                *value
            }
            _ => *self.get(slot),
        }
    }
}

/// A place that a transaction touched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch<T> {
    pub(super) slot: u32,
    /// What it held; none if it was free or did not exist.
    pub(super) before: Option<T>,
    /// Its age before.
    pub(super) age: u32,
}
