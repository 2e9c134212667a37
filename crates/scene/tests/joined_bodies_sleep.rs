//! Bodies that joints join rest, sleep and wake together; what a drive may move never sleeps; a blow to what sleeps is felt by
//! all that hang together, and no momentum comes of it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    rigid::{Rig, body, joint, world},
    simulation,
};
use glam::DVec3;
use trocar_dynamics::{Anchor, Pull};
use trocar_scene::Scene;

const LINKS: usize = 5;

fn floor(text: &mut String, friction: f64) {
    let says = format!(
        "motion = \"static\"\nform = {{ half_space = [0, 1, 0] }}\nfriction = [{friction:?}, {friction:?}]"
    );
    body(text, "floor", DVec3::ZERO, &says);
}

fn link(k: usize) -> String {
    format!("link {k}")
}

/// Blocks in a row along z that ball joints join, dropped from `height` onto a floor.
fn row(friction: f64, height: f64) -> String {
    let mut text = world("step = 0.002\nreach = 100");
    floor(&mut text, friction);
    for k in 0..LINKS {
        let at = DVec3::new(0.0, 0.05 + height, 0.22 * k as f64);
        let says = "mass = 1\nhalf_extents = [0.05, 0.05, 0.1]";
        body(&mut text, &link(k), at, says);
    }
    for k in 1..LINKS {
        let says = format!(
            "kind = \"ball\"\na = {{ body = \"link {}\", at = [0, 0, 0.11] }}\nb = {{ body = \"link {k}\", at = [0, 0, -0.11] }}",
            k - 1
        );
        joint(&mut text, &says);
    }
    text
}

fn fastest(rig: &Rig) -> f64 {
    let speed = |k| rig.velocity(&link(k)).length() + rig.spin(&link(k)).length();
    (0..LINKS).map(speed).fold(0.0, f64::max)
}

/// True if joints are left out: then nothing is solved at all.
fn is_idle(rig: &mut Rig) -> bool {
    let report = rig.step();
    report.contacts == 0 && report.aim.iterations == 0 && report.correct.iterations == 0
}

#[test]
fn a_chain_that_lies_on_the_floor_sleeps() {
    let mut rig = Rig::new(&row(0.5, 0.03));
    rig.run(0.05);
    assert!(fastest(&rig) > 0.1, "it falls");
    rig.run(3.0);
    assert_eq!(fastest(&rig), 0.0, "it sleeps");
    assert!(is_idle(&mut rig));
    assert!(rig.gap() < 1e-6, "{}", rig.gap());
}

/// Two links in a row, that hang on the world or on nothing, in no gravity; both move aside at `speed`, m/s.
fn afloat(hung: bool, speed: f64, says: &str) -> Rig {
    let mut text = world(&format!("step = 0.002\ngravity = [0, 0, 0]\n{says}"));
    for (k, x) in [0.0, 0.3].into_iter().enumerate() {
        let says =
            format!("mass = 1\nhalf_extents = [0.1, 0.05, 0.05]\nvelocity = [0, {speed:?}, 0]");
        body(&mut text, &link(k), DVec3::new(x, 0.0, 0.0), &says);
    }
    joint(
        &mut text,
        "kind = \"ball\"\na = { body = \"link 0\", at = [0.15, 0, 0] }\nb = { body = \"link 1\", at = [-0.15, 0, 0] }",
    );
    if hung {
        let says = "kind = \"ball\"\na = { world = [-0.15, 0, 0] }\nb = { body = \"link 0\", at = [-0.15, 0, 0] }";
        joint(&mut text, says);
    }
    Rig::new(&text)
}

#[test]
fn what_hangs_still_sleeps_and_what_hangs_on_nothing_does_not() {
    let mut still = afloat(true, 0.0, "");
    still.run(1.0);
    assert!(is_idle(&mut still));
    let mut free = afloat(false, 0.004, "");
    free.run(1.0);
    let speed = free.velocity("link 1").y;
    assert!((speed - 0.004).abs() < 1e-12, "{speed} m/s");
}

/// However slowly it swings: nothing brings it to rest.
#[test]
fn what_swings_slowly_swings_on() {
    let [mut one, mut other] = ["", "sleep = false"].map(|says| afloat(true, 0.004, says));
    one.run(2.0);
    other.run(2.0);
    assert!(one.velocity("link 1").length() > 1e-3);
    assert_eq!(one.velocity("link 1"), other.velocity("link 1"));
    assert_eq!(one.position("link 0"), other.position("link 0"));
}

/// A rod of a metre that hangs by its end from the ceiling, `aside` m of its end from where it would rest.
fn rod(aside: f64) -> Rig {
    let mut text = world("step = 0.002");
    let (sine, cosine) = (aside, (1.0 - aside * aside).sqrt());
    let says = format!(
        "mass = 1\nhalf_extents = [0.02, 0.5, 0.02]\nrotation = [0, 0, {:?}]",
        trocar_math::real::atan2(sine, cosine)
    );
    let middle = DVec3::new(0.5 * sine, -0.5 * cosine, 0.0);
    body(&mut text, "rod", middle, &says);
    joint(
        &mut text,
        "kind = \"ball\"\na = { world = [0, 0, 0] }\nb = { body = \"rod\", at = [0, 0.5, 0] }",
    );
    Rig::new(&text)
}

