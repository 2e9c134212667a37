//! Flaps: what bending does to a piece that is pulled off (B11), what comes off when a flap is torn away (B12), and whether a folded flap lies flat (B13).

use super::set::{FRAME, MIDDLE, frame, parts, tearing};
use crate::{measure::Effort, row::Row};
use anyhow::{Result, anyhow};
use glam::{DQuat, DVec3};
use trocar_dynamics::Nodes;
use trocar_math::{Pose, real};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::NodeId;
use trocar_soft::membrane::tear::Algorithm;
use trocar_soft::membrane::{Adhesion, Bending, Hold, Measure, Membrane};
use trocar_tools::membrane::{Forceps, ForcepsParts, Travel};

/// All three.
pub fn flaps(_: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    bundles(&mut rows)?;
    peeled(&mut rows)?;
    folded(&mut rows)?;
    Ok(rows)
}

const STICKS: Adhesion = Adhesion {
    hold: Hold::Node(50.0),
    distance: 0.2e-3,
    decrement: 0.25,
};

fn forceps() -> Result<Forceps> {
    Forceps::new(ForcepsParts {
        axis: [DVec3::X * -0.5e-3, DVec3::X * 0.5e-3],
        reach: 0.3e-3,
        stiffness: 6500.0,
        slip: f64::INFINITY,
        bears: f64::INFINITY,
    })
    .map_err(|why| anyhow!(why))
}

/// Leads forceps from place to place (mm) in as many frames; `after` is called after each.
fn lead(
    membrane: &mut Membrane,
    nodes: &mut Nodes,
    forceps: &mut Forceps,
    way: &[DVec3],
    frames: u32,
    mut after: impl FnMut(&mut Membrane, &mut Nodes, &mut Forceps) -> bool,
) -> bool {
    let pose = |p: DVec3| Pose::new(p * 1e-3, DQuat::IDENTITY);
    for leg in way.windows(2) {
        for k in 0..frames {
            let part = |k: u32| leg[0].lerp(leg[1], f64::from(k) / f64::from(frames));
            forceps.begin(Travel {
                from: pose(part(k)),
                to: pose(part(k + 1)),
                dt: FRAME,
            });
            frame(membrane, nodes, None, |nodes, part, _| {
                forceps.act(membrane, nodes, part);
            });
            membrane.detach(nodes);
            membrane.support_folds(nodes);
            if after(membrane, nodes, forceps) {
                return true;
            }
        }
    }
    false
}

/// B11: a sheet is taken at its lower side, peeled off and pressed together; how far it is spread out then, against how it lies at rest.
fn bundles(rows: &mut Vec<Row>) -> Result<()> {
    let mut spreads = Vec::new();
    for (name, bending) in [
        ("no bending", Bending::None),
        ("bending springs", Bending::Springs { stiffness: 650.0 }),
        ("hinges", Bending::Hinges { rigidity: 2e-5 }),
    ] {
        let mut parts = parts(HexagonalShape::STANDARD, false)?;
        parts.bending = bending;
        parts.adhesion = Some(STICKS);
        parts.damping = 20.0;
        let mut membrane = Membrane::new(parts)?;
        let mut nodes = membrane.rest();
        let mut forceps = forceps()?;
        membrane.expect_tools(forceps.added_stiffness());
        let start = DVec3::new(4.25, 0.2, 0.0);
        forceps.close(&membrane, &nodes, &Pose::new(start * 1e-3, DQuat::IDENTITY));
        let way = [
            start,
            DVec3::new(4.25, 3.0, 5.0),
            DVec3::new(4.25, 12.0, 10.0),
            // Jerked back into what trails behind it.
            DVec3::new(4.25, 6.0, 6.0),
        ];
        lead(
            &mut membrane,
            &mut nodes,
            &mut forceps,
            &way,
            60,
            |_, _, _| false,
        );
        let still = [way[3], way[3]];
        lead(
            &mut membrane,
            &mut nodes,
            &mut forceps,
            &still,
            60,
            |_, _, _| false,
        );
        let rest = membrane.rest();
        let off = (0..nodes.len()).filter(|n| membrane.attachment(*n) == 0.0);
        let case = format!("B11 pulled off, {name}");
        let came = off.count() as f64 / nodes.len() as f64;
        rows.push(Row::single(&case, "part that came off", came, ""));
        let spread = gyration(&nodes) / gyration(&rest);
        rows.push(Row::single(
            &case,
            "spread, in parts of its size at rest",
            spread,
            "",
        ));
        rows.push(Row::single(
            &case,
            "mean bend at an edge",
            bend(&membrane, &nodes),
            "°",
        ));
        spreads.push(spread);
    }
    // In the thesis what does not bend crumples, and what does stays spread.
    let case = "B11 pulled off";
    for (metric, k) in [
        ("spread, bending springs : no bending", 1),
        ("spread, hinges : no bending", 2),
    ] {
        rows.push(Row::single(case, metric, spreads[k] / spreads[0], "").at_least(1.2));
    }
    Ok(())
}

