//! Elements of any law, alone, side by side, one after the other, driven and yielding, in whole nets (K30–K45).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{REST, boxed, noise, step};
use glam::DVec3;
use trocar_dynamics::{Crew, Field, Lock, MassNode, Matter, Nodes};
use trocar_soft::{
    Active, Drive, Element, Input, Law, Net, NetError, NetParts, NodeFlags, Pieces, Plastic,
    Signal, element,
};

/// Laws of all kinds.
fn laws() -> Vec<Law> {
    let (spring, damper) = (Law::spring(5.0), Law::damper(0.02));
    let toe = Pieces::through(&[(-0.01, -0.01), (0.0, 0.0), (0.004, 0.001), (0.01, 0.02)]).unwrap();
    let some = [
        spring,
        Law {
            gain: [0.3, 2.0],
            ..spring
        },
        Law {
            dead: [0.001, 0.002],
            ..spring
        },
        Law {
            limit: [0.004, 0.006],
            ..spring
        },
        spring.pulling(),
        spring.pushing(),
        Law {
            pieces: Some(toe),
            ..spring
        },
        Law {
            plastic: Some(Plastic::new(0.05, 0.2)),
            ..spring
        },
        Law {
            dead: [0.001, 0.0],
            limit: [0.01, 0.01],
            gain: [1.0, 1.5],
            ..spring
        },
    ];
    let slow = [
        damper,
        Law {
            gain: [1.0, 2.0],
            ..damper
        },
        Law {
            dead: [0.0, 0.1],
            limit: [f64::INFINITY, 0.002],
            ..damper
        },
    ];
    let squared = |l: &Law| Law {
        constant: 40.0 * l.constant,
        ..l.squared()
    };
    some.iter()
        .flat_map(|l| [*l, squared(l)])
        .chain(slow.iter().flat_map(|l| [*l, l.squared()]))
        .collect()
}

/// `count` points at random places, each joined to some of its neighbours; the law of an element is `law(i)`.
fn tangle(count: usize, law: impl Fn(usize) -> Law) -> NetParts {
    let points: Vec<DVec3> = (0..count)
        .map(|i| {
            let s = 10 * i as u64;
            let row = DVec3::new(i as f64 * 0.003, 0.0, 0.0);
            row + DVec3::new(noise(s), noise(s + 1), noise(s + 2)) * 0.01
        })
        .collect();
    let mut elements = Vec::new();
    for i in 0..count {
        for k in 1..=(1 + i % 7) {
            let j = i + k * (1 + i % 3);
            if j < count {
                let e = elements.len();
                elements.push(Element {
                    nodes: if e % 2 == 0 {
                        [i as u32, j as u32]
                    } else {
                        [j as u32, i as u32]
                    },
                    rest_length: points[i].distance(points[j]) * (1.0 + 0.1 * noise(e as u64)),
                    law: law(e),
                });
            }
        }
    }
    NetParts {
        nodes: vec![MassNode::point(0.001); count],
        flags: vec![NodeFlags::default(); count],
        memory: vec![0.0; count],
        points,
        elements,
        ..NetParts::default()
    }
}

/// Nodes that move and have flown, at random.
fn stirred(net: &Net) -> Nodes {
    let mut nodes = common::shaken(net, 0.004, 5);
    for (i, v) in nodes.velocity.iter_mut().enumerate() {
        let s = 77 + 3 * i as u64;
        *v = DVec3::new(noise(s), noise(s + 1), noise(s + 2)) * 0.3;
    }
    for (i, flow) in nodes.flow.iter_mut().enumerate() {
        *flow = 1e-4 * noise(i as u64);
    }
    nodes
}

