//! Every headline number, with what it is measured against in the same run.
//!
//! `trocar-bench [NAME…] [--json FILE] [--quick] [--strict] [--list]`; usually started by `cargo xtask bench`.

mod client;
mod collide;
mod latency;
mod machine;
mod measure;
mod membrane;
mod mesd;
mod naive;
mod rigid;
mod row;
mod serve;
mod yardstick;

use anyhow::{Context, Result, bail};
use clap::Parser;
use measure::Effort;
use row::Row;
use std::{fs, path::PathBuf, process::ExitCode, time::Instant};
use yardstick::Yardstick;

/// A bench: what it is called, what it says, and how it is run.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(Effort) -> Result<Vec<Row>>,
}

/// All of them, in the order in which they are run. `mesd` names everything that begins with `mesd/`.
const BENCHES: &[Bench] = &[
    Bench {
        name: "mesd/models",
        about: "Kuhn's two models, block by block, and the whole step",
        run: mesd::models,
    },
    Bench {
        name: "mesd/growth",
        about: "cost per element from a thousand to a million, one thread and two, beside a plain loop and Rapier",
        run: mesd::growth,
    },
    Bench {
        name: "mesd/kinds",
        about: "the same net with numbers in disorder, other laws, a ground, two stages, substeps that follow the state",
        run: mesd::kinds,
    },
    Bench {
        name: "mesd/refine",
        about: "a coarse surface made smooth for the picture, beside a plain loop",
        run: mesd::refine,
    },
    Bench {
        name: "mesd/latency",
        about: "from a hand's movement to the first frame that shows it",
        run: latency::latency,
    },
    Bench {
        name: "collide/needle",
        about: "a needle against sheets of 342 to 100 000 triangles",
        run: collide::needle,
    },
    Bench {
        name: "collide/grid",
        about: "distance grids after Wienss, beside every triangle and a voxmap",
        run: collide::grid,
    },
    Bench {
        name: "collide/kuhn",
        about: "what Kuhn's instrument test overlooks and imagines, beside the swept one",
        run: collide::kuhn,
    },
    Bench {
        name: "rigid/chain",
        about: "ball joints in a row, every solver, beside Rapier",
        run: rigid::chain,
    },
    Bench {
        name: "rigid/tree",
        about: "ball joints that branch, every solver, beside Rapier",
        run: rigid::tree,
    },
    Bench {
        name: "rigid/chains",
        about: "many chains side by side, by one thread and by two",
        run: rigid::chains,
    },
    Bench {
        name: "rigid/thesis",
        about: "Bender's tree, his methods and his baselines, and their ratios",
        run: rigid::thesis,
    },
    Bench {
        name: "rigid/claims",
        about: "single numbers that Bender claims, measured anew",
        run: rigid::claims,
    },
    Bench {
        name: "rigid/baseline",
        about: "multipliers, Baraff, Baumgarte and penalty beside our solvers",
        run: rigid::baselines,
    },
    Bench {
        name: "rigid/funnel",
        about: "1000 boxes through a funnel, beside Rapier",
        run: rigid::funnel,
    },
    Bench {
        name: "rigid/wall",
        about: "252 bricks that stand and are hit, beside Rapier",
        run: rigid::wall,
    },
    Bench {
        name: "collide/huang",
        about: "Huang's tables: triangle tests, and every tree with every test as an instrument goes in",
        run: collide::huang,
    },
    Bench {
        name: "collide/pairs",
        about: "two deforming surfaces: boxes anew and all touching pairs, beside parry and obvhs",
        run: collide::pairs,
    },
    Bench {
        name: "collide/edit",
        about: "a tree after ten triangles have changed, from 5 to 490 thousand",
        run: collide::edit,
    },
    Bench {
        name: "membrane/edit",
        about: "edits of a sheet, mean and worst, 660 and 100 thousand triangles, in one place and anywhere",
        run: membrane::edits,
    },
    Bench {
        name: "membrane/tear",
        about: "B1: time per tear call, search and edit apart, and of 100 tears, beside Weber's",
        run: membrane::tears,
    },
    Bench {
        name: "membrane/frame",
        about: "20 thousand triangles at 30 frames a second, at their own number of substeps",
        run: membrane::frames,
    },
    Bench {
        name: "membrane/needle",
        about: "B5, B6, B8, B10: a needle's cost beside Weber's, what it drags and tears, frames from 1 to 100 thousand triangles",
        run: membrane::needles,
    },
    Bench {
        name: "membrane/path",
        about: "B2–B4: a circle torn out, a sheet torn to fragments, triangles of a cut",
        run: membrane::paths,
    },
    Bench {
        name: "membrane/friction",
        about: "B7, B9: a needle sweeps with every friction, and the substeps it needs, beside Eyesi's older way",
        run: membrane::frictions,
    },
    Bench {
        name: "membrane/flap",
        about: "B11–B13: what bending, coming off and fold support do to a flap",
        run: membrane::flaps,
    },
    Bench {
        name: "membrane/module",
        about: "B14, B15: whole frames of the capsulorhexis",
        run: membrane::modules,
    },
    Bench {
        name: "serve",
        about: "1 to 32 viewers of an operation, and 1 to 8 operations at once",
        run: serve::serve,
    },
];

