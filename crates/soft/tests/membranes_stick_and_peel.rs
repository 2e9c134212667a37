//! What sticks comes off at a front, bit by bit, for as much work as adhesion is worth; and tears change none of it (W65–W75).

#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_mesh::primitive::{HexagonalShape, SheetShape};
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{
    Adhesion, Floor, FloorShape, Hold, Material, Membrane, MembraneError, MembraneParts,
};

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

fn step(membrane: &Membrane, nodes: &mut Nodes, field: &Field, h: f64) {
    membrane.force(nodes, field);
    membrane.plan(nodes, h, None);
    assert!(membrane.advance(nodes, h));
}

fn standard() -> Sheet {
    Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap()
}

const THESIS: Material = Material::Springs {
    stiffness: 6500.0,
    mass: 0.01,
};

fn tip(membrane: &Membrane) -> Option<NodeId> {
    let sheet = membrane.sheet();
    sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip))
}

/// A strip of `across` rows that sticks with 0.1 J/m² is peeled at a right angle; the mean force for each width, N/m.
fn peel(across: usize, decrement: f64) -> f64 {
    let (width, energy, distance) = (2e-3, 0.1, 1e-3);
    let columns = 6 * across + 1;
    let shape = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X * (6.0 * width),
        v: DVec3::Y * width,
        rows: across + 1,
        columns,
    };
    let sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
    let mut parts = MembraneParts::new(
        sheet,
        Material::Sheet {
            stiffness: 50.0,
            poisson: 0.0,
            density: 0.05,
        },
    );
    parts.adhesion = Some(Adhesion {
        hold: Hold::Area(2.0 * energy / (distance * distance)),
        distance,
        decrement,
    });
    parts.damping = 100.0;
    let ends: Vec<_> = (0..=across).map(|row| row * columns).collect();
    parts.fixed = ends.clone();
    let mut membrane = Membrane::new(parts).unwrap();
    for end in &ends {
        let node = membrane.sheet().node_at(*end);
        membrane.set_attachment(node, 0.0);
    }
    let mut nodes = membrane.rest();
    let h = 0.8 * membrane.stable_step();
    let speed = 0.04;
    let (from, to) = (3e-3, 8e-3);
    let (mut work, mut way, mut count) = (0.0, 0.0, 0_u32);
    while way < to {
        // Up and along alike: what has come off then stands upright.
        let by = speed * h;
        way += by;
        for end in &ends {
            nodes.position[*end] += DVec3::new(by, 0.0, by);
        }
        membrane.force(&mut nodes, &STILL);
        let force: DVec3 = ends.iter().map(|n| nodes.force[*n]).sum();
        if way > from {
            work -= force.x + force.z;
            count += 1;
        }
        membrane.advance(&mut nodes, h);
        membrane.detach(&nodes);
    }
    work / f64::from(count) / width
}

#[test]
fn peeling_takes_the_energy_of_adhesion_whatever_the_mesh() {
    // At a right angle the force for each width is the energy for each area (Rivlin 1944).
    let forces: Vec<_> = [4, 6, 8].map(|across| peel(across, 1.0)).to_vec();
    println!("peel forces {forces:?} N/m for 0.1 J/m²");
    for force in &forces {
        assert!((force / 0.1 - 1.0).abs() < 0.15, "{forces:?}");
    }
    let off = |force: &f64| (force / 0.1 - 1.0).abs();
    assert!(off(&forces[2]) < 0.08, "{forces:?}");
    // The finer the mesh, the nearer it comes.
    assert!(off(&forces[2]) < off(&forces[0]), "{forces:?}");
}

