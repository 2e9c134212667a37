//! Nets used by the tests.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod random;

use glam::DVec3;
use trocar_dynamics::{Field, Integrator, Matter, MatterId, Nodes, Stages};
use trocar_mesh::primitive::{SheetShape, Tube, TubeShape};
use trocar_soft::{
    Base, Global, Hyper, Material, Net, NetKind, NetParts, global::Sight, primitive,
};

pub const MATERIAL: Material = Material {
    mass: 0.002,
    damping: 0.2,
    stiffness: 1.2,
    base: Base::Linear,
    gain: [1.0; 2],
    dead: [0.0; 2],
    limit: [f64::INFINITY; 2],
    shorten: 0.0,
    plastic: None,
    net: NetKind::C,
    memory: 0.2,
    memory_base: Base::Linear,
    centre_mass: 0.22,
    centre_damping: 2.0,
    turn_damping: 1e-3,
    centre_stiffness: 1.2,
    torsion: 1e-3,
    twist: 5e-4,
    bending: 1e-3,
    brace: 0.0,
    gravity: false,
    integrator: Integrator::Mesd,
    ground: None,
};

pub fn tube(rings: usize, around: usize, length: f64, radius: f64) -> TubeShape {
    TubeShape {
        path: vec![DVec3::ZERO, DVec3::X * length],
        radii: vec![[radius; 2]],
        up: DVec3::Y,
        rings,
        around,
    }
}

pub fn organ_tube(rings: usize, around: usize) -> Tube {
    tube(rings, around, 0.08, 0.03).organ().unwrap()
}

pub fn organ(rings: usize, around: usize, material: &Material) -> Net {
    Net::new(primitive::organ(&organ_tube(rings, around), material)).unwrap()
}

pub fn pipe(rings: usize, around: usize, material: &Material) -> Net {
    let tube = tube(rings, around, 0.06, 0.004).pipe().unwrap();
    Net::new(primitive::pipe(&tube, material)).unwrap()
}

pub fn sheet(rows: usize, columns: usize, material: &Material) -> Net {
    Net::new(sheet_parts(rows, columns, material)).unwrap()
}

pub fn sheet_parts(rows: usize, columns: usize, material: &Material) -> NetParts {
    let shape = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X * 0.1,
        v: DVec3::Z * 0.1,
        rows,
        columns,
    };
    primitive::sheet(
        &shape.surface().unwrap(),
        &shape.lattice_edges().unwrap(),
        material,
    )
}

/// A number in [−1, 1] that depends on `seed` alone.
pub fn noise(seed: u64) -> f64 {
    let mut x = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(0x1234_5678);
    x ^= x >> 31;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 32;
    (x % 2_000_001) as f64 / 1e6 - 1.0
}

pub fn shaken(net: &Net, size: f64, seed: u64) -> Nodes {
    let mut nodes = net.rest().clone();
    for (i, p) in nodes.position.iter_mut().enumerate() {
        if net.masses().lock(i) == trocar_dynamics::Lock::Free {
            let s = seed + 3 * i as u64;
            *p += DVec3::new(noise(s), noise(s + 1), noise(s + 2)) * size;
        }
    }
    for (z, q) in nodes.orientation.iter_mut().enumerate() {
        let s = seed + 7919 + 3 * z as u64;
        let turn = DVec3::new(noise(s), noise(s + 1), noise(s + 2)) * size;
        *q = trocar_math::rotation::from_scaled_axis(turn) * *q;
    }
    nodes
}

pub const REST: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

/// One substep of nets coupled by `hypers`, in which a matter's id is its index.
pub fn step(
    nets: &[Box<dyn Matter>],
    nodes: &mut [Nodes],
    hypers: &[Hyper],
    field: &Field,
    h: f64,
) -> bool {
    step_with(nets, nodes, (hypers, &mut []), field, h)
}

/// [`step`] with elements between things.
pub fn step_with(
    nets: &[Box<dyn Matter>],
    nodes: &mut [Nodes],
    (hypers, globals): (&[Hyper], &mut [Global]),
    field: &Field,
    h: f64,
) -> bool {
    let slot: Vec<u32> = (0..nets.len() as u32).collect();
    let sight = Sight {
        matter: |m: MatterId| &*nets[m.index()],
        slot: &slot,
    };
    Stages::default().gather(
        &|k| Some(nets[k].masses()),
        nodes,
        h,
        None,
        |nodes, _| {
            for (net, nodes) in nets.iter().zip(nodes.iter_mut()) {
                net.force(nodes, field);
            }
            globals
                .iter()
                .for_each(|g| g.apply(&sight, nodes, field.time));
            hypers.iter().for_each(|x| x.give_back(nodes, &slot));
        },
        |nodes| {
            let masses = |m: trocar_dynamics::MatterId| nets[m.index()].masses();
            hypers.iter().for_each(|x| x.copy(masses, nodes, &slot));
        },
    );
    let mut sound = true;
    for (net, nodes) in nets.iter().zip(nodes.iter_mut()) {
        net.plan(nodes, h, None);
        sound &= net.advance(nodes, h);
    }
    hypers
        .iter()
        .for_each(|x| x.copy(|m| nets[m.index()].masses(), nodes, &slot));
    for (net, nodes) in nets.iter().zip(nodes.iter_mut()) {
        net.settle(nodes);
    }
    globals.iter_mut().for_each(|g| g.settle(&sight, nodes));
    sound
}

pub fn boxed(net: Net) -> Vec<Box<dyn Matter>> {
    vec![Box::new(net)]
}
