//! A needle pushes a membrane, rubs on it, holds and tears it, and never passes through it (W121–W138).

#![allow(clippy::unwrap_used)]

use glam::{DQuat, DVec3};
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::{Pose, real, rotation};
use trocar_mesh::Surface;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Material, Measure, Membrane, MembraneParts};
use trocar_tools::membrane::{Needle, NeedleParts, Stick, Travel};

const FRAME: f64 = 1.0 / 30.0;

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

const THESIS: Material = Material::Springs {
    stiffness: 6500.0,
    mass: 0.01,
};

/// The source's tip: 0.98 mm with its caps, along z.
fn cystotome(friction: f64, stick: Stick) -> NeedleParts {
    NeedleParts {
        axis: [DVec3::Z * 0.29e-3, DVec3::Z * -0.29e-3],
        radius: 0.2e-3,
        stiffness: 6500.0,
        friction,
        stick,
    }
}

fn standard() -> Sheet {
    Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap()
}

fn rim(sheet: &Sheet) -> Vec<usize> {
    let on_rim = |n: &NodeId| sheet.kind(*n) != Some(Kind::Inner);
    sheet.nodes().filter(on_rim).map(|n| n.slot()).collect()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(DVec3::new(x, y, z), DQuat::IDENTITY)
}

/// One frame: as many substeps as membrane and needle need.
fn frame(membrane: &Membrane, nodes: &mut Nodes, needle: &mut Needle, travel: Travel) {
    let own = membrane.substeps(travel.dt, membrane.stable_step());
    let substeps = own.max(needle.substeps(&travel));
    steps(membrane, nodes, needle, travel, substeps, &STILL);
}

fn steps(
    membrane: &Membrane,
    nodes: &mut Nodes,
    needle: &mut Needle,
    travel: Travel,
    substeps: u32,
    field: &Field,
) {
    let h = travel.dt / f64::from(substeps);
    needle.begin(membrane, nodes, travel);
    for k in 1..=substeps {
        membrane.force(nodes, field);
        let part = f64::from(k) / f64::from(substeps);
        needle.act(membrane, nodes, part, h);
        assert!(membrane.advance(nodes, h));
    }
}

/// A single triangle on three balls, under gravity that is tilted: how far it has slid after 4 ms, m, and its acceleration then, m/s².
fn slid(tilt: f64, sliding: f64, sticking: f64, gently: bool) -> (f64, f64) {
    let side = 2e-3;
    let corner = |k: u32| {
        let turn = f64::from(k) * std::f64::consts::TAU / 3.0;
        rotation::from_scaled_axis(DVec3::Z * turn) * (DVec3::X * side)
    };
    let surface = Surface {
        positions: (0..3).map(corner).collect(),
        triangles: vec![[0, 1, 2]],
    };
    let sheet = Sheet::new(&surface).unwrap();
    let material = Material::Springs {
        stiffness: 100.0,
        mass: 1e-5,
    };
    let (radius, stiffness) = (2e-4, 10.0);
    let mut needles: Vec<Needle> = (0..3)
        .map(|_| {
            Needle::new(NeedleParts {
                axis: [DVec3::ZERO; 2],
                radius,
                stiffness,
                friction: sliding,
                stick: Stick::Cone(sticking),
            })
            .unwrap()
        })
        .collect();
    let build = |damping: f64| {
        let mut parts = MembraneParts::new(sheet.clone(), material);
        parts.gravity = true;
        parts.damping = damping;
        let mut membrane = Membrane::new(parts).unwrap();
        membrane.expect_tools(3.0 * needles[0].added_stiffness());
        membrane
    };
    let (damped, free) = (build(500.0), build(0.0));
    let mut nodes = free.rest();
    nodes.position.iter_mut().for_each(|p| p.z = radius);
    let h = 0.2 * free.stable_step();
    let mut run = |membrane: &Membrane, gravity: DVec3, count: u32| {
        let field = Field { time: 0.0, gravity };
        let dt = h * f64::from(count);
        for (k, needle) in needles.iter_mut().enumerate() {
            let foot = corner(k as u32) * 0.6;
            let travel = Travel::still(at(foot.x, foot.y, 0.0), dt);
            needle.begin(membrane, &nodes, travel);
        }
        for k in 1..=count {
            membrane.force(&mut nodes, &field);
            for needle in &mut needles {
                needle.act(membrane, &mut nodes, f64::from(k) / f64::from(count), h);
            }
            assert!(membrane.advance(&mut nodes, h));
        }
        nodes.position.iter().map(|p| p.x).sum::<f64>() / 3.0
    };
    let settle = (0.1 / h) as u32;
    let g = 9.81;
    let before = run(&damped, DVec3::Z * -g, settle);
    assert!(before.abs() < 1e-9, "it stays where it is put: {before}");
    let watched = (8e-3 / h) as u32;
    let tilted = |tilt: f64| DVec3::new(real::sin(tilt), 0.0, -real::cos(tilt)) * g;
    let gravity = tilted(tilt);
    if gently {
        // At once, it would swing on the springs that hold it, and twice the force would tear it off.
        for k in 1..=40 {
            run(&damped, tilted(tilt * f64::from(k) / 40.0), settle / 20);
        }
    }
    // How far the springs that hold it give way, or what it gains in speed once they are stretched.
    let halfway = run(&free, gravity, watched / 2);
    let later = run(&free, gravity, watched / 4);
    let last = run(&free, gravity, watched / 4);
    let quarter = f64::from(watched / 4) * h;
    (
        halfway - before,
        ((last - later) - (later - halfway)) / (quarter * quarter),
    )
}

