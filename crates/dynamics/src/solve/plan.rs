//! What is solved together: ties and joints cut into blocks, blocks and nodes joined to components.
//!
//! All of this depends on which joints there are, not on where things stand. It is made once and kept until they change.

use super::{
    component::Component,
    ends::Ends,
    mover::{Level, Movers, NONE, When},
    rows::{Dial, Tied},
};
use crate::{
    Anchor, Cast, Joint, Tie, TieKind,
    joint::{Base, Kind},
};
use glam::DVec3;
use std::ops::Range;
use trocar_math::Sets;

/// Most rows of one block, set by the factorisation.
const MOST_ROWS: usize = 6;

/// What a block of rows stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// Base joints: the first, and how many.
    Bases(u32, u8),
    /// The stop of a control.
    Stop(u32),
    /// The drive of a control.
    Drive(u32),
}

/// A mover that a block acts on.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub mover: u32,
    /// Its freedom: numbers in a row.
    pub width: u8,
    /// Where its rows begin in [`Plan::rows`].
    pub first: u32,
}

/// Rows that are eliminated together.
#[derive(Clone, Debug)]
pub struct Block {
    pub what: What,
    pub rows: usize,
    /// Its first row among all rows.
    pub row: usize,
    pub parts: Range<usize>,
    /// True if it only says how fast things move (B54, B55).
    pub of_velocity: bool,
    /// True if an end of it is on something that no impulse moves.
    pub on_still: bool,
}

impl Block {
    pub fn range(&self) -> Range<usize> {
        self.row..self.row + self.rows
    }

    /// True if it is that of a stop or a drive.
    pub fn is_of_control(&self) -> bool {
        !matches!(self.what, What::Bases(..))
    }
}

/// What may rest for a while, because it sleeps or is solved elsewhere: the blocks of joints that hang together. Or, the first one, all
/// that never does.
#[derive(Clone, Debug)]
pub struct Section {
    tied: Range<usize>,
    pub blocks: Range<usize>,
    movers: Range<usize>,
    /// True if it rests in this substep.
    pub idle: bool,
}

/// Whose rows they are.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// A tie.
    Tie(u32),
    /// A base joint: of which joint, and where its impulses stand in the joint's memory.
    Base { joint: u32, memory: u32, base: u32 },
}

/// A control made ready.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    pub dial: Dial,
    pub joint: u32,
    pub control: u32,
    /// Its value at the start of the substep.
    pub value: f64,
    /// What its controller will remember.
    pub memory: [f64; 3],
}

/// The sections that are solved here.
pub fn live(sections: &[Section]) -> impl Iterator<Item = &Section> + Clone {
    sections.iter().filter(|s| !s.idle)
}

/// The blocks of all ties and joints.
#[derive(Debug, Default)]
pub struct Plan {
    /// True until the state of its rows has been made for it.
    pub fresh: bool,
    version: Option<u64>,
    /// How many movers are the plan's; contacts bring others.
    pub movers: usize,
    pub tied: Vec<Tied>,
    pub owners: Vec<Owner>,
    /// Anchors of the ties when they were last looked at.
    anchors: Vec<(Anchor, Anchor)>,
    pub knobs: Vec<Knob>,
    pub blocks: Vec<Block>,
    /// Which of them are of stops and drives.
    pub controls: Vec<u32>,
    pub parts: Vec<Part>,
    pub components: Vec<Component>,
    /// Of each mover of the plan its component, or [`NONE`].
    of_mover: Vec<u32>,
    pub sections: Vec<Section>,
    /// Movers of the sections after the first that nothing moves: others may share them.
    still: Vec<u32>,
    /// Of each part its block's rows: along what impulses act, and how errors at the end answer.
    pub jacobian: Vec<f64>,
    pub ahead: Vec<f64>,
    /// Impulse of each row so far.
    pub impulse: Vec<f64>,
    /// Range of each control.
    pub ranges: Vec<[f64; 2]>,
    /// Rows in all.
    pub rows: usize,
    /// Rows whose error no impulse can change: both sides are fixed.
    pub dead: Vec<u32>,
}

