//! Bodies and points of one stretch of space.

use super::{
    Body, Place, STILL, Spot, Step,
    spot::push,
    stride::{Next, Sums, Trail},
    twins::Hall,
};
use crate::Crew;
use glam::DVec3;

/// Most slabs: more would be all border.
pub const MOST_SLABS: usize = 8;

/// Points that are swept one after the other.
#[derive(Debug, Default)]
pub struct Points {
    pub spots: Vec<Spot>,
    pub steps: Vec<Step>,
    /// Which entries they are made of, and how many points these have.
    pub of: Vec<u32>,
    pub count: u32,
    pub tally: Tally,
}

impl Points {
    /// Empties it, but keeps its memory.
    fn clear(&mut self) {
        self.spots.clear();
        self.of.clear();
        self.count = 0;
    }

    fn go_on(&mut self, next: Next) {
        let all = self.spots.iter_mut().zip(&mut self.steps);
        for (spot, step) in all.filter(|(spot, _)| !spot.joined) {
            step.go_on(&mut spot.impulse, next);
        }
    }
}

/// Which points of a border: those between bodies of the first sides of both slabs, of their second sides, or across. The first two share no body.
pub const SIDES: usize = 3;
pub const ACROSS: usize = 2;

/// Bodies of one stretch of space, and the points between them; then those with the next stretch.
#[derive(Debug, Default)]
pub struct Slab {
    /// Those of its first side, and from `split` on those of its second.
    pub bodies: Vec<Body>,
    pub split: usize,
    pub trails: Vec<Trail>,
    /// Which movers its bodies are.
    pub movers: Vec<u32>,
    pub inside: Points,
    /// Bodies of second sides are counted from there on.
    pub border: [Points; SIDES],
    /// As the last sweep back has left it.
    pub sums: Sums,
}

/// What sweeps have done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Square of the greatest change of velocity in a sweep, m²/s².
    pub worst: f64,
    /// What the changes of impulses since the last stride do towards their goals, J.
    pub gain: f64,
}

impl Tally {
    /// Takes in what [`Spot::solve`] says it has done.
    #[inline(always)]
    pub fn add(&mut self, spot: &Spot, (wrong, gain): (f64, f64)) {
        self.worst = self.worst.max(wrong);
        if !spot.joined {
            self.gain += gain;
        }
    }
}

impl Slab {
    /// Empties it, but keeps its memory.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.trails.clear();
        self.movers.clear();
        self.points_mut().for_each(Points::clear);
    }

    pub fn points(&self) -> impl Iterator<Item = &Points> {
        std::iter::once(&self.inside).chain(&self.border)
    }

    pub fn points_mut(&mut self) -> impl Iterator<Item = &mut Points> {
        std::iter::once(&mut self.inside).chain(&mut self.border)
    }

    /// Does with its points, too, what is to be done before the next two sweeps.
    pub fn go_on(&mut self, next: Next) {
        self.go_on_bodies(next);
        self.points_mut().for_each(|points| points.go_on(next));
    }

    /// Does with its bodies what is to be done before the next two sweeps. Points do it when they are swept next.
    pub fn go_on_bodies(&mut self, next: Next) {
        self.points_mut().for_each(|points| points.tally.gain = 0.0);
        let alone = self.bodies.iter_mut().zip(&mut self.trails);
        for (body, trail) in alone.filter(|(_, trail)| !trail.joined) {
            trail.steps[0].go_on(&mut body.velocity, next);
            trail.steps[1].go_on(&mut body.spin, next);
        }
    }
}

/// Which way slabs are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    There,
    Back,
}

/// What is done to slabs, and to the points on the borders between them.
pub struct Round<I, B> {
    pub inside: I,
    pub border: B,
}

