//! Rounds of a component: preview, look what is wrong, find impulses, give them (B58–B69).

use super::{
    Workspace,
    component::{Component, Method, Progress, Rows},
    mover::{Level, Movers, When},
    plan::{self, Plan, What},
    plan_ends, push_part, rows,
};
use glam::DVec3;

/// A direct method that needs more rounds than this needs a shorter substep.
const MOST_ROUNDS: u32 = 16;

/// A round of a direct method should leave no more than this part of the error, else its matrix is made anew.
const SLOW: f64 = 0.3;

/// A round that made things worse is taken back by halves at most so often.
const MOST_HALVINGS: u32 = 5;

impl Workspace {
    pub(super) fn start_rounds(&mut self) {
        let Self { plan, movers, .. } = self;
        for component in &mut plan.components {
            component.progress = Progress::default();
            // What drives or leads does work.
            component.driven = component.blocks.iter().any(|b| {
                let what = plan.blocks[*b as usize].what;
                matches!(what, What::Drive(_))
                    || plan_ends(&plan.tied, what).any(|m| {
                        movers[m].freedom == 0
                            && (movers[m].velocity, movers[m].spin) != (DVec3::ZERO, DVec3::ZERO)
                    })
            });
            component.grounded = component.blocks.iter().any(|b| {
                let what = plan.blocks[*b as usize].what;
                plan_ends(&plan.tied, what).any(|m| movers[m].freedom == 0)
            });
        }
    }

    /// One round over all components; returns the greatest error it found.
    pub(super) fn round(&mut self, level: Level, tolerance: f64, wish: Method) -> f64 {
        let mut greatest = 0.0_f64;
        for b in 0..self.plan.dead.len() {
            let b = self.plan.dead[b] as usize;
            greatest = greatest.max(self.look(b, level));
        }
        let mut components = std::mem::take(&mut self.plan.components);
        for component in &mut components {
            greatest = greatest.max(self.round_of(component, level, tolerance, wish));
        }
        self.plan.components = components;
        greatest
    }

    pub(super) fn round_of(
        &mut self,
        component: &mut Component,
        level: Level,
        tolerance: f64,
        wish: Method,
    ) -> f64 {
        self.movers.refresh(&component.movers, level);
        let mut error = 0.0_f64;
        for b in &component.blocks {
            let block = &self.plan.blocks[*b as usize];
            let before = self.state.masked[block.row];
            let bounded = !matches!(block.what, What::Bases(..));
            error = error.max(self.look(*b as usize, level));
            let row = self.plan.blocks[*b as usize].row;
            component.progress.stale |= bounded && before != self.state.masked[row];
        }
        if error < component.progress.best {
            component.progress.best = error;
            component.kept.clear();
            for b in &component.blocks {
                let rows = self.plan.blocks[*b as usize].range();
                component.kept.extend_from_slice(&self.plan.impulse[rows]);
            }
        }
        if error <= tolerance {
            component.progress.error = error;
            return error;
        }
        let mut progress = component.progress;
        if progress.rounds == 0 {
            progress.first = error;
        }
        progress.rounds += 1;
        // A round that gains little has an old matrix: things have turned since.
        let slow = progress.rounds > 2 && error > SLOW * progress.error && !component.sweeps();
        if progress.stale || slow {
            if progress.stale {
                // Other rows are in play: what the last round left does not compare.
                progress.error = f64::INFINITY;
            }
            progress.stale = false;
            if level != Level::Velocity && component.method(wish) == Method::Graph {
                self.plan.aim_rows_ahead(&component.blocks, &self.movers);
            }
            component.factorise(&self.rows(level), &self.movers, wish);
        }
        if component.sweeps() {
            progress.error = error;
            component.progress = progress;
            self.sweep(component, level, tolerance);
            return error;
        }
        let worse = error.is_nan() || error >= progress.error;
        if worse && progress.halvings < MOST_HALVINGS && progress.rounds > 1 {
            progress.halvings += 1;
            let last = std::mem::take(&mut component.last);
            let mut at = 0;
            for b in &component.blocks {
                let n = self.plan.blocks[*b as usize].rows;
                let mut back = [0.0; 6];
                for (k, l) in back.iter_mut().zip(&last[at..at + n]) {
                    *k = -0.5 * l;
                }
                self.give(*b as usize, &back[..n]);
                at += n;
            }
            component.last = last;
            component.last.iter_mut().for_each(|l| *l *= 0.5);
        } else {
            progress.halvings = 0;
            progress.error = error;
            let mut last = std::mem::take(&mut component.last);
            last.clear();
            let Self {
                movers,
                plan,
                state,
                ..
            } = self;
            let Plan {
                blocks,
                parts,
                jacobian,
                impulse,
                tied,
                ..
            } = plan;
            let spent = &mut self.spent;
            spent.clear();
            let rows = Rows {
                blocks,
                parts,
                jacobian,
                ahead: &[],
                wrong: &state.wrong,
                compliance: &state.compliance,
                masked: &state.masked,
            };
            component.solve(&rows, |_, wanted| last.extend_from_slice(wanted));
            // Rows that have no more to give are held there first; the others were reckoned with what these can't give.
            let mut cut = false;
            for only_cut in [true, false] {
                let mut at = 0;
                for b in &component.blocks {
                    let block = &blocks[*b as usize];
                    let n = block.rows;
                    let wanted = &mut last[at..at + n];
                    at += n;
                    let mut given = [0.0; 6];
                    given[..n].copy_from_slice(wanted);
                    let here = bounded(
                        block,
                        tied,
                        (&state.bounds, &state.strength),
                        impulse,
                        &mut given,
                        |rows| spent.push(rows),
                    );
                    if only_cut && !here {
                        continue;
                    }
                    cut |= here;
                    wanted.copy_from_slice(&given[..n]);
                    for (i, g) in impulse[block.range()].iter_mut().zip(&given) {
                        *i += g;
                    }
                    for part in &parts[block.parts.clone()] {
                        push_part(movers, jacobian, part, &given[..n]);
                    }
                }
                if cut {
                    progress.gave_way |= !spent.is_empty();
                    progress.stale = true;
                    break;
                }
            }
            component.last = last;
            // What gives way is held at its strength, and the rest solved with it there.
            for (row, count) in self.spent.drain(..) {
                self.state.masked[row..row + count].fill(true);
                progress.stale = true;
            }
        }
        component.progress = progress;
        self.movers.refresh(&component.movers, level);
        error
    }