/// The forces of all elements by the pure kernels, one after the other.
fn plainly(net: &Net, nodes: &Nodes) -> Vec<DVec3> {
    let mut force = vec![DVec3::ZERO; nodes.len()];
    for (i, e) in net.elements().enumerate() {
        let [a, b] = e.nodes.map(|n| n as usize);
        let f = match e.law.input {
            Input::Distance => {
                let apart = nodes.position[a] - nodes.position[b];
                let flow = if e.law.plastic.is_some() {
                    nodes.flow[i]
                } else {
                    0.0
                };
                element::spring_force(apart, e.rest_length + flow, &e.law)
            }
            Input::Velocity => element::damper_force(nodes.velocity[a] - nodes.velocity[b], &e.law),
        };
        force[a] += f;
        force[b] -= f;
    }
    force
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    let apart = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    apart.fold(0.0, f64::max)
}

#[test]
fn blocks_of_lanes_give_what_the_kernels_give() {
    let laws = laws();
    // All laws mixed, so that dampers lie beside springs of every kind by chance; constants of their own (K45).
    let own = |e: usize| {
        let law = laws[(e * 7) % laws.len()];
        Law {
            constant: law.constant * (1.0 + 0.3 * noise(e as u64)),
            ..law
        }
    };
    let mut parts = tangle(300, own);
    let beside: Vec<Element> = parts.elements.iter().step_by(3).copied().collect();
    parts.elements.extend(beside.iter().map(|e| Element {
        law: Law::damper(0.01),
        ..*e
    }));
    let net = Net::new(parts).unwrap();
    let mut nodes = stirred(&net);
    net.force(&mut nodes, &REST);
    let plain = plainly(&net, &nodes);
    let most = plain.iter().map(|f| f.length()).fold(0.0, f64::max);
    assert!(most > 1e-3 && farthest(&plain, &nodes.force) < 1e-14 * most.max(1.0));
}

#[test]
fn no_law_changes_the_momentum_and_no_number_of_threads_a_bit() {
    let laws = laws();
    // Several chunks, so that elements join them.
    let net = Net::new(tangle(9000, |e| laws[e % laws.len()])).unwrap();
    let mut nodes = stirred(&net);
    net.force(&mut nodes, &REST);
    let most: f64 = nodes.force.iter().map(|f| f.length()).sum();
    assert!(most > 1.0);
    assert!(nodes.force.iter().sum::<DVec3>().length() < 1e-13 * most);
    let plain = plainly(&net, &nodes);
    assert!(farthest(&plain, &nodes.force) < 1e-13);
    for threads in [1, 2, 3, 5] {
        let crew = Crew::new(threads);
        let mut other = nodes.clone();
        other.force.fill(DVec3::NAN);
        net.force_by(&mut other, &REST, &crew);
        assert_eq!(nodes.force, other.force);
    }
}

#[test]
fn forces_of_all_springs_are_gradients_of_their_energy() {
    let springs: Vec<Law> = laws()
        .into_iter()
        .filter(|l| l.input == Input::Distance)
        .collect();
    let mut parts = tangle(60, |e| springs[e % springs.len()]);
    parts.signals.push(Signal::Table(vec![[0.0, 0.7]]));
    for (e, element) in parts.elements.iter().enumerate() {
        if element.law.plastic.is_none() && e % 5 == 0 {
            let drive = match e % 3 {
                0 => Drive::Force(0.01),
                1 => Drive::Length(-0.2),
                _ => Drive::Stiffness(2.5),
            };
            parts.actives.push(Active {
                element: e as u32,
                signal: 0,
                drive,
            });
        }
    }
    let net = Net::new(parts).unwrap();
    let mut nodes = stirred(&net);
    net.force(&mut nodes, &REST);
    let d = 1e-7;
    for i in 0..60 {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let energy = |x: f64| {
                let mut moved = nodes.clone();
                moved.position[i] += axis * x;
                net.elastic_energy(&moved, 0.0)
            };
            let slope = (energy(d) - energy(-d)) / (2.0 * d);
            let force = nodes.force[i].dot(axis);
            assert!((slope + force).abs() < 1e-6, "{i}: {slope} {force}");
        }
    }
}

