//! The tree of the thesis' section 3.6.1 (table 4.1 of the digest): all its methods on one machine, and their ratios beside
//! those it prints.

use super::{
    baseline::{Keep, Plain},
    direct::Direct,
    engine::{Engine, Runner, race},
    ours::{Ours, Setting},
    plan::Plan,
};
use crate::{measure::Effort, row::Row};
use anyhow::Result;
use std::{collections::BTreeMap, time::Duration};
use trocar_dynamics::{Budget, Method};

/// Steps of a run: ten seconds of 1/30 s.
const STEPS: usize = 300;

/// What the thesis prints, ms for a step: O(n) of 255 joints.
const GRAPH_255: f64 = 13.7;

/// Its O(n) method is a straight line through the origin: ms for so many joints.
fn printed_graph(joints: usize) -> f64 {
    GRAPH_255 * joints as f64 / 255.0
}

/// The most a joint may cost in the largest tree, over what it costs in one of 127 (T10).
const GROWTH: f64 = 1.3;

const LINEAR: &str = "thesis, O(n) on its line";

/// A ratio of two methods that the thesis has too: over, under, joints, where from, how much, whether it is to be reached.
type Ratio = (&'static str, &'static str, usize, &'static str, f64, bool);

/// Ratios of printed times at equal size. Where the O(n) method is not printed, its line is used.
fn ratios() -> Vec<Ratio> {
    let graph = printed_graph;
    vec![
        // "LGS and O(n) beat the iterative method by at least the thesis' ratios".
        (
            "iterative 1e-6",
            "graph 1e-6",
            63,
            LINEAR,
            54.25 / graph(63),
            true,
        ),
        (
            "iterative 1e-3",
            "graph 1e-6",
            127,
            LINEAR,
            20.35 / graph(127),
            true,
        ),
        (
            "iterative 1e-3",
            "system 1e-6",
            127,
            "thesis",
            20.35 / 19.66,
            true,
        ),
        // 54.25 ms for 63 joints against 19.66 ms for 127 already.
        (
            "iterative 1e-6",
            "system 1e-6",
            63,
            "thesis, at the least",
            54.25 / 19.66,
            true,
        ),
        // What else it prints.
        (
            "system 1e-6",
            "graph 1e-6",
            255,
            "thesis",
            59.48 / GRAPH_255,
            false,
        ),
        (
            "system 1e-6",
            "system 1e-3",
            255,
            "thesis",
            59.48 / 57.72,
            false,
        ),
        (BARAFF, "graph 1e-6", 255, "thesis", 6.0, false),
        (EQUAL, "graph 1e-6", 255, "thesis", 6.0, false),
        (BARAFF, "system 1e-6", 127, "thesis", 35.29 / 19.66, false),
        (
            BARAFF,
            "iterative 1e-3",
            127,
            "thesis",
            35.29 / 20.35,
            false,
        ),
        (DENSE, "graph 1e-6", 31, LINEAR, 212.12 / graph(31), false),
    ]
}

const DENSE: &str = "multipliers, dense (B98)";
const BARAFF: &str = "multipliers, Baraff (B99)";

/// Multipliers do not close gaps. In so many substeps they leave about as much as the impulses' tolerance of 1e-6 m.
const SUBSTEPS: u32 = 16;
const EQUAL: &str = "multipliers, Baraff in 16 substeps";

/// Rows.
pub fn thesis(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let (sizes, patience): (&[usize], u64) = match effort {
        Effort::Full => (&[31, 63, 127, 255], 20),
        Effort::Quick => (&[63, 127], 4),
    };
    let mut medians: BTreeMap<(String, usize), f64> = BTreeMap::new();
    for &size in sizes {
        let plan = Plan::thesis_tree(size);
        let mut runners = Vec::new();
        for (solver, tolerance) in [
            ("graph", 1e-6),
            ("system", 1e-3),
            ("system", 1e-6),
            ("iterative", 1e-3),
            ("iterative", 1e-4),
            ("iterative", 1e-6),
        ] {
            runners.push(ours(&plan, solver, tolerance)?);
        }
        for (name, keep, substeps) in [
            (DENSE, Keep::Multipliers { rate: 0.0 }, 1),
            (BARAFF, Keep::Tree { rate: 0.0 }, 1),
            (EQUAL, Keep::Tree { rate: 0.0 }, SUBSTEPS),
        ] {
            let engine: Box<dyn Engine> = Box::new(Plain::new(&plan, keep, substeps));
            runners.push(Runner::new(name, engine, &plan));
        }
        let case = format!("rigid/thesis tree of {size}");
        eprintln!("{case}");
        race(
            &case,
            &plan,
            &mut runners,
            STEPS,
            Duration::from_secs(patience),
        );
        for runner in &runners {
            let key = (runner.name.clone(), size);
            medians.insert(key, runner.summary(1e-6).median);
            rows.extend(told(&case, runner, &plan));
        }
        let median = |name: &str| medians.get(&(name.to_string(), size)).copied();
        for (over, under, at, source, printed, wanted) in ratios() {
            if let (true, Some(over_time), Some(under_time)) =
                (at == size, median(over), median(under))
            {
                let metric = format!("{over} over {under}");
                let row = Row::single(&case, &metric, over_time / under_time, "");
                let row = row.against(source, printed);
                rows.push(if wanted { row.at_least(printed) } else { row });
            }
        }
    }
    let median = |name: &str, size: usize| medians.get(&(name.to_string(), size)).copied();
    if let (Some(many), Some(few)) = (median("system 1e-6", 255), median("system 1e-6", 127)) {
        let metric = "system 1e-6: 255 joints over 127";
        let row = Row::single("rigid/thesis tree growing", metric, many / few, "");
        rows.push(row.against("thesis", 59.48 / 19.66));
    }
    rows.extend(growth(effort)?);
    Ok(rows)
}

/// The graph method alone, on to as many joints as the thesis could not dream of (T10).
fn growth(effort: Effort) -> Result<Vec<Row>> {
    let case = "rigid/thesis tree growing";
    let (sizes, patience): (&[usize], u64) = match effort {
        Effort::Full => (&[127, 1023, 4095, 65_535], 30),
        Effort::Quick => (&[127, 1023], 4),
    };
    let mut rows = Vec::new();
    let mut first = None;
    for &size in sizes {
        // Steps of 10 ms: the bars at the top of a tall tree are tens of metres long and heavy, and how often a long step has
        // to be halved is another matter.
        let mut plan = Plan::thesis_tree(size);
        plan.step = 0.01;
        let mut runners = [ours(&plan, "graph", 1e-6)?];
        let label = format!("{case}, {size}");
        eprintln!("{label}");
        race(
            &label,
            &plan,
            &mut runners,
            STEPS,
            Duration::from_secs(patience),
        );
        let [runner] = &runners;
        let price = runner.summary(1e-6).median / size as f64;
        let metric = format!("graph 1e-6: step per joint, {size} joints");
        let row = Row::single(case, &metric, price, "µs");
        match first {
            None => {
                first = Some(price);
                rows.push(row.against("thesis", GRAPH_255 / 255.0 * 1e3));
            }
            Some(first) => {
                rows.push(row.against("127 joints", first));
                let metric = format!("graph 1e-6: step per joint, {size} joints over 127");
                rows.push(Row::single(case, &metric, price / first, "").at_most(GROWTH));
            }
        }
        rows.extend(super::chain::trouble(&label, runner));
        // How much of it are rounds: large trees move more wildly, and their worst joint is worse.
        let mut direct = Direct::new(
            &plan,
            Budget {
                method: Method::Graph,
                position: 1e-6,
                velocity: 2e-6,
                ..Budget::default()
            },
        )?;
        let steps = runner.times.len().max(1);
        let mut rounds = 0;
        for _ in 0..steps {
            direct.step();
            rounds += direct.outcome.iterations;
        }
        let metric = format!("graph 1e-6: rounds in a step, {size} joints, mean");
        rows.push(Row::single(
            case,
            &metric,
            f64::from(rounds) / steps as f64,
            "",
        ));
    }
    Ok(rows)
}

fn ours(plan: &Plan, solver: &'static str, tolerance: f64) -> Result<Runner> {
    let setting = Setting {
        solver,
        tolerance,
        threads: 1,
    };
    let engine = Box::new(Ours::new(plan, setting)?);
    Ok(Runner::new(format!("{solver} {tolerance:e}"), engine, plan))
}

/// What is told of one method.
fn told(case: &str, runner: &Runner, plan: &Plan) -> Vec<Row> {
    let cut = match runner.times.len() {
        n if runner.burst => format!(", burst after {n} steps"),
        STEPS => String::new(),
        n => format!(", first {n} steps"),
    };
    let name = &runner.name;
    let mut rows = vec![
        Row::new(
            case,
            &format!("{name}: step{cut}"),
            runner.summary(1e-6),
            "µs",
        ),
        Row::single(
            case,
            &format!("{name}: joint gap, at most"),
            runner.gap * 1e3,
            "mm",
        ),
        Row::single(
            case,
            &format!("{name}: energy drift, at most"),
            runner.drift() / plan.energy_scale() * 100.0,
            "%",
        ),
    ];
    rows.extend(super::chain::trouble(case, runner));
    rows
}
