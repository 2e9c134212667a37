use super::*;
use trocar_math::rotation;

/// A grandfather frame, a frame that belongs to it, and points of each: free, damped, locked.
fn family() -> (Masses, Nodes) {
    let lock = Lock::Axes(
        DVec3::new(1.0, 0.0, 1.0),
        rotation::from_scaled_axis(DVec3::new(0.1, 0.6, 0.2)),
    );
    let frame = |father| MassNode {
        damping: 0.4,
        father,
        rigid: Some(Rigid {
            inertia: Some(DVec3::new(0.002, 0.001, 0.004)),
            damping: 1e-3,
            ..Rigid::default()
        }),
        ..MassNode::point(0.3)
    };
    let point = |father, lock| MassNode {
        damping: 0.2,
        father,
        lock,
        ..MassNode::point(0.05)
    };
    let masses = Masses::new(&[
        frame(None),
        frame(Some(0)),
        point(None, Lock::Free),
        point(Some(0), Lock::Free),
        point(Some(1), lock),
        point(Some(1), Lock::Fixed),
    ])
    .unwrap();
    let q = rotation::from_scaled_axis(DVec3::new(0.2, -0.4, 0.9));
    let mut nodes = Nodes::at_rest(
        &[(DVec3::ZERO, q), (DVec3::new(0.1, 0.0, 0.05), q * q)],
        &[
            DVec3::ONE,
            DVec3::new(0.0, 0.2, 0.0),
            DVec3::new(0.2, 0.1, 0.0),
            DVec3::new(0.1, 0.1, 0.1),
        ],
    );
    for i in 0..nodes.len() {
        let s = i as f64;
        nodes.velocity[i] = DVec3::new(0.3 - s, 0.2 * s, 1.0);
        nodes.force[i] = DVec3::new(1.0, -s, 0.5 * s);
    }
    nodes.spin = vec![DVec3::new(4.0, -2.0, 3.0), DVec3::new(-1.0, 5.0, 2.0)];
    nodes.torque = vec![DVec3::new(0.01, 0.02, -0.01), DVec3::new(-0.02, 0.0, 0.01)];
    (masses, nodes)
}

fn points() -> Vec<Point> {
    let mut points: Vec<Point> = (0..6)
        .map(|node| Point {
            node,
            offset: DVec3::ZERO,
        })
        .collect();
    points.push(Point {
        node: 0,
        offset: DVec3::new(0.1, -0.05, 0.2),
    });
    points.push(Point {
        node: 1,
        offset: DVec3::new(-0.1, 0.05, 0.1),
    });
    points
}

