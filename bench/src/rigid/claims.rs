//! Single numbers that the thesis claims (digest, 4.6), each measured anew.

use super::{
    direct::Direct,
    engine::Engine,
    plan::{Moment, Plan, Solid},
};
use crate::{
    measure::{Effort, Summary, time},
    row::Row,
};
use anyhow::Result;
use glam::{DMat3, DVec3};
use trocar_dynamics::{Budget, Method};
use trocar_math::rotation::skew;
use trocar_solve::{Factor, Pattern, Place};

/// Rows.
pub fn claims(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = pendulum()?;
    rows.extend(rounds(effort)?);
    rows.push(order()?);
    rows.extend(one_round(effort)?);
    rows.extend(factor_over_solve(effort));
    rows.extend(warm_start(effort)?);
    Ok(rows)
}

fn budget(method: Method, position: f64) -> Budget {
    Budget {
        method,
        position,
        velocity: position,
        iterations: 100_000,
        ..Budget::default()
    }
}

/// A rod of 1 m and 1 kg that swings from horizontal on a ball joint.
fn rod(step: f64) -> Plan {
    let mut plan = Plan::chain(1);
    let half = DVec3::new(0.5, 0.05, 0.05);
    plan.things[0].solid = Solid::Box(half);
    plan.things[0].mass = Some(1.0);
    plan.things[0].pose.position = DVec3::X * half.x;
    plan.joints[0].at_b = -DVec3::X * half.x;
    plan.step = step;
    plan
}

/// The thesis' chain (3.6.1): rods of 1 m and 1 kg, horizontal, with random spins.
fn rods(count: usize) -> Plan {
    let mut plan = Plan::chain(count);
    let half = DVec3::new(0.5, 0.05, 0.05);
    for (i, (thing, joint)) in plan.things.iter_mut().zip(&mut plan.joints).enumerate() {
        thing.solid = Solid::Box(half);
        thing.mass = Some(1.0);
        thing.pose.position = DVec3::X * (0.5 + i as f64);
        joint.at_b = -DVec3::X * half.x;
        joint.at_a = if i == 0 {
            DVec3::ZERO
        } else {
            DVec3::X * half.x
        };
        // Any numbers will do, as long as they are the same in every run.
        let any = |k: usize| 0.5 * trocar_math::real::sin((3 * i + k) as f64 * 12.9898 + 0.5);
        thing.spin = DVec3::new(any(0), any(1), any(2));
    }
    // Each hangs on the end of the one before.
    let mut end = DVec3::ZERO;
    for thing in &mut plan.things {
        thing.velocity = end + thing.spin.cross(DVec3::X * half.x);
        end += thing.spin.cross(DVec3::X * (2.0 * half.x));
    }
    plan
}

