//! What the sweep over single nets has little of: families of two and three generations, nets coupled by copies, quadratic dampers, nets that are hardly damped and are judged by
//! their energy, and substeps as long as the present state allows (KB9), under hard pulls. At random, below their bounds (K8, K69).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    random::{Dice, Made, law, net},
    step_with,
};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Anchor, Field, Lock, MassNode, Matter, MatterId, Nodes, Rigid, Stages};
use trocar_math::Pose;
use trocar_soft::{
    Base, Element, Global, Hyper, Law, Link, Net, NetParts, NodeFlags,
    element::Input,
    global::{End, Sight},
    hyper,
    net::Torsion,
    stability::{self, Gauge, Tempo},
};

/// `TROCAR_LONG` makes the sweeps longer.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let long = std::env::var("TROCAR_LONG").ok();
    let long = long.and_then(|x| x.parse::<u64>().ok()).unwrap_or(1);
    0..count * long.max(1)
}

/// A chain of two or three central nodes, each the father of the next, with points around each of them and springs from point to point.
fn family(dice: &mut Dice) -> Made {
    let (depth, each) = (2 + dice.below(2), 3 + dice.below(3));
    let (cell, stiff, mass) = (
        dice.scale(5e-3, 3e-2),
        dice.scale(1.0, 100.0),
        dice.scale(3e-4, 3e-3),
    );
    let damping = dice.scale(0.1, 2.0) * (mass * stiff).sqrt();
    let mut parts = NetParts {
        mobile: true,
        ..NetParts::default()
    };
    let weight = mass * each as f64 * dice.scale(0.5, 3.0);
    for z in 0..depth {
        let place = DVec3::X * (2.0 * cell * z as f64) + dice.vector(0.3 * cell);
        parts.frames.push(Pose::new(place, DQuat::IDENTITY));
        parts.nodes.push(MassNode {
            damping: damping * dice.between(0.5, 3.0),
            father: z.checked_sub(1).map(|f| f as u32),
            rigid: Some(Rigid {
                inertia: Some(DVec3::splat(weight * cell * cell) * dice.between(0.5, 2.0)),
                damping: damping * cell * cell,
                ..Rigid::default()
            }),
            ..MassNode::point(weight)
        });
        let held = z > 0 || dice.once_in(2);
        parts.memory.push(if held {
            stiff * dice.between(0.5, 3.0)
        } else {
            0.0
        });
        if dice.once_in(2) {
            parts.torsions.push(Torsion {
                frame: z as u32,
                constant: stiff * cell * cell * dice.next(),
            });
        }
    }
    for z in 0..depth {
        for _ in 0..each {
            let place = parts.frames[z].position + dice.vector(cell);
            parts.points.push(place);
            parts.nodes.push(MassNode {
                damping,
                father: Some(z as u32),
                lock: if dice.once_in(20) {
                    Lock::Fixed
                } else {
                    Lock::Free
                },
                ..MassNode::point(mass)
            });
            parts.memory.push(stiff * dice.next());
        }
    }
    let count = parts.points.len();
    for i in 0..count {
        for j in (i + 1)..count.min(i + 3) {
            let rest_length = parts.points[i].distance(parts.points[j]);
            parts.elements.push(Element {
                nodes: [i, j].map(|n| (depth + n) as u32),
                rest_length,
                law: law(dice, stiff, cell),
            });
        }
    }
    parts.flags = vec![NodeFlags::default(); depth + count];
    Made {
        parts,
        globals: Vec::new(),
        cell,
        stiff,
        mass,
    }
}

/// Kicks nets about for forty substeps of `h` seconds and lets them be for eighty. Returns how far a node came from where it was built, m.
fn stirred(
    nets: &[Net],
    (hypers, globals): (&[Hyper], &[Global]),
    dice: &mut Dice,
    (speed, push, h): (f64, f64, f64),
) -> Result<f64, String> {
    let matters: Vec<Box<dyn Matter>> = nets.iter().map(|n| Box::new(n.clone()) as _).collect();
    let mut nodes: Vec<Nodes> = nets.iter().map(|n| n.rest().clone()).collect();
    for v in nodes.iter_mut().flat_map(|n| &mut n.velocity) {
        *v = dice.vector(speed);
    }
    let mut globals = globals.to_vec();
    let mut most = 0.0_f64;
    for i in 0..120 {
        if i < 40 {
            let n = dice.below(nets.len());
            let k = dice.below(nodes[n].len());
            let mass = nets[n].masses().mass()[k];
            nodes[n].velocity[k] += dice.vector(push) * (h / mass);
        }
        let field = Field {
            time: f64::from(i) * h,
            gravity: DVec3::Y * -9.81,
        };
        if !step_with(&matters, &mut nodes, (hypers, &mut globals), &field, h) {
            return Err(format!("left the world in step {i}"));
        }
        for (net, nodes) in nets.iter().zip(&nodes) {
            for (now, then) in nodes.position.iter().zip(&net.rest().position) {
                most = most.max(now.distance(*then));
            }
        }
    }
    Ok(most)
}

