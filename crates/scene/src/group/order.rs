//! Substeps of higher order: impulses worked out several times on the way (B72).
//!
//! Where joints are all that acts on bodies, a substep Φ(h) is symmetric in time: Φ(−h) undoes Φ(h), so its error has odd powers of
//! h alone, the first of them h³. A chain of such substeps, Φ(γ₁h) Φ(γ₂h) … Φ(γₙh) with Σγᵢ = 1 and Σγᵢ³ = 0, loses that power, and as it is
//! symmetric itself, the next one too: its error begins with h⁵. More links lose more powers. Some of the γ are negative:
//! such a link goes back in time. It is gone ahead with all velocities turned round, which is the same, so no solver needs to know.
//! As each link is a substep of its own, each ends with joints that are right, and what one substep keeps the chain keeps.

use super::{Group, Stage, Sub, impulse::worst, quarantine::PATIENCE};
use crate::{build::Model, report::Stage as Lap};
use glam::DVec3;
use trocar_dynamics::{Anchor, Local, Nodes, Outcome, joint::Memory};

/// Suzuki (1990): order 4 of five links, none of them longer than the whole.
const FOURTH: [f64; 5] = {
    // 1/(4 − ∛4), and what is left.
    let p = 0.414_490_771_794_375_74;
    [p, p, 1.0 - 4.0 * p, p, p]
};

/// Kahan and Li (1997): order 6 of nine links, none of them longer than the whole.
const SIXTH: [f64; 9] = {
    let [a, b, c, d] = [
        0.392_161_444_007_314_1,
        0.332_599_136_789_359_44,
        -0.706_246_172_557_639_4,
        0.082_213_596_293_550_8,
    ];
    [a, b, c, d, 1.0 - 2.0 * (a + b + c + d), d, c, b, a]
};

/// The links of a substep of such an order; none if it is one substep as it is.
fn links(order: u32) -> &'static [f64] {
    match order {
        4 => &FOURTH,
        6 => &SIXTH,
        _ => &[],
    }
}

/// True if an anchor is on something whose motion is prescribed: its velocity at the end of a link is not known as exactly.
fn is_led(model: &Model, anchor: &Anchor) -> bool {
    let on_tool = model.tools.iter().any(|t| t.matter == anchor.matter);
    let on_course = |node: u32| model.courses[node as usize] != (DVec3::ZERO, DVec3::ZERO);
    let of_fixture = Some(anchor.matter) == model.fixtures;
    on_tool || (of_fixture && matches!(anchor.at, Local::Frame(node, _) if on_course(node)))
}

/// How all was at the start of a substep.
#[derive(Default)]
pub(super) struct Start {
    nodes: Vec<Nodes>,
    memories: Vec<Memory>,
    /// Impulse of each tie, and the length of its substep, s.
    ties: Vec<(DVec3, f64)>,
    /// How many had fallen, were lost and were redundant.
    told: [usize; 3],
    outcomes: [Outcome; 2],
}

impl Group {
    /// Goes through a substep in links of higher order. False if that can't be, or was tried in vain: all is then as before. Contacts
    /// must have been looked for.
    pub(super) fn link(&mut self, stage: &Stage<'_>, sub: Sub) -> bool {
        let links = links(stage.model.rules.order);
        if links.is_empty() || !self.fallen.is_empty() || !self.is_reversible(stage) {
            return false;
        }
        self.keep_start();
        let mut from = 0.0;
        for (k, link) in links.iter().enumerate() {
            // All of them together end where the substep does, to the bit.
            let to = match k + 1 == links.len() {
                true => 1.0,
                false => from + link,
            };
            let at = |part: f64| sub.from + part * (sub.to - sub.from);
            let part = Sub {
                from: at(from),
                to: at(to),
                h: sub.h * link.abs(),
                ..sub
            };
            let back = *link < 0.0;
            if back {
                self.turn_round();
            }
            if !self.go(stage, part) {
                self.go_back_to_start();
                self.lead_fixtures(stage, sub.from, sub.to, sub.h);
                return false;
            }
            if back {
                self.turn_round();
            }
            from = to;
        }
        true
    }

