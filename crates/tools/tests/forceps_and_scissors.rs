//! Forceps grasp a membrane, lift, peel and let it slip; scissors cut it and take nothing away (W80, W152).

#![allow(clippy::unwrap_used)]

use glam::{DQuat, DVec3};
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::{Pose, rotation};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::{Adhesion, Hold, Material, Membrane, MembraneParts};
use trocar_tools::membrane::{Forceps, ForcepsParts, Scissors, Travel};

const FRAME: f64 = 1.0 / 30.0;

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

const THESIS: Material = Material::Springs {
    stiffness: 6500.0,
    mass: 0.01,
};

fn standard() -> Sheet {
    Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(DVec3::new(x, y, z), DQuat::IDENTITY)
}

fn jaws(slip: f64) -> Forceps {
    Forceps::new(ForcepsParts {
        axis: [DVec3::X * -0.4e-3, DVec3::X * 0.4e-3],
        reach: 0.15e-3,
        stiffness: 6500.0,
        slip,
        bears: f64::INFINITY,
    })
    .unwrap()
}

fn frame(membrane: &Membrane, nodes: &mut Nodes, forceps: &mut Forceps, travel: Travel) {
    let substeps = membrane.substeps(travel.dt, membrane.stable_step());
    let h = travel.dt / f64::from(substeps);
    forceps.begin(travel);
    for k in 1..=substeps {
        membrane.force(nodes, &STILL);
        forceps.act(membrane, nodes, f64::from(k) / f64::from(substeps));
        assert!(membrane.advance(nodes, h));
    }
}

/// A sheet whose left rim is fixed.
fn hanging() -> (Membrane, Nodes) {
    let mut parts = MembraneParts::new(standard(), THESIS);
    let left = |n: &NodeId| parts.sheet.rest(*n).x < 0.3e-3;
    parts.fixed = parts.sheet.nodes().filter(left).map(|n| n.slot()).collect();
    parts.damping = 100.0;
    let mut membrane = Membrane::new(parts).unwrap();
    membrane.expect_tools(6500.0);
    let nodes = membrane.rest();
    (membrane, nodes)
}

#[test]
fn what_is_grasped_goes_where_the_jaws_go_and_is_free_when_they_open() {
    let (membrane, mut nodes) = hanging();
    let mut forceps = jaws(f64::INFINITY);
    let start = at(7e-3, 4.3e-3, 0.0);
    // Nothing there: nothing is held, and nothing happens.
    assert_eq!(forceps.close(&membrane, &nodes, &at(0.0, 0.0, 5e-3)), 0);
    let held = forceps.close(&membrane, &nodes, &start);
    assert!(held >= 3, "{held}");
    let grasped = |nodes: &Nodes| {
        let near = |n: &NodeId| {
            let rest = membrane.sheet().rest(*n);
            (rest - start.position)
                .abs()
                .cmplt(DVec3::new(0.3e-3, 0.3e-3, 1.0))
                .all()
        };
        let found: Vec<_> = membrane.sheet().nodes().filter(near).collect();
        let sum: DVec3 = found.iter().map(|n| nodes.position[n.slot()]).sum();
        sum / found.len() as f64
    };
    let first = grasped(&nodes);
    // Up, and turned about the jaws.
    let end = Pose::new(
        DVec3::new(7e-3, 4.3e-3, 2e-3),
        rotation::from_scaled_axis(DVec3::X * 0.5),
    );
    let mut here = start;
    for k in 1..=30 {
        let next = start.interpolate(&end, f64::from(k) / 30.0);
        let travel = Travel {
            from: here,
            to: next,
            dt: FRAME,
        };
        frame(&membrane, &mut nodes, &mut forceps, travel);
        here = next;
    }
    for _ in 0..20 {
        frame(
            &membrane,
            &mut nodes,
            &mut forceps,
            Travel::still(end, FRAME),
        );
    }
    assert_eq!(forceps.held(), held);
    let moved = grasped(&nodes) - first;
    assert!((moved - DVec3::Z * 2e-3).length() < 0.3e-3, "{moved}");
    // The jaws bear what pulls the sheet back: down and to the left.
    let force = forceps.reaction().force;
    assert!(force.x < 0.0 && force.z <= 1e-3, "{force}");
    forceps.open();
    assert_eq!((forceps.held(), forceps.reaction().force), (0, DVec3::ZERO));
    let before = nodes.force.clone();
    membrane.force(&mut nodes, &STILL);
    let own = nodes.force.clone();
    forceps.act(&membrane, &mut nodes, 1.0);
    assert_eq!(nodes.force, own);
    assert_ne!(before, own);
}

