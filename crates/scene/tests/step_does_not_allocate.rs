//! Once warm, a step asks for no memory: not in contact, not while something is held, not on several threads.

mod common;

use common::{busy, gallbladder, operation, simulation, theatre};
use glam::DVec3;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use trocar_dynamics::Anchor;
use trocar_scene::{Input, Insight, Pull, Simulation, Views};

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

/// Number of allocations while `inputs` are stepped through.
fn allocations(simulation: &mut Simulation, inputs: &[Input]) -> usize {
    COUNT.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    for input in inputs {
        simulation.step(input);
    }
    ARMED.store(false, Ordering::SeqCst);
    COUNT.load(Ordering::SeqCst)
}

/// One test without a harness: the count is that of the whole process, and a harness allocates whenever a test ends or takes long.
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let name = "a_warm_step_takes_no_memory";
    let mut filters = wanted.iter().filter(|word| !word.starts_with('-'));
    let is_meant = filters.clone().count() == 0 || filters.any(|word| name.contains(&word[..]));
    if is_meant && !wanted.iter().any(|word| word == "--list") {
        a_warm_step_takes_no_memory();
        println!("test {name} ... ok");
    }
}

fn a_warm_step_takes_no_memory() {
    the_counter_counts();
    pushing_and_pulling_a_gall_bladder_takes_no_memory();
    two_threads_take_no_memory_either();
    the_mouse_and_the_endoscope_take_no_memory();
    bodies_on_tissue_take_no_memory();
    a_heap_that_comes_apart_and_together_takes_no_memory();
    stages_elements_and_substeps_that_follow_the_state_take_no_memory();
    a_net_that_is_shared_out_among_threads_takes_no_memory();
    chains_that_begin_to_touch_take_no_memory();
    joints_that_fall_asleep_and_wake_take_no_memory();
    substeps_of_higher_order_take_no_memory();
    membranes_that_peel_and_stop_to_tear_take_no_memory();
    needles_and_forceps_take_no_memory();
    sheets_that_touch_each_other_take_no_memory();
    tissue_on_a_distance_grid_takes_no_memory();
}

/// A tool presses a sheet onto another below it, and lets go, again and again.
fn sheets_that_touch_each_other_take_no_memory() {
    let mut text = String::from("trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\n");
    for (name, height) in [("below", 0.0), ("above", 0.001)] {
        text += &format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [-0.01, {height:?}, -0.01]\nu = [0, 0, 0.02]\nv = [0.02, 0, 0]\nrows = 11\ncolumns = 11\n\
             fixed = [{{ ring = 0 }}, {{ ring = 10 }}]\n\
             material = {{ mass = 0.0001, damping = 0.02, stiffness = 60, memory = 2, contact_thickness = 0.0004 }}\n"
        );
    }
    text += "[[instrument]]\nname = \"tool\"\ntrocar = [0, 0.15, 0]\ntarget = [0, 0, 0]\ndepth = 0.12\njaw = 0\njaws = [0, 1]\n";
    let mut simulation = common::built(&text);
    let tool = simulation.model().tools[0].grasper.clone();
    let inputs: Vec<Input> = (0..200)
        .map(|k| {
            let c = trocar_math::real::cos(f64::from(k) * std::f64::consts::TAU / 100.0);
            let mut input = simulation.idle_input();
            let tip = DVec3::new(0.0005, 0.002 + 0.005 * c, 0.0003);
            input.handles[0] = tool.handle_at(tip, 0.0, 0.0);
            input
        })
        .collect();
    for _ in 0..2 {
        allocations(&mut simulation, &inputs);
    }
    let bears = |simulation: &Simulation| {
        let below = simulation.model().tissues[0].matter;
        let nodes = &simulation.state().nodes[below.index()].position;
        nodes.iter().any(|p| p.y < -5e-4)
    };
    let (mut taken, mut borne) = (0, false);
    for input in &inputs {
        taken += allocations(&mut simulation, std::slice::from_ref(input));
        borne |= bears(&simulation);
    }
    assert!(borne, "the lower one is pressed down by the upper one");
    assert_eq!(taken, 0);
}