/// Radius of gyration, m.
fn gyration(nodes: &Nodes) -> f64 {
    let count = nodes.len() as f64;
    let mean = nodes.position.iter().sum::<DVec3>() / count;
    let sum: f64 = nodes
        .position
        .iter()
        .map(|p| p.distance_squared(mean))
        .sum();
    (sum / count).sqrt()
}

/// Mean angle between neighbouring triangles, degrees.
fn bend(membrane: &Membrane, nodes: &Nodes) -> f64 {
    let sheet = membrane.sheet();
    let normal = |t| {
        let [a, b, c] = sheet.corners(t).map(|n: NodeId| nodes.position[n.slot()]);
        (b - a).cross(c - a)
    };
    let (mut sum, mut count) = (0.0, 0_u32);
    for edge in sheet.edges() {
        if let (one, Some(two)) = sheet.beside(edge) {
            sum += trocar_math::angle(normal(one), normal(two));
            count += 1;
        }
    }
    (sum / f64::from(count.max(1))).to_degrees()
}

/// B12: a strip between two slits is peeled back until it tears off. Of what stays, only the rim may have come off (Fig 4.3f).
fn peeled(rows: &mut Vec<Row>) -> Result<()> {
    let mut parts = parts(HexagonalShape::STANDARD, false)?;
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(300.0),
        distance: 0.1e-3,
        decrement: 0.25,
    });
    parts.measure = Measure::Tension { reach: 1.2e-3 };
    parts.damping = 60.0;
    parts.tearing = Some(tearing(Algorithm::Continuous, 250.0));
    let mut membrane = Membrane::new(parts)?;
    let mut nodes = membrane.rest();
    for x in [3.2e-3, 5.3e-3] {
        let corner = |y: f64, z: f64| DVec3::new(x, y, z);
        let (low, high) = ((-1e-3, -1e-3), (3.1e-3, 1e-3));
        let [a, b, c, d] = [
            corner(low.0, low.1),
            corner(high.0, low.1),
            corner(high.0, high.1),
            corner(low.0, high.1),
        ];
        membrane.cut(&mut nodes, &[[a, b, c], [a, c, d]])?;
    }
    let mut forceps = forceps()?;
    membrane.expect_tools(forceps.added_stiffness());
    let start = DVec3::new(4.25, 0.2, 0.0);
    forceps.close(&membrane, &nodes, &Pose::new(start * 1e-3, DQuat::IDENTITY));
    let way = [
        start,
        DVec3::new(4.25, 2.0, 2.5),
        DVec3::new(4.25, 5.0, 2.5),
        DVec3::new(4.25, 9.0, 3.0),
        DVec3::new(4.25, 20.0, 8.0),
    ];
    lead(
        &mut membrane,
        &mut nodes,
        &mut forceps,
        &way,
        150,
        |membrane, nodes, forceps| {
            if membrane.tear(nodes).is_ok_and(|done| done.is_some()) {
                forceps.follow(membrane);
            }
            membrane.sheet().pieces() > 1
        },
    );
    let case = "B12 a flap torn off";
    let sheet = membrane.sheet();
    // It does tear off: else the rest shows nothing.
    rows.push(Row::single(case, "pieces", sheet.pieces() as f64, "").at_least(2.0));
    // What stays is what hangs together with the upper left corner.
    let last = super::set::nearest(
        sheet,
        DVec3::new(0.0, 8.66e-3, 0.0),
        trocar_mesh::sheet::Kind::Edge,
    )?;
    let mut seen = vec![false; sheet.node_slots()];
    let mut stack = vec![last];
    seen[last.slot()] = true;
    while let Some(node) = stack.pop() {
        for (_, other) in sheet.edges_around(node) {
            if !std::mem::replace(&mut seen[other.slot()], true) {
                stack.push(other);
            }
        }
    }
    let off: Vec<NodeId> = sheet
        .nodes()
        .filter(|n| seen[n.slot()] && membrane.attachment(n.slot()) == 0.0)
        .collect();
    let inner = |n: &NodeId| sheet.kind(*n) == Some(trocar_mesh::sheet::Kind::Inner);
    let beside = |n: &NodeId| {
        let mut around = sheet.edges_around(*n);
        !inner(n) || around.any(|(_, other)| !inner(&other))
    };
    let at_rim = off.iter().filter(|n| beside(n)).count();
    rows.push(Row::single(
        case,
        "nodes of what stays that came off",
        off.len() as f64,
        "",
    ));
    let part = at_rim as f64 / off.len().max(1) as f64;
    let row = Row::single(case, "  part of them on the rim or beside it", part, "");
    rows.push(row.at_least(0.9));
    let flap = sheet.nodes().filter(|n| !seen[n.slot()]);
    let (mut all, mut free) = (0_u32, 0_u32);
    for n in flap {
        all += 1;
        free += u32::from(membrane.attachment(n.slot()) < 1.0);
    }
    let part = f64::from(free) / f64::from(all.max(1));
    rows.push(Row::single(
        case,
        "part of the flap that came off",
        part,
        "",
    ));
    Ok(())
}