/// Runs for some seconds; returns how many rounds each step took, and how many ended within tolerance.
fn count_rounds(plan: &Plan, budget: Budget, seconds: f64) -> Result<(Vec<f64>, usize)> {
    let mut engine = Direct::new(plan, budget)?;
    let mut counts = Vec::new();
    let mut converged = 0;
    for _ in 0..(seconds / plan.step).round() as usize {
        engine.step();
        counts.push(f64::from(engine.outcome.iterations));
        converged += usize::from(engine.outcome.converged);
    }
    Ok((counts, converged))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// "No more than 2 iterations, 1e-6 m, h = 0.04 s, for one joint" (2.3.2).
fn pendulum() -> Result<Vec<Row>> {
    let case = "rigid/claims pendulum";
    let mut rows = Vec::new();
    for step in [0.04, 0.01] {
        let plan = rod(step);
        let (counts, converged) = count_rounds(&plan, budget(Method::Auto, 1e-6), 20.0)?;
        let metric = format!("impulses in a step of {step} s, 1e-6 m, mean");
        rows.push(
            Row::single(case, &metric, mean(&counts), "")
                .against("thesis", 2.0)
                .at_most(2.0),
        );
        let metric = format!("impulses in a step of {step} s, at most");
        rows.push(Row::single(
            case,
            &metric,
            counts.iter().copied().fold(0.0, f64::max),
            "",
        ));
        let metric = format!("steps of {step} s that miss 1e-6 m");
        rows.push(Row::single(case, &metric, (counts.len() - converged) as f64, "").at_most(0.0));
    }
    Ok(rows)
}

/// "1–2 rounds of the linear system in a step" (3.3.2.1).
fn rounds(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let plans = [
        ("chain of 10", rods(10), 5.0),
        ("chain of 60", rods(60), 5.0),
        ("tree of 127", Plan::tree(127), 5.0),
    ];
    for (name, plan, seconds) in plans {
        for (label, method) in [("system", Method::System), ("graph", Method::Graph)] {
            let seconds = if effort == Effort::Quick {
                1.0
            } else {
                seconds
            };
            let (counts, _) = count_rounds(&plan, budget(method, 1e-6), seconds)?;
            let summary = Summary::of(counts.iter().copied());
            let case = format!("rigid/claims {name}");
            let metric = format!("{label}: rounds in a step of 0.01 s, 1e-6 m, mean");
            rows.push(Row::single(&case, &metric, mean(&counts), "").against("thesis", 2.0));
            let metric = format!("{label}: rounds in a step, 99 in 100 below");
            rows.push(Row::single(&case, &metric, summary.p99, ""));
        }
    }
    Ok(rows)
}

/// "Local error O(h³)" (3.3.1.2), so the error at a given time goes with h²: measured by Richardson's way, from three steps.
fn order() -> Result<Row> {
    let at = |step: f64| -> Result<DVec3> {
        let plan = rod(step);
        let mut engine = Direct::new(&plan, budget(Method::Graph, 1e-13))?;
        for _ in 0..(0.6 / step).round() as usize {
            engine.step();
        }
        let mut moments: Vec<Moment> = Vec::new();
        engine.look(&mut moments);
        Ok(moments[0].pose.position)
    };
    let (coarse, middle, fine) = (at(0.004)?, at(0.002)?, at(0.001)?);
    let ratio = coarse.distance(middle) / middle.distance(fine);
    let order = trocar_math::real::ln(ratio) / std::f64::consts::LN_2;
    let row = Row::single(
        "rigid/claims pendulum",
        "order of the local error (4 → 2 → 1 ms)",
        order + 1.0,
        "",
    );
    Ok(row.against("thesis", 3.0).at_least(2.9))
}

/// "Stable with one iteration in a step" (3.6.2).
fn one_round(effort: Effort) -> Result<Vec<Row>> {
    let case = "rigid/claims chain of 25, one sweep a step";
    let plan = rods(25);
    let mut engine = Direct::new(
        &plan,
        Budget {
            iterations: 1,
            ..budget(Method::Iterative, 1e-6)
        },
    )?;
    let start = plan.energy(&plan.start());
    let (mut gap, mut gained) = (0.0_f64, f64::NEG_INFINITY);
    let mut moments = Vec::new();
    for _ in 0..effort.repeats(3000, 1000) {
        engine.step();
        engine.look(&mut moments);
        gap = gap.max(plan.gap(&moments));
        gained = gained.max(plan.energy(&moments) - start);
    }
    Ok(vec![
        // The digest's own check: 13 cm.
        Row::single(case, "joint gap, at most", gap, "m").below(1.0),
        Row::single(
            case,
            "energy gained, at most",
            gained / plan.energy_scale() * 100.0,
            "%",
        )
        .below(1.0),
    ])
}

/// "Factorising takes more than 15 times as long as one solve" (3.3.2.2: dimension 381, dense).
fn factor_over_solve(effort: Effort) -> Vec<Row> {
    let case = "rigid/claims tree of 127, A of 381 rows";
    let plan = Plan::thesis_tree(127);
    let joints = &plan.joints;
    let inverse: Vec<(f64, DMat3)> = plan
        .things
        .iter()
        .map(|t| {
            let mass = t.mass.unwrap_or(f64::INFINITY);
            let axes = DMat3::from_quat(t.pose.rotation);
            let own = DMat3::from_diagonal((t.solid.inertia() * mass).recip());
            (1.0 / mass, axes * own * axes.transpose())
        })
        .collect();
    let ends = |k: usize| {
        let joint = &joints[k];
        let a = joint.a.map(|a| (a, joint.at_a, 1.0));
        a.into_iter().chain([(joint.b, joint.at_b, -1.0)])
    };
    // K of two joints that share a body.
    let block = |k: usize, l: usize| {
        let mut sum = DMat3::ZERO;
        for (body, at, sign) in ends(k) {
            for (other, there, sign_too) in ends(l) {
                if body == other {
                    let turn = plan.things[body].pose.rotation;
                    let (mass, inertia) = inverse[body];
                    let response = DMat3::from_diagonal(DVec3::splat(mass))
                        - skew(turn * at) * inertia * skew(turn * there);
                    sum += response * (sign * sign_too);
                }
            }
        }
        sum.transpose().to_cols_array()
    };
    let sizes = vec![3; joints.len()];
    let shares = |k: usize, l: usize| ends(k).any(|(b, ..)| ends(l).any(|(c, ..)| b == c));
    let edges: Vec<(u32, u32)> = (0..joints.len())
        .flat_map(|k| (0..k).map(move |l| (k, l)))
        .filter(|(k, l)| shares(*k, *l))
        .map(|(k, l)| (k as u32, l as u32))
        .collect();
    let pattern = Pattern::new(&sizes, &edges, &vec![false; sizes.len()]);
    let diagonal = (0..joints.len()).map(|k| (k, k));
    let pairs = edges.iter().map(|(k, l)| (*k as usize, *l as usize));
    let blocks: Vec<(Place, [f64; 9])> = diagonal
        .chain(pairs)
        .filter_map(|(k, l)| Some((pattern.place(k, l)?, block(k, l))))
        .collect();
    let mut factor = Factor::default();
    factor.fit(&pattern);
    let scale = vec![1.0; pattern.rows()];
    let mut x = vec![1.0; pattern.rows()];
    let (mut factoring, mut solving) = (Vec::new(), Vec::new());
    for _ in 0..effort.repeats(2000, 200) {
        factor.clear();
        for (place, values) in &blocks {
            factor.set(*place, values);
        }
        factoring.push(time(|| {
            factor.factor(&pattern, &scale, 0.0);
        }));
        x.fill(1.0);
        solving.push(time(|| factor.solve(&pattern, &mut x)));
    }
    let [factoring, solving] =
        [factoring, solving].map(|times| Summary::of(times.iter().map(|t| t * 1e6)));
    let ratio = factoring.median / solving.median;
    vec![
        Row::new(case, "sparse factorisation", factoring, "µs"),
        Row::new(case, "one solve with it", solving, "µs"),
        Row::single(case, "factorisation over solve", ratio, "").against("thesis, dense", 15.0),
    ]
}

/// "A warm start needs clearly fewer sweeps" (3.5.2).
fn warm_start(effort: Effort) -> Result<Vec<Row>> {
    let case = "rigid/claims chain of 60, 1e-6 m";
    let plan = rods(60);
    let seconds = if effort == Effort::Quick { 0.2 } else { 2.0 };
    let sweeps = |warm: f64| -> Result<f64> {
        let budget = Budget {
            warm,
            velocity: 1e-3,
            ..budget(Method::Iterative, 1e-6)
        };
        Ok(mean(&count_rounds(&plan, budget, seconds)?.0))
    };
    let (cold, warm) = (sweeps(0.0)?, sweeps(1.0)?);
    Ok(vec![
        Row::single(case, "sweeps in a step, cold", cold, "").against("digest's check", 2332.0),
        Row::single(case, "sweeps in a step, warm", warm, "").against("digest's check", 858.0),
        Row::single(case, "cold over warm", cold / warm, "")
            .against("digest's check", 2.7)
            .at_least(1.0),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rods_hang_together_and_move_as_one_chain() {
        let plan = rods(5);
        let start = plan.start();
        assert!(plan.gap(&start) < 1e-12);
        for joint in &plan.joints {
            let moves = |body: usize, at: DVec3| {
                let now = &start[body];
                now.velocity + now.spin.cross(now.pose.rotation * at)
            };
            let a = joint.a.map_or(DVec3::ZERO, |a| moves(a, joint.at_a));
            assert!(a.distance(moves(joint.b, joint.at_b)) < 1e-12);
        }
    }
}