/// A sheet that lies in a bowl is drawn to and fro in it.
fn tissue_on_a_distance_grid_takes_no_memory() {
    let path = common::scenes().join("bowl.toml");
    let scene = trocar_scene::Scene::load(path).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = simulation(&scene, 1);
    let matter = simulation.model().tissues[0].matter;
    let idle = simulation.idle_input();
    let inputs: Vec<Input> = (0..300)
        .map(|k| {
            let (s, c) = trocar_math::real::sin_cos(f64::from(k) * std::f64::consts::TAU / 100.0);
            let mut input = idle.clone();
            input.pulls = vec![Pull {
                anchor: Anchor::node(matter, 84),
                target: DVec3::new(0.01 * s, -0.015, 0.01 * c),
                force: 0.2,
            }];
            input
        })
        .collect();
    let _ = allocations(&mut simulation, &inputs);
    let count = allocations(&mut simulation, &inputs);
    assert!(simulation.report().contacts > 10, "it lies in the bowl");
    assert_eq!(count, 0, "tissue on a grid took memory");
    looking_takes_no_memory(&simulation);
}

/// A needle sweeps to and fro over a sheet that sticks to it, and forceps hold and lift another part of it.
fn needles_and_forceps_take_no_memory() {
    let text = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
        [[membrane]]\nname = \"film\"\nhexagonal = {}\nsprings = { stiffness = 650, mass = 0.001 }\ndamping = 60\nfriction = [1.2, 1.0]\n\
        adhesion = { node = 40, distance = 1 }\n\
        [[instrument]]\nname = \"needle\"\nkind = \"needle\"\ntrocar = [0.004, 0.004, 0.04]\ntarget = [0.004, 0.004, 0.0]\ndepth = 0.036\ndepths = [0.02, 0.05]\n\
        shaft_radius = 0.0002\njaw_length = 0.001\njaw_radius = 0.0002\nspeed = 0.05\nfriction = [1.2, 1.0]\n\
        [[instrument]]\nname = \"forceps\"\nkind = \"forceps\"\ntrocar = [0.0015, 0.0015, 0.04]\ntarget = [0.0015, 0.0015, 0.0]\ndepth = 0.0375\ndepths = [0.02, 0.05]\n\
        shaft_radius = 0.0002\njaw_length = 0.0025\njaw_radius = 0.0001\njaws = [0.0, 0.5]\nspeed = 0.05\n";
    let mut simulation = common::built(text);
    let tools: Vec<_> = (0..2)
        .map(|t| simulation.model().tools[t].grasper.clone())
        .collect();
    let idle = simulation.idle_input();
    let inputs: Vec<Input> = (0..400)
        .map(|k| {
            let (s, c) = trocar_math::real::sin_cos(f64::from(k) * std::f64::consts::TAU / 200.0);
            let mut input = idle.clone();
            let sweep = DVec3::new(5e-3 + 1.5e-3 * s, 5e-3, -0.1e-3);
            input.handles[0] = tools[0].handle_at(sweep, 0.0, 0.0);
            let lift = DVec3::new(1.5e-3, 1.5e-3, 0.2e-3 - 0.2e-3 * c);
            input.handles[1] = tools[1].handle_at(lift, 0.0, 0.0);
            input
        })
        .collect();
    // Warm: everything once.
    let _ = allocations(&mut simulation, &inputs);
    assert!(simulation.held(1) > 0, "the forceps hold something");
    let mut stuck = 0;
    for input in &inputs {
        simulation.step(input);
        stuck = stuck.max(simulation.sticking(0));
    }
    assert!(stuck > 0, "the sheet sticks to the needle");
    let count = allocations(&mut simulation, &inputs);
    assert_eq!(count, 0, "a tool on a membrane took memory");
}

