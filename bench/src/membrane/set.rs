//! What the tests of the thesis have in common: its sheet, springs, needle and frames.

use anyhow::{Context, Result, anyhow, ensure};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Crew, Field, Matter, Nodes};
use trocar_math::Pose;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Material, Membrane, MembraneParts};
use trocar_tools::membrane::{Needle, NeedleParts, Stick};

/// Her machine.
pub const MACHINE: &str = "Weber 2009, Core 2 Quad 2.5 GHz";

/// The source of numbers that are no times.
pub const WEBER: &str = "Weber 2009";

/// A frame, s.
pub const FRAME: f64 = 0.033;

/// Middle of the standard sheet, m.
pub const MIDDLE: DVec3 = DVec3::new(4.25e-3, 4.33e-3, 0.0);

/// Without gravity.
pub const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

/// The source's springs.
pub const SPRINGS: Material = Material::Springs {
    stiffness: 6500.0,
    mass: 0.01,
};

/// The source's: 0.2 mm, 0.98 mm with its caps.
pub fn cystotome(friction: f64, stick: Stick) -> Result<Needle> {
    Needle::new(NeedleParts {
        axis: [DVec3::Z * 0.29e-3, DVec3::Z * -0.29e-3],
        radius: 0.2e-3,
        stiffness: 6500.0,
        friction,
        stick,
    })
    .map_err(|why| anyhow!(why))
}

/// Sticks from 0.04 mm, up to a force, N.
pub const fn deep(limit: f64) -> Stick {
    Stick::Deep {
        beyond: 0.04e-3,
        limit,
    }
}

/// A place in mm, not turned.
pub fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(DVec3::new(x, y, z) * 1e-3, DQuat::IDENTITY)
}

/// A sheet of equilateral triangles of 0.5 mm, by the number of its triangles: (rows of nodes − 1) (2 columns − 1). An error if it has another,
/// because then it is not the one that is spoken of.
pub fn counted(rows: usize, columns: usize, triangles: usize) -> Result<HexagonalShape> {
    let shape = HexagonalShape {
        rows,
        columns,
        edge: 0.5e-3,
    };
    let found = shape.surface()?.triangles.len();
    ensure!(
        found == triangles,
        "the sheet has {found} triangles instead of {triangles}"
    );
    Ok(shape)
}

/// The sheet that is called 20 k.
pub fn twenty_thousand() -> Result<HexagonalShape> {
    counted(107, 95, 20_034)
}

/// The sheet that is called 100 k.
pub fn hundred_thousand() -> Result<HexagonalShape> {
    counted(241, 210, 100_560)
}

/// Parts of a sheet of springs, its rim held if wanted.
pub fn parts(shape: HexagonalShape, held: bool) -> Result<MembraneParts> {
    let sheet = Sheet::new(&shape.surface()?)?;
    let mut parts = MembraneParts::new(sheet, SPRINGS);
    if held {
        let on_rim = |n: &NodeId| parts.sheet.kind(*n) != Some(Kind::Inner);
        parts.fixed = parts
            .sheet
            .nodes()
            .filter(on_rim)
            .map(|n| n.slot())
            .collect();
    }
    parts.damping = 50.0;
    Ok(parts)
}

/// How it tears from a threshold at tips on, in the source's lengths.
pub fn tearing(algorithm: Algorithm, tip: f64) -> TearSettings {
    TearSettings {
        algorithm,
        thresholds: Thresholds {
            tip,
            edge: 100.0 * tip,
            inner: 1000.0 * tip,
            fastest: 4.0 * tip,
        },
        lengths: Lengths {
            least: 1e-6,
            most: 0.3e-3,
            ..Lengths::of_edge(0.5e-3)
        },
    }
}

/// The node of a kind that is nearest to a point at rest.
pub fn nearest(sheet: &Sheet, point: DVec3, kind: Kind) -> Result<NodeId> {
    let off = |n: &NodeId| sheet.rest(*n).distance(point);
    sheet
        .nodes()
        .filter(|n| sheet.kind(*n) == Some(kind))
        .min_by(|a, b| off(a).total_cmp(&off(b)))
        .context("the sheet has such nodes")
}

/// The first tip.
pub fn tip_of(membrane: &Membrane) -> Option<NodeId> {
    let sheet = membrane.sheet();
    sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip))
}

/// Nodes on torn edges, where they lie at rest.
pub fn torn(sheet: &Sheet) -> impl Iterator<Item = DVec3> + '_ {
    let parted = |n: &NodeId| sheet.siblings(*n).next().is_some();
    sheet.nodes().filter(parted).map(|n| sheet.rest(n))
}

/// A frame in as many substeps as the membrane needs; `act` adds forces of tools, told the part of the frame that is done and the substep.
pub fn frame(
    membrane: &Membrane,
    nodes: &mut Nodes,
    crew: Option<&Crew>,
    mut act: impl FnMut(&mut Nodes, f64, f64),
) -> bool {
    let substeps = membrane.substeps(FRAME, membrane.stable_step());
    let h = FRAME / f64::from(substeps);
    let mut sound = true;
    for k in 1..=substeps {
        match crew {
            Some(crew) => membrane.force_by(nodes, &STILL, crew),
            None => membrane.force(nodes, &STILL),
        }
        act(nodes, f64::from(k) / f64::from(substeps), h);
        sound &= match crew {
            Some(crew) => membrane.advance_by(nodes, h, crew),
            None => membrane.advance(nodes, h),
        };
    }
    sound
}
