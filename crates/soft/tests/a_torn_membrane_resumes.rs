//! A membrane that was torn, stored and read again goes on to the last bit as if nothing had been.

#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::Sheet;
use trocar_soft::membrane::tear::{Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{
    Adhesion, Bending, Damaged, Hold, Material, Measure, Membrane, MembraneParts,
};

fn membrane(algorithm: Algorithm, bending: Bending, material: Material) -> Membrane {
    of_shape(HexagonalShape::STANDARD, algorithm, bending, material)
}

fn of_shape(
    shape: HexagonalShape,
    algorithm: Algorithm,
    bending: Bending,
    material: Material,
) -> Membrane {
    let sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
    let mut parts = MembraneParts::new(sheet, material);
    parts.bending = bending;
    parts.damping = 20.0;
    parts.prestress = 0.95;
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(50.0),
        distance: 2e-4,
        decrement: 0.2,
    });
    parts.measure = match material {
        Material::Springs { .. } => Measure::Printed,
        Material::Sheet { .. } => Measure::Tension { reach: 1e-3 },
    };
    if bending == Bending::None && matches!(material, Material::Springs { .. }) {
        parts.fold_support = Some(0.3);
    }
    parts.tearing = Some(TearSettings {
        algorithm,
        thresholds: Thresholds {
            tip: 1.0,
            edge: 1.5,
            inner: 3.0,
            fastest: 6.0,
        },
        lengths: Lengths::of_edge(0.5e-3),
    });
    parts.fixed = (0..parts.sheet.node_slots())
        .filter(|n| parts.sheet.rest(parts.sheet.node_at(*n)).x < 1e-6)
        .collect();
    Membrane::new(parts).unwrap()
}

/// A frame: substeps while the far side is pulled, then what is done once a frame. How often it tore.
fn frame(membrane: &mut Membrane, nodes: &mut Nodes, time: f64) -> usize {
    let field = Field {
        time,
        gravity: DVec3::ZERO,
    };
    let h = 0.9 * membrane.stable_step().min(2e-4);
    for _ in 0..20 {
        membrane.force(nodes, &field);
        for n in 0..nodes.len() {
            let rest = membrane.sheet().rest(membrane.sheet().node_at(n));
            if rest.x > 7e-3 && membrane.sheet().has_live_node(n) {
                let aside = (rest.y - 4e-3).signum();
                nodes.force[n] +=
                    DVec3::new(60.0, 120.0 * aside, 40.0 * aside) * membrane.masses().mass()[n];
            }
        }
        assert!(membrane.advance(nodes, h));
    }
    membrane.detach(nodes);
    membrane.support_folds(nodes);
    let mut tears = 0;
    for _ in 0..3 {
        tears += usize::from(matches!(membrane.tear(nodes), Ok(Some(_))));
    }
    tears
}

#[test]
fn it_goes_on_as_if_nothing_had_been() {
    let springs = Material::Springs {
        stiffness: 6500.0,
        mass: 0.01,
    };
    let film = Material::Sheet {
        stiffness: 2000.0,
        poisson: 0.3,
        density: 50.0,
    };
    let bent = Bending::Springs { stiffness: 300.0 };
    let hinged = Bending::Hinges { rigidity: 1e-6 };
    let cases = [
        (Algorithm::Continuous, Bending::None, springs),
        (Algorithm::PseudoContinuous, bent, springs),
        (Algorithm::Continuous, hinged, film),
        (Algorithm::Deletion, bent, springs),
    ];
    for (algorithm, bending, material) in cases {
        let whole = membrane(algorithm, bending, material);
        let (mut one, mut nodes) = (whole.clone(), whole.rest());
        let mut tears = 0;
        for k in 0..30 {
            tears += frame(&mut one, &mut nodes, f64::from(k));
        }
        assert!(tears > 10, "{algorithm:?}: {tears}");
        let mut two = whole.from_record(one.record()).unwrap();
        assert_eq!(two.record(), one.record());
        let mut again = nodes.clone();
        let mut more = 0;
        for k in 30..60 {
            more += frame(&mut one, &mut nodes, f64::from(k));
            frame(&mut two, &mut again, f64::from(k));
            assert_eq!(again.position, nodes.position, "{algorithm:?} frame {k}");
        }
        assert!(more > 0, "{algorithm:?} tore no more");
        assert_eq!(two.record(), one.record(), "{algorithm:?}");
        one.sheet().check().unwrap();
    }
}

#[test]
fn what_a_smaller_one_became_is_refused() {
    let springs = Material::Springs {
        stiffness: 6500.0,
        mass: 0.01,
    };
    let film = Material::Sheet {
        stiffness: 2000.0,
        poisson: 0.3,
        density: 50.0,
    };
    let bent = Bending::Springs { stiffness: 300.0 };
    for (bending, material) in [
        (Bending::None, springs),
        (bent, springs),
        (Bending::Hinges { rigidity: 1e-6 }, film),
    ] {
        let whole = membrane(Algorithm::Continuous, bending, material);
        let strip = HexagonalShape::STRIP;
        let small = of_shape(strip, Algorithm::Continuous, bending, material);
        let refused = whole.from_record(small.record()).err();
        assert_eq!(refused, Some(Damaged::Lists), "{bending:?}");
        assert!(small.from_record(small.record()).is_ok(), "{bending:?}");
    }
}
