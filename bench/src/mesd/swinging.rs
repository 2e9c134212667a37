//! A net that swings, in the engine and plainly, and what a step of it costs.

use crate::{
    measure::{hush, time},
    naive::{Lean, Plain},
};
use anyhow::{Result, bail};
use glam::DVec3;
use trocar_dynamics::{Crew, Field, Matter, Nodes, masses::Brake};
use trocar_math::real;
use trocar_mesh::primitive::{SheetShape, TubeShape};
use trocar_soft::{Base, Element, Law, Material, Net, NetKind, NetParts, primitive};

/// Elements worked on in one sample, at least: some milliseconds.
const WORK: usize = 500_000;

/// Steps after which engine and naive loop are compared.
const COMPARED: usize = 20;

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
    twist: 0.0,
    bending: 0.0,
    brace: 0.0,
    gravity: false,
    integrator: trocar_dynamics::Integrator::Mesd,
    ground: None,
};

/// Damping of the dampers beside springs, N·s/m.
const BESIDE: f64 = 1e-4;

/// A square sheet of `side` × `side` nodes, 1 mm apart, springs only, without shape memory.
pub fn sheet(side: usize) -> Result<NetParts> {
    let shape = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X * 1e-3 * side as f64,
        v: DVec3::Z * 1e-3 * side as f64,
        rows: side,
        columns: side,
    };
    let material = Material {
        memory: 0.0,
        ..MATERIAL
    };
    let (surface, edges) = (shape.surface()?, shape.lattice_edges()?);
    Ok(primitive::sheet(&surface, &edges, &material))
}

/// Elements of such a sheet.
pub fn sheet_elements(side: usize) -> usize {
    (side - 1) * (4 * side - 2)
}

/// An organ of `rings` of `around` nodes, springs only, with shape memory and a father of all.
pub fn organ(rings: usize, around: usize) -> Result<NetParts> {
    let shape = TubeShape {
        path: vec![DVec3::X * -0.045, DVec3::ZERO, DVec3::X * 0.045],
        radii: vec![[0.017, 0.016]],
        up: DVec3::Y,
        rings,
        around,
    };
    Ok(primitive::organ(&shape.organ()?, &MATERIAL))
}

/// The same net with a damper beside every spring.
pub fn damped(mut parts: NetParts) -> NetParts {
    let beside = |e: &Element| Element {
        law: Law::damper(BESIDE),
        ..*e
    };
    let dampers: Vec<Element> = parts.elements.iter().map(beside).collect();
    parts.elements.extend(dampers);
    parts
}

/// A net that swings.
pub struct Swinging {
    net: Net,
    start: Nodes,
    nodes: Nodes,
    plain: Plain,
    /// If it is of springs alone.
    lean: Option<Lean>,
    h: f64,
    steps: usize,
    /// Springs, each with the damper beside it.
    pub elements: usize,
}

impl Swinging {
    /// Of these parts. The naive loop must do the same as the engine.
    pub fn new(parts: NetParts) -> Result<Self> {
        let springs = |e: &&Element| e.law.linear_damping().is_none();
        let elements = parts.elements.iter().filter(springs).count();
        let built: Vec<[u32; 2]> = parts.elements.iter().map(|e| e.nodes).collect();
        let net = Net::new(parts)?;
        let mut start = net.rest().clone();
        for (position, velocity) in start.position.iter().zip(&mut start.velocity) {
            // Waves a few centimetres long, so that every spring is strained.
            let wave = position.to_array().map(|x| real::sin(200.0 * x));
            *velocity = DVec3::new(wave[1], wave[2], wave[0]) * 0.01;
        }
        let plain = Plain::new(&net, built)?;
        let mut swinging = Self {
            // Half of what is stable.
            h: 0.5 * net.stable_step(),
            lean: Lean::of(&plain),
            plain,
            nodes: start.clone(),
            start,
            steps: WORK.div_ceil(elements),
            net,
            elements,
        };
        swinging.compare()?;
        Ok(swinging)
    }

