//! `trocar check`: what a scene says, how stiff it is, what a step will cost.

use crate::report::Gathered;
use anyhow::Result;
use clap::Args;
use std::{fmt::Write, path::PathBuf, process::ExitCode};
use trocar_scene::{Scene, Simulation, build, event::Happening, file::InstrumentKind};

/// What `check` may be told.
#[derive(Args)]
pub struct Options {
    /// The scene files.
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
}

/// Checks every scene; fails if one is wrong.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for path in &options.scenes {
        match Scene::load(path).and_then(|scene| Simulation::new(&scene, 1)) {
            Ok(simulation) => {
                crate::print(describe(&path.display().to_string(), simulation)?.trim_end())?
            }
            Err(error) => {
                eprintln!("{error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

fn describe(path: &str, mut simulation: Simulation) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let model = simulation.model();
    writeln!(out, "{path}: {}", model.name)?;
    for tissue in &model.tissues {
        let nodes = model.start[tissue.matter.index()].len();
        writeln!(
            out,
            "  tissue      {}: {nodes} nodes, {} elements, {} triangles",
            tissue.name,
            tissue.elements,
            tissue.triangles.len()
        )?;
    }
    if !model.looks.is_empty() || !model.particles.is_empty() {
        writeln!(
            out,
            "  bodies      {}, particles {}, joints {}",
            model.looks.len(),
            model.particles.len(),
            model.joints.len()
        )?;
    }
    for tool in &model.tools {
        let kind = match tool.kind {
            InstrumentKind::Grasper => "grasper",
            InstrumentKind::Needle => "needle",
            InstrumentKind::Forceps => "forceps",
            InstrumentKind::Scissors => "scissors",
        };
        writeln!(out, "  instrument  {}: {kind}", tool.name)?;
    }
    if !model.hypers.is_empty() || !model.ties.is_empty() {
        writeln!(
            out,
            "  couplings   {} hyper nodes, {} ties",
            model.hypers.len(),
            model.ties.len()
        )?;
    }
    for backdrop in &model.backdrops {
        writeln!(
            out,
            "  scenery     {}: {} triangles",
            backdrop.name,
            backdrop.surface.triangles.len()
        )?;
    }
    for group in &model.groups {
        let names: Vec<&str> = group
            .members
            .iter()
            .map(|m| model.names[m.index()].as_str())
            .collect();
        let b = &model.bounds_now(group);
        let ms = |s: f64| {
            if s.is_finite() {
                format!("{:.3} ms", s * 1e3)
            } else {
                "any".into()
            }
        };
        writeln!(
            out,
            "  stable to   {} ({}; exact {}, Kuhn's estimate {}, shortest time constant {}): {} substep(s) in a step of {} ms",
            ms(b.safe),
            names.join(" + "),
            ms(b.exact),
            ms(b.kuhn),
            ms(b.time_constant),
            build::substeps(model.step, b.safe),
            model.step * 1e3,
        )?;
        if let Some(demand) = model.demand(group) {
            writeln!(out, "  warning     {demand}")?;
        }
    }
    let input = simulation.idle_input();
    let (mut first, mut gathered) = (Gathered::default(), Gathered::default());
    for i in 0..600 {
        let report = simulation.step(&input);
        // The first steps warm caches up; what happens in them counts all the same.
        if i < 100 { &mut first } else { &mut gathered }.add(report);
    }
    let cost = gathered.step_cost(0.5);
    writeln!(
        out,
        "  step cost   {cost:.1} µs here (p99 {:.1}): {:.0} × real time on one thread",
        gathered.step_cost(0.99),
        input.dt * 1e6 / cost,
    )?;
    let unsettled = first.not_converged() + gathered.not_converged();
    if unsettled > 0 {
        let error = first.worst_error().max(gathered.worst_error());
        writeln!(
            out,
            "  warning     {unsettled} of 600 steps ran out of iterations; the worst left {error:.1e} m"
        )?;
    }
    let redundant = gathered.redundant_joints(&simulation);
    if !redundant.is_empty() {
        writeln!(
            out,
            "  redundant   {} row(s) of {}: others already determine them",
            gathered.redundant_rows(),
            redundant.join(", ")
        )?;
    }
    let tangled = gathered.methods().tangled;
    if tangled > 0 {
        writeln!(
            out,
            "  warning     {tangled} set(s) of joints are too tangled for a direct method: they are swept"
        )?;
    }
    for event in first.events().iter().chain(gathered.events()) {
        // What commands have instruments do is meant, and so are tears.
        let bad = matches!(
            event.what,
            Happening::Quarantined { .. } | Happening::Refused { .. } | Happening::Stiffened { .. }
        );
        let kind = if bad { "warning" } else { "event  " };
        writeln!(out, "  {kind}     at {:.3} s: {}", event.time, event.what)?;
    }
    Ok(out)
}