/// Gathers what went wrong.
#[derive(Debug, Default)]
struct Found {
    tried: usize,
    refused: usize,
    largest: f64,
    wild: Vec<String>,
}

impl Found {
    fn note(&mut self, seed: u64, cell: f64, result: Result<f64, String>) {
        self.tried += 1;
        match result {
            Ok(most) if most < 10.0 * cell => self.largest = self.largest.max(most / cell),
            other => self
                .wild
                .push(format!("{seed}: {other:?}, cells of {cell}")),
        }
    }

    fn judge(&self, least: usize) {
        // Explicit dampers may be stronger than what schemes without mass divide by: such nets are refused.
        println!("{self:?}");
        assert!(self.wild.is_empty(), "{:#?}", self.wild);
        assert!(
            self.tried >= least && self.refused * 10 < self.tried,
            "{self:?}"
        );
    }
}

#[test]
fn families_of_two_and_three_generations() {
    let mut found = Found::default();
    for seed in seeds(160) {
        let mut dice = Dice(seed ^ 0xFA_4417);
        let made = family(&mut dice);
        let net = Net::new(made.parts).unwrap();
        let bounds = stability::bounds(&[&net], &[]);
        if bounds.flutters {
            found.refused += 1;
            continue;
        }
        let stir = (
            0.2 * made.cell * (made.stiff / made.mass).sqrt(),
            0.2 * made.stiff * made.cell,
            0.95 * bounds.safe.min(0.1),
        );
        // Some families hang on nothing and drift as they were kicked.
        found.note(
            seed,
            2.0 * made.cell,
            stirred(&[net], (&[], &[]), &mut dice, stir),
        );
    }
    found.judge(150);
}

/// Torsion of central nodes to space and against each other, bends at nodes between others and places, springs of any law to places.
fn held(dice: &mut Dice, made: &Made) -> Vec<Global> {
    let (frames, count) = (made.parts.frames.len(), made.parts.nodes.len());
    let place = |n: usize| match n.checked_sub(frames) {
        Some(point) => made.parts.points[point],
        None => made.parts.frames[n].position,
    };
    let on = |n: usize| End::On(Anchor::node(MatterId(0), n as u32));
    let frame = |n: usize| End::On(Anchor::frame(MatterId(0), n as u32, DVec3::ZERO));
    let (k, cell) = (made.stiff * dice.scale(0.1, 3.0), made.cell);
    let torsion = |ends| Global::torsion(ends, k * cell * cell, [DQuat::IDENTITY; 2]);
    let (z, other) = (dice.below(frames), dice.below(frames));
    let mut globals = vec![torsion([frame(z), End::At(DVec3::ZERO)])];
    if z != other {
        globals.push(torsion([frame(z), frame(other)]));
    }
    let (a, middle) = (dice.below(count), dice.below(count));
    let to = place(middle) + dice.vector(2.0 * cell);
    let bend = |ends, places| Global::bend(ends, k * cell, places);
    if a == middle {
        let from = to + dice.vector(2.0 * cell);
        let ends = [End::At(from), on(middle), End::At(to)];
        globals.push(bend(ends, [from, place(middle), to]));
    } else {
        let ends = [on(a), on(middle), End::At(to)];
        globals.push(bend(ends, [place(a), place(middle), to]));
    }
    let law = law(dice, made.stiff, cell);
    let link = Link::new(place(a).distance(to), law);
    globals.push(Global::link([on(a), End::At(to)], link));
    globals
}

#[test]
fn families_that_are_held_by_elements_of_every_kind() {
    let mut found = Found::default();
    for seed in seeds(160) {
        let mut dice = Dice(seed ^ 0x70_4510);
        let mut made = family(&mut dice);
        let globals = held(&mut dice, &made);
        let net = Net::new(std::mem::take(&mut made.parts)).unwrap();
        let bounds = stability::bounds_with(&[&net], &[], &globals);
        if bounds.flutters {
            found.refused += 1;
            continue;
        }
        let stir = (
            0.2 * made.cell * (made.stiff / made.mass).sqrt(),
            0.2 * made.stiff * made.cell,
            0.95 * bounds.safe.min(0.1),
        );
        let far = stirred(&[net], (&[], &globals), &mut dice, stir);
        found.note(seed, 2.0 * made.cell, far);
    }
    found.judge(150);
}

