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
    parts.damping = 100.0;
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

/// Down into the sheet on a circle of 3.5 mm, by 2 mm, along it, up again by half a millimetre, and no farther: pressed as in the source, where what sticks is dragged until the tool stops. (With
/// a third of a millimetre, hardly anything is deep enough to stick, and all frictions look the same.)
fn pose(frame: u32) -> Pose {
    let turn = -1.2 + 1.8 * f64::from(frame) / f64::from(FRAMES);
    let tip = 0.49;
    at(
        4.25 + 3.5 * real::sin(turn),
        4.33,
        tip + 3.5 - 2.0 - 3.5 * real::cos(turn),
    )
}

/// How a sheet is after a frame.
#[derive(Clone, Copy)]
struct Seen {
    /// Mean stress of all nodes, N.
    stress: f64,
    /// Mean way of all nodes along the sweep, mm.
    way: f64,
}

/// How the sheet is after every frame; it ends where a number is none.
fn sweep(tool: &mut Tool, substeps: Option<u32>) -> Result<Vec<Seen>> {
    let mut membrane = sheet()?;
    if let Tool::Needle(needle) = tool {
        membrane.expect_tools(needle.added_stiffness());
    }
    let rest = membrane.rest();
    let mut nodes: Nodes = membrane.rest();
    let own = membrane.substeps(FRAME, membrane.stable_step());
    let mut curve = Vec::new();
    for k in 0..FRAMES {
        let travel = Travel {
            from: pose(k),
            to: pose(k + 1),
            dt: FRAME,
        };
        let asked = match tool {
            Tool::Needle(needle) => needle.substeps(&travel),
            Tool::Old(_) => 1,
        };
        let substeps = substeps.unwrap_or_else(|| own.max(asked));
        let h = FRAME / f64::from(substeps);
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
        let count = nodes.len() as f64;
        let moved = nodes.position.iter().zip(&rest.position);
        curve.push(Seen {
            stress: membrane.stress().iter().sum::<f64>() / count,
            way: 1e3 * moved.map(|(p, q)| p.x - q.x).sum::<f64>() / count,
        });
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

/// Greatest stress of a curve, N, and where that is, as a part of the sweep.
fn peak(curve: &[Seen]) -> [f64; 2] {
    let most = curve.iter().map(|s| s.stress).fold(0.0, f64::max);
    let at = curve.iter().position(|s| s.stress == most).unwrap_or(0);
    [most, at as f64 / f64::from(FRAMES)]
}

/// How far a sheet is dragged at most, mm, and how often it slips back by a tenth of that from one frame to the next.
fn dragged(curve: &[Seen]) -> [f64; 2] {
    let far = curve.iter().map(|s| s.way).fold(0.0, f64::max);
    let slips = curve.windows(2).filter(|w| w[0].way - w[1].way > 0.1 * far);
    [far, slips.count() as f64]
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
        let ([most, at], [far, slips]) = (peak(curve), dragged(curve));
        let row = |metric: &str, value: f64, unit| Row::single(&case, metric, value, unit);
        rows.push(row("mean stress of nodes, greatest", most, "N"));
        let place = row("  where, as part of the sweep", at, "");
        let way = row("dragged along, mean of nodes, greatest", far, "mm");
        let slips = row("  slips back", slips, "");
        // In the thesis: what bears most is dragged until the tool stops, with the greatest stress at the end; what bears less sticks and slips; what slides does neither.
        rows.extend(match *name {
            "static, 30 N" => [place.at_least(0.9), way, slips.at_most(0.0)],
            "static, 3 N" => [place, way, slips.at_least(2.0)],
            "static, 0.3 N" => [place, way, slips.at_least(3.0)],
            "sliding, μ = 0.2" | "sliding, μ = 1.2" => [place, way, slips.at_most(0.0)],
            _ => [place, way, slips],
        });
    }
    let [free, some, more, low, medium, high, before] = &curves[..] else {
        return Err(anyhow!("there are seven sweeps"));
    };
    let case = "B7 swept over";
    let far = |of: &(&str, Vec<Seen>)| dragged(&of.1)[0];
    let ratio =
        |metric: &str, value: f64, least: f64| Row::single(case, metric, value, "").at_least(least);
    rows.push(ratio(
        "dragged, μ = 0.2 : frictionless",
        far(some) / far(free),
        1.2,
    ));
    rows.push(ratio(
        "dragged, μ = 1.2 : μ = 0.2",
        far(more) / far(some),
        1.1,
    ));
    // About one order of magnitude.
    let orders = ratio("dragged, 3 N : 0.3 N", far(medium) / far(low), 5.0);
    rows.push(orders.against(WEBER, 10.0));
    let below = ratio(
        "stress, as Eyesi before : 30 N",
        peak(&before.1)[0] / peak(&high.1)[0],
        1.0,
    );
    rows.push(below);
    // At all times: what sticks less is dragged less.
    let ordered = |less: &[Seen], more: &[Seen]| {
        let noise = 0.02 * far(high);
        let pairs = less.iter().zip(more);
        let kept = pairs.filter(|(l, m)| l.way <= m.way + noise).count();
        kept as f64 / f64::from(FRAMES)
    };
    for (metric, less, more) in [
        ("frames in which 0.3 N is below 3 N", low, medium),
        ("frames in which 3 N is below 30 N", medium, high),
    ] {
        let row = Row::single(case, metric, ordered(&less.1, &more.1), "");
        rows.push(row.against(WEBER, 1.0).at_least(1.0));
    }
    stability(&mut rows)?;
    Ok(rows)
}

/// B9: the fewest substeps a frame with which a sweep ends as it does with many.
fn stability(rows: &mut Vec<Row>) -> Result<()> {
    let fewest = |make: &dyn Fn() -> Result<Tool>| -> Result<f64> {
        let sound = sweep(&mut make()?, Some(400))?;
        let most = peak(&sound)[0];
        for substeps in [20, 25, 30, 33, 34, 36, 40, 50, 75, 100, 150, 200] {
            let curve = sweep(&mut make()?, Some(substeps))?;
            // Twice the greatest stress is no longer the same motion.
            if curve.len() == FRAMES as usize && peak(&curve)[0] < 2.0 * most {
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
    let (ours, before) = (fewest(&needle)?, fewest(&old)?);
    for (name, count, printed) in [
        ("our needle, fewest that do", ours, 25.0),
        ("as Eyesi before, fewest that do", before, 100.0),
    ] {
        rows.push(Row::single(case, name, count, "").against(WEBER, printed));
    }
    let metric = "our needle, in substeps that the one before needs";
    let row = Row::single(case, metric, ours / before, "").against(WEBER, 0.25);
    rows.push(row.below(1.0));
    // What is asked for must be enough.
    rows.push(Row::single(case, "asked for by our bound", f64::from(own), "").at_least(ours));
    Ok(())
}
