//! Tools that others have used on membranes, to compare with: rods that test points (W55–W59, W142) and carriers that move nodes (W141).

#![allow(clippy::unwrap_used)]

use glam::{DQuat, DVec3};
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::Pose;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::{Material, Membrane, MembraneParts};
use trocar_tools::membrane::{
    Carrier, Needle, NeedleParts, Rod, RodParts, Sampling, Stick, ToolBox, Travel,
};

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

fn sheet() -> Membrane {
    let sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
    let on_rim = |n: &NodeId| sheet.kind(*n) != Some(Kind::Inner);
    let fixed = sheet.nodes().filter(on_rim).map(|n| n.slot()).collect();
    let material = Material::Springs {
        stiffness: 6500.0,
        mass: 0.01,
    };
    let mut parts = MembraneParts::new(sheet, material);
    parts.fixed = fixed;
    parts.damping = 200.0;
    Membrane::new(parts).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(DVec3::new(x, y, z) * 1e-3, DQuat::IDENTITY)
}

fn rod(radius: f64, sampling: Sampling) -> Rod {
    Rod::new(RodParts {
        chain: vec![
            [DVec3::ZERO, DVec3::Z * 2e-3],
            [DVec3::Z * 2e-3, DVec3::Z * 5e-3],
        ],
        radius,
        stiffness: 6500.0,
        sampling,
    })
    .unwrap()
}

/// Presses a rod down into the sheet by half a millimetre; how deep the sheet is there then, m.
fn press(rod: &mut Rod, x: f64, y: f64) -> f64 {
    let mut membrane = sheet();
    membrane.expect_tools(rod.added_stiffness());
    let mut nodes = membrane.rest();
    let (from, to) = (at(x, y, 0.5), at(x, y, -0.5));
    for k in 0..30 {
        let pose = |k: u32| from.interpolate(&to, f64::from(k) / 30.0);
        let travel = Travel {
            from: pose(k),
            to: pose(k + 1),
            dt: 0.02,
        };
        let substeps = membrane.substeps(travel.dt, membrane.stable_step());
        rod.begin(&membrane, &nodes, travel, 0.2e-3);
        for s in 1..=substeps {
            membrane.force(&mut nodes, &STILL);
            let before: DVec3 = nodes.force.iter().sum();
            rod.act(&mut nodes, f64::from(s) / f64::from(substeps));
            // What it does to the sheet the sheet does to it.
            let given: DVec3 = nodes.force.iter().sum::<DVec3>() - before;
            assert!((given + rod.reaction().force).length() <= 1e-9 * (1.0 + given.length()));
            assert!(membrane.advance(&mut nodes, travel.dt / f64::from(substeps)));
        }
    }
    -nodes.position.iter().map(|p| p.z).fold(0.0, f64::min)
}

#[test]
fn a_rod_pushes_nodes_out_and_what_is_thinner_than_gaps_slips_through() {
    // Thick: it carries the sheet down. Between nodes and thinner than the gaps: nodes alone never feel it, midpoints do where they are.
    let thick = press(&mut rod(0.5e-3, Sampling::Nodes), 4.1, 4.2);
    assert!(thick > 0.2e-3, "{thick}");
    let (x, y) = (4.0 + 0.125, 4.330_127 + 0.07);
    let thin = press(&mut rod(0.05e-3, Sampling::Nodes), x, y);
    assert!(thin < 1e-9, "{thin}");
    let middle = press(
        &mut rod(0.05e-3, Sampling::Midpoints),
        4.0 + 0.25,
        4.330_127,
    );
    assert!(middle > 0.05e-3, "{middle}");
    // A needle of the same size that tests triangles does not slip through anywhere.
    let mut membrane = sheet();
    let mut needle = Needle::new(NeedleParts {
        axis: [DVec3::ZERO, DVec3::Z * 2e-3],
        radius: 0.05e-3,
        stiffness: 6500.0,
        friction: 0.0,
        stick: Stick::Never,
    })
    .unwrap();
    membrane.expect_tools(needle.added_stiffness());
    let mut nodes = membrane.rest();
    let travel = Travel {
        from: at(x, y, 0.2),
        to: at(x, y, 0.0),
        dt: 0.1,
    };
    let substeps = membrane.substeps(travel.dt, membrane.stable_step());
    needle.begin(&membrane, &nodes, travel);
    let mut touched = 0;
    for s in 1..=substeps {
        membrane.force(&mut nodes, &STILL);
        let part = f64::from(s) / f64::from(substeps);
        needle.act(&membrane, &mut nodes, part, travel.dt / f64::from(substeps));
        touched += needle.counts()[1];
        membrane.advance(&mut nodes, travel.dt / f64::from(substeps));
    }
    assert!(touched > 0);
}

#[test]
fn a_carrier_takes_along_what_meets_its_box() {
    let membrane = sheet();
    let mut nodes: Nodes = membrane.rest();
    let boxes = vec![ToolBox {
        centre: DVec3::ZERO,
        half: DVec3::splat(0.3e-3),
    }];
    let mut carrier = Carrier::new(boxes).unwrap();
    let travel = Travel {
        from: at(4.25, 4.33, 0.0),
        to: at(4.45, 4.33, 0.1),
        dt: 0.033,
    };
    carrier.begin(&nodes, travel);
    let before = nodes.clone();
    let met = carrier.end(&membrane, &mut nodes, travel);
    assert!((3..30).contains(&met), "{met}");
    let moved = nodes.position.iter().zip(&before.position);
    let ways: Vec<DVec3> = moved
        .map(|(p, q)| *p - *q)
        .filter(|w| *w != DVec3::ZERO)
        .collect();
    assert_eq!(ways.len(), met);
    let way = DVec3::new(0.2e-3, 0.0, 0.1e-3);
    assert!(ways.iter().all(|w| w.distance(way) < 1e-12));
}

#[test]
fn nonsense_is_refused() {
    let parts = |radius: f64, chain: Vec<[DVec3; 2]>| RodParts {
        chain,
        radius,
        stiffness: 1.0,
        sampling: Sampling::Nodes,
    };
    assert!(Rod::new(parts(0.0, vec![[DVec3::ZERO; 2]])).is_err());
    assert!(Rod::new(parts(1e-3, Vec::new())).is_err());
    assert!(Rod::new(parts(1e-3, vec![[DVec3::NAN; 2]])).is_err());
    assert!(Carrier::new(Vec::new()).is_err());
    let flat = ToolBox {
        centre: DVec3::ZERO,
        half: DVec3::new(1.0, 0.0, 1.0),
    };
    assert!(Carrier::new(vec![flat]).is_err());
}