/// One membrane is torn first and then only peels and is pulled at; tears themselves may grow.
fn membranes_that_peel_and_stop_to_tear_take_no_memory() {
    let text = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n[[membrane]]\nname = \"film\"\nhexagonal = {}\n\
        springs = { stiffness = 650, mass = 0.001 }\ndamping = 20\nfold_support = 0.1\nslit = [[[0.004, 0.0, 0.0], [0.004, 0.002, 0.0]]]\n\
        adhesion = { node = 20, distance = 0.0003, release = 0.05 }\ntearing = { tip = 10, edge = 300, inner = 600, fastest = 60 }\n\
        [[command]]\nat = 0\nuntil = 1.5\npull = [[0.002, 0.0, 0.0], [0.001, 0.002, 0.003]]\non = { tissue = \"film\", at = [0.002, 0.0, 0.0] }\nforce = 2\n\
        [[command]]\nat = 0\nuntil = 8\npull = [[0.006, 0.0, 0.0], [0.006, 0.0, 0.0005]]\non = { tissue = \"film\", at = [0.006, 0.0, 0.0] }\nforce = 0.1\n\
        [[instrument]]\nname = \"probe\"\ntrocar = [0.0, 0.1, 0.1]\ntarget = [0.004, 0.004, 0.0]\ndepth = 0.12\n";
    let mut simulation = common::built(text);
    let version = |s: &Simulation| {
        let film = s.model().films[0].matter;
        s.model().membrane(film).map_or(0, |m| m.sheet().version())
    };
    let whole = version(&simulation);
    let input = simulation.idle_input();
    for _ in 0..500 {
        simulation.step(&input);
    }
    let torn = version(&simulation);
    assert!(torn > whole + 5, "{torn}");
    let mut pulled = input.clone();
    pulled.pulls.push(Pull {
        anchor: Anchor::node(simulation.model().films[0].matter, 200),
        target: DVec3::new(0.004, 0.004, 0.0001),
        force: 0.01,
    });
    simulation.step(&pulled);
    let inputs: Vec<Input> = (0..200)
        .map(|k| {
            if k % 40 < 20 {
                pulled.clone()
            } else {
                input.clone()
            }
        })
        .collect();
    let count = allocations(&mut simulation, &inputs);
    assert_eq!(version(&simulation), torn, "it went on to tear");
    assert_eq!(count, 0, "a membrane took memory");
}

/// Chains of ball joints that hang on the world, each body as it says; the links are 0.2 m long.
fn chains(world: &str, count: usize, links: usize, body: &str) -> String {
    let mut text = format!("trocar = 1\n[world]\n{world}\n");
    for chain in 0..count {
        let z = 0.5 * chain as f64;
        for i in 0..links {
            let x = 0.1 + 0.2 * i as f64;
            let a = match i {
                0 => format!("world = [0, 1, {z:?}]"),
                _ => format!("body = \"{chain} {}\", at = [0.1, 0, 0]", i - 1),
            };
            text += &format!(
                "[[body]]\nname = \"{chain} {i}\"\nmass = 0.5\nposition = [{x:?}, 1, {z:?}]\n{body}\n\
                 [[joint]]\nkind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"{chain} {i}\", at = [-0.1, 0, 0] }}\n"
            );
        }
    }
    text
}

/// One of two chains swings against a block, for the first time after the steps were counted warm: it goes from the room of the trees to
/// that of all joints.
fn chains_that_begin_to_touch_take_no_memory() {
    let mut text = chains(
        "step = 0.002\nsleep = false",
        2,
        5,
        "half_extents = [0.08, 0.02, 0.02]",
    );
    text += "[[body]]\nname = \"block\"\nmotion = \"static\"\nposition = [-0.5, 0.3, 0]\nhalf_extents = [0.1, 0.5, 0.2]\n\
             [[body]]\nname = \"floor\"\nmotion = \"static\"\nposition = [5, 0, 0]\nhalf_extents = [3, 0.05, 3]\n";
    // Pairs on the floor warm the contacts of jointed bodies up, and are then lifted, so that there are never more contacts than before.
    for k in 0..20 {
        let x = 3.0 + 0.2 * f64::from(k);
        text += &format!(
            "[[body]]\nname = \"loose {k}\"\nmass = 1\nposition = [{x:?}, 0.1, 0]\nhalf_extents = [0.05, 0.05, 0.05]\n"
        );
        if k % 2 == 1 {
            text += &format!(
                "[[joint]]\nkind = \"ball\"\nat = [{:?}, 0.1, 0]\na = {{ body = \"loose {}\" }}\nb = {{ body = \"loose {k}\" }}\n",
                x - 0.1,
                k - 1
            );
        }
    }
    let mut simulation = common::built(&text);
    let bodies = simulation
        .model()
        .bodies
        .unwrap_or_else(|| panic!("there are bodies"));
    let mut lift = simulation.idle_input();
    for k in 0..20 {
        lift.pulls.push(Pull {
            anchor: Anchor::node(bodies, 10 + k),
            target: DVec3::new(3.0 + 0.2 * f64::from(k), 0.3, 0.0),
            force: 30.0,
        });
    }
    for _ in 0..60 {
        let idle = simulation.idle_input();
        simulation.step(&idle);
    }
    let before = simulation.report().contacts;
    for _ in 0..90 {
        simulation.step(&lift);
    }
    assert!(
        before >= 80 && simulation.report().contacts == 0,
        "{before}"
    );
    let on = vec![lift; 300];
    let (mut most, mut taken) = (0, 0);
    for input in &on {
        taken += allocations(&mut simulation, std::slice::from_ref(input));
        most = most.max(simulation.report().contacts);
    }
    assert!(most > 0, "the chain has missed the block");
    assert_eq!(taken, 0);
}