#[test]
fn on_a_slope_it_sticks_below_the_cone_and_slides_above_it() {
    // The coefficients of friction, and slopes on both sides of the cone.
    let (sliding, sticking) = (0.4, 0.5);
    let (way, _) = slid(real::atan2(0.45, 1.0), sliding, sticking, true);
    // No farther than the springs that hold it give way, in 208 ms; down the slope a free fall goes 0.9 m.
    let give = 3e-5 * 9.81 * real::sin(real::atan2(0.45, 1.0)) / (3.0 * 10.0);
    assert!((way / give - 1.0).abs() < 0.2, "{way} instead of {give}");
    // Just below the cone it still holds.
    let steep = real::atan2(0.49, 1.0);
    let (way, _) = slid(steep, sliding, sticking, true);
    let give = 3e-5 * 9.81 * real::sin(steep) / (3.0 * 10.0);
    assert!((way / give - 1.0).abs() < 0.2, "{way} instead of {give}");
    // Just above it slides, as Coulomb says for what slides.
    let above = real::atan2(0.55, 1.0);
    let (_, gained) = slid(above, sliding, sticking, false);
    let expected = 9.81 * (real::sin(above) - sliding * real::cos(above));
    assert!(
        (gained / expected - 1.0).abs() < 0.1,
        "{gained} instead of {expected}"
    );
    let tilt = real::atan2(0.8, 1.0);
    let (_, gained) = slid(tilt, sliding, sticking, false);
    let expected = 9.81 * (real::sin(tilt) - sliding * real::cos(tilt));
    assert!(
        (gained / expected - 1.0).abs() < 0.05,
        "{gained} instead of {expected}"
    );
    // Without friction as any body does.
    let (_, gained) = slid(tilt, 0.0, 0.0, false);
    let expected = 9.81 * real::sin(tilt);
    assert!(
        (gained / expected - 1.0).abs() < 2e-3,
        "{gained} instead of {expected}"
    );
}

/// A needle dragged along a sheet that can't move, pressed into it by `depth`: force along the way over the push.
fn dragged(parts: NeedleParts, depth: f64) -> f64 {
    let sheet = standard();
    let mut built = MembraneParts::new(sheet, THESIS);
    built.fixed = (0..built.sheet.node_slots()).collect();
    let membrane = Membrane::new(built).unwrap();
    let mut nodes = membrane.rest();
    let mut needle = Needle::new(parts).unwrap();
    let z = parts.radius + parts.axis[0].z.abs() - depth;
    let travel = Travel {
        from: at(3e-3, 4e-3, z),
        to: at(4e-3, 4.2e-3, z),
        dt: FRAME,
    };
    steps(&membrane, &mut nodes, &mut needle, travel, 100, &STILL);
    let force = needle.reaction().force;
    let along = (travel.to.position - travel.from.position).normalize();
    assert!(force.z > 0.0, "{force}");
    -force.dot(along) / force.z
}

