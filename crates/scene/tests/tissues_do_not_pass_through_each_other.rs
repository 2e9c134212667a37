//! Tissues with a thickness do not pass through themselves or each other, also when they tear; and all of it can be stored and done again.

#![allow(clippy::unwrap_used)]

mod common;

use common::{built, simulation};
use glam::DVec3;
use trocar_collide::tree::{Search, Side, Tree};
use trocar_scene::{Input, Scene, Simulation};

/// 24 mm along x, 12 mm along z, nodes 1 mm apart.
const ROWS: usize = 25;
const COLUMNS: usize = 13;

/// A sheet, at a height (m), of which the nodes of the first `fixed` rows are held.
fn sheet(name: &str, height: f64, fixed: usize, more: &str) -> String {
    let held: Vec<String> = (0..fixed * COLUMNS).map(|n| n.to_string()).collect();
    let fixed = match held.is_empty() {
        true => String::new(),
        false => format!("fixed = [{{ nodes = [{}] }}]\n", held.join(", ")),
    };
    format!(
        "[[membrane]]\nname = \"{name}\"\nposition = [0.0, {height}, 0.0]\n\
         sheet = {{ u = [0.0, 0.0, 0.012], v = [0.024, 0.0, 0.0], rows = {ROWS}, columns = {COLUMNS} }}\n\
         film = {{ stiffness = 30, density = 1 }}\nbending = {{ rigidity = 1e-7 }}\ndamping = 20\n{fixed}{more}\n"
    )
}

/// A free sheet of so many rows and columns, nodes 1 mm apart.
fn small(name: &str, position: [f64; 3], [rows, columns]: [usize; 2], more: &str) -> String {
    let [u, v] = [columns, rows].map(|n| (n - 1) as f64 * 1e-3);
    format!(
        "[[membrane]]\nname = \"{name}\"\nposition = {position:?}\n\
         sheet = {{ u = [0.0, 0.0, {u}], v = [{v}, 0.0, 0.0], rows = {rows}, columns = {columns} }}\n\
         film = {{ stiffness = 30, density = 1 }}\nbending = {{ rigidity = 1e-7 }}\ndamping = 20\n{more}\n"
    )
}

fn world(gravity: f64) -> String {
    format!("trocar = 1\n[world]\ngravity = [0.0, {gravity}, 0.0]\nstep = 0.005\n")
}

/// The free end of a sheet, 13 mm of it, is drawn up, over the part that is held, and down through it.
fn flap(more: &str) -> String {
    let mut text = world(0.0) + &sheet("sheet", 0.0, 12, more);
    for z in [0.0, 0.003, 0.006, 0.009, 0.012] {
        text += &format!(
            "[[command]]\nat = 0\nuntil = 2\nforce = 0.02\non = {{ tissue = \"sheet\", at = [0.024, 0.0, {z}] }}\n\
             pull = [[0.024, 0.0, {z}], [0.018, 0.01, {z}], [0.006, 0.008, {z}], [0.003, 0.002, {z}], [0.003, -0.004, {z}], [0.003, -0.004, {z}]]\n"
        );
    }
    text
}

/// Rows and columns of the sheets that fall: of all of them in the long run, else of a part, as a step costs with the square of what touches and more.
fn stacked() -> [usize; 2] {
    match std::env::var_os("TROCAR_LONG") {
        Some(_) => [ROWS, COLUMNS],
        None => [9, 7],
    }
}

/// The lower sheet is held at its short ends; the upper one falls on it.
fn stack(thickness: &str) -> String {
    let [rows, columns] = stacked();
    let last = (rows - 1) * columns;
    let held: Vec<String> = (0..columns)
        .chain(last..last + columns)
        .map(|n| n.to_string())
        .collect();
    let sheet = |name: &str, height: f64, more: &str| {
        let [u, v] = [columns, rows].map(|n| (n - 1) as f64 * 1e-3);
        format!(
            "[[membrane]]\nname = \"{name}\"\nposition = [0.0, {height}, 0.0]\n\
             sheet = {{ u = [0.0, 0.0, {u}], v = [{v}, 0.0, 0.0], rows = {rows}, columns = {columns} }}\n\
             film = {{ stiffness = 30, density = 1 }}\nbending = {{ rigidity = 1e-7 }}\ndamping = 20\n\
             gravity = true\n{more}\n{thickness}\n"
        )
    };
    let held = format!("fixed = [{{ nodes = [{}] }}]", held.join(", "));
    world(-9.81) + &sheet("below", 0.0, &held) + &sheet("above", 0.003, "")
}

