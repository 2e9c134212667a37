//! Once warm, detection asks for no memory: boxes and balls on each other and on a mesh, boxes and hulls, capsules and
//! balls.

use glam::DVec3;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use trocar_collide::rigid::{
    Broad, Contacts, Deepest, Detector, Form, Regions, Scratch, Shape, World,
};
use trocar_math::{Pose, rotation};

/// The system's allocator, with a counter that runs while it is armed.
struct Counting;

static ARMED: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    fn note() {
        if ARMED.load(Ordering::Relaxed) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: everything is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::note();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn shape(form: Form) -> Shape {
    Shape::new(&form).expect("a sound form")
}

/// Number of allocations while a heap of `kinds` on `ground` turns, the second time it goes the same way.
fn allocations(ground: Shape, kinds: &[Shape]) -> usize {
    let mut shapes = vec![ground];
    let mut poses = vec![Pose::IDENTITY];
    for i in 0..64_u32 {
        shapes.push(kinds[i as usize % kinds.len()].clone());
        let place = |digit: u32| 0.3 * f64::from(i / digit % 4);
        poses.push(Pose::new(
            DVec3::new(place(1), 0.1 + place(4), place(16)),
            rotation::from_scaled_axis(DVec3::new(f64::from(i), 0.3, 0.7 * f64::from(i))),
        ));
    }
    let margins = vec![1e-3; shapes.len()];
    let (mut broad, mut scratch) = (Broad::default(), Scratch::default());
    let (mut bounds, mut pairs) = (Vec::new(), Vec::new());
    let (mut found, mut deepest) = (Contacts::default(), Contacts::default());
    COUNT.store(0, Ordering::SeqCst);
    for step in 0..40 {
        let turn = rotation::from_scaled_axis(DVec3::splat(0.01 * f64::from(step % 20)));
        let turned = |p: &Pose| Pose::new(turn * p.position, turn * p.rotation);
        let moved: Vec<_> = poses[..1]
            .iter()
            .copied()
            .chain(poses[1..].iter().map(turned))
            .collect();
        let world = World {
            shapes: &shapes,
            poses: &moved,
            margins: &margins,
        };
        found.clear();
        deepest.clear();
        ARMED.store(step >= 20, Ordering::SeqCst);
        world.bounds(&mut bounds);
        broad.update(&bounds, |_, _| true, &mut pairs);
        Regions.narrow(&world, &pairs, &mut scratch, &mut found);
        Deepest.narrow(&world, &pairs, &mut scratch, &mut deepest);
        ARMED.store(false, Ordering::SeqCst);
        assert!(found.manifolds.len() > 50 && deepest.points.len() > 50);
    }
    COUNT.load(Ordering::SeqCst)
}

// One test: the counter belongs to the whole program.
#[test]
fn heaps_ask_for_no_memory_once_warm() {
    let corners = [-0.15, 0.15];
    let points = corners
        .iter()
        .flat_map(|&x| corners.iter().map(move |&y| (x, y)))
        .flat_map(|(x, y)| corners.iter().map(move |&z| DVec3::new(x, y, z)))
        .collect();
    let hull = shape(Form::Hull { points });
    let cube = shape(Form::Box {
        half: DVec3::splat(0.2),
    });
    let ball = shape(Form::Ball { radius: 0.2 });
    let capsule = shape(Form::Capsule {
        half_length: 0.2,
        radius: 0.1,
    });
    let plane = shape(Form::HalfSpace { normal: DVec3::Y });
    let mesh = shape(Form::Mesh {
        vertices: vec![
            DVec3::new(-5.0, 0.1, -5.0),
            DVec3::new(5.0, 0.1, -5.0),
            DVec3::new(0.0, 0.1, 5.0),
        ],
        triangles: vec![[0, 2, 1]],
    });
    assert_eq!(allocations(mesh, &[cube.clone(), ball.clone()]), 0);
    assert_eq!(allocations(plane.clone(), &[cube, hull]), 0);
    assert_eq!(allocations(plane, &[capsule, ball]), 0);
}
