//! Contacts of rigid bodies at the edges of what a scene may have: blows just above and below what counts as one, long rows of balls,
//! bullets and needles, stacks of millimetres; and what a step says about how wrong its contacts are.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    Dice,
    rigid::{Rig, body, joint, vector, world},
};
use glam::{DQuat, DVec3};
use trocar_math::{real, rotation};

const G: f64 = 9.81;

/// A floor at y = 0.
fn floor(text: &mut String, says: &str) {
    let says = format!("motion = \"static\"\nform = {{ half_space = [0, 1, 0] }}\n{says}");
    body(text, "floor", DVec3::ZERO, &says);
}

/// What a ball that comes down on a floor at `speed` m/s does a step of 1 ms later, m/s upwards; and whether that was a blow.
fn after_touching(elasticity: f64, speed: f64) -> (f64, u32) {
    let mut text = world("step = 0.001\nsleep = false");
    floor(&mut text, "restitution = 1");
    let says = format!(
        "mass = 0.3\nform = {{ ball = 0.05 }}\nrestitution = {elasticity:?}\nvelocity = [0, {:?}, 0]",
        -speed
    );
    body(&mut text, "ball", DVec3::new(0.0, 0.050_001, 0.0), &says);
    let mut rig = Rig::new(&text);
    let report = rig.step();
    (rig.velocity("ball").y, report.blows)
}

/// B81: what comes faster than it would fall through the watched gap of a quarter of a millimetre strikes; what is slower rests.
#[test]
fn a_touch_is_a_blow_above_the_speed_of_a_fall_through_the_watched_gap() {
    let slow = (2.0 * G * 2.5e-4_f64).sqrt();
    let (up, blows) = after_touching(0.5, 1.02 * slow);
    assert_eq!(blows, 1);
    let expected = 0.5 * 1.02 * slow - G * 0.001;
    assert!((up - expected).abs() < 1e-3, "{up} {expected}");
    let (up, blows) = after_touching(0.5, 0.98 * slow);
    assert_eq!(blows, 0);
    assert!(up.abs() < 1e-3, "{up}");
}

/// B82: the speed after a blow is that before it times the elasticity, less what the weight takes in the step.
#[test]
fn a_blow_returns_its_part_of_the_speed() {
    for elasticity in [0.05, 0.2, 0.5, 0.8, 1.0] {
        for speed in [0.5, 3.0, 20.0] {
            let (up, blows) = after_touching(elasticity, speed);
            let expected = elasticity * speed - G * 0.001;
            assert_eq!(blows, 1);
            assert!(
                (up - expected).abs() < 1e-9 * speed,
                "{elasticity} {speed}: {up} {expected}"
            );
        }
    }
}

/// How high a ball springs that falls from 0.5 m, of that, in steps of 0.1 ms.
fn rise(elasticity: f64) -> f64 {
    let mut text = world("step = 0.0001\nsleep = false");
    floor(&mut text, "restitution = 1");
    let says = format!("mass = 0.3\nform = {{ ball = 0.05 }}\nrestitution = {elasticity:?}");
    body(&mut text, "ball", DVec3::new(0.0, 0.55, 0.0), &says);
    let mut rig = Rig::new(&text);
    let (mut struck, mut highest) = (false, 0.0_f64);
    let flight = (2.0 * 0.5 / G).sqrt() * (1.0 + elasticity);
    rig.watch(flight + 0.001, |rig, report| {
        struck |= report.blows > 0;
        if struck {
            highest = highest.max(rig.position("ball").y - 0.05);
        }
    });
    highest / 0.5
}

/// T13, by a measure that small elasticities can fail, too. A blow is answered at the start of its step, up to 0.3 mm above the floor.
#[test]
fn heights_are_in_the_ratio_of_the_square_of_elasticity() {
    for e in [0.2, 0.5, 0.8] {
        let off = rise(e) / (e * e) - 1.0;
        assert!(off.abs() < 0.02, "{e}: {off}");
    }
}