fn run(simulation: &mut Simulation, steps: usize) {
    let input = simulation.idle_input();
    for _ in 0..steps {
        simulation.step(&input);
    }
}

fn places<'s>(simulation: &'s Simulation, name: &str) -> &'s [DVec3] {
    let tissue = simulation.model().tissues.iter().find(|t| t.name == name);
    &simulation.state().nodes[tissue.unwrap().matter.index()].position
}

/// The triangles of all tissues, and where their corners are.
fn spread(simulation: &Simulation) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let (mut triangles, mut positions) = (Vec::new(), Vec::new());
    for tissue in &simulation.model().tissues {
        let first = positions.len() as u32;
        triangles.extend(tissue.triangles.iter().map(|t| t.map(|n| n + first)));
        positions.extend_from_slice(&simulation.state().nodes[tissue.matter.index()].position);
    }
    (triangles, positions)
}

fn crossings_of(triangles: &[[u32; 3]], positions: &[DVec3]) -> usize {
    let tree = Tree::new(triangles, positions).unwrap();
    let side = Side {
        tree: &tree,
        positions,
    };
    Search::default().within(side).len()
}

/// How many pairs of triangles of all tissues go through each other.
fn crossings(simulation: &Simulation) -> usize {
    let (triangles, positions) = spread(simulation);
    crossings_of(&triangles, &positions)
}

/// The gall bladder's neck and its duct go through each other where they are joined: there nothing pushes them apart.
#[test]
fn an_organ_and_the_duct_grown_to_it_are_left_as_they_are() {
    let text = std::fs::read_to_string(common::scenes().join("gallbladder.toml")).unwrap();
    let plain = text.replace("include = [\"parts/surroundings.toml\"]", "");
    let thick = plain
        .replace(
            "[organ.material]",
            "[organ.material]\ncontact_thickness = 0.001",
        )
        .replace(
            "[pipe.material]",
            "[pipe.material]\ncontact_thickness = 0.001",
        );
    let [mut plain, mut thick] = [plain, thick].map(|text| built(&text));
    // What is tested is given: both are thick in the one, and neither in the other.
    for name in ["gall bladder", "cystic duct"] {
        let is_thick = |simulation: &Simulation| {
            let mut tissues = simulation.model().tissues.iter();
            let tissue = tissues.find(|t| t.name == name).unwrap();
            tissue.contact_thickness.is_some()
        };
        assert!(is_thick(&thick) && !is_thick(&plain), "{name}");
    }
    assert!(crossings(&thick) > 100);
    for _ in 0..10 {
        run(&mut plain, 10);
        run(&mut thick, 10);
        for name in ["gall bladder", "cystic duct"] {
            let both = places(&plain, name).iter().zip(places(&thick, name));
            let far = both.map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
            assert!(
                far < 2e-4,
                "{name} is {far} m away from where it would hang"
            );
        }
    }
}

#[test]
fn a_sheet_that_is_folded_over_stays_on_itself() {
    let mut simulation = built(&flap("contact_thickness = 0.0004"));
    for step in 0..100 {
        run(&mut simulation, 4);
        assert_eq!(crossings(&simulation), 0, "step {step}");
    }
    let end = &places(&simulation, "sheet")[(ROWS - 1) * COLUMNS..];
    let (low, far) = end
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, far), p| {
            (low.min(p.y), far.max(p.x))
        });
    // It lies on what is held, a thickness above it, and has not gone through.
    assert!(far < 0.01 && low > 0.0002, "{far} {low}");
    // Without a thickness it does: what is tested is not given.
    let mut thin = built(&flap(""));
    run(&mut thin, 400);
    let end = &places(&thin, "sheet")[(ROWS - 1) * COLUMNS..];
    assert!(end.iter().all(|p| p.y < -0.002), "{:?}", end[0]);
}

/// A closed net: a vessel that lies on a block and is pressed flat by another one, which falls on it.
fn pressed(thickness: &str) -> String {
    world(-9.81)
        + "[[body]]\nname = \"ground\"\nmotion = \"static\"\nposition = [0.0, -0.0162, 0.0]\nform = { box = [0.02, 0.01, 0.02] }\n\
           [[body]]\nname = \"weight\"\nposition = [0.0, 0.0112, 0.0]\nmass = 0.15\nform = { box = [0.008, 0.005, 0.02] }\ndamping = 2.0\n\
           [[pipe]]\nname = \"vessel\"\npath = [[-0.03, 0.0, 0.0], [0.03, 0.0, 0.0]]\nradii = [[0.006, 0.006]]\nrings = 13\naround = 12\n\
           fixed = [{ ring = 0 }, { ring = 12 }]\n\
           [pipe.material]\nmass = 0.00015\ndamping = 0.03\nstiffness = 30.0\nmemory = 3.0\ncentre_mass = 0.001\ncentre_damping = 0.1\nturn_damping = 0.00005\n"
        + thickness
        + "\n"
}

