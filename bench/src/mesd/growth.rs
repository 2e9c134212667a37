//! What an element costs as the net grows.

use crate::{
    measure::{Effort, Summary, interleave, time},
    naive::Plain,
    row::Row,
};
use anyhow::{Result, bail};
use glam::DVec3;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::real;
use trocar_mesh::primitive::TubeShape;
use trocar_soft::{Base, Material, Net, NetKind, primitive};

/// Rings and nodes in each: 1, 10, 100 and 300 times the 756 elements of Kuhn's gall bladder.
const SIZES: [(usize, usize, usize); 4] =
    [(1, 16, 12), (10, 50, 38), (100, 158, 120), (300, 273, 208)];

/// Elements worked on in one sample, at least: some milliseconds.
const WORK: usize = 1_000_000;

/// Steps after which engine and naive loop are compared.
const COMPARED: usize = 20;

/// What we want: cost per element of the largest net over that of the smallest.
const AIM: f64 = 1.5;

/// What we want of the exponent with which the step grows (B4).
const EXPONENT: f64 = 1.05;

/// Little damping: a net that came to rest would work on denormal numbers.
const MATERIAL: Material = Material {
    mass: 5e-4,
    damping: 1e-5,
    stiffness: 90.0,
    base: Base::Linear,
    gain: [1.0; 2],
    dead: [0.0; 2],
    limit: [f64::INFINITY; 2],
    shorten: 0.0,
    plastic: None,
    net: NetKind::C,
    memory: 14.0,
    memory_base: Base::Linear,
    centre_mass: 0.02,
    centre_damping: 1e-3,
    turn_damping: 1e-6,
    centre_stiffness: 0.0,
    torsion: 0.0,
    bending: 0.0,
    brace: 0.0,
    gravity: false,
    integrator: trocar_dynamics::Integrator::Mesd,
    ground: None,
};

/// All rows.
pub fn growth(effort: Effort) -> Result<Vec<Row>> {
    let mut nets = Vec::new();
    for (times, rings, around) in SIZES {
        eprintln!("mesd/growth: a net {times} times as large");
        nets.push(Swinging::new(rings, around)?);
    }
    let (mut ours, mut plain): (Vec<_>, Vec<_>) = nets.iter_mut().map(Swinging::split).unzip();
    let mut jobs: Vec<&mut dyn FnMut() -> f64> = Vec::new();
    for (a, b) in ours.iter_mut().zip(&mut plain) {
        jobs.push(a);
        jobs.push(b);
    }
    let samples = interleave("mesd/growth", effort.repeats(41, 9), &mut jobs);

    let mut rows = Vec::new();
    let mut points = Vec::new();
    for ((times, rings, around), pair) in SIZES.into_iter().zip(samples.chunks(2)) {
        let [ours, plain] = [0, 1].map(|k| Summary::of(pair[k].iter().copied()));
        let elements = element_count(rings, around);
        let case = format!("organ ×{times}");
        let metric = format!("step per element, {elements} elements");
        rows.push(Row::new(&case, &metric, ours, "ns").against("plain loop", plain.median));
        points.push((elements as f64, ours.median * elements as f64));
    }
    // The ratio is taken within each round, so that a busy moment falls on both.
    let largest = samples.len() - 2;
    let ratio = |first: usize| {
        let pairs = samples[largest + first].iter().zip(&samples[first]);
        Summary::of(pairs.map(|(large, small)| large / small))
    };
    let metric = "step per element, ×300 over ×1";
    rows.push(
        Row::new("organ growing", metric, ratio(0), "")
            .against("plain loop", ratio(1).median)
            .at_most(AIM),
    );
    let exponent = slope(&points);
    rows.push(
        Row::single("organ growing", "exponent of the step's time", exponent, "").at_most(EXPONENT),
    );
    Ok(rows)
}

/// Edges of net C on a closed tube.
fn element_count(rings: usize, around: usize) -> usize {
    around * (4 * rings - 1)
}

