//! Just below the bound a net comes to rest, just above it blows up (K69).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, REST, organ, pipe, shaken, sheet, sheet_parts, step};
use glam::{DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Bodies, Integrator, Lock, MassNode, Matter, MatterId, Nodes, Turning,
};
use trocar_math::rotation;
use trocar_soft::{
    Active, Drive, Element, Global, Hyper, Law, Link, Material, Net, NetParts, NodeFlags, Signal,
    global::{End, Sight},
    hyper, stability,
};

/// How much a small disturbance has grown after many steps.
fn growth(nets: &[Net], hypers: &[Hyper], h: f64, steps: usize) -> f64 {
    let mut nodes: Vec<Nodes> = nets.iter().map(|net| shaken(net, 1e-9, 3)).collect();
    let away = |nodes: &[Nodes]| {
        let mut worst = 0.0_f64;
        for (net, nodes) in nets.iter().zip(nodes) {
            for (i, p) in nodes.position.iter().enumerate() {
                worst = worst.max((*p - net.base_position(nodes, i)).length());
            }
        }
        worst
    };
    let matters: Vec<Box<dyn Matter>> = nets
        .iter()
        .map(|n| Box::new(n.clone()) as Box<dyn Matter>)
        .collect();
    let slot: Vec<u32> = (0..nets.len() as u32).collect();
    hypers
        .iter()
        .for_each(|x| x.copy(|m| matters[m.index()].masses(), &mut nodes, &slot));
    let before = away(&nodes);
    for _ in 0..steps {
        if !step(&matters, &mut nodes, hypers, &REST, h) || away(&nodes) > 1e-2 {
            return f64::INFINITY;
        }
    }
    away(&nodes) / before
}

fn assert_exact(nets: &[Net], hypers: &[Hyper], tolerance: f64) {
    let refs: Vec<&Net> = nets.iter().collect();
    let bounds = stability::bounds(&refs, hypers);
    let below = growth(nets, hypers, bounds.exact * (1.0 - tolerance), 4000);
    let above = growth(nets, hypers, bounds.exact * (1.0 + tolerance), 4000);
    assert!(
        below < 10.0 && above > 100.0,
        "{bounds:?}: below {below}, above {above}"
    );
    assert!(bounds.safe <= bounds.exact, "{bounds:?}");
}

#[test]
fn of_the_first_model_of_the_source() {
    // 130 surface nodes and a father: k = 11.8 N/m by power iteration gives 0.048 s.
    let model = organ(16, 8, &MATERIAL);
    let bounds = stability::bounds(&[&model], &[]);
    assert!((0.045..0.058).contains(&bounds.exact), "{bounds:?}");
    assert_exact(&[model], &[], 0.01);
}

#[test]
fn of_a_pipe_with_bending_torsion_and_dampers() {
    let material = Material {
        mass: 0.002,
        centre_mass: 0.02,
        damping: 0.4,
        centre_damping: 0.4,
        memory: 0.5,
        stiffness: 0.2,
        brace: 0.05,
        ..MATERIAL
    };
    assert_exact(&[pipe(7, 10, &material)], &[], 0.01);
}

#[test]
fn of_an_undamped_sheet() {
    assert_exact(
        &[sheet(
            8,
            8,
            &Material {
                damping: 0.0,
                memory: 0.1,
                ..MATERIAL
            },
        )],
        &[],
        0.01,
    );
}

#[test]
fn of_two_nets_coupled_by_hyper_nodes() {
    let mut a = sheet(
        6,
        6,
        &Material {
            damping: 0.1,
            memory: 0.1,
            ..MATERIAL
        },
    );
    let mut b = a.clone();
    let hypers: Vec<Hyper> = (0..6)
        .map(|i| Hyper {
            master: (MatterId(0), i),
            slave: (MatterId(1), i),
            factor: 1.0,
        })
        .collect();
    for h in &hypers {
        hyper::mark(h, MatterId(0), &mut a);
        hyper::mark(h, MatterId(1), &mut b);
    }
    assert_exact(&[a, b], &hypers, 0.01);
}

