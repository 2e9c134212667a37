//! A thousand boxes through a funnel.

use super::{
    pile::{self, Pile, Who, race},
    plan::{Plan, Solid},
};
use crate::{measure::Effort, row::Row};
use anyhow::Result;
use glam::DVec3;
use std::time::Duration;
use trocar_math::{Pose, rotation};

/// Half of the outlet's width and its height above the floor, m.
const OUTLET: [f64; 2] = [0.5, 1.2];

/// How steep the funnel is, rad.
const SLOPE: f64 = 50.0 * std::f64::consts::PI / 180.0;

/// Coefficient of friction with which all boxes get through, and one with which they may wedge and form an arch.
const FRICTION: [f64; 2] = [0.3, 0.5];

/// All is at rest if it has been for so long, s.
const HELD: f64 = 0.5;

/// What we want of a second core.
const SPEEDUP: f64 = 1.5;

/// Rows.
pub fn funnel(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let patience = Duration::from_secs(effort.repeats(240, 45) as u64);
    let basic = [Who::Ours(1), Who::Ours(2), Who::Rapier];
    let with_carried = [Who::Ours(1), Who::Ours(2), Who::Carried, Who::Rapier];
    let with_others = [
        Who::Ours(1),
        Who::Ours(2),
        Who::Carried,
        Who::OnePoint,
        Who::Rapier,
    ];
    for (case, sleep, friction, seconds, whos) in [
        (
            "rigid/funnel, with sleep",
            true,
            FRICTION[0],
            8.0,
            &basic[..],
        ),
        (
            "rigid/funnel, without sleep",
            false,
            FRICTION[0],
            8.0,
            &with_others[..],
        ),
        (
            "rigid/funnel that may jam, without sleep",
            false,
            FRICTION[1],
            8.0,
            &basic[..],
        ),
        (
            "rigid/funnel, with sleep, until at rest",
            true,
            FRICTION[0],
            20.0,
            &with_carried[..],
        ),
    ] {
        let plan = plan(sleep, friction);
        let steps = (seconds / plan.step).round() as usize;
        let mut piles = whos
            .iter()
            .map(|w| Pile::new(*w, &plan))
            .collect::<Result<Vec<_>>>()?;
        race(case, &mut piles, steps, patience);
        rows.extend(compare(case, &piles, steps, Aims::Peer));
        rows.extend(second_core(
            case,
            &plan,
            effort.repeats(steps, 300),
            effort,
        )?);
        for pile in &piles {
            let name = pile.who.name();
            let metric = format!("{name}: at rest after, 0 if not");
            let rest = pile.rests_since.unwrap_or(0) as f64 * plan.step;
            rows.push(Row::single(case, &metric, rest, "s"));
            if let Some(spent) = pile.time_to_rest((HELD / plan.step) as usize) {
                let metric = format!("{name}: time spent until at rest");
                rows.push(Row::single(case, &metric, spent, "s"));
            }
            for (what, count) in [
                ("boxes through", count(pile, |p| p.y < OUTLET[1])),
                ("boxes lost", count(pile, is_lost)),
            ] {
                let metric = format!("{name}: {what}");
                rows.push(Row::single(case, &metric, count as f64, ""));
            }
        }
    }
    Ok(rows)
}

/// How many boxes are where `is` says.
fn count(pile: &Pile, is: impl Fn(DVec3) -> bool) -> usize {
    let boxes = pile.moments[..1000].iter();
    boxes.filter(|m| is(m.pose.position)).count()
}

/// True below the floor or far beyond the walls.
fn is_lost(at: DVec3) -> bool {
    at.y < -0.2 || at.abs().max_element() > 4.0
}

/// What is asked of us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aims {
    /// To cost no more than the peer at no more overlap.
    Peer,
    /// Nothing: all is shown.
    None,
}