#[test]
fn only_a_front_comes_off() {
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 1e-4,
        decrement: 0.25,
    });
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    // All of the middle is lifted, far above what makes a node come off: nothing does, as there is no edge to start from (W69).
    let middle: Vec<_> = membrane
        .sheet()
        .nodes()
        .filter(|n| {
            membrane
                .sheet()
                .rest(*n)
                .distance(DVec3::new(4.25e-3, 4.33e-3, 0.0))
                < 2e-3
        })
        .collect();
    for n in &middle {
        nodes.position[n.slot()].z = 1e-3;
    }
    assert_eq!(membrane.detach(&nodes), 0);
    // A rim node does, bit by bit (W68), and takes its neighbours along once it is off.
    let corner = membrane.sheet().node_at(0);
    let neighbours: Vec<_> = membrane.sheet().edges_around(corner).map(|e| e.1).collect();
    for n in neighbours.iter().chain([&corner]) {
        nodes.position[n.slot()].z = 1e-3;
    }
    let inner: Vec<_> = neighbours
        .iter()
        .filter(|n| membrane.sheet().kind(**n) == Some(Kind::Inner))
        .collect();
    membrane.detach(&nodes);
    assert_eq!(membrane.attachment(corner.slot()), 0.75);
    for n in &inner {
        assert_eq!(membrane.attachment(n.slot()), 1.0);
    }
    (0..3).for_each(|_| {
        membrane.detach(&nodes);
    });
    assert_eq!(membrane.attachment(corner.slot()), 0.0);
    membrane.detach(&nodes);
    for n in &inner {
        assert_eq!(membrane.attachment(n.slot()), 0.75);
    }
    assert!(middle.iter().all(|n| membrane.attachment(n.slot()) == 1.0));
    // The homes follow what is below (W66).
    let moved = trocar_math::Pose::new(DVec3::new(0.0, 0.0, 0.5), glam::DQuat::IDENTITY);
    membrane.set_ground(moved);
    let home = membrane.sheet().rest(corner) + DVec3::Z * 0.5;
    assert!(membrane.homing_position(0).abs_diff_eq(home, 1e-15));
}

#[test]
fn compressed_springs_at_the_front_give_way_and_come_back() {
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 1e-4,
        decrement: 0.25,
    });
    parts.fold_support = Some(0.4);
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    // One half has come off; everything is pressed together.
    let off: Vec<_> = membrane
        .sheet()
        .nodes()
        .filter(|n| membrane.sheet().rest(*n).x > 4.3e-3)
        .collect();
    off.iter().for_each(|n| membrane.set_attachment(*n, 0.0));
    nodes.position.iter_mut().for_each(|p| *p *= 0.9);
    membrane.support_folds(&mut nodes);
    let strengths = |m: &Membrane| {
        let sheet = m.sheet();
        let mut near = [0, 0];
        for edge in sheet.edges() {
            let on_front = sheet.ends(edge).iter().any(|n| {
                m.attachment(n.slot()) > 0.0
                    && sheet
                        .edges_around(*n)
                        .any(|(_, o)| m.attachment(o.slot()) == 0.0)
            });
            let strength = m.spring_strength(edge.slot());
            assert!(on_front == (strength < 1.0), "{strength}");
            near[usize::from(on_front)] += 1;
        }
        near
    };
    let [away, front] = strengths(&membrane);
    assert!(front > 40 && away > 500, "{front} {away}");
    // No longer compressed: back in steps of 0.4 (W74).
    let mut rest = membrane.rest();
    for expected in [0.4, 0.8, 1.0] {
        membrane.support_folds(&mut rest);
        let least = (0..1026)
            .map(|e| membrane.spring_strength(e))
            .fold(1.0, f64::min);
        assert!((least - expected).abs() < 1e-12);
    }
}

/// The most energy that a sheet ever has, of which one half has come off and which breathes in its plane so that every spring is pressed and drawn out in turn, in parts of what
/// it was given; and how often some spring was weak.
fn breathing(fold_support: Option<f64>) -> (f64, usize) {
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 1.0,
        decrement: 0.25,
    });
    parts.fold_support = fold_support;
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    let middle = DVec3::new(4.25e-3, 4.33e-3, 0.0);
    let sheet = membrane.sheet();
    let right = sheet.nodes().filter(|n| sheet.rest(*n).x > middle.x);
    let off: Vec<_> = right.collect();
    off.iter().for_each(|n| membrane.set_attachment(*n, 0.0));
    for n in 0..nodes.len() {
        nodes.velocity[n] = (nodes.position[n] - middle) * 60.0;
    }
    let energy = |m: &Membrane, nodes: &Nodes| m.elastic_energy(nodes) + m.kinetic_energy(nodes);
    let start = energy(&membrane, &nodes);
    let h = 0.2 * membrane.stable_step();
    let (mut most, mut weak) = (0.0_f64, 0);
    for _ in 0..400 {
        for _ in 0..10 {
            step(&membrane, &mut nodes, &STILL, h);
        }
        membrane.support_folds(&mut nodes);
        weak += usize::from((0..1026).any(|e| membrane.spring_strength(e) < 1.0));
        // What could not be taken out of the motion yet is owed.
        most = most.max(energy(&membrane, &nodes) - membrane.debt());
    }
    (most / start, weak)
}

