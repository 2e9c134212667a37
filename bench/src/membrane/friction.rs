//! A needle that sweeps over a sheet, with every kind of friction and as Eyesi did before (B7), and how many substeps each needs (B9).

use super::set::{FRAME, STILL, WEBER, at, cystotome, deep, parts};
use crate::{measure::Effort, row::Row};
use anyhow::{Result, anyhow};
use glam::DVec3;
use trocar_dynamics::{Matter, Nodes};
use trocar_math::{Pose, real};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::Kind;
use trocar_soft::membrane::{Adhesion, Hold, Measure, Membrane};
use trocar_tools::membrane::{Carrier, Needle, Stick, ToolBox, Travel};

/// Frames of a sweep.
const FRAMES: u32 = 100;

/// Who sweeps.
enum Tool {
    Needle(Box<Needle>),
    Old(Carrier),
}

/// The standard sheet, its rim drawn home by 50 N/m for good.
fn sheet() -> Result<Membrane> {
    let mut parts = parts(HexagonalShape::STANDARD, false)?;
    parts.measure = Measure::Printed;
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 1.0,
        decrement: 1.0,
    });
    parts.damping = 20.0;
    let mut membrane = Membrane::new(parts)?;
    let inner: Vec<_> = membrane
        .sheet()
        .nodes()
        .filter(|n| membrane.sheet().kind(*n) == Some(Kind::Inner))
        .collect();
    for node in inner {
        membrane.set_attachment(node, 0.0);
    }
    Ok(membrane)
}

/// On a circle of 8 mm that dips a third of a millimetre into the sheet.
fn pose(frame: u32) -> Pose {
    let turn = -0.35 + 0.7 * f64::from(frame) / f64::from(FRAMES);
    let tip = 0.49;
    at(
        4.25 + 8.0 * real::sin(turn),
        4.33,
        tip + 8.0 - 0.33 - 8.0 * real::cos(turn),
    )
}

/// The mean stress of all nodes after every frame, N; it ends where a number is none.
fn sweep(tool: &mut Tool, substeps: Option<u32>) -> Result<Vec<f64>> {
    let mut membrane = sheet()?;
    if let Tool::Needle(needle) = tool {
        membrane.expect_tools(needle.added_stiffness());
    }
    let mut nodes: Nodes = membrane.rest();
    let substeps = substeps.unwrap_or_else(|| membrane.substeps(FRAME, membrane.stable_step()));
    let h = FRAME / f64::from(substeps);
    let mut curve = Vec::new();
    for k in 0..FRAMES {
        let travel = Travel {
            from: pose(k),
            to: pose(k + 1),
            dt: FRAME,
        };
        match tool {
            Tool::Needle(needle) => needle.begin(&membrane, &nodes, travel),
            Tool::Old(carrier) => carrier.begin(&nodes, travel),
        }
        for s in 1..=substeps {
            membrane.force(&mut nodes, &STILL);
            if let Tool::Needle(needle) = tool {
                let part = f64::from(s) / f64::from(substeps);
                needle.act(&membrane, &mut nodes, part, h);
            }
            if !membrane.advance(&mut nodes, h) {
                return Ok(curve);
            }
        }
        if let Tool::Old(carrier) = tool {
            carrier.end(&membrane, &mut nodes, travel);
        }
        membrane.measure_stress(&nodes);
        let sum: f64 = membrane.stress().iter().sum();
        curve.push(sum / membrane.sheet().node_count() as f64);
    }
    Ok(curve)
}

fn old() -> Result<Tool> {
    // The boxes hug the tip.
    let boxes = vec![ToolBox {
        centre: DVec3::ZERO,
        half: DVec3::new(0.2e-3, 0.2e-3, 0.49e-3),
    }];
    Ok(Tool::Old(Carrier::new(boxes).map_err(|why| anyhow!(why))?))
}