/// What all did, ours first; the same for the funnel and the wall.
pub fn compare(case: &str, piles: &[Pile], steps: usize, aims: Aims) -> Vec<Row> {
    let mut rows = Vec::new();
    let peer = piles.iter().find(|p| p.who == Who::Rapier);
    let against = |row: Row, peer: f64| {
        let row = row.against("rapier3d-f64", peer);
        match aims {
            Aims::Peer => row.at_most(peer),
            Aims::None => row,
        }
    };
    // Where one was stopped, only what all have done is compared.
    let common = piles.iter().map(|p| p.times.len()).min().unwrap_or(0);
    let mean = |p: &Pile| p.times[..common].iter().sum::<f64>() * 1e3 / common.max(1) as f64;
    for pile in piles {
        let name = pile.who.name();
        let cut = match pile.times.len() {
            n if pile.burst => format!(", burst after {n} steps"),
            n if n < steps => format!(", first {n} steps"),
            _ => String::new(),
        };
        rows.push(Row::new(
            case,
            &format!("{name}: step{cut}"),
            pile.summary(),
            "ms",
        ));
        let shared = format!("{name}: step, mean of the first {common}");
        let mut row = Row::single(case, &shared, mean(pile), "ms");
        if let (Some(peer), Who::Ours(1)) = (peer, pile.who) {
            row = against(row, mean(peer));
        }
        rows.push(row);
        rows.push(Row::single(
            case,
            &format!("{name}: step, mean of the last tenth"),
            pile.rest_time(),
            "ms",
        ));
        let mut row = Row::single(
            case,
            &format!("{name}: deepest overlap, in step {}", pile.deepest_at()),
            pile.deepest() * 1e3,
            "mm",
        );
        if let (Some(peer), Who::Ours(1)) = (peer, pile.who) {
            row = against(row, peer.deepest() * 1e3);
        }
        rows.push(row);
        let mut row = Row::single(
            case,
            &format!("{name}: mean overlap"),
            pile.overlap() * 1e3,
            "mm",
        );
        if let (Some(peer), Who::Ours(1)) = (peer, pile.who) {
            row = against(row, peer.overlap() * 1e3);
        }
        rows.push(row);
        rows.push(Row::single(
            case,
            &format!("{name}: overlap at the end"),
            pile.final_depth() * 1e3,
            "mm",
        ));
        rows.push(Row::single(
            case,
            &format!("{name}: contacts, mean"),
            pile.contacts(),
            "",
        ));
        let trouble = pile.trouble();
        for (what, count) in [
            ("halvings", trouble.halvings),
            ("quarantines", trouble.quarantines),
        ] {
            if count > 0 {
                rows.push(Row::single(
                    case,
                    &format!("{name}: {what}"),
                    f64::from(count),
                    "",
                ));
            }
        }
    }
    rows
}

/// What a second thread gains over so many steps.
pub fn second_core(case: &str, plan: &Plan, steps: usize, effort: Effort) -> Result<Vec<Row>> {
    let [gain, limit] = pile::second_core(case, plan, steps, effort.repeats(8, 3))?;
    let side_by_side = "gain of two runs side by side that share nothing";
    let part = "ours: part of it that a second thread gains";
    Ok(vec![
        Row::single(case, "ours: gain from a second thread", gain, "").at_least(SPEEDUP),
        Row::single(case, side_by_side, limit, ""),
        Row::single(case, part, gain / limit, ""),
    ])
}

/// The boxes come first, then what stands still.
fn plan(sleep: bool, friction: f64) -> Plan {
    let mut plan = Plan {
        things: Vec::new(),
        joints: Vec::new(),
        step: 0.005,
        collide: true,
        friction,
        sleep,
    };
    let mut random = Random(1);
    for i in 0..1000 {
        let cell = DVec3::new(
            f64::from(i % 10),
            f64::from(i / 100),
            f64::from(i / 10 % 10),
        );
        let at = (cell - DVec3::new(4.5, 0.0, 4.5)) * 0.12 + DVec3::Y * 1.9;
        let turn = DVec3::new(random.next(), random.next(), random.next()) * 0.1;
        let pose = Pose::new(at, rotation::from_scaled_axis(turn));
        plan.drop(Solid::Box(DVec3::splat(0.05)), 0.6, pose);
    }
    plan.fix(
        DVec3::new(2.0, 0.1, 2.0),
        Pose::new(DVec3::new(0.0, -0.1, 0.0), glam::DQuat::IDENTITY),
    );
    for quarter in 0..4 {
        let turn =
            rotation::from_axis_angle(DVec3::Y, f64::from(quarter) * std::f64::consts::FRAC_PI_2);
        let wall = DVec3::new(1.1, 0.5, 0.0);
        plan.fix(DVec3::new(0.1, 0.5, 1.2), Pose::new(turn * wall, turn));
        // A plate whose upper face begins at the outlet's edge.
        let tilt = rotation::from_axis_angle(DVec3::Z, SLOPE);
        let half = DVec3::new(0.8, 0.1, 2.0);
        let edge = DVec3::new(OUTLET[0], OUTLET[1], 0.0);
        let at = edge + tilt * DVec3::new(half.x, -half.y, 0.0);
        plan.fix(half, Pose::new(turn * at, turn * tilt));
    }
    plan
}

/// Numbers from -1 to 1, always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }
}
