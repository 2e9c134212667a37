//! Kuhn's two models, block by block and as whole steps.

use super::kuhn::{KuhnModel, MACHINE, MODELS};
use crate::{
    measure::{Effort, Summary, interleave, time},
    naive::Plain,
    row::Row,
};
use anyhow::{Result, bail};
use std::{any::Any, cell::RefCell, f64::consts::TAU};
use trocar_dynamics::{Field, Matter, Nodes, masses::Brake};
use trocar_math::real;
use trocar_mesh::primitive::Lattice;
use trocar_scene::{Input, Simulation, Stage};
use trocar_soft::Net;

/// Simulated time until everything hangs still, s.
const SETTLE: f64 = 0.5;

/// How fast the grasper is pushed in, m/s.
const PUSH: f64 = 0.05;

/// So many contacts are several.
const SEVERAL: usize = 6;

/// How far the hand swings to and fro, rad, and how often, Hz: half a millimetre at the tip. A hand that rests
/// would let every branch be foreseen.
const SWING: (f64, f64) = (0.003, 2.0);

/// What we want of the first model's step with contact, µs.
const AIM: f64 = 30.0;

/// The stages that Kuhn calls interaction.
const INTERACTION: [Stage; 3] = [Stage::Broad, Stage::Detect, Stage::Aim];

/// All rows of both models.
pub fn models(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for model in &MODELS {
        eprintln!("mesd/models: {}", model.name);
        rows.extend(measure(model, effort)?);
    }
    Ok(rows)
}

fn measure(model: &KuhnModel, effort: Effort) -> Result<Vec<Row>> {
    let idle = RefCell::new(Performance::new(model)?);
    let touching = RefCell::new(Performance::new(model)?);
    touching.borrow_mut().press()?;
    let blocks = RefCell::new(Blocks::new(model, &touching.borrow())?);
    let (mut idle_inner, mut touching_inner) = (Vec::new(), Vec::new());

    let samples = interleave(
        model.name,
        effort.repeats(20_000, 3_000),
        &mut [
            &mut || idle.borrow_mut().step(&mut idle_inner),
            &mut || touching.borrow_mut().step(&mut touching_inner),
            &mut || blocks.borrow_mut().elements(&touching.borrow()),
            &mut || blocks.borrow_mut().naive_elements(&touching.borrow()),
            &mut || blocks.borrow_mut().forces(&touching.borrow()),
            &mut || blocks.borrow_mut().motion(&touching.borrow()),
        ],
    );
    for performance in [&idle, &touching] {
        performance.borrow().check()?;
    }

    let case = model.name;
    let summary = |i: usize| Summary::of(samples[i].iter().map(|s| s * 1e6));
    let row = |metric: &str, summary: Summary| Row::new(case, metric, summary, "µs");
    let kuhn =
        |metric: &str, summary: Summary, ms: f64| row(metric, summary).against(MACHINE, ms * 1e3);
    let times = &model.times;
    let [idle_touch, touching_touch] = [&idle_inner, &touching_inner].map(|inner| {
        let interaction = |t: &Told| {
            INTERACTION
                .iter()
                .map(|s| t.stages[*s as usize])
                .sum::<f64>()
        };
        Summary::of(inner.iter().map(|t| interaction(t) * 1e6))
    });
    let told = |of: &dyn Fn(&Told) -> f64| Summary::of(touching_inner.iter().map(of));
    let whole = summary(1);
    let whole_row = kuhn("whole step, contact", whole, times.cycle[1]);
    let mut rows = vec![
        row("springs and dampers", summary(2))
            .against("plain loop over structures", summary(3).median),
        kuhn("element block: all forces", summary(4), times.element_block),
        kuhn("node block: plan and advance", summary(5), times.node_block),
        kuhn("interaction, no contact", idle_touch, times.interaction[0]),
        kuhn("interaction, contact", touching_touch, times.interaction[1]),
        kuhn("whole step, no contact", summary(0), times.cycle[0]),
        if std::ptr::eq(model, &MODELS[0]) {
            whole_row.at_most(AIM)
        } else {
            whole_row
        },
    ];
    for (stage, name) in Stage::NAMES.iter().enumerate() {
        let cost = told(&|t| t.stages[stage] * 1e6);
        rows.push(row(&format!("  of it {name}"), cost).against("whole step", whole.median));
    }
    let unsolved = touching_inner.iter().filter(|t| !t.converged).count();
    let share = 100.0 * unsolved as f64 / touching_inner.len() as f64;
    let visit = |t: &Told| {
        let visits = t.contacts.max(1) * t.sweeps.max(1) as usize;
        t.stages[Stage::Aim as usize] * 1e9 / visits as f64
    };
    rows.extend([
        Row::new(case, "contacts", told(&|t| t.contacts as f64), ""),
        Row::new(
            case,
            "sweeps over contacts",
            told(&|t| f64::from(t.sweeps)),
            "",
        ),
        Row::new(case, "aim, per contact and sweep", told(&visit), "ns"),
        Row::new(case, "depth that is left", told(&|t| t.depth * 1e6), "µm"),
        Row::single(case, "steps that used up their sweeps", share, "%"),
    ]);
    Ok(rows)
}