#[test]
fn a_dragged_needle_feels_coulomb_s_friction() {
    let depth = 0.03e-3;
    assert!(dragged(cystotome(0.0, Stick::Never), depth).abs() < 1e-9);
    let sliding = dragged(cystotome(0.3, Stick::Never), depth);
    assert!((sliding - 0.3).abs() < 1e-6, "{sliding}");
    let cone = dragged(cystotome(0.3, Stick::Cone(0.4)), depth);
    assert!((cone - 0.3).abs() < 0.03, "{cone}");
    // The source's: it holds on up to its limit, far beyond any cone.
    let deep = Stick::Deep {
        beyond: 0.02e-3,
        limit: 30.0,
    };
    let deep = dragged(cystotome(0.3, deep), depth);
    assert!(deep > 5.0, "{deep}");
}

#[test]
fn a_fast_needle_does_not_pass_through() {
    // Lying, thin, and so fast that it moves by many radii in a substep; with and without a turn on the way.
    for turn in [0.0, 0.6] {
        let sheet = standard();
        let mut parts = MembraneParts::new(sheet, THESIS);
        parts.fixed = rim(&parts.sheet);
        parts.damping = 2000.0;
        let mut membrane = Membrane::new(parts).unwrap();
        let mut needle = Needle::new(NeedleParts {
            axis: [DVec3::X * -1e-3, DVec3::X * 1e-3],
            radius: 0.05e-3,
            stiffness: 65000.0,
            friction: 0.2,
            stick: Stick::Never,
        })
        .unwrap();
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        let turned = |z: f64, turn: f64| {
            Pose::new(
                DVec3::new(4.2e-3, 4.3e-3, z),
                rotation::from_scaled_axis(DVec3::Y * turn),
            )
        };
        let start = turned(1.0e-3, 0.0);
        let end = turned(-2.0e-3, turn);
        let down = Travel {
            from: start,
            to: end,
            dt: FRAME / 4.0,
        };
        let substeps = membrane.substeps(down.dt, membrane.stable_step());
        let way = 3e-3 / f64::from(substeps);
        assert!(way > 2.0 * 0.05e-3, "slow enough to be seen: {way}");
        steps(&membrane, &mut nodes, &mut needle, down, substeps, &STILL);
        for _ in 0..20 {
            frame(
                &membrane,
                &mut nodes,
                &mut needle,
                Travel::still(end, FRAME),
            );
        }
        // It holds the sheet down under it: every triangle that its middle is above or below is below.
        let [_, touched] = needle.counts();
        assert!(touched > 0);
        let middle = end.position;
        let mut below = 0;
        for (_, corners) in membrane.triangles() {
            let [a, b, c] = corners.map(|n| nodes.position[n as usize]);
            let cross = |u: DVec3, v: DVec3| {
                let (u, v) = (u - middle, v - middle);
                u.x * v.y - u.y * v.x
            };
            let sides = [cross(a, b), cross(b, c), cross(c, a)];
            if sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0) {
                below += 1;
                // The point straight below or above the middle; corners beside a trough may be higher.
                let normal = (b - a).cross(c - a);
                let there =
                    a.z - (normal.x * (middle.x - a.x) + normal.y * (middle.y - a.y)) / normal.z;
                let lowest = a.z.min(b.z).min(c.z);
                // What it leapt over while it turned comes back only with a part of it.
                let seen = if turn > 0.0 { lowest } else { there };
                assert!(seen < middle.z, "{turn}: {a} {b} {c} {there}");
            }
        }
        assert!(below > 0);
        assert!(needle.reaction().force.z > 0.0, "{:?}", needle.reaction());
    }
}

#[test]
fn energy_never_grows_on_a_needle_at_rest() {
    for stick in [
        Stick::Never,
        Stick::Cone(0.8),
        Stick::Deep {
            beyond: 0.02e-3,
            limit: 3.0,
        },
    ] {
        let mut parts = MembraneParts::new(standard(), THESIS);
        parts.prestress = 0.98;
        parts.fixed = rim(&parts.sheet);
        let mut membrane = Membrane::new(parts).unwrap();
        let mut needle = Needle::new(cystotome(0.3, stick)).unwrap();
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        // Thrown onto the needle, and sideways.
        for n in 0..nodes.len() {
            if membrane.sheet().kind(membrane.sheet().node_at(n)) == Some(Kind::Inner) {
                nodes.velocity[n] = DVec3::new(0.1, 0.05, 0.4);
            }
        }
        let energy =
            |nodes: &Nodes| membrane.elastic_energy(nodes) + membrane.kinetic_energy(nodes);
        let first = energy(&nodes);
        let moving = membrane.kinetic_energy(&nodes);
        let h = 0.25 * membrane.stable_step();
        let pose = at(4.2e-3, 4.3e-3, 0.6e-3);
        let (mut most, mut touched) = (0.0_f64, 0);
        for _ in 0..200 {
            let travel = Travel::still(pose, 20.0 * h);
            steps(&membrane, &mut nodes, &mut needle, travel, 20, &STILL);
            most = most.max(energy(&nodes));
            touched += needle.counts()[1];
        }
        assert!(touched > 0);
        assert!(
            most - first < 0.02 * moving,
            "{stick:?}: {most} from {first}, {moving}"
        );
    }
}

