//! A car with springs, servos and motors of limited force drives on a floor, and through a wall, however its joints are
//! solved (B45, B53, B93; T18).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{rigid::Rig, scenes};
use glam::DVec3;
use trocar_dynamics::{Joint, joint::Drive};

/// What each motor can give, N·m.
const TORQUE: f64 = 1.5;

/// Speed of a car whose wheels turn as fast as their motors want, m/s.
const SPEED: f64 = 32.0 * 0.07;

/// The scene of the wall, solved in one of the ways there are; without bricks if it is the car alone that is looked at.
fn scene(solver: &str, bricks: bool) -> String {
    let text = std::fs::read_to_string(scenes().join("wall.toml")).unwrap();
    let (head, rest) = text.split_once("[[body]]").unwrap();
    let mut kept = head.replace("[world]\n", &format!("[world]\nsolver = \"{solver}\"\n"));
    for thing in rest.split("[[body]]") {
        if bricks || !thing.contains("name = \"brick") {
            kept += "[[body]]";
            kept += thing;
        }
    }
    kept
}

/// The joints that are motors.
fn motors(rig: &Rig) -> Vec<usize> {
    let joints = rig.simulation.model().joints.iter();
    let is_motor = |(_, j): &(usize, &Joint)| {
        let mut drives = j.controls.iter().filter_map(|c| c.drive);
        drives.any(|d| matches!(d, Drive::Speed { .. }))
    };
    joints
        .enumerate()
        .filter(is_motor)
        .map(|(k, _)| k)
        .collect()
}

/// Speed of the car at the end of each half second, and the errors of its joints in all steps, m and rad, each in ascending order.
fn drive(solver: &str) -> (Vec<f64>, [Vec<f64>; 2]) {
    let mut rig = Rig::new(&scene(solver, false));
    let motors = motors(&rig);
    assert_eq!(motors.len(), 4);
    let (mut speeds, mut gaps, mut tilts, mut halvings) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..3 {
        rig.watch(0.5, |rig, report| {
            gaps.push(rig.gap());
            tilts.push(rig.tilt());
            halvings += report.halvings;
            for k in &motors {
                let torque = rig.simulation.joint_force(*k).unwrap().driven;
                assert!(torque.abs() <= TORQUE * (1.0 + 1e-9), "{solver}: {torque}");
            }
        });
        speeds.push(rig.velocity("car").x);
    }
    assert!(halvings < 10, "{solver}: {halvings} halvings");
    let aside = rig.position("car").z.abs();
    assert!(aside < 0.01, "{solver}: {aside} m aside");
    gaps.sort_unstable_by(f64::total_cmp);
    tilts.sort_unstable_by(f64::total_cmp);
    (speeds, [gaps, tilts])
}

#[test]
fn a_car_drives_however_its_joints_are_solved() {
    let (swept, [gaps, tilts]) = drive("iterative");
    // Sweeps are cut short at sixty.
    let worst = |all: &[f64]| all[all.len() - 1];
    let (gap, tilt) = (worst(&gaps), worst(&tilts));
    assert!(gap < 5e-4 && tilt < 5e-3, "{gap} m, {tilt} rad");
    for solver in ["graph", "system"] {
        let (speeds, errors) = drive(solver);
        // Where a motor reaches its bound, or leaves it, a step may end before the last digit.
        for all in &errors {
            let usual = all[all.len() * 9 / 10];
            let worst = worst(all);
            assert!(usual < 1e-9 && worst < 5e-5, "{solver}: {usual}, {worst}");
        }
        for (speed, other) in speeds.iter().zip(&swept) {
            let apart = (speed / other - 1.0).abs();
            assert!(apart < 0.01, "{solver}: {speed} and {other}");
        }
        let last = speeds[speeds.len() - 1];
        assert!((last / SPEED - 1.0).abs() < 0.02, "{solver}: {last}");
    }
}

/// T18: the whole of the thesis' scene. The wall stands until the car comes; the car gets through, and its joints hold.
#[test]
fn a_car_drives_through_a_wall_that_stands_until_then() {
    let mut rig = Rig::new(&scene("auto", true));
    let names: Vec<String> = {
        let looks = rig.simulation.model().looks.iter().map(|l| l.name.clone());
        looks.filter(|n| n.starts_with("brick")).collect()
    };
    assert_eq!(names.len(), 252);
    let places = |rig: &Rig| -> Vec<DVec3> { names.iter().map(|n| rig.position(n)).collect() };
    let start = places(&rig);
    let (mut gap, mut halvings, mut contacts, mut drift) = (0.0_f64, 0, 0, 0.0_f64);
    rig.watch(2.4, |rig, report| {
        gap = gap.max(rig.gap());
        halvings += report.halvings;
        // Its front is 0.26 m before its middle.
        if rig.position("car").x < -0.3 {
            contacts = contacts.max(report.contacts);
            let moved = places(rig).into_iter().zip(&start);
            drift = moved.fold(drift, |most, (now, then)| most.max(now.distance(*then)));
        }
    });
    assert!(contacts > 2000, "{contacts} contacts");
    assert!(drift < 1e-3, "a brick moved by {drift} m before it was hit");
    assert!(gap < 1e-3, "a joint came apart by {gap} m");
    assert!(halvings < 10, "{halvings} halvings");
    let hit = places(&rig)
        .into_iter()
        .zip(&start)
        .filter(|(now, then)| now.distance(**then) > 0.05);
    let hit = hit.count();
    assert!((30..200).contains(&hit), "{hit} bricks were thrown");
    let car = (rig.position("car"), rig.velocity("car"));
    assert!(car.0.x > 1.0 && car.1.x > 1.5, "{car:?}");
}
