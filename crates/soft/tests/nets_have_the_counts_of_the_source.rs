//! Node and element counts of the models in Table 6.1 and §5.2.2 of the source.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, organ, pipe, sheet};
use trocar_dynamics::Matter;
use trocar_soft::{Material, Net, NetKind};

fn counts(net: &Net) -> (usize, usize, usize) {
    (
        net.masses().len(),
        net.element_count(),
        net.triangles().len(),
    )
}

#[test]
fn model_1_gall_bladder() {
    // 195 nodes, 756 elements, 1536 facets after one refinement.
    assert_eq!(counts(&organ(16, 12, &MATERIAL)), (195, 756, 1536 / 4));
}

#[test]
fn model_1_duct_with_a_damper_along_every_longitudinal_pair() {
    // 130 nodes; 453 springs, and 108 dampers that bring the printed 561.
    let braced = Material {
        brace: 0.01,
        ..MATERIAL
    };
    assert_eq!(counts(&pipe(10, 12, &MATERIAL)), (130, 453, 864 / 4));
    assert_eq!(counts(&pipe(10, 12, &braced)), (130, 561, 864 / 4));
}

#[test]
fn model_2() {
    // The printed 3200 facets belong to 20 rings; nodes and elements to 22.
    let (nodes, elements, _) = counts(&organ(22, 20, &MATERIAL));
    assert_eq!((nodes, elements), (443, 1740));
    assert_eq!(counts(&pipe(13, 20, &MATERIAL)), (273, 992, 1920 / 4));
}

#[test]
fn the_organ_of_the_graphics_comparison() {
    assert_eq!(counts(&organ(11, 10, &MATERIAL)), (113, 430, 220));
}

#[test]
fn a_sheet() {
    let (r, c) = (7, 5);
    let elements = r * (c - 1) + c * (r - 1) + 2 * (r - 1) * (c - 1);
    assert_eq!(
        counts(&sheet(r, c, &MATERIAL)),
        (r * c, elements, 2 * (r - 1) * (c - 1))
    );
}

#[test]
fn a_pipe_bends_at_all_but_its_ends_and_twists_at_every_ring() {
    let net = pipe(10, 12, &MATERIAL);
    assert_eq!((net.bends().count(), net.torsions().len()), (8, 10));
}

#[test]
fn nets_a_and_b_leave_diagonals_out() {
    let (r, c) = (16, 12);
    let elements = |net| counts(&organ(r, c, &Material { net, ..MATERIAL })).1;
    let edges = r * c + c * (r - 1) + 2 * c;
    assert_eq!(elements(NetKind::A), edges);
    assert_eq!(elements(NetKind::B), edges + c * (r - 1));
    assert_eq!(elements(NetKind::C), edges + 2 * c * (r - 1));
}