/// The standard sheet with its rim fixed and a slit from the middle of its lower side.
fn slit(algorithm: Algorithm) -> (Membrane, Nodes) {
    let sheet = standard();
    let mut parts = MembraneParts::new(sheet, THESIS);
    parts.fixed = rim(&parts.sheet);
    let start = {
        let middle = DVec3::new(4.25e-3, 0.0, 0.0);
        let all = parts.sheet.nodes();
        all.min_by(|a, b| {
            let off = |n: &NodeId| parts.sheet.rest(*n).distance(middle);
            off(a).total_cmp(&off(b))
        })
        .unwrap()
    };
    parts.fixed.retain(|n| *n != start.slot());
    parts.measure = Measure::Tension { reach: 1.2e-3 };
    parts.damping = 60.0;
    let settings = TearSettings {
        algorithm: Algorithm::Subdivision,
        thresholds: Thresholds {
            tip: 250.0,
            edge: 1e5,
            inner: 1e6,
            fastest: 600.0,
        },
        lengths: Lengths {
            least: 1e-6,
            most: 0.3e-3,
            ..Lengths::of_edge(0.5e-3)
        },
    };
    parts.tearing = Some(settings);
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    let up = Aim::Toward(DVec3::Y);
    membrane.tear_at(&mut nodes, start, 1.0, up).unwrap();
    for _ in 0..3 {
        let tip = tip(&membrane).unwrap();
        membrane.tear_at(&mut nodes, tip, 1.0, up).unwrap();
    }
    membrane
        .set_tearing(Some(TearSettings {
            algorithm,
            ..settings
        }))
        .unwrap();
    (membrane, nodes)
}

fn tip(membrane: &Membrane) -> Option<NodeId> {
    let sheet = membrane.sheet();
    sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip))
}

#[test]
fn pushed_against_a_tip_it_opens_the_sheet_along_its_way() {
    for algorithm in [Algorithm::Continuous, Algorithm::PseudoContinuous] {
        let (mut membrane, mut nodes) = slit(algorithm);
        let area = membrane.sheet().rest_area();
        let deep = Stick::Deep {
            beyond: 0.04e-3,
            limit: 30.0,
        };
        let mut needle = Needle::new(cystotome(1.2, deep)).unwrap();
        membrane.expect_tools(needle.added_stiffness());
        let first = membrane.sheet().rest(tip(&membrane).unwrap());
        let mut here = at(first.x, first.y - 0.6e-3, 0.0);
        let (mut tears, mut stuck) = (0, 0);
        for _ in 0..150 {
            let mut next = here;
            next.position.y += 0.02e-3;
            let travel = Travel {
                from: here,
                to: next,
                dt: FRAME,
            };
            frame(&membrane, &mut nodes, &mut needle, travel);
            here = next;
            stuck = stuck.max(needle.sticking());
            if membrane.tear(&mut nodes).is_ok_and(|done| done.is_some()) {
                tears += 1;
                needle.follow(&membrane);
            }
            assert!(nodes.position.iter().all(|p| p.is_finite()));
        }
        let sheet = membrane.sheet();
        assert!(sheet.check().is_ok());
        assert!((sheet.rest_area() - area).abs() < 1e-12 * area);
        let last = tip(&membrane).map(|n| sheet.rest(n)).unwrap();
        // The needle went 3 mm, from 0.6 mm behind the tip; the sheet gives way a little before it tears.
        let (opened, off) = (last.y - first.y, (last.x - first.x).abs());
        assert!(tears > 10 && stuck > 0, "{algorithm:?}: {tears} {stuck}");
        assert!(opened > 1.5e-3, "{algorithm:?}: {opened}, {off} off");
        assert!(
            off < 0.2 * opened,
            "{algorithm:?}: {off} off after {opened}"
        );
    }
}

