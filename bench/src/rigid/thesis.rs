//! The tree of the thesis' section 3.6.1: its own ratios between its own methods.

use super::{
    engine::{Runner, race},
    ours::{Ours, Setting},
    plan::Plan,
};
use crate::{measure::Effort, row::Row};
use anyhow::Result;
use std::time::Duration;

/// LGS over O(n) at 255 joints: 59.48 ms over 13.7 ms.
const SYSTEM_OVER_GRAPH: f64 = 4.34;

/// Rows.
pub fn thesis(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let (sizes, patience): (&[usize], u64) = match effort {
        Effort::Full => (&[31, 63, 127, 255, 1023], 20),
        Effort::Quick => (&[63, 255], 4),
    };
    for &size in sizes {
        let plan = Plan::thesis_tree(size);
        let all = [
            ("graph", 1e-6),
            ("system", 1e-3),
            ("system", 1e-6),
            ("iterative", 1e-3),
            ("iterative", 1e-4),
            ("iterative", 1e-6),
        ];
        let mut runners = Vec::new();
        for (solver, tolerance) in all {
            let setting = Setting {
                solver,
                tolerance,
                threads: 1,
            };
            let engine = Box::new(Ours::new(&plan, setting)?);
            runners.push(Runner::new(
                format!("{solver} {tolerance:e}"),
                engine,
                &plan,
            ));
        }
        let label = format!("rigid/thesis {size}");
        eprintln!("{label}");
        race(
            &label,
            &plan,
            &mut runners,
            300,
            Duration::from_secs(patience),
        );
        let case = format!("rigid/thesis tree of {size}");
        let median = |name: &str| {
            let runner = runners.iter().find(|r| r.name == name);
            runner.map_or(f64::NAN, |r| r.summary(1e-6).median)
        };
        for runner in &runners {
            let cut = match runner.times.len() {
                300 => String::new(),
                n => format!(", first {n} steps"),
            };
            let name = &runner.name;
            rows.push(Row::new(
                &case,
                &format!("{name}: step{cut}"),
                runner.summary(1e-6),
                "µs",
            ));
            rows.push(Row::single(
                &case,
                &format!("{name}: joint gap, at most"),
                runner.gap * 1e3,
                "mm",
            ));
            rows.extend(super::chain::trouble(&case, runner));
        }
        let graph = median("graph 1e-6");
        let system = median("system 1e-6");
        let iterative = median("iterative 1e-6");
        let ratio = Row::single(&case, "system over graph, 1e-6", system / graph, "");
        rows.push(match size {
            255 => ratio.against("thesis", SYSTEM_OVER_GRAPH),
            _ => ratio,
        });
        rows.push(Row::single(
            &case,
            "iterative over graph, 1e-6",
            iterative / graph,
            "",
        ));
        let ratio = Row::single(&case, "iterative over system, 1e-6", iterative / system, "");
        // In the thesis, 54.25 ms for 63 joints against 19.66 ms for 127 already.
        rows.push(match size {
            63 => ratio
                .against("thesis, at the least", 54.25 / 19.66)
                .at_least(54.25 / 19.66),
            _ => ratio,
        });
    }
    Ok(rows)
}
