//! Joints that hang together, and the three ways to solve them (B58–B69).

use super::{
    mover::{Level, Movers},
    plan::{Block, Part, What},
    pushed,
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_solve::{Factor, Pattern, Place, Skew, small};

/// A pivot this small against what the row would have alone belongs to a row that others already determine.
const REDUNDANT: f64 = 1e-10;

/// More products of blocks than this for each node, or in all, and a factorisation is no longer worth it: sweeps over a graph so tangled cost less
/// time, and far less memory. A product takes 10 ns and 4 bytes; a net of 60 × 60 bodies is not too tangled, one of 100 × 100 is.
const MOST_PRODUCTS: usize = 1000;
const MOST_IN_ALL: usize = 1 << 26;

/// How joints that hang together are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The best for each component: a lone block by itself, all else by [`Graph`](Self::Graph).
    #[default]
    Auto,
    /// One block after the other, again and again (B58). Can be stopped at any time.
    Iterative,
    /// One sparse symmetric system of the impulses (B62).
    System,
    /// One sparse system of impulses and velocities, eliminated along the graph of bodies and joints (B65): linear in their
    /// number for trees; a loop fills in along itself alone.
    Graph,
}

/// Where a part stands in the factorisation.
#[derive(Clone, Debug, Default)]
struct Layout {
    pattern: Pattern,
    /// Offset and diagonal place of each mover (graph) and of each block.
    movers: Vec<(usize, Option<Place>)>,
    blocks: Vec<(usize, Option<Place>)>,
    /// Place of each part of each block, in their order (graph).
    parts: Vec<Option<Place>>,
    /// Pairs of blocks that share a mover: part of the one, part of the other, place of their product (system).
    pairs: Vec<(u32, u32, u32, u32, Place)>,
}

/// How far the rounds of a component have come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Greatest error at the first look and at the last one.
    pub first: f64,
    pub error: f64,
    /// Least error at any look.
    pub best: f64,
    pub rounds: u32,
    /// How often the last round was taken back by half.
    pub halvings: u32,
    /// True if the matrix is no longer that of the rows in play.
    pub stale: bool,
    /// True if a joint gave way: then an error is to be expected.
    pub gave_way: bool,
    /// True if all is within tolerance.
    pub settled: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            first: 0.0,
            error: f64::INFINITY,
            best: f64::INFINITY,
            rounds: 0,
            halvings: 0,
            stale: true,
            gave_way: false,
            settled: true,
        }
    }
}

/// Joints that hang together.
#[derive(Debug, Default)]
pub struct Component {
    /// Which section of the plan it is in, and whether that rests in this substep.
    pub section: usize,
    pub idle: bool,
    pub blocks: Vec<u32>,
    pub movers: Vec<u32>,
    /// Method it is solved by, and the one that was wished for.
    pub method: Option<Method>,
    wished: Option<Method>,
    /// True if something does work on it: a drive, or an end that is led.
    pub driven: bool,
    /// The blocks that hold it to something that no impulse moves.
    pub held: Vec<u32>,
    /// True if something presses on one of its bodies in this substep; true if that is tissue, or it is tissue.
    pub pressed: bool,
    pub on_tissue: bool,
    /// True if it has drives; true if it has drives or stops.
    pub has_drive: bool,
    pub is_controlled: bool,
    /// True if its last rounds led nowhere: then its velocities are left as they are.
    pub lost: bool,
    /// True if bonds pull along the mean of their arms at the start and at the end of the substep.
    pub mean: bool,
    /// True if it pulls so once more at the end.
    pub again: bool,
    /// If it is torn: kinetic energy it may have at the end of the substep, J.
    pub allowed: Option<f64>,
    layout: Layout,
    factor: Factor,
    skew: Skew,
    /// True if the last factorisation is that of the end of the substep.
    skewed: bool,
    /// Factors of single blocks, and of each whether it has rows that others of the same block already determine.
    singles: Vec<f64>,
    alone: Vec<bool>,
    x: Vec<f64>,
    scale: Vec<f64>,
    /// Of one that is swept: rows that others already determine, also those of other blocks, and the blocks they are in.
    census: Option<(usize, Vec<u32>)>,
    /// Rows that others already determine, as the last factorisation found.
    pub redundant: usize,
    /// How far its rounds have come.
    pub progress: Progress,
    /// Impulses of the last round, in the order of its blocks.
    pub last: Vec<f64>,
    /// How it changed the motion of the movers, in their order.
    pub moved: Vec<[DVec3; 2]>,
    /// True if rows held at their bounds owe the movers something that the others have to answer.
    pub owes: bool,
}

