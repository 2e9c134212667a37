//! What a run reports: one JSON document.

use crate::machine::Machine;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};
use trocar_math::statistics::quantile;
use trocar_scene::{
    Event, JointForce, Simulation, Stage, StepReport, build::Demand, recording::BUILD,
    report::Methods, torn::Torn,
};

/// More steps than this are counted but not kept for the quantiles.
const MAX_SAMPLES: usize = 2_000_000;

/// Gathers what a run does.
#[derive(Default)]
pub struct Gathered {
    samples: Vec<[f32; Stage::COUNT + 1]>,
    events: Vec<Event>,
    most_contacts: usize,
    most_substeps: u32,
    most_short: u32,
    unconverged: u64,
    worst_aim: f64,
    worst_correct: f64,
    halvings: u64,
    blows: u64,
    blows_left: u64,
    worst_penetration: f64,
    worst_slip: f64,
    too_fast: u64,
    wild: u64,
    most_redundant: u32,
    /// Which way joints were solved in the last step.
    methods: Methods,
    /// Of each joint that was given up: in how many steps.
    lost: BTreeMap<u32, u64>,
    /// Joints with rows that others already determine.
    redundant: BTreeSet<u32>,
    /// What became of membranes in a run with a finer mesh.
    finer: Vec<Torn>,
}

/// µs at three quantiles.
#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p95: f64,
    p99: f64,
}

/// What a joint with a name bears at the end.
#[derive(Serialize)]
struct JointEntry<'a> {
    name: &'a str,
    #[serde(flatten)]
    force: JointForce,
}

/// A joint that contradicts others, and in how many steps it was given up for that.
#[derive(Serialize)]
struct LostEntry {
    name: String,
    steps: u64,
}

#[derive(Serialize)]
struct Document<'a> {
    build: &'static str,
    scene: &'a str,
    scene_hash: String,
    machine: Machine,
    threads: usize,
    steps: u64,
    step_seconds: f64,
    simulated_seconds: f64,
    wall_seconds: f64,
    times_real_time: f64,
    stage_microseconds: BTreeMap<&'static str, Quantiles>,
    substeps: u32,
    /// How many more the state of some tissue asked for than are ever taken.
    substeps_short: u32,
    /// Groups that need many substeps in the end, and which part of them asks for it.
    stiff_groups: Vec<Demand>,
    most_contacts: usize,
    steps_not_converged: u64,
    worst_position_error_metres: f64,
    worst_velocity_error: f64,
    halved_substeps: u64,
    blows: u64,
    /// Blows that went through too many bodies to be answered.
    blows_left: u64,
    /// Greatest overlap of two bodies.
    worst_penetration_metres: f64,
    /// Greatest speed of a point between bodies that friction holds, m/s.
    worst_slip: f64,
    /// Steps in which a body went farther in a substep than contacts are looked for.
    steps_with_too_fast_bodies: u64,
    steps_with_wild_joints: u64,
    joints_solved_by: Methods,
    redundant_rows: u32,
    redundant_joints: Vec<String>,
    lost_joints: Vec<LostEntry>,
    joints: Vec<JointEntry<'a>>,
    /// What became of membranes: how far they tore, how well along their curve, how smoothly, in how many pieces.
    membranes: Vec<Torn>,
    /// The same in a second run with their triangles cut into four, if one was asked for.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    finer_membranes: &'a [Torn],
    events: &'a [Event],
    final_hash: String,
}

impl Gathered {
    /// Takes in a step.
    pub fn add(&mut self, report: &StepReport) {
        if self.samples.len() < MAX_SAMPLES {
            let mut sample = [0.0; Stage::COUNT + 1];
            for (s, t) in sample.iter_mut().zip(report.timings.stage) {
                *s = (t * 1e6) as f32;
            }
            sample[Stage::COUNT] = (report.timings.total() * 1e6) as f32;
            self.samples.push(sample);
        }
        self.events.extend(report.events.iter().cloned());
        self.most_contacts = self.most_contacts.max(report.contacts);
        self.most_substeps = self.most_substeps.max(report.substeps);
        self.most_short = self.most_short.max(report.substeps_short);
        self.unconverged += u64::from(!(report.aim.converged && report.correct.converged));
        self.worst_aim = self.worst_aim.max(report.aim.error);
        self.worst_correct = self.worst_correct.max(report.correct.error);
        self.halvings += u64::from(report.halvings);
        self.blows += u64::from(report.blows);
        self.blows_left += u64::from(report.blows_left);
        self.worst_penetration = self.worst_penetration.max(report.penetration);
        self.worst_slip = self.worst_slip.max(report.slip);
        self.too_fast += u64::from(report.too_fast > 0);
        self.wild += u64::from(report.aim.wild);
        self.most_redundant = self.most_redundant.max(report.aim.redundant);
        for joint in &report.lost_joints {
            *self.lost.entry(*joint).or_default() += 1;
        }
        self.redundant.extend(&report.redundant_joints);
        self.methods = report.methods;
    }