/// So much of its rise a flap with support may keep, if support is of any use.
const LESS: f64 = 0.9;

/// B13: one half has come off, is folded over along a line that no chain of edges follows, and let go. How high it stands then, in parts of its length.
fn folded(rows: &mut Vec<Row>) -> Result<()> {
    let mut rises = Vec::new();
    for (name, support) in [("without support", None), ("with support", Some(0.2))] {
        let mut parts = parts(HexagonalShape::STANDARD, false)?;
        parts.adhesion = Some(Adhesion {
            hold: Hold::Node(2000.0),
            distance: 1.0,
            decrement: 1.0,
        });
        parts.fold_support = support;
        parts.damping = 60.0;
        let mut membrane = Membrane::new(parts)?;
        let mut nodes = membrane.rest();
        // Slanted, so that the fold runs across edges.
        let across = DVec3::new(0.5, 0.866, 0.0).normalize();
        let ahead = |p: DVec3| (p - MIDDLE).dot(across);
        let flap: Vec<NodeId> = membrane
            .sheet()
            .nodes()
            .filter(|n| ahead(membrane.sheet().rest(*n)) > 0.0)
            .collect();
        flap.iter().for_each(|n| membrane.set_attachment(*n, 0.0));
        let end: Vec<(NodeId, DVec3)> = flap
            .iter()
            .map(|n| (*n, membrane.sheet().rest(*n)))
            .filter(|(_, p)| ahead(*p) > 2.5e-3)
            .collect();
        // Its outer part is led over and down, then let go.
        for k in 1..=120 {
            let turn = std::f64::consts::PI * 0.97 * f64::from(k) / 120.0;
            frame(&membrane, &mut nodes, None, |nodes, _, _| {
                for (n, rest) in &end {
                    let far = ahead(*rest);
                    let foot = *rest - across * far;
                    let place = foot
                        + across * (far * real::cos(turn))
                        + DVec3::Z * (far * real::sin(turn));
                    let here = nodes.position[n.slot()];
                    nodes.force[n.slot()] += (place - here) * 3000.0;
                }
            });
            membrane.support_folds(&mut nodes);
        }
        let height = |nodes: &Nodes| {
            let sum: f64 = end
                .iter()
                .map(|(n, p)| nodes.position[n.slot()].z / ahead(*p))
                .sum();
            sum / end.len().max(1) as f64
        };
        let held = height(&nodes);
        for _ in 0..60 {
            frame(&membrane, &mut nodes, None, |_, _, _| {});
            membrane.support_folds(&mut nodes);
        }
        let case = format!("B13 a flap folded over, {name}");
        rows.push(Row::single(
            &case,
            "height while held, in parts of its length",
            held,
            "",
        ));
        rows.push(Row::single(&case, "height when let go", height(&nodes), ""));
        rises.push(height(&nodes) - held);
    }
    // What is folded across edges presses them together, and they push it up again; without those at the front it rises less.
    if let [without, with] = rises[..] {
        let case = "B13 a flap folded over";
        let metric = "rise when let go, with support : without";
        rows.push(Row::single(case, metric, with / without, "").at_most(LESS));
    }
    Ok(())
}