#[test]
fn of_a_node_that_moves_along_one_axis_only_or_half_freely() {
    // Two springs of k along x and y; the node can't go along y, and along z it goes half as far as it would.
    let (m, d, k) = (0.002, 0.05, 40.0);
    let spring = |nodes| Element {
        nodes,
        rest_length: 0.0,
        law: Law::spring(k),
    };
    for (gains, softest) in [
        (DVec3::new(1.0, 0.0, 0.0), 1.0),
        (DVec3::new(0.0, 0.0, 0.5), 0.5),
        (DVec3::new(0.5, 0.0, 0.25), 0.5),
    ] {
        let turned = rotation::from_scaled_axis(DVec3::Y * 0.3);
        let net = Net::new(NetParts {
            points: vec![DVec3::ZERO; 2],
            nodes: vec![
                MassNode {
                    damping: d,
                    lock: Lock::Axes(gains, turned),
                    ..MassNode::point(m)
                },
                MassNode {
                    lock: Lock::Fixed,
                    ..MassNode::point(m)
                },
            ],
            flags: vec![NodeFlags::default(); 2],
            memory: vec![0.0; 2],
            elements: vec![spring([0, 1])],
            mobile: true,
            ..NetParts::default()
        })
        .unwrap();
        let bounds = stability::bounds(&[&net], &[]);
        // h² k = 2 (2 m + d h)/b along the axis with the gain b.
        let (d, m) = (d / softest, m / softest);
        let expected = stability::critical_step(m, d, k);
        assert!(
            (bounds.exact / expected - 1.0).abs() < 1e-3,
            "{gains}: {bounds:?}, expected {expected}"
        );
        let swings = |h: f64| {
            let mut nodes = net.rest().clone();
            nodes.position[0] = turned * (gains * 1e-9);
            for _ in 0..2000 {
                net.force(&mut nodes, &REST);
                net.plan(&mut nodes, h, None);
                net.advance(&mut nodes, h);
            }
            nodes.position[0].length() / 1e-9
        };
        assert!(swings(0.99 * expected) < 1.0 && swings(1.01 * expected) > 100.0);
    }
}

#[test]
fn a_damper_to_a_fixed_point_counts_with_the_springs_beside_it() {
    // At rest the string is soft across, and there the damper acts alone; stretched, both act along one line.
    let (m, k, c) = (0.001, 60.0, 0.15);
    let net = Net::new(NetParts {
        points: vec![DVec3::ZERO, DVec3::X * 0.05],
        nodes: vec![
            MassNode::point(m),
            MassNode {
                lock: Lock::Fixed,
                ..MassNode::point(m)
            },
        ],
        flags: vec![NodeFlags::default(); 2],
        memory: vec![0.0; 2],
        elements: vec![Element {
            nodes: [0, 1],
            rest_length: 0.05,
            law: Law::spring(k).pulling(),
        }],
        mobile: true,
        ..NetParts::default()
    })
    .unwrap();
    let ends = [End::On(Anchor::node(MatterId(0), 0)), End::At(DVec3::NEG_X)];
    let tie = Global::link(ends, Link::new(0.0, Law::damper(c)));
    let bounds = stability::bounds_with(&[&net], &[], &[tie]);
    // Stretched along its line: h² k + 2 h c = 4 m.
    let stretched = stability::critical_step(m, -c, k);
    assert!(
        bounds.safe <= stretched && bounds.exact > stretched,
        "{bounds:?} {stretched}"
    );
}

/// The longest step at which a disturbance does not grow, by bisection of the running scheme itself.
fn found(nets: &[Net], hypers: &[Hyper], near: f64) -> f64 {
    let grows = |h: f64| growth(nets, hypers, h, 3000) > 30.0;
    let (mut low, mut high) = (0.25 * near, 4.0 * near);
    assert!(!grows(low) && grows(high), "not near {near}");
    while high - low > 2e-3 * high {
        let middle = 0.5 * (low + high);
        *(if grows(middle) { &mut high } else { &mut low }) = middle;
    }
    low
}

