//! Chains and trees of ball joints: every solver, and every kind of joint that Rapier has.

use super::{
    engine::{Runner, TURN, race},
    ours::{Ours, Setting},
    plan::Plan,
    rapier::{Joints, double, single},
};
use crate::{
    measure::{Effort, progress},
    row::Row,
};
use anyhow::Result;
use glam::DVec3;
use std::{collections::BTreeSet, time::Duration};

/// Our solvers and their tolerances.
const SETTINGS: [(&str, f64); 6] = [
    ("graph", 1e-6),
    ("graph", 1e-9),
    ("system", 1e-6),
    ("system", 1e-9),
    ("iterative", 1e-6),
    ("iterative", 1e-9),
];

/// Rapier's ways.
const JOINTS: [(&str, Joints); 3] = [
    ("impulse 4", Joints::Impulse(4)),
    ("impulse 20", Joints::Impulse(20)),
    ("multibody", Joints::Multibody),
];

/// What ours is held against.
const PEER: &str = "rapier3d impulse 4";

/// The most a joint may cost in the largest model, over what it costs in one of up to 127 joints.
const GROWTH: f64 = 1.3;

/// Turns that each size has while the growth is measured: 5 s.
const GROWTH_TURNS: usize = 500 / TURN;

/// A family of models.
struct Family {
    case: &'static str,
    plan: fn(usize) -> Plan,
    sizes: &'static [usize],
    quick: &'static [usize],
    /// The size with which a minute is spent, and whose price is aimed at.
    headline: usize,
}

/// Links in a row.
pub fn chain(effort: Effort) -> Result<Vec<Row>> {
    let family = Family {
        case: "rigid/chain",
        plan: Plan::chain,
        sizes: &[10, 25, 100, 300, 1000],
        quick: &[10, 25, 100, 1000],
        headline: 25,
    };
    family.rows(effort)
}

/// How many chains hang side by side, and how long each is.
const ROWS: (usize, usize) = (40, 25);

/// Many chains side by side, by one thread and by two: trees are shared out among threads.
pub fn chains(effort: Effort) -> Result<Vec<Row>> {
    let (count, links) = ROWS;
    let mut plan = Plan::chain(links);
    for _ in 1..count {
        plan.join(Plan::chain(links), DVec3::Z);
    }
    let mut runners = Vec::new();
    for threads in [1, 2] {
        let setting = Setting {
            solver: "graph",
            tolerance: 1e-6,
            threads,
        };
        let engine = Box::new(Ours::new(&plan, setting)?);
        runners.push(Runner::new(format!("{threads} thread(s)"), engine, &plan));
    }
    let steps = effort.repeats(500, 100);
    let case = format!("rigid/chains, {count} of {links}");
    eprintln!("{case}");
    race(&case, &plan, &mut runners, steps, Duration::from_secs(60));
    let mut rows = Vec::new();
    for runner in &runners {
        let metric = format!("graph 1e-6, {}: step", runner.name);
        rows.push(Row::new(&case, &metric, runner.summary(1e-6), "µs"));
        rows.extend(trouble(&case, runner));
    }
    let [one, two] = [0, 1].map(|k: usize| runners[k].summary(1e-6).median);
    rows.push(Row::single(&case, "one thread over two", one / two, ""));
    Ok(rows)
}

/// Links that branch in two.
pub fn tree(effort: Effort) -> Result<Vec<Row>> {
    let family = Family {
        case: "rigid/tree",
        plan: Plan::tree,
        sizes: &[15, 31, 63, 127, 255, 511, 1023],
        quick: &[15, 127, 1023],
        headline: 127,
    };
    family.rows(effort)
}