    fn compare(&mut self) -> Result<()> {
        self.plain.copy_from(&self.start);
        if let Some(lean) = &mut self.lean {
            lean.copy_from(&self.start);
            (0..COMPARED).for_each(|_| lean.step(self.h));
        }
        for _ in 0..COMPARED {
            if !step(&self.net, &mut self.nodes, self.h, None) {
                bail!("the net left the world");
            }
            self.plain.step(self.h);
        }
        let [_, position] = self.plain.apart(&self.nodes);
        let lean = self.lean.as_ref().map_or(0.0, |l| l.apart(&self.nodes));
        // What is no number is apart, too.
        if !(position <= 1e-9 && lean <= 1e-9) {
            bail!(
                "after {COMPARED} steps, engine and naive loops lie {position} and {lean} m apart"
            );
        }
        Ok(())
    }

    /// A sample of the engine, alone or with a crew: ns per element and step.
    pub fn ours(&mut self, crew: Option<&Crew>) -> f64 {
        let (net, nodes, h, steps) = (&self.net, &mut self.nodes, self.h, self.steps);
        nodes.copy_from(&self.start);
        hush();
        // Not counted: it fetches everything into the cache, as far as there is room.
        step(net, nodes, h, crew);
        let mut sound = true;
        let seconds = time(|| (0..steps).for_each(|_| sound &= step(net, nodes, h, crew)));
        debug_assert!(sound);
        seconds * 1e9 / (steps * self.elements) as f64
    }

    /// A sample of the naive loop: ns per element and step.
    pub fn naive(&mut self) -> f64 {
        let (plain, h, steps) = (&mut self.plain, self.h, self.steps);
        plain.copy_from(&self.start);
        hush();
        plain.step(h);
        let seconds = time(|| (0..steps).for_each(|_| plain.step(h)));
        seconds * 1e9 / (steps * self.elements) as f64
    }

    /// A sample of the leanest scalar loop: ns per element and step; infinite if the net has more than springs.
    pub fn lean(&mut self) -> f64 {
        let (Some(lean), h, steps) = (&mut self.lean, self.h, self.steps) else {
            return f64::INFINITY;
        };
        lean.copy_from(&self.start);
        hush();
        lean.step(h);
        let seconds = time(|| (0..steps).for_each(|_| lean.step(h)));
        seconds * 1e9 / (steps * self.elements) as f64
    }

    /// Samples of the engine of two nets that share nothing, on a thread each: what either needed, ns per element and step.
    pub fn beside(&mut self, other: &mut Self) -> f64 {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| other.ours(None));
            let ours = self.ours(None);
            other.join().map_or(f64::NAN, |o| 0.5 * (ours + o))
        })
    }

    /// Bytes that a step of a sheet has to fetch and store for each element if nothing stays in the caches between
    /// its two halves, all of it once: forces read places, velocities, other ends and rest lengths and write forces; the motion reads
    /// all of these and masses, dampings and locks, and writes places and velocities.
    pub fn bytes(&self) -> f64 {
        const VECTOR: usize = size_of::<DVec3>();
        let node = 2 * VECTOR + VECTOR + 3 * VECTOR + 2 * VECTOR + 2 * size_of::<f64>() + 1;
        let element = size_of::<u32>() + size_of::<f64>();
        node as f64 * self.nodes.len() as f64 / self.elements as f64 + element as f64
    }
}

fn step(net: &Net, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) -> bool {
    let field = Field {
        time: 0.0,
        gravity: DVec3::ZERO,
    };
    match crew {
        Some(crew) => net.force_by(nodes, &field, crew),
        None => net.force(nodes, &field),
    }
    net.masses().brake_by(nodes, h, Brake::Implicit(1.0), crew);
    net.plan(nodes, h, None);
    match crew {
        Some(crew) => net.advance_by(nodes, h, crew),
        None => net.advance(nodes, h),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_and_naive_loop_agree_on_nets_of_all_kinds() {
        for (parts, springs) in [
            (sheet(9).unwrap(), true),
            (damped(sheet(9).unwrap()), true),
            (organ(11, 10).unwrap(), false),
            (damped(organ(11, 10).unwrap()), false),
        ] {
            let count = parts.nodes.len();
            let swinging = Swinging::new(parts).unwrap();
            assert_eq!(swinging.nodes.len(), count);
            assert_eq!(swinging.lean.is_some(), springs);
        }
    }

    #[test]
    fn sheets_have_as_many_elements_as_they_should() {
        for side in [5, 17] {
            assert_eq!(sheet(side).unwrap().elements.len(), sheet_elements(side));
        }
    }
}