/// Every integrator on nets of one make; undamped ones swing up by `Midpoint` at any step.
fn assert_every_integrator(make: impl Fn(Integrator) -> (Vec<Net>, Vec<Hyper>)) {
    for integrator in Integrator::ALL {
        let (nets, hypers) = make(integrator);
        let refs: Vec<&Net> = nets.iter().collect();
        let bounds = stability::bounds(&refs, &hypers);
        assert!(!bounds.flutters, "{integrator:?} {bounds:?}");
        let found = found(&nets, &hypers, bounds.exact);
        println!(
            "{integrator:?}: exact {:.5}, found {found:.5}",
            bounds.exact
        );
        assert!(
            (found / bounds.exact - 1.0).abs() < 0.02,
            "{integrator:?}: found {found}, {bounds:?}"
        );
        assert!(bounds.safe <= bounds.exact, "{bounds:?}");
    }
}

#[test]
fn of_every_integrator_on_an_organ() {
    // A father damped as strongly as its many children: without mass it would answer them too late otherwise.
    assert_every_integrator(|integrator| {
        let material = Material {
            integrator,
            centre_damping: 20.0,
            turn_damping: 0.02,
            ..MATERIAL
        };
        (vec![organ(8, 8, &material)], vec![])
    });
}

#[test]
fn of_every_integrator_on_a_pipe() {
    assert_every_integrator(|integrator| {
        let material = Material {
            integrator,
            centre_mass: 0.02,
            damping: 0.4,
            centre_damping: 4.0,
            turn_damping: 1e-3,
            memory: 0.5,
            stiffness: 0.2,
            ..MATERIAL
        };
        (vec![pipe(5, 8, &material)], vec![])
    });
}

#[test]
fn of_every_integrator_on_coupled_sheets() {
    // The one that is coupled goes by MESD: two schemes in one group.
    assert_every_integrator(|integrator| {
        let material = Material {
            damping: 0.1,
            memory: 0.1,
            integrator,
            ..MATERIAL
        };
        let mut a = sheet(5, 5, &material);
        let mut b = sheet(
            5,
            5,
            &Material {
                integrator: Integrator::Mesd,
                ..material
            },
        );
        let hypers: Vec<Hyper> = (0..5)
            .map(|i| Hyper {
                master: (MatterId(0), i),
                slave: (MatterId(1), i),
                factor: 1.0,
            })
            .collect();
        for h in &hypers {
            hyper::mark(h, MatterId(0), &mut a);
            hyper::mark(h, MatterId(1), &mut b);
        }
        (vec![a, b], hypers)
    });
}

#[test]
fn of_every_integrator_where_springs_are_driven_stiffer() {
    // As stiff as a signal ever makes them, and so all the time: three times as stiff as at rest (K44).
    let material = Material {
        damping: 0.1,
        memory: 0.1,
        ..MATERIAL
    };
    let driven = |integrator: Integrator| {
        let mut parts = sheet_parts(
            5,
            5,
            &Material {
                integrator,
                ..material
            },
        );
        parts.signals = vec![Signal::Table(vec![[0.0, 4.0]])];
        parts.actives = (0..parts.elements.len() as u32)
            .map(|element| Active {
                element,
                signal: 0,
                drive: Drive::Stiffness(0.5),
            })
            .collect();
        Net::new(parts).unwrap()
    };
    assert_every_integrator(|integrator| (vec![driven(integrator)], Vec::new()));
    let slack = sheet(5, 5, &material);
    let bound = |net: &Net| stability::bounds(&[net], &[]).exact;
    assert!(bound(&driven(Integrator::Mesd)) < 0.7 * bound(&slack));
}

