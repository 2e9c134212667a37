//! What an element costs as the net grows: on one thread and on two, beside a plain loop, beside Rapier, and beside
//! what moving the memory alone would take.

use super::{
    rapier::Edges,
    swinging::{Swinging, damped, organ, sheet, sheet_elements},
};
use crate::{
    measure::{Effort, Summary, hush, interleave, time},
    row::Row,
    yardstick::Yardstick,
};
use anyhow::Result;
use std::cell::RefCell;
use trocar_dynamics::Crew;
use trocar_math::real;
use trocar_scene::{Scene, Simulation};

/// Nodes along a side of the sheets: about a thousand, ten thousand, a hundred thousand and a million elements.
const SIDES: [usize; 4] = [17, 51, 159, 501];

/// Which of them the aims for one size are for, and which Rapier is given.
const MAIN: usize = 2;

/// What we want of a spring and the damper beside it, in the whole step, ns.
const AIM: f64 = 5.0;

/// That is where a plain scalar loop takes so long, ns: other machines, and this one when its neighbours are busy, are measured by the faster one of two such loops.
const PLAIN: f64 = 7.0;

/// So much faster than the plain loop.
const FASTER: f64 = 1.5;

/// So much from a second thread.
const TOGETHER: f64 = 1.7;

/// So much more may an element of the largest net cost than one of the smallest.
const GROWTH: f64 = 2.0;

/// What we want of the exponent with which the step grows (B4).
const EXPONENT: f64 = 1.05;

/// What we want of a second thread in a whole scene, of one tissue or of several.
const SCENE_GAIN: f64 = 1.5;

/// Kuhn's comparison: 11 rings of 10 and the cycle of its dynamics on an SGI Indigo, ns (B2).
const KUHN: (usize, usize, f64) = (11, 10, 1.87e6);

/// All rows.
pub fn growth(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = sizes(effort)?;
    rows.extend(organs(effort)?);
    rows.extend(scenes(effort)?);
    Ok(rows)
}

/// Sheets as tissues of a scene, springs only, stepped as a trainer steps them: what a spring costs in each substep of the whole step, beside a bare net of its size; one
/// sheet, one with an instrument far above it, and eight sheets that do not know of each other.
fn scenes(effort: Effort) -> Result<Vec<Row>> {
    const INSTRUMENT: &str = "[[instrument]]\nname = \"grasper\"\ntrocar = [0.08, 0.3, 0.08]\ntarget = [0.08, 0, 0.08]\ndepth = 0.1\n";
    let mut rows = Vec::new();
    let side = SIDES[MAIN];
    let apart = (side as f64 / 8.0_f64.sqrt()).round() as usize;
    for (name, side, count, more) in [
        ("a sheet", side, 1, ""),
        ("a sheet and an instrument", side, 1, INSTRUMENT),
        ("eight sheets", apart, 8, ""),
    ] {
        let size = 1e-3 * side as f64;
        let mut text = format!("trocar = 1\n[world]\nstep = 0.001\n{more}");
        for k in 0..count {
            let at = 2.0 * size * f64::from(k);
            text += &format!(
                "[[sheet]]\nname = \"sheet {k}\"\norigin = [{at}, 0, 0]\nu = [{size}, 0, 0]\nv = [0, 0, {size}]\nrows = {side}\ncolumns = {side}\n\
                 fixed = [{{ ring = 0 }}]\nmaterial = {{ mass = 0.0005, damping = 0.00001, stiffness = 90 }}\n"
            );
        }
        let scene = Scene::from_text("sheet.toml", &text)?;
        let [one, two] = [1, 2].map(|threads| Simulation::new(&scene, threads));
        let (one, two) = (RefCell::new(one?), RefCell::new(two?));
        let net = RefCell::new(Swinging::new(sheet(side)?)?);
        let elements = sheet_elements(side) * count as usize;
        let step = |simulation: &RefCell<Simulation>| {
            let simulation = &mut *simulation.borrow_mut();
            let input = simulation.idle_input();
            hush();
            // Whoever helps is awake again.
            simulation.step(&input);
            let mut substeps = 0;
            let seconds = time(|| {
                (0..3).for_each(|_| substeps += simulation.step(&input).substeps as usize);
            });
            seconds * 1e9 / (elements * substeps.max(1)) as f64
        };
        let samples = interleave(
            "mesd/growth",
            effort.repeats(41, 9),
            &mut [&mut || step(&one), &mut || step(&two), &mut || {
                net.borrow_mut().ours(None)
            }],
        );
        let case = format!("scene of {name}, {elements} springs");
        let substeps = one.borrow().report().substeps;
        rows.extend([
            Row::new(
                &case,
                "whole step per spring and substep",
                summary(&samples[0]),
                "ns",
            )
            .against("bare net", summary(&samples[2]).median),
            Row::new(
                &case,
                "one thread over two",
                ratio(&samples[0], &samples[1]),
                "",
            )
            .at_least(SCENE_GAIN),
            Row::single(&case, "substeps", f64::from(substeps), ""),
        ]);
    }
    Ok(rows)
}