impl Family {
    fn rows(&self, effort: Effort) -> Result<Vec<Row>> {
        let (sizes, patience) = match effort {
            Effort::Full => (self.sizes, 15.0),
            Effort::Quick => (self.quick, 1.5),
        };
        let patience = Duration::from_secs_f64(patience);
        let mut rows = Vec::new();
        // Whatever took too long with fewer joints isn't tried with more.
        let mut slow = BTreeSet::new();
        for &size in sizes {
            let plan = (self.plan)(size);
            let mut runners = runners(&plan, |name| !slow.contains(name))?;
            let steps = (5.0 / plan.step).round() as usize;
            let label = format!("{} {size}", self.case);
            eprintln!("{label}");
            race(&label, &plan, &mut runners, steps, patience);
            slow.extend(
                runners
                    .iter()
                    .filter(|r| r.times.len() < steps)
                    .map(|r| r.name.clone()),
            );
            let case = format!("{} of {size}, 5 s", self.case);
            rows.extend(self.compare(&case, size, &plan, &runners, steps));
        }
        rows.extend(self.growth(sizes)?);
        match effort {
            Effort::Full => {
                for &size in sizes {
                    rows.extend(self.minute(size, effort)?);
                }
            }
            Effort::Quick => {
                eprintln!("{}: quick, a minute of {} only", self.case, self.headline);
                rows.extend(self.minute(self.headline, effort)?);
            }
        }
        Ok(rows)
    }

    /// What all of one size did.
    fn compare(
        &self,
        case: &str,
        size: usize,
        plan: &Plan,
        runners: &[Runner],
        steps: usize,
    ) -> Vec<Row> {
        let peer = runners
            .iter()
            .find(|r| r.name == PEER)
            .map(|r| r.summary(1e-6).median);
        let mut rows = Vec::new();
        for runner in runners {
            let cut = match runner.times.len() {
                n if runner.burst => format!(", burst after {n} steps"),
                n if n < steps => format!(", first {n} steps"),
                _ => String::new(),
            };
            let name = &runner.name;
            let mut row = Row::new(
                case,
                &format!("{name}: step{cut}"),
                runner.summary(1e-6),
                "µs",
            );
            if let Some(peer) = peer.filter(|_| name != PEER) {
                row = row.against(PEER, peer);
                if size == self.headline && name == "graph 1e-6" {
                    row = row.at_most(peer);
                }
            }
            rows.push(row);
            rows.push(Row::single(
                case,
                &format!("{name}: joint gap, at most"),
                runner.gap * 1e3,
                "mm",
            ));
            let scale = plan.energy_scale() / 100.0;
            rows.push(Row::single(
                case,
                &format!("{name}: energy gained, at most"),
                runner.gained / scale,
                "%",
            ));
            rows.push(Row::single(
                case,
                &format!("{name}: energy lost, at most"),
                runner.lost / scale,
                "%",
            ));
            rows.extend(trouble(case, runner));
        }
        rows
    }