    /// One link; false if it is not smooth: its joints can't be solved or give way, or a stop holds one.
    fn go(&mut self, stage: &Stage<'_>, part: Sub) -> bool {
        self.lead_fixtures(stage, part.from, part.to, part.h);
        self.force(stage, part);
        self.clock.lap(Lap::Force);
        let (aim, correct) = (self.aim, self.correct);
        (self.aim, self.correct) = (Outcome::RIGHT, Outcome::RIGHT);
        let solved = self.aim(stage, part).is_ok() && self.aim.converged;
        self.clock.lap(Lap::Aim);
        if !solved || self.joints.iter().any(|j| !j.asleep && j.is_at_a_stop()) {
            return false;
        }
        self.advance(stage, part);
        self.clock.lap(Lap::Advance);
        self.correct(stage);
        self.clock.lap(Lap::Correct);
        worst(&mut self.aim, &aim);
        worst(&mut self.correct, &correct);
        self.fallen.is_empty()
    }

    /// True if a substep back in time undoes one ahead: nothing touches, damps, drives or pulls what moves, and all forces are the same
    /// wherever it is.
    fn is_reversible(&self, stage: &Stage<'_>) -> bool {
        let only_bodies = self.members.iter().zip(&self.bad).all(|(m, bad)| {
            let matter = &stage.model.matters[m.index()];
            stage.model.net(*m).is_none() && matter.masses().is_reversible() && *bad < PATIENCE
        });
        only_bodies
            && self.contacts() == 0
            && self.works.is_empty()
            && self.globals.is_empty()
            && self.hypers.is_empty()
            && self.ties.len() == self.scene_ties
            && stage.pulls.is_empty()
            && !stage
                .pushes
                .iter()
                .any(|p| self.members.contains(&p.0.matter))
            && !self
                .ties
                .iter()
                .any(|t| [t.a, t.b].iter().any(|a| is_led(stage.model, a)))
            && !self.joints.iter().any(|j| {
                let led = |a: Anchor| is_led(stage.model, &a);
                let held = j.is_at_a_stop() && !j.asleep;
                j.is_driven() || held || j.anchors().flatten().any(led)
            })
    }

    fn members_nodes(&mut self) -> &mut [Nodes] {
        let first = self.nodes.len() - self.members.len();
        &mut self.nodes[first..]
    }

    fn turn_round(&mut self) {
        for nodes in self.members_nodes() {
            nodes.velocity.iter_mut().for_each(|v| *v = -*v);
            nodes.spin.iter_mut().for_each(|w| *w = -*w);
        }
    }

    fn keep_start(&mut self) {
        let mut start = std::mem::take(&mut self.start);
        let nodes = self.members_nodes();
        start.nodes.resize_with(nodes.len(), Nodes::default);
        for (kept, nodes) in start.nodes.iter_mut().zip(nodes) {
            kept.copy_from(nodes);
        }
        start
            .memories
            .resize_with(self.joints.len(), Memory::default);
        for (kept, joint) in start.memories.iter_mut().zip(&self.joints) {
            kept.copy_from(&joint.memory);
        }
        start.ties.clear();
        start
            .ties
            .extend(self.ties.iter().map(|t| (t.impulse, t.h)));
        start.told = [self.fallen.len(), self.lost.len(), self.redundant.len()];
        start.outcomes = [self.aim, self.correct];
        self.start = start;
    }

    fn go_back_to_start(&mut self) {
        let start = std::mem::take(&mut self.start);
        for (kept, nodes) in start.nodes.iter().zip(self.members_nodes()) {
            nodes.copy_from(kept);
        }
        for (kept, joint) in start.memories.iter().zip(&mut self.joints) {
            joint.memory.copy_from(kept);
        }
        for (kept, tie) in start.ties.iter().zip(&mut self.ties) {
            (tie.impulse, tie.h) = *kept;
        }
        let [fallen, lost, redundant] = start.told;
        self.fallen.truncate(fallen);
        self.lost.truncate(lost);
        self.redundant.truncate(redundant);
        [self.aim, self.correct] = start.outcomes;
        self.start = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_reach_the_end_and_lose_the_powers_they_should() {
        for (links, powers) in [(&FOURTH[..], &[3][..]), (&SIXTH, &[3, 5])] {
            let sum = |power: usize| {
                let powers = links
                    .iter()
                    .map(|l| [*l; 5][..power].iter().product::<f64>());
                powers.sum::<f64>()
            };
            assert!((sum(1) - 1.0).abs() < 1e-15);
            for power in powers {
                assert!(sum(*power).abs() < 1e-14, "{power}: {}", sum(*power));
            }
            let back: Vec<f64> = links.iter().rev().copied().collect();
            assert_eq!(links, back, "symmetric");
            let mut at = 0.0;
            for link in links {
                at += link;
                assert!((-1e-12..1.0 + 1e-12).contains(&at), "stays within: {at}");
            }
        }
    }
}