#[test]
fn pulled_too_hard_it_slips_out_and_never_pulls_harder_than_that() {
    let (membrane, mut nodes) = hanging();
    let slip = 0.5;
    let mut forceps = jaws(slip);
    let start = at(7e-3, 4.3e-3, 0.0);
    let held = forceps.close(&membrane, &nodes, &start);
    assert!(held > 0);
    let mut here = start;
    let (mut most, mut frames) = (0.0_f64, 0);
    while forceps.held() > 0 && frames < 200 {
        let mut next = here;
        next.position.x += 0.02e-3;
        let travel = Travel {
            from: here,
            to: next,
            dt: FRAME,
        };
        frame(&membrane, &mut nodes, &mut forceps, travel);
        let force = forceps.reaction().force.length();
        assert!(force <= slip * (1.0 + 1e-9));
        most = most.max(force);
        here = next;
        frames += 1;
    }
    assert_eq!(forceps.held(), 0, "it never let go");
    assert!(most > 0.9 * slip, "{most}");
}

#[test]
fn forceps_peel_a_sheet_that_sticks() {
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.damping = 200.0;
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 0.2e-3,
        decrement: 0.25,
    });
    let mut membrane = Membrane::new(parts).unwrap();
    let mut forceps = jaws(f64::INFINITY);
    membrane.expect_tools(forceps.added_stiffness());
    let mut nodes = membrane.rest();
    // By the middle of its right rim, up and over.
    let start = at(8.3e-3, 4.3e-3, 0.0);
    assert!(forceps.close(&membrane, &nodes, &start) > 0);
    let end = at(4e-3, 4.3e-3, 4e-3);
    let mut here = start;
    let stuck = |membrane: &Membrane| {
        let sheet = membrane.sheet();
        sheet
            .nodes()
            .filter(|n| membrane.attachment(n.slot()) > 0.0)
            .count()
    };
    let first = stuck(&membrane);
    let mut last = first;
    for k in 1..=120 {
        let next = start.interpolate(&end, f64::from(k) / 120.0);
        let travel = Travel {
            from: here,
            to: next,
            dt: FRAME,
        };
        frame(&membrane, &mut nodes, &mut forceps, travel);
        membrane.detach(&nodes);
        let now = stuck(&membrane);
        assert!(now <= last);
        (here, last) = (next, now);
    }
    // A good part has come off, and the far side still sticks.
    assert!(
        last < first * 4 / 5 && last > first / 10,
        "{last} of {first}"
    );
    let far = membrane
        .sheet()
        .nodes()
        .filter(|n| membrane.sheet().rest(*n).x < 1e-3);
    assert!(
        far.into_iter()
            .all(|n| membrane.attachment(n.slot()) == 1.0)
    );
}

/// Cuts with a blade that stands on the sheet from `from` to `to`, both in mm.
fn snip(membrane: &mut Membrane, nodes: &mut Nodes, from: [f64; 2], to: [f64; 2]) -> usize {
    let scissors = Scissors {
        blade: [DVec3::Z * -1e-3, DVec3::Z * 1e-3],
    };
    let pose = |[x, y]: [f64; 2]| at(1e-3 * x, 1e-3 * y, 0.0);
    let travel = Travel {
        from: pose(from),
        to: pose(to),
        dt: FRAME,
    };
    let area = membrane.sheet().rest_area();
    let opened = scissors.cut(membrane, nodes, &travel).unwrap();
    let sheet = membrane.sheet();
    assert_eq!(sheet.check(), Ok(()));
    assert!((sheet.rest_area() - area).abs() < 1e-12 * area);
    assert_eq!(nodes.position.len(), sheet.node_slots());
    assert!(opened == 0 || !membrane.event().is_empty());
    opened
}