/// A node on a rail along x between walls, joined by `elements` of (place of the wall, rest length, law).
fn on_a_rail(elements: &[(f64, f64, Law)], mass: f64, damping: f64) -> NetParts {
    let mut points = vec![DVec3::ZERO];
    let mut nodes = vec![MassNode {
        damping,
        ..MassNode::point(mass)
    }];
    for (wall, ..) in elements {
        points.push(DVec3::X * *wall);
        nodes.push(MassNode {
            lock: Lock::Fixed,
            ..MassNode::point(1.0)
        });
    }
    NetParts {
        flags: vec![NodeFlags::default(); nodes.len()],
        memory: vec![0.0; nodes.len()],
        elements: elements
            .iter()
            .enumerate()
            .map(|(i, (_, rest_length, law))| Element {
                nodes: [0, i as u32 + 1],
                rest_length: *rest_length,
                law: *law,
            })
            .collect(),
        points,
        nodes,
        ..NetParts::default()
    }
}

#[test]
fn elements_side_by_side_add_forces_and_one_after_the_other_share_them() {
    let join = |points: &[f64], list: &[(u32, u32, f64)]| {
        let element = |(a, b, k): &(u32, u32, f64)| Element {
            nodes: [*a, *b],
            rest_length: (points[*a as usize] - points[*b as usize]).abs(),
            law: Law::spring(*k),
        };
        let mut nodes = vec![
            MassNode {
                damping: 0.05,
                ..MassNode::point(0.001)
            };
            points.len()
        ];
        for end in [0, points.len() - 1] {
            nodes[end].lock = Lock::Fixed;
        }
        Net::new(NetParts {
            points: points.iter().map(|x| DVec3::X * *x).collect(),
            flags: vec![NodeFlags::default(); nodes.len()],
            memory: vec![0.0; nodes.len()],
            elements: list.iter().map(element).collect(),
            nodes,
            ..NetParts::default()
        })
        .unwrap()
    };
    // Both pulled by 1 mm: (3 + 6) N/m beside each other, 2 N/m in a row.
    let stretched = |net: Net| {
        let mut nodes = [net.rest().clone()];
        let last = nodes[0].len() - 1;
        nodes[0].position[last] += DVec3::X * 1e-3;
        let nets = boxed(net);
        for _ in 0..4000 {
            assert!(step(&nets, &mut nodes, &[], &REST, 2e-3));
        }
        nets[0].force(&mut nodes[0], &REST);
        nodes[0].force[0].x
    };
    let beside = stretched(join(&[0.0, 0.02], &[(0, 1, 3.0), (1, 0, 6.0)]));
    assert!((beside - 9e-3).abs() < 1e-12, "{beside}");
    let behind = stretched(join(&[0.0, 0.01, 0.02], &[(0, 1, 3.0), (1, 2, 6.0)]));
    assert!((behind - 2e-3).abs() < 1e-9, "{behind}");
}

#[test]
fn a_muscle_holds_what_its_force_says_and_a_vessel_follows_its_pulse() {
    let field = |time| Field { time, ..REST };
    let mut parts = on_a_rail(
        &[
            (-0.05, 0.05, Law::spring(4.0)),
            (0.05, 0.05, Law::spring(4.0)),
        ],
        1e-3,
        0.05,
    );
    parts
        .signals
        .push(Signal::Table(vec![[0.0, 0.0], [1.0, 1.0]]));
    for (drive, place) in [
        (Drive::Force(0.02), 0.02 / 8.0),
        (Drive::Length(-0.2), 0.01 / 2.0),
    ] {
        // Only the second is driven: it draws the node to its side.
        parts.actives = vec![Active {
            element: 1,
            signal: 0,
            drive,
        }];
        let net = Net::new(parts.clone()).unwrap();
        let mut nodes = [net.rest().clone()];
        let nets = boxed(net.clone());
        let h = 1e-3;
        for i in 0..6000 {
            assert!(step(&nets, &mut nodes, &[], &field(f64::from(i) * h), h));
        }
        let x = nodes[0].position[0].x;
        assert!((x - place).abs() < 1e-9, "{drive:?}: {x}, not {place}");
        let pulls = [0, 1].map(|i| net.tension(&nodes[0], i, 6.0));
        assert!(
            (pulls[0] - pulls[1]).abs() < 1e-8 && pulls[0] > 1e-3,
            "{pulls:?}"
        );
    }
}

