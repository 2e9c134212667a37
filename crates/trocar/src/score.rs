//! `trocar score`: the score of a recorded operation, computed again from the recording.

use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};
use trocar_scene::{
    Simulation,
    recording::{BUILD, Recording, Verdict},
};
use trocar_train::{Ending, Exercise, Performance, Run, records, score::written};

/// What `score` may be told.
#[derive(Args)]
pub struct Options {
    /// The recording of an exercise. If it lies in the data folder, the stored score is compared.
    recording: PathBuf,
    /// Print everything as JSON, signals over time included.
    #[arg(long)]
    json: bool,
    /// Threads the step may use; they never change the result.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Replays the recording and scores it. Fails if the replay or the score is not what was recorded.
pub fn run(options: &Options) -> Result<ExitCode> {
    let recording = Recording::read(&options.recording)?;
    let Some(exercise) = Exercise::from_recording(&recording)? else {
        bail!(
            "{}: this is a recording of a scene, not of an exercise: there is nothing to score",
            options.recording.display()
        );
    };
    let exercise = Arc::new(exercise);
    if recording.build != BUILD {
        eprintln!(
            "note: recorded by {}, scored by {BUILD}; another build may step differently",
            recording.build
        );
    }
    let mut simulation = Simulation::new(&exercise.levels[0].scene, options.threads.clamp(1, 256))?;
    let mut run = Run::new(exercise.clone(), 0, &simulation)?;
    let bar = progress::bar(recording.steps() as u64, "replaying");
    let verdict = recording.replay(&mut simulation, |simulation| {
        run.observe(simulation, simulation.report());
        run.notices().for_each(drop);
        bar.inc(1);
        true
    });
    bar.finish_and_clear();
    // What did not end by itself was given up, or broken off if the recording is.
    let ending = if recording.complete {
        Ending::GivenUp
    } else {
        Ending::BrokenOff
    };
    let performance = run.finish(ending);
    let stored = stored(&options.recording);
    if options.json {
        crate::print(&serde_json::to_string_pretty(&performance)?)?;
    } else {
        print(&exercise, &performance)?;
    }
    let mut code = ExitCode::SUCCESS;
    if let Verdict::Differs { step, time, .. } = verdict {
        eprintln!("the replay differs from the recording first after step {step} ({time:.3} s)");
        code = ExitCode::FAILURE;
    }
    if recording.damaged {
        eprintln!(
            "the recording is damaged after {} steps; only what is before counts",
            recording.steps()
        );
        code = ExitCode::FAILURE;
    }
    match stored? {
        None => {}
        Some(stored) if stored == performance.score => {
            eprintln!("the stored score is the same");
        }
        Some(stored) => {
            eprintln!("the stored score is {stored}, not {}", performance.score);
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// The score that is stored for a recording in a data folder.
fn stored(recording: &Path) -> Result<Option<f64>> {
    let folder = recording.canonicalize()?;
    let (Some(name), Some(folder)) = (
        folder.file_name().and_then(|n| n.to_str()),
        folder.parent().and_then(Path::parent),
    ) else {
        return Ok(None);
    };
    Ok(crate::wait_for(records::stored_score(folder, name))??)
}

fn print(exercise: &Exercise, performance: &Performance) -> Result<()> {
    let p = performance;
    let passed = if p.passed { "passed" } else { "not passed" };
    let ending = match p.ending {
        Ending::Completed => "completed",
        Ending::TimeUp => "time was up",
        Ending::GivenUp => "given up",
        Ending::BrokenOff => "broken off",
    };
    crate::print(&format!(
        "{}, {}: {:.1} of 100, {passed} (from {}); {ending} after {:.1} s, {} of {} goals",
        exercise.title,
        exercise.levels[0].title,
        p.score,
        p.pass_mark,
        p.seconds,
        p.reached,
        p.goals
    ))?;
    for part in &p.parts {
        let of = if part.cost > 0.0 {
            format!("of -{:.0}", part.cost)
        } else {
            format!("of {:.0}", part.most)
        };
        let value = part
            .value
            .map_or_else(|| "not measured".into(), |v| written(v, &part.unit));
        // No negative zero for people.
        let points = if part.points == 0.0 { 0.0 } else { part.points };
        crate::print(&format!("  {points:6.1} {of:7} {}: {value}", part.title))?;
    }
    for text in &p.praise {
        crate::print(&format!("  + {text}"))?;
    }
    for text in &p.advice {
        crate::print(&format!("  - {text}"))?;
    }
    Ok(())
}