#[test]
fn walls_of_a_vessel_that_is_pressed_flat_stay_apart() {
    // The least that a node of the upper wall is above the lower one, right below it.
    let gap = |simulation: &Simulation| {
        let matter = simulation.model().tissues[0].matter;
        let rest = &simulation.model().start[matter.index()].position;
        let now = places(simulation, "vessel");
        let wall = |up: f64| {
            let near = |n: &usize| rest[*n].x.abs() < 0.006 && rest[*n].y * up > 0.005;
            let nodes = (0..rest.len()).filter(near).map(|n| now[n]);
            nodes.collect::<Vec<DVec3>>()
        };
        let (above, below) = (wall(1.0), wall(-1.0));
        let apart = above
            .iter()
            .flat_map(|p| below.iter().map(move |q| *p - *q));
        let over = apart.filter(|d| d.x.hypot(d.z) < 0.001).map(|d| d.y);
        over.fold(f64::INFINITY, f64::min)
    };
    let mut simulation = built(&pressed("contact_thickness = 0.0008"));
    for step in 0..20 {
        run(&mut simulation, 6);
        assert_eq!(crossings(&simulation), 0, "step {step}");
    }
    let left = gap(&simulation);
    assert!((0.0006..0.0015).contains(&left), "{left}");
    // Without a thickness they go through each other: what is tested is not given.
    let mut thin = built(&pressed(""));
    run(&mut thin, 120);
    assert!(crossings(&thin) > 20, "{}", crossings(&thin));
}

#[test]
fn a_sheet_that_falls_on_another_lies_on_it() {
    let mut simulation = built(&stack("contact_thickness = 0.0004"));
    for step in 0..30 {
        run(&mut simulation, 2);
        assert_eq!(crossings(&simulation), 0, "step {step}");
    }
    let (below, above) = (places(&simulation, "below"), places(&simulation, "above"));
    // Where the middle of the one is, the other is a thickness higher.
    let [rows, columns] = stacked();
    let middle = rows / 2 * columns + columns / 2;
    let apart = above[middle] - below[middle];
    assert!((0.0003..0.0008).contains(&apart.y), "{apart}");
    // The lower one bears both.
    let mut alone = built(&stack(""));
    run(&mut alone, 60);
    let sag = places(&alone, "below")[middle].y;
    assert!(below[middle].y < 1.1 * sag, "{} {sag}", below[middle].y);
    assert!(places(&alone, "above")[middle].y < -0.1);
}

/// Two sheets, free to go anywhere, one of them flung at the other: straight and aslant. At 10 m/s it goes half an edge in a substep, at 100 m/s five edges.
#[test]
fn a_sheet_that_is_flung_at_another_never_goes_through_it() {
    let thick = "contact_thickness = 0.0004";
    for speed in [1.0, 10.0, 100.0] {
        for way in [-DVec3::Y, DVec3::new(0.5, -0.8, 0.1).normalize()] {
            // The one above is the smaller: what hangs over would go on at its speed.
            let text = world(0.0)
                + &small("below", [0.0; 3], [9, 7], thick)
                + &small("above", [0.0013, 0.003, 0.0014], [6, 4], thick);
            let mut simulation = built(&text);
            let tissues = &simulation.model().tissues;
            let above = tissues.iter().find(|t| t.name == "above").unwrap().matter;
            simulation.tamper(above, |nodes| nodes.velocity.fill(way * speed));
            // A step is a substep, in which all nodes go straight: what goes through another on its way is seen there.
            let dt = 5e-5;
            let input = Input {
                dt,
                ..simulation.idle_input()
            };
            // At 100 m/s light sheets crumple after the blow faster than sweeps can follow: that is looked at for half a millisecond.
            let after = if speed > 50.0 { 10 } else { 40 };
            let steps = (0.003 / speed / dt) as usize + after;
            let mut before = spread(&simulation);
            for step in 0..steps {
                simulation.step(&input);
                let after = spread(&simulation);
                for k in 1..=8 {
                    let share = f64::from(k) / 8.0;
                    let ways = before.1.iter().zip(&after.1);
                    let between: Vec<DVec3> = ways.map(|(p, q)| p.lerp(*q, share)).collect();
                    let found = crossings_of(&after.0, &between);
                    assert_eq!(
                        found, 0,
                        "{speed} m/s along {way}, step {step}, {share} of it"
                    );
                }
                before = after;
            }
            // What was hit goes along: what is tested has happened.
            let all = places(&simulation, "below");
            let hit = all.iter().sum::<DVec3>() / all.len() as f64;
            assert!(hit.y < -1e-5, "{speed} m/s along {way}: {hit}");
        }
    }
}