/// A node between two springs that both pull; the second is driven to be stiffer (K44).
fn stiffening(signal: Signal, drive: f64) -> NetParts {
    let springs = [-0.05, 0.05].map(|wall| (wall, 0.04, Law::spring(4.0)));
    let mut parts = on_a_rail(&springs, 1e-3, 0.05);
    parts.signals.push(signal);
    parts.actives = vec![Active {
        element: 1,
        signal: 0,
        drive: Drive::Stiffness(drive),
    }];
    parts
}

#[test]
fn what_stiffens_draws_the_node_to_its_side_and_takes_in_the_work_of_its_drive() {
    let ramp = Signal::Table(vec![[0.0, 0.0], [1.0, 1.0]]);
    let net = Net::new(stiffening(ramp, 0.5)).unwrap();
    let mut nodes = [net.rest().clone()];
    let nets = boxed(net.clone());
    let h = 1e-3;
    for i in 0..6000 {
        let time = f64::from(i) * h;
        assert!(step(&nets, &mut nodes, &[], &Field { time, ..REST }, h));
    }
    // 4 (0.01 + x) = 6 (0.01 − x).
    let x = nodes[0].position[0].x;
    assert!((x - 0.002).abs() < 1e-9, "{x}");
    let pulls = [0, 1].map(|i| net.tension(&nodes[0], i, 6.0));
    assert!((pulls[0] - 0.048).abs() < 1e-8 && (pulls[1] - 0.048).abs() < 1e-8);
    // Held where it is, it takes in ½ Δk x² of its drive.
    let [soft, half, stiff] = [0.0, 0.5, 1.0].map(|t| net.elastic_energy(net.rest(), t));
    assert!((stiff - soft - 0.5 * 2.0 * 0.01 * 0.01).abs() < 1e-15);
    assert!((half - 0.5 * (soft + stiff)).abs() < 1e-15);
}

/// Energy over frequency is an adiabatic invariant: what swings on a spring that slowly becomes four times as stiff has twice the
/// energy at the end, and swings 1/√2 as far.
#[test]
fn a_swing_on_a_slowly_stiffening_spring_keeps_its_action() {
    for (to, gains) in [(3.0, 2.0), (-0.75, 0.5)] {
        let mut parts = on_a_rail(&[(0.05, 0.05, Law::spring(4.0))], 1e-3, 0.0);
        parts
            .signals
            .push(Signal::Table(vec![[0.0, 0.0], [4.0, 1.0]]));
        parts.actives = vec![Active {
            element: 0,
            signal: 0,
            drive: Drive::Stiffness(to),
        }];
        let net = Net::new(parts).unwrap();
        let mut nodes = [net.rest().clone()];
        nodes[0].position[0].x = 0.002;
        let energy = |n: &Nodes, time: f64| net.kinetic_energy(n) + net.elastic_energy(n, time);
        let before = energy(&nodes[0], 0.0);
        let nets = boxed(net.clone());
        let h = 1e-4;
        for i in 0..40_000 {
            let time = f64::from(i) * h;
            assert!(step(&nets, &mut nodes, &[], &Field { time, ..REST }, h));
        }
        let gained = energy(&nodes[0], 4.0) / before;
        assert!((gained / gains - 1.0).abs() < 0.02, "{to}: {gained}");
    }
}