fn fresh() -> (Membrane, Nodes) {
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.damping = 50.0;
    let membrane = Membrane::new(parts).unwrap();
    let nodes = membrane.rest();
    (membrane, nodes)
}

#[test]
fn a_cut_from_rim_to_rim_makes_two_pieces_with_straight_edges() {
    let (mut membrane, mut nodes) = fresh();
    let (from, to) = ([-1.0, 2.0], [10.0, 6.1]);
    assert!(snip(&mut membrane, &mut nodes, from, to) > 15);
    let sheet = membrane.sheet();
    assert_eq!(sheet.pieces(), 2);
    let line = DVec3::new(11.0, 4.1, 0.0).normalize();
    let mut parted = 0;
    for node in sheet
        .nodes()
        .filter(|n| sheet.siblings(*n).next().is_some())
    {
        let off = (sheet.rest(node) * 1e3 - DVec3::new(-1.0, 2.0, 0.0))
            .cross(line)
            .length();
        // Crossings near a node are moved to it: a tenth of an edge at most.
        assert!(off < 0.06, "{off} mm off");
        parted += 1;
    }
    assert!(parted > 20);
    // Nothing moved in space, and nothing is stretched.
    assert!(membrane.elastic_energy(&nodes) < 1e-20);
}

#[test]
fn a_cut_may_begin_and_end_inside_cross_another_and_follow_a_rim() {
    let (mut membrane, mut nodes) = fresh();
    // Inside: a slit as long as the blade's way.
    assert!(snip(&mut membrane, &mut nodes, [2.13, 3.07], [6.3, 3.9]) > 5);
    assert_eq!(membrane.sheet().pieces(), 1);
    let sheet = membrane.sheet();
    let ends = |f: fn(f64, f64) -> f64, start: f64| {
        let torn = sheet.nodes().filter(|n| sheet.kind(*n) == Some(Kind::Tip));
        torn.map(|n| sheet.rest(n).x * 1e3).fold(start, f)
    };
    let (least, most) = (ends(f64::min, 10.0), ends(f64::max, 0.0));
    assert!(
        (least - 2.13).abs() < 0.3 && (most - 6.3).abs() < 0.3,
        "{least} {most}"
    );
    // Across it, from rim to rim: the slit's halves are on both sides.
    assert!(snip(&mut membrane, &mut nodes, [4.1, -1.0], [4.4, 10.0]) > 15);
    assert_eq!(membrane.sheet().pieces(), 2);
    // Along the slit once more, and beyond both of its ends: four pieces, and what two cuts that cross each other at a small angle cut out
    // between them.
    assert!(snip(&mut membrane, &mut nodes, [-1.8, 2.288], [12.0, 5.035]) > 5);
    let pieces = membrane.sheet().pieces();
    assert!((4..=6).contains(&pieces), "{pieces}");
    // Along the lower rim, on it and just inside; beside the sheet.
    snip(&mut membrane, &mut nodes, [-1.0, 0.0], [10.0, 0.0]);
    snip(&mut membrane, &mut nodes, [-1.0, 0.02], [10.0, 0.02]);
    assert_eq!(membrane.sheet().pieces(), pieces);
    assert_eq!(
        snip(&mut membrane, &mut nodes, [-1.0, -0.5], [10.0, -0.5]),
        0
    );
    assert!(membrane.event().is_empty());
    // A whole row along its lower nodes falls off.
    let row = 1e3 * 0.75_f64.sqrt() * 0.5e-3;
    snip(&mut membrane, &mut nodes, [-1.0, row], [10.0, row]);
    assert!(membrane.sheet().pieces() > pieces);
}