#[test]
fn of_the_printed_table_as_far_as_it_is_explained() {
    // Table 3.1, Model 1: σ_S times stages, s. The shape is not printed; a sphere of rings and poles comes within 15 %. Of Heun's
    // 0.022 nothing in its formulas gives a reason, and Model 2 is limited by constants that are not printed. The centre is held: where it takes the
    // reaction of 130 dampers at once, which the source leaves out, Euler-Cauchy is stable to 6 ms only.
    let table = [
        (Integrator::Mesd, 0.056),
        (Integrator::QuasiDynamic(1.0), 0.041),
        (Integrator::ModifiedRungeKutta, 0.057),
        (Integrator::ModifiedHeun, 0.056),
        (Integrator::Euler, 0.0145),
        (Integrator::RungeKutta, 0.014),
    ];
    for (integrator, printed) in table {
        let material = Material {
            integrator,
            centre_damping: 20.0,
            turn_damping: 0.02,
            ..MATERIAL
        };
        let mut model = organ(8, 16, &material);
        model.change(|parts| parts.mobile = false).unwrap();
        let bounds = stability::bounds(&[&model], &[]);
        println!("{integrator:?}: {:.4}, printed {printed}", bounds.exact);
        assert!(
            (bounds.exact / printed - 1.0).abs() < 0.15,
            "{integrator:?}: {bounds:?}, printed {printed}"
        );
    }
}

/// On a large square net the stiffest mode is that of the wave vector (π, 0): k = s_V + 8 s_VE exactly, and the numbers of Model 1 are those that the
/// source measured: 0.056, 0.041, 0.057, 0.056, 0.0145 and 0.014 s.
#[test]
fn of_model_1_on_a_large_sheet() {
    let table = [
        (Integrator::Mesd, 0.0555),
        (Integrator::QuasiDynamic(1.0), 0.0408),
        (Integrator::ModifiedRungeKutta, 0.0555),
        (Integrator::ModifiedHeun, 0.0555),
        (Integrator::Euler, 0.0147),
        (Integrator::RungeKutta, 0.0147),
    ];
    for (integrator, predicted) in table {
        let net = sheet(
            24,
            24,
            &Material {
                integrator,
                ..MATERIAL
            },
        );
        let exact = stability::bounds(&[&net], &[]).exact;
        println!("{integrator:?}: {exact:.5}, predicted {predicted}");
        assert!(
            (exact / predicted - 1.0).abs() < 0.02,
            "{integrator:?}: {exact}, predicted {predicted}"
        );
    }
}

/// Beyond 20 000 nodes fewer rounds are made; they are enough.
#[test]
fn of_a_sheet_of_many_nodes() {
    for integrator in [Integrator::Mesd, Integrator::ModifiedHeun] {
        let material = Material {
            integrator,
            ..MATERIAL
        };
        let [many, few] = [145, 24].map(|side| {
            let net = sheet(side, side, &material);
            stability::bounds(&[&net], &[]).exact
        });
        println!("{integrator:?}: {many:.5} of 21 025 nodes, {few:.5} of 576");
        assert!((many / few - 1.0).abs() < 0.02, "{many}, {few}");
    }
}

/// Model 2, a tube of 7 rings of 10: its surface nodes explain what was measured of the classical schemes of Euler-Cauchy and Runge-Kutta; what limits
/// the others is not printed.
#[test]
fn of_model_2_by_explicit_damping() {
    for (integrator, measured) in [
        (Integrator::Euler, 0.0095),
        (Integrator::RungeKutta, 0.0098),
    ] {
        let material = Material {
            integrator,
            damping: 0.4,
            memory: 0.5,
            stiffness: 0.2,
            centre_mass: 0.02,
            centre_damping: 0.4,
            bending: 0.0,
            torsion: 0.0,
            twist: 0.0,
            ..MATERIAL
        };
        let mut net = pipe(7, 10, &material);
        net.change(|parts| parts.mobile = false).unwrap();
        let exact = stability::bounds(&[&net], &[]).exact;
        println!("{integrator:?} on Model 2: {exact:.5}, measured {measured}");
        assert!((exact / measured - 1.0).abs() < 0.05, "{exact}");
    }
}