/// The rows of all blocks, as a component reads them.
pub struct Rows<'a> {
    pub blocks: &'a [Block],
    pub parts: &'a [Part],
    pub jacobian: &'a [f64],
    /// How errors at the end of the substep answer to velocities; empty if velocities themselves are made right.
    pub ahead: &'a [f64],
    /// Of each row: what is wrong with it (as a velocity), how far it gives way, and whether it is left out.
    pub wrong: &'a [f64],
    pub compliance: &'a [f64],
    pub masked: &'a [bool],
}

impl Rows<'_> {
    /// The rows of a part, those left out as zeros (written to `room`).
    #[inline]
    fn rows<'b>(&'b self, block: &Block, part: &Part, room: &'b mut [f64; 36]) -> &'b [f64] {
        self.shown(self.jacobian, block, part, room)
    }

    #[inline]
    fn shown<'b>(
        &'b self,
        jacobian: &'b [f64],
        block: &Block,
        part: &Part,
        room: &'b mut [f64; 36],
    ) -> &'b [f64] {
        let (first, width) = (part.first as usize, part.width as usize);
        let rows = &jacobian[first..first + block.rows * width];
        if !self.masked[block.range()].contains(&true) {
            return rows;
        }
        for r in 0..block.rows {
            let to = &mut room[r * width..(r + 1) * width];
            if self.masked[block.row + r] {
                to.fill(0.0);
            } else {
                to.copy_from_slice(&rows[r * width..(r + 1) * width]);
            }
        }
        &room[..rows.len()]
    }
}

impl Component {
    pub fn new(blocks: Vec<u32>, section: usize, all: &[Block], parts: &[Part]) -> Self {
        let mut movers: Vec<u32> = blocks
            .iter()
            .flat_map(|b| &parts[all[*b as usize].parts.clone()])
            .map(|p| p.mover)
            .collect();
        movers.sort_unstable();
        movers.dedup();
        let held = blocks.iter().filter(|b| all[**b as usize].on_still);
        let is_drive = |b: &u32| matches!(all[*b as usize].what, What::Drive(_));
        Self {
            section,
            held: held.copied().collect(),
            has_drive: blocks.iter().any(is_drive),
            is_controlled: blocks.iter().any(|b| all[*b as usize].is_of_control()),
            blocks,
            movers,
            ..Self::default()
        }
    }

    /// Takes no part: nothing is known of it.
    pub fn rest(&mut self) {
        self.idle = true;
        self.lost = false;
        self.mean = false;
        self.allowed = None;
        self.redundant = 0;
        self.progress = Progress::default();
    }

    /// The method that `wish` means here.
    pub fn method(&self, wish: Method) -> Method {
        match wish {
            Method::Auto if self.blocks.len() == 1 => Method::Iterative,
            Method::Auto => Method::Graph,
            given => given,
        }
    }

    /// Lays the factorisation out for the method that `wish` means. A graph too tangled for one is left to the sweeps.
    pub fn prepare(&mut self, rows: &Rows<'_>, movers: &Movers, wish: Method) {
        let method = self.method(wish);
        if self.wished != Some(method) {
            self.wished = Some(method);
            self.lay_out(rows, movers, method);
        }
    }