/// Balls in a row that touch, without weight; the first one comes at 1 m/s. Returns the speeds at the end and the blows left.
fn row(count: usize) -> (Vec<f64>, u32) {
    let mut text = world("step = 0.001\ngravity = [0, 0, 0]\nsleep = false\nreach = 1000");
    for k in 0..count {
        // The first one is on its way.
        let x = 0.1 * k as f64 - if k == 0 { 0.0005 } else { 0.0 };
        let speed = if k == 0 { 1 } else { 0 };
        let says = format!(
            "mass = 0.5\nform = {{ ball = 0.05 }}\nrestitution = 1\nfriction = [0, 0]\nvelocity = [{speed}, 0, 0]"
        );
        body(&mut text, &format!("ball {k}"), DVec3::X * x, &says);
    }
    let mut rig = Rig::new(&text);
    let mut left = 0;
    rig.watch(0.01, |_, report| left = left.max(report.blows_left));
    let speed = |k: usize| rig.velocity(&format!("ball {k}")).x;
    ((0..count).map(speed).collect(), left)
}

/// Beyond the patience there is, what still is a blow is counted and stopped: a row twice as long as that keeps its momentum, and gains nothing.
#[test]
fn blows_that_are_left_are_counted() {
    let count = 1100;
    let (speeds, left) = row(count);
    assert!(left > 0);
    let sum: f64 = speeds.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let squares: f64 = speeds.iter().map(|s| s * s).sum();
    assert!(squares <= 1.0 + 1e-9, "{squares}");
}

/// B85: a blow goes through a row of any length within the step, and comes out whole at its end.
#[test]
fn a_blow_goes_through_a_long_row() {
    for count in [5, 45, 120] {
        let (speeds, left) = row(count);
        assert_eq!(left, 0, "{count}");
        assert!(
            (speeds[count - 1] - 1.0).abs() < 1e-6,
            "{count}: {speeds:?}"
        );
        let others = speeds[..count - 1].iter();
        let most = others.fold(0.0_f64, |m, s| m.max(s.abs()));
        assert!(most < 1e-6, "{count}: {most}");
    }
}

/// What a step says of overlap is what poses say.
#[test]
fn the_overlap_reported_is_that_of_the_poses() {
    let mut text = world("step = 0.002\nsleep = false\ngravity = [0, 0, 0]");
    floor(&mut text, "");
    // One of them 3 mm deep in the floor, the other 1 mm, turned about an edge that is level.
    let says = "mass = 1\nhalf_extents = [0.05, 0.05, 0.05]";
    body(&mut text, "box 0", DVec3::new(0.0, 0.047, 0.0), says);
    let tilted = format!("{says}\nrotation = [0, 0, 0.3]");
    body(&mut text, "box 1", DVec3::new(1.0, 0.06, 0.0), &tilted);
    let mut rig = Rig::new(&text);
    let depth = |rig: &Rig, name: &str| {
        let turn = rig.orientation(name);
        let reach = [DVec3::X, DVec3::Y, DVec3::Z].map(|a| (turn * a).y.abs() * 0.05);
        reach.iter().sum::<f64>() - rig.position(name).y
    };
    let mut seen = Vec::new();
    for _ in 0..200 {
        let expected = depth(&rig, "box 0").max(depth(&rig, "box 1")).max(0.0);
        let report = rig.step();
        assert!(
            (report.penetration - expected).abs() < 1e-12,
            "{} {expected}",
            report.penetration
        );
        seen.push(report.penetration);
    }
    assert!((seen[0] - 3e-3).abs() < 1e-12);
    // It is undone.
    assert!(seen[199] < 1.1e-4, "{}", seen[199]);
}

/// What sticks on a slope does not slip, and the step says so; what slides is not counted.
#[test]
fn slip_is_reported_of_what_sticks() {
    let angle = 0.3;
    let (sin, cos) = real::sin_cos(angle);
    let up = DVec3::new(sin, cos, 0.0);
    for (friction, sticks) in [(0.5, true), (0.1, false)] {
        let mut text = world("step = 0.005\nsleep = false\nreach = 1000");
        let says = format!(
            "motion = \"static\"\nform = {{ half_space = {} }}\nfriction = [{friction:?}, {friction:?}]",
            vector(up)
        );
        body(&mut text, "slope", DVec3::ZERO, &says);
        let says = format!(
            "mass = 2\nhalf_extents = [0.1, 0.02, 0.1]\nrotation = [0, 0, {:?}]\nfriction = [{friction:?}, {friction:?}]",
            -angle
        );
        body(&mut text, "box", up * 0.02, &says);
        let mut rig = Rig::new(&text);
        rig.run(0.5);
        let mut worst = 0.0_f64;
        rig.watch(0.5, |_, report| worst = worst.max(report.slip));
        let speed = rig.velocity("box").length();
        assert_eq!(speed < 1e-6, sticks, "{speed}");
        assert!(worst <= 1e-6, "{friction}: {worst}");
    }
}