#[test]
fn the_bound_holds_for_the_stiffest_that_a_spring_is_driven_to_be() {
    use trocar_soft::stability::bounds;
    let sine = |mean, amplitude| Signal::Sine {
        mean,
        amplitude,
        rate: 0.5,
        phase: 0.0,
    };
    // Soft at the start, and up to twice as stiff: 1 + 0.4 (1 + 1.5).
    let driven = Net::new(stiffening(sine(1.0, 1.5), 0.4)).unwrap();
    let mut constant = stiffening(sine(0.0, 0.0), 0.0);
    constant.elements[1].law.constant *= 2.0;
    let constant = Net::new(constant).unwrap();
    let [driven, constant] = [driven, constant].map(|net| {
        let found = bounds(&[&net], &[]);
        (net, found)
    });
    assert!((driven.1.exact / constant.1.exact - 1.0).abs() < 1e-9);
    assert!((driven.1.safe / constant.1.safe - 1.0).abs() < 1e-9);
    assert!((driven.0.stable_step() / constant.0.stable_step() - 1.0).abs() < 1e-12);
    let slack = Net::new(stiffening(sine(0.0, 0.0), 0.0)).unwrap();
    assert!(bounds(&[&slack], &[]).exact > 1.1 * driven.1.exact);
    // Below the bound it stays where it is drawn for two whole turns; beyond it, it does not at its stiffest.
    let swings = |h: f64| {
        let nets = boxed(driven.0.clone());
        let mut nodes = [driven.0.rest().clone()];
        nodes[0].position[0].x = 1e-3;
        let mut most = 0.0_f64;
        for i in 0..(4.0 / h) as usize {
            let time = i as f64 * h;
            step(&nets, &mut nodes, &[], &Field { time, ..REST }, h);
            most = most.max(nodes[0].position[0].x.abs());
        }
        most
    };
    assert!(swings(0.98 * driven.1.exact) < 0.01);
    assert!(swings(1.1 * driven.1.exact) > 0.05);
}

#[test]
fn a_driven_oscillator_swings_as_far_as_the_closed_form_says() {
    let (mass, damping, k, rate) = (0.001, 0.004, 4.0, 8.0);
    let mut parts = on_a_rail(&[(0.05, 0.05, Law::spring(k))], mass, damping);
    parts.signals.push(Signal::Sine {
        mean: 0.0,
        amplitude: 1.0,
        rate,
        phase: 0.0,
    });
    parts.actives = vec![Active {
        element: 0,
        signal: 0,
        drive: Drive::Force(1e-4),
    }];
    let net = Net::new(parts).unwrap();
    let mut nodes = [net.rest().clone()];
    let nets = boxed(net);
    let (h, mut most) = (2e-5, 0.0_f64);
    for i in 0..250_000 {
        let time = f64::from(i) * h;
        assert!(step(&nets, &mut nodes, &[], &Field { time, ..REST }, h));
        if time > 4.5 {
            most = most.max(nodes[0].position[0].x.abs());
        }
    }
    let w = std::f64::consts::TAU * rate;
    let resists = k - mass * w * w;
    let amplitude = 1e-4 / (resists * resists + damping * w * damping * w).sqrt();
    assert!((most / amplitude - 1.0).abs() < 0.01, "{most} {amplitude}");
}

#[test]
fn what_was_pulled_too_far_stays_longer_and_what_was_not_comes_back() {
    let law = Law {
        plastic: Some(Plastic::new(0.1, 0.25)),
        ..Law::spring(10.0)
    };
    // Pulled by a strong spring that is let go afterwards.
    let net = Net::new(on_a_rail(&[(-0.02, 0.02, law)], 1e-3, 0.1)).unwrap();
    for (far, left) in [(0.0019, 0.0), (0.007, 0.005 / 1.25)] {
        let mut nodes = net.rest().clone();
        assert_eq!(nodes.flow.len(), 1);
        nodes.position[0].x = far;
        // It flies when it has moved: once, however short the substep.
        net.force(&mut nodes, &REST);
        net.plan(&mut nodes, 1e-9, None);
        assert!(net.advance(&mut nodes, 1e-9));
        assert!((nodes.flow[0] - left).abs() < 1e-9);
        for _ in 0..5000 {
            net.force(&mut nodes, &REST);
            net.plan(&mut nodes, 2e-3, None);
            assert!(net.advance(&mut nodes, 2e-3));
        }
        let x = nodes.position[0].x;
        assert!((x - left).abs() < 1e-8, "{far}: {x}");
    }
}

