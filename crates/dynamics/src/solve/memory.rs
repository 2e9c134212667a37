//! What bonds remember from one substep to the next, read before a solve and written after it.

use super::{
    Bonds, Budget, Workspace,
    component::Component,
    drive,
    mover::When,
    plan::{self, Owner, What},
};
use crate::joint::Kind;
use glam::DVec3;

/// Part of the impulses kept for the next substep if sweeps were cut short: what is left of them are repairs, and repairing
/// twice gains energy.
const HALF_DONE: f64 = 0.5;

/// Substeps never grow more than this at once, whatever a snapshot says.
const MOST_GROWTH: f64 = 1000.0;

/// How many times the last substep, of `before` seconds, this one of `h` seconds is: impulses grow with it.
pub fn growth(before: f64, h: f64) -> f64 {
    if before > 0.0 {
        (h / before).min(MOST_GROWTH)
    } else {
        1.0
    }
}

impl Workspace {
    /// Starts from the impulses of the last substep, and makes drives and stops ready.
    pub(super) fn load(&mut self, bonds: &mut Bonds<'_>, h: f64, budget: &Budget) {
        let Self {
            movers,
            plan,
            state,
            ..
        } = self;
        state.strength.resize(plan.tied.len(), f64::INFINITY);
        for block in plan::live(&plan.sections).flat_map(|s| &plan.blocks[s.blocks.clone()]) {
            match block.what {
                What::Bases(first, count) => {
                    let mut row = block.row;
                    for k in first as usize..first as usize + count as usize {
                        let rows = plan.tied[k].kind.rows();
                        let impulse = &mut plan.impulse[row..row + rows];
                        match plan.owners[k] {
                            Owner::Tie(t) => {
                                let tie = &bonds.ties[t as usize];
                                let along = &plan.tied[k].along;
                                let warm = budget.warm * growth(tie.h, h);
                                for (i, a) in impulse.iter_mut().zip(along) {
                                    *i = tie.impulse.dot(*a) * warm;
                                }
                                state.strength[k] = f64::INFINITY;
                            }
                            Owner::Base { joint, memory, .. } => {
                                let joint = &mut bonds.joints[joint as usize];
                                joint.remember();
                                let warm = budget.warm * growth(joint.memory.h, h);
                                let kept = &joint.memory.impulses[memory as usize..];
                                for (i, m) in impulse.iter_mut().zip(kept) {
                                    *i = m * warm;
                                }
                                if plan.tied[k].kind == Kind::Point {
                                    // What swings takes the pull on it along.
                                    let turn = movers[plan.tied[k].b.frame()].free_turn();
                                    let turned = turn * DVec3::from_slice(impulse);
                                    impulse.copy_from_slice(&turned.to_array());
                                }
                                state.strength[k] = joint.strength * h;
                            }
                        }
                        if block.of_velocity {
                            impulse.fill(0.0);
                            state.masked[row..row + rows].fill(true);
                        }
                        row += rows;
                    }
                }
                What::Stop(k) | What::Drive(k) => {
                    let knob = &mut plan.knobs[k as usize];
                    let joint = &mut bonds.joints[knob.joint as usize];
                    let c = knob.control as usize;
                    joint.remember();
                    let control = joint.controls[c];
                    let kept = joint.memory.controls[c];
                    knob.value = knob.dial.value(movers, When::Now, kept[0]);
                    knob.memory = kept;
                    let row = block.row;
                    let place = joint.rows() + 2 * c;
                    let growth = growth(joint.memory.h, h);
                    if let What::Stop(_) = block.what {
                        plan.impulse[row] = joint.memory.impulses[place] * budget.warm * growth;
                        continue;
                    }
                    let warm = joint.memory.impulses[place + 1] * budget.warm * growth;
                    let Some(drive) = control.drive else { continue };
                    let mut memory = kept;
                    let (goal, most, given) =
                        drive::row(drive, knob.value, &mut memory, (h, h / growth));
                    knob.memory = memory;
                    state.bounds[row] = [-most, most];
                    state.goal[row] = goal;
                    match given {
                        Some(force) => {
                            plan.impulse[row] = force;
                            state.masked[row] = true;
                        }
                        None => {
                            plan.impulse[row] = warm.clamp(-most, most);
                            state.compliance[row] = goal.give / h;
                        }
                    }
                }
            }
        }
    }

