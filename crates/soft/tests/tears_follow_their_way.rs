//! A tear goes where it is sent, whatever the mesh, and loses nothing on the way (W80–W83).

#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Event, Kind, NodeId, Sheet, SheetAnchor};
use trocar_soft::membrane::tear::{
    Aim, Algorithm, Growth, Lengths, Tear, TearSettings, Thresholds,
};
use trocar_soft::membrane::{Material, Membrane, MembraneParts};

/// A sheet, and where its nodes are: at rest, as the way is given.
struct Bench {
    sheet: Sheet,
    positions: Vec<DVec3>,
    headings: Vec<Option<NodeId>>,
    lengths: Lengths,
    spared: Vec<bool>,
    event: Event,
    anchors: Vec<(SheetAnchor, DVec3)>,
    area: f64,
}

impl Bench {
    fn new(shape: HexagonalShape) -> Self {
        let sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
        let anchors = sheet
            .triangles()
            .step_by(7)
            .map(|triangle| {
                let anchor = SheetAnchor {
                    triangle,
                    weights: [0.2, 0.3, 0.5],
                };
                (anchor, anchor.rest(&sheet).unwrap())
            })
            .collect();
        Self {
            positions: sheet.nodes().map(|n| sheet.rest(n)).collect(),
            headings: Vec::new(),
            lengths: Lengths::of_edge(shape.edge),
            spared: Vec::new(),
            event: Event::default(),
            anchors,
            area: sheet.rest_area(),
            sheet,
        }
    }

    fn call(
        &mut self,
        algorithm: Algorithm,
        node: NodeId,
        length: f64,
        aim: Aim,
    ) -> Option<Growth> {
        let mut tear = Tear {
            sheet: &mut self.sheet,
            positions: &self.positions,
            headings: &mut self.headings,
            lengths: self.lengths,
            spared: &self.spared,
        };
        let growth = tear
            .call(&mut self.event, algorithm, node, length, aim)
            .ok()?;
        self.event
            .carry(&self.sheet, &mut self.positions, DVec3::ZERO);
        self.sheet.check().unwrap();
        assert!((self.sheet.rest_area() / self.area - 1.0).abs() < 1e-9);
        for (anchor, rest) in &mut self.anchors {
            self.event.follow(&self.sheet, anchor);
            assert!(anchor.rest(&self.sheet).unwrap().distance(*rest) < 1e-9 * 8e-3);
        }
        // A sheet that nobody pulls lies where it rests: blends of positions are blends of rest positions.
        for node in self.sheet.nodes() {
            let off = self.positions[node.slot()].distance(self.sheet.rest(node));
            assert!(off < 1e-12, "{off}");
        }
        Some(growth)
    }

    fn tips(&self) -> Vec<NodeId> {
        let all = self.sheet.nodes();
        all.filter(|n| self.sheet.kind(*n) == Some(Kind::Tip))
            .collect()
    }

    /// Nodes on torn edges, those of the rim before the tear not counted.
    fn torn(&self) -> Vec<DVec3> {
        let parted = |n: &NodeId| {
            self.sheet.siblings(*n).next().is_some() || self.sheet.kind(*n) == Some(Kind::Tip)
        };
        self.sheet
            .nodes()
            .filter(parted)
            .map(|n| self.sheet.rest(n))
            .collect()
    }

    /// The rim node nearest to a point.
    fn nearest(&self, point: DVec3, kind: Kind) -> NodeId {
        let distance = |n: &NodeId| self.sheet.rest(*n).distance(point);
        self.sheet
            .nodes()
            .filter(|n| self.sheet.kind(*n) == Some(kind))
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .unwrap()
    }

    /// Tears straight on in direction `way` from a rim node until the tear ends; the number of calls.
    fn straight(&mut self, algorithm: Algorithm, start: NodeId, way: DVec3, length: f64) -> usize {
        assert_eq!(
            self.call(algorithm, start, length, Aim::Toward(way)),
            Some(Growth::Started)
        );
        for calls in 2..20_000 {
            let tips = self.tips();
            assert_eq!(tips.len(), 1, "after {calls} calls");
            match self.call(algorithm, tips[0], length, Aim::Toward(way)) {
                Some(Growth::Ended) => return calls,
                Some(_) => {}
                None => panic!("stuck after {calls} calls at {}", self.sheet.rest(tips[0])),
            }
        }
        panic!("it never ends");
    }
}