#[test]
fn what_touches_itself_is_the_same_at_any_thread_count_and_after_a_snapshot() {
    let scene = Scene::from_text("test.toml", &flap("contact_thickness = 0.0004")).unwrap();
    let mut one = simulation(&scene, 1);
    run(&mut one, 320);
    let bytes = one.snapshot();
    let mut two = simulation(&scene, 2);
    two.restore(&bytes).unwrap();
    assert_eq!(one.hash(), two.hash());
    for step in 0..40 {
        run(&mut one, 1);
        run(&mut two, 1);
        assert_eq!(one.hash(), two.hash(), "step {step}");
    }
    for cut in [10, bytes.len() / 2, bytes.len() - 1] {
        assert!(two.restore(&bytes[..cut]).is_err());
    }
}

/// Held at its upper rim, with a slit from below, and drawn apart as a pair of trousers.
const TROUSERS: &str = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
    [[membrane]]\nname = \"sheet\"\nhexagonal = {}\nposition = [-0.00425, -0.00433, 0.0]\n\
    springs = { stiffness = 6500, mass = 0.01 }\ndamping = 20\ncontact_thickness = 0.0002\n\
    slit = [[[0.0, -0.00433, 0.0], [0.0, -0.0024, 0.0]]]\n\
    fixed = [{ nodes = [350, 351, 352, 353, 354, 355, 356, 357, 358, 359, 360, 361, 362, 363, 364, 365, 366] }]\n\
    tearing = { tip = 100, edge = 2000, inner = 4000, fastest = 500 }\n\
    [[command]]\nat = 0\nuntil = 7.5\npull = [[-0.003, -0.0042, 0.0], [-0.0045, -0.0025, 0.003], [-0.0045, 0.003, 0.004]]\n\
    on = { tissue = \"sheet\", at = [-0.003, -0.0042, 0.0] }\nforce = 1.2\n\
    [[command]]\nat = 0\nuntil = 7.5\npull = [[0.003, -0.0042, 0.0], [0.0045, -0.0025, -0.003], [0.0045, 0.003, -0.004]]\n\
    on = { tissue = \"sheet\", at = [0.003, -0.0042, 0.0] }\nforce = 1.2\n";

#[test]
fn what_touches_itself_follows_tears() {
    let scene = Scene::from_text("test.toml", TROUSERS).unwrap();
    let mut one = simulation(&scene, 1);
    let film = one.model().films[0].matter;
    let edits = |s: &Simulation| s.model().membrane(film).unwrap().sheet().version();
    let whole = edits(&one);
    run(&mut one, 220);
    assert!(edits(&one) > whole + 10);
    let bytes = one.snapshot();
    let mut two = simulation(&scene, 1);
    two.restore(&bytes).unwrap();
    for step in 0..100 {
        run(&mut one, 1);
        run(&mut two, 1);
        assert_eq!(one.hash(), two.hash(), "step {step}");
    }
    assert!(edits(&one) > whole + 20);
    one.model().membrane(film).unwrap().sheet().check().unwrap();
    assert!(places(&one, "sheet").iter().all(|p| p.length() < 0.02));
}

/// A tear makes edges shorter than they were. What is found in a substep in which things go farther than edges are long must not depend on whether somebody saw that happen.
#[test]
fn what_is_flung_after_a_tear_is_the_same_after_a_snapshot() {
    let scene = Scene::from_text("test.toml", TROUSERS).unwrap();
    let mut one = simulation(&scene, 1);
    let film = one.model().films[0].matter;
    let edits = |s: &Simulation| s.model().membrane(film).unwrap().sheet().version();
    let whole = edits(&one);
    while edits(&one) < whole + 10 {
        run(&mut one, 10);
    }
    let mut two = simulation(&scene, 1);
    two.restore(&one.snapshot()).unwrap();
    for step in 0..3 {
        for simulation in [&mut one, &mut two] {
            // What is held stays where it is.
            simulation.tamper(film, |nodes| nodes.velocity.fill(DVec3::Z * 20.0));
            run(simulation, 1);
        }
        assert_eq!(one.hash(), two.hash(), "step {step}");
    }
}