/// Something thrown past the upper edge of a wall: its velocity after that, m/s.
fn past_an_edge(form: &str, height: f64, speed: f64) -> DVec3 {
    let mut text = world("step = 0.005\ngravity = [0, 0, 0]\nreach = 1000");
    let wall = "motion = \"static\"\nhalf_extents = [0.001, 0.5, 0.5]";
    body(&mut text, "wall", DVec3::ZERO, wall);
    let says = format!("mass = 0.01\nform = {form}\nvelocity = [{speed:?}, 0, 0]");
    body(
        &mut text,
        "bullet",
        DVec3::new(-1.0, 0.5 + height, 0.017),
        &says,
    );
    let mut rig = Rig::new(&text);
    rig.run(3.0 / speed);
    rig.velocity("bullet")
}

/// No ghost contacts: what passes 2 mm beside an edge keeps its velocity to the last digit.
#[test]
fn a_bullet_that_misses_is_not_touched() {
    for speed in [10.0, 100.0, 400.0] {
        for (form, half) in [
            ("{ ball = 0.005 }", 0.005),
            ("{ box = [0.005, 0.004, 0.003] }", 0.004),
        ] {
            let after = past_an_edge(form, half + 0.002, speed);
            assert_eq!(after, DVec3::X * speed, "{form} at {speed} m/s");
        }
    }
}

/// A needle that turns about its middle, which is held: only its turning can bring it to a post.
#[test]
fn a_spinning_needle_does_not_turn_through_a_post() {
    for spin in [20.0, 100.0, 200.0] {
        let mut text = world("step = 0.005\ngravity = [0, 0, 0]\nsleep = false");
        let post =
            "motion = \"static\"\nform = { capsule = { half_length = 0.1, radius = 0.001 } }";
        body(&mut text, "post", DVec3::new(0.04, 0.0, 0.0), post);
        // It lies across the x axis, before the post by a right angle.
        let says = format!(
            "mass = 0.001\nform = {{ capsule = {{ half_length = 0.05, radius = 0.0003 }} }}\nrotation = [1.5707963267948966, 0, 0]\nspin = [0, {spin:?}, 0]"
        );
        body(&mut text, "needle", DVec3::ZERO, &says);
        let hinge = "kind = \"hinge\"\na = { world = [0, 0, 0] }\nb = { body = \"needle\" }\nat = [0, 0, 0]\naxis = [0, 1, 0]";
        joint(&mut text, hinge);
        let mut rig = Rig::new(&text);
        let mut before = rig.orientation("needle") * DVec3::Y;
        let mut turned = 0.0;
        let mut touched = false;
        rig.watch(0.4, |rig, report| {
            let now = rig.orientation("needle") * DVec3::Y;
            turned += real::atan2(before.cross(now).y, before.dot(now));
            before = now;
            touched |= report.contacts > 0 && rig.spin("needle").y < 0.9 * spin;
            // A right angle to either side, less what both are thick: 1.3 mm at 40 mm.
            assert!(turned.abs() < 1.55, "spin {spin}: turned by {turned}");
        });
        assert!(touched, "spin {spin}");
    }
}

/// At 2000 m/s a body goes 10 m in a step of 5 ms, farther than contacts are looked for. It may pass through things; but the step
/// says so.
#[test]
fn a_body_that_is_too_fast_is_reported() {
    for (speed, expected) in [(400.0, 0), (2000.0, 1)] {
        let mut text = world("step = 0.005\ngravity = [0, 0, 0]\nreach = 1000");
        let wall = "motion = \"static\"\nhalf_extents = [0.001, 0.5, 0.5]";
        body(&mut text, "wall", DVec3::ZERO, wall);
        let says = format!("mass = 0.01\nform = {{ ball = 0.005 }}\nvelocity = [{speed:?}, 0, 0]");
        body(&mut text, "bullet", DVec3::new(-9.0, 0.0, 0.0), &says);
        let mut rig = Rig::new(&text);
        let report = rig.step();
        assert_eq!(report.too_fast, expected, "{speed} m/s");
        rig.run(0.05);
        assert!(expected == 1 || rig.position("bullet").x < 0.0);
    }
}