#[test]
fn nodes_that_are_held_stay_where_they_are() {
    for algorithm in [Algorithm::Continuous, Algorithm::PseudoContinuous] {
        for turn in [0.05, 0.37, 0.8] {
            let mut bench = Bench::new(HexagonalShape::STANDARD);
            let places: Vec<(NodeId, DVec3)> = bench
                .sheet
                .nodes()
                .map(|n| (n, bench.sheet.rest(n)))
                .collect();
            bench.spared = vec![true; places.len()];
            let way = DVec3::new(turn, -1.0, 0.0).normalize();
            let mut node = bench.nearest(DVec3::new(3e-3, 8.66e-3, 0.0), Kind::Edge);
            let mut grown = 0;
            for _ in 0..400 {
                match bench.call(algorithm, node, 0.11e-3, Aim::Toward(way)) {
                    Some(Growth::Started | Growth::Grew(_)) => grown += 1,
                    Some(Growth::Held) => {}
                    Some(Growth::Ended) | None => break,
                }
                let Some(tip) = bench.tips().first().copied() else {
                    break;
                };
                node = tip;
            }
            assert!(grown > 10, "{algorithm:?} {turn}: {grown}");
            for (node, place) in places {
                let here = bench.sheet.has_node(node) && bench.sheet.rest(node) == place;
                assert!(here, "{algorithm:?} {turn}: {place}");
            }
        }
    }
}

#[test]
fn a_straight_tear_parts_the_sheet_in_two() {
    // Slanted against the mesh, so that no chain of edges follows it.
    let way = DVec3::new(0.37, -1.0, 0.0).normalize();
    for (algorithm, length, most_off) in [
        (Algorithm::Continuous, 0.11e-3, 0.02e-3),
        (Algorithm::Continuous, 0.013e-3, 0.02e-3),
        (Algorithm::PseudoContinuous, 0.11e-3, 0.02e-3),
        (Algorithm::PseudoContinuous, 0.013e-3, 0.02e-3),
        (Algorithm::Subdivision, 1.0, 0.02e-3),
    ] {
        let mut bench = Bench::new(HexagonalShape::STANDARD);
        let start = bench.nearest(DVec3::new(3e-3, 8.66e-3, 0.0), Kind::Edge);
        let from = bench.sheet.rest(start);
        let calls = bench.straight(algorithm, start, way, length);
        assert_eq!(bench.sheet.pieces(), 2, "{algorithm:?}");
        let off = |p: &DVec3| (*p - from).cross(way).length();
        let torn = bench.torn();
        // The last piece of the way may run to a rim node or at a right angle to the rim (W110, W111).
        let inside = torn
            .iter()
            .filter(|p| p.y > bench.lengths.near && p.y > 0.4e-3);
        let worst = inside.map(off).fold(0.0, f64::max);
        println!(
            "{algorithm:?} {length:e}: {calls} calls, {} triangles, off by {worst:e} m, {} torn nodes",
            bench.sheet.triangle_count(),
            torn.len()
        );
        assert!(worst < most_off, "{algorithm:?}: off by {worst}");
    }
}

#[test]
fn a_circle_can_be_torn_out() {
    for (algorithm, mean_off) in [
        // A side of the torn edge, half a millimetre long, is a chord of the circle; nodes put in its middle are off by s²/8R, and
        // as the next side begins there, by twice that: 0.026 mm.
        (Algorithm::Continuous, 0.03e-3),
        (Algorithm::PseudoContinuous, 0.06e-3),
    ] {
        let mut bench = Bench::new(HexagonalShape::STANDARD);
        let radius = 2.4e-3;
        let start = bench.nearest(DVec3::new(6.6e-3, 4.3e-3, 0.0), Kind::Inner);
        let centre = bench.sheet.rest(start) - DVec3::X * radius;
        // Around the circle, and back to it.
        let ahead = |at: DVec3| {
            let arm = (at - centre).normalize();
            let off = (at - centre).length() - radius;
            DVec3::Z.cross(arm) * 0.2e-3 - arm * off
        };
        let first = ahead(bench.sheet.rest(start));
        assert_eq!(
            bench.call(algorithm, start, 1.0, Aim::Toward(first)),
            Some(Growth::Started)
        );
        // The tip that goes round; the other stays where the tear began.
        let advance = |n: &NodeId| (bench.sheet.rest(*n) - centre).dot(first);
        let by_advance = |a: &NodeId, b: &NodeId| advance(a).total_cmp(&advance(b));
        let mut tip = bench.tips().into_iter().max_by(by_advance).unwrap();
        let mut ended = false;
        for _ in 0..4000 {
            let way = ahead(bench.sheet.rest(tip));
            match bench.call(algorithm, tip, 0.05e-3, Aim::Toward(way)) {
                Some(Growth::Grew(now)) => tip = now,
                Some(Growth::Ended) => {
                    ended = true;
                    break;
                }
                Some(_) => {}
                None => panic!("{algorithm:?}: stuck at {}", bench.sheet.rest(tip)),
            }
        }
        assert!(ended, "{algorithm:?} never came round");
        assert_eq!(bench.sheet.pieces(), 2, "{algorithm:?}");
        let torn = bench.torn();
        let off: Vec<_> = torn
            .iter()
            .map(|p| (p.distance(centre) - radius).abs())
            .collect();
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        let worst = off.iter().copied().fold(0.0, f64::max);
        println!(
            "{algorithm:?}: mean {mean:e} m, worst {worst:e} m off the circle, {} triangles",
            bench.sheet.triangle_count()
        );
        assert!(mean < mean_off, "{algorithm:?}: {mean}");
    }
}