    /// One impulse for each block in turn (B59).
    pub(super) fn sweep(&mut self, component: &mut Component, level: Level, tolerance: f64) {
        let mut first = 0;
        for k in 0..component.blocks.len() {
            let b = component.blocks[k] as usize;
            let (n, range) = (self.plan.blocks[b].rows, self.plan.blocks[b].parts.clone());
            for p in range {
                let mover = &mut self.movers[self.plan.parts[p].mover];
                if mover.dirty {
                    mover.refresh(level);
                }
            }
            let before = self.state.masked[self.plan.blocks[b].row];
            let error = self.look(b, level);
            let masked = self.state.masked[self.plan.blocks[b].row];
            if before != masked {
                component.progress.stale = true;
            } else if error > tolerance {
                let wanted = component.solve_single(k, first, &self.rows(level));
                component.progress.gave_way |= self.give(b, &wanted[..n]);
            }
            first += n * n;
        }
    }

    pub(super) fn rows(&self, level: Level) -> Rows<'_> {
        Rows {
            blocks: &self.plan.blocks,
            parts: &self.plan.parts,
            jacobian: &self.plan.jacobian,
            ahead: match level {
                Level::Velocity => &[],
                Level::Position(_) => &self.plan.ahead,
            },
            wrong: &self.state.wrong,
            compliance: &self.state.compliance,
            masked: &self.state.masked,
        }
    }

    /// Gives a block so much more impulse, as far as its bounds allow; true if they did not.
    pub(super) fn give(&mut self, b: usize, wanted: &[f64]) -> bool {
        let Self {
            movers,
            plan,
            state,
            ..
        } = self;
        let mut given = [0.0; 6];
        given[..wanted.len()].copy_from_slice(wanted);
        let block = &plan.blocks[b];
        let masked = &mut state.masked;
        let cut = bounded(
            block,
            &plan.tied,
            (&state.bounds, &state.strength),
            &plan.impulse,
            &mut given,
            |(row, count)| masked[row..row + count].fill(true),
        );
        for (i, g) in plan.impulse[block.range()].iter_mut().zip(&given) {
            *i += g;
        }
        for part in &plan.parts[block.parts.clone()] {
            push_part(movers, &plan.jacobian, part, &given[..wanted.len()]);
        }
        cut
    }

    /// Works out what is wrong with a block's rows; returns the greatest error.
    pub(super) fn look(&mut self, b: usize, level: Level) -> f64 {
        let Self {
            movers,
            plan,
            state,
            ..
        } = self;
        let block = &plan.blocks[b];
        let row = block.row;
        match (block.what, level) {
            (What::Bases(first, count), Level::Position(h)) => {
                if block.of_velocity {
                    return 0.0;
                }
                let mut greatest = 0.0_f64;
                let mut row = row;
                for tied in &plan.tied[first as usize..first as usize + count as usize] {
                    let n = tied.kind.rows();
                    if state.masked[row] {
                        row += n;
                        continue;
                    }
                    let error = tied.error(movers);
                    let mut square = 0.0;
                    for (w, e) in state.wrong[row..row + n].iter_mut().zip(error) {
                        *w = e / h;
                        square += e * e;
                    }
                    greatest = greatest.max(square);
                    row += n;
                }
                greatest.sqrt()
            }
            (What::Bases(..), Level::Velocity) => {
                rates(block, &plan.parts, &plan.jacobian, movers, &mut state.wrong);
                plan.still_rates(b, movers, &mut state.wrong);
                let rows = block.range().filter(|r| !state.masked[*r]);
                let square: f64 = rows.map(|r| state.wrong[r] * state.wrong[r]).sum();
                square.sqrt()
            }
            (What::Stop(k), Level::Position(h)) => {
                let knob = &plan.knobs[k as usize];
                let value = knob.dial.value(movers, When::Ahead, knob.value);
                let impulse = plan.impulse[row];
                let [low, high] = plan.ranges[k as usize];
                let (error, bounds) = if impulse > 0.0 || (impulse == 0.0 && value < low) {
                    (value - low, [0.0, f64::INFINITY])
                } else if impulse < 0.0 || value > high {
                    (value - high, [f64::NEG_INFINITY, 0.0])
                } else {
                    (0.0, [0.0, 0.0])
                };
                state.bounds[row] = bounds;
                state.masked[row] = bounds == [0.0, 0.0];
                state.wrong[row] = error / h;
                error.abs()
            }
            (What::Stop(_), Level::Velocity) => {
                let bounds = state.bounds[row];
                if bounds == [0.0, 0.0] {
                    return 0.0;
                }
                rates(block, &plan.parts, &plan.jacobian, movers, &mut state.wrong);
                plan.still_rates(b, movers, &mut state.wrong);
                let rate = state.wrong[row];
                let leaving = if bounds[0] == 0.0 { rate } else { -rate };
                let free = leaving > 0.0 && plan.impulse[row] == 0.0;
                state.masked[row] = free;
                if free { 0.0 } else { rate.abs() }
            }
            (What::Drive(k), Level::Position(h)) => {
                if state.masked[row] && state.goal[row].give == 0.0 && state.goal[row].place == 0.0
                {
                    return 0.0;
                }
                let knob = &plan.knobs[k as usize];
                let goal = state.goal[row];
                let impulse = plan.impulse[row];
                let value = knob.dial.value(movers, When::Ahead, knob.value);
                let error = value + goal.give * impulse - goal.place;
                let [least, most] = state.bounds[row];
                // At its strongest and still not there: more is not to be had.
                let spent = (impulse >= most && error < 0.0) || (impulse <= least && error > 0.0);
                state.masked[row] = spent;
                state.wrong[row] = error / h;
                if spent { 0.0 } else { error.abs() }
            }
            (What::Drive(_), Level::Velocity) => 0.0,
        }
    }

    /// True if no component would get better by more rounds.
    pub(super) fn is_stuck(&self) -> bool {
        self.plan.components.iter().all(|c| {
            let p = &c.progress;
            !c.sweeps() && (p.rounds >= MOST_ROUNDS || p.halvings >= MOST_HALVINGS)
                || !p.error.is_finite()
                || p.rounds == 0
        })
    }
}