impl Plan {
    /// Brings where the feet on curves were last.
    pub fn recall_feet(&mut self, joints: &[Joint]) {
        for section in live(&self.sections) {
            let all = section.tied.clone();
            for (tied, owner) in self.tied[all.clone()].iter_mut().zip(&self.owners[all]) {
                if let Owner::Base { joint, base, .. } = owner {
                    let feet = &joints[*joint as usize].memory.feet;
                    tied.foot = feet.get(*base as usize).copied().unwrap_or(f64::NAN);
                }
            }
        }
    }

    /// Shows the joints that a block is of.
    pub fn see_joints(&self, block: u32, see: &mut impl FnMut(u32)) {
        match self.blocks[block as usize].what {
            What::Bases(first, count) => {
                for owner in &self.owners[first as usize..first as usize + count as usize] {
                    if let Owner::Base { joint, .. } = owner {
                        see(*joint);
                    }
                }
            }
            What::Stop(k) | What::Drive(k) => see(self.knobs[k as usize].joint),
        }
    }

    /// The component that acts on a mover.
    pub fn component_of(&self, mover: u32) -> Option<usize> {
        let c = self.of_mover.get(mover as usize).copied();
        c.filter(|c| *c != NONE).map(|c| c as usize)
    }

    /// Has the plan made anew at the next [`update`](Self::update).
    pub fn expire(&mut self) {
        self.version = None;
    }

