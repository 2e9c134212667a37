//! Frames of the capsulorhexis (B14), and what no program can measure (B15).

use super::set::{STILL, WEBER};
use crate::{
    measure::{Effort, Summary},
    row::Row,
};
use anyhow::{Context, Result};
use glam::DVec3;
use std::path::Path;
use std::time::Instant;
use trocar_dynamics::Matter;
use trocar_mesh::sheet::Refusal;
use trocar_scene::{Scene, Simulation};
use trocar_soft::membrane::Membrane;
use trocar_soft::membrane::tear::Growth;

/// A thirtieth of a second: the whole of a frame in the thesis, pictures included, ms.
const BUDGET: f64 = 33.3;

/// Frames of the capsulorhexis as the scene runs it, and in the thesis' rhythm.
pub fn modules(effort: Effort) -> Result<Vec<Row>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/capsulorhexis.toml");
    let mut simulation = Simulation::new(&Scene::load(path)?, 1)?;
    let input = simulation.idle_input();
    let step = input.dt;
    let steps = (1.0 / 30.0 / step).round().max(1.0) as usize;
    let mut rows = Vec::new();
    let case = "B14 the capsule of the lens, torn by a hand";
    let mut frames = Vec::new();
    // From when the hand takes hold on.
    for k in 0..effort.repeats(900, 200) {
        let began = Instant::now();
        for _ in 0..steps {
            simulation.step(&input);
        }
        let took = 1e3 * began.elapsed().as_secs_f64();
        if k >= 15 {
            frames.push(took / (steps as f64 * step * 30.0));
        }
    }
    let summary = Summary::of(frames);
    rows.push(
        Row::new(case, "a frame of 1/30 s, whole", summary, "ms")
            .against(WEBER, BUDGET)
            .below(BUDGET),
    );
    rows.push(Row::single(case, "  the longest", summary.max, "ms").below(BUDGET));
    // The thesis' rhythm: 4 × 10 substeps with 3 tear calls between them.
    let film = simulation
        .model()
        .films
        .first()
        .context("the scene has a membrane")?;
    let mut membrane = simulation
        .model()
        .membrane(film.matter)
        .context("the film is a membrane")?
        .copy_with_room();
    let mut nodes = simulation.state().nodes[film.matter.index()].clone();
    nodes.make_ready();
    let h = 0.9 * membrane.stable_step();
    let (mut times, mut calls) = (Vec::new(), 0_u32);
    let ways = radial(&membrane);
    for frame in 0..effort.repeats(200, 50) {
        let began = Instant::now();
        for block in 0..4 {
            for _ in 0..10 {
                membrane.force(&mut nodes, &STILL);
                // Drawn outwards at the middle, more and more, so that it tears.
                let pull = 0.02 * f64::from(frame as u32 + 1) / 50.0;
                for (n, way) in &ways {
                    nodes.force[*n] += *way * pull;
                }
                membrane.advance(&mut nodes, h);
            }
            if block < 3 {
                calls += u32::from(tore(&membrane.tear(&mut nodes)));
            }
        }
        times.push(1e3 * began.elapsed().as_secs_f64());
    }
    let case = "B14 4 × 10 substeps and 3 tear calls";
    rows.push(
        Row::new(case, "a frame", Summary::of(times), "ms")
            .against(WEBER, BUDGET)
            .below(BUDGET),
    );
    rows.push(Row::single(
        case,
        "  triangles",
        membrane.sheet().triangle_count() as f64,
        "",
    ));
    rows.push(Row::single(case, "  calls that tore", f64::from(calls), "").at_least(20.0));
    rows.extend(super::retina::retina()?);
    // No program can: it takes residents, two wet-labs and three weeks.
    rows.push(
        Row::single("B15 study with residents", "people who took part", 0.0, "")
            .against(WEBER, 62.0),
    );
    Ok(rows)
}

/// Whether a call has torn.
pub(super) fn tore(done: &Result<Option<Growth>, Refusal>) -> bool {
    matches!(
        done,
        Ok(Some(Growth::Started | Growth::Grew(_) | Growth::Ended))
    )
}

/// Nodes within a millimetre of the middle of a sheet, and from there outwards.
fn radial(membrane: &Membrane) -> Vec<(usize, DVec3)> {
    let sheet = membrane.sheet();
    let places = sheet.nodes().map(|n| (n.slot(), sheet.rest(n)));
    let near = places.filter(|(_, p)| p.truncate().length() < 1e-3);
    near.map(|(n, p)| (n, p.truncate().normalize_or_zero().extend(0.0)))
        .collect()
}