/// Ten cubes of 2 mm and 8 mg stand on each other, awake.
#[test]
fn a_stack_of_millimetres_stands() {
    let mut text = world("step = 0.005\nsleep = false");
    floor(&mut text, "");
    let at = |k: usize| DVec3::new(0.0, 0.001 + 0.002 * k as f64, 0.0);
    for k in 0..10 {
        let says = "mass = 8e-6\nhalf_extents = [0.001, 0.001, 0.001]";
        body(&mut text, &format!("box {k}"), at(k), says);
    }
    let mut rig = Rig::new(&text);
    let mut deepest = 0.0_f64;
    rig.watch(5.0, |_, report| deepest = deepest.max(report.penetration));
    for k in 0..10 {
        let off = rig.position(&format!("box {k}")).distance(at(k));
        // A tenth of an edge at the top, a hundredth each.
        assert!(off < 2e-5 * (k + 1) as f64, "box {k}: {off} m");
    }
    assert!(deepest < 3e-5, "{deepest}");
}

/// A needle of 0.3 mm lies on a plate: it neither sinks in nor trembles nor rolls away.
#[test]
fn a_thin_needle_lies_still() {
    let mut text = world("step = 0.005\nsleep = false");
    let plate = "motion = \"static\"\nhalf_extents = [0.05, 0.005, 0.05]";
    body(&mut text, "plate", DVec3::new(0.0, -0.005, 0.0), plate);
    let says = "mass = 2e-5\nform = { capsule = { half_length = 0.01, radius = 0.00015 } }\nrotation = [1.5707963267948966, 0, 0]";
    body(&mut text, "needle", DVec3::new(0.0, 0.0002, 0.0), says);
    let mut rig = Rig::new(&text);
    rig.run(1.0);
    let start = rig.position("needle");
    rig.run(4.0);
    let end = rig.position("needle");
    assert!((end.y - 0.000_15).abs() < 2e-5, "{end}");
    assert!(end.distance(start) < 2e-5, "{start} {end}");
    assert!(rig.velocity("needle").length() < 1e-3);
}

/// A box lies on a floor and is pulled sideways by gravity in any direction: it sticks inside the cone of friction and slides outside
/// of it, whichever way the box is turned about the normal and whichever way it is pulled.
#[test]
fn friction_is_a_cone_in_every_direction() {
    let mut dice = Dice(11);
    for trial in 0..24 {
        let mut number = || dice.below(1_000_000) as f64 / 1e6;
        let friction = 0.1 + 0.8 * number();
        let azimuth = std::f64::consts::TAU * number();
        let turn = std::f64::consts::TAU * number();
        let sticks = trial % 2 == 0;
        let pull = friction * if sticks { 0.97 } else { 1.03 };
        let (sin, cos) = real::sin_cos(azimuth);
        let along = DVec3::new(cos, 0.0, sin);
        let gravity = (along * pull - DVec3::Y) * G;
        let mut text = world(&format!(
            "step = 0.005\nsleep = false\nreach = 100\ngravity = {}",
            vector(gravity)
        ));
        let rub = format!("friction = [{friction:?}, {friction:?}]");
        floor(&mut text, &rub);
        let says = format!(
            "mass = 2\nhalf_extents = [0.1, 0.02, 0.15]\nrotation = [0, {turn:?}, 0]\n{rub}"
        );
        body(&mut text, "box", DVec3::Y * 0.02, &says);
        let mut rig = Rig::new(&text);
        rig.run(1.0);
        let speed = rig.velocity("box");
        let what =
            format!("trial {trial}, μ {friction}, azimuth {azimuth}, turned {turn}: {speed}");
        if sticks {
            assert!(speed.length() < 1e-5, "{what}");
        } else {
            let expected = along * (0.03 * friction * G);
            assert!(
                (speed - expected).length() < 0.02 * expected.length(),
                "{what}"
            );
            let held = rotation::from_scaled_axis(DVec3::Y * turn);
            let off: DQuat = rig.orientation("box") * held.conjugate();
            assert!(off.xyz().length() < 1e-3, "{what}: it turns, {off}");
        }
    }
}