#[test]
fn everything_can_be_changed_while_it_moves_and_the_stable_step_follows() {
    let mut net = common::organ(6, 6, &common::MATERIAL);
    net.follow(5, (trocar_dynamics::MatterId(1), 2));
    let (before, step) = (net.parts(), net.stable_step());
    net.change(|p| p.elements.iter_mut().for_each(|e| e.law.constant *= 4.0))
        .unwrap();
    let stiff = net.stable_step();
    assert!(stiff < 0.7 * step);
    net.change(|p| p.nodes.iter_mut().for_each(|n| n.mass *= 16.0))
        .unwrap();
    assert!(net.stable_step() > stiff);
    net.change(|p| p.nodes[3].lock = Lock::Axes(DVec3::new(1.0, 0.5, 0.0), glam::DQuat::IDENTITY))
        .unwrap();
    assert!(matches!(net.masses().lock(3), Lock::Axes(..)));
    net.change(|p| p.memory[7] = 9.0).unwrap();
    assert_eq!(net.memory(7), 9.0);
    net.change(|p| {
        p.elements[4].law = Law {
            plastic: Some(Plastic::new(0.1, 0.0)),
            ..Law::spring(2.0)
        }
    })
    .unwrap();
    let mut nodes = Nodes::default();
    nodes.copy_from(common::organ(6, 6, &common::MATERIAL).rest());
    net.fit(&mut nodes, &[]);
    assert_eq!(nodes.flow.len(), net.element_count());
    assert_eq!(
        net.leader(5),
        Some((trocar_dynamics::MatterId(1), 2)),
        "copies stay copies"
    );
    // What is refused changes nothing.
    let kept = net.stable_step();
    let refused = net.change(|p| p.elements[2].law.constant = f64::NAN);
    assert!(
        matches!(refused, Err(NetError::Element(2, _))),
        "{refused:?}"
    );
    assert!(net.change(|p| p.nodes[0].mass = -1.0).is_err());
    let beyond = Lock::Axes(DVec3::new(1.0, 1.1, 0.0), glam::DQuat::IDENTITY);
    let refused = net.change(|p| p.nodes[3].lock = beyond);
    assert!(
        matches!(refused, Err(NetError::Node(3, _))),
        "K24: {refused:?}"
    );
    assert!(net.change(|p| p.elements.truncate(3)).is_err());
    assert_eq!(net.stable_step(), kept);
    // And back to what it was, to the last bit.
    net.change(|p| *p = before).unwrap();
    assert_eq!(net.stable_step(), step);
}

#[test]
fn discontinuous_and_impossible_elements_are_refused_by_name() {
    let parts = on_a_rail(
        &[
            (0.05, 0.05, Law::spring(1.0)),
            (0.06, 0.06, Law::spring(1.0)),
        ],
        1e-3,
        0.1,
    );
    let with = |edit: &dyn Fn(&mut NetParts)| {
        let mut parts = parts.clone();
        parts.signals.push(Signal::Table(vec![[0.0, 1.0]]));
        edit(&mut parts);
        Net::new(parts).map(|_| ()).unwrap_err()
    };
    let gap = [(f64::NEG_INFINITY, 0.0), (0.01, 0.5)].map(|(from, shift)| trocar_soft::Piece {
        from,
        gain: 1.0,
        shift,
    });
    let error = with(&|p| p.elements[1].law.pieces = Pieces::new(&gap));
    assert!(matches!(error, NetError::Element(1, why) if why.contains("discontinuous")));
    let active = |element, drive| Active {
        element,
        signal: 0,
        drive,
    };
    let force = Drive::Force(1.0);
    let error = with(&|p| {
        p.elements[1].law = Law::damper(1.0);
        p.actives = vec![active(1, force)];
    });
    assert!(matches!(error, NetError::Element(1, why) if why.contains("discontinuous")));
    let error = with(&|p| p.actives = vec![active(0, force), active(0, force)]);
    assert!(matches!(error, NetError::Element(0, _)));
    let error = with(&|p| p.actives = vec![active(1, Drive::Length(-1.0))]);
    assert!(matches!(error, NetError::Element(1, _)));
    let error = with(&|p| p.actives = vec![active(1, Drive::Stiffness(-1.5))]);
    assert!(matches!(error, NetError::Element(1, why) if why.contains("negative")));
    let error = with(&|p| p.actives = vec![active(7, force)]);
    assert!(matches!(error, NetError::Shape(_)));
    let error = with(&|p| p.signals.push(Signal::Table(vec![])));
    assert!(matches!(error, NetError::Signal(1, _)));
}