#[test]
fn what_sticks_goes_on_sticking_where_it_was_while_the_sheet_is_torn() {
    let (mut membrane, mut nodes) = slit(Algorithm::Continuous);
    let deep = Stick::Deep {
        beyond: 0.0,
        limit: 30.0,
    };
    let mut needle = Needle::new(cystotome(0.0, deep)).unwrap();
    membrane.expect_tools(needle.added_stiffness());
    // Pressed onto the sheet in front of the tip.
    let first = membrane.sheet().rest(tip(&membrane).unwrap());
    let above = at(first.x, first.y + 0.8e-3, 0.35e-3);
    let down = Travel {
        from: at(first.x, first.y + 0.8e-3, 0.6e-3),
        to: above,
        dt: FRAME,
    };
    frame(&membrane, &mut nodes, &mut needle, down);
    for _ in 0..10 {
        let still = Travel::still(above, FRAME);
        frame(&membrane, &mut nodes, &mut needle, still);
    }
    assert!(needle.sticking() > 0);
    let pull = Travel {
        from: above,
        to: at(first.x + 0.02e-3, first.y + 0.8e-3, 0.35e-3),
        dt: FRAME,
    };
    frame(&membrane, &mut nodes, &mut needle, pull);
    for _ in 0..10 {
        let still = Travel::still(pull.to, FRAME);
        frame(&membrane, &mut nodes, &mut needle, still);
    }
    let force = needle.reaction().force;
    assert!(needle.sticking() > 0, "{force}");
    // The tear goes right through below it.
    for _ in 0..10 {
        let tip = tip(&membrane).unwrap();
        let up = Aim::Toward(DVec3::Y);
        membrane.tear_at(&mut nodes, tip, 0.1e-3, up).unwrap();
        needle.follow(&membrane);
        assert!(needle.sticking() > 0);
    }
    let h = FRAME / f64::from(membrane.substeps(FRAME, membrane.stable_step()));
    needle.begin(&membrane, &nodes, Travel::still(pull.to, h));
    membrane.force(&mut nodes, &STILL);
    needle.act(&membrane, &mut nodes, 1.0, h);
    // It pulls the same way still: it hangs on the same points.
    let now = needle.reaction().force;
    assert!(needle.sticking() > 0);
    assert!(now.x * force.x > 0.0, "{force} became {now}");
}

#[test]
fn nonsense_is_refused_and_a_needle_that_starts_inside_is_pushed_out() {
    let bad = |change: &dyn Fn(&mut NeedleParts)| {
        let mut parts = cystotome(0.3, Stick::Cone(0.5));
        change(&mut parts);
        assert!(Needle::new(parts).is_err(), "{parts:?}");
    };
    bad(&|p| p.radius = 0.0);
    bad(&|p| p.stiffness = f64::NAN);
    bad(&|p| p.friction = -1.0);
    bad(&|p| p.stick = Stick::Cone(0.2));
    bad(&|p| p.axis[0] = DVec3::NAN);
    bad(&|p| {
        p.stick = Stick::Deep {
            beyond: -1.0,
            limit: 1.0,
        }
    });

    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.fixed = rim(&parts.sheet);
    parts.damping = 100.0;
    let mut membrane = Membrane::new(parts).unwrap();
    let mut needle = Needle::new(cystotome(0.0, Stick::Never)).unwrap();
    membrane.expect_tools(needle.added_stiffness());
    let mut nodes = membrane.rest();
    // Its axis goes through the sheet, nearer to its upper end.
    let inside = at(4.2e-3, 4.3e-3, -0.2e-3);
    for _ in 0..60 {
        frame(
            &membrane,
            &mut nodes,
            &mut needle,
            Travel::still(inside, FRAME),
        );
        assert!(nodes.position.iter().all(|p| p.is_finite()));
    }
    let highest = nodes.position.iter().map(|p| p.z).fold(0.0, f64::max);
    assert!(highest > 0.15e-3, "{highest}");
}