/// Springs that were switched off where they were pressed come back while they are drawn out, again and again.
#[test]
fn fold_support_makes_no_energy() {
    // A step of finite length shows some more and some less than there is.
    let (plain, _) = breathing(None);
    assert!(plain < 1.02, "{plain}");
    let (supported, weak) = breathing(Some(0.5));
    assert!(weak > 100, "{weak}");
    assert!(supported < plain + 1e-3, "{supported} {plain}");
}

#[test]
fn a_tear_through_what_sticks_leaves_it_sticking() {
    for algorithm in [Algorithm::Continuous, Algorithm::PseudoContinuous] {
        let mut parts = MembraneParts::new(standard(), THESIS);
        parts.adhesion = Some(Adhesion {
            hold: Hold::Node(50.0),
            distance: 1e-4,
            decrement: 0.25,
        });
        parts.fixed = vec![0];
        parts.tearing = Some(TearSettings {
            algorithm,
            thresholds: Thresholds {
                tip: 1.0,
                edge: 2.0,
                inner: 3.0,
                fastest: 2.0,
            },
            lengths: Lengths::of_edge(0.5e-3),
        });
        let mut membrane = Membrane::new(parts).unwrap();
        let mut nodes = membrane.rest();
        let way = Aim::Toward(DVec3::new(0.3, 1.0, 0.0));
        let mut node = Some(membrane.sheet().node_at(8));
        let mut calls = 0;
        while let Some(at) = node {
            membrane.tear_at(&mut nodes, at, 0.13e-3, way).unwrap();
            node = tip(&membrane);
            calls += 1;
            assert!(calls < 500);
        }
        assert_eq!(membrane.sheet().pieces(), 2);
        assert!(nodes.len() > 367 && nodes.is_consistent());
        // Homes are where nodes lie at rest, no node is anything but stuck, and nothing is pulled anywhere.
        for n in membrane.sheet().nodes() {
            assert_eq!(membrane.attachment(n.slot()), 1.0);
            let home = membrane.homing_position(n.slot());
            assert!(home.distance(membrane.sheet().rest(n)) < 1e-12);
        }
        assert_eq!(membrane.detach(&nodes), 0);
        membrane.force(&mut nodes, &STILL);
        let most = nodes.force.iter().map(|f| f.length()).fold(0.0, f64::max);
        assert!(most < 1e-8, "{most}");
        assert_eq!(membrane.masses().len(), nodes.len());
        step(&membrane, &mut nodes, &STILL, 0.5 * membrane.stable_step());
        let energy = membrane.elastic_energy(&nodes);
        assert!(energy < 1e-18, "{energy}");
    }
}

/// Lengths for the standard sheet, and thresholds that nothing reaches.
fn by_hand(algorithm: Algorithm) -> TearSettings {
    TearSettings {
        algorithm,
        thresholds: Thresholds {
            tip: 1e6,
            edge: 2e6,
            inner: 3e6,
            fastest: 2e6,
        },
        lengths: Lengths::of_edge(0.5e-3),
    }
}

const STICKS: Adhesion = Adhesion {
    hold: Hold::Node(50.0),
    distance: 1e-4,
    decrement: 0.25,
};

#[test]
fn a_tear_beside_what_is_off_takes_nothing_else_off() {
    for algorithm in [Algorithm::Continuous, Algorithm::PseudoContinuous] {
        let mut parts = MembraneParts::new(standard(), THESIS);
        parts.adhesion = Some(STICKS);
        parts.tearing = Some(by_hand(algorithm));
        let mut membrane = Membrane::new(parts).unwrap();
        let mut nodes = membrane.rest();
        // The right half is off; the tear runs slantwise across the border between the two.
        let off: Vec<NodeId> = membrane
            .sheet()
            .nodes()
            .filter(|n| membrane.sheet().rest(*n).x > 4.3e-3)
            .collect();
        off.iter().for_each(|n| membrane.set_attachment(*n, 0.0));
        let way = Aim::Toward(DVec3::new(0.15, 1.0, 0.0));
        let mut node = Some(membrane.sheet().node_at(7));
        let (mut calls, mut between) = (0, 0);
        while let Some(at) = node {
            membrane.tear_at(&mut nodes, at, 0.13e-3, way).unwrap();
            calls += 1;
            assert!(calls < 500);
            let before: Vec<f64> = (0..nodes.len()).map(|n| membrane.attachment(n)).collect();
            between += before.iter().filter(|a| **a > 0.0 && **a < 1.0).count();
            // Everything lies where it rests: nothing has a reason to come off.
            assert_eq!(membrane.detach(&nodes), 0);
            for n in membrane.sheet().nodes() {
                assert_eq!(membrane.attachment(n.slot()), before[n.slot()]);
            }
            node = tip(&membrane);
        }
        // Else this would show nothing.
        assert!(between > 10, "{between}");
        assert_eq!(membrane.sheet().pieces(), 2);
        // What holds by a part comes off like all others when it is drawn away, bit by bit.
        let partly = membrane.sheet().nodes().find(|n| {
            let held = membrane.attachment(n.slot());
            held > 0.3 && held < 1.0 && membrane.sheet().kind(*n) == Some(Kind::Edge)
        });
        let partly = partly.unwrap().slot();
        let held = membrane.attachment(partly);
        nodes.position[partly].z += 2e-4;
        assert_eq!(membrane.detach(&nodes), 1);
        assert!((membrane.attachment(partly) - (held - 0.25)).abs() < 1e-12);
        nodes.position[partly].z -= 2e-4;
        for _ in 0..4 {
            assert_eq!(membrane.detach(&nodes), 0);
        }
        assert_eq!(membrane.attachment(partly), 0.0);
    }
}