impl<I: Fn(&mut Slab) + Sync, B: Fn(&mut Points, Hall<'_>) + Sync> Round<I, B> {
    /// Goes through all slabs, as a tree: there, both halves of them first, in the same way, and then the border between the
    /// halves; back, the same backwards. No two halves share a body, so each may be a thread's own from its first slab to
    /// its last, and threads wait for each other at the few borders only that lie between their shares. How many shares
    /// there are shows in nothing but time.
    pub fn run(&self, slabs: &mut [Slab], course: Course, crew: Option<&Crew>) {
        let threads = crew.map_or(1, Crew::threads);
        let levels = threads.next_power_of_two().trailing_zeros();
        let levels = levels.min(MOST_SLABS.trailing_zeros());
        match (crew, course) {
            (Some(crew), Course::There) if levels > 0 => {
                let mut shares = Shares::new(slabs, levels);
                crew.each(shares.all(), |_, share| self.alone(share, course));
                for level in (0..levels).rev() {
                    let mut shares = Shares::new(slabs, level);
                    self.sides(shares.all(), crew);
                    self.across(shares.all(), crew);
                }
            }
            (Some(crew), Course::Back) if levels > 0 => {
                for level in 0..levels {
                    let mut shares = Shares::new(slabs, level);
                    self.across(shares.all(), crew);
                    self.sides(shares.all(), crew);
                }
                let mut shares = Shares::new(slabs, levels);
                crew.each(shares.all(), |_, share| self.alone(share, course));
            }
            _ => self.alone(slabs, course),
        }
    }

    /// The same on this thread alone.
    fn alone(&self, slabs: &mut [Slab], course: Course) {
        if let [slab] = slabs {
            return (self.inside)(slab);
        }
        if slabs.is_empty() {
            return;
        }
        if course == Course::Back {
            self.between(slabs, [ACROSS, 1, 0]);
        }
        let (one, other) = halves(slabs);
        self.alone(one, course);
        self.alone(other, course);
        if course == Course::There {
            self.between(slabs, [0, 1, ACROSS]);
        }
    }

    /// The border between the halves, one side after the other.
    fn between(&self, slabs: &mut [Slab], sides: [usize; SIDES]) {
        if let Some(mut border) = Border::of(slabs) {
            for side in sides {
                let (points, hall) = border.side(side);
                (self.border)(points, hall);
            }
        }
    }

    /// The sides of the borders between the halves of all shares.
    fn sides(&self, shares: &mut [&mut [Slab]], crew: &Crew) {
        let mut sides: [Option<(&mut Points, Hall<'_>)>; MOST_SLABS] =
            std::array::from_fn(|_| None);
        let count = 2 * shares.len();
        for (two, share) in sides.chunks_mut(2).zip(shares) {
            if let ([one, other], Some(border)) = (two, Border::of(share)) {
                let [first, second] = border.sides();
                (*one, *other) = (Some(first), Some(second));
            }
        }
        crew.each(&mut sides[..count], |_, side| {
            if let Some((points, hall)) = side.take() {
                (self.border)(points, hall);
            }
        });
    }

    /// What is across, of the same borders.
    fn across(&self, shares: &mut [&mut [Slab]], crew: &Crew) {
        crew.each(shares, |_, share| {
            if let Some(mut border) = Border::of(share) {
                let (points, hall) = border.side(ACROSS);
                (self.border)(points, hall);
            }
        });
    }
}

/// The border between two slabs.
struct Border<'a> {
    points: &'a mut [Points; SIDES],
    ours: (&'a mut [Body], usize),
    theirs: (&'a mut [Body], usize),
}

impl<'a> Border<'a> {
    /// That between the halves.
    fn of(slabs: &'a mut [Slab]) -> Option<Self> {
        let (one, other) = halves(slabs);
        let (one, next) = (one.last_mut()?, other.first_mut()?);
        Some(Self {
            points: &mut one.border,
            ours: (&mut one.bodies, one.split),
            theirs: (&mut next.bodies, next.split),
        })
    }

    /// The points of a side, and their bodies.
    fn side(&mut self, side: usize) -> (&mut Points, Hall<'_>) {
        let part = |(bodies, split): &'_ mut (&'a mut [Body], usize)| match side {
            0 => 0..*split,
            1 => *split..bodies.len(),
            _ => 0..bodies.len(),
        };
        let (ours, theirs) = (part(&mut self.ours), part(&mut self.theirs));
        let hall = Hall::Two(&mut self.ours.0[ours], &mut self.theirs.0[theirs]);
        (&mut self.points[side], hall)
    }

    /// Both sides at once.
    fn sides(self) -> [(&'a mut Points, Hall<'a>); 2] {
        let [first, second, _] = self.points;
        let (a, b) = self.ours.0.split_at_mut(self.ours.1);
        let (c, d) = self.theirs.0.split_at_mut(self.theirs.1);
        [(first, Hall::Two(a, c)), (second, Hall::Two(b, d))]
    }
}

/// The shares that some levels of halving make.
struct Shares<'a> {
    list: [&'a mut [Slab]; MOST_SLABS],
    count: usize,
}

impl<'a> Shares<'a> {
    fn new(slabs: &'a mut [Slab], levels: u32) -> Self {
        let mut list: [&mut [Slab]; MOST_SLABS] = std::array::from_fn(|_| &mut [][..]);
        list[0] = slabs;
        for level in 0..levels {
            for k in (0..1 << level).rev() {
                let (one, other) = halves(std::mem::take(&mut list[k]));
                (list[2 * k], list[2 * k + 1]) = (one, other);
            }
        }
        let count = 1 << levels;
        Self { list, count }
    }

    fn all(&mut self) -> &mut [&'a mut [Slab]] {
        &mut self.list[..self.count]
    }
}

/// Two halves, the first no smaller.
fn halves(slabs: &mut [Slab]) -> (&mut [Slab], &mut [Slab]) {
    let middle = slabs.len().div_ceil(2);
    slabs.split_at_mut(middle)
}

/// Gives an impulse to the bodies of a point that can be moved, wherever they are.
pub fn push_far(slabs: &mut [Slab], a: Place, b: Place, spot: &Spot, impulse: DVec3) {
    for (place, arm, impulse) in [(a, spot.arm(0), -impulse), (b, spot.arm(1), impulse)] {
        if place != STILL {
            let body = &mut slabs[place.slab as usize].bodies[place.body as usize];
            push(body, arm, impulse);
        }
    }
}