#[test]
fn a_sheet_can_be_torn_to_fragments() {
    for algorithm in [
        Algorithm::Continuous,
        Algorithm::PseudoContinuous,
        Algorithm::EdgeBased,
        Algorithm::Perpendicular,
        Algorithm::Subdivision,
    ] {
        let shape = HexagonalShape {
            rows: 9,
            columns: 8,
            edge: 0.5e-3,
        };
        let mut bench = Bench::new(shape);
        let mut seed = 1_u64;
        let mut dice = |n: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        let (mut ways, mut done) = (vec![DVec3::X], 0);
        for _ in 0..3000 {
            // Several tears at once: any tip may go on, and now and then another one starts.
            let tips = bench.tips();
            let node = if tips.is_empty() || dice(20) == 0 {
                let all: Vec<_> = bench.sheet.nodes().collect();
                all[dice(all.len())]
            } else {
                tips[dice(tips.len())]
            };
            ways.resize(bench.sheet.node_slots() + 8, DVec3::ZERO);
            if ways[node.slot()] == DVec3::ZERO || dice(30) == 0 {
                let (x, y) = (dice(201) as f64 - 100.0, dice(201) as f64 - 99.5);
                ways[node.slot()] = DVec3::new(x, y, 0.0).normalize();
            }
            let way = ways[node.slot()];
            done += usize::from(
                bench
                    .call(algorithm, node, 0.15e-3, Aim::Along(way))
                    .is_some(),
            );
            if bench.sheet.triangle_count() > 1200 {
                break;
            }
        }
        println!(
            "{algorithm:?}: {done} calls, {} pieces, {} triangles",
            bench.sheet.pieces(),
            bench.sheet.triangle_count()
        );
        assert!(
            bench.sheet.pieces() >= 10,
            "{algorithm:?}: {} pieces",
            bench.sheet.pieces()
        );
    }
}

#[test]
fn element_growth_stays_below_pure_subdivision() {
    let way = DVec3::new(0.37, -1.0, 0.0).normalize();
    let grown = |algorithm: Algorithm| {
        let mut bench = Bench::new(HexagonalShape::STANDARD);
        let start = bench.nearest(DVec3::new(3e-3, 8.66e-3, 0.0), Kind::Edge);
        bench.straight(algorithm, start, way, 0.1e-3);
        bench.sheet.triangle_count() as i64 - 660
    };
    let (continuous, pseudo) = (
        grown(Algorithm::Continuous),
        grown(Algorithm::PseudoContinuous),
    );
    let subdivided = grown(Algorithm::Subdivision);
    println!("continuous {continuous}, pseudo-continuous {pseudo}, subdivision {subdivided}");
    assert!(pseudo <= 8, "{pseudo}");
    assert!(
        3 * continuous < 2 * subdivided,
        "{continuous} against {subdivided}"
    );
}