#[test]
fn the_middle_comes_off_only_after_a_scratch() {
    // W70: a node inside that is drawn away by far stays; where a tear has made a rim it comes off.
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.adhesion = Some(STICKS);
    parts.tearing = Some(by_hand(Algorithm::Continuous));
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    let middle = DVec3::new(4.25e-3, 4.33e-3, 0.0);
    let off = |m: &Membrane, n: &NodeId| m.sheet().rest(*n).distance(middle);
    let inner = membrane
        .sheet()
        .nodes()
        .min_by(|a, b| off(&membrane, a).total_cmp(&off(&membrane, b)))
        .unwrap();
    let lift = |m: &Membrane, nodes: &mut Nodes| {
        for n in m.sheet().nodes() {
            if off(m, &n) < 1.2e-3 {
                nodes.position[n.slot()].z = 1e-3;
            }
        }
    };
    lift(&membrane, &mut nodes);
    for _ in 0..20 {
        assert_eq!(membrane.detach(&nodes), 0);
    }
    membrane
        .tear_at(&mut nodes, inner, 1e-4, Aim::Toward(DVec3::X))
        .unwrap();
    lift(&membrane, &mut nodes);
    let rims = membrane
        .sheet()
        .nodes()
        .filter(|n| off(&membrane, n) < 1.2e-3 && membrane.sheet().kind(*n) != Some(Kind::Inner))
        .count();
    assert!(rims >= 4);
    assert_eq!(membrane.detach(&nodes), rims);
    for _ in 0..40 {
        membrane.detach(&nodes);
    }
    let still_on = membrane
        .sheet()
        .nodes()
        .filter(|n| off(&membrane, n) < 1.2e-3 && membrane.attachment(n.slot()) > 0.0)
        .count();
    assert_eq!(still_on, 0);
    // And nothing beyond what was lifted.
    for n in membrane
        .sheet()
        .nodes()
        .filter(|n| off(&membrane, n) >= 1.2e-3)
    {
        assert_eq!(membrane.attachment(n.slot()), 1.0);
    }
}

#[test]
fn a_sheet_follows_ground_that_deforms() {
    // W66: the homes are drawn out by a tenth and lifted to a parabola. A sheet that is soft against its hold lies on them.
    let soft = Material::Springs {
        stiffness: 1e-3,
        mass: 0.01,
    };
    let mut parts = MembraneParts::new(standard(), soft);
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 1.0,
        decrement: 1.0,
    });
    parts.damping = 200.0;
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    let bowl = |p: DVec3| DVec3::new(1.1 * p.x, p.y, 20.0 * (p.x * p.x + p.y * p.y));
    let all: Vec<NodeId> = membrane.sheet().nodes().collect();
    for n in &all {
        let home = bowl(membrane.sheet().rest(*n));
        membrane.set_home(*n, home);
    }
    let h = 0.5 * membrane.stable_step();
    for _ in 0..2000 {
        step(&membrane, &mut nodes, &STILL, h);
    }
    for n in &all {
        let off = nodes.position[n.slot()].distance(bowl(membrane.sheet().rest(*n)));
        // Springs draw with c/k of their stretch at most, from six sides.
        assert!(off < 6.0 * 1e-3 / 50.0 * 0.5e-3 * 1.5, "{off}");
    }
    // A name that is gone moves nobody.
    let before: Vec<DVec3> = all
        .iter()
        .map(|n| membrane.homing_position(n.slot()))
        .collect();
    let mut other = Membrane::new(MembraneParts::new(standard(), soft)).unwrap();
    other.set_home(NodeId::from_bits(u64::MAX), DVec3::X);
    membrane.set_home(NodeId::from_bits(u64::MAX), DVec3::X);
    let after: Vec<DVec3> = all
        .iter()
        .map(|n| membrane.homing_position(n.slot()))
        .collect();
    assert_eq!(before, after);
}