/// A thousand cubes of 0.1 m fall through a funnel into a bin until all rest there (T17): all get through, none is lost.
/// A few minutes; only with `TROCAR_LONG`.
#[test]
fn a_thousand_cubes_come_to_rest_below_a_funnel() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let count: usize = if long { 1000 } else { 60 };
    let mut text = world("step = 0.005");
    floor(&mut text, "");
    let plate = |text: &mut String, name: &str, at: DVec3, half: DVec3, turn: DVec3| {
        let says = format!(
            "motion = \"static\"\nhalf_extents = {}\nrotation = {}\nfriction = [0.2, 0.2]",
            vector(half),
            vector(turn)
        );
        body(text, name, at, &says);
    };
    let tilt = 0.9;
    let (sin, cos) = real::sin_cos(tilt);
    for (k, (x, z)) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
        .into_iter()
        .enumerate()
    {
        let out = DVec3::new(x, 0.0, z);
        let across = |a: DVec3, b: DVec3| if x == 0.0 { a } else { b };
        // Plates of 1.6 m down to an outlet of 1 m, 1.2 m above the floor; below it a bin.
        let up = DVec3::new(-x * sin, cos, -z * sin);
        let middle = out * (0.5 + 0.8 * cos) + DVec3::Y * (1.2 + 0.8 * sin) - up * 0.1;
        let half = across(DVec3::new(2.0, 0.1, 0.8), DVec3::new(0.8, 0.1, 2.0));
        let turn = across(DVec3::X * (-tilt * z), DVec3::Z * (tilt * x));
        plate(&mut text, &format!("plate {k}"), middle, half, turn);
        let half = across(DVec3::new(1.2, 0.5, 0.1), DVec3::new(0.1, 0.5, 1.2));
        let at = out * 1.1 + DVec3::Y * 0.5;
        plate(&mut text, &format!("bin {k}"), at, half, DVec3::ZERO);
    }
    let mut dice = Dice(5);
    for k in 0..count {
        let cell = DVec3::new((k % 10) as f64, (k / 100) as f64, (k / 10 % 10) as f64);
        let at = (cell - DVec3::new(4.5, 0.0, 4.5)) * 0.12 + DVec3::Y * 1.9;
        let mut number = || dice.below(1000) as f64 / 1000.0 - 0.5;
        let turn = DVec3::new(number(), number(), number()) * 0.2;
        let says = format!(
            "mass = 0.6\nhalf_extents = [0.05, 0.05, 0.05]\nfriction = [0.3, 0.3]\nrotation = {}",
            vector(turn)
        );
        body(&mut text, &format!("box {k}"), at, &says);
    }
    let mut rig = Rig::with_threads(&text, 2);
    let names: Vec<String> = (0..count).map(|k| format!("box {k}")).collect();
    let rests = |rig: &Rig| {
        let still = |n: &String| rig.velocity(n) == DVec3::ZERO && rig.spin(n) == DVec3::ZERO;
        names.iter().all(still)
    };
    let most = if long { 60.0 } else { 15.0 };
    rig.run(0.5);
    while !rests(&rig) {
        assert!(rig.time() < most, "not at rest after {} s", rig.time());
        rig.run(0.5);
    }
    println!("{count} at rest after {} s", rig.time());
    for name in &names {
        let at = rig.position(name);
        // On the floor or on others, within the bin, below the outlet.
        let inside = at.x.abs().max(at.z.abs()) < 1.0;
        assert!(inside && (0.04..1.2).contains(&at.y), "{name} at {at}");
    }
}

/// The wall of 252 bricks stands for 5 s, awake (T18).
#[test]
fn a_wall_of_252_bricks_stands() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let mut text = world("step = 0.005\nsleep = false");
    floor(&mut text, "");
    let mut start = Vec::new();
    for course in 0..12 {
        // Every second course ends in half a brick on one side and in one and a half on the other, so that none overhangs.
        let ends = match course % 4 {
            1 => [0.3, 0.1],
            3 => [0.1, 0.3],
            _ => [0.2, 0.2],
        };
        let mut left = -2.1;
        for brick in 0..21 {
            let length = match brick {
                0 => ends[0],
                20 => ends[1],
                _ => 0.2,
            };
            let at = DVec3::new(left + length / 2.0, 0.05 + 0.1 * f64::from(course), 0.0);
            let says = format!(
                "mass = {:?}\nhalf_extents = [{:?}, 0.05, 0.05]\nfriction = [0.6, 0.6]",
                18.0 * length,
                length / 2.0
            );
            body(&mut text, &format!("box {}", start.len()), at, &says);
            start.push(at);
            left += length;
        }
    }
    assert_eq!(start.len(), 252);
    let mut rig = Rig::with_threads(&text, 2);
    rig.run(if long { 60.0 } else { 5.0 });
    let off = (0..252).map(|k| rig.position(&format!("box {k}")).distance(start[k]));
    let worst = off.fold(0.0, f64::max);
    println!("{worst} m");
    assert!(worst < 1e-3, "{worst}");
}