/// Two sheets that are laid nearer to each other than a quarter of their thickness, or flush, are pressed together: nothing joins them, so that they stay apart. The lower one is held along its short
/// ends; the upper one is drawn down through it in the middle.
#[test]
fn sheets_laid_upon_each_other_stay_apart() {
    let thick = "contact_thickness = 0.0004";
    let [rows, columns] = [9, 7];
    let last = (rows - 1) * columns;
    let held: Vec<String> = (0..columns)
        .chain(last..last + columns)
        .map(|n| n.to_string())
        .collect();
    let held = format!("fixed = [{{ nodes = [{}] }}]\n{thick}", held.join(", "));
    for apart in [5e-5, 0.0] {
        let [x, z] = [0.0024, 0.0013];
        let mut text = world(0.0)
            + &small("below", [0.0; 3], [rows, columns], &held)
            + &small("above", [x, apart, z], [5, 5], thick);
        for corner in [
            [0.001, 0.001],
            [0.003, 0.001],
            [0.001, 0.003],
            [0.003, 0.003],
        ] {
            let [x, z] = [x + corner[0], z + corner[1]];
            text += &format!(
                "[[command]]\nat = 0\nuntil = 1\nforce = 0.004\non = {{ tissue = \"above\", at = [{x}, {apart:?}, {z}] }}\n\
                 pull = [[{x}, {apart:?}, {z}], [{x}, -0.006, {z}], [{x}, -0.006, {z}]]\n"
            );
        }
        let mut simulation = built(&text);
        // How high the upper one is over the middle of the lower one, and where that is.
        let deep = |simulation: &Simulation| {
            let (below, above) = (places(simulation, "below"), places(simulation, "above"));
            let mean = |list: &[DVec3]| list.iter().map(|p| p.y).sum::<f64>() / list.len() as f64;
            let middle = rows / 2 * columns + columns / 2;
            (mean(above) - below[middle].y, below[middle].y)
        };
        run(&mut simulation, 60);
        let (over, sag) = deep(&simulation);
        let what = format!("{apart} m apart: {over} m over, sagging by {sag} m");
        // It hangs in the lower one, which bears it, and is nowhere below it.
        assert!(sag < -2e-4 && over > -2e-4, "{what}");
        for p in places(&simulation, "above") {
            let nearest = places(&simulation, "below")
                .iter()
                .min_by(|a, b| a.distance(*p).total_cmp(&b.distance(*p)))
                .unwrap();
            assert!(p.y > nearest.y - 3e-4, "{what}: {p} under {nearest}");
        }
    }
}

/// A tool as fast as hands, which goes a millimetre in a substep, presses a sheet onto another, 0.8 mm below it. What is struck has no velocity yet that would tell where it goes.
#[test]
fn what_a_tool_presses_onto_another_does_not_go_through_it() {
    let net = |name: &str, height: f64| {
        format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [-0.02, {height:?}, -0.02]\nu = [0, 0, 0.04]\nv = [0.04, 0, 0]\nrows = 21\ncolumns = 21\n\
             fixed = [{{ within = {{ centre = [-0.52, {height:?}, 0], radius = 0.501 }} }}, {{ within = {{ centre = [0.52, {height:?}, 0], radius = 0.501 }} }}]\n\
             material = {{ mass = 0.0001, damping = 0.02, stiffness = 60, contact_thickness = 0.0004 }}\n"
        )
    };
    for speed in [1.0, 1.5, 2.0] {
        let text = format!(
            "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\n{}{}\
             [[instrument]]\nname = \"tool\"\ntrocar = [0, 0.15, 0]\ntarget = [0, 0, 0]\ndepth = 0.12\njaw = 0\nspeed = {speed:?}\n\
             shaft_radius = 0.0015\njaw_radius = 0.0015\njaw_length = 0.02\njaws = [0, 1]\n",
            net("below", 0.0),
            net("above", 0.0008),
        );
        let mut simulation = built(&text);
        let mut input = simulation.idle_input();
        input.handles[0] =
            common::handle_to(&simulation, 0, DVec3::new(0.0007, -0.004, 0.0006), 0.0);
        let mut most = 0;
        for _ in 0..25 {
            simulation.step(&input);
            assert!(common::is_sound(&simulation, 0.6));
            most = most.max(crossings(&simulation));
        }
        let lowest = |name: &str| {
            let heights = places(&simulation, name).iter().map(|p| p.y);
            heights.fold(f64::INFINITY, f64::min)
        };
        let [below, above] = ["below", "above"].map(lowest);
        let what = format!("{speed} m/s: {most} pairs, {below} m and {above} m");
        assert!(below < -0.002 && most == 0, "{what}");
    }
}
