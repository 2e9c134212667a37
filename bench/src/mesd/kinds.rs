//! What an element costs in nets that are not as easy as a sheet of plain springs whose numbers follow its rows: numbers in disorder, laws with corners, laws that yield or are driven, a ground, integrators of two
//! stages, substeps that follow the state.

use super::swinging::{Swinging, damped, sheet, sheet_elements};
use crate::{
    measure::{Effort, Summary, hush, interleave, time},
    row::Row,
};
use anyhow::{Result, ensure};
use glam::DVec3;
use std::{cell::RefCell, hint::black_box};
use trocar_dynamics::{Crew, Field, Integrator, Matter, MatterId, Nodes, Stages};
use trocar_mesh::Surface;
use trocar_soft::{
    Active, Base, Drive, Law, Net, NetParts, Plastic, Signal, global::Sight, stability::Gauge,
};

/// Nodes along a side of the sheet: about a hundred thousand elements.
const SIDE: usize = 159;

/// Elements worked on in one sample, at least.
const WORK: usize = 300_000;

/// Node `i` of a net gets the number `new[i]`.
fn renumber(mut parts: NetParts, new: &[u32]) -> NetParts {
    let mut old = vec![0_usize; new.len()];
    for (i, n) in new.iter().enumerate() {
        old[*n as usize] = i;
    }
    fn moved<T: Clone>(list: &[T], old: &[usize]) -> Vec<T> {
        old.iter().map(|i| list[*i].clone()).collect()
    }
    parts.points = moved(&parts.points, &old);
    parts.nodes = moved(&parts.nodes, &old);
    parts.flags = moved(&parts.flags, &old);
    parts.memory = moved(&parts.memory, &old);
    for element in &mut parts.elements {
        element.nodes = element.nodes.map(|n| new[n as usize]);
    }
    for triangle in &mut parts.triangles {
        *triangle = triangle.map(|n| new[n as usize]);
    }
    parts
}

/// Any order, the same in every run.
fn disorder(count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for i in (1..count).rev() {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        order.swap(i, (seed % (i as u64 + 1)) as usize);
    }
    order
}

/// The numbers that `trocar mesh` gives the nodes of such a net.
fn in_order(parts: &NetParts) -> Vec<u32> {
    let mut surface = Surface {
        positions: parts.points.clone(),
        triangles: parts.triangles.clone(),
    };
    let mut new = vec![0; parts.points.len()];
    for (to, from) in (0..).zip(surface.put_in_order()) {
        new[from as usize] = to;
    }
    new
}

/// A net whose springs have another law.
fn with_law(mut parts: NetParts, law: impl Fn(Law) -> Law) -> NetParts {
    for element in &mut parts.elements {
        if element.law.linear_damping().is_none() {
            element.law = law(element.law);
        }
    }
    parts
}

/// A net that swings by any scheme, its forces gathered as the engine gathers them.
struct Staged {
    net: Net,
    start: Nodes,
    nodes: [Nodes; 1],
    stages: Stages,
    h: f64,
    steps: usize,
    elements: usize,
    /// s.
    time: f64,
    /// All numbers were numbers.
    sound: bool,
}

impl Staged {
    fn new(parts: NetParts) -> Result<Self> {
        let elements = parts.elements.iter();
        let elements = elements
            .filter(|e| e.law.linear_damping().is_none())
            .count();
        let net = Net::new(parts)?;
        let mut start = net.rest().clone();
        for (position, velocity) in start.position.iter().zip(&mut start.velocity) {
            let wave = position
                .to_array()
                .map(|x| trocar_math::real::sin(200.0 * x));
            *velocity = DVec3::new(wave[1], wave[2], wave[0]) * 0.01;
        }
        Ok(Self {
            h: 0.5 * net.stable_step(),
            nodes: [start.clone()],
            start,
            stages: Stages::default(),
            steps: WORK.div_ceil(elements),
            net,
            elements,
            time: 0.0,
            sound: true,
        })
    }

    fn step(&mut self, crew: Option<&Crew>) {
        let (net, h, now) = (&self.net, self.h, self.time);
        self.time += h;
        let evaluate = |nodes: &mut [Nodes], later: f64| {
            let field = Field {
                time: now + later,
                gravity: DVec3::ZERO,
            };
            match crew {
                Some(crew) => net.force_by(&mut nodes[0], &field, crew),
                None => net.force(&mut nodes[0], &field),
            }
        };
        let masses = |_| Some(net.masses());
        self.stages
            .gather(&masses, &mut self.nodes, h, crew, evaluate, |_| ());
        net.plan(&mut self.nodes[0], h, crew);
        self.sound &= match crew {
            Some(crew) => net.advance_by(&mut self.nodes[0], h, crew),
            None => net.advance(&mut self.nodes[0], h),
        };
    }

    /// ns per element and step.
    fn sample(&mut self, crew: Option<&Crew>) -> f64 {
        self.nodes[0].copy_from(&self.start);
        hush();
        self.step(crew);
        let seconds = time(|| (0..self.steps).for_each(|_| self.step(crew)));
        seconds * 1e9 / (self.steps * self.elements) as f64
    }
}