/// Measures ∂ value / ∂ impulse by central differences.
fn measured(
    masses: &Masses,
    nodes: &Nodes,
    b: &Point,
    h: f64,
    value: impl Fn(&Nodes) -> DVec3,
) -> DMat3 {
    let e = match masses.integrator() {
        // Without mass an impulse turns a frame a thousand times as far.
        Integrator::QuasiDynamic(_) => 1e-8,
        _ => 1e-6,
    };
    let column = |axis: DVec3| {
        let pushed = |e: f64| {
            let mut nodes = nodes.clone();
            masses.push(&mut nodes, b, axis * e, h);
            value(&nodes)
        };
        (pushed(e) - pushed(-e)) / (2.0 * e)
    };
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

fn distance(a: DMat3, b: DMat3) -> f64 {
    (a - b)
        .to_cols_array()
        .iter()
        .fold(0.0, |m, x| x.abs().max(m))
}

#[test]
fn response_is_the_derivative_of_the_preview_of_every_integrator() {
    for integrator in Integrator::ALL {
        let (mut masses, mut nodes) = family();
        masses.set_integrator(integrator).unwrap();
        nodes.first = (nodes.force.clone(), nodes.torque.clone());
        let h = 0.01;
        masses.plan(&mut nodes, h, None);
        for b in points() {
            for a in points() {
                let expected = measured(&masses, &nodes, &b, h, |n| masses.preview(n, &a, h));
                let response = masses.response(&nodes, &a, &b, h);
                assert!(
                    distance(response, expected) < 1e-7 + 1e-9 * distance(expected, DMat3::ZERO),
                    "{integrator:?} {a:?} {b:?}\n{response}\n{expected}"
                );
            }
        }
    }
}

#[test]
fn mobility_is_the_derivative_of_the_velocity() {
    let (masses, nodes) = family();
    for b in points() {
        for a in points() {
            let expected = measured(&masses, &nodes, &b, 0.0, |n| masses.velocity(n, &a));
            let mobility = masses.mobility(&nodes, &a, &b);
            assert!(
                distance(mobility, expected) < 1e-6,
                "{a:?} {b:?}\n{mobility}\n{expected}"
            );
        }
    }
}

#[test]
fn advance_goes_where_preview_said() {
    for integrator in Integrator::ALL {
        for ground in [None, Some(0.05)] {
            let (mut masses, mut nodes) = family();
            masses.set_integrator(integrator).unwrap();
            masses.set_ground(ground);
            let h = 0.01;
            masses.plan(&mut nodes, h, None);
            let said: Vec<DVec3> = points()
                .iter()
                .map(|p| masses.preview(&nodes, p, h))
                .collect();
            assert!(masses.advance(&mut nodes, h));
            for (point, said) in points().iter().zip(said) {
                assert!((masses.position(&nodes, point) - said).length() < 1e-15);
            }
            let lowest = nodes.position.iter().fold(1.0_f64, |low, p| low.min(p.y));
            assert!(ground.is_none_or(|g| lowest >= g), "{lowest}");
        }
    }
}

#[test]
fn the_ground_does_not_lift_what_is_locked() {
    let upright = rotation::from_scaled_axis(DVec3::new(0.0, 0.7, 0.0));
    let locks = [
        Lock::Fixed,
        Lock::Axes(DVec3::new(1.0, 0.0, 1.0), upright),
        Lock::Axes(DVec3::new(0.0, 1.0, 0.0), upright),
        Lock::Free,
    ];
    let nodes = locks.map(|lock| MassNode {
        lock,
        ..MassNode::point(0.1)
    });
    for integrator in [Integrator::Mesd, Integrator::Euler] {
        let mut masses = Masses::new(&nodes).unwrap();
        masses.set_integrator(integrator).unwrap();
        masses.set_ground(Some(0.0));
        let low = DVec3::new(0.0, -0.001, 0.0);
        let mut nodes = Nodes::at_rest(&[], &[low; 4]);
        masses.plan(&mut nodes, 0.01, None);
        assert!(masses.advance(&mut nodes, 0.01));
        let heights: Vec<f64> = nodes.position.iter().map(|p| p.y).collect();
        assert_eq!(heights, [-0.001, -0.001, 0.0, 0.0], "{integrator:?}");
        assert!(nodes.velocity[0] == DVec3::ZERO && nodes.velocity[1] == DVec3::ZERO);
    }
}

#[test]
fn integrators_that_can_not_work_are_refused() {
    let (mut masses, _) = family();
    for bad in [
        Integrator::QuasiDynamic(0.0),
        Integrator::QuasiDynamic(1.5),
        Integrator::Weighted(f64::NAN),
    ] {
        assert!(masses.set_integrator(bad).is_err(), "{bad:?}");
    }
    let mut undamped = Masses::new(&[MassNode::point(1.0)]).unwrap();
    let refused = undamped.set_integrator(Integrator::QuasiDynamic(1.0));
    assert!(refused.unwrap_err().reason.contains("damping"));
}

#[test]
fn velocity_is_the_rate_at_which_a_point_moves() {
    let (masses, mut nodes) = family();
    nodes.force.fill(DVec3::ZERO);
    nodes.torque.fill(DVec3::ZERO);
    let before = nodes.clone();
    let h = 1e-7;
    masses.plan(&mut nodes, h, None);
    masses.advance(&mut nodes, h);
    for p in points() {
        let rate = (masses.position(&nodes, &p) - masses.position(&before, &p)) / h;
        let velocity = masses.velocity(&before, &p);
        assert!((rate - velocity).length() < 1e-4, "{p:?} {rate} {velocity}");
    }
}

#[test]
fn velocities_of_all_nodes_at_once_are_those_of_each() {
    let (masses, mut nodes) = family();
    masses.carry_velocities(&mut nodes, None);
    for i in 0..nodes.len() {
        assert!((nodes.carried[i] - masses.node_velocity(&nodes, i)).length() < 1e-15);
    }
}

/// [`family`] without locks and without damping of its root, and with so many points that they go four at a time, too.
fn clan() -> (Masses, Nodes) {
    let frame = |father, damping: f64| MassNode {
        damping,
        father,
        rigid: Some(Rigid {
            inertia: Some(DVec3::new(0.002, 0.001, 0.004)),
            damping: 1e-2 * damping,
            ..Rigid::default()
        }),
        ..MassNode::point(0.3)
    };
    let mut made = vec![frame(None, 0.0), frame(Some(0), 0.7), frame(Some(1), 0.4)];
    made.extend((0..17).map(|k| MassNode {
        damping: 0.1 + 0.3 * f64::from(k % 4),
        father: Some((k / 6) as u32),
        ..MassNode::point(0.02 + 0.01 * f64::from(k % 5))
    }));
    let of = |k: usize| {
        let s = k as f64;
        DVec3::new(
            (s * 1.7) % 1.0 - 0.4,
            (s * 2.3) % 1.0 - 0.5,
            (s * 0.9) % 1.0 - 0.3,
        )
    };
    let q = rotation::from_scaled_axis(DVec3::new(0.2, -0.4, 0.9));
    let frames: Vec<_> = (0..3).map(|z| (of(z + 40) * 0.1, q)).collect();
    let points: Vec<_> = (0..17).map(|k| of(k) * 0.1).collect();
    let mut nodes = Nodes::at_rest(&frames, &points);
    for i in 0..nodes.len() {
        (nodes.velocity[i], nodes.force[i]) = (of(i + 7), of(i + 13) * 3.0);
    }
    for z in 0..3 {
        (nodes.spin[z], nodes.torque[z]) = (of(z + 70) * 9.0, of(z + 80) * 0.1);
    }
    (Masses::new(&made).unwrap(), nodes)
}

/// Sums of forces and of moments about the origin.
fn wrench(nodes: &Nodes) -> [DVec3; 2] {
    let arms = nodes.position.iter().zip(&nodes.force);
    let moment = arms.map(|(x, f)| x.cross(*f)).sum::<DVec3>();
    [
        nodes.force.iter().sum(),
        moment + nodes.torque.iter().sum::<DVec3>(),
    ]
}

#[test]
fn families_are_damped_without_a_push_from_nowhere() {
    for brake in [Brake::Implicit(1.0), Brake::Implicit(0.5), Brake::Explicit] {
        let (masses, mut nodes) = clan();
        let before = wrench(&nodes);
        let force = nodes.force.clone();
        masses.brake(&mut nodes, 0.05, brake);
        let after = wrench(&nodes);
        let change = nodes.force.iter().zip(&force);
        let change: f64 = change.map(|(a, b)| a.distance(*b)).sum();
        assert!(change > 1.0, "{brake:?}: {change}");
        for (a, b) in before.iter().zip(after) {
            assert!(a.distance(b) < 1e-13, "{brake:?}: {a} became {b}");
        }
    }
}

#[test]
fn a_family_that_moves_as_one_is_not_damped() {
    for brake in [Brake::Implicit(1.0), Brake::Explicit] {
        let (masses, mut nodes) = clan();
        let (drift, spin) = (DVec3::new(0.3, -0.1, 0.5), DVec3::new(1.0, 4.0, -2.0));
        for i in 0..nodes.len() {
            nodes.velocity[i] = drift + spin.cross(nodes.position[i]);
            nodes.force[i] = DVec3::ZERO;
        }
        nodes.spin.fill(spin);
        nodes.torque.fill(DVec3::ZERO);
        masses.brake(&mut nodes, 0.05, brake);
        let most = nodes.force.iter().chain(&nodes.torque);
        let most = most.fold(0.0_f64, |m, f| m.max(f.length()));
        assert!(most < 1e-13, "{brake:?}: {most}");
    }
}

/// What damps families that move so: forces and torques, written down once more.
fn drag(masses: &Masses, nodes: &Nodes) -> [Vec<DVec3>; 2] {
    let mut force = vec![DVec3::ZERO; nodes.len()];
    let mut torque = vec![DVec3::ZERO; nodes.frames()];
    for i in 0..nodes.len() {
        let Some(f) = masses.father(i) else { continue };
        let arm = nodes.position[i] - nodes.position[f];
        let carried = nodes.velocity[f] + nodes.spin[f].cross(arm);
        let push = (carried - nodes.velocity[i]) * masses.damping()[i];
        force[i] += push;
        force[f] -= push;
        torque[f] -= arm.cross(push);
        if i < torque.len() {
            let turn = (nodes.spin[f] - nodes.spin[i]) * masses.turn_damping()[i];
            torque[i] += turn;
            torque[f] -= turn;
        }
    }
    [force, torque]
}

/// The clan with every kind of lock: none, some on points, on its fathers, on all; whole and by a part.
fn locked_clans() -> Vec<(Masses, Nodes)> {
    let turned = rotation::from_scaled_axis(DVec3::new(0.5, 0.3, -0.8));
    let locks = [
        Lock::Fixed,
        Lock::Axes(DVec3::new(0.0, 1.0, 1.0), turned),
        Lock::Axes(DVec3::new(1.0, 0.0, 0.0), DQuat::IDENTITY),
        Lock::Axes(DVec3::new(0.3, 1.0, 0.0), turned),
        Lock::Axes(DVec3::new(0.5, 0.2, 0.9), turned),
    ];
    let mut clans = Vec::new();
    for (points, frames) in [(false, false), (true, false), (false, true), (true, true)] {
        for shift in 0..locks.len() {
            let (mut masses, nodes) = clan();
            for i in 0..nodes.len() {
                let asked = if i < 3 { frames } else { points };
                // Every third point, so that fours with and without locks are among them; fathers but for one.
                let this = if i < 3 { i != shift % 3 } else { i % 3 == 0 };
                if asked && this {
                    masses
                        .set_lock(i, locks[(i + shift) % locks.len()])
                        .unwrap();
                }
            }
            clans.push((masses, nodes));
        }
    }
    clans
}

#[test]
fn implicit_damping_of_families_solves_its_equations() {
    // What comes out must be damped at the velocities that come out: (M + h D) v' = M v + h f, row by row; v' is what locks leave.
    let h = 0.05;
    for (case, (masses, nodes)) in locked_clans().into_iter().enumerate() {
        let mut braked = nodes.clone();
        masses.brake(&mut braked, h, Brake::Implicit(1.0));
        let mut after = nodes.clone();
        for i in 0..nodes.len() {
            let pushed = nodes.velocity[i] + braked.force[i] * (h / masses.mass()[i]);
            after.velocity[i] = *masses.gain(i) * pushed;
        }
        for z in 0..3 {
            let inverse = masses.rigid()[z].inverse_inertia(nodes.orientation[z]);
            after.spin[z] += inverse * braked.torque[z] * h;
        }
        let [force, torque] = drag(&masses, &after);
        for (i, force) in force.iter().enumerate() {
            let felt = braked.force[i] - nodes.force[i];
            assert!(felt.distance(*force) < 1e-12, "{case}: node {i}");
        }
        for (z, torque) in torque.iter().enumerate() {
            let felt = braked.torque[z] - nodes.torque[z];
            assert!(felt.distance(*torque) < 1e-12, "{case}: frame {z}");
        }
    }
}

#[test]
fn without_mass_a_child_moves_against_its_father_by_its_force() {
    // d (v'/b − c') = q f of every child, where the father takes d (c' − v'); the root is damped against the world.
    let factor = 0.8;
    for (case, (mut masses, nodes)) in locked_clans().into_iter().enumerate() {
        (masses.damping[0], masses.turn_damping[0]) = (0.4, 0.01);
        masses
            .set_integrator(Integrator::QuasiDynamic(factor))
            .unwrap();
        let mut braked = nodes.clone();
        masses.brake(&mut braked, 0.05, Brake::Massless(factor));
        // The velocities that the scheme makes of it, before and after the lock.
        let damping = masses.damping().to_vec();
        let loose: Vec<DVec3> = (0..nodes.len())
            .map(|i| braked.force[i] * (factor / damping[i]))
            .collect();
        let mut after = nodes.clone();
        for (i, loose) in loose.iter().enumerate() {
            after.velocity[i] = *masses.gain(i) * *loose;
        }
        for z in 0..3 {
            after.spin[z] = braked.torque[z] * (factor / masses.turn_damping()[z]);
        }
        let [force, torque] = drag(&masses, &after);
        for i in 0..nodes.len() {
            // What is not given way to by the lock is held by it.
            let lock = (loose[i] - after.velocity[i]) * damping[i];
            let world = match masses.father(i) {
                None => after.velocity[i] * damping[i],
                Some(_) => DVec3::ZERO,
            };
            let sum = force[i] + nodes.force[i] * factor - lock - world;
            assert!(sum.length() < 1e-11, "{case}: node {i}: {sum}");
        }
        for (z, torque) in torque.iter().enumerate() {
            let world = match z {
                0 => after.spin[0] * 0.01,
                _ => DVec3::ZERO,
            };
            let sum = *torque + nodes.torque[z] * factor - world;
            assert!(sum.length() < 1e-11, "{case}: frame {z}: {sum}");
        }
    }
}

#[test]
fn a_crew_damps_large_families_to_the_same_bit() {
    let rigid = Some(Rigid {
        inertia: Some(DVec3::splat(1e-3)),
        ..Rigid::default()
    });
    let count = 20_000;
    let mut made = vec![
        MassNode {
            rigid,
            ..MassNode::point(0.4)
        };
        3
    ];
    made.extend((0..count).map(|k: u32| MassNode {
        damping: 0.1 + f64::from(k / 7000),
        father: (k % 5000 != 77).then_some(k / 9000),
        lock: if k % 977 == 5 {
            Lock::Fixed
        } else {
            Lock::Free
        },
        ..MassNode::point(0.002)
    }));
    let masses = Masses::new(&made).unwrap();
    let of = |k: u32| DVec3::new(f64::from(k % 11), f64::from(k % 7), f64::from(k % 13)) * 0.01;
    let frames = [(DVec3::ZERO, DQuat::IDENTITY); 3];
    let points: Vec<_> = (0..count).map(of).collect();
    let mut alone = Nodes::at_rest(&frames, &points);
    for i in 0..alone.len() {
        (alone.velocity[i], alone.force[i]) = (of(3 * i as u32 + 1), of(5 * i as u32 + 2));
    }
    let start = alone.clone();
    masses.brake(&mut alone, 1e-3, Brake::Implicit(1.0));
    assert!(alone.force != start.force);
    for threads in [1, 2, 3] {
        let mut helped = start.clone();
        let crew = Crew::new(threads);
        masses.brake_by(&mut helped, 1e-3, Brake::Implicit(1.0), Some(&crew));
        assert_eq!(helped.force, alone.force);
        assert_eq!(helped.torque, alone.torque);
    }
}

#[test]
fn free_fall_follows_the_closed_form_of_the_scheme() {
    let masses = Masses::new(&[MassNode::point(0.5)]).unwrap();
    let mut nodes = Nodes::at_rest(&[], &[DVec3::ZERO]);
    let (h, n, g) = (1e-3, 1000.0, DVec3::new(0.0, -9.81, 0.0));
    for _ in 0..n as usize {
        nodes.force[0] = g * 0.5;
        masses.plan(&mut nodes, h, None);
        masses.advance(&mut nodes, h);
    }
    assert!((nodes.velocity[0] - g * (n * h)).length() < 1e-12);
    assert!((nodes.position[0] - g * (0.5 * h * h * n * (n + 1.0))).length() < 1e-12);
}

#[test]
fn nonsense_is_refused_and_runaway_numbers_are_noticed() {
    assert_eq!(Masses::new(&[MassNode::point(0.0)]).unwrap_err().node, 0);
    assert!(Masses::new(&[MassNode::point(f64::NAN)]).is_err());
    assert!(
        Masses::new(&[MassNode {
            damping: -1.0,
            ..MassNode::point(1.0)
        }])
        .is_err()
    );
    assert!(
        Masses::new(&[MassNode {
            father: Some(0),
            ..MassNode::point(1.0)
        }])
        .is_err()
    );
    assert!(Masses::new(&[MassNode::point(1.0), MassNode::body(1.0, DVec3::ONE)]).is_err());

    let masses = Masses::new(&[MassNode::point(1.0), MassNode::point(1.0)]).unwrap();
    for bad in [f64::NAN, f64::INFINITY, 1e9] {
        let mut nodes = Nodes::at_rest(&[], &[DVec3::ZERO, DVec3::ZERO]);
        nodes.velocity[0].y = bad;
        assert!(!masses.advance(&mut nodes, 0.1), "{bad}");
    }
}

#[test]
fn what_has_grown_moves_as_if_it_had_been_built_so() {
    let node = |k: usize| MassNode {
        damping: 0.1 * k as f64,
        lock: if k == 2 { Lock::Fixed } else { Lock::Free },
        ..MassNode::point(1.0 + k as f64)
    };
    let built: Vec<_> = (0..5).map(node).collect();
    let whole = Masses::new(&built).unwrap();
    let mut grown = Masses::new(&built[..2]).unwrap();
    for node in &built[2..] {
        grown.grow(node).unwrap();
    }
    grown.set_mass(1, 7.0, 0.0).unwrap();
    grown.set_mass(1, built[1].mass, built[1].damping).unwrap();
    let places: Vec<_> = (0..5).map(|k| DVec3::X * k as f64).collect();
    let mut one = Nodes::at_rest(&[], &places);
    for k in 0..5 {
        one.force[k] = DVec3::new(1.0, k as f64, -2.0);
        one.velocity[k] = DVec3::Y;
    }
    let mut two = one.clone();
    assert!(whole.advance(&mut one, 0.1) && grown.advance(&mut two, 0.1));
    assert_eq!(one.position, two.position);
    assert_eq!(one.velocity, two.velocity);
    assert!(one.position[3] != places[3] && one.position[2] == places[2]);
    // Nonsense is refused.
    assert_eq!(grown.grow(&MassNode::point(0.0)).unwrap_err().node, 5);
    assert!(grown.set_mass(0, f64::NAN, 0.0).is_err());
    assert_eq!(grown.len(), 5);
}

/// Whoever comes to rest does so entirely, four at a time and one by one alike; what is no number stays it.
#[test]
fn what_hardly_moves_stands_still() {
    for scheme in Integrator::ALL {
        let point = MassNode {
            damping: 2.0,
            ..MassNode::point(0.01)
        };
        let mut masses = Masses::new(&[point; 7]).unwrap();
        masses.set_integrator(scheme).unwrap();
        let mut nodes = Nodes::at_rest(&[], &[DVec3::ZERO; 7]);
        for i in 0..7 {
            // Along each axis another.
            let speed = [1e-36, 1e-38, 1e-40, 1e-42, 1e-44, 1e-46, 1e-48][i];
            nodes.velocity[i] = DVec3::new(speed, -speed * 1e3, 0.0);
        }
        let carried = scheme
            .coefficients(0.01, 2.0, 1e-3)
            .carried_over(0.01, 1e-3);
        for _ in 0..2000 {
            for i in 0..7 {
                nodes.force[i] = nodes.velocity[i] * carried;
            }
            masses.plan_by(&mut nodes, 1e-3, scheme, None);
            let ahead: Vec<DVec3> = (0..7)
                .map(|node| {
                    let offset = DVec3::ZERO;
                    masses.preview(&nodes, &Point { node, offset }, 1e-3)
                })
                .collect();
            assert!(
                masses.move_all(&mut nodes, 1e-3, scheme, None),
                "{scheme:?}"
            );
            assert_eq!(nodes.position, ahead, "{scheme:?}");
        }
        let numbers = nodes.position.iter().chain(&nodes.velocity);
        for x in numbers.flat_map(|v| v.to_array()) {
            assert!(
                !x.is_subnormal() && !(x * x).is_subnormal(),
                "{scheme:?}: {x:e}"
            );
        }
        assert_eq!(nodes.velocity, [DVec3::ZERO; 7], "{scheme:?}");
        nodes.velocity[1].y = f64::NAN;
        assert!(!masses.move_all(&mut nodes, 1e-3, scheme, None));
        assert!(nodes.velocity[1].y.is_nan());
    }
}
