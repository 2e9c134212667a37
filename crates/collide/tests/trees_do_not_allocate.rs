//! Once warm, refits, searches and folds ask for no memory.

use glam::DVec3;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use trocar_collide::{
    fold::Folds,
    tree::{Search, Side, Tree},
};

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

/// A sheet of 40 by 40 squares that is folded over itself, a little differently in each frame.
fn frame(k: u32) -> Vec<DVec3> {
    let nodes = (0..=40).flat_map(|r| (0..=40).map(move |c| (r, c)));
    let place = |(r, c): (u32, u32)| {
        let (x, y) = (f64::from(r) * 0.01, f64::from(c) * 0.01);
        let over = 0.41 - x;
        let lift = 0.0005 + 0.0002 * f64::from((r * 7 + c * 3 + k) % 5);
        if r <= 20 {
            DVec3::new(x, y, 0.0)
        } else {
            DVec3::new(over + 0.0013 * f64::from(k), y + 0.0021, lift)
        }
    };
    nodes.map(place).collect()
}

#[test]
fn once_warm() {
    let at = |r: u32, c: u32| r * 41 + c;
    let squares = (0..40).flat_map(|r| (0..40).map(move |c| (r, c)));
    let triangles: Vec<[u32; 3]> = squares
        .flat_map(|(r, c)| {
            [
                [at(r, c), at(r, c + 1), at(r + 1, c + 1)],
                [at(r, c), at(r + 1, c + 1), at(r + 1, c)],
            ]
        })
        .collect();
    let frames: Vec<Vec<DVec3>> = (0..6).map(frame).collect();
    let mut tree = Tree::new(&triangles, &frames[0]).expect("a sound mesh");
    let through: Vec<DVec3> = frames[3]
        .iter()
        .map(|p| DVec3::new(p.z + 0.1, p.y, p.x - 0.1))
        .collect();
    let other = Tree::new(&triangles, &through).expect("a sound mesh");
    let mut search = Search::default();
    let mut folds = Folds::default();
    let mut found = [0; 3];
    let mut run = |found: &mut [usize; 3]| {
        for positions in &frames {
            tree.refit(positions).expect("finite positions");
            let a = Side {
                tree: &tree,
                positions,
            };
            let b = Side {
                tree: &other,
                positions: &through,
            };
            found[0] += search.between(a, b).len();
            found[1] += search.within(a).len();
            found[2] += folds.update(a, 0.002).len();
        }
    };
    run(&mut found);
    run(&mut found);
    ARMED.store(true, Ordering::Relaxed);
    run(&mut found);
    ARMED.store(false, Ordering::Relaxed);
    assert_eq!(COUNT.load(Ordering::Relaxed), 0);
    assert!(found[0] > 0 && found[2] > 0, "{found:?}");
}