/// A chain and a hinge that lie on the floor are lifted by a hand and let go: they wake, and sleep again.
fn joints_that_fall_asleep_and_wake_take_no_memory() {
    let mut text = String::from(
        "trocar = 1\n[world]\nstep = 0.002\n[[body]]\nname = \"floor\"\nmotion = \"static\"\nposition = [0, 0, 0]\nform = { half_space = [0, 1, 0] }\n",
    );
    for k in 0..6 {
        text += &format!(
            "[[body]]\nname = \"{k}\"\nmass = 1\nposition = [{:?}, 0.05, 0]\nhalf_extents = [0.05, 0.05, 0.05]\n",
            0.2 * f64::from(k)
        );
    }
    for k in [1, 2, 3, 5] {
        let (kind, at) = match k {
            5 => ("hinge", "axis = [0, 0, 1]\n"),
            _ => ("ball", ""),
        };
        text += &format!(
            "[[joint]]\nkind = \"{kind}\"\n{at}at = [{:?}, 0.05, 0]\na = {{ body = \"{}\" }}\nb = {{ body = \"{k}\" }}\n",
            0.2 * f64::from(k) - 0.1,
            k - 1
        );
    }
    let mut simulation = common::built(&text);
    let bodies = simulation
        .model()
        .bodies
        .unwrap_or_else(|| panic!("there are bodies"));
    let idle = simulation.idle_input();
    let mut lift = idle.clone();
    for (node, x) in [(0, 0.0), (4, 0.8)] {
        lift.pulls.push(Pull {
            anchor: Anchor::node(bodies, node),
            target: DVec3::new(x, 0.2, 0.0),
            force: 30.0,
        });
    }
    let mut inputs = vec![lift; 200];
    inputs.resize(2200, idle.clone());
    let sleeps = |simulation: &mut Simulation| simulation.step(&idle).contacts == 0;
    for input in &inputs[200..] {
        simulation.step(input);
    }
    assert!(sleeps(&mut simulation), "before anything is lifted");
    for input in &inputs {
        simulation.step(input);
    }
    assert!(sleeps(&mut simulation), "after it was lifted once");
    let woken = allocations(&mut simulation, &inputs[..1]);
    assert!(!sleeps(&mut simulation), "they wake");
    let rest = allocations(&mut simulation, &inputs[1..]);
    assert!(sleeps(&mut simulation), "they sleep again");
    assert_eq!([woken, rest], [0, 0]);
}

/// Chains of ball joints, each step in links that go ahead and back.
fn substeps_of_higher_order_take_no_memory() {
    let text = chains(
        "step = 0.005\norder = 4",
        2,
        4,
        "half_extents = [0.08, 0.02, 0.02]\ncollide = false",
    );
    let mut simulation = common::built(&text);
    let inputs = vec![simulation.idle_input(); 100];
    allocations(&mut simulation, &inputs);
    assert_eq!(allocations(&mut simulation, &inputs), 0);
}