/// A median, and that of the ratio to another list, taken within each round, so that a busy moment falls on both.
fn ratio(above: &[f64], below: &[f64]) -> Summary {
    Summary::of(above.iter().zip(below).map(|(a, b)| a / b))
}

fn summary(samples: &[f64]) -> Summary {
    Summary::of(samples.iter().copied())
}

/// Sheets of springs and dampers.
fn sizes(effort: Effort) -> Result<Vec<Row>> {
    let crew = Crew::new(2);
    let mut nets = Vec::new();
    for side in SIDES {
        eprintln!("mesd/growth: a sheet of {} elements", sheet_elements(side));
        nets.push(RefCell::new(Swinging::new(damped(sheet(side)?))?));
    }
    let alike = || Swinging::new(damped(sheet(SIDES[MAIN])?));
    let (mut left, mut right) = (alike()?, alike()?);
    let mut rapier = Edges::new(&sheet(SIDES[MAIN])?);
    // The pace of the memory is taken in the same rounds.
    let mut yardstick = Yardstick::default();
    let crew = &crew;
    let (mut one, mut two, mut plain): (Vec<_>, Vec<_>, Vec<_>) = Default::default();
    for net in &nets {
        one.push(move || net.borrow_mut().ours(None));
        two.push(move || net.borrow_mut().ours(Some(crew)));
        plain.push(move || net.borrow_mut().naive());
    }
    let mut jobs: Vec<&mut dyn FnMut() -> f64> = Vec::new();
    for ((a, b), c) in one.iter_mut().zip(&mut two).zip(&mut plain) {
        jobs.extend([a as &mut dyn FnMut() -> f64, b, c]);
    }
    let mut edges = || rapier.sample();
    let mut triad = || yardstick.triad_once();
    let mut beside = || left.beside(&mut right);
    let mut lean = || nets[MAIN].borrow_mut().lean();
    jobs.extend([
        &mut edges as &mut dyn FnMut() -> f64,
        &mut triad,
        &mut beside,
        &mut lean,
    ]);
    let samples = interleave("mesd/growth", effort.repeats(41, 9), &mut jobs);
    let of = |size: usize, what: usize| samples[3 * size + what].as_slice();
    let [edges, triad, beside, lean] = [0, 1, 2, 3].map(|what| &*samples[3 * SIDES.len() + what]);

    let mut rows = Vec::new();
    let mut points = Vec::new();
    for (size, side) in SIDES.into_iter().enumerate() {
        let elements = sheet_elements(side);
        let case = format!("sheet, {elements} elements");
        let [ours, both, naive] = [0, 1, 2].map(|what| summary(of(size, what)));
        let row = Row::new(&case, "step per spring and damper", ours, "ns");
        let row = row.against("plain loop", naive.median);
        let faster = Row::new(
            &case,
            "plain loop over ours",
            ratio(of(size, 2), of(size, 0)),
            "",
        );
        let threads = Row::new(&case, "the same on two threads", both, "ns");
        let gain = Row::new(
            &case,
            "one thread over two",
            ratio(of(size, 0), of(size, 1)),
            "",
        );
        let main = size == MAIN;
        rows.extend([
            if main { row.at_most(AIM) } else { row },
            if main {
                faster.at_least(FASTER)
            } else {
                faster
            },
            threads.against("one thread", ours.median),
            if main { gain.at_least(TOGETHER) } else { gain },
        ]);
        points.push((elements as f64, ours.median * elements as f64));
    }
    let main = format!("sheet, {} elements", sheet_elements(SIDES[MAIN]));
    rows.push(
        Row::new(
            &main,
            "the leanest scalar loop over ours",
            ratio(lean, of(MAIN, 0)),
            "",
        )
        .at_least(FASTER),
    );
    let plain = of(MAIN, 2).iter().zip(lean).map(|(a, b)| a.min(*b));
    let share = of(MAIN, 0).iter().zip(plain).map(|(a, b)| a / b);
    rows.push(
        Row::new(
            &main,
            "step where the faster scalar loop takes 7 ns",
            Summary::of(share.map(|s| PLAIN * s)),
            "ns",
        )
        .at_most(AIM),
    );
    let limit = of(MAIN, 0).iter().zip(beside).map(|(a, b)| 2.0 * a / b);
    rows.push(Row::new(
        &main,
        "gain of two nets side by side that share nothing",
        Summary::of(limit),
        "",
    ));
    rows.push(
        Row::new(
            &main,
            "Rapier's edges, f64, one sweep, each",
            summary(edges),
            "ns",
        )
        .against("ours", summary(of(MAIN, 0)).median),
    );
    let last = SIDES.len() - 1;
    let bytes = nets[last].borrow().bytes();
    let moved = samples_of_bandwidth(of(last, 0), bytes);
    rows.push(
        Row::new(
            "sheet, the largest",
            "memory moved by the step",
            moved,
            "GB/s",
        )
        .against("triad", summary(triad).median),
    );
    rows.push(
        Row::new(
            "sheet growing",
            "per element, largest over smallest",
            ratio(of(last, 0), of(0, 0)),
            "",
        )
        .against("plain loop", ratio(of(last, 2), of(0, 2)).median)
        .at_most(GROWTH),
    );
    let exponent = slope(&points);
    rows.push(
        Row::single("sheet growing", "exponent of the step's time", exponent, "").at_most(EXPONENT),
    );
    Ok(rows)
}

