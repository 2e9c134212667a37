//! `trocar replay`: a recording again, and the proof that it gives the same result.

use crate::{export, progress, report};
use anyhow::{Result, bail};
use clap::Args;
use std::{path::PathBuf, process::ExitCode, time::Instant};
use trocar_scene::{
    Scene, Simulation,
    recording::{BUILD, Recording, Verdict},
};

/// What `replay` may be told.
#[derive(Args)]
pub struct Options {
    /// The recording.
    recording: PathBuf,
    /// Fail unless every hash agrees.
    #[arg(long)]
    verify: bool,
    /// Write a report as JSON.
    #[arg(long)]
    report: Option<PathBuf>,
    #[command(flatten)]
    export: export::ExportOptions,
    /// Threads the step may use; they never change the result.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Replays it.
pub fn run(options: &Options) -> Result<ExitCode> {
    let recording = Recording::read(&options.recording)?;
    let scene = Scene::from_bundle(&recording.scene)?;
    let mut simulation = Simulation::new(&scene, options.threads.clamp(1, 256))?;
    if recording.build != BUILD {
        eprintln!(
            "note: recorded by {}, replayed by {BUILD}; another build may step differently",
            recording.build
        );
    }
    if recording.damaged {
        eprintln!("the recording is damaged after {} steps", recording.steps());
        if options.verify {
            return Ok(ExitCode::FAILURE);
        }
    } else if !recording.complete {
        eprintln!(
            "note: the recording breaks off; its last complete block ends after {} steps",
            recording.steps()
        );
    }
    let mut export = options.export.open(&simulation)?;
    let bar = progress::bar(recording.steps() as u64, "replaying");
    let mut gathered = report::Gathered::default();
    let mut failed = None;
    let started = Instant::now();
    let verdict = recording.replay(&mut simulation, |simulation| {
        gathered.add(simulation.report());
        bar.inc(1);
        if let Some(export) = &mut export {
            failed = export.step(simulation).err();
        }
        failed.is_none()
    });
    let wall = started.elapsed();
    bar.finish_and_clear();
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some(export) = export {
        for path in export.finish()? {
            crate::print(&format!("wrote {}", path.display()))?;
        }
    }
    if let Some(path) = &options.report {
        report::write(path, &gathered.json(&simulation, wall, options.threads)?)?;
    }
    for event in gathered.events() {
        crate::print(&format!("{:9.3} s  {}", event.time, event.what))?;
    }
    match verdict {
        Verdict::Same { checked } => {
            crate::print(&format!(
                "{}: {} steps, {:.3} s; {checked} hashes agree; hash {:016x}",
                simulation.model().name,
                simulation.steps(),
                simulation.state().time,
                simulation.hash(),
            ))?;
            if options.verify && checked == 0 {
                bail!("the recording holds no hash to compare with");
            }
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Differs {
            step,
            time,
            expected,
            found,
        } => {
            eprintln!(
                "differs first after step {step} ({time:.4} s): recorded {expected:016x}, replayed {found:016x}"
            );
            Ok(if options.verify {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            })
        }
    }
}
