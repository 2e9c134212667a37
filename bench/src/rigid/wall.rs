//! A wall of 252 bricks: it stands, then it is hit.

use super::{
    funnel::{Aims, compare, second_core},
    pile::{Pile, Who, race},
    plan::{Plan, Solid},
};
use crate::{measure::Effort, row::Row};
use anyhow::Result;
use glam::{DQuat, DVec3};
use std::time::Duration;
use trocar_math::Pose;

/// Bricks in a course, and courses.
const BRICKS: [i32; 2] = [21, 12];

/// How far a brick may wander while the wall stands, mm.
const DRIFT: f64 = 1.0;

/// Contacts of the standing wall, at least.
const CONTACTS: f64 = 2000.0;

/// Rows.
pub fn wall(effort: Effort) -> Result<Vec<Row>> {
    let patience = Duration::from_secs(effort.repeats(240, 30) as u64);
    let whos = [Who::Ours(1), Who::Ours(2), Who::Rapier];
    let mut rows = Vec::new();
    for (case, seconds, sleep, hit) in [
        ("rigid/wall standing, without sleep", 5.0, false, false),
        ("rigid/wall standing, with sleep", 5.0, true, false),
        ("rigid/wall hit at 10 m/s", 3.0, true, true),
    ] {
        let plan = plan(sleep, hit);
        let steps = (seconds / plan.step) as usize;
        // With one contact a pair it comes down by itself, and springs let it creep.
        let others: &[Who] = match hit || sleep {
            true => &[],
            false => &[Who::OnePoint, Who::Penalty(20), Who::Penalty(4)],
        };
        let all = whos.iter().chain(others);
        let mut piles = all
            .map(|w| Pile::new(*w, &plan))
            .collect::<Result<Vec<_>>>()?;
        race(case, &mut piles, steps, patience);
        rows.extend(compare(case, &piles, steps, Aims::None));
        rows.extend(second_core(
            case,
            &plan,
            effort.repeats(steps, 300),
            effort,
        )?);
        if hit {
            continue;
        }
        for pile in &piles {
            let moved = plan.things.iter().zip(&pile.moments);
            let drift = moved.map(|(t, m)| t.pose.position.distance(m.pose.position));
            let drift = drift.fold(0.0, f64::max) * 1e3;
            let name = pile.who.name();
            let mut row = Row::single(
                case,
                &format!("{name}: drift of a brick, at most"),
                drift,
                "mm",
            );
            if let Who::Ours(_) = pile.who {
                row = row.below(DRIFT);
            }
            rows.push(row);
            if pile.who == Who::Ours(1) && !sleep {
                rows.push(
                    Row::single(case, "ours: contacts", pile.contacts(), "").at_least(CONTACTS),
                );
            }
        }
    }
    Ok(rows)
}

/// The bricks first, then the ball if there is one, then the floor.
fn plan(sleep: bool, hit: bool) -> Plan {
    let mut plan = Plan {
        things: Vec::new(),
        joints: Vec::new(),
        step: 0.005,
        collide: true,
        friction: 0.6,
        sleep,
    };
    for course in 0..BRICKS[1] {
        // Every second course ends in half a brick on one side and in one and a half on the other, so that none overhangs.
        let ends = match course % 4 {
            1 => [0.3, 0.1],
            3 => [0.1, 0.3],
            _ => [0.2, 0.2],
        };
        let mut left = -0.1 * f64::from(BRICKS[0]);
        for brick in 0..BRICKS[0] {
            let length = match brick {
                0 => ends[0],
                b if b == BRICKS[0] - 1 => ends[1],
                _ => 0.2,
            };
            let at = DVec3::new(left + length / 2.0, 0.05 + 0.1 * f64::from(course), 0.0);
            let half = DVec3::new(length / 2.0, 0.05, 0.05);
            plan.drop(
                Solid::Box(half),
                18.0 * length,
                Pose::new(at, DQuat::IDENTITY),
            );
            left += length;
        }
    }
    if hit {
        let pose = Pose::new(DVec3::new(0.0, 0.6, -1.5), DQuat::IDENTITY);
        plan.drop(Solid::Ball(0.3), 50.0, pose);
        if let Some(ball) = plan.things.last_mut() {
            ball.velocity = DVec3::Z * 10.0;
        }
    }
    let floor = Pose::new(DVec3::new(0.0, -0.5, 0.0), DQuat::IDENTITY);
    plan.fix(DVec3::new(60.0, 0.5, 60.0), floor);
    plan
}