/// What a step told of itself.
struct Told {
    stages: [f64; Stage::COUNT],
    contacts: usize,
    sweeps: u32,
    converged: bool,
    /// Deepest that anything still lies in the grasper, m.
    depth: f64,
}

/// A simulation that is stepped with one substep a step.
struct Performance {
    simulation: Simulation,
    input: Input,
    /// Where the hand swings about, once something is touched.
    rest: Option<f64>,
    trouble: Option<String>,
}

impl Performance {
    fn new(model: &KuhnModel) -> Result<Self> {
        let simulation = model.simulation()?;
        let mut input = simulation.idle_input();
        for group in &simulation.model().groups {
            // A hair less, so that rounding can't make it two.
            input.dt = input.dt.min(group.bounds.safe * 0.999);
        }
        let mut performance = Self {
            simulation,
            input,
            rest: None,
            trouble: None,
        };
        for _ in 0..(SETTLE / performance.input.dt) as usize {
            performance.simulation.step(&performance.input);
        }
        if performance.simulation.report().contacts > 0 {
            bail!("{}: the grasper touches something at the start", model.name);
        }
        Ok(performance)
    }

    /// Pushes the grasper in until several contacts last for a whole swing of the hand.
    fn press(&mut self) -> Result<()> {
        let deepest = self.simulation.model().tools[0].grasper.limits.depth[1];
        self.rest = Some(self.input.handles[0].yaw);
        let mut since = self.simulation.state().time;
        while self.simulation.state().time < since + 1.0 / SWING.1 {
            self.swing();
            if self.simulation.step(&self.input).contacts < SEVERAL {
                since = self.simulation.state().time;
                self.input.handles[0].depth += PUSH * self.input.dt;
            }
            if self.input.handles[0].depth > deepest {
                bail!("the grasper never touched the organ in {SEVERAL} places");
            }
        }
        Ok(())
    }

    /// Moves the hand, if it is to.
    fn swing(&mut self) {
        if let Some(yaw) = self.rest {
            let (reach, rate) = SWING;
            let angle = TAU * rate * self.simulation.state().time;
            self.input.handles[0].yaw = yaw + reach * real::sin(angle);
        }
    }

    /// One step; returns its time, s.
    fn step(&mut self, told: &mut Vec<Told>) -> f64 {
        self.swing();
        let seconds = time(|| {
            self.simulation.step(&self.input);
        });
        let report = self.simulation.report();
        if report.substeps != 1 || !report.events.is_empty() {
            self.trouble = Some(format!(
                "a step made {} substeps and told of {} events",
                report.substeps,
                report.events.len()
            ));
        }
        told.push(Told {
            stages: report.timings.stage,
            contacts: report.contacts,
            sweeps: report.aim.iterations,
            converged: report.aim.converged,
            depth: report.aim.error,
        });
        seconds
    }