/// A thin needle on an arm turns about a pivot above the sheet, about y from one angle to another, rad, within so many of the sheet's longest substeps, in as many or in as many as the needle asks
/// for, and stays there: how many triangles its axis goes through then, and how hard the sheet pushes back, N.
fn turned_into(pivot: DVec3, turn: [f64; 2], longest: u32, coarse: bool) -> (usize, f64) {
    let mut parts = MembraneParts::new(standard(), THESIS);
    parts.fixed = rim(&parts.sheet);
    parts.damping = 2000.0;
    let mut membrane = Membrane::new(parts).unwrap();
    let mut needle = Needle::new(NeedleParts {
        axis: [DVec3::X * 0.5e-3, DVec3::X * 2.5e-3],
        radius: 0.05e-3,
        stiffness: 65000.0,
        friction: 0.2,
        stick: Stick::Never,
    })
    .unwrap();
    membrane.expect_tools(needle.added_stiffness());
    let mut nodes = membrane.rest();
    let pose = |turn: f64| Pose::new(pivot, rotation::from_scaled_axis(DVec3::Y * turn));
    let travel = Travel {
        from: pose(turn[0]),
        to: pose(turn[1]),
        dt: 0.9 * membrane.stable_step() * f64::from(longest),
    };
    let count = match coarse {
        true => longest,
        false => longest.max(needle.substeps(&travel)),
    };
    steps(&membrane, &mut nodes, &mut needle, travel, count, &STILL);
    for _ in 0..20 {
        let still = Travel::still(travel.to, FRAME);
        frame(&membrane, &mut nodes, &mut needle, still);
    }
    let axis = needle.capsule(&travel.to);
    let pierced = membrane.triangles().filter(|(_, corners)| {
        let corners = corners.map(|n| nodes.position[n as usize]);
        trocar_collide::closest::pierces(axis.a, axis.b, corners)
    });
    (pierced.count(), needle.reaction().force.z)
}

#[test]
fn a_needle_that_turns_fast_does_not_pass_through() {
    for (height, end) in [
        (0.6e-3, 0.6),
        (0.6e-3, 0.9),
        (0.6e-3, 1.2),
        (1.0e-3, 0.6),
        (1.0e-3, 0.9),
        (1.0e-3, 1.2),
    ] {
        let pivot = DVec3::new(2.2e-3, 4.3e-3, height);
        // In more than a second.
        let (_, slow) = turned_into(pivot, [-0.3, end], 5000, false);
        // Down to a third of a millisecond: the last are shots, through a sheet of kilograms.
        for longest in [100, 40, 20, 10, 6, 3, 1] {
            let case = format!("{height} m, to {end} rad in {longest} substeps");
            let (pierced, force) = turned_into(pivot, [-0.3, end], longest, false);
            // It ends on the side it came from, and the sheet pushes back as after a slow turn; it is stretched otherwise, and rubs.
            let part = force / slow;
            assert!(part > 0.9 && part < 1.5, "{case}: {force} N, {slow} N");
            // With little load on its tip that is not through, either.
            if end == 0.6 {
                assert_eq!(pierced, 0, "{case}");
            }
        }
    }
    // Swept in no more substeps than the sheet needs.
    for longest in [100, 20, 10, 6, 3, 1] {
        let pivot = DVec3::new(2.2e-3, 4.3e-3, 0.6e-3);
        let (pierced, force) = turned_into(pivot, [-0.3, 0.6], longest, true);
        assert!(pierced == 0 && force > 0.5, "{longest}: {pierced} {force}");
    }
}

#[test]
fn a_turn_takes_as_many_substeps_as_its_way_is_long() {
    let parts = NeedleParts {
        axis: [DVec3::X * 0.5e-3, DVec3::X * 2.5e-3],
        ..cystotome(0.0, Stick::Never)
    };
    let needle = Needle::new(parts).unwrap();
    let turned = |angle: f64, shift: DVec3| {
        let turn = rotation::from_scaled_axis(DVec3::Y * angle);
        Pose::new(shift, turn)
    };
    // Half a turn: its end goes along half a circle, and is on the other side then.
    let half = std::f64::consts::PI * (1.0 - 1e-9);
    let travel = Travel {
        from: turned(0.0, DVec3::ZERO),
        to: turned(half, DVec3::ZERO),
        dt: FRAME,
    };
    let way = half * 2.5e-3;
    assert!(f64::from(needle.substeps(&travel)) * 0.5 * parts.radius >= way);
    // Shifted meanwhile, so that the end comes back to where it was: as long a way, and more.
    let shift = travel.from.point(parts.axis[1]) - travel.to.point(parts.axis[1]);
    let back = Travel {
        to: turned(half, shift),
        ..travel
    };
    assert!(
        back.to
            .point(parts.axis[1])
            .distance(back.from.point(parts.axis[1]))
            < 1e-9
    );
    let count = needle.substeps(&back);
    let steps = (0..=count).map(|k| {
        let pose = back.at(f64::from(k) / f64::from(count));
        parts.axis.map(|p| pose.point(p))
    });
    let places: Vec<_> = steps.collect();
    for pair in places.windows(2) {
        for (from, to) in pair[0].iter().zip(pair[1]) {
            assert!(from.distance(to) <= 0.5 * parts.radius, "{from} {to}");
        }
    }
}