#[test]
fn nets_coupled_by_copies() {
    let mut found = Found::default();
    let mut seed = 0;
    for pair in seeds(60) {
        // Two nets of one size without fathers and ties.
        let mut dice = Dice(pair ^ 0xC0_0913);
        let mut next = || loop {
            seed += 1;
            let made = net(&mut Dice(seed));
            let free = |n: &MassNode| n.lock == Lock::Free;
            let (first, last) = (made.parts.nodes.first(), made.parts.nodes.last());
            let ends = first.is_some_and(free) && last.is_some_and(free);
            if made.parts.frames.is_empty() && made.globals.is_empty() && ends {
                return made;
            }
        };
        let (a, mut b) = (next(), next());
        let factor = [0.3, 1.0, 1.0][dice.below(3)];
        let place = *a.parts.points.last().unwrap();
        // The copy is where its master is, and its springs are as long as they are there.
        let shift = place - b.parts.points[0];
        b.parts.points.iter_mut().for_each(|p| *p += shift);
        b.parts.ground = b.parts.ground.map(|height| height + shift.y);
        for own in &mut b.parts.own_memory {
            own.place = own.place.map(|p| p + shift);
        }
        let (mut leads, mut follows) = (Net::new(a.parts).unwrap(), Net::new(b.parts).unwrap());
        let pair = Hyper {
            master: (MatterId(0), leads.rest().len() as u32 - 1),
            slave: (MatterId(1), 0),
            factor,
        };
        hyper::mark(&pair, MatterId(0), &mut leads);
        hyper::mark(&pair, MatterId(1), &mut follows);
        leads.load(pair.master.1 as usize, factor * follows.weight(0));
        let bounds = stability::bounds(&[&leads, &follows], &[pair]);
        if bounds.flutters {
            found.refused += 1;
            continue;
        }
        let (cell, stiff, mass) = (a.cell.min(b.cell), a.stiff.min(b.stiff), a.mass.max(b.mass));
        let stir = (
            0.2 * cell * (stiff / mass).sqrt(),
            0.2 * stiff * cell,
            0.95 * bounds.safe.min(0.1),
        );
        let nets = [leads, follows];
        let far = a.cell.max(b.cell);
        found.note(seed, far, stirred(&nets, (&[pair], &[]), &mut dice, stir));
    }
    found.judge(50);
}

#[test]
fn quadratic_dampers() {
    let mut found = Found::default();
    for seed in seeds(300) {
        let mut made = net(&mut Dice(seed ^ 0xDA_3399));
        if !made.parts.frames.is_empty() || !made.globals.is_empty() {
            continue;
        }
        let mut dice = Dice(seed);
        // They are judged at a metre a second, and nothing here is faster than half of that.
        let damping = made.parts.nodes[0].damping;
        for e in made.parts.elements.clone() {
            if e.law.input == Input::Distance && dice.once_in(2) {
                let drag = Law::damper(dice.scale(0.1, 5.0) * damping);
                made.parts.elements.push(Element {
                    law: Law {
                        base: Base::Quadratic,
                        ..drag
                    },
                    ..e
                });
            }
        }
        let net = Net::new(made.parts).unwrap();
        let bound = net.stable_step();
        if bound == 0.0 {
            found.refused += 1;
            continue;
        }
        let speed = (0.2 * made.cell * (made.stiff / made.mass).sqrt()).min(0.2);
        let h = 0.95 * bound.min(0.1);
        let push = (0.2 * made.stiff * made.cell).min(0.2 * made.mass / h);
        found.note(
            seed,
            made.cell,
            stirred(&[net], (&[], &[]), &mut dice, (speed, push, h)),
        );
    }
    found.judge(200);
}