/// Greatest stress of a curve, how often it falls by more than a tenth of that from one frame to the next, and where its greatest is, as a part of the sweep.
fn shape(curve: &[f64]) -> [f64; 3] {
    let most = curve.iter().copied().fold(0.0, f64::max);
    let falls = curve.windows(2).filter(|w| w[0] - w[1] > 0.1 * most);
    let peak = curve.iter().position(|s| *s == most).unwrap_or(0);
    [most, falls.count() as f64, peak as f64 / f64::from(FRAMES)]
}

/// Sweeps with every friction, and how few substeps they bear.
pub fn frictions(_: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let kinds = [
        ("frictionless", 0.0, Stick::Never),
        ("sliding, μ = 0.2", 0.2, Stick::Never),
        ("sliding, μ = 1.2", 1.2, Stick::Never),
        ("static, 0.3 N", 0.0, deep(0.3)),
        ("static, 3 N", 0.0, deep(3.0)),
        ("static, 30 N", 0.0, deep(30.0)),
    ];
    let mut curves = Vec::new();
    for (name, friction, stick) in kinds {
        let mut tool = Tool::Needle(Box::new(cystotome(friction, stick)?));
        curves.push((name, sweep(&mut tool, None)?));
    }
    curves.push(("as Eyesi before", sweep(&mut old()?, Some(100))?));
    for (name, curve) in &curves {
        let case = format!("B7 swept over, {name}");
        let [most, falls, peak] = shape(curve);
        rows.push(Row::single(
            &case,
            "mean stress of nodes, greatest",
            most,
            "N",
        ));
        rows.push(Row::single(
            &case,
            "  where, as part of the sweep",
            peak,
            "",
        ));
        rows.push(Row::single(&case, "  sudden falls", falls, ""));
    }
    // In the thesis at all times: what sticks less bears less.
    let [.., low, medium, high, _] = &curves[..] else {
        return Err(anyhow!("there are seven sweeps"));
    };
    let ordered = |less: &[f64], more: &[f64]| {
        let noise = 0.02 * shape(more)[0];
        let pairs = less.iter().zip(more);
        let kept = pairs.filter(|(l, m)| **l <= **m + noise).count();
        kept as f64 / f64::from(FRAMES)
    };
    let case = "B7 swept over";
    rows.push(
        Row::single(
            case,
            "frames in which 0.3 N is below 3 N",
            ordered(&low.1, &medium.1),
            "",
        )
        .against(WEBER, 1.0),
    );
    rows.push(
        Row::single(
            case,
            "frames in which 3 N is below 30 N",
            ordered(&medium.1, &high.1),
            "",
        )
        .against(WEBER, 1.0),
    );
    stability(&mut rows)?;
    Ok(rows)
}

/// B9: the fewest substeps a frame with which a sweep ends as it does with many.
fn stability(rows: &mut Vec<Row>) -> Result<()> {
    let fewest = |make: &dyn Fn() -> Result<Tool>| -> Result<f64> {
        let sound = sweep(&mut make()?, Some(400))?;
        let most = shape(&sound)[0];
        for substeps in [20, 25, 30, 33, 34, 36, 40, 50, 75, 100, 150, 200] {
            let curve = sweep(&mut make()?, Some(substeps))?;
            // Twice the greatest stress is no longer the same motion.
            if curve.len() == FRAMES as usize && shape(&curve)[0] < 2.0 * most {
                return Ok(f64::from(substeps));
            }
        }
        Ok(400.0)
    };
    let needle = || Ok(Tool::Needle(Box::new(cystotome(0.0, deep(3.0))?)));
    let mut membrane = sheet()?;
    membrane.expect_tools(cystotome(0.0, deep(3.0))?.added_stiffness());
    let own = membrane.substeps(FRAME, membrane.stable_step());
    let case = "B9 substeps of a frame";
    rows.push(
        Row::single(case, "our needle, fewest that do", fewest(&needle)?, "").against(WEBER, 25.0),
    );
    rows.push(
        Row::single(case, "as Eyesi before, fewest that do", fewest(&old)?, "")
            .against(WEBER, 100.0),
    );
    rows.push(Row::single(
        case,
        "asked for by our bound",
        f64::from(own),
        "",
    ));
    Ok(())
}