/// GB/s, of ns per element and bytes of each.
fn samples_of_bandwidth(samples: &[f64], bytes: f64) -> Summary {
    Summary::of(samples.iter().map(|ns| bytes / ns))
}

/// Organs: shape memory and a father of all come on top.
fn organs(effort: Effort) -> Result<Vec<Row>> {
    let (rings, around, kuhn) = KUHN;
    let crew = Crew::new(2);
    let mut small = Swinging::new(organ(rings, around)?)?;
    let large = RefCell::new(Swinging::new(organ(158, 158)?)?);
    let braced = RefCell::new(Swinging::new(damped(organ(158, 158)?))?);
    let elements = small.elements;
    let samples = interleave(
        "mesd/growth",
        effort.repeats(41, 9),
        &mut [
            &mut || small.ours(None) * small.elements as f64,
            &mut || large.borrow_mut().ours(None),
            &mut || large.borrow_mut().naive(),
            &mut || braced.borrow_mut().ours(None),
            &mut || braced.borrow_mut().naive(),
            &mut || braced.borrow_mut().ours(Some(&crew)),
        ],
    );
    let case = format!("organ, 113 nodes, {elements} elements");
    let large_case = format!("organ, {} elements", large.borrow().elements);
    let row = |metric: &str, what: usize| {
        Row::new(&large_case, metric, summary(&samples[what]), "ns")
            .against("plain loop", summary(&samples[what + 1]).median)
    };
    Ok(vec![
        Row::new(&case, "whole step", summary(&samples[0]), "ns")
            .against("Kuhn 1997, R4400, Indigo", kuhn),
        row("step per spring, shape memory, a father", 1),
        row("the same with dampers", 3),
        Row::new(
            &large_case,
            "one thread over two",
            ratio(&samples[3], &samples[5]),
            "",
        ),
    ])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_what_they_are_called() {
        for (side, wanted) in SIDES.into_iter().zip([1e3, 1e4, 1e5, 1e6]) {
            let ratio = sheet_elements(side) as f64 / wanted;
            assert!((ratio - 1.0).abs() < 0.06, "{ratio}");
        }
        let net = organ(KUHN.0, KUHN.1).unwrap();
        assert_eq!((net.nodes.len(), net.elements.len()), (113, 430));
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points = [1.0, 10.0, 100.0, 300.0].map(|x: f64| (x, 7.0 * x * x.sqrt()));
        assert!((slope(&points) - 1.5).abs() < 1e-12);
    }
}