    /// Shows the blocks that have rows which others already determine, as the last factorisation found.
    pub fn see_redundant(&self, all: &[Block], mut see: impl FnMut(u32)) {
        if self.redundant == 0 {
            return;
        }
        if self.sweeps() {
            if let Some((_, blocks)) = &self.census {
                blocks.iter().for_each(|b| see(*b));
                return;
            }
            for (b, _) in self
                .blocks
                .iter()
                .zip(&self.alone)
                .filter(|(_, alone)| **alone)
            {
                see(*b);
            }
            return;
        }
        let rows = match self.skewed {
            true => self.skew.redundant(),
            false => self.factor.redundant(),
        };
        for (b, (offset, _)) in self.blocks.iter().zip(&self.layout.blocks) {
            let end = offset + all[*b as usize].rows;
            let next = rows.partition_point(|row| (*row as usize) < *offset);
            if rows.get(next).is_some_and(|row| (*row as usize) < end) {
                see(*b);
            }
        }
    }

    /// Makes the factorisation of this instant.
    pub fn factorise(&mut self, rows: &Rows<'_>, movers: &Movers) {
        match self.method.unwrap_or(Method::Iterative) {
            Method::Graph => self.factorise_graph(rows, movers),
            Method::System => self.factorise_system(rows, movers),
            _ => {
                self.factorise_singles(rows, movers);
                self.count_redundant(rows, movers);
            }
        }
    }

    /// Sweeps see of a block only what is in it. So that what is said twice is counted all the same, all blocks are eliminated together, once
    /// for each plan; a graph too tangled for that is left uncounted.
    fn count_redundant(&mut self, rows: &Rows<'_>, movers: &Movers) {
        if self.blocks.len() < 2 {
            return;
        }
        if self.census.is_none() {
            let mut all = Self {
                blocks: self.blocks.clone(),
                movers: self.movers.clone(),
                ..Self::default()
            };
            all.prepare(rows, movers, Method::Graph);
            let mut found = (self.redundant, Vec::new());
            if all.sweeps() {
                self.see_redundant(rows.blocks, |b| found.1.push(b));
            } else {
                all.factorise_graph(
                    &Rows {
                        ahead: &[],
                        ..*rows
                    },
                    movers,
                );
                found.0 = all.redundant;
                all.see_redundant(rows.blocks, |b| found.1.push(b));
            }
            self.census = Some(found);
        }
        if let Some((count, _)) = self.census {
            self.redundant = count;
        }
    }

    /// True if a direct method was wished for and its graph is too tangled for one.
    pub fn is_tangled(&self) -> bool {
        self.sweeps() && matches!(self.wished, Some(Method::Graph | Method::System))
    }

    /// True if the last factorisation was that of errors at the end of the substep.
    pub fn is_exact(&self) -> bool {
        self.skewed
    }

    /// True if it is solved by sweeps.
    pub fn sweeps(&self) -> bool {
        !matches!(self.method, Some(Method::Graph | Method::System))
    }