/// Slope of ln y over ln x, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<_> = points
        .iter()
        .map(|(x, y)| (real::ln(*x), real::ln(*y)))
        .collect();
    let n = logs.len() as f64;
    let (x, y) = logs
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>()
}

/// An organ that swings, in the engine and plainly.
struct Swinging {
    net: Net,
    start: Nodes,
    nodes: Nodes,
    plain: Plain,
    h: f64,
    steps: usize,
}

impl Swinging {
    fn new(rings: usize, around: usize) -> Result<Self> {
        let shape = TubeShape {
            path: vec![DVec3::X * -0.045, DVec3::ZERO, DVec3::X * 0.045],
            radii: vec![[0.017, 0.016]],
            up: DVec3::Y,
            rings,
            around,
        };
        let parts = primitive::organ(&shape.organ()?, &MATERIAL);
        let built: Vec<[u32; 2]> = parts.elements.iter().map(|e| e.nodes).collect();
        let net = Net::new(parts)?;
        let elements = net.element_count();
        if elements != element_count(rings, around) {
            bail!("an organ of {rings} × {around} nodes has {elements} elements");
        }
        let mut start = net.rest().clone();
        for (position, velocity) in start.position.iter().zip(&mut start.velocity) {
            // Waves a few centimetres long, so that every spring is strained.
            let wave = position.to_array().map(|x| real::sin(200.0 * x));
            *velocity = DVec3::new(wave[1], wave[2], wave[0]) * 0.01;
        }
        let mut swinging = Self {
            // Half of what is stable.
            h: 0.5 * net.stable_step(),
            plain: Plain::new(&net, built)?,
            nodes: start.clone(),
            start,
            steps: WORK.div_ceil(elements),
            net,
        };
        swinging.compare()?;
        Ok(swinging)
    }

    /// The naive loop must do the same.
    fn compare(&mut self) -> Result<()> {
        self.plain.copy_from(&self.start);
        for _ in 0..COMPARED {
            if !step(&self.net, &mut self.nodes, self.h) {
                bail!("the organ left the world");
            }
            self.plain.step(self.h);
        }
        let [_, position] = self.plain.apart(&self.nodes);
        if position > 1e-9 {
            bail!("after {COMPARED} steps, engine and naive loop lie {position} m apart");
        }
        Ok(())
    }

    /// A sample of the engine and one of the naive loop: ns per element and step.
    fn split(&mut self) -> (impl FnMut() -> f64, impl FnMut() -> f64) {
        let Self {
            net,
            start,
            nodes,
            plain,
            h,
            steps,
        } = self;
        let (h, steps) = (*h, *steps);
        let per_element = 1e9 / (steps * net.element_count()) as f64;
        let begin: &Nodes = start;
        let ours = move || {
            nodes.copy_from(begin);
            // Not counted: it fetches everything into the cache, as far as there is room.
            step(net, nodes, h);
            let mut sound = true;
            let seconds = time(|| (0..steps).for_each(|_| sound &= step(net, nodes, h)));
            debug_assert!(sound);
            seconds * per_element
        };
        let naive = move || {
            plain.copy_from(begin);
            plain.step(h);
            time(|| (0..steps).for_each(|_| plain.step(h))) * per_element
        };
        (ours, naive)
    }
}

fn step(net: &Net, nodes: &mut Nodes, h: f64) -> bool {
    let field = Field {
        time: 0.0,
        gravity: DVec3::ZERO,
    };
    net.force(nodes, &field);
    net.plan(nodes, h);
    net.advance(nodes, h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_what_they_are_called() {
        for (times, rings, around) in SIZES {
            let ratio = element_count(rings, around) as f64 / (756 * times) as f64;
            assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
        }
    }

    #[test]
    fn engine_and_naive_loop_agree_on_the_smaller_nets() {
        for (_, rings, around) in &SIZES[..2] {
            Swinging::new(*rings, *around).unwrap();
        }
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points = [1.0, 10.0, 100.0, 300.0].map(|x: f64| (x, 7.0 * x * x.sqrt()));
        assert!((slope(&points) - 1.5).abs() < 1e-12);
    }
}
