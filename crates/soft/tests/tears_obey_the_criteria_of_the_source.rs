//! Where tears start, which way and how far they go, and what becomes of the sheet around them: each rule by itself, against numbers worked out
//! another way (W88–W118).

#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{EdgeId, Event, Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{
    Aim, Algorithm, Growth, Lengths, Tear, TearSettings, Thresholds, direction,
};
use trocar_soft::membrane::{Material, Measure, Membrane, MembraneParts};

const EDGE: f64 = 0.5e-3;

const THESIS: Material = Material::Springs {
    stiffness: 6500.0,
    mass: 0.01,
};

fn standard() -> Sheet {
    Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap()
}

fn noise(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn shake(nodes: &mut Nodes, by: f64) {
    for (n, p) in nodes.position.iter_mut().enumerate() {
        let n = 3 * n as u64;
        *p += DVec3::new(noise(n), noise(n + 1), noise(n + 2)) * by;
    }
}

fn membrane(sheet: Sheet, measure: Measure, thresholds: [f64; 3]) -> Membrane {
    let [tip, edge, inner] = thresholds;
    let mut parts = MembraneParts::new(sheet, THESIS);
    parts.measure = measure;
    parts.tearing = Some(TearSettings {
        algorithm: Algorithm::Continuous,
        thresholds: Thresholds {
            tip,
            edge,
            inner,
            fastest: 4.0 * tip,
        },
        lengths: Lengths::of_edge(EDGE),
    });
    Membrane::new(parts).unwrap()
}

fn nearest(sheet: &Sheet, point: DVec3, kind: Kind) -> NodeId {
    let off = |n: &NodeId| sheet.rest(*n).distance(point);
    sheet
        .nodes()
        .filter(|n| sheet.kind(*n) == Some(kind))
        .min_by(|a, b| off(a).total_cmp(&off(b)))
        .unwrap()
}

const MIDDLE: DVec3 = DVec3::new(4.25e-3, 4.33e-3, 0.0);

#[test]
fn the_stress_of_a_node_is_the_sum_over_its_springs() {
    // W88: s = Σ c/2 |l − l₀|, and without what is compressed.
    for measure in [Measure::Printed, Measure::Pulled] {
        let mut membrane = membrane(standard(), measure, [1e6; 3]);
        let mut nodes = membrane.rest();
        shake(&mut nodes, 0.1e-3);
        membrane.measure_stress(&nodes);
        let sheet = membrane.sheet();
        let mut most = 0.0_f64;
        for n in sheet.nodes() {
            let mut sum = 0.0;
            for (_, other) in sheet.edges_around(n) {
                let now = nodes.position[n.slot()].distance(nodes.position[other.slot()]);
                let stretch = now - sheet.rest(n).distance(sheet.rest(other));
                sum += 0.5
                    * 6500.0
                    * match measure {
                        Measure::Printed => stretch.abs(),
                        _ => stretch.max(0.0),
                    };
            }
            let off = (membrane.stress()[n.slot()] - sum).abs();
            assert!(off < 1e-12 * (1.0 + sum), "{measure:?}: {off}");
            most = most.max(sum);
        }
        assert!(most > 0.5);
    }
    // One spring alone: a node of a single triangle moved along one of its sides.
    let surface = HexagonalShape {
        rows: 2,
        columns: 1,
        edge: EDGE,
    };
    let sheet = Sheet::new(&surface.surface().unwrap()).unwrap();
    assert_eq!(sheet.triangle_count(), 1);
    let mut membrane = membrane(sheet, Measure::Pulled, [1e6; 3]);
    let mut nodes = membrane.rest();
    // Uniformly larger by a tenth: every side is 0.05 mm too long, two of them at each node.
    nodes.position.iter_mut().for_each(|p| *p *= 1.1);
    membrane.measure_stress(&nodes);
    for stress in membrane.stress() {
        assert!((stress - 2.0 * 0.5 * 6500.0 * 0.05e-3).abs() < 1e-12);
    }
}

#[test]
fn a_rim_fails_before_the_inside_and_of_each_kind_the_worst() {
    let sheet = standard();
    let rim = nearest(&sheet, DVec3::new(4.25e-3, 0.0, 0.0), Kind::Edge);
    let inner = nearest(&sheet, MIDDLE, Kind::Inner);
    let other = nearest(&sheet, MIDDLE + DVec3::X * 2e-3, Kind::Inner);
    let third = nearest(&sheet, DVec3::new(2e-3, 8.66e-3, 0.0), Kind::Edge);
    let mut membrane = membrane(sheet, Measure::Printed, [0.05, 0.1, 0.3]);
    let lifted = |heights: &[(NodeId, f64)]| {
        let mut nodes = membrane.rest();
        for (n, z) in heights {
            nodes.position[n.slot()].z = *z;
        }
        nodes
    };
    // W90: the rim node comes first, though the one inside bears several times as much above its threshold.
    let both = lifted(&[(rim, 0.2e-3), (inner, 0.4e-3)]);
    let one = lifted(&[(inner, 0.4e-3), (other, 0.3e-3)]);
    let two = lifted(&[(inner, 0.3e-3), (other, 0.4e-3)]);
    let rims = lifted(&[(rim, 0.2e-3), (third, 0.25e-3), (inner, 0.4e-3)]);
    assert_eq!(membrane.failing(&both).unwrap().0, rim);
    let stress = membrane.stress();
    assert!(stress[inner.slot()] - 0.3 > 2.0 * (stress[rim.slot()] - 0.1));
    assert_eq!(membrane.failing(&one).unwrap().0, inner);
    assert_eq!(membrane.failing(&two).unwrap().0, other);
    assert_eq!(membrane.failing(&rims).unwrap().0, third);
    // The search goes by strain where the measure is of springs (W86).
    assert_eq!(membrane.failing(&one).unwrap().2, Aim::Strain);
    let rest = membrane.rest();
    assert_eq!(membrane.failing(&rest), None);
}

#[test]
fn a_corner_with_one_triangle_never_fails() {
    // W107: the ends of the wide row have one triangle each.
    let shape = HexagonalShape {
        rows: 2,
        columns: 3,
        edge: EDGE,
    };
    let sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
    let corners: Vec<NodeId> = sheet
        .nodes()
        .filter(|n| sheet.fan(*n).count() == 1)
        .collect();
    assert_eq!(corners.len(), 2);
    let mut membrane = membrane(sheet, Measure::Printed, [0.01, 0.02, 0.03]);
    let mut nodes = membrane.rest();
    for n in &corners {
        nodes.position[n.slot()].z = 1e-3;
    }
    let (node, ..) = membrane.failing(&nodes).unwrap();
    let stress = membrane.stress();
    assert!(
        corners
            .iter()
            .all(|n| stress[n.slot()] > stress[node.slot()])
    );
    assert!(!corners.contains(&node));
    assert!(membrane.sheet().fan(node).count() >= 2);
}

/// A film drawn out along a direction, in which nobody but the rim node nearest to `start` may begin to tear: the way of its first tear.
fn torn_by(start: DVec3, along: DVec3, film: bool) -> (NodeId, DVec3) {
    let sheet = standard();
    let start = nearest(&sheet, start, Kind::Edge);
    let material = match film {
        true => Material::Sheet {
            stiffness: 7500.0,
            poisson: 0.3,
            density: 40.0,
        },
        false => THESIS,
    };
    let mut parts = MembraneParts::new(sheet, material);
    parts.fixed = (0..parts.sheet.node_slots())
        .filter(|n| *n != start.slot())
        .collect();
    parts.measure = Measure::Tension { reach: 1.2e-3 };
    parts.tearing = Some(TearSettings {
        algorithm: Algorithm::Continuous,
        thresholds: Thresholds {
            tip: 1.0,
            edge: 1.0,
            inner: 1.0,
            fastest: 4.0,
        },
        lengths: Lengths::of_edge(EDGE),
    });
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    for p in &mut nodes.position {
        *p += along * (0.05 * along.dot(*p));
    }
    let here = membrane.sheet().rest(start);
    assert_eq!(membrane.tear(&mut nodes), Ok(Some(Growth::Started)));
    let sheet = membrane.sheet();
    let mut all = sheet.nodes();
    let tip = all.find(|n| sheet.kind(*n) == Some(Kind::Tip)).unwrap();
    (start, (sheet.rest(tip) - here).normalize())
}

#[test]
fn a_tear_that_starts_on_a_rim_runs_across_the_tension_into_the_sheet() {
    // W86, W107. The middles of the lower and the upper rim, under tension along them and oblique; of the left and the right one, whose nodes stand out or back.
    let high = 20.0 * 0.75_f64.sqrt() * EDGE;
    let turned = |degrees: f64| {
        let turn = degrees.to_radians();
        DVec3::new(
            trocar_math::real::cos(turn),
            trocar_math::real::sin(turn),
            0.0,
        )
    };
    let mut seen = Vec::new();
    for film in [true, false] {
        for (rim, angles, normal) in [
            (DVec3::new(4.25e-3, 0.0, 0.0), -70..=70, 0.0),
            (DVec3::new(4.25e-3, high, 0.0), -70..=70, 0.0),
            (DVec3::new(0.0, 0.5 * high, 0.0), -50..=50, 90.0),
            (DVec3::new(8.5e-3, 0.5 * high, 0.0), -50..=50, 90.0),
        ] {
            for angle in angles.step_by(10) {
                let along = turned(f64::from(angle) + normal);
                let (start, way) = torn_by(rim, along, film);
                let off = way.dot(along).abs();
                // Of springs, those along a rim count for one triangle alone: what bears there is turned towards them.
                let most = if film { 1e-6 } else { 0.35 };
                assert!(off < most, "film {film}, {rim}, {angle}: {way}, {off}");
                seen.push(start.slot());
            }
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

/// A sheet, and where its nodes are.
struct Board {
    sheet: Sheet,
    positions: Vec<DVec3>,
    headings: Vec<Option<NodeId>>,
    lengths: Lengths,
    event: Event,
}

impl Board {
    fn new() -> Self {
        let sheet = standard();
        Self {
            positions: sheet.nodes().map(|n| sheet.rest(n)).collect(),
            headings: Vec::new(),
            lengths: Lengths::of_edge(EDGE),
            event: Event::default(),
            sheet,
        }
    }

    fn call(&mut self, algorithm: Algorithm, node: NodeId, length: f64, aim: Aim) -> Growth {
        let mut tear = Tear {
            sheet: &mut self.sheet,
            positions: &self.positions,
            headings: &mut self.headings,
            lengths: self.lengths,
            spared: &[],
        };
        let growth = tear.call(&mut self.event, algorithm, node, length, aim);
        self.event
            .carry(&self.sheet, &mut self.positions, DVec3::ZERO);
        self.sheet.check().unwrap();
        growth.unwrap()
    }

    fn tip(&self) -> NodeId {
        let mut all = self.sheet.nodes();
        all.find(|n| self.sheet.kind(*n) == Some(Kind::Tip))
            .unwrap()
    }

    /// Opens the rim at the middle of the lower side, straight up along one edge; the tip.
    fn notched(algorithm: Algorithm) -> (Self, NodeId) {
        let mut board = Self::new();
        let start = nearest(&board.sheet, DVec3::new(4.25e-3, 0.0, 0.0), Kind::Edge);
        board.call(algorithm, start, 1.0, Aim::Toward(DVec3::Y));
        let tip = board.tip();
        (board, tip)
    }

    fn counts(&self) -> [i64; 3] {
        let sheet = &self.sheet;
        [
            sheet.node_count(),
            sheet.edge_count(),
            sheet.triangle_count(),
        ]
        .map(|n| n as i64)
    }

    fn ratio(&self, edge: EdgeId) -> f64 {
        let [a, b] = self.sheet.ends(edge).map(|n| self.positions[n.slot()]);
        a.distance(b) / self.sheet.rest_length(edge)
    }
}

#[test]
fn a_tip_stays_the_gap_away_from_the_side_in_front() {
    // W93: wherever on its way it is sent, it never comes to lie on the side in front.
    for turn in [-0.4, -0.2, 0.1, 0.3] {
        for tenths in 1..30 {
            let (mut board, tip) = Board::notched(Algorithm::Continuous);
            let way = DVec3::new(turn, 1.0, 0.0).normalize();
            let here = board.sheet.rest(tip);
            let far = 0.1 * f64::from(tenths) * EDGE;
            let growth = board.call(Algorithm::Continuous, tip, far, Aim::Toward(way));
            assert_eq!(growth, Growth::Grew(tip));
            let gone = board.sheet.rest(tip) - here;
            assert!(gone.normalize().dot(way) > 1.0 - 1e-9);
            let onward = Aim::Toward(way);
            let ray = direction::ray(&board.sheet, &board.positions, tip, onward).unwrap();
            let left = ray.point.distance(board.sheet.rest(tip));
            assert!(left > board.lengths.gap * (1.0 - 1e-9), "{far}: {left}");
        }
    }
}

#[test]
fn a_tip_goes_as_far_as_it_is_sent_through_however_many_triangles() {
    for (turn, far) in [(-0.4, 1.5), (-0.1, 2.5), (0.2, 2.0), (0.3, 3.0)] {
        let (mut board, tip) = Board::notched(Algorithm::Continuous);
        let way = DVec3::new(turn, 1.0, 0.0).normalize();
        let here = board.sheet.rest(tip);
        let growth = board.call(Algorithm::Continuous, tip, far * EDGE, Aim::Toward(way));
        assert_eq!(growth, Growth::Grew(tip));
        let gone = board.sheet.rest(tip) - here;
        assert!(
            (gone - way * (far * EDGE)).length() < 1e-9 * EDGE,
            "{gone} {way}"
        );
        assert_eq!(board.sheet.check(), Ok(()));
    }
}

#[test]
fn a_tear_never_goes_back() {
    // W94, W105: whatever the strain says, the next step leads away from where the tear came from.
    let (mut board, mut tip) = Board::notched(Algorithm::Continuous);
    let mut turned = 0;
    for call in 0..60_u64 {
        // Another strain at each call.
        let seed = 1000 * call;
        for (n, p) in board.positions.iter_mut().enumerate() {
            let n = seed + 3 * n as u64;
            *p += DVec3::new(noise(n), noise(n + 1), noise(n + 2)) * 0.02e-3;
        }
        let here = board.sheet.rest(tip);
        let [behind, _] = board.sheet.rim_neighbours(tip).unwrap();
        let onward = here - board.sheet.rest(behind);
        let growth = board.call(Algorithm::Continuous, tip, 0.08e-3, Aim::Strain);
        match growth {
            Growth::Grew(now) => {
                let way = board.sheet.rest(now) - here;
                assert!(way.dot(onward) > -1e-9 * EDGE * EDGE, "{way} {onward}");
                turned += usize::from(way.normalize_or_zero().dot(onward.normalize()) < 0.9);
                tip = now;
            }
            Growth::Held => {}
            _ => break,
        }
    }
    assert!(turned > 5, "{turned}");
}

#[test]
fn around_a_tip_the_sheet_is_kept_in_order_and_nowhere_else() {
    let (mut board, mut tip) = Board::notched(Algorithm::Continuous);
    let (mut close, mut bad, mut calls) = (0, 0, 0);
    loop {
        let way = Aim::Toward(DVec3::new(0.23, 1.0, 0.0));
        let here = board.sheet.rest(tip);
        let growth = board.call(Algorithm::Continuous, tip, 0.11e-3, way);
        calls += 1;
        assert!(calls < 300);
        // W104: what changed is around the tip.
        for old in &board.event.before {
            let near = old
                .rest
                .iter()
                .map(|p| p.distance(here))
                .fold(9.0, f64::min);
            assert!(near < 2.0 * EDGE, "{near}");
        }
        let Growth::Grew(now) = growth else {
            break;
        };
        tip = now;
        let here = board.sheet.rest(tip);
        let sheet = &board.sheet;
        // W101: no node inside is left nearer than it may be.
        let mut neighbours = sheet.edges_around(tip).map(|(_, n)| n);
        close += usize::from(neighbours.any(|n| {
            sheet.kind(n) == Some(Kind::Inner) && sheet.rest(n).distance(here) < board.lengths.near
        }));
        // W103: no edge of its triangles violates Delaunay, worked out by the angles across it.
        for edge in sheet.fan(tip).flat_map(|(t, ..)| sheet.sides(t)) {
            let (one, Some(two)) = sheet.beside(edge) else {
                continue;
            };
            let ends = sheet.ends(edge);
            let [a, b] = ends.map(|n| sheet.rest(n));
            let angle = |t| {
                let mut corners = sheet.corners(t).into_iter();
                let apex = sheet.rest(corners.find(|n| !ends.contains(n)).unwrap());
                trocar_math::angle(a - apex, b - apex)
            };
            bad += usize::from(angle(one) + angle(two) > std::f64::consts::PI + 1e-6);
        }
        // W102: sides of the torn edge are no longer than they may be.
        for n in sheet
            .nodes()
            .filter(|n| sheet.siblings(*n).next().is_some())
        {
            for next in sheet.rim_neighbours(n).unwrap() {
                let both = sheet.siblings(next).next().is_some() || next == tip;
                let side = sheet.rest(n).distance(sheet.rest(next));
                assert!(!both || side <= board.lengths.side * (1.0 + 1e-9), "{side}");
            }
        }
    }
    assert!(calls > 60);
    // A guard may forbid a collapse or a flip for one call.
    assert!(
        close <= calls / 20 && bad <= calls / 20,
        "{close} {bad} of {calls}"
    );
}

#[test]
fn a_zipper_keeps_its_direction_until_it_arrives() {
    // W99: whatever the aim of the calls between, the tip goes straight to where it was sent.
    let (mut board, mut tip) = Board::notched(Algorithm::PseudoContinuous);
    let mut legs = 0;
    let mut call = 0_u64;
    while legs < 6 {
        let start = board.sheet.rest(tip);
        let first = Aim::Toward(DVec3::new(0.3, 1.0, 0.0));
        let Growth::Grew(now) = board.call(Algorithm::PseudoContinuous, tip, 0.03e-3, first) else {
            break;
        };
        let way = (board.sheet.rest(now) - start).normalize();
        tip = now;
        while board.headings[tip.slot()].is_some() {
            call += 1;
            let other = Aim::Toward(DVec3::new(3.0 * noise(call), 1.0, 0.0));
            let before = board.sheet.rest(tip);
            let growth = board.call(Algorithm::PseudoContinuous, tip, 0.03e-3, other);
            let Growth::Grew(now) = growth else {
                panic!("{growth:?}");
            };
            tip = now;
            let gone = board.sheet.rest(tip) - before;
            assert!(gone.cross(way).length() < 1e-9 * EDGE, "{gone}");
            assert!(gone.dot(way) > 0.0 && gone.dot(way) < 0.03e-3 * (1.0 + 1e-9));
        }
        legs += 1;
    }
    assert_eq!(legs, 6);
}

#[test]
fn ends_have_the_counts_of_the_source() {
    // W109: a zipper along rows of edges. Each leg opens one edge, (+1, +1, 0); the last one parts the rim's node as well, (+1, 0, 0).
    let shape = HexagonalShape::STANDARD;
    let high = 20.0 * 0.75_f64.sqrt() * shape.edge;
    let mut board = Board::new();
    let start = nearest(&board.sheet, DVec3::new(2.25e-3, 0.0, 0.0), Kind::Edge);
    let along = Aim::Toward(DVec3::new(0.5, 0.75_f64.sqrt(), 0.0));
    board.call(Algorithm::PseudoContinuous, start, 1.0, along);
    let mut tip = board.tip();
    let mut before = board.counts();
    assert_eq!(before, [368, 1027, 660]);
    let mut legs = 0;
    loop {
        match board.call(Algorithm::PseudoContinuous, tip, 0.07e-3, along) {
            Growth::Grew(now) => {
                tip = now;
                let after = board.counts();
                let change = [0, 1, 2].map(|k| after[k] - before[k]);
                if board.headings[tip.slot()].is_none() {
                    legs += 1;
                    assert_eq!(change, [1, 1, 0]);
                    before = after;
                } else {
                    // W97: what is temporary.
                    assert_eq!(change, [2, 4, 2]);
                }
            }
            Growth::Ended => break,
            other => panic!("{other:?}"),
        }
    }
    let after = board.counts();
    assert_eq!([0, 1, 2].map(|k| after[k] - before[k]), [2, 1, 0]);
    assert_eq!([legs, board.sheet.pieces()], [18, 2]);

    // W111: near a rim, but not near one of its nodes, the triangle there is divided at the foot: (+3, +3, +1).
    let mut found = 0;
    for start in [3.5e-3, 4.0e-3, 4.25e-3, 4.5e-3, 5.0e-3] {
        let mut board = Board::new();
        let node = nearest(&board.sheet, DVec3::new(start, 0.0, 0.0), Kind::Edge);
        board.call(Algorithm::Continuous, node, 1.0, Aim::Toward(DVec3::Y));
        let mut tip = board.tip();
        loop {
            let before = board.counts();
            let here = board.sheet.rest(tip);
            // It comes out between two nodes of the upper rim, or at one: straight up there is a node.
            let slant = if start > 4.1e-3 { 0.0289 } else { 0.0 };
            let up = Aim::Toward(DVec3::new(slant, 1.0, 0.0));
            match board.call(Algorithm::Continuous, tip, 0.02e-3, up) {
                Growth::Grew(now) => tip = now,
                Growth::Held => {}
                Growth::Ended => {
                    let after = board.counts();
                    let change: Vec<i64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
                    if change == [3, 3, 1] {
                        found += 1;
                        // At right angles to the rim: straight above where the tip was.
                        let foot = board.sheet.nodes().any(|n| {
                            let p = board.sheet.rest(n);
                            (p.y - high).abs() < 1e-9 && (p.x - here.x).abs() < 0.03e-3
                        });
                        assert!(foot);
                    } else {
                        // W110: at a node of the rim.
                        assert_eq!(change, [2, 1, 0]);
                    }
                    break;
                }
                Growth::Started => panic!("it has started"),
            }
        }
        assert_eq!(board.sheet.pieces(), 2);
    }
    assert_eq!(found, 3);
}

#[test]
fn baselines_do_what_others_did() {
    let stretched = |algorithm: Algorithm| {
        let (mut board, tip) = Board::notched(algorithm);
        for (n, p) in board.positions.iter_mut().enumerate() {
            let n = 3 * n as u64;
            *p += DVec3::new(noise(n), noise(n + 1), noise(n + 2)) * 0.03e-3;
        }
        (board, tip)
    };
    let inside = |board: &Board, tip: NodeId| -> Vec<(EdgeId, NodeId)> {
        let sheet = &board.sheet;
        sheet
            .edges_around(tip)
            .filter(|(e, _)| !sheet.is_rim(*e))
            .collect()
    };
    // W116: the whole edge that is stretched least opens.
    let (mut board, tip) = stretched(Algorithm::EdgeBased);
    let (_, far) = inside(&board, tip)
        .into_iter()
        .min_by(|a, b| board.ratio(a.0).total_cmp(&board.ratio(b.0)))
        .unwrap();
    let before = board.counts();
    let growth = board.call(Algorithm::EdgeBased, tip, 1.0, Aim::Strain);
    assert_eq!(growth, Growth::Grew(far));
    let change = |board: &Board, before: [i64; 3]| {
        let after = board.counts();
        [0, 1, 2].map(|k| after[k] - before[k])
    };
    assert_eq!(change(&board, before), [1, 1, 0]);
    // W117: the one that runs most nearly across the most stretched one.
    let (mut board, tip) = stretched(Algorithm::Perpendicular);
    let at = |n: NodeId| board.positions[n.slot()];
    let way = |n: NodeId| (at(n) - at(tip)).normalize();
    let most = board
        .sheet
        .edges_around(tip)
        .max_by(|a, b| board.ratio(a.0).total_cmp(&board.ratio(b.0)))
        .unwrap();
    let (_, far) = inside(&board, tip)
        .into_iter()
        .min_by(|a, b| {
            let along = |n: NodeId| way(n).dot(way(most.1)).abs();
            along(a.1).total_cmp(&along(b.1))
        })
        .unwrap();
    let before = board.counts();
    let growth = board.call(Algorithm::Perpendicular, tip, 1.0, Aim::Strain);
    assert_eq!(growth, Growth::Grew(far));
    assert_eq!(change(&board, before), [1, 1, 0]);
    // W118: the triangles beside the most stretched edge are gone, and so is their area.
    let mut board = Board::new();
    for (n, p) in board.positions.iter_mut().enumerate() {
        let n = 3 * n as u64;
        *p += DVec3::new(noise(n), noise(n + 1), noise(n + 2)) * 0.03e-3;
    }
    let node = nearest(&board.sheet, MIDDLE, Kind::Inner);
    let edge = board.sheet.edges_around(node).map(|e| e.0);
    let edge = edge.max_by(|a, b| board.ratio(*a).total_cmp(&board.ratio(*b)));
    let (one, two) = board.sheet.beside(edge.unwrap());
    let (area, triangles) = (board.sheet.rest_area(), board.sheet.triangle_count());
    board.call(Algorithm::Deletion, node, 1.0, Aim::Strain);
    assert!(!board.sheet.has_triangle(one) && !board.sheet.has_triangle(two.unwrap()));
    assert_eq!(board.sheet.triangle_count(), triangles - 2);
    let lost = area - board.sheet.rest_area();
    assert!((lost / (0.5 * 3.0_f64.sqrt() * EDGE * EDGE) - 1.0).abs() < 1e-9);
}

/// The standard sheet without the six triangles around its middle node.
fn holed() -> Sheet {
    let mut surface = HexagonalShape::STANDARD.surface().unwrap();
    let far = |p: &DVec3| p.distance(MIDDLE);
    let nodes = surface.positions.iter().enumerate();
    let (middle, _) = nodes.min_by(|a, b| far(a.1).total_cmp(&far(b.1))).unwrap();
    surface.triangles.retain(|t| !t.contains(&(middle as u32)));
    surface.positions.remove(middle);
    for corner in surface.triangles.iter_mut().flatten() {
        *corner -= u32::from(*corner > middle as u32);
    }
    Sheet::new(&surface).unwrap()
}

#[test]
fn a_sheet_with_a_hole_can_be_torn_and_cut() {
    let euler =
        |s: &Sheet| s.node_count() as i64 - s.edge_count() as i64 + s.triangle_count() as i64;
    let sheet = holed();
    assert_eq!([sheet.triangle_count(), sheet.pieces()], [654, 1]);
    assert_eq!(euler(&sheet), 0);
    let area = sheet.rest_area();
    // A tear from the rim to the hole ends there, and makes a disc of it.
    for algorithm in [Algorithm::Continuous, Algorithm::PseudoContinuous] {
        let mut board = Board::new();
        board.sheet = holed();
        board.positions = board.sheet.nodes().map(|n| board.sheet.rest(n)).collect();
        let start = nearest(&board.sheet, DVec3::new(4.25e-3, 0.0, 0.0), Kind::Edge);
        let up = Aim::Toward(DVec3::Y);
        let mut growth = board.call(algorithm, start, 0.1e-3, up);
        let mut calls = 1;
        while growth != Growth::Ended {
            let tip = board.tip();
            growth = board.call(algorithm, tip, 0.1e-3, up);
            calls += 1;
            assert!(calls < 200);
        }
        assert_eq!([euler(&board.sheet), board.sheet.pieces() as i64], [1, 1]);
        assert!((board.sheet.rest_area() / area - 1.0).abs() < 1e-9);
        let highest = board
            .sheet
            .nodes()
            .filter(|n| board.sheet.siblings(*n).next().is_some())
            .map(|n| board.sheet.rest(n).y)
            .fold(0.0, f64::max);
        assert!(highest < MIDDLE.y, "{highest}");
    }
    // A cut right across, over the hole, makes two.
    let mut membrane = membrane(holed(), Measure::Printed, [1e6; 3]);
    let mut nodes = membrane.rest();
    let corner = |x: f64, z: f64| DVec3::new(x, 4.3e-3, z);
    let [a, b, c, d] = [
        corner(-1e-3, -1e-3),
        corner(1e-2, -1e-3),
        corner(1e-2, 1e-3),
        corner(-1e-3, 1e-3),
    ];
    membrane.cut(&mut nodes, &[[a, b, c], [a, c, d]]).unwrap();
    assert_eq!(membrane.sheet().pieces(), 2);
    assert_eq!(euler(membrane.sheet()), 2);
    membrane.sheet().check().unwrap();
    assert!((membrane.sheet().rest_area() / area - 1.0).abs() < 1e-9);
}