/// Hardly damped, linear, conservative: what was put in does not grow. At half the bound the energy of the scheme swings by less than half of itself.
#[test]
fn what_is_hardly_damped_does_not_gain_energy() {
    let mut found = 0;
    for seed in seeds(200) {
        let mut made = net(&mut Dice(seed ^ 0xE4_E499));
        if !made.parts.frames.is_empty() || !made.globals.is_empty() {
            continue;
        }
        let parts = &mut made.parts;
        parts.gravity = false;
        parts.integrator = trocar_dynamics::Integrator::Mesd;
        parts.actives.clear();
        parts.memory_base = Base::Linear;
        parts.memory.iter_mut().for_each(|m| *m = m.min(made.stiff));
        parts.elements.retain(|e| e.law.input == Input::Distance);
        for e in &mut parts.elements {
            e.law = Law::spring(made.stiff);
        }
        parts.bends.clear();
        let critical = (made.mass * made.stiff).sqrt();
        let mut dice = Dice(seed);
        for node in &mut parts.nodes {
            node.damping = dice.scale(1e-4, 1e-2) * critical;
            if matches!(node.lock, Lock::Axes(..)) {
                node.lock = Lock::Free;
            }
        }
        let net = Net::new(made.parts).unwrap();
        let h = 0.5 * net.stable_step();
        let mut nodes = net.rest().clone();
        for v in &mut nodes.velocity {
            *v = dice.vector(0.05 * made.cell * (made.stiff / made.mass).sqrt());
        }
        let rest = net.elastic_energy(net.rest(), 0.0);
        let mut most = [0.0_f64; 4];
        for i in 0..1200 {
            net.force(&mut nodes, &common::REST);
            net.plan(&mut nodes, h, None);
            assert!(net.advance(&mut nodes, h), "{seed}");
            let energy = net.kinetic_energy(&nodes) + net.elastic_energy(&nodes, 0.0);
            most[i / 300] = most[i / 300].max(energy);
        }
        // What was shortened had energy at the start, and gives it to the swing.
        let given = most[0] + rest;
        for later in &most[1..] {
            assert!(*later < 1.05 * given, "net {seed}: {most:?} {rest}");
        }
        found += 1;
    }
    assert!(found > 120, "{found}");
}

/// KB9: substeps as long as the present state allows, whatever the law, under pulls five times as hard as those that the fixed bound is swept with.
#[test]
fn substeps_that_follow_the_state() {
    let mut found = Found::default();
    let (mut longer, mut shorter, mut tied) = (0_usize, 0_usize, 0_usize);
    for seed in seeds(150) {
        let mut dice = Dice(seed ^ 0x6A_06E9);
        let made = net(&mut dice);
        let net = Net::new(made.parts).unwrap();
        let bounds = stability::bounds_with(&[&net], &[], &made.globals);
        if bounds.flutters {
            found.refused += 1;
            continue;
        }
        tied += usize::from(!made.globals.is_empty());
        let mut globals = made.globals.clone();
        let mut nodes = [net.rest().clone()];
        let sight = Sight {
            matter: |_| &net as &dyn Matter,
            slot: &[0],
        };
        let (mut gauge, mut tempo) = (Gauge::default(), Tempo::default());
        let end = 40.0 * bounds.safe.min(0.1);
        let hard = made.stiff * made.cell;
        let (at, pull) = (dice.below(nodes[0].len()), dice.vector(hard));
        let (mut time, mut most, mut steps) = (0.0, 0.0_f64, 0);
        let (mut stages, mut result) = (Stages::default(), Ok(()));
        while time < end && result.is_ok() {
            let joined = (&[][..], globals.as_slice());
            let now = gauge.bound(&|_| Some(&net), &mut nodes, joined, &sight, (time, None));
            // As scenes do, whose steps have at most a thousand substeps.
            let h = tempo
                .follow(now, bounds.exact)
                .min(0.1)
                .max(1e-3 * bounds.safe);
            *(if h > bounds.safe {
                &mut longer
            } else {
                &mut shorter
            }) += 1;
            if time < 0.5 * end {
                let mass = net.masses().mass()[at];
                nodes[0].velocity[at] += pull * (h / mass);
            }
            stages.gather(
                &|_| Some(net.masses()),
                &mut nodes,
                h,
                None,
                |nodes, after| {
                    let time = time + after;
                    let gravity = DVec3::Y * -9.81;
                    net.force(&mut nodes[0], &Field { time, gravity });
                    globals.iter().for_each(|g| g.apply(&sight, nodes, time));
                },
                |_| {},
            );
            net.plan(&mut nodes[0], h, None);
            if !net.advance(&mut nodes[0], h) {
                result = Err(format!("left the world at {time} s"));
            }
            globals.iter_mut().for_each(|g| g.settle(&sight, &nodes));
            for (now, then) in nodes[0].position.iter().zip(&net.rest().position) {
                most = most.max(now.distance(*then));
            }
            time += h;
            tempo.pass(time);
            steps += 1;
            if steps > 20_000 {
                result = Err(format!("{steps} substeps of {h} s"));
            }
        }
        // Five times as hard, and nets that hang on nothing drift as they were pulled.
        found.note(seed, 10.0 * made.cell, result.map(|()| most));
    }
    println!("{longer} longer than the fixed bound, {shorter} shorter");
    found.judge(120);
    assert!(longer > 0 && shorter > 0 && tied > 0, "{tied} tied");
}