    fn lay_out(&mut self, rows: &Rows<'_>, movers: &Movers, method: Method) {
        let local = |m: u32| self.movers.binary_search(&m).unwrap_or(usize::MAX);
        let size = |b: &u32| rows.blocks[*b as usize].rows as u8;
        let of = |b: &u32| &rows.parts[rows.blocks[*b as usize].parts.clone()];
        let mut layout = Layout::default();
        let most = |nodes: usize| (MOST_PRODUCTS * (nodes + 100)).min(MOST_IN_ALL);
        let made = match method {
            Method::Graph => {
                let first = self.movers.len();
                let mut sizes: Vec<u8> = self.movers.iter().map(|m| movers[*m].freedom).collect();
                sizes.extend(self.blocks.iter().map(size));
                let after: Vec<bool> = (0..sizes.len()).map(|i| i >= first).collect();
                let mut edges = Vec::new();
                for (k, b) in self.blocks.iter().enumerate() {
                    for part in of(b) {
                        edges.push(((first + k) as u32, local(part.mover) as u32));
                    }
                }
                Pattern::within(&sizes, &edges, &after, most(sizes.len())).map(|pattern| {
                    let node = |i: usize| (pattern.offset(i), pattern.place(i, i));
                    layout.movers = (0..first).map(node).collect();
                    layout.blocks = (first..sizes.len()).map(node).collect();
                    for (k, b) in self.blocks.iter().enumerate() {
                        for part in of(b) {
                            layout
                                .parts
                                .push(pattern.place(first + k, local(part.mover)));
                        }
                    }
                    layout.pattern = pattern;
                })
            }
            Method::System => {
                // Of each mover the blocks that act on it, with the part that does.
                let mut on: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.movers.len()];
                for (k, b) in self.blocks.iter().enumerate() {
                    for p in rows.blocks[*b as usize].parts.clone() {
                        on[local(rows.parts[p].mover)].push((k as u32, p as u32));
                    }
                }
                let sizes: Vec<u8> = self.blocks.iter().map(size).collect();
                // Each pair is a block of the matrix or adds to one: where a thousand hang on one body, there are too many to look at.
                let pairs: usize = on.iter().map(|list| list.len() * list.len() / 2).sum();
                let bearable = pairs <= most(sizes.len());
                let pairs = || {
                    on.iter().flat_map(|list| {
                        list.iter().enumerate().flat_map(move |(i, first)| {
                            list[i + 1..].iter().map(move |second| (*first, *second))
                        })
                    })
                };
                let edges: Vec<(u32, u32)> = match bearable {
                    true => pairs().map(|(i, j)| (i.0, j.0)).collect(),
                    false => Vec::new(),
                };
                let after = vec![false; sizes.len()];
                let pattern = bearable
                    .then(|| Pattern::within(&sizes, &edges, &after, most(sizes.len())))
                    .flatten();
                pattern.map(|pattern| {
                    layout.blocks = (0..sizes.len())
                        .map(|i| (pattern.offset(i), pattern.place(i, i)))
                        .collect();
                    for (i, j) in pairs() {
                        if let Some(place) = pattern.place(i.0 as usize, j.0 as usize) {
                            layout.pairs.push((i.0, i.1, j.0, j.1, place));
                        }
                    }
                    layout.pattern = pattern;
                })
            }
            _ => None,
        };
        self.method = Some(if made.is_some() {
            method
        } else {
            Method::Iterative
        });
        self.factor.fit(&layout.pattern);
        if method == Method::Graph {
            self.skew.fit(&layout.pattern);
        }
        self.x.clear();
        self.x.resize(layout.pattern.rows().max(6), 0.0);
        self.scale.clear();
        self.scale.resize(layout.pattern.rows().max(6), 0.0);
        let singles = self.blocks.iter().map(|b| {
            let n = rows.blocks[*b as usize].rows;
            n * n
        });
        // What comes late must not allocate.
        let all = self.blocks.iter().map(|b| rows.blocks[*b as usize].rows);
        self.last.reserve(all.sum());
        self.moved.reserve(self.movers.len());
        self.singles.clear();
        self.singles.resize(singles.sum(), 0.0);
        self.alone.clear();
        self.alone.resize(self.blocks.len(), false);
        self.layout = layout;
    }

    fn factorise_graph(&mut self, rows: &Rows<'_>, movers: &Movers) {
        let Self {
            layout,
            factor,
            skew,
            scale,
            ..
        } = self;
        let skewed = !rows.ahead.is_empty();
        self.skewed = skewed;
        if skewed {
            skew.clear();
        } else {
            factor.clear();
        }
        for (m, (_, place)) in self.movers.iter().zip(&layout.movers) {
            let Some(place) = place else { continue };
            let mover = &movers[*m];
            let block = if skewed {
                skew.diagonal_mut(*place)
            } else {
                factor.block_mut(*place)
            };
            if mover.freedom == 6 {
                write_matrix::<6>(block, 0, &mover.mass.to_cols_array_2d());
                // Its columns are written as rows.
                let turning = (mover.inertia + mover.stiffness).transpose();
                write_matrix::<6>(block, 3, &turning.to_cols_array_2d());
            } else {
                write_matrix::<3>(block, 0, &mover.mass.to_cols_array_2d());
            }
        }
        let mut other = [0.0; 36];
        let mut room = [0.0; 36];
        let mut places = layout.parts.iter();
        for (b, (offset, place)) in self.blocks.iter().zip(&layout.blocks) {
            let block = &rows.blocks[*b as usize];
            let scale = &mut scale[*offset..*offset + block.rows];
            scale.fill(0.0);
            for part in &rows.parts[block.parts.clone()] {
                let jacobian = rows.rows(block, part, &mut room);
                if let Some(Some(place)) = places.next() {
                    if skewed {
                        let ahead = rows.shown(rows.ahead, block, part, &mut other);
                        skew.set(*place, ahead, jacobian);
                    } else {
                        factor.set(*place, jacobian);
                    }
                }
                let mover = &movers[part.mover];
                let light = mover.answer.x_axis.x + mover.answer.y_axis.y + mover.answer.z_axis.z;
                let turn = mover.inverse_inertia.x_axis.x
                    + mover.inverse_inertia.y_axis.y
                    + mover.inverse_inertia.z_axis.z;
                for (s, row) in scale
                    .iter_mut()
                    .zip(jacobian.chunks_exact(part.width as usize))
                {
                    *s += light * (row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
                    if let [_, _, _, x, y, z] = row {
                        *s += turn * (x * x + y * y + z * z);
                    }
                }
            }
            if let Some(place) = place {
                let own = if skewed {
                    skew.diagonal_mut(*place)
                } else {
                    factor.block_mut(*place)
                };
                for r in 0..block.rows {
                    let row = block.row + r;
                    own[r * block.rows + r] = if rows.masked[row] {
                        -1.0
                    } else {
                        -rows.compliance[row]
                    };
                    scale[r] = if rows.masked[row] { 0.0 } else { scale[r] };
                }
            }
        }
        self.redundant = if skewed {
            skew.factor(&layout.pattern, &scale[..layout.pattern.rows()], REDUNDANT)
        } else {
            factor.factor(&layout.pattern, &scale[..layout.pattern.rows()], REDUNDANT)
        };
    }

    fn factorise_system(&mut self, rows: &Rows<'_>, movers: &Movers) {
        let Self {
            layout,
            factor,
            scale,
            ..
        } = self;
        factor.clear();
        let (mut product, mut room, mut other) = ([0.0; 36], [0.0; 36], [0.0; 36]);
        for (b, (offset, place)) in self.blocks.iter().zip(&layout.blocks) {
            let block = &rows.blocks[*b as usize];
            let n = block.rows;
            let Some(place) = place else { continue };
            let own = factor.block_mut(*place);
            for part in &rows.parts[block.parts.clone()] {
                let jacobian = rows.rows(block, part, &mut room);
                answered::<true>(movers, part, jacobian, jacobian, &mut product);
                for (o, p) in own.iter_mut().zip(&product[..n * n]) {
                    *o += p;
                }
            }
            for r in 0..n {
                let row = block.row + r;
                own[r * n + r] += rows.compliance[row];
                if rows.masked[row] {
                    own[r * n + r] = 1.0;
                }
                scale[offset + r] = own[r * n + r];
            }
        }
        for (i, p, j, q, place) in &layout.pairs {
            let (first, second) = (
                &rows.blocks[self.blocks[*i as usize] as usize],
                &rows.blocks[self.blocks[*j as usize] as usize],
            );
            let (p, q) = (&rows.parts[*p as usize], &rows.parts[*q as usize]);
            let (left, right) = (
                rows.rows(first, p, &mut room),
                rows.rows(second, q, &mut other),
            );
            answered::<true>(movers, p, left, right, &mut product);
            let stored = factor.block_mut(*place);
            for r in 0..first.rows {
                for c in 0..second.rows {
                    let at = if place.transposed {
                        c * first.rows + r
                    } else {
                        r * second.rows + c
                    };
                    stored[at] += product[r * second.rows + c];
                }
            }
        }
        self.redundant = factor.factor(&layout.pattern, &scale[..layout.pattern.rows()], REDUNDANT);
    }

    /// Factorises each block alone.
    pub fn factorise_singles(&mut self, rows: &Rows<'_>, movers: &Movers) {
        let mut first = 0;
        self.redundant = 0;
        let (mut product, mut room) = ([0.0; 36], [0.0; 36]);
        for (b, alone) in self.blocks.iter().zip(&mut self.alone) {
            let block = &rows.blocks[*b as usize];
            let n = block.rows;
            let own = &mut self.singles[first..first + n * n];
            first += n * n;
            own.fill(0.0);
            for part in &rows.parts[block.parts.clone()] {
                let jacobian = rows.rows(block, part, &mut room);
                answered::<false>(movers, part, jacobian, jacobian, &mut product);
                for (o, p) in own.iter_mut().zip(&product[..n * n]) {
                    *o += p;
                }
            }
            let mut scale = [0.0; 6];
            for r in 0..n {
                let row = block.row + r;
                own[r * n + r] += rows.compliance[row];
                if rows.masked[row] {
                    own[r * n + r] = 1.0;
                }
                scale[r] = own[r * n + r];
            }
            let redundant = small::factor_block(own, &scale[..n], REDUNDANT);
            *alone = redundant != 0;
            self.redundant += redundant.count_ones() as usize;
        }
    }

    /// The impulses that, in the linear model, undo what is wrong with every row, to [`last`](Self::last); and how they change
    /// the motion of the movers, to [`moved`](Self::moved), if bonds pull along mean arms.
    pub fn solve(&mut self, rows: &Rows<'_>, movers: &Movers, level: Level) {
        let graph = self.method == Some(Method::Graph);
        let mean = self.mean && level != Level::Velocity;
        let owes = mean || self.owes;
        let x = &mut self.x[..self.layout.pattern.rows()];
        if graph {
            for (m, (offset, _)) in self.movers.iter().zip(&self.layout.movers) {
                let mover = &movers[*m];
                let to = &mut x[*offset..*offset + mover.freedom as usize];
                to.fill(0.0);
                if owes {
                    write_vector(to, mover.lack());
                }
            }
        }
        for (b, (offset, _)) in self.blocks.iter().zip(&self.layout.blocks) {
            let block = &rows.blocks[*b as usize];
            for r in 0..block.rows {
                let row = block.row + r;
                x[offset + r] = if rows.masked[row] {
                    0.0
                } else {
                    -rows.wrong[row]
                };
            }
        }
        if owes && !graph {
            self.move_by_lack(rows, movers);
        }
        let x = &mut self.x[..self.layout.pattern.rows()];
        if self.skewed && graph {
            self.skew.solve(&self.layout.pattern, x);
        } else {
            self.factor.solve(&self.layout.pattern, x);
        }
        let sign = if graph { -1.0 } else { 1.0 };
        self.last.clear();
        for (b, (offset, _)) in self.blocks.iter().zip(&self.layout.blocks) {
            let n = rows.blocks[*b as usize].rows;
            self.last
                .extend(x[*offset..*offset + n].iter().map(|i| sign * i));
        }
        if !mean {
            return;
        }
        if graph {
            self.moved.clear();
            for (m, (offset, _)) in self.movers.iter().zip(&self.layout.movers) {
                let turns = movers[*m].freedom == 6;
                let motion = &x[*offset..];
                let turn = turns.then(|| DVec3::from_slice(&motion[3..]));
                self.moved
                    .push([DVec3::from_slice(motion), turn.unwrap_or(DVec3::ZERO)]);
            }
        } else {
            self.move_by_impulses(rows, movers);
        }
    }

    /// Starts [`moved`](Self::moved) with what bonds still owe the movers, and takes what it does to the rows off the right-hand side.
    fn move_by_lack(&mut self, rows: &Rows<'_>, movers: &Movers) {
        self.moved.clear();
        for m in &self.movers {
            let mover = &movers[*m];
            let [push, twist] = mover.lack();
            self.moved.push([mover.answer * push, mover.felt * twist]);
        }
        for (b, (offset, _)) in self.blocks.iter().zip(&self.layout.blocks) {
            let block = &rows.blocks[*b as usize];
            for part in &rows.parts[block.parts.clone()] {
                let Ok(m) = self.movers.binary_search(&part.mover) else {
                    continue;
                };
                let [shift, turn] = self.moved[m];
                let (first, width) = (part.first as usize, part.width as usize);
                let jacobian = rows.jacobian[first..first + block.rows * width].chunks_exact(width);
                for (r, row) in jacobian
                    .enumerate()
                    .filter(|(r, _)| !rows.masked[block.row + r])
                {
                    let mut rate = DVec3::from_slice(row).dot(shift);
                    if let Some(moment) = row.get(3..6) {
                        rate += DVec3::from_slice(moment).dot(turn);
                    }
                    self.x[offset + r] -= rate;
                }
            }
        }
    }

    /// Adds what the impulses of [`last`](Self::last) do.
    fn move_by_impulses(&mut self, rows: &Rows<'_>, movers: &Movers) {
        let mut at = 0;
        for b in &self.blocks {
            let block = &rows.blocks[*b as usize];
            let impulses = &self.last[at..at + block.rows];
            at += block.rows;
            for part in &rows.parts[block.parts.clone()] {
                let Ok(m) = self.movers.binary_search(&part.mover) else {
                    continue;
                };
                let (push, twist) = pushed(rows.jacobian, part, impulses);
                let mover = &movers[part.mover];
                self.moved[m][0] += mover.answer * push;
                self.moved[m][1] += mover.felt * twist;
            }
        }
    }

    /// The same for the `k`-th block alone.
    pub fn solve_single(&self, k: usize, first: usize, rows: &Rows<'_>) -> [f64; 6] {
        let block = &rows.blocks[self.blocks[k] as usize];
        let n = block.rows;
        let mut x = [0.0; 6];
        for (x, row) in x.iter_mut().zip(block.range()) {
            *x = if rows.masked[row] {
                0.0
            } else {
                -rows.wrong[row]
            };
        }
        small::solve_block(&self.singles[first..first + n * n], &mut x[..n]);
        x
    }
}