/// Nets of all kinds, beside the sheet of springs and dampers.
fn others() -> Result<Vec<(&'static str, NetParts)>> {
    let sheet = || Ok::<_, anyhow::Error>(damped(sheet(SIDE)?));
    let with = |integrator: Integrator| {
        Ok::<_, anyhow::Error>(NetParts {
            integrator,
            ..sheet()?
        })
    };
    let mut driven = sheet()?;
    driven.signals = vec![Signal::Sine {
        mean: 0.0,
        amplitude: 1.0,
        rate: 1.0,
        phase: 0.0,
    }];
    let springs = driven.elements.len() / 2;
    driven.actives = (0..springs as u32)
        .map(|element| Active {
            element,
            signal: 0,
            drive: Drive::Length(0.1),
        })
        .collect();
    Ok(vec![
        ("springs and dampers", sheet()?),
        (
            "quadratic springs, dampers",
            with_law(sheet()?, |law| Law {
                base: Base::Quadratic,
                constant: 1e3 * law.constant,
                ..law
            }),
        ),
        (
            "dead zones, limits, dampers",
            with_law(sheet()?, |law| Law {
                dead: [1e-6, 2e-6],
                limit: [1.0, 2.0],
                ..law
            }),
        ),
        (
            "springs that yield, dampers",
            with_law(sheet()?, |law| Law {
                plastic: Some(Plastic {
                    yield_strain: 0.001,
                    hardening: 0.1,
                    most: 0.5,
                }),
                ..law
            }),
        ),
        ("driven springs, dampers", driven),
        (
            "on the ground",
            NetParts {
                ground: Some(-1e-4),
                ..sheet()?
            },
        ),
        (
            "modified Runge-Kutta, two stages",
            with(Integrator::ModifiedRungeKutta)?,
        ),
        ("modified Heun, two stages", with(Integrator::ModifiedHeun)?),
        ("Heun, two stages", with(Integrator::Heun)?),
        ("Euler-Cauchy", with(Integrator::Euler)?),
    ])
}

/// All rows.
pub fn kinds(effort: Effort) -> Result<Vec<Row>> {
    let crew = Crew::new(2);
    let mut rows = numbers(effort)?;
    let mut nets = Vec::new();
    for (name, parts) in others()? {
        eprintln!("mesd/kinds: {name}");
        nets.push((name, RefCell::new(Staged::new(parts)?)));
    }
    let mut jobs: Vec<Box<dyn FnMut() -> f64 + '_>> = Vec::new();
    for (_, net) in &nets {
        jobs.push(Box::new(|| net.borrow_mut().sample(None)));
        let crew = &crew;
        jobs.push(Box::new(move || net.borrow_mut().sample(Some(crew))));
    }
    let mut jobs: Vec<&mut dyn FnMut() -> f64> = jobs.iter_mut().map(|j| &mut **j as _).collect();
    let samples = interleave("mesd/kinds", effort.repeats(31, 7), &mut jobs);
    drop(jobs);
    for (name, net) in &nets {
        ensure!(net.borrow().sound, "{name}: a number was none");
    }
    let easy = Summary::of(samples[0].iter().copied()).median;
    for (k, (name, _)) in nets.iter().enumerate() {
        let (one, two) = (&samples[2 * k], &samples[2 * k + 1]);
        let case = format!("sheet, {} elements, {name}", sheet_elements(SIDE));
        let cost = Summary::of(one.iter().copied());
        rows.push(
            Row::new(&case, "step per element, one thread", cost, "ns")
                .against("springs and dampers", easy),
        );
        let gain = Summary::of(one.iter().zip(two).map(|(a, b)| a / b));
        rows.push(Row::new(&case, "one thread over two", gain, ""));
    }
    rows.extend(gauge(effort, &crew)?);
    Ok(rows)
}

/// Numbers in disorder, and put in order again.
fn numbers(effort: Effort) -> Result<Vec<Row>> {
    let rows = || sheet(SIDE);
    let wild = disorder(rows()?.points.len());
    let shuffled = || Ok::<_, anyhow::Error>(renumber(rows()?, &wild));
    let order = in_order(&shuffled()?);
    let ordered = renumber(shuffled()?, &order);
    let nets = [
        ("numbers along its rows", damped(rows()?)),
        ("numbers at random", damped(shuffled()?)),
        ("put in order again", damped(ordered)),
    ];
    let mut named = Vec::new();
    for (name, parts) in nets {
        eprintln!("mesd/kinds: {name}");
        named.push((name, RefCell::new(Swinging::new(parts)?)));
    }
    let mut jobs: Vec<Box<dyn FnMut() -> f64 + '_>> = Vec::new();
    for (_, net) in &named {
        jobs.push(Box::new(|| net.borrow_mut().ours(None)));
        jobs.push(Box::new(|| net.borrow_mut().naive()));
    }
    let mut jobs: Vec<&mut dyn FnMut() -> f64> = jobs.iter_mut().map(|j| &mut **j as _).collect();
    let samples = interleave("mesd/kinds", effort.repeats(31, 7), &mut jobs);
    drop(jobs);
    let mut all = Vec::new();
    for (k, (name, _)) in named.iter().enumerate() {
        let (ours, plain) = (&samples[2 * k], &samples[2 * k + 1]);
        let case = format!("sheet, {} elements, {name}", sheet_elements(SIDE));
        let cost = |list: &[f64]| Summary::of(list.iter().copied());
        all.push(
            Row::new(&case, "step per spring and damper", cost(ours), "ns")
                .against("plain loop", cost(plain).median),
        );
    }
    Ok(all)
}

