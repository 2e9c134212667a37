//! Rounds of a component: preview, look what is wrong, find impulses, give them (B58–B69).

use super::{
    Workspace,
    component::{Component, Method, Progress, Rows},
    larger,
    mover::{Level, Movers, When},
    plan::{self, Plan, What},
    plan_ends, push_part, pushed, rows,
};
use glam::DVec3;

/// A direct method that needs more rounds than this needs a shorter substep.
pub(super) const MOST_ROUNDS: u32 = 16;

/// Rows are held at their bounds at most so often in a round; what is beyond its bound then is cut.
const MOST_CUTS: u32 = 8;

/// A round that made things worse is taken back by halves at most so often.
pub(super) const MOST_HALVINGS: u32 = 5;

impl Workspace {
    /// Starts from the impulses there are. `may_fail`: a shorter substep would still be tried; the last one takes no chances.
    pub(super) fn start_rounds(&mut self, level: Level, wish: Method, may_fail: bool) {
        let mut components = std::mem::take(&mut self.plan.components);
        for component in components.iter_mut().filter(|c| !c.idle) {
            component.prepare(&self.rows(false), &self.movers, wish);
            component.progress = Progress::default();
            component.mean = match level {
                Level::Position(h) if may_fail => self.needs_middle(component, h),
                _ => false,
            };
            let Self { plan, movers, .. } = self;
            for m in &component.movers {
                movers[*m].mean = component.mean;
            }
            if component.mean {
                // Their free motion is the best guess there is of how they will turn.
                plan.aim_rows_middle(&component.blocks, movers);
            }
            if let (true, Level::Position(h)) = (component.mean && !component.sweeps(), level) {
                // Velocities are right already: to go on with them is nearer to the truth than the impulses of the last substep.
                for m in &component.movers {
                    movers[*m].go_on(h);
                }
            } else if level != Level::Velocity {
                for b in &component.blocks {
                    let block = &plan.blocks[*b as usize];
                    for part in &plan.parts[block.parts.clone()] {
                        let impulses = &plan.impulse[block.range()];
                        push_part(movers, &plan.jacobian, part, impulses);
                    }
                }
            }
            // What drives or leads does work.
            component.driven = component.has_drive
                || component.held.iter().any(|b| {
                    let what = plan.blocks[*b as usize].what;
                    plan_ends(&plan.tied, what).any(|m| {
                        movers[m].freedom == 0
                            && (movers[m].velocity, movers[m].spin) != (DVec3::ZERO, DVec3::ZERO)
                    })
                });
        }
        self.plan.components = components;
    }

    /// One round over all components; returns the greatest error it found.
    pub(super) fn round(&mut self, level: Level, tolerance: f64) -> f64 {
        let mut greatest = 0.0_f64;
        for b in 0..self.plan.dead.len() {
            let b = self.plan.dead[b] as usize;
            greatest = larger(greatest, self.look(b, level));
        }
        let mut components = std::mem::take(&mut self.plan.components);
        for component in components.iter_mut().filter(|c| !c.idle) {
            greatest = larger(greatest, self.round_of(component, level, tolerance));
        }
        self.plan.components = components;
        greatest
    }