    /// Velocities start from no impulse; stops that pushed in `aim` still count.
    pub(super) fn load_velocity(&mut self, bonds: &Bonds<'_>) {
        let Self { plan, state, .. } = self;
        state.strength.clear();
        state.strength.resize(plan.tied.len(), f64::INFINITY);
        for block in plan::live(&plan.sections).flat_map(|s| &plan.blocks[s.blocks.clone()]) {
            plan.impulse[block.range()].fill(0.0);
            let row = block.row;
            match block.what {
                What::Bases(first, count) => {
                    // A joint that may give way has what `aim` has left of its strength.
                    for k in first as usize..first as usize + count as usize {
                        if let Owner::Base { joint, memory, .. } = plan.owners[k] {
                            let joint = &bonds.joints[joint as usize];
                            let memory = memory as usize;
                            let rows = plan.tied[k].kind.rows();
                            let used = joint.memory.impulses.get(memory..memory + rows);
                            let used = used.unwrap_or_default().iter().map(|x| x * x).sum::<f64>();
                            if joint.strength.is_finite() {
                                let left = joint.strength * joint.memory.h - used.sqrt();
                                state.strength[k] = left.max(0.0);
                            }
                        }
                    }
                }
                What::Drive(_) => state.masked[row] = true,
                What::Stop(k) => {
                    let knob = &plan.knobs[k as usize];
                    let joint = &bonds.joints[knob.joint as usize];
                    let place = joint.rows() + 2 * knob.control as usize;
                    let pushed = joint.memory.impulses.get(place).copied().unwrap_or(0.0);
                    if pushed > 0.0 {
                        state.bounds[row] = [0.0, f64::INFINITY];
                    } else if pushed < 0.0 {
                        state.bounds[row] = [f64::NEG_INFINITY, 0.0];
                    } else {
                        state.bounds[row] = [0.0, 0.0];
                        state.masked[row] = true;
                    }
                }
            }
        }
    }

    /// Adds what was given to what joints bear; with a part more of what their base joints gave, by component.
    pub(super) fn add_loads(&self, bonds: &mut Bonds<'_>, more: impl Fn(&Component) -> f64) {
        let plan = &self.plan;
        for component in plan.components.iter().filter(|c| !c.idle) {
            let more = 1.0 + more(component);
            for block in component.blocks.iter().map(|b| &plan.blocks[*b as usize]) {
                match block.what {
                    What::Bases(first, count) => {
                        let mut row = block.row;
                        for k in first as usize..first as usize + count as usize {
                            let rows = plan.tied[k].kind.rows();
                            if let Owner::Base { joint, memory, .. } = plan.owners[k] {
                                let joint = &mut bonds.joints[joint as usize];
                                joint.remember();
                                let to = joint.memory.load[memory as usize..].iter_mut();
                                for (to, i) in to.zip(&plan.impulse[row..row + rows]) {
                                    *to += i * more;
                                }
                            }
                            row += rows;
                        }
                    }
                    What::Stop(k) | What::Drive(k) => {
                        let knob = &plan.knobs[k as usize];
                        let joint = &mut bonds.joints[knob.joint as usize];
                        joint.remember();
                        let drive = usize::from(matches!(block.what, What::Drive(_)));
                        let place = joint.rows() + 2 * knob.control as usize + drive;
                        joint.memory.load[place] += plan.impulse[block.row];
                    }
                }
            }
        }
    }

    /// Keeps the impulses for the next substep.
    pub(super) fn store(&mut self, bonds: &mut Bonds<'_>, h: f64) {
        for joint in &mut *bonds.joints {
            if !joint.asleep {
                joint.memory.load.fill(0.0);
            }
        }
        // Bonds that pull along mean arms do so once more at the end.
        self.add_loads(bonds, |c| f64::from(u8::from(c.again)));
        let Self { movers, plan, .. } = self;
        for component in &plan.components {
            if component.blocks.len() > 1 && component.sweeps() && !component.progress.settled {
                for b in &component.blocks {
                    let rows = plan.blocks[*b as usize].range();
                    plan.impulse[rows].iter_mut().for_each(|i| *i *= HALF_DONE);
                }
            }
        }
        for block in plan::live(&plan.sections).flat_map(|s| &plan.blocks[s.blocks.clone()]) {
            match block.what {
                What::Bases(first, count) => {
                    let mut row = block.row;
                    for k in first as usize..first as usize + count as usize {
                        let tied = &plan.tied[k];
                        let rows = tied.kind.rows();
                        let impulse = &plan.impulse[row..row + rows];
                        match plan.owners[k] {
                            Owner::Tie(t) => {
                                let sum = impulse.iter().zip(&tied.along);
                                let tie = &mut bonds.ties[t as usize];
                                tie.impulse = sum.fold(DVec3::ZERO, |s, (i, a)| s + *a * *i);
                                tie.h = h;
                            }
                            Owner::Base {
                                joint,
                                memory,
                                base,
                            } => {
                                let joint = &mut bonds.joints[joint as usize];
                                let memory = memory as usize;
                                joint.memory.impulses[memory..memory + rows]
                                    .copy_from_slice(impulse);
                                joint.memory.feet[base as usize] = tied.foot;
                                joint.memory.h = h;
                            }
                        }
                        row += rows;
                    }
                }
                What::Stop(k) | What::Drive(k) => {
                    let knob = &plan.knobs[k as usize];
                    let joint = &mut bonds.joints[knob.joint as usize];
                    let c = knob.control as usize;
                    let drive = usize::from(matches!(block.what, What::Drive(_)));
                    let place = joint.rows() + 2 * c + drive;
                    joint.memory.impulses[place] = plan.impulse[block.row];
                    joint.memory.h = h;
                    let value = knob.dial.value(movers, When::Ahead, knob.value);
                    joint.memory.controls[c] = [value, knob.memory[1], knob.memory[2]];
                }
            }
        }
    }
}