#[test]
fn a_net_under_tension_or_driven_is_judged_by_how_it_would_grow_not_by_how_it_moves() {
    // Every element shortened (K43), so that nothing is at rest where it was built.
    let mut net = common::sheet(6, 6, &common::MATERIAL);
    let slack = trocar_soft::stability::bounds(&[&net], &[]);
    net.change(|p| p.elements.iter_mut().for_each(|e| *e = e.shortened(0.3)))
        .unwrap();
    let tight = trocar_soft::stability::bounds(&[&net], &[]);
    assert!(
        !tight.flutters && (tight.exact / slack.exact - 1.0).abs() < 0.2,
        "{slack:?} {tight:?}"
    );
    // A tension F across an element of length l resists with F/l: 1 N/m here, then 25 N/m.
    let mut driven = |newtons: f64| {
        let drive = Drive::Force(newtons);
        let active = |element| Active {
            element,
            signal: 0,
            drive,
        };
        net.change(|p| {
            p.signals = vec![Signal::Table(vec![[0.0, 1.0]])];
            p.actives = (0..20).map(active).collect();
        })
        .unwrap();
        trocar_soft::stability::bounds(&[&net], &[])
    };
    let [weak, strong] = [0.02, 0.5].map(&mut driven);
    assert!(!weak.flutters && weak.exact > 0.6 * slack.exact, "{weak:?}");
    assert!(
        !strong.flutters && strong.exact < 0.4 * slack.exact,
        "{strong:?}"
    );
    assert!(strong.safe <= strong.exact && weak.safe <= weak.exact);
}

/// Energy of a tangle of springs at the start and at the end of half a second, J.
fn energies(law: impl Fn(usize) -> Law) -> [f64; 2] {
    let net = Net::new(tangle(40, law)).unwrap();
    let mut nodes = [stirred(&net)];
    nodes[0].flow.fill(0.0);
    let energy = |nodes: &Nodes| net.kinetic_energy(nodes) + net.elastic_energy(nodes, 0.0);
    let before = energy(&nodes[0]);
    let h = 0.005 * net.stable_step();
    let nets = boxed(net.clone());
    for _ in 0..(0.5 / h) as usize {
        assert!(step(&nets, &mut nodes, &[], &REST, h));
    }
    [before, energy(&nodes[0])]
}

#[test]
fn springs_of_every_law_keep_their_energy_and_what_yields_loses_some() {
    let springs: Vec<Law> = laws()
        .into_iter()
        .filter(|l| l.input == Input::Distance && l.plastic.is_none())
        .collect();
    let [before, after] = energies(|e| springs[e % springs.len()]);
    assert!((after / before - 1.0).abs() < 0.01, "{before} {after}");
    let yielding = Law {
        plastic: Some(Plastic::new(0.02, 0.1)),
        ..Law::spring(5.0)
    };
    let [before, after] = energies(|_| yielding);
    assert!(after < 0.9 * before, "{before} {after}");
}