#[test]
fn the_last_triangle_can_be_torn_and_what_is_gone_is_refused() {
    for algorithm in [
        Algorithm::Continuous,
        Algorithm::PseudoContinuous,
        Algorithm::EdgeBased,
        Algorithm::Perpendicular,
        Algorithm::Subdivision,
        Algorithm::Deletion,
    ] {
        let surface = trocar_mesh::Surface {
            positions: vec![DVec3::ZERO, DVec3::X * 1e-3, DVec3::Y * 1e-3],
            triangles: vec![[0, 1, 2]],
        };
        let mut sheet = Sheet::new(&surface).unwrap();
        let mut positions = surface.positions.clone();
        let mut headings = Vec::new();
        let mut event = Event::default();
        let first = sheet.node_at(0);
        let mut done = 0;
        // Torn again and again at whatever node is left, finer and finer, until it can't be.
        for call in 0..60 {
            let all: Vec<_> = sheet.nodes().collect();
            let Some(node) = all.get(call * 7 % all.len().max(1)).copied() else {
                break;
            };
            let mut tear = Tear {
                sheet: &mut sheet,
                positions: &positions,
                headings: &mut headings,
                lengths: Lengths::of_edge(1e-3),
                spared: &[],
            };
            let way = DVec3::new(1.0 + call as f64, 2.0, 0.0);
            if tear
                .call(&mut event, algorithm, node, 1e-4, Aim::Along(way))
                .is_ok()
            {
                done += 1;
            }
            event.carry(&sheet, &mut positions, DVec3::ZERO);
            sheet.check().unwrap();
            if algorithm != Algorithm::Deletion {
                assert!((sheet.rest_area() - 0.5e-6).abs() < 1e-15);
            }
        }
        match algorithm {
            // Its only edges are rims: nothing to open.
            Algorithm::EdgeBased | Algorithm::Perpendicular => assert_eq!(done, 0),
            Algorithm::Deletion => {
                assert_eq!(
                    (done, sheet.triangle_count(), sheet.node_count()),
                    (1, 0, 0)
                );
                let mut tear = Tear {
                    sheet: &mut sheet,
                    positions: &positions,
                    headings: &mut headings,
                    lengths: Lengths::of_edge(1e-3),
                    spared: &[],
                };
                let gone = tear.call(&mut event, Algorithm::Continuous, first, 1e-4, Aim::Strain);
                assert_eq!(gone, Err(trocar_mesh::sheet::Refusal::NoNode(first)));
            }
            _ => assert!(done > 5 && sheet.pieces() > 2, "{algorithm:?}: {done}"),
        }
    }
}

#[test]
fn a_tear_goes_on_beyond_a_node_that_is_held() {
    for algorithm in [
        Algorithm::Continuous,
        Algorithm::PseudoContinuous,
        Algorithm::EdgeBased,
    ] {
        let sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
        let near = |sheet: &Sheet, x: f64, y: f64| {
            let far = |n: &NodeId| sheet.rest(*n).distance(DVec3::new(x, y, 0.0));
            let nodes = sheet.nodes();
            nodes.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
        };
        let row = 10.0 * 0.75_f64.sqrt() * 0.5e-3;
        let start = near(&sheet, 0.0, row);
        let there = sheet.rest(start) + DVec3::X * 2e-3;
        let held = near(&sheet, there.x, row);
        let material = Material::Springs {
            stiffness: 6500.0,
            mass: 0.01,
        };
        let mut parts = MembraneParts::new(sheet, material);
        parts.fixed = vec![held.slot()];
        parts.tearing = Some(TearSettings {
            algorithm: Algorithm::EdgeBased,
            thresholds: Thresholds {
                tip: 0.1,
                edge: 1e3,
                inner: 1e4,
                fastest: 0.2,
            },
            lengths: Lengths::of_edge(0.5e-3),
        });
        let mut membrane = Membrane::new(parts).unwrap();
        let mut nodes = membrane.rest();
        // Drawn out across the row; whole edges are opened along it as far as the node that is held.
        let draw = |membrane: &Membrane, nodes: &mut Nodes| {
            for n in membrane.sheet().nodes() {
                let rest = membrane.sheet().rest(n);
                nodes.position[n.slot()] = rest + DVec3::Y * (0.1 * (rest.y - row));
            }
        };
        draw(&membrane, &mut nodes);
        let tip = |membrane: &Membrane| {
            let sheet = membrane.sheet();
            sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip))
        };
        let mut node = start;
        for _ in 0..4 {
            membrane
                .tear_at(&mut nodes, node, 0.5e-3, Aim::Strain)
                .unwrap();
            node = tip(&membrane).unwrap();
        }
        assert_eq!(node, held);
        let mut settings = *membrane.tearing().unwrap();
        settings.algorithm = algorithm;
        membrane.set_tearing(Some(settings)).unwrap();
        for _ in 0..200 {
            draw(&membrane, &mut nodes);
            let done = membrane.tear(&mut nodes);
            if membrane.sheet().pieces() == 2 || done == Ok(None) {
                break;
            }
        }
        let sheet = membrane.sheet();
        assert_eq!(sheet.check(), Ok(()));
        assert_eq!(sheet.pieces(), 2, "{algorithm:?}");
        // It stays where it is, on both sides of the tear.
        let apart = sheet
            .nodes()
            .filter(|n| sheet.rest(*n).distance(there) < 1e-9);
        assert_eq!(apart.count(), 2, "{algorithm:?}");
        assert!(sheet.has_node(held), "{algorithm:?}");
    }
}
