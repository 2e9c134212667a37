//! `trocar exercise`: what an exercise file contains, and whether it is right.

use anyhow::Result;
use clap::{Args, Subcommand};
use std::{fmt::Write, path::PathBuf, process::ExitCode, sync::Arc};
use trocar_scene::Simulation;
use trocar_train::{Better, Exercise, Run, TrainError, exercise::Aim};

/// What `exercise` may be told.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check exercise files: print what they contain, and build the scene of every level.
    Check {
        /// The exercise files.
        #[arg(required = true)]
        exercises: Vec<PathBuf>,
    },
    /// Print the JSON Schema of exercise files, for editors.
    Schema,
}

/// Checks exercises, or prints the schema.
pub fn run(options: &Options) -> Result<ExitCode> {
    match &options.command {
        Command::Schema => {
            let schema = trocar_train::file::schema();
            crate::print(&serde_json::to_string_pretty(&schema)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Check { exercises } => {
            let mut code = ExitCode::SUCCESS;
            for path in exercises {
                match Exercise::load(path).and_then(build) {
                    Ok(exercise) => {
                        let text = describe(&path.display().to_string(), &exercise)?;
                        crate::print(text.trim_end())?;
                    }
                    Err(error) => {
                        eprintln!("{error}");
                        code = ExitCode::FAILURE;
                    }
                }
            }
            Ok(code)
        }
    }
}

/// Builds the scene of every level and starts it: what can only be seen in a running scene shows there.
fn build(exercise: Exercise) -> Result<Arc<Exercise>, TrainError> {
    let exercise = Arc::new(exercise);
    for (index, level) in exercise.levels.iter().enumerate() {
        let simulation = Simulation::new(&level.scene, 1)?;
        Run::new(exercise.clone(), index, &simulation)?;
    }
    Ok(exercise)
}

fn describe(path: &str, exercise: &Exercise) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(out, "{path}: {}", exercise.title)?;
    writeln!(out, "  about       {}", exercise.about)?;
    writeln!(out, "  skills      {}", exercise.skills.join(", "))?;
    writeln!(out, "  watches     {}", exercise.instrument)?;
    writeln!(out, "  hints       {}", exercise.hints.len())?;
    for level in &exercise.levels {
        writeln!(out, "  level       {}: {}", level.name, level.about)?;
        writeln!(out, "    scene     {}", level.scene.name())?;
        let time = level
            .time_limit
            .map_or_else(String::new, |t| format!(", time limit {t} s"));
        writeln!(out, "    passed    from {} of 100{time}", level.pass_mark)?;
        for goal in &level.goals {
            let mut text = match &goal.aim {
                Aim::Grasp { tissue, spot } => match spot {
                    Some((_, radius)) => {
                        format!("grasp {tissue} within {:.0} mm of a spot", radius * 1e3)
                    }
                    None => format!("grasp {tissue}"),
                },
                Aim::Carry { ball, .. } => format!("carry into {:.0} mm", ball.radius * 1e3),
                Aim::Touch { .. } => "touch".into(),
                Aim::Release { .. } => "release".into(),
                Aim::Look { angle, .. } => format!("look within {:.0}°", angle.to_degrees()),
            };
            if goal.aim.hold() > 0.0 {
                write!(text, " for {} s", goal.aim.hold())?;
            }
            if let Some(force) = goal.limits.force {
                write!(text, ", at most {force} N")?;
            }
            writeln!(out, "    goal      {}: {text}", goal.id)?;
        }
        for part in &level.score {
            let kind = if part.costs { "costs" } else { "gives" };
            let sign = match part.measure.better() {
                Better::Less => "≤",
                Better::More => "≥",
            };
            let unit = match part.measure.unit() {
                "" => String::new(),
                unit => format!(" {unit}"),
            };
            writeln!(
                out,
                "    {kind}     {:4.1} for {}: best {sign} {}{unit}, worst {}{unit}",
                part.points,
                part.measure.title().to_lowercase(),
                part.best,
                part.worst
            )?;
        }
    }
    Ok(out)
}