    pub(super) fn round_of(
        &mut self,
        component: &mut Component,
        level: Level,
        tolerance: f64,
    ) -> f64 {
        if component.lost && level == Level::Velocity {
            return 0.0;
        }
        self.movers.refresh(&component.movers, level);
        let mut error = match level {
            Level::Position(h) if component.mean && !component.sweeps() => {
                self.follow(component, h)
            }
            _ => 0.0,
        };
        for b in &component.blocks {
            let block = &self.plan.blocks[*b as usize];
            let before = self.state.masked[block.row];
            let bounded = !matches!(block.what, What::Bases(..));
            error = larger(error, self.look(*b as usize, level));
            let row = self.plan.blocks[*b as usize].row;
            component.progress.stale |= bounded && before != self.state.masked[row];
        }
        component.progress.best = component.progress.best.min(error);
        if error <= tolerance {
            component.progress.error = error;
            return error;
        }
        let mut progress = component.progress;
        if progress.rounds == 0 {
            progress.first = error;
            if error.is_nan() {
                // Nobody knows what would be right; whatever was given now would be no number either.
                component.progress.rounds = MOST_ROUNDS;
                component.progress.error = error;
            }
        }
        if error.is_nan() && component.progress.rounds >= MOST_ROUNDS {
            return error;
        }
        progress.rounds += 1;
        // A matrix that would take more than two further rounds is old: things have turned since.
        let pace = error / progress.error;
        let slow = !(component.sweeps() || error * pace * pace <= tolerance);
        if progress.stale || slow {
            if progress.stale {
                // Other rows are in play: what the last round left does not compare.
                progress.error = f64::INFINITY;
            }
            progress.stale = false;
            // Far from the solution the mean arms on both sides are the better guess: they are a secant, not a tangent.
            let exact = component.method == Some(Method::Graph)
                && level != Level::Velocity
                && !(component.mean && progress.rounds == 1);
            if let Level::Position(h) = level {
                for m in &component.movers {
                    self.movers[*m].look_back(h);
                }
                if exact {
                    self.plan.aim_rows_ahead(&component.blocks, &self.movers);
                }
                if component.mean && !component.sweeps() {
                    self.stiffen(component, h, exact);
                }
            }
            component.factorise(&self.rows(exact), &self.movers);
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
            self.take_back_half(component, level);
        } else {
            progress.halvings = 0;
            progress.error = error;
            progress.gave_way |= self.solve_within_bounds(component, level);
            self.give_all(component, level);
        }
        component.progress = progress;
        self.movers.refresh(&component.movers, level);
        error
    }

    /// Finds impulses that undo what is wrong, and that no row is too weak for: rows that are, are held at their bounds, and the others
    /// are asked again with what these do as given, before anything is pushed. Pushed alone, a row that is cut would throw
    /// what the others hold: a motor of 1.5 N·m turns a knuckle of 0.2 kg by a radian in a substep. True if a joint gave way.
    fn solve_within_bounds(&mut self, component: &mut Component, level: Level) -> bool {
        component.owes = false;
        component.solve(&self.rows(false), &self.movers, level);
        self.spent.clear();
        let mut gave_way = false;
        for _ in 0..MOST_CUTS {
            let before = self.spent.len();
            gave_way |= self.hold_at_bounds(component, level);
            if self.spent.len() == before {
                break;
            }
            component.factorise(&self.rows(component.is_exact()), &self.movers);
            component.solve(&self.rows(false), &self.movers, level);
        }
        gave_way
    }

    /// Holds all rows at their bounds that the last solve asks too much of; true if one of them is of a joint that gives way.
    fn hold_at_bounds(&mut self, component: &mut Component, level: Level) -> bool {
        let Self {
            movers,
            plan,
            state,
            spent,
            ..
        } = self;
        let (mut at, mut gave_way) = (0, false);
        for b in &component.blocks {
            let block = &plan.blocks[*b as usize];
            let first = at;
            at += block.rows;
            let mut given = [0.0; 6];
            given[..block.rows].copy_from_slice(&component.last[first..at]);
            let mut held = [false; 6];
            let limits = (&*state.bounds, &*state.strength);
            let spend = |(row, count): (usize, usize)| held[row - block.row..][..count].fill(true);
            if !bounded(block, &plan.tied, limits, &plan.impulse, &mut given, spend) {
                continue;
            }
            let is_bond = matches!(block.what, What::Bases(..));
            held[0] |= !is_bond;
            let mut any = false;
            for r in 0..block.rows {
                let row = block.row + r;
                // Those that were held before are where they should be.
                if !held[r] || state.masked[row] {
                    given[r] = 0.0;
                    continue;
                }
                any = true;
                state.masked[row] = true;
                plan.impulse[row] += given[r];
                spent.push((first + r, given[r]));
            }
            if !any {
                continue;
            }
            gave_way |= is_bond;
            let mean = component.mean && level != Level::Velocity;
            if !component.owes && !mean {
                for m in &component.movers {
                    let mover = &mut movers[*m];
                    mover.due = mover.given;
                }
            }
            component.owes = true;
            for part in &plan.parts[block.parts.clone()] {
                let (push, twist) = pushed(&plan.jacobian, part, &given[..block.rows]);
                let due = &mut movers[part.mover].due;
                due[0] += push;
                due[1] += twist;
            }
        }
        gave_way
    }