#[test]
fn of_a_centre_that_stays_where_it_is_and_turns() {
    // J φ̈ + d φ̇ + k φ = 0 about each axis; the lightest one is the first to grow. Its place is locked, or a copy's.
    let (inertia, d, k) = (DVec3::new(4e-5, 1e-5, 3e-5), 2e-4, 0.05);
    let mut frame = MassNode::body(0.02, inertia);
    frame.lock = Lock::Fixed;
    frame.rigid.as_mut().unwrap().damping = d;
    let net = Net::new(NetParts {
        frames: vec![trocar_math::Pose::default()],
        nodes: vec![frame],
        flags: vec![NodeFlags::default()],
        memory: vec![0.0],
        torsions: vec![trocar_soft::net::Torsion {
            frame: 0,
            constant: k,
        }],
        mobile: true,
        ..NetParts::default()
    })
    .unwrap();
    let bounds = stability::bounds(&[&net], &[]);
    let expected = stability::critical_step(1e-5, d, k);
    assert!(
        (bounds.exact / expected - 1.0).abs() < 1e-3,
        "{bounds:?}, expected {expected}"
    );
    let turns = |h: f64| {
        let mut nodes = net.rest().clone();
        nodes.orientation[0] = rotation::from_scaled_axis(DVec3::Y * 1e-7);
        for _ in 0..2000 {
            net.force(&mut nodes, &REST);
            net.plan(&mut nodes, h, None);
            net.advance(&mut nodes, h);
        }
        nodes.spin[0].length() * h / 1e-7
    };
    assert!(turns(0.98 * expected) < 1.0 && turns(1.02 * expected) > 100.0);
}

/// Model 3, Models 1 and 2 joined by ten hyper nodes, masters in Model 1 (Table 3.1): nothing says where, nor of which size either is, and of central nodes no
/// damping is printed. Held at their centres, and joined by a ring of the tube to the nearest nodes of the organ, the coupled nets show what is a
/// matter of surface nodes and copies: Euler-Cauchy and Runge-Kutta are limited by the tube's damping, as in Model 2 alone, and by nothing that the coupling
/// adds. Schemes with implicit damping stay where Model 1 is: a copy that has no mass and no damping of its own stiffens its master (k + f k'), which the load of
/// its mass outweighs. Not reproducible, for want of what limits Model 2 alone: the collapse of QDYN from 0.032 to 0.0098 s, and Heun.
#[test]
fn of_model_3_as_far_as_it_is_explained() {
    for (integrator, printed, room) in [
        (Integrator::Mesd, 0.051, 0.05),
        (Integrator::ModifiedRungeKutta, 0.057, 0.15),
        (Integrator::ModifiedHeun, 0.056, 0.15),
        (Integrator::Euler, 0.0092, 0.06),
        (Integrator::RungeKutta, 0.0096, 0.06),
    ] {
        let (nets, hypers) = model_3(integrator);
        let refs: Vec<&Net> = nets.iter().collect();
        let bounds = stability::bounds(&refs, &hypers);
        println!(
            "{integrator:?} on Model 3: {:.5}, printed {printed}",
            bounds.exact
        );
        assert!(!bounds.flutters, "{integrator:?} {bounds:?}");
        assert!(
            (bounds.exact / printed - 1.0).abs() < room,
            "{integrator:?}: {bounds:?}, printed {printed}"
        );
        if integrator == Integrator::Mesd {
            assert_exact(&nets, &hypers, 0.02);
        }
        // Joined they are no stabler than the worse of the two alone, but for what copies weigh on their masters.
        let alone = nets.iter().map(|net| stability::bounds(&[net], &[]).exact);
        let worse = alone.fold(f64::INFINITY, f64::min);
        assert!(bounds.exact < 1.05 * worse, "{} {worse}", bounds.exact);
    }
}