/// What we want of a look in substeps: where it is taken most often, in every fourth, it then costs less than they do.
const LOOK: f64 = 3.0;

/// What it takes to find how long a substep may be now (KB9): once a step where all is linear, else in every fourth substep or oftener.
fn gauge(effort: Effort, crew: &Crew) -> Result<Vec<Row>> {
    let looked = [
        ("springs and dampers", "a look at an element, once a step"),
        (
            "quadratic springs, dampers",
            "a look at an element, in every fourth substep or oftener",
        ),
    ];
    let mut rows = Vec::new();
    for (name, parts) in others()? {
        let Some((_, metric)) = looked.iter().find(|l| l.0 == name) else {
            continue;
        };
        let net = Net::new(parts.clone())?;
        let elements = sheet_elements(SIDE);
        let substep = RefCell::new(Staged::new(parts)?);
        let state = RefCell::new((Gauge::default(), [substep.borrow().start.clone()]));
        let matter: &dyn Matter = &net;
        let look = |crew: Option<&Crew>| {
            let (gauge, nodes) = &mut *state.borrow_mut();
            hush();
            let sight = Sight {
                matter: |_: MatterId| matter,
                slot: &[0],
            };
            let seconds = time(|| {
                black_box(gauge.bound(&|_| Some(&net), nodes, (&[], &[]), &sight, (0.0, crew)));
            });
            seconds * 1e9 / elements as f64
        };
        let samples = interleave(
            "mesd/kinds",
            effort.repeats(61, 21),
            &mut [&mut || look(None), &mut || look(Some(crew)), &mut || {
                substep.borrow_mut().sample(None)
            }],
        );
        let case = format!("sheet, {elements} elements, {name}, substeps that follow the state");
        let over = |k: usize, l: usize| {
            let pairs = samples[k].iter().zip(&samples[l]);
            Summary::of(pairs.map(|(a, b)| a / b))
        };
        let cost = Summary::of(samples[0].iter().copied());
        rows.push(Row::new(&case, metric, cost, "ns"));
        rows.push(Row::new(&case, "one thread over two", over(0, 1), ""));
        rows.push(Row::new(&case, "a look over a substep", over(0, 2), "").at_most(LOOK));
    }
    ensure!(rows.len() == 3 * looked.len(), "a net has another name");
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trocar_soft::Input;

    #[test]
    fn numbers_change_nothing_else() {
        let parts = damped(sheet(7).unwrap());
        let wild = renumber(parts.clone(), &disorder(parts.points.len()));
        let [a, b] = [parts, wild].map(|p| Net::new(p).unwrap());
        assert!((a.stable_step() / b.stable_step() - 1.0).abs() < 1e-9);
        let sum = |net: &Net| net.elements().map(|e| e.rest_length).sum::<f64>();
        assert!((sum(&a) - sum(&b)).abs() < 1e-12);
        for e in b.elements() {
            let [p, q] = e.nodes.map(|n| b.rest().position[n as usize]);
            assert!((p.distance(q) - e.rest_length).abs() < 1e-12);
        }
    }

    #[test]
    fn all_kinds_run() {
        for (name, parts) in others().unwrap() {
            let mut net = Staged::new(parts).unwrap();
            let mut forces = net.start.clone();
            net.net.element_forces(&mut forces, 0.0);
            let mut plain = vec![DVec3::ZERO; forces.len()];
            for (i, e) in net.net.elements().enumerate() {
                let [a, b] = e.nodes.map(|n| n as usize);
                let between = match e.law.input {
                    Input::Distance => forces.position[a] - forces.position[b],
                    Input::Velocity => forces.velocity[a] - forces.velocity[b],
                };
                let force = between.normalize_or_zero() * -net.net.tension(&forces, i, 0.0);
                plain[a] += force;
                plain[b] -= force;
            }
            let apart = forces.force.iter().zip(&plain);
            let apart = apart.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            let most = plain.iter().map(|f| f.length()).fold(0.0, f64::max);
            assert!(apart <= 1e-9 * most, "{name}: {apart} of {most}");
            for _ in 0..3 {
                net.step(None);
            }
            assert!(net.sound, "{name}");
        }
    }
}