    /// Gives all blocks what the last solve found, and with it what rows held at their bounds owe.
    fn give_all(&mut self, component: &mut Component, level: Level) {
        let Self {
            movers,
            plan,
            state,
            spent,
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
        let mean = component.mean && level != Level::Velocity;
        if component.owes && !mean {
            for m in &component.movers {
                let mover = &mut movers[*m];
                let [push, twist] = mover.lack();
                mover.bind(push, twist);
            }
        }
        let mut at = 0;
        for b in &component.blocks {
            let block = &blocks[*b as usize];
            let wanted = &mut component.last[at..at + block.rows];
            at += block.rows;
            let mut given = [0.0; 6];
            given[..block.rows].copy_from_slice(wanted);
            // There may have been more rows to hold than there was patience for.
            let limits = (&*state.bounds, &*state.strength);
            if bounded(block, tied, limits, impulse, &mut given, |_| {}) {
                wanted.copy_from_slice(&given[..block.rows]);
            }
            for (i, g) in impulse[block.range()].iter_mut().zip(&given) {
                *i += g;
            }
            if !mean {
                for part in &parts[block.parts.clone()] {
                    push_part(movers, jacobian, part, &given[..block.rows]);
                }
            }
        }
        if mean {
            for (m, [shift, turn]) in component.movers.iter().zip(&component.moved) {
                let mover = &mut movers[*m];
                mover.bind(mover.mass * *shift, mover.inertia * *turn);
            }
        }
        for (at, given) in &*spent {
            component.last[*at] += *given;
        }
    }

    /// Takes half of the last round back.
    fn take_back_half(&mut self, component: &mut Component, level: Level) {
        let mean = component.mean && level != Level::Velocity && !component.moved.is_empty();
        component.last.iter_mut().for_each(|l| *l *= 0.5);
        let last = std::mem::take(&mut component.last);
        let mut at = 0;
        for b in &component.blocks {
            let block = &self.plan.blocks[*b as usize];
            let n = block.rows;
            let mut back = [0.0; 6];
            for (k, l) in back.iter_mut().zip(&last[at..at + n]) {
                *k = -l;
            }
            at += n;
            if mean {
                for (i, g) in self.plan.impulse[block.range()].iter_mut().zip(&back) {
                    *i += g;
                }
            } else {
                self.give(*b as usize, &back[..n]);
            }
        }
        component.last = last;
        if mean {
            for (m, moved) in component.movers.iter().zip(&mut component.moved) {
                let mover = &mut self.movers[*m];
                *moved = moved.map(|v| v * 0.5);
                let [shift, turn] = *moved;
                mover.bind(mover.mass * -shift, mover.inertia * -turn);
            }
        }
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
            if component.mean && level != Level::Velocity {
                self.follow_one(b, level);
            }
            let before = self.state.masked[self.plan.blocks[b].row];
            let error = self.look(b, level);
            let masked = self.state.masked[self.plan.blocks[b].row];
            if before != masked {
                component.progress.stale = true;
            } else if error > tolerance {
                let wanted = component.solve_single(k, first, &self.rows(false));
                component.progress.gave_way |= self.give(b, &wanted[..n]);
            }
            first += n * n;
        }
    }

    /// The rows as a factorisation reads them; `exact`: errors answer as they do at the end of the substep.
    pub(super) fn rows(&self, exact: bool) -> Rows<'_> {
        Rows {
            blocks: &self.plan.blocks,
            parts: &self.plan.parts,
            jacobian: &self.plan.jacobian,
            ahead: if exact { &self.plan.ahead } else { &[] },
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
                    greatest = larger(greatest, square);
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
                if state.goal[row].is_known {
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
    pub(super) fn is_stuck(&self, tolerance: f64) -> bool {
        self.plan.components.iter().all(|c| {
            let p = &c.progress;
            !c.sweeps() && (p.rounds >= MOST_ROUNDS || p.halvings >= MOST_HALVINGS)
                || !p.error.is_finite()
                || p.error <= tolerance
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