    /// Whether the price of a joint stays the same. All sizes are stepped in turns: a machine that changes its pace changes it for all.
    fn growth(&self, sizes: &[usize]) -> Result<Vec<Row>> {
        let case = format!("{} growing", self.case);
        let mut all = Vec::new();
        for &size in sizes {
            let plan = (self.plan)(size);
            let setting = Setting {
                solver: "graph",
                tolerance: 1e-6,
                threads: 1,
            };
            let engine = Box::new(Ours::new(&plan, setting)?);
            all.push((size, Runner::new("graph 1e-6", engine, &plan), plan));
        }
        let bar = progress(&case, GROWTH_TURNS);
        for _ in 0..GROWTH_TURNS {
            for (_, runner, plan) in &mut all {
                (0..TURN).for_each(|_| runner.step(plan));
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let price = |size: usize, runner: &Runner| runner.summary(1e-6).median / size as f64;
        let prices: Vec<(usize, f64)> = all.iter().map(|(n, r, _)| (*n, price(*n, r))).collect();
        let mut rows: Vec<Row> = prices
            .iter()
            .map(|(size, price)| {
                let metric = format!("graph 1e-6: step per joint, of {size}");
                Row::single(&case, &metric, *price, "µs")
            })
            .collect();
        let Some(&(most, last)) = prices.last() else {
            return Ok(rows);
        };
        let few: Vec<f64> = prices.iter().filter(|p| p.0 <= 127).map(|p| p.1).collect();
        let few = few.iter().sum::<f64>() / few.len() as f64;
        let metric = format!("graph 1e-6: step per joint, of {most} over up to 127");
        rows.push(Row::single(&case, &metric, last / few, "").at_most(GROWTH));
        Ok(rows)
    }

    /// A minute of one size: every solver at both tolerances. A quick run leaves out sweeps and the tighter one, and says so.
    fn minute(&self, size: usize, effort: Effort) -> Result<Vec<Row>> {
        let plan = (self.plan)(size);
        let quick = matches!(effort, Effort::Quick);
        let keep = |name: &str| !quick || !(name.contains("iterative") || name.contains("1e-9"));
        if quick {
            eprintln!("{}, a minute: quick, without iterative and 1e-9", self.case);
        }
        let mut runners = runners(&plan, keep)?;
        let seconds = effort.repeats(60, 60) as f64;
        let steps = (seconds / plan.step).round() as usize;
        let label = format!("{} {size}, a minute", self.case);
        eprintln!("{label}");
        let patience = effort.repeats(60, 15) as u64;
        race(
            &label,
            &plan,
            &mut runners,
            steps,
            Duration::from_secs(patience),
        );
        let case = format!("{} of {size}, 60 s", self.case);
        let mut rows = self.compare(&case, 0, &plan, &runners, steps);
        let first = &runners[0];
        let scale = plan.energy_scale() / 100.0;
        let bad = f64::from(first.trouble().quarantines) + f64::from(u8::from(first.burst));
        let name = &first.name;
        rows.push(Row::single(&case, &format!("{name}: blown up"), bad, "").at_most(0.0));
        rows.push(
            Row::single(
                &case,
                &format!("{name}: energy gained"),
                first.gained / scale,
                "%",
            )
            .at_most(5.0),
        );
        Ok(rows)
    }
}

/// Everything that is wanted, with the plan in it; the first of ours comes first.
fn runners(plan: &Plan, wanted: impl Fn(&str) -> bool) -> Result<Vec<Runner>> {
    let mut runners = Vec::new();
    for (solver, tolerance) in SETTINGS {
        let name = format!("{solver} {tolerance:e}");
        if wanted(&name) {
            let setting = Setting {
                solver,
                tolerance,
                threads: 1,
            };
            runners.push(Runner::new(name, Box::new(Ours::new(plan, setting)?), plan));
        }
    }
    for (how, joints) in JOINTS {
        let name = format!("rapier3d {how}");
        if wanted(&name) {
            runners.push(Runner::new(
                name,
                Box::new(single::Rapier::new(plan, joints)?),
                plan,
            ));
        }
        let name = format!("rapier3d-f64 {how}");
        if wanted(&name) {
            runners.push(Runner::new(
                name,
                Box::new(double::Rapier::new(plan, joints)?),
                plan,
            ));
        }
    }
    Ok(runners)
}

/// What ours reports of trouble: its halvings, and all else where there was some.
pub fn trouble(case: &str, runner: &Runner) -> Vec<Row> {
    let trouble = runner.trouble();
    let all = [
        ("halvings", trouble.halvings),
        ("redundant rows", trouble.redundant),
        ("quarantines", trouble.quarantines),
    ];
    // Peers halve no steps.
    let always = |what: &str| what == "halvings" && !runner.name.starts_with("rapier");
    let told = all
        .iter()
        .filter(|(what, count)| *count > 0 || always(what));
    told.map(|(what, count)| {
        Row::single(
            case,
            &format!("{}: {what}", runner.name),
            f64::from(*count),
            "",
        )
    })
    .collect()
}