/// Shortens `given` so that the block's impulses stay in bounds when it is added. True if anything was cut; `spend` is
/// told the first row and the number of rows of a base joint that has no more to give.
#[inline]
fn bounded(
    block: &plan::Block,
    tied: &[rows::Tied],
    (bounds, strength): (&[[f64; 2]], &[f64]),
    impulse: &[f64],
    given: &mut [f64; 6],
    mut spend: impl FnMut((usize, usize)),
) -> bool {
    let mut cut = false;
    match block.what {
        What::Bases(first, count) => {
            let mut r = 0;
            for k in first as usize..first as usize + count as usize {
                let rows = tied[k].kind.rows();
                if strength[k].is_finite() {
                    let now = &impulse[block.row + r..block.row + r + rows];
                    let sum = now.iter().zip(&given[r..]).map(|(now, more)| now + more);
                    let length = sum.map(|x| x * x).sum::<f64>().sqrt();
                    if length > strength[k] {
                        cut = true;
                        spend((block.row + r, rows));
                        let part = strength[k] / length;
                        for i in 0..rows {
                            given[r + i] = (now[i] + given[r + i]) * part - now[i];
                        }
                    }
                }
                r += rows;
            }
        }
        What::Stop(_) | What::Drive(_) => {
            let [least, most] = bounds[block.row];
            let now = impulse[block.row];
            let next = (now + given[0]).clamp(least, most);
            cut = next != now + given[0];
            given[0] = next - now;
        }
    }
    cut
}

/// How fast a block's rows change by what its free movers do.
fn rates(
    block: &plan::Block,
    parts: &[plan::Part],
    jacobian: &[f64],
    movers: &Movers,
    wrong: &mut [f64],
) {
    let wrong = &mut wrong[block.range()];
    wrong.fill(0.0);
    for part in &parts[block.parts.clone()] {
        let (first, width) = (part.first as usize, part.width as usize);
        let mover = &movers[part.mover];
        let rows = jacobian[first..first + block.rows * width].chunks_exact(width);
        for (w, row) in wrong.iter_mut().zip(rows) {
            *w += DVec3::from_slice(row).dot(mover.velocity);
            if let Some(moment) = row.get(3..6) {
                *w += DVec3::from_slice(moment).dot(mover.spin);
            }
        }
    }
}