#[test]
fn what_has_come_off_does_not_sink_into_the_ground() {
    // A round sheet on a ball, one half of it off, under its weight and a ground that is moved and turned: nodes go no deeper than their weight and the pull of their springs
    // press them; without the floor they hang through it.
    let disc = trocar_mesh::primitive::DiscShape {
        radius: 4e-3,
        rings: 8,
        bulge: Some(6e-3),
    };
    let (stiffness, mass, g) = (300.0, 2e-4, 9.81);
    let ball = FloorShape::Ball {
        centre: DVec3::ZERO,
        radius: 6e-3,
    };
    let deepest = |floor: Option<Floor>| {
        let sheet = Sheet::new(&disc.surface().unwrap()).unwrap();
        let mut parts = MembraneParts::new(
            sheet,
            Material::Springs {
                stiffness: 30.0,
                mass,
            },
        );
        parts.adhesion = Some(Adhesion {
            hold: Hold::Node(50.0),
            distance: 1.0,
            decrement: 1.0,
        });
        parts.damping = 100.0;
        parts.gravity = true;
        parts.floor = floor;
        let mut membrane = Membrane::new(parts).unwrap();
        let turn = trocar_math::rotation::from_scaled_axis(DVec3::new(0.3, 0.1, 0.7));
        let ground = trocar_math::Pose::new(DVec3::new(0.01, -0.02, 0.03), turn);
        membrane.set_ground(ground);
        let mut nodes = membrane.rest();
        nodes
            .position
            .iter_mut()
            .for_each(|p| *p = ground.point(*p));
        let all: Vec<NodeId> = membrane.sheet().nodes().collect();
        for n in &all {
            if membrane.sheet().rest(*n).x > 0.5e-3 {
                membrane.set_attachment(*n, 0.0);
            }
        }
        // Down onto the ball, as it lies.
        let field = Field {
            time: 0.0,
            gravity: turn * DVec3::Z * -g,
        };
        let h = 0.9 * membrane.stable_step();
        for _ in 0..4000 {
            step(&membrane, &mut nodes, &field, h);
        }
        let off = all.iter().filter(|n| membrane.attachment(n.slot()) == 0.0);
        let depth = |n: &NodeId| 6e-3 - nodes.position[n.slot()].distance(ground.position);
        off.map(depth).fold(f64::NEG_INFINITY, f64::max)
    };
    let without = deepest(None);
    assert!(without > 0.1e-3, "{without}");
    let with = deepest(Some(Floor {
        shape: ball,
        stiffness,
    }));
    // Weight alone gives m g / k; springs of a drape press by some of their stretch.
    let weight = mass * g / stiffness;
    assert!(
        with > 0.2 * weight && with < 6.0 * weight,
        "{with} {weight}"
    );
    // A plane: a free sheet rests at exactly that depth.
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.gravity = true;
    parts.damping = 60.0;
    parts.floor = Some(Floor {
        shape: FloorShape::Plane {
            point: DVec3::ZERO,
            normal: DVec3::Z * 2.0,
        },
        stiffness: 1000.0,
    });
    let membrane = Membrane::new(parts.clone()).unwrap();
    let mut nodes = membrane.rest();
    let field = Field {
        time: 0.0,
        gravity: DVec3::Z * -g,
    };
    let h = 0.9 * membrane.stable_step();
    for _ in 0..3000 {
        step(&membrane, &mut nodes, &field, h);
    }
    for p in &nodes.position {
        assert!((p.z + 0.01 * g / 1000.0).abs() < 1e-8, "{p}");
    }
    parts.floor = Some(Floor {
        shape: FloorShape::Plane {
            point: DVec3::ZERO,
            normal: DVec3::ZERO,
        },
        stiffness: 1.0,
    });
    assert_eq!(Membrane::new(parts).unwrap_err(), MembraneError::Floor);
}