    /// Makes the plan anew if the joints are others than last time.
    pub fn update(
        &mut self,
        movers: &mut Movers,
        cast: &Cast<'_>,
        (ties, joints, version, sections): (&[Tie], &[Joint], u64, &[u32]),
        level: Level,
    ) {
        movers.truncate(cast, self.movers);
        if self.version == Some(version) && self.follow(movers, cast, ties, level) {
            return;
        }
        movers.truncate(cast, 0);
        *self = Self {
            version: Some(version),
            fresh: true,
            ..Self::default()
        };
        let ends = |movers: &mut Movers, anchor: &Anchor| {
            let support = cast.support(anchor);
            Ends::new(movers, cast, &support, level)
        };
        for (t, tie) in ties.iter().enumerate() {
            let kind = match tie.kind {
                TieKind::Point => Kind::Point,
                TieKind::Distance(length) => Kind::Distance(length),
            };
            let rows = kind.rows();
            let first = self.tied.len() as u32;
            self.anchors.push((tie.a, tie.b));
            let (a, b) = (ends(movers, &tie.a), ends(movers, &tie.b));
            self.tied.push(Tied::new(a, b, kind));
            self.owners.push(Owner::Tie(t as u32));
            self.add_block(What::Bases(first, 1), rows, false);
        }
        let section = |j: usize| sections.get(j).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..joints.len()).collect();
        order.sort_by_key(|j| section(*j));
        for j in order {
            let joint = &joints[j];
            while self.sections.len() < section(j) as usize {
                self.end_section(movers);
            }
            if joint.open {
                continue;
            }
            for of_velocity in [false, true] {
                let mut run: (u32, u8, usize) = (self.tied.len() as u32, 0, 0);
                for (k, Base { a, b, kind }) in joint
                    .bases
                    .iter()
                    .enumerate()
                    .filter(|(_, b)| b.kind.is_of_velocity() == of_velocity)
                {
                    let rows = kind.rows();
                    if run.2 + rows > MOST_ROWS {
                        self.add_block(What::Bases(run.0, run.1), run.2, of_velocity);
                        run = (self.tied.len() as u32, 0, 0);
                    }
                    let (a, b) = (ends(movers, a), ends(movers, b));
                    self.tied.push(Tied::new(a, b, kind.clone()));
                    let before = joint.bases[..k].iter().map(|b| b.kind.rows());
                    self.owners.push(Owner::Base {
                        joint: j as u32,
                        memory: before.sum::<usize>() as u32,
                        base: k as u32,
                    });
                    run.1 += 1;
                    run.2 += rows;
                }
                if run.2 > 0 {
                    self.add_block(What::Bases(run.0, run.1), run.2, of_velocity);
                }
            }
            for (c, control) in joint.controls.iter().enumerate() {
                let knob = self.knobs.len() as u32;
                let endless = [f64::NEG_INFINITY, f64::INFINITY];
                self.ranges.push(control.range.unwrap_or(endless));
                self.knobs.push(Knob {
                    dial: Dial {
                        a: ends(movers, &control.a),
                        b: ends(movers, &control.b),
                        coordinate: control.coordinate,
                        along: DVec3::ZERO,
                        acts_at: None,
                    },
                    joint: j as u32,
                    control: c as u32,
                    value: 0.0,
                    memory: [0.0; 3],
                });
                if control.range.is_some() {
                    self.add_block(What::Stop(knob), 1, false);
                }
                if control.drive.is_some() {
                    self.add_block(What::Drive(knob), 1, false);
                }
            }
        }
        self.end_section(movers);
        self.movers = movers.len();
        self.find_parts(movers);
        self.impulse.resize(self.rows, 0.0);
        self.ahead.resize(self.jacobian.len(), 0.0);
        self.connect(movers);
    }

    /// All that came since the last section is one.
    fn end_section(&mut self, movers: &Movers) {
        let (tied, blocks, first) = match self.sections.last() {
            Some(last) => (last.tied.end, last.blocks.end, last.movers.end),
            None => (0, 0, 0),
        };
        if !self.sections.is_empty() {
            let all = first as u32..movers.len() as u32;
            self.still.extend(all.filter(|m| movers[*m].freedom == 0));
        }
        self.sections.push(Section {
            tied: tied..self.tied.len(),
            blocks: blocks..self.blocks.len(),
            movers: first..movers.len(),
            idle: false,
        });
    }

    /// Says which sections after the first rest.
    pub fn rest(&mut self, idle: impl Iterator<Item = bool>) {
        for (section, idle) in self.sections.iter_mut().skip(1).zip(idle) {
            section.idle = idle;
        }
        for component in &mut self.components {
            if self.sections[component.section].idle {
                component.rest();
            } else {
                component.idle = false;
            }
        }
    }

    /// Movers of the plan that take part, in runs.
    pub fn live_movers(&self) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        live(&self.sections).map(|s| s.movers.clone())
    }

    /// Movers that no impulse moves and that more than one section may need.
    pub fn still_movers(&self) -> &[u32] {
        &self.still
    }

    /// Ties may move their anchors: what jaws hold goes with them. False if one now rests on other nodes.
    fn follow(&mut self, movers: &mut Movers, cast: &Cast<'_>, ties: &[Tie], level: Level) -> bool {
        let mut same = true;
        for (k, (tie, held)) in ties.iter().zip(&mut self.anchors).enumerate() {
            if (tie.a, tie.b) != *held {
                *held = (tie.a, tie.b);
                let mut ends = |anchor| Ends::new(movers, cast, &cast.support(anchor), level);
                let (a, b) = (ends(&tie.a), ends(&tie.b));
                let tied = &mut self.tied[k];
                same &= a.rests_on_the_same(&tied.a) && b.rests_on_the_same(&tied.b);
                (tied.a, tied.b) = (a, b);
            }
        }
        same && movers.len() == self.movers
    }

    fn add_block(&mut self, what: What, rows: usize, of_velocity: bool) {
        if !matches!(what, What::Bases(..)) {
            self.controls.push(self.blocks.len() as u32);
        }
        self.blocks.push(Block {
            what,
            rows,
            row: self.rows,
            parts: 0..0,
            of_velocity,
            on_still: false,
        });
        self.rows += rows;
    }

    /// Both ends of each base joint or control of a block.
    fn ends(&self, what: What) -> impl Iterator<Item = Ends> + '_ {
        let (tied, knob): (&[Tied], Option<&Knob>) = match what {
            What::Bases(first, count) => (
                &self.tied[first as usize..first as usize + count as usize],
                None,
            ),
            What::Stop(k) | What::Drive(k) => (&[], Some(&self.knobs[k as usize])),
        };
        tied.iter()
            .flat_map(|t| [t.a, t.b])
            .chain(knob.into_iter().flat_map(|k| [k.dial.a, k.dial.b]))
    }

    /// Which free movers each block acts on.
    fn find_parts(&mut self, movers: &Movers) {
        let mut jacobian = 0;
        for b in 0..self.blocks.len() {
            let begin = self.parts.len();
            let mut found: Vec<u32> = self
                .ends(self.blocks[b].what)
                .flat_map(|e| e.parts().iter().map(|p| p.0).collect::<Vec<_>>())
                .filter(|m| movers[*m].freedom > 0)
                .collect();
            found.sort_unstable();
            found.dedup();
            for mover in found {
                let width = movers[mover].freedom;
                self.parts.push(Part {
                    mover,
                    width,
                    first: jacobian as u32,
                });
                jacobian += self.blocks[b].rows * width as usize;
            }
            self.blocks[b].parts = begin..self.parts.len();
            let still = self
                .ends(self.blocks[b].what)
                .any(|e| e.parts().iter().any(|p| movers[p.0].freedom == 0));
            self.blocks[b].on_still = still;
        }
        self.jacobian.resize(jacobian, 0.0);
    }

    /// Joins what shares a mover (B66).
    fn connect(&mut self, movers: &Movers) {
        let mut sets = Sets::of(movers.len());
        for block in &self.blocks {
            let parts = &self.parts[block.parts.clone()];
            for pair in parts.windows(2) {
                sets.join(pair[0].mover, pair[1].mover);
            }
        }
        let mut of_root = vec![u32::MAX; movers.len()];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (b, block) in self.blocks.iter().enumerate() {
            let Some(part) = self.parts[block.parts.clone()].first() else {
                self.dead.push(b as u32);
                continue;
            };
            let r = sets.lowest(part.mover) as usize;
            if of_root[r] == u32::MAX {
                of_root[r] = groups.len() as u32;
                groups.push(Vec::new());
            }
            groups[of_root[r] as usize].push(b as u32);
        }
        // Blocks come in the order of their sections.
        let of = |block: u32| {
            let before = |s: &Section| s.blocks.end <= block as usize;
            self.sections.partition_point(before)
        };
        let component = |blocks: Vec<u32>| {
            let section = blocks.first().map_or(0, |b| of(*b));
            Component::new(blocks, section, &self.blocks, &self.parts)
        };
        self.components = groups.into_iter().map(component).collect();
        self.of_mover = vec![NONE; movers.len()];
        for (c, component) in self.components.iter().enumerate() {
            for m in &component.movers {
                self.of_mover[*m as usize] = c as u32;
            }
        }
    }

    /// Works out the rows of all blocks at this instant.
    pub fn aim_rows(&mut self, movers: &Movers) {
        for section in live(&self.sections) {
            for tied in &mut self.tied[section.tied.clone()] {
                tied.aim_rows(movers);
            }
        }
        for knob in &mut self.knobs {
            knob.dial.aim_row(movers);
        }
        let mut jacobian = std::mem::take(&mut self.jacobian);
        for block in live(&self.sections).flat_map(|s| &self.blocks[s.blocks.clone()]) {
            self.write_rows(block, movers, When::Now, &mut jacobian);
        }
        self.jacobian = jacobian;
    }

    /// The same for some blocks.
    pub fn aim_rows_now(&mut self, blocks: &[u32], movers: &Movers) {
        let mut jacobian = std::mem::take(&mut self.jacobian);
        for b in blocks {
            self.write_rows(&self.blocks[*b as usize], movers, When::Now, &mut jacobian);
        }
        self.jacobian = jacobian;
    }

    /// Works out the rows of some blocks as the mean of those at the start and at the end of the substep.
    pub fn aim_rows_middle(&mut self, blocks: &[u32], movers: &Movers) {
        let mut jacobian = std::mem::take(&mut self.jacobian);
        for b in blocks {
            self.write_rows(
                &self.blocks[*b as usize],
                movers,
                When::Middle,
                &mut jacobian,
            );
        }
        self.jacobian = jacobian;
    }

    /// Works out how the errors of some blocks at the end of the substep answer to velocities now: an impulse acts where
    /// things are, and is judged by where they will be.
    pub fn aim_rows_ahead(&mut self, blocks: &[u32], movers: &Movers) {
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.resize(self.jacobian.len(), 0.0);
        for b in blocks {
            self.write_rows(&self.blocks[*b as usize], movers, When::Ahead, &mut ahead);
        }
        self.ahead = ahead;
    }

    fn write_rows(&self, block: &Block, movers: &Movers, when: When, jacobian: &mut [f64]) {
        let mut write = Writer {
            movers,
            when,
            parts: &self.parts[block.parts.clone()],
            jacobian,
            row: 0,
        };
        if let What::Bases(first, 1) = block.what
            && write.ball(&self.tied[first as usize])
        {
            return;
        }
        write.clear(block.rows);
        match block.what {
            What::Bases(first, count) => {
                for tied in &self.tied[first as usize..first as usize + count as usize] {
                    let (along, at) = match when {
                        When::Now => (tied.along, tied.acts_at),
                        _ => {
                            let (along, at, _) = tied.directions(movers, when);
                            (along, at)
                        }
                    };
                    let turning = tied.kind.is_rotational();
                    for along in &along[..tied.kind.rows()] {
                        write.both((&tied.a, &tied.b), *along, turning, at);
                    }
                }
            }
            What::Stop(k) | What::Drive(k) => {
                let dial = &self.knobs[k as usize].dial;
                let (along, at) = match when {
                    When::Now => (dial.along, dial.acts_at),
                    _ => dial.direction(movers, when),
                };
                write.both((&dial.a, &dial.b), along, dial.is_rotational(), at);
            }
        }
    }

    /// Adds to the rates of a block's rows what movers do that no impulse moves: they are no parts.
    pub fn still_rates(&self, b: usize, movers: &Movers, wrong: &mut [f64]) {
        let block = &self.blocks[b];
        if !block.on_still {
            return;
        }
        let mut row = block.row;
        let mut add = |ends: &Ends, along: DVec3, turning: bool, at: Option<DVec3>, row: usize| {
            for (m, offset, weight) in ends.parts() {
                let mover = &movers[*m];
                if mover.freedom > 0 {
                    continue;
                }
                wrong[row] += if turning {
                    along.dot(mover.spin)
                } else {
                    let arm = match at {
                        Some(at) => at - mover.position,
                        None => mover.orientation * *offset,
                    };
                    along.dot(mover.velocity + mover.spin.cross(arm)) * weight
                };
            }
        };
        match block.what {
            What::Bases(first, count) => {
                for tied in &self.tied[first as usize..first as usize + count as usize] {
                    let turning = tied.kind.is_rotational();
                    for along in &tied.along[..tied.kind.rows()] {
                        add(&tied.a, -*along, turning, tied.acts_at, row);
                        add(&tied.b, *along, turning, None, row);
                        row += 1;
                    }
                }
            }
            What::Stop(k) | What::Drive(k) => {
                let dial = &self.knobs[k as usize].dial;
                let turning = dial.is_rotational();
                add(&dial.a, -dial.along, turning, dial.acts_at, row);
                add(&dial.b, dial.along, turning, None, row);
            }
        }
    }
}