/// So many cubes lie side by side that their contacts are cut into slabs, and half of them are lifted off again and again.
fn a_heap_that_comes_apart_and_together_takes_no_memory() {
    let mut text = String::from(
        "trocar = 1\n[world]\nstep = 0.002\nsleep = false\n[[body]]\nname = \"floor\"\nmotion = \"static\"\n\
         position = [0, 0, 0]\nform = { half_space = [0, 1, 0] }\n",
    );
    for k in 0..120 {
        let (x, z) = (0.2 * f64::from(k % 12), 0.2 * f64::from(k / 12));
        text += &format!(
            "[[body]]\nname = \"{k}\"\nmass = 1\nposition = [{x}, 0.05, {z}]\nhalf_extents = [0.05, 0.05, 0.05]\n"
        );
    }
    let mut simulation = common::built(&text);
    let bodies = simulation
        .model()
        .bodies
        .unwrap_or_else(|| panic!("there are bodies"));
    let inputs: Vec<Input> = (0..400)
        .map(|k| {
            let mut input = simulation.idle_input();
            let lifted = if k < 200 { 60 } else { 0 };
            for node in 0..lifted {
                let (x, z) = (0.2 * f64::from(node % 12), 0.2 * f64::from(node / 12));
                input.pulls.push(Pull {
                    anchor: Anchor::node(bodies, node),
                    target: DVec3::new(x, 0.2, z),
                    force: 30.0,
                });
            }
            input
        })
        .collect();
    for _ in 0..2 {
        allocations(&mut simulation, &inputs);
    }
    let all = simulation.report().contacts;
    simulation.step(&inputs[0]);
    allocations(&mut simulation, &inputs[..150]);
    let fewer = simulation.report().contacts;
    assert!(all >= 480 && fewer <= 300, "{all} and {fewer} contacts");
    allocations(&mut simulation, &inputs[150..]);
    assert_eq!(allocations(&mut simulation, &inputs), 0);
}

/// Bodies of every form are drawn over a sheet, to and fro.
fn bodies_on_tissue_take_no_memory() {
    let mut text = String::from(
        "trocar = 1\n[world]\nstep = 0.002\n[[sheet]]\nname = \"sheet\"\norigin = [-0.1, 0, -0.1]\nu = [0, 0, 0.2]\n\
         v = [0.2, 0, 0]\nrows = 17\ncolumns = 17\nfixed = [{ ring = 0 }, { ring = 16 }]\n\
         material = { mass = 0.001, damping = 0.05, stiffness = 60, memory = 10, friction = [0.5, 0.4] }\n",
    );
    let forms = [
        "{ ball = 0.012 }",
        "{ box = [0.015, 0.008, 0.012] }",
        "{ cylinder = { half_length = 0.01, radius = 0.012 } }",
        "{ hull = [[-0.02, -0.01, -0.02], [0.02, -0.01, -0.02], [0, -0.01, 0.02], [0, 0.02, 0]] }",
    ];
    for (k, form) in forms.iter().enumerate() {
        let x = 0.045 * k as f64 - 0.07;
        text += &format!(
            "[[body]]\nname = \"{k}\"\nmass = 0.02\nposition = [{x}, 0.02, 0]\nform = {form}\n"
        );
    }
    let mut simulation = common::built(&text);
    let bodies = simulation
        .model()
        .bodies
        .unwrap_or_else(|| panic!("there are bodies"));
    let inputs: Vec<Input> = (0..600)
        .map(|k| {
            let mut input = simulation.idle_input();
            let s = trocar_math::real::sin(f64::from(k) * std::f64::consts::TAU / 300.0);
            for node in 0..4 {
                let x = 0.045 * f64::from(node) - 0.07;
                input.pulls.push(Pull {
                    anchor: Anchor::node(bodies, node),
                    target: DVec3::new(x, 0.005, 0.03 * s),
                    force: 0.5,
                });
            }
            input
        })
        .collect();
    for _ in 0..3 {
        allocations(&mut simulation, &inputs);
    }
    assert_eq!(allocations(&mut simulation, &inputs), 0);
    assert!(simulation.report().contacts > 4, "it was a test of contact");
}

fn the_counter_counts() {
    COUNT.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    let copy = std::hint::black_box(vec![1_u8; 64]);
    ARMED.store(false, Ordering::SeqCst);
    assert!(COUNT.load(Ordering::SeqCst) == 1 && copy.len() == 64);
}

