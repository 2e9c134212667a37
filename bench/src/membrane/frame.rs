//! A large sheet at 30 frames a second, in as many substeps as it needs.

use super::set::twenty_thousand;
use crate::{
    measure::{Effort, interleave, time},
    row::Row,
};
use anyhow::Result;
use glam::DVec3;
use trocar_dynamics::{Crew, Field, Matter, Nodes};
use trocar_mesh::sheet::{Kind, Sheet};
use trocar_soft::membrane::{Bending, Material, Membrane, MembraneParts};

use crate::measure::Summary;

const FRAME: f64 = 1.0 / 30.0;

fn membrane(bending: Bending, material: Material) -> Result<Membrane> {
    let sheet = Sheet::new(&twenty_thousand()?.surface()?)?;
    let mut parts = MembraneParts::new(sheet, material);
    let on_rim = |n: &trocar_mesh::sheet::NodeId| parts.sheet.kind(*n) != Some(Kind::Inner);
    parts.fixed = parts
        .sheet
        .nodes()
        .filter(on_rim)
        .map(|n| n.slot())
        .collect();
    parts.bending = bending;
    parts.damping = 5.0;
    parts.prestress = 0.98;
    Ok(Membrane::new(parts)?)
}

/// Moving, so that no number is trivial.
fn shaken(membrane: &Membrane) -> Nodes {
    let mut nodes = membrane.rest();
    for (n, v) in nodes.velocity.iter_mut().enumerate() {
        let n = n as f64;
        *v = DVec3::new(
            (n * 0.37) % 1.0 - 0.5,
            (n * 0.61) % 1.0 - 0.5,
            (n * 0.83) % 1.0 - 0.5,
        ) * 1e-3;
    }
    nodes
}

/// Milliseconds of a frame, with one thread and with two.
pub fn frames(effort: Effort) -> Result<Vec<Row>> {
    let springs = Material::Springs {
        stiffness: 6500.0,
        mass: 0.01,
    };
    let sheet = Material::Sheet {
        stiffness: 7500.0,
        poisson: 0.3,
        density: 46000.0,
    };
    let cases = [
        ("springs", Bending::None, springs, Some(8.0)),
        (
            "springs, bending springs",
            Bending::Springs { stiffness: 650.0 },
            springs,
            Some(16.0),
        ),
        (
            "springs, hinges",
            Bending::Hinges { rigidity: 1e-5 },
            springs,
            Some(33.0),
        ),
        ("tension field", Bending::None, sheet, None),
    ];
    let mut membranes = Vec::new();
    for (_, bending, material, _) in cases {
        let membrane = membrane(bending, material)?;
        let nodes = shaken(&membrane);
        // As the engine would: it asks for what holds in every configuration.
        let substeps = membrane.substeps(FRAME, Matter::stable_step(&membrane));
        membranes.push((membrane, nodes, substeps));
    }
    let field = Field {
        time: 0.0,
        gravity: DVec3::ZERO,
    };
    let counts: Vec<_> = membranes.iter().map(|m| m.2).collect();
    let crew = Crew::new(2);
    let mut copies = membranes.clone();
    let alone = membranes.iter_mut().map(|all| (all, None));
    let both = copies.iter_mut().map(|all| (all, Some(&crew)));
    let mut jobs: Vec<_> = alone
        .chain(both)
        .map(|((membrane, nodes, substeps), crew)| {
            move || {
                let h = FRAME / f64::from(*substeps);
                time(|| {
                    for _ in 0..*substeps {
                        match crew {
                            Some(crew) => {
                                membrane.force_by(nodes, &field, crew);
                                membrane.advance_by(nodes, h, crew);
                            }
                            None => {
                                membrane.force(nodes, &field);
                                membrane.advance(nodes, h);
                            }
                        }
                    }
                }) * 1e3
            }
        })
        .collect();
    let mut dynamic: Vec<&mut dyn FnMut() -> f64> = jobs
        .iter_mut()
        .map(|j| j as &mut dyn FnMut() -> f64)
        .collect();
    let samples = interleave("membrane/frame", effort.repeats(40, 8), &mut dynamic);
    let mut rows = Vec::new();
    let (alone, both) = samples.split_at(cases.len());
    let samples = alone.iter().zip(both);
    for (((name, _, _, aim), (one, two)), substeps) in cases.into_iter().zip(samples).zip(counts) {
        let case = format!("20 k triangles, {name}");
        let (one, two) = (Summary::of(one.clone()), Summary::of(two.clone()));
        let row = Row::new(&case, "a frame of 1/30 s", one, "ms");
        rows.push(aim.map_or(row.clone(), |aim| row.at_most(aim)));
        let row = Row::new(&case, "  with two threads", two, "ms");
        rows.push(row.against("one thread", one.median));
        rows.push(Row::single(&case, "substeps", f64::from(substeps), ""));
    }
    Ok(rows)
}