/// What of a sheet is above the axis of a needle that came from above: points of the axis with a triangle over them, and triangles that it pierces.
fn got_through(membrane: &Membrane, nodes: &Nodes, needle: &Needle, pose: &Pose) -> [usize; 2] {
    let axis = needle.capsule(pose);
    let (mut above, mut pierced) = (0, 0);
    for (_, corners) in membrane.triangles() {
        let [a, b, c] = corners.map(|n| nodes.position[n as usize]);
        pierced += usize::from(trocar_collide::closest::pierces(axis.a, axis.b, [a, b, c]));
        let normal = (b - a).cross(c - a);
        for part in 0..=20 {
            let p = axis.axis(f64::from(part) / 20.0);
            let cross = |u: DVec3, v: DVec3| {
                let (u, v) = (u - p, v - p);
                u.x * v.y - u.y * v.x
            };
            let sides = [cross(a, b), cross(b, c), cross(c, a)];
            let over = sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0);
            let height = a.z - (normal.x * (p.x - a.x) + normal.y * (p.y - a.y)) / normal.z;
            above += usize::from(over && height > p.z);
        }
    }
    [above, pierced]
}

#[test]
fn a_thin_needle_that_lies_does_not_get_through_however_hard_it_is_pressed() {
    // As stiff as the springs of the sheet, and a tenth of one of its edges thick: pressed in by twenty times its radius, held, and dragged along itself and across.
    for tilt in [0.0, 0.1, 0.3, -0.6] {
        let mut parts = MembraneParts::new(standard(), THESIS);
        parts.fixed = rim(&parts.sheet);
        parts.damping = 100.0;
        let mut membrane = Membrane::new(parts).unwrap();
        let mut needle = Needle::new(NeedleParts {
            axis: [DVec3::X * -1e-3, DVec3::X * 1e-3],
            radius: 0.05e-3,
            stiffness: 6500.0,
            friction: 0.2,
            stick: Stick::Never,
        })
        .unwrap();
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        let turn = rotation::from_scaled_axis(DVec3::Y * tilt);
        let half = real::sin(tilt).abs() * 1e-3;
        let put = |x: f64, y: f64, lowest: f64| {
            Pose::new(DVec3::new(4.2e-3 + x, 4.3e-3 + y, lowest + half), turn)
        };
        let way = [
            (put(0.0, 0.0, 0.1e-3), put(0.0, 0.0, -1e-3), 5),
            (put(0.0, 0.0, -1e-3), put(0.0, 0.0, -1e-3), 15),
            (put(0.0, 0.0, -1e-3), put(0.0, 0.9e-3, -1e-3), 15),
            (put(0.0, 0.9e-3, -1e-3), put(0.9e-3, 0.9e-3, -1e-3), 15),
            (put(0.9e-3, 0.9e-3, -1e-3), put(0.9e-3, 0.9e-3, -1e-3), 15),
        ];
        let mut hardest = 0.0_f64;
        for (leg, (from, to, frames)) in way.into_iter().enumerate() {
            for k in 0..frames {
                let at = |k: i32| from.interpolate(&to, f64::from(k) / f64::from(frames));
                let travel = Travel {
                    from: at(k),
                    to: at(k + 1),
                    dt: FRAME,
                };
                frame(&membrane, &mut nodes, &mut needle, travel);
                let through = got_through(&membrane, &nodes, &needle, &travel.to);
                assert_eq!(through, [0; 2], "tilt {tilt}, leg {leg}, frame {k}");
                let force = needle.reaction().force.z;
                assert!(leg == 0 || force > 0.0, "tilt {tilt}, leg {leg}: {force}");
                hardest = hardest.max(force);
            }
        }
        // More than springs of this stiffness bear at a node at the depth of a radius.
        assert!(hardest > 2.0 * 6500.0 * 0.05e-3, "{hardest}");
        println!("tilt {tilt}: {hardest} N");
    }
}