fn model_3(integrator: Integrator) -> (Vec<Net>, Vec<Hyper>) {
    let organ_like = Material {
        integrator,
        centre_damping: 20.0,
        turn_damping: 0.02,
        ..MATERIAL
    };
    let tube_like = Material {
        integrator,
        damping: 0.4,
        memory: 0.5,
        stiffness: 0.2,
        centre_mass: 0.02,
        centre_damping: 0.4,
        bending: 0.0,
        torsion: 0.0,
        twist: 0.0,
        ..MATERIAL
    };
    let mut nets = vec![organ(8, 16, &organ_like), pipe(7, 10, &tube_like)];
    for net in &mut nets {
        net.change(|parts| parts.mobile = false).unwrap();
    }
    // Ten neighbours on one ring of the organ lead the first ring of the tube.
    let [first, second] = [&nets[0], &nets[1]].map(|net| net.masses().frames() as u32);
    let hypers: Vec<Hyper> = (0..10)
        .map(|i| Hyper {
            master: (MatterId(0), first + 1 + 16 + i),
            slave: (MatterId(1), second + i),
            factor: 1.0,
        })
        .collect();
    // Slaves are moved onto their masters, as scenes do it; springs at them stay at rest.
    let places: Vec<DVec3> = hypers
        .iter()
        .map(|h| nets[0].rest().position[h.master.1 as usize])
        .collect();
    nets[1]
        .change(|parts| {
            let frames = parts.frames.len();
            for (h, place) in hypers.iter().zip(&places) {
                parts.points[h.slave.1 as usize - frames] = *place;
            }
            let at = |n: u32| match (n as usize).checked_sub(frames) {
                Some(point) => parts.points[point],
                None => parts.frames[n as usize].position,
            };
            for e in parts.elements.iter_mut().filter(|e| e.rest_length > 0.0) {
                let [a, b] = e.nodes.map(at);
                e.rest_length = a.distance(b);
            }
        })
        .unwrap();
    let copied: Vec<f64> = hypers
        .iter()
        .map(|h| nets[1].weight(h.slave.1 as usize))
        .collect();
    for (h, mass) in hypers.iter().zip(copied) {
        let [a, b] = &mut nets[..] else {
            unreachable!()
        };
        hyper::mark(h, MatterId(0), a);
        hyper::mark(h, MatterId(1), b);
        a.load(h.master.1 as usize, mass);
    }
    (nets, hypers)
}

/// A ball of 10 g with `moment` kg·m², damped by 1 N·s/m, on a quadratic element of 1e5 N/m² and 1 cm from a point `arm` of it to the world's origin.
fn drawn_ball(moment: f64, arm: DVec3) -> (Bodies, Global) {
    let ball = MassNode {
        damping: 1.0,
        ..MassNode::body(0.01, DVec3::splat(moment))
    };
    let mut bodies = Bodies::new(&[ball], Turning::default()).unwrap();
    bodies.draw(0);
    let ends = [
        End::On(Anchor::frame(MatterId(0), 0, arm)),
        End::At(DVec3::ZERO),
    ];
    let element = Global::link(ends, Link::new(0.01, Law::spring(1e5).squared()));
    (bodies, element)
}

/// How long a substep may be for a ball on an element (KB9).
fn present(bodies: &Bodies, element: &Global, nodes: &mut [Nodes; 1]) -> f64 {
    let sight = Sight {
        matter: |_| bodies as &dyn Matter,
        slot: &[0],
    };
    let joined = (&[][..], std::slice::from_ref(element));
    let net = |_| None::<&Net>;
    stability::Gauge::default().bound(&net, nodes, joined, &sight, (0.0, None))
}