    /// Takes in what became of membranes in a run with a finer mesh.
    pub fn set_finer(&mut self, finer: Vec<Torn>) {
        self.finer = finer;
    }

    /// What happened.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Steps that ran out of iterations.
    pub fn not_converged(&self) -> u64 {
        self.unconverged
    }

    /// The worst that was left of a tie or a contact, m.
    pub fn worst_error(&self) -> f64 {
        self.worst_aim
    }

    /// A quantile of the whole step, µs.
    pub fn step_cost(&self, fraction: f64) -> f64 {
        quantile(&self.sorted(Stage::COUNT), fraction)
    }

    fn sorted(&self, column: usize) -> Vec<f64> {
        let mut values: Vec<f64> = self.samples.iter().map(|s| f64::from(s[column])).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn lost_joints(&self, simulation: &Simulation) -> Vec<LostEntry> {
        let lost = self.lost.iter();
        lost.map(|(joint, steps)| LostEntry {
            name: joint_name(simulation, *joint),
            steps: *steps,
        })
        .collect()
    }

    /// Joints with rows that others already determine, by name.
    pub fn redundant_joints(&self, simulation: &Simulation) -> Vec<String> {
        let all = self.redundant.iter();
        all.map(|joint| joint_name(simulation, *joint)).collect()
    }

    /// Which way joints were solved in the last step.
    pub fn methods(&self) -> Methods {
        self.methods
    }

    /// Rows that others already determined in the step that had most of them.
    pub fn redundant_rows(&self) -> u32 {
        self.most_redundant
    }

    /// The document.
    pub fn json(
        &self,
        simulation: &Simulation,
        wall: Duration,
        threads: usize,
    ) -> serde_json::Result<String> {
        let names = Stage::NAMES.into_iter().chain(["step"]);
        let stages = names.enumerate().map(|(i, name)| {
            let sorted = self.sorted(i);
            let at = |fraction| quantile(&sorted, fraction);
            (
                name,
                Quantiles {
                    p50: at(0.5),
                    p95: at(0.95),
                    p99: at(0.99),
                },
            )
        });
        let simulated = simulation.state().time;
        serde_json::to_string_pretty(&Document {
            build: BUILD,
            scene: &simulation.model().name,
            scene_hash: format!("{:016x}", simulation.scene_hash()),
            machine: Machine::this(),
            threads,
            steps: simulation.steps(),
            step_seconds: simulation.model().step,
            simulated_seconds: simulated,
            wall_seconds: wall.as_secs_f64(),
            times_real_time: simulated / wall.as_secs_f64().max(1e-9),
            stage_microseconds: stages.collect(),
            substeps: self.most_substeps,
            substeps_short: self.most_short,
            stiff_groups: simulation.model().demands(),
            most_contacts: self.most_contacts,
            steps_not_converged: self.unconverged,
            worst_position_error_metres: self.worst_aim,
            worst_velocity_error: self.worst_correct,
            halved_substeps: self.halvings,
            blows: self.blows,
            blows_left: self.blows_left,
            worst_penetration_metres: self.worst_penetration,
            worst_slip: self.worst_slip,
            steps_with_too_fast_bodies: self.too_fast,
            steps_with_wild_joints: self.wild,
            joints_solved_by: self.methods,
            redundant_rows: self.most_redundant,
            redundant_joints: self.redundant_joints(simulation),
            lost_joints: self.lost_joints(simulation),
            joints: joints(simulation),
            membranes: simulation.torn(),
            finer_membranes: &self.finer,
            events: &self.events,
            final_hash: format!("{:016x}", simulation.hash()),
        })
    }
}

/// A joint's name, or which one it is.
fn joint_name(simulation: &Simulation, joint: u32) -> String {
    match simulation.model().joint_names.get(joint as usize) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("joint {}", joint + 1),
    }
}

fn joints(simulation: &Simulation) -> Vec<JointEntry<'_>> {
    let names = simulation.model().joint_names.iter().enumerate();
    let named = names.filter(|(_, name)| !name.is_empty());
    named
        .filter_map(|(k, name)| {
            let force = simulation.joint_force(k)?;
            Some(JointEntry { name, force })
        })
        .collect()
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    use anyhow::Context;
    let shown = path.display().to_string();
    let temporary = path.with_extension("part");
    std::fs::write(&temporary, text).with_context(|| format!("{shown} can't be written"))?;
    std::fs::rename(&temporary, path).with_context(|| format!("{shown} can't be written"))
}
