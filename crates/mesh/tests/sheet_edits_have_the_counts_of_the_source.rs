//! What each edit adds and takes, as counted for the operations of Weber 2009 (M11–M13), and what it makes of the nodes.

#![allow(clippy::unwrap_used)]

use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{EdgeId, Event, Kind, NodeId, Refusal, Sheet, SheetError};
use trocar_mesh::{Surface, SurfaceError};

fn standard() -> Sheet {
    Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap()
}

fn counts(sheet: &Sheet) -> [i64; 3] {
    [
        sheet.node_count(),
        sheet.edge_count(),
        sheet.triangle_count(),
    ]
    .map(|n| n as i64)
}

/// Node `column` of a row of the standard sheet.
fn node(sheet: &Sheet, row: usize, column: usize) -> NodeId {
    sheet.node_at(row / 2 * 35 + row % 2 * 17 + column)
}

fn change(
    sheet: &mut Sheet,
    work: impl FnOnce(&mut trocar_mesh::sheet::Edit<'_>) -> Result<(), Refusal>,
) -> [i64; 3] {
    let before = counts(sheet);
    let mut event = Event::default();
    sheet.edit(&mut event, work).unwrap();
    sheet.check().unwrap();
    let after = counts(sheet);
    [0, 1, 2].map(|k| after[k] - before[k])
}

fn between(sheet: &Sheet, a: NodeId, b: NodeId) -> EdgeId {
    sheet.edge_between(a, b).unwrap()
}

#[test]
fn a_tear_starts_at_an_edge_and_at_an_inner_node() {
    let mut sheet = standard();
    assert_eq!(counts(&sheet), [367, 1026, 660]);
    let (rim, inner) = (node(&sheet, 20, 8), node(&sheet, 19, 8));
    let edge = between(&sheet, rim, inner);
    assert_eq!(change(&mut sheet, |e| e.open(edge)), [1, 1, 0]);
    assert_eq!(sheet.kind(inner), Some(Kind::Tip));
    assert_eq!(sheet.siblings(rim).count(), 1);
    assert_eq!(
        sheet.rim_neighbours(inner).unwrap().map(|n| sheet.rest(n)),
        [sheet.rest(rim); 2]
    );

    let mut sheet = standard();
    let (a, b) = (node(&sheet, 10, 8), node(&sheet, 10, 9));
    let edge = between(&sheet, a, b);
    assert_eq!(change(&mut sheet, |e| e.open(edge)), [2, 5, 2]);
    assert_eq!([a, b].map(|n| sheet.kind(n)), [Some(Kind::Tip); 2]);
    assert_eq!(sheet.pieces(), 1);
}

#[test]
fn a_zipper_opens_and_closes_its_temporary_nodes() {
    // M11: from the rim inwards along the edge to `n`, with a moving tip on the way.
    let mut sheet = standard();
    let (rim, a, n) = (
        node(&sheet, 20, 8),
        node(&sheet, 19, 8),
        node(&sheet, 18, 8),
    );
    let start = between(&sheet, rim, a);
    change(&mut sheet, |e| e.open(start));
    let whole = between(&sheet, a, n);
    let from_a = sheet.ends(whole)[0] == a;
    let mut tip = a;
    let made = change(&mut sheet, |e| {
        tip = e.split_edge(whole, if from_a { 0.1 } else { 0.9 })?;
        let behind = e.sheet().edge_between(a, tip)?;
        e.open(behind)
    });
    assert_eq!(made, [2, 4, 2]);
    assert_eq!(
        [a, tip].map(|n| sheet.kind(n)),
        [Some(Kind::Edge), Some(Kind::Tip)]
    );
    assert!(sheet.siblings(tip).next().is_none() && sheet.siblings(a).count() == 1);
    // On it goes, and into the far node.
    let ahead = between(&sheet, tip, n);
    assert_eq!(
        change(&mut sheet, |e| e.move_along(tip, ahead, 0.5)),
        [0, 0, 0]
    );
    assert_eq!(change(&mut sheet, |e| e.collapse(tip, n)), [-1, -3, -2]);
    assert_eq!(sheet.kind(n), Some(Kind::Tip));
    assert_eq!(counts(&sheet), [369, 1028, 660]);
    // The tear edge can be split on both sides at once (M12), and made whole again.
    let side = between(&sheet, a, n);
    let mut middle = n;
    let split = change(&mut sheet, |e| {
        middle = e.split_edge(side, 0.5)?;
        Ok(())
    });
    assert_eq!(split, [2, 4, 2]);
    assert_eq!(sheet.kind(n), Some(Kind::Tip));
    assert_eq!(change(&mut sheet, |e| e.collapse(middle, n)), [-2, -4, -2]);
    assert_eq!(sheet.kind(n), Some(Kind::Tip));
}

#[test]
fn collapse_inside_and_end_at_a_rim() {
    let mut sheet = standard();
    let (gone, keep) = (node(&sheet, 10, 8), node(&sheet, 10, 9));
    assert_eq!(change(&mut sheet, |e| e.collapse(gone, keep)), [-1, -3, -2]);

    // From rim to rim through the one node inside: at the end both ends of the last edge are doubled (M13).
    let shape = HexagonalShape {
        rows: 3,
        columns: 2,
        edge: 1.0,
    };
    let mut sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
    let inner = sheet.node_at(3);
    let (from, to) = (sheet.node_at(0), sheet.node_at(6));
    let start = between(&sheet, from, inner);
    assert_eq!(change(&mut sheet, |e| e.open(start)), [1, 1, 0]);
    let end = between(&sheet, inner, to);
    assert_eq!(change(&mut sheet, |e| e.open(end)), [2, 1, 0]);
    assert_eq!(sheet.pieces(), 2);
    assert!(sheet.nodes().all(|n| sheet.kind(n) == Some(Kind::Edge)));
}

#[test]
fn a_flip_keeps_all_counts_and_gives_a_new_name() {
    let mut sheet = standard();
    let edge = between(&sheet, node(&sheet, 10, 8), node(&sheet, 10, 9));
    assert_eq!(change(&mut sheet, |e| e.flip(edge).map(|_| ())), [0, 0, 0]);
    assert!(!sheet.has_edge(edge));
}

#[test]
fn only_sheets_are_taken() {
    let standard = HexagonalShape::STANDARD.surface().unwrap();
    let with = |edit: &dyn Fn(&mut Surface)| {
        let mut surface = standard.clone();
        edit(&mut surface);
        Sheet::new(&surface).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        Sheet::new(&Surface::default()).unwrap_err(),
        SheetError::Surface(SurfaceError::Empty)
    );
    assert!(matches!(
        with(&|s| s.triangles[5].swap(0, 1)),
        SheetError::Twisted { .. }
    ));
    let branch = with(&|s| {
        let [a, b, _] = s.triangles[40];
        s.positions.push(glam::DVec3::new(4e-3, 4e-3, 1e-3));
        s.triangles.push([a, b, 367]);
    });
    assert!(matches!(branch, SheetError::Branching { count: 3, .. }));
    assert_eq!(
        with(&|s| s.positions.push(glam::DVec3::ZERO)),
        SheetError::Stray(367)
    );
    assert_eq!(
        with(&|s| s.positions[1] = s.positions[0]),
        SheetError::Flat(1)
    );
    // Two triangles that touch at a corner.
    let pinched = Surface {
        positions: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
            .map(|[x, y]| glam::DVec3::new(x, y, 0.0))
            .to_vec(),
        triangles: vec![[0, 1, 2], [0, 3, 4]],
    };
    assert_eq!(Sheet::new(&pinched).unwrap_err(), SheetError::Pinched(0));
}
