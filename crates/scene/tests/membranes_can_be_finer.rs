//! A membrane whose triangles are divided is the same membrane: as heavy, and held in the same places. A scene can be run so, to see what depends on the mesh.

#![allow(clippy::unwrap_used)]

mod common;

use common::built;
use trocar_dynamics::{Lock, Matter};
use trocar_scene::{Scene, Simulation, torn::Torn};

/// A sheet held at its upper rim, with a slit from below whose lips two hands draw apart, as with a pair of trousers.
fn trousers(refine: u32) -> String {
    let hand = |side: f64| {
        format!(
            "[[command]]\nat = 0\nuntil = 7.5\npull = [[{x}, -0.0042, 0.0], [{far}, -0.0025, {z}], [{far}, 0.003, {z}]]\n\
             on = {{ tissue = \"sheet\", at = [{x}, -0.0042, 0.0] }}\nforce = 1.2\n",
            x = 0.003 * side,
            far = 0.0045 * side,
            z = -0.003 * side,
        )
    };
    format!(
        "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
         [[membrane]]\nname = \"sheet\"\nhexagonal = {{}}\nrefine = {refine}\nposition = [-0.00425, -0.00433, 0.0]\n\
         springs = {{ stiffness = 6500, mass = 0.01 }}\ndamping = 20\n\
         slit = [[[0.0, -0.00433, 0.0], [0.0, -0.0024, 0.0]]]\n\
         fixed = [{{ nodes = [350, 351, 352, 353, 354, 355, 356, 357, 358, 359, 360, 361, 362, 363, 364, 365, 366] }}]\n\
         tearing = {{ tip = 100, edge = 2000, inner = 4000, fastest = 500, calls = 4 }}\n{}{}",
        hand(-1.0),
        hand(1.0)
    )
}

fn run(simulation: &mut Simulation, steps: usize) -> Torn {
    let input = simulation.idle_input();
    for _ in 0..steps {
        simulation.step(&input);
    }
    simulation.torn().remove(0)
}

#[test]
fn divided_triangles_are_the_same_sheet() {
    let [coarse, fine] = [0, 1].map(|refine| built(&trousers(refine)));
    let of = |s: &Simulation| {
        s.model()
            .membrane(s.model().films[0].matter)
            .unwrap()
            .clone()
    };
    let (coarse, fine) = (of(&coarse), of(&fine));
    assert_eq!(coarse.sheet().triangle_count(), 660);
    assert_eq!(fine.sheet().triangle_count(), 4 * 660);
    let mass = |m: &trocar_soft::membrane::Membrane| m.masses().mass().iter().sum::<f64>();
    // A sheet has somewhat fewer than four times the nodes: those of its rim have neighbours on one side.
    assert!((mass(&fine) / mass(&coarse) - 1.0).abs() < 0.1);
    let held = |m: &trocar_soft::membrane::Membrane| {
        let sheet = m.sheet();
        let nodes = sheet
            .nodes()
            .filter(|n| m.masses().lock(n.slot()) == Lock::Fixed);
        let mut places: Vec<f64> = nodes.map(|n| sheet.rest(n).x).collect();
        places.sort_by(f64::total_cmp);
        places
    };
    let (few, many) = (held(&coarse), held(&fine));
    assert_eq!((few.len(), many.len()), (17, 33));
    assert_eq!((few[0], few[16]), (many[0], many[32]));
}

#[test]
fn a_finer_sheet_tears_about_as_far() {
    let [coarse, fine] = [0, 1].map(|refine| {
        let mut simulation = built(&trousers(refine));
        let cut = simulation.torn().remove(0).length;
        let torn = run(&mut simulation, 300);
        assert!(torn.length > cut + 5e-4, "{torn:?}");
        assert!((torn.area - 1.0).abs() < 1e-9);
        (torn.length - cut, torn)
    });
    let ((way, coarse), (finer, fine)) = (coarse, fine);
    assert!((0.85..1.15).contains(&(finer / way)), "{way} {finer}");
    assert!((coarse.mean_edge / fine.mean_edge - 2.0).abs() < 0.05);
    // As the program does it for a scene that knows nothing of it.
    let scene = Scene::from_text("test.toml", &trousers(0)).unwrap();
    let mut again = Simulation::new(&scene.with_finer_membranes(), 1).unwrap();
    assert_eq!(run(&mut again, 300), fine);
}

#[test]
fn too_fine_is_refused() {
    for refine in [5, u32::MAX] {
        let error = Scene::from_text("test.toml", &trousers(refine))
            .and_then(|scene| Simulation::new(&scene, 1).map(|_| ()))
            .unwrap_err();
        let said = error.to_string();
        assert!(said.contains("at most 4 times"), "{said}");
        assert_eq!(error.place.unwrap().0, 8, "{said}");
    }
}