fn pushing_and_pulling_a_gall_bladder_takes_no_memory() {
    let scene = gallbladder();
    let mut simulation = simulation(&scene, 1);
    let inputs = operation(&simulation);
    // Approach and push, 0.8 s; then to and fro in contact.
    let push = 800;
    let (near, deep) = (&inputs[push - 60], &inputs[push - 1]);
    let rubbing: Vec<Input> = (0..2000)
        .map(|k| {
            let t = trocar_math::real::sin(k as f64 * 0.02).abs();
            let mut input = near.clone();
            let (a, b) = (near.handles[0], deep.handles[0]);
            input.handles[0].yaw = a.yaw + (b.yaw - a.yaw) * t;
            input.handles[0].pitch = a.pitch + (b.pitch - a.pitch) * t;
            input.handles[0].depth = a.depth + (b.depth - a.depth) * t;
            input
        })
        .collect();
    allocations(&mut simulation, &inputs[..push]);
    allocations(&mut simulation, &rubbing);
    assert_eq!(allocations(&mut simulation, &rubbing), 0);
    assert!(simulation.report().contacts > 0, "it was a test of contact");

    // Grasp: that may allocate. Then lift and lower, twice.
    allocations(&mut simulation, &inputs[push..1100]);
    assert!(!simulation.grip(0).is_empty(), "it holds something");
    let lift = &inputs[1100..1600];
    let lower: Vec<Input> = lift.iter().rev().cloned().collect();
    allocations(&mut simulation, lift);
    allocations(&mut simulation, &lower);
    assert_eq!(allocations(&mut simulation, lift), 0);
    assert_eq!(allocations(&mut simulation, &lower), 0);
    assert!(!simulation.grip(0).is_empty(), "it still holds");
}

fn two_threads_take_no_memory_either() {
    let scene = theatre();
    let mut simulation = simulation(&scene, 2);
    // Jaws stay open: taking hold is an event, and events carry names.
    let inputs: Vec<Input> = (0..400)
        .map(|k| {
            let mut input = busy(&simulation, k);
            input.handles.iter_mut().for_each(|h| h.jaw = 0.9);
            input
        })
        .collect();
    // It swings for some rounds before it has touched as much as it ever will.
    for _ in 0..2 {
        allocations(&mut simulation, &inputs);
    }
    assert_eq!(allocations(&mut simulation, &inputs), 0);
    assert!(simulation.report().events.is_empty());
}

fn the_mouse_and_the_endoscope_take_no_memory() {
    let scene = gallbladder();
    let mut simulation = simulation(&scene, 1);
    let matter = simulation.model().tissues[0].matter;
    let inputs: Vec<Input> = (0..200)
        .map(|k| {
            let mut input = simulation.idle_input();
            let (s, c) = trocar_math::real::sin_cos(f64::from(k) * 0.05);
            if let Some(handle) = &mut input.endoscope {
                handle.yaw += 0.1 * s;
            }
            for node in [20, 30] {
                input.pulls.push(Pull {
                    anchor: Anchor::node(matter, node),
                    target: DVec3::new(s, c, 0.0) * 0.05,
                    force: 0.5,
                });
            }
            input
        })
        .collect();
    allocations(&mut simulation, &inputs);
    assert_eq!(allocations(&mut simulation, &inputs), 0);
    looking_takes_no_memory(&simulation);
    COUNT.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    let energy = simulation.energy();
    ARMED.store(false, Ordering::SeqCst);
    assert_eq!(COUNT.load(Ordering::SeqCst), 0);
    assert!(energy.total().is_finite());
}

/// A second look at everything uses the memory of the first.
fn looking_takes_no_memory(simulation: &Simulation) {
    let views = Views {
        nodes: true,
        elements: true,
        contacts: true,
        forces: true,
        anchors: true,
        frames: true,
        normals: true,
        boxes: true,
        depths: true,
        stress: true,
        displacement: true,
        adhesion: true,
        front: true,
    };
    let mut insight = Insight::default();
    simulation.insight(views, &mut insight);
    COUNT.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    simulation.insight(views, &mut insight);
    ARMED.store(false, Ordering::SeqCst);
    assert_eq!(COUNT.load(Ordering::SeqCst), 0);
}