#[test]
fn what_is_fixed_does_not_help_to_stop_what_flies_in() {
    // A triangle with two corners fixed, touched near to these: only the third can be stopped.
    let corners = [DVec3::ZERO, DVec3::X * 2e-3, DVec3::new(1e-3, 1.7e-3, 0.0)];
    let surface = Surface {
        positions: corners.to_vec(),
        triangles: vec![[0, 1, 2]],
    };
    let mut parts = MembraneParts::new(
        Sheet::new(&surface).unwrap(),
        Material::Springs {
            stiffness: 100.0,
            mass: 1e-5,
        },
    );
    parts.fixed = vec![0, 1];
    let mut membrane = Membrane::new(parts).unwrap();
    let radius = 0.2e-3;
    let mut needle = Needle::new(NeedleParts {
        axis: [DVec3::ZERO; 2],
        radius,
        stiffness: 1.0,
        friction: 0.0,
        stick: Stick::Never,
    })
    .unwrap();
    membrane.expect_tools(needle.added_stiffness());
    let mut nodes = membrane.rest();
    let weights = [0.45, 0.45, 0.1];
    let touched = |nodes: &Nodes| {
        let places = nodes.position.iter().zip(weights);
        places.map(|(p, w)| *p * w).sum::<DVec3>()
    };
    let below = touched(&nodes) - DVec3::Z * (0.9 * radius);
    let h = 0.2 * membrane.stable_step();
    // Fast enough to take the place that is touched to the other side at once.
    nodes.velocity[2] = DVec3::Z * (-2.0 * radius / (0.1 * h));
    let pose = at(below.x, below.y, below.z);
    steps(
        &membrane,
        &mut nodes,
        &mut needle,
        Travel::still(pose, h),
        1,
        &STILL,
    );
    assert_eq!(needle.counts()[1], 1);
    let height = touched(&nodes).z - below.z;
    assert!(height > 0.19 * radius, "{height}");
    assert_eq!(
        [nodes.position[0], nodes.position[1]],
        [corners[0], corners[1]]
    );
}

#[test]
fn a_needle_can_resume_after_what_it_slid_on_is_gone() {
    let mut built = MembraneParts::new(standard(), THESIS);
    built.fixed = (0..built.sheet.node_slots()).collect();
    built.tearing = Some(TearSettings {
        algorithm: Algorithm::Deletion,
        thresholds: Thresholds {
            tip: 1e6,
            edge: 1e6,
            inner: 1e6,
            fastest: 2e6,
        },
        lengths: Lengths::of_edge(0.5e-3),
    });
    let mut membrane = Membrane::new(built).unwrap();
    let mut nodes = membrane.rest();
    let parts = cystotome(0.3, Stick::Cone(0.4));
    let mut needle = Needle::new(parts).unwrap();
    let z = parts.radius + parts.axis[0].z.abs() - 0.03e-3;
    let travel = Travel {
        from: at(3e-3, 4e-3, z),
        to: at(4e-3, 4.2e-3, z),
        dt: FRAME,
    };
    steps(&membrane, &mut nodes, &mut needle, travel, 100, &STILL);
    assert!(needle.sticking() > 0);
    let here = travel.to.position;
    let near = |n: &NodeId| {
        let rest = membrane.sheet().rest(*n);
        (rest - here).truncate().length() < 1e-3
    };
    let around: Vec<NodeId> = membrane.sheet().nodes().filter(near).collect();
    for node in around {
        let torn = membrane.tear_at(&mut nodes, node, 1.0, Aim::Strain);
        if torn.is_ok() {
            needle.follow(&membrane);
        }
        let record = needle.record();
        assert!(Needle::can_resume(&membrane, &record), "{record:?}");
    }
    assert_eq!(needle.sticking(), 0);
    // Nothing is left to remember.
    let mut other = Needle::new(parts).unwrap();
    other.resume(&membrane, &needle.record());
    assert_eq!(other.record(), needle.record());
}