#[test]
fn the_present_bound_counts_ends_on_bodies() {
    let rest = |x: f64| [Nodes::at_rest(&[(DVec3::X * x, DQuat::IDENTITY)], &[])];
    // Drawn out by s at its centre, its slope is 2 k s; a tenth farther counts, and that the other end might move as well.
    let (bodies, element) = drawn_ball(1e-6, DVec3::ZERO);
    for stretch in [0.02, 0.05, 0.2] {
        let exact = 2.0 * (0.01_f64 / (2e5 * stretch)).sqrt();
        let found = present(&bodies, &element, &mut rest(0.01 + stretch));
        assert!(
            found < exact && found > 0.5 * exact,
            "{stretch}: {found} {exact}"
        );
    }
    // Across an arm it turns the ball as well as it moves it; along an arm a pull holds it like a pendulum.
    let arm = 0.02;
    let (moment, stretch) = (1e-7, 0.05);
    let slope = 2e5 * stretch;
    let across = 2.0 / (slope * (1.0 / 0.01_f64 + arm * arm / moment)).sqrt();
    let (bodies, element) = drawn_ball(moment, DVec3::Y * arm);
    let mut nodes = rest(0.01 + stretch);
    nodes[0].position[0].y = -arm;
    let found = present(&bodies, &element, &mut nodes);
    assert!(found < across && found > 0.3 * across, "{found} {across}");
    let length = 0.01 + stretch;
    let force = 1e5 * stretch * stretch;
    let turn: f64 = force * arm * (1.0 + arm / length);
    let pendulum = 2.0 * (moment / turn).sqrt();
    let (bodies, element) = drawn_ball(moment, DVec3::X * -arm);
    let found = present(&bodies, &element, &mut rest(length + arm));
    assert!(found < pendulum, "{found} {pendulum}");
    // What holds it at its place adds to that.
    let (mut bodies, element) = drawn_ball(1e-6, DVec3::ZERO);
    let free = present(&bodies, &element, &mut rest(0.06));
    let hold = trocar_dynamics::Hold {
        body: 0,
        place: trocar_math::Pose::IDENTITY,
        stiffness: 1e5,
        torsion: 0.0,
    };
    bodies.hold(hold).unwrap();
    let held = present(&bodies, &element, &mut rest(0.06));
    assert!(held < 0.6 * free, "{held} {free}");
}

/// Drawn out five times as far as it is long, with arms of any direction: by substeps that follow the state nothing swings up, by the one of rest it does.
#[test]
fn a_ball_on_a_stiffening_element_swings_and_no_more() {
    const STEP: f64 = 0.0025;
    let most = |arm: DVec3, follows: bool| {
        let (bodies, element) = drawn_ball(2e-6, arm);
        let mut nodes = [Nodes::at_rest(&[(DVec3::X * 0.06, DQuat::IDENTITY)], &[])];
        // Past the point that draws it, where its force would turn round at once.
        nodes[0].velocity[0] = DVec3::Z * 10.0;
        let slope = element.slope();
        let light = 1.0 / 0.01 + arm.length_squared() / 2e-6;
        let rest = 0.9 * stability::critical_step(1.0, 0.0, 2.0 * slope * light);
        let sight = Sight {
            matter: |_| &bodies as &dyn Matter,
            slot: &[0],
        };
        let energy = |nodes: &[Nodes; 1]| {
            let (v, w) = (nodes[0].velocity[0], nodes[0].spin[0]);
            let motion = 0.5 * (0.01 * v.length_squared() + 2e-6 * w.length_squared());
            motion + element.energy(&sight, nodes, 0.0)
        };
        let (before, mut most) = (energy(&nodes), 0.0_f64);
        let (mut time, mut tempo) = (0.0, stability::Tempo::default());
        while time < 1.0 {
            let mut left = STEP;
            while left > 1e-9 * STEP {
                let bound = match follows {
                    true => tempo.follow(present(&bodies, &element, &mut nodes), rest),
                    false => rest,
                };
                let h = left / (left / bound).ceil();
                bodies.force(&mut nodes[0], &REST);
                element.apply(&sight, &mut nodes, 0.0);
                bodies.plan(&mut nodes[0], h, None);
                if !bodies.advance(&mut nodes[0], h) {
                    return f64::INFINITY;
                }
                left -= h;
            }
            most = most.max(energy(&nodes) / before);
            time += STEP;
            tempo.pass(time);
        }
        most
    };
    for arm in [DVec3::ZERO, DVec3::Y * 0.01, DVec3::X * -0.01] {
        let found = most(arm, true);
        assert!(found < 1.5, "{arm}: {found}");
    }
    let found = most(DVec3::ZERO, false);
    assert!(found > 2.0, "{found}");
}