/// It never is as fast as what lies on the ground may be and sleep, and stands still twice in every swing; but it is drawn back.
#[test]
fn a_pendulum_does_not_freeze_in_mid_air() {
    let mut rig = rod(0.004);
    let (mut fastest, mut least, mut far) = (0.0_f64, f64::INFINITY, [0.0_f64; 2]);
    // A rod of length l swings at ω = √(3g/2l): a period of 1.64 s.
    rig.watch(12.0, |rig, _| {
        let speed = rig.velocity("rod").length();
        fastest = fastest.max(speed);
        least = least.min(speed);
        let place = rig.point("rod", DVec3::Y * -0.5).x;
        if rig.time() > 9.0 {
            far = [far[0].min(place), far[1].max(place)];
        }
    });
    assert!(fastest < 0.01 && least < 1e-4, "{least} to {fastest} m/s");
    assert!(far[0] < -0.0038 && far[1] > 0.0038, "{far:?} m");
    let mut still = rod(0.0);
    still.run(1.0);
    assert!(is_idle(&mut still), "it hangs where it would rest");
}

#[test]
fn a_blow_to_one_link_wakes_all_and_keeps_momentum() {
    let mut text = row(0.0, 0.0);
    let says = "mass = 0.5\nform = { ball = 0.05 }\nvelocity = [2, 0, 0]\nfriction = [0, 0]\nrestitution = 0.5";
    body(&mut text, "ball", DVec3::new(-3.0, 0.05, 0.22), says);
    let mut rig = Rig::new(&text);
    rig.run(1.2);
    assert_eq!(fastest(&rig), 0.0, "it sleeps");
    let (p, l) = rig.momentum();
    let mut open = 0.0_f64;
    rig.watch(1.0, |rig, _| open = open.max(rig.gap()));
    let (q, k) = rig.momentum();
    for n in 0..LINKS {
        assert!(rig.velocity(&link(n)).length() > 1e-3, "link {n} is awake");
    }
    assert!(
        (p - q).x.abs() < 1e-9 && (p - q).z.abs() < 1e-9,
        "{p} to {q}"
    );
    assert!((l - k).y.abs() < 1e-9, "{l} to {k}");
    assert!(open < 1e-5, "joints open by {open} m");
}

#[test]
fn a_hand_wakes_the_whole_chain() {
    let mut rig = Rig::new(&row(0.5, 0.0));
    rig.run(2.0);
    assert_eq!(fastest(&rig), 0.0, "it sleeps");
    let (matter, node) = rig.at("link 0");
    let anchor = Anchor::frame(matter, node as u32, DVec3::ZERO);
    let target = rig.position("link 0") + DVec3::Y * 0.5;
    rig.input.pulls = vec![Pull {
        anchor,
        target,
        force: 60.0,
    }];
    let mut open = 0.0_f64;
    rig.watch(1.5, |rig, _| open = open.max(rig.gap()));
    assert!(rig.position("link 0").y > 0.2, "{}", rig.position("link 0"));
    assert!(rig.position("link 1").y > 0.1, "it is lifted along");
    assert!(open < 1e-4, "joints open by {open} m");
}

#[test]
fn a_motor_keeps_its_island_awake() {
    let mut text = row(0.5, 0.0);
    let says = "mass = 0.1\nhalf_extents = [0.02, 0.02, 0.02]";
    body(&mut text, "wheel", DVec3::new(0.0, 0.2, 0.0), says);
    joint(
        &mut text,
        "kind = \"hinge\"\na = { body = \"link 0\", at = [0, 0.15, 0] }\nb = { body = \"wheel\" }\naxis = [0, 1, 0]\n\
         drive = { speed = { target = 0, most = 1 } }",
    );
    let mut rig = Rig::new(&text);
    rig.run(3.0);
    assert!(!is_idle(&mut rig), "its target may change at any time");
}

#[test]
fn a_snapshot_of_what_sleeps_goes_on_the_same() {
    let mut text = row(0.2, 0.02);
    let says = "mass = 0.5\nform = { ball = 0.05 }\nvelocity = [2, 0, 0]\nfriction = [0, 0]";
    body(&mut text, "ball", DVec3::new(-5.0, 0.05, 0.3), says);
    let scene = Scene::from_text("test.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let mut rig = Rig::of(&scene, 1);
    rig.run(2.2);
    assert_eq!(fastest(&rig), 0.0, "it sleeps");
    let mut other = simulation(&scene, 2);
    other.restore(&rig.simulation.snapshot()).unwrap();
    for step in 0..400 {
        assert_eq!(other.hash(), rig.simulation.hash(), "step {step}");
        other.step(&rig.input);
        rig.step();
    }
    assert!(fastest(&rig) > 0.0, "it was struck");
}

#[test]
fn what_rolls_slowly_along_a_rail_rolls_on() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    let says = "mass = 1\nhalf_extents = [0.1, 0.05, 0.05]\nvelocity = [0.004, 0, 0]";
    body(&mut text, "cart", DVec3::ZERO, says);
    joint(
        &mut text,
        "kind = \"slider\"\na = { world = [0, 0, 0] }\nb = { body = \"cart\" }\naxis = [1, 0, 0]",
    );
    let mut rig = Rig::new(&text);
    rig.run(2.0);
    let speed = rig.velocity("cart").x;
    assert!((speed - 0.004).abs() < 1e-9, "{speed} m/s");
}