fn stages_elements_and_substeps_that_follow_the_state_take_no_memory() {
    let mut simulation = common::built(
        r#"trocar = 1
[world]
step = 0.005
adaptive = true
[[signal]]
name = "beat"
sine = { rate = 2 }
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 6
columns = 6
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.02, stiffness = 40, integrator = "modified_heun", yields = { strain = 0.05 } }
[[sheet]]
name = "other"
origin = [0, 0, 0.06]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 6
columns = 6
material = { mass = 0.0005, damping = 0.02, stiffness = 40, integrator = "runge_kutta" }
[[element]]
a = { tissue = "sheet", node = 33 }
b = { tissue = "other", node = 3 }
answer = { stiffness = 5 }
drive = { signal = "beat", length = 0.1 }
[[pipe]]
name = "pipe"
path = [[0.1, 0, 0], [0.1, 0, 0.03]]
radii = [[0.006, 0.006]]
rings = 4
around = 6
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.02, stiffness = 60, memory = 20, centre_mass = 0.002, centre_damping = 0.05, centre_stiffness = 60, turn_damping = 0.0001 }
[[body]]
name = "ball"
position = [0.1, 0, 0.05]
mass = 0.01
inertia = [1e-6, 1e-6, 1e-6]
form = { ball = 0.005 }
collide = false
damping = 0.5
[[element]]
a = { body = "ball" }
b = { tissue = "other", node = 17 }
answer = { stiffness = 5, yields = { strain = 0.001, hardening = 0.5 } }
[[element]]
a = { tissue = "pipe", node = { centre = 2 } }
middle = { tissue = "pipe", node = { centre = 3 } }
b = { body = "ball" }
bend = 0.1
[[element]]
a = { body = "ball" }
b = { tissue = "pipe", node = { centre = 3 } }
torsion = 0.002
[[command]]
at = 0.02
push = [0, 0.1, 0]
on = { tissue = "other", node = 30 }
until = 10
[[command]]
at = 0.02
push = [0.01, 0.01, 0]
on = { body = "ball", at = [0.004, 0, 0] }
until = 10
[[command]]
at = 1.5
unyield = ["element 1"]
"#,
    );
    let inputs: Vec<Input> = (0..200).map(|_| simulation.idle_input()).collect();
    allocations(&mut simulation, &inputs);
    assert!(
        simulation.state().time < 1.5,
        "what is told to forget is so while it is counted"
    );
    assert_eq!(allocations(&mut simulation, &inputs), 0);
    assert!(simulation.state().time > 1.5);
    // Forces of these schemes are worked out anew when one looks.
    looking_takes_no_memory(&simulation);
}

/// Large enough for a crew: two stages, springs that yield and are driven, substeps that follow the state.
fn a_net_that_is_shared_out_among_threads_takes_no_memory() {
    let text = r#"trocar = 1
[world]
adaptive = true
[[signal]]
name = "beat"
sine = { rate = 2 }
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.07, 0, 0]
v = [0, 0, 0.07]
rows = 70
columns = 70
fixed = [{ ring = 0 }]
material = { mass = 0.00001, damping = 0.002, stiffness = 4, integrator = "modified_heun", yields = { strain = 0.01 } }
[[sheet]]
name = "driven"
origin = [0, 0, 0.2]
u = [0.07, 0, 0]
v = [0, 0, 0.07]
rows = 70
columns = 70
material = { mass = 0.00001, damping = 0.002, stiffness = 4, ground = -0.001 }
edit = { driven = [{ which = "around", drive = { signal = "beat", stiffness = 0.3 } }] }
"#;
    let scene = trocar_scene::Scene::from_text("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = simulation(&scene, 2);
    let inputs: Vec<Input> = (0..12).map(|_| simulation.idle_input()).collect();
    allocations(&mut simulation, &inputs);
    assert_eq!(allocations(&mut simulation, &inputs), 0);
    let flown = &simulation.state().nodes[simulation.model().tissues[0].matter.index()].flow;
    assert!(flown.iter().any(|f| *f != 0.0), "something yields");
}