#[test]
fn a_cut_goes_on_across_an_older_one_that_stands_open() {
    // A slit along a row of nodes, open by up to 0.3 edges, met obliquely: the blade goes through its two rims at different parts of them, and often through
    // sides that face others than each other.
    let row = 8.0 * 0.75_f64.sqrt() * 0.5;
    for case in 0..24 {
        let (mut membrane, mut nodes) = fresh();
        assert!(snip(&mut membrane, &mut nodes, [1.5, row], [7.0, row]) > 5);
        let sheet = membrane.sheet();
        for node in sheet.nodes() {
            // Above the slit, or on its upper rim.
            let is_above = sheet.triangles_around(node).all(|t| {
                let [a, b, c] = sheet.rest_corners(t);
                1e3 * (a + b + c).y > 3.0 * row
            });
            if is_above {
                let rest = sheet.rest(node) * 1e3;
                let off = (rest.x - 4.25) / 2.75;
                let open = (0.15 * (1.0 - off * off)).max(0.0);
                let part = 1.0 - (rest.y - row) / (8.7 - row);
                nodes.position[node.slot()].y += 1e-3 * open * part;
            }
        }
        let x = 2.3 + 0.087 * f64::from(case);
        let lean = 1.1 + 0.05 * f64::from(case % 5);
        let slope = |y: f64| [x + lean * (y - row), y];
        snip(&mut membrane, &mut nodes, slope(-0.5), slope(9.5));
        let pieces = membrane.sheet().pieces();
        assert_eq!(pieces, 2, "case {case}");
    }
}

#[test]
fn closing_blades_cut_by_turning() {
    let (mut membrane, mut nodes) = fresh();
    // The pivot above the sheet; the blade comes down by a quarter turn through it.
    let scissors = Scissors {
        blade: [DVec3::ZERO, DVec3::X * 4e-3],
    };
    let travel = Travel {
        from: at(2e-3, 4.1e-3, 0.5e-3),
        to: Pose::new(
            DVec3::new(2e-3, 4.1e-3, 0.5e-3),
            rotation::from_scaled_axis(DVec3::Y * 0.7),
        ),
        dt: FRAME,
    };
    assert!(scissors.swept(&travel).len() >= 4);
    let opened = scissors.cut(&mut membrane, &mut nodes, &travel).unwrap();
    assert!(opened > 4, "{opened}");
    assert_eq!(membrane.sheet().check(), Ok(()));
}

#[test]
fn random_cuts_lose_nothing_and_what_is_held_goes_on_being_held() {
    let noise = |seed: u64| {
        let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut membrane, mut nodes) = fresh();
    let mut forceps = jaws(f64::INFINITY);
    membrane.expect_tools(forceps.added_stiffness());
    let held = forceps.close(&membrane, &nodes, &at(4.2e-3, 4.3e-3, 0.0));
    for k in 0..60 {
        let n = |i: u64| 9.0 * noise(8 * k + i);
        snip(&mut membrane, &mut nodes, [n(0), n(1)], [n(2), n(3)]);
        forceps.follow(&membrane);
        assert_eq!(forceps.held(), held, "after cut {k}");
        // In motion, so that the cuts stand open and the blade meets them where they are.
        let travel = Travel::still(at(4.2e-3, 4.3e-3, 0.0), 0.2 * FRAME);
        frame(&membrane, &mut nodes, &mut forceps, travel);
    }
    assert!(membrane.sheet().pieces() > 5);
    let sheet = membrane.sheet();
    let anchors: DVec3 = forceps.reaction().force;
    assert!(
        anchors.is_finite() && sheet.triangle_count() < 6000,
        "{}",
        sheet.triangle_count()
    );
}

#[test]
fn nonsense_is_refused() {
    let good = ForcepsParts {
        axis: [DVec3::ZERO, DVec3::X],
        reach: 1e-3,
        stiffness: 1.0,
        slip: 1.0,
        bears: 1.0,
    };
    assert!(Forceps::new(good).is_ok());
    for bad in [
        ForcepsParts { reach: 0.0, ..good },
        ForcepsParts {
            stiffness: f64::INFINITY,
            ..good
        },
        ForcepsParts {
            slip: f64::NAN,
            ..good
        },
        ForcepsParts { bears: 0.0, ..good },
        ForcepsParts {
            axis: [DVec3::NAN; 2],
            ..good
        },
    ] {
        assert!(Forceps::new(bad).is_err());
    }
}