    /// An error if a step was not as it should be.
    fn check(&self) -> Result<()> {
        match &self.trouble {
            Some(trouble) => bail!("{trouble}"),
            None => Ok(()),
        }
    }
}

/// Both nets of a model, apart from the simulation: each block is run on a copy of its state.
struct Blocks {
    nets: Vec<(usize, Net, Nodes)>,
    naive: Vec<Plain>,
    field: Field,
    h: f64,
}

impl Blocks {
    fn new(model: &KuhnModel, performance: &Performance) -> Result<Self> {
        let built = performance.simulation.model();
        let (mut nets, mut naive) = (Vec::new(), Vec::new());
        for (tissue, (counts, capped)) in built
            .tissues
            .iter()
            .zip([(model.organ, true), (model.pipe, false)])
        {
            let any: &dyn Any = &*built.matters[tissue.matter.index()];
            let Some(net) = any.downcast_ref::<Net>() else {
                bail!("the {} is not a net", tissue.name);
            };
            let edges = Lattice::tube(counts.rings, counts.around, capped)?.edges();
            let order = edges.iter().map(|e| e.nodes.map(|n| n + tissue.first));
            naive.push(Plain::new(net, order)?);
            nets.push((tissue.matter.index(), net.clone(), net.rest().clone()));
        }
        let mut blocks = Self {
            nets,
            naive,
            field: Field {
                time: 0.0,
                gravity: built.gravity,
            },
            h: performance.input.dt,
        };
        blocks.elements(performance);
        blocks.naive_elements(performance);
        for ((_, net, nodes), plain) in blocks.nets.iter().zip(&blocks.naive) {
            let [force, _] = plain.apart(nodes);
            if force > 1e-9 {
                let count = net.element_count();
                bail!("engine and naive loop differ by {force} N on a net of {count} elements");
            }
        }
        Ok(blocks)
    }

    /// Takes over the simulation's state, without forces.
    fn refresh(&mut self, performance: &Performance) {
        for (matter, _, nodes) in &mut self.nets {
            nodes.copy_from(&performance.simulation.state().nodes[*matter]);
            nodes.force.fill(glam::DVec3::ZERO);
            nodes.torque.fill(glam::DVec3::ZERO);
        }
    }

    fn elements(&mut self, performance: &Performance) -> f64 {
        self.refresh(performance);
        time(|| {
            for (_, net, nodes) in &mut self.nets {
                net.element_forces(nodes, self.field.time);
            }
        })
    }

    fn naive_elements(&mut self, performance: &Performance) -> f64 {
        for ((matter, ..), plain) in self.nets.iter().zip(&mut self.naive) {
            plain.copy_from(&performance.simulation.state().nodes[*matter]);
        }
        time(|| self.naive.iter_mut().for_each(Plain::element_forces))
    }

    fn forces(&mut self, performance: &Performance) -> f64 {
        self.refresh(performance);
        time(|| {
            for (_, net, nodes) in &mut self.nets {
                net.force(nodes, &self.field);
            }
        })
    }

    fn motion(&mut self, performance: &Performance) -> f64 {
        self.refresh(performance);
        for (_, net, nodes) in &mut self.nets {
            net.force(nodes, &self.field);
        }
        let mut sound = true;
        let seconds = time(|| {
            for (_, net, nodes) in &mut self.nets {
                net.masses().brake(nodes, self.h, Brake::Implicit(1.0));
                net.plan(nodes, self.h, None);
                sound &= net.advance(nodes, self.h);
            }
        });
        debug_assert!(sound);
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pressed in, so that what bends is bent, in arms of different lengths.
    #[test]
    fn engine_and_naive_loop_agree_on_both_models() {
        for model in &MODELS {
            let mut performance = Performance::new(model).unwrap();
            performance.press().unwrap();
            Blocks::new(model, &performance).unwrap();
        }
    }
}
