//! `trocar simulate`: a scene without a page, as fast as it goes.

use crate::{export, progress, report};
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::{path::PathBuf, process::ExitCode, time::Instant};
use trocar_scene::{
    Scene, Simulation,
    recording::{Recording, Writer},
    torn::Torn,
};

/// What `simulate` may be told.
#[derive(Args)]
pub struct Options {
    /// The scene file.
    scene: PathBuf,
    /// How much simulated time to run, s; with --input, at most this much.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true)]
    seconds: f64,
    /// Let the hands do what they did in this recording.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Record the run, from the scene's start on.
    #[arg(long, conflicts_with = "resume")]
    record: Option<PathBuf>,
    /// Write a report as JSON: costs of every stage, residuals, events, the final hash. `-` prints it.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Run it once more with the triangles of membranes cut into four, and say what that changed: in the report under `finer_membranes`, and in a line for each.
    #[arg(long, conflicts_with_all = ["resume", "record"])]
    finer: bool,
    #[command(flatten)]
    export: export::ExportOptions,
    /// Threads the step may use.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Start from this snapshot.
    #[arg(long)]
    resume: Option<PathBuf>,
    /// Write a snapshot at the end.
    #[arg(long)]
    snapshot: Option<PathBuf>,
}

/// Runs the scene.
pub fn run(options: &Options) -> Result<ExitCode> {
    ensure!(
        options.seconds > 0.0 && options.seconds.is_finite(),
        "--seconds must be positive"
    );
    ensure!(
        (1..=256).contains(&options.threads),
        "--threads must lie between 1 and 256"
    );
    let scene = Scene::load(&options.scene)?;
    let mut simulation = Simulation::new(&scene, options.threads)?;
    if let Some(path) = &options.resume {
        let bytes =
            std::fs::read(path).with_context(|| format!("{} can't be read", path.display()))?;
        simulation
            .restore(&bytes)
            .with_context(|| path.display().to_string())?;
    }
    let recorded = options.input.as_ref().map(Recording::read).transpose()?;
    let mut record = options
        .record
        .as_ref()
        .map(|path| Writer::create(path, &scene, &[]))
        .transpose()?;
    let mut export = options.export.open(&simulation)?;

    let idle = simulation.idle_input();
    let mut inputs = recorded.as_ref().map(Recording::inputs);
    let end = simulation.state().time + options.seconds;
    let planned = match &recorded {
        Some(recording) => recording.steps() as u64,
        None => (options.seconds / idle.dt) as u64,
    };
    let bar = progress::bar(planned, "simulating");
    let mut gathered = report::Gathered::default();
    let started = Instant::now();
    while simulation.state().time < end - 0.5 * idle.dt {
        let input = match inputs.as_mut() {
            None => &idle,
            Some(inputs) => match inputs.next() {
                Some(input) => input,
                None => break,
            },
        };
        gathered.add(simulation.step(input));
        if let Some(record) = &mut record {
            record.step(input, &simulation)?;
        }
        if let Some(export) = &mut export {
            export.step(&simulation)?;
        }
        bar.inc(1);
    }
    let wall = started.elapsed();
    bar.finish_and_clear();

    if let Some(record) = record {
        record.finish()?;
    }
    if let Some(path) = &options.snapshot {
        std::fs::write(path, simulation.snapshot())
            .with_context(|| format!("{} can't be written", path.display()))?;
    }
    let mut lines = vec![format!(
        "{}: {:.3} s in {} steps, {:.1} × real time, {:.1} µs a step (p99 {:.1}), hash {:016x}",
        simulation.model().name,
        simulation.state().time,
        simulation.steps(),
        simulation.state().time / wall.as_secs_f64().max(1e-9),
        gathered.step_cost(0.5),
        gathered.step_cost(0.99),
        simulation.hash(),
    )];
    lines.extend(
        gathered
            .events()
            .iter()
            .map(|e| format!("{:9.3} s  {}", e.time, e.what)),
    );
    if let Some(export) = export {
        lines.extend(
            export
                .finish()?
                .iter()
                .map(|path| format!("wrote {}", path.display())),
        );
    }
    if options.finer {
        let finer = finer(&scene, options, recorded.as_ref())?;
        let pairs = simulation.torn().into_iter().zip(&finer);
        lines.extend(pairs.map(|(coarse, fine)| compared(&coarse, fine)));
        gathered.set_finer(finer);
    }
    match &options.report {
        Some(path) if path.as_os_str() == "-" => {
            lines.clear();
            lines.push(gathered.json(&simulation, wall, options.threads)?);
        }
        Some(path) => report::write(path, &gathered.json(&simulation, wall, options.threads)?)?,
        None => {}
    }
    crate::print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// What becomes of membranes in the same time with their triangles cut into four.
fn finer(scene: &Scene, options: &Options, recorded: Option<&Recording>) -> Result<Vec<Torn>> {
    let mut simulation = Simulation::new(&scene.with_finer_membranes(), options.threads)?;
    let idle = simulation.idle_input();
    let mut inputs = recorded.map(Recording::inputs);
    let bar = progress::bar((options.seconds / idle.dt) as u64, "once more, finer");
    while simulation.state().time < options.seconds - 0.5 * idle.dt {
        let input = match inputs.as_mut() {
            None => &idle,
            Some(inputs) => match inputs.next() {
                Some(input) => input,
                None => break,
            },
        };
        simulation.step(input);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(simulation.torn())
}

/// What a finer mesh changed.
fn compared(coarse: &Torn, fine: &Torn) -> String {
    let mm = |metres: f64| 1e3 * metres;
    let mut line = format!(
        "{}: edges of {:.3} and {:.3} mm: torn by {:.2} and {:.2} mm, {} and {} pieces",
        coarse.membrane,
        mm(coarse.mean_edge),
        mm(fine.mean_edge),
        mm(coarse.length),
        mm(fine.length),
        coarse.pieces,
        fine.pieces,
    );
    if let (Some(a), Some(b)) = (coarse.path, fine.path) {
        line += &format!(
            ", {:.3} and {:.3} mm beside the path in the mean",
            mm(a.mean),
            mm(b.mean)
        );
    }
    line
}