/// What the program may be told.
#[derive(Parser)]
#[command(name = "trocar-bench", version, about = "Trocar's headline numbers.")]
struct Options {
    /// Only these benches, or groups of them.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write the rows to this file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fewer repeats.
    #[arg(long)]
    quick: bool,
    /// Fail on an unmet aim.
    #[arg(long)]
    strict: bool,
    /// Say what there is, and stop.
    #[arg(long)]
    list: bool,
    /// Be the server that `serve` measures.
    #[arg(long, hide = true, value_name = "OPERATIONS")]
    host: Option<usize>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("trocar-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    if let Some(operations) = options.host {
        serve::host(operations)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.list {
        for bench in BENCHES {
            println!("{:<14} {}", bench.name, bench.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(&options.names)?;
    if cfg!(debug_assertions) {
        eprintln!("trocar-bench: this is not a release build; its numbers say nothing.");
    }
    let effort = if options.quick {
        Effort::Quick
    } else {
        Effort::Full
    };

    // The machine's pace is taken before, between and after: others may be using it, too.
    let mut yardstick = Yardstick::default();
    yardstick.measure(effort);
    let mut rows = Vec::new();
    let mut broken = 0;
    for bench in chosen {
        let began = Instant::now();
        match (bench.run)(effort) {
            Ok(more) => rows.extend(more),
            // What others measured is not lost.
            Err(error) => {
                eprintln!("trocar-bench: {}: {error:#}", bench.name);
                broken += 1;
            }
        }
        eprintln!("{}: {:.1} s", bench.name, began.elapsed().as_secs_f64());
        yardstick.measure(effort);
    }
    for row in &mut rows {
        row.measure_by(yardstick.square_root());
    }
    rows.splice(0..0, yardstick.rows());

    print!("{}", row::table(&rows));
    if let Some(file) = &options.json {
        let text = row::json(&machine::describe(), &rows)?;
        fs::write(file, text).with_context(|| format!("{} can't be written", file.display()))?;
    }
    let unmet = rows.iter().filter(|r| r.met == Some(false)).count();
    let aims = rows.iter().filter(|r| r.met.is_some()).count();
    println!("\n{} of {aims} aims met.", aims - unmet);
    if broken > 0 {
        bail!("{broken} of the benches came to no end");
    }
    let failed = options.strict && unmet > 0;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The benches that are meant; all if none is named.
fn choose(names: &[String]) -> Result<Vec<&'static Bench>> {
    let meant = |bench: &Bench, name: &str| {
        bench.name == name
            || bench
                .name
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    for name in names {
        if !BENCHES.iter().any(|b| meant(b, name)) {
            let known: Vec<&str> = BENCHES.iter().map(|b| b.name).collect();
            bail!(
                "there is no bench \"{name}\"; there are {}",
                known.join(", ")
            );
        }
    }
    Ok(BENCHES
        .iter()
        .filter(|b| names.is_empty() || names.iter().any(|n| meant(b, n)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_a_bench_or_a_group_of_them() {
        let chosen = |names: &[&str]| -> Vec<&str> {
            let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
            choose(&names).unwrap().iter().map(|b| b.name).collect()
        };
        assert_eq!(chosen(&[]).len(), BENCHES.len());
        assert_eq!(chosen(&["mesd/growth"]), ["mesd/growth"]);
        assert!(chosen(&["mesd"]).len() > 1);
        assert_eq!(chosen(&["mesd", "mesd/growth"]), chosen(&["mesd"]));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = choose(&["mes".into()]).err().unwrap().to_string();
        assert!(
            error.contains("\"mes\"") && error.contains("mesd/models"),
            "{error}"
        );
    }
}