/// Writes the rows of a block.
struct Writer<'a> {
    movers: &'a Movers,
    when: When,
    parts: &'a [Part],
    jacobian: &'a mut [f64],
    /// Which row is next.
    row: usize,
}

impl Writer<'_> {
    /// Rows are sums of what each end adds.
    fn clear(&mut self, rows: usize) {
        for part in self.parts {
            let first = part.first as usize;
            self.jacobian[first..first + rows * part.width as usize].fill(0.0);
        }
    }

    /// A row that pushes, or turns, b along `along` and a against it.
    fn both(&mut self, (a, b): (&Ends, &Ends), along: DVec3, turning: bool, at: Option<DVec3>) {
        if turning {
            self.add(a.frame(), DVec3::ZERO, -along);
            self.add(b.frame(), DVec3::ZERO, along);
        } else {
            self.point(a, -along, at);
            self.point(b, along, None);
        }
        self.row += 1;
    }

    /// All rows of a ball joint between two points of bodies, by far the most frequent joint; false if it is none.
    #[inline]
    fn ball(&mut self, tied: &Tied) -> bool {
        if tied.kind != Kind::Point {
            return false;
        }
        let ([(a, at_a, 1.0)], [(b, at_b, 1.0)]) = (tied.a.parts(), tied.b.parts()) else {
            return false;
        };
        if a == b || self.parts.iter().any(|p| p.width != 6) {
            return false;
        }
        for part in self.parts {
            let mover = &self.movers[part.mover];
            let (offset, sign) = if part.mover == *a {
                (*at_a, -1.0)
            } else {
                debug_assert_eq!(part.mover, *b);
                (*at_b, 1.0)
            };
            let arm = mover.turned(offset, self.when) * sign;
            // Rows of the matrix of r ×: what an impulse along each axis exerts.
            let mut moments = [
                DVec3::new(0.0, arm.z, -arm.y),
                DVec3::new(-arm.z, 0.0, arm.x),
                DVec3::new(arm.y, -arm.x, 0.0),
            ];
            if self.when == When::Ahead {
                moments = moments.map(|m| mover.looking_back(m));
            }
            let first = part.first as usize;
            let rows = &mut self.jacobian[first..first + 18];
            for (k, (row, moment)) in rows
                .as_chunks_mut::<6>()
                .0
                .iter_mut()
                .zip(moments)
                .enumerate()
            {
                *row = [0.0, 0.0, 0.0, moment.x, moment.y, moment.z];
                row[k] = sign;
            }
        }
        true
    }

    fn add(&mut self, mover: u32, push: DVec3, moment: DVec3) {
        if let Some(part) = self.parts.iter().find(|p| p.mover == mover) {
            let width = part.width as usize;
            let first = part.first as usize + self.row * width;
            let row = &mut self.jacobian[first..first + width];
            row[0] += push.x;
            row[1] += push.y;
            row[2] += push.z;
            if let Some(rest) = row.get_mut(3..6) {
                let moment = match self.when {
                    When::Ahead => self.movers[mover].looking_back(moment),
                    _ => moment,
                };
                rest[0] += moment.x;
                rest[1] += moment.y;
                rest[2] += moment.z;
            }
        }
    }

    /// A push along `along`, at the point itself or `at` another place of the same body.
    fn point(&mut self, ends: &Ends, along: DVec3, at: Option<DVec3>) {
        for (m, offset, weight) in ends.parts() {
            let mover = &self.movers[*m];
            let arm = match at {
                Some(at) => at - mover.place(self.when),
                None => mover.turned(*offset, self.when),
            };
            let push = along * *weight;
            self.add(*m, push, arm.cross(push));
        }
    }
}