/// Writes one or two vectors in a row.
fn write_vector(to: &mut [f64], vectors: [DVec3; 2]) {
    for (to, vector) in to.chunks_exact_mut(3).zip(vectors) {
        to.copy_from_slice(&vector.to_array());
    }
}

/// Writes a 3×3 matrix, given by rows, into a row-major block of `N` columns, from row and column `from` on.
fn write_matrix<const N: usize>(block: &mut [f64], from: usize, m: &[[f64; 3]; 3]) {
    for (i, row) in m.iter().enumerate() {
        let first = (from + i) * N + from;
        block[first..first + 3].copy_from_slice(row);
    }
}

/// `left` · answer of the part's mover · `right`ᵀ, row-major: how the rows of the one move for impulses of the other.
/// `FELT`: with what bonds add to inertia.
fn answered<const FELT: bool>(
    movers: &Movers,
    part: &Part,
    left: &[f64],
    right: &[f64],
    product: &mut [f64; 36],
) {
    let mover = &movers[part.mover];
    let width = part.width as usize;
    let columns = right.len() / width;
    for (c, row) in right.chunks_exact(width).enumerate() {
        let push = mover.answer * DVec3::from_slice(row);
        let turn = match row.get(3..6) {
            Some(moment) if FELT => mover.felt * DVec3::from_slice(moment),
            Some(moment) => mover.inverse_inertia * DVec3::from_slice(moment),
            None => DVec3::ZERO,
        };
        for (r, row) in left.chunks_exact(width).enumerate() {
            let mut sum = DVec3::from_slice(row).dot(push);
            if let Some(moment) = row.get(3..6) {
                sum += DVec3::from_slice(moment).dot(turn);
            }
            product[r * columns + c] = sum;
        }
    }
}
