//! What joints are solved with is what mechanics says: responses to impulses (B20), the freedom that each joint takes, and
//! the matrix C M⁻¹ Cᵀ of all of them together (B62, B65). Nothing here looks inside the solver: every number is either
//! worked out anew from closed forms, or seen in what it does to velocities.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{BODIES, Body, Dice, Shop, apart, multiplied, solved, transposed};
use glam::{DMat3, DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Budget, Joint, Method, Point,
    joint::{Curve, Kind, Sheet, Side},
};
use trocar_math::{rotation, skew};

fn size(m: DMat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |s, x| x.abs().max(s))
}

/// A matrix from what it does to the axes.
fn columns(of: impl FnMut(DVec3) -> DVec3) -> DMat3 {
    let [x, y, z] = DVec3::AXES.map(of);
    DMat3::from_cols(x, y, z)
}

/// K, W, U and L: rigid body, particle, static (T02).
#[test]
fn responses_are_those_of_the_closed_forms() {
    let mut dice = Dice(1);
    for _ in 0..50 {
        let body = dice.body();
        let mut shop = Shop::new(&[body], &[(0.3, dice.vector())], vec![]);
        let v: Vec<f64> = (0..9).map(|_| dice.number()).collect();
        shop.set_velocities(&v);
        let (a, b) = (dice.vector() * 0.2, dice.vector() * 0.2);
        let (ra, rb) = (skew(body.turn * a), skew(body.turn * b));
        let axes = DMat3::from_quat(body.turn);
        let inverse = axes * DMat3::from_diagonal(body.moments.recip()) * axes.transpose();
        let on = |offset: DVec3| Point { node: 0, offset };
        let matter = &shop.matters[1];
        let masses = matter.masses();
        let nodes = shop.nodes[1].clone();

        // Changes of velocity and of spin: impulses act on them linearly, so that differences are exact.
        let pushed = |at: Point, p: DVec3| {
            let mut after = nodes.clone();
            matter.push(&mut after, &at, p, 0.0);
            after
        };
        let spun = |l: DVec3| {
            let mut after = nodes.clone();
            masses.kick(
                &mut after,
                0,
                DVec3::ZERO,
                masses.rigid()[0].inverse_inertia(body.turn) * l,
                0.0,
            );
            after
        };
        let moves = |n: &trocar_dynamics::Nodes, at: Point| matter.velocity(n, &at);
        let before = moves(&nodes, on(a));
        let k = columns(|p| moves(&pushed(on(b), p), on(a)) - before);
        let w = columns(|p| pushed(on(a), p).spin[0] - nodes.spin[0]);
        let u = columns(|l| moves(&spun(l), on(a)) - before);
        let l = columns(|l| spun(l).spin[0] - nodes.spin[0]);

        let scale = size(inverse);
        let near = |m: DMat3, n: DMat3| size(m - n) < 1e-12 * scale;
        let plain = DMat3::from_diagonal(DVec3::splat(1.0 / body.mass));
        assert!(near(k, plain - ra * inverse * rb), "K");
        assert!(near(w, inverse * ra), "W");
        assert!(near(u, -ra * inverse), "U");
        assert!(near(u, w.transpose()), "U is not W turned");
        assert!(near(l, inverse), "L");

        // What solvers are told of it.
        let told = |a: Point, b: Point| matter.mobility(&nodes, &a, &b);
        assert!(near(told(on(a), on(b)), k), "K as told");
        assert!(near(told(on(a), on(b)), told(on(b), on(a)).transpose()));
        let own = told(on(a), on(a));
        assert!(size(own - own.transpose()) < 1e-13 * scale, "K is not even");
        let minors = [
            own.x_axis.x,
            own.x_axis.x * own.y_axis.y - own.x_axis.y * own.y_axis.x,
            own.determinant(),
        ];
        assert!(minors.iter().all(|m| *m > 0.0), "{minors:?}");

        // A particle is the same without its turning; what is on the one does not move the other; the world does not move.
        let bead = Point {
            node: 1,
            offset: DVec3::ZERO,
        };
        let after = pushed(bead, DVec3::X);
        assert!((moves(&after, bead) - moves(&nodes, bead)).distance(DVec3::X / 0.3) < 1e-15);
        assert_eq!(moves(&after, on(a)), before);
        let third = DMat3::from_diagonal(DVec3::splat(1.0 / 0.3));
        assert!(size(told(bead, bead) - third) < 1e-15);
        assert_eq!(told(bead, on(a)), DMat3::ZERO);
        let world = &shop.matters[0];
        assert_eq!(
            world.mobility(&shop.nodes[0], &on(a), &on(b)),
            DMat3::ZERO,
            "the world gives way"
        );
    }
}

/// Where the joints of the tests are, and how they lie.
struct Place {
    at: DVec3,
    axes: DQuat,
}

/// What is wrong with a joint when the two bodies stand so: the closed form, in no way the solver's.
type Wrong = Box<dyn Fn(&Stand, &Stand) -> Vec<f64>>;

/// How a body stands: where its point of the joint is, how the joint's axes on it lie.
struct Stand {
    point: DVec3,
    axes: DQuat,
}

impl Stand {
    fn x(&self) -> DVec3 {
        self.axes * DVec3::X
    }
}

struct Case {
    name: &'static str,
    joint: Joint,
    takes: usize,
    /// Where b's point is, in the joint's axes.
    shift: DVec3,
    wrong: Option<Wrong>,
}

/// All joints between side a and side b, which are `at` the same point but for `shift`.
fn cases(sides: impl Fn(DVec3) -> [Side; 2]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name, takes, shift: DVec3, joint: Joint, wrong: Option<Wrong>| {
        cases.push(Case {
            name,
            joint,
            takes,
            shift,
            wrong,
        });
    };
    let zero = DVec3::ZERO;
    let together = |a: &Stand, b: &Stand| (b.point - a.point).to_array().to_vec();
    let level = |a: &Stand, b: &Stand| {
        rotation::to_scaled_axis(b.axes * a.axes.conjugate())
            .to_array()
            .to_vec()
    };
    let aligned = |a: &Stand, b: &Stand| a.x().cross(b.x()).to_array().to_vec();
    let off_line =
        |a: &Stand, b: &Stand| (b.point - a.point).reject_from(a.x()).to_array().to_vec();
    let off_plane = |a: &Stand, b: &Stand| vec![(b.point - a.point).dot(a.x())];
    let crossed = |a: &Stand, b: &Stand| vec![a.x().dot(b.axes * DVec3::Y)];
    fn both(
        f: impl Fn(&Stand, &Stand) -> Vec<f64> + 'static,
        g: impl Fn(&Stand, &Stand) -> Vec<f64> + 'static,
    ) -> Option<Wrong> {
        Some(Box::new(move |a, b| {
            let mut all = f(a, b);
            all.extend(g(a, b));
            all
        }))
    }
    let [a, b] = sides(zero);
    let (x, y) = (a.axes * DVec3::X, b.axes * DVec3::Y);
    let right = std::f64::consts::FRAC_PI_2;
    let base = |kind: Kind| Joint::free().with(a.anchor, b.anchor, kind);
    let upright = (a.axes * b.axes.conjugate()).normalize();

    // The six base joints, and those of velocity.
    add("T3", 3, zero, base(Kind::Point), Some(Box::new(together)));
    add("T2", 2, zero, base(Kind::Line(x)), Some(Box::new(off_line)));
    add(
        "T1",
        1,
        zero,
        base(Kind::Plane(x)),
        Some(Box::new(off_plane)),
    );
    add(
        "R3",
        3,
        zero,
        base(Kind::Orientation(upright)),
        Some(Box::new(level)),
    );
    add(
        "R2",
        2,
        zero,
        base(Kind::Axis(x, b.axes * DVec3::X)),
        Some(Box::new(aligned)),
    );
    add(
        "R1",
        1,
        zero,
        base(Kind::Angle(x, y, right)),
        Some(Box::new(crossed)),
    );
    add(
        "velocity",
        3,
        zero,
        base(Kind::Velocity),
        Some(Box::new(together)),
    );
    add("spin", 3, zero, base(Kind::Spin), Some(Box::new(level)));

    // What is made of them.
    add(
        "ball",
        3,
        zero,
        Joint::ball(a.anchor, b.anchor),
        Some(Box::new(together)),
    );
    add(
        "rail",
        2,
        zero,
        Joint::ball_on_rail(a, b.anchor),
        Some(Box::new(off_line)),
    );
    add(
        "plane",
        1,
        zero,
        Joint::ball_on_plane(a, b.anchor),
        Some(Box::new(off_plane)),
    );
    add(
        "hinge",
        5,
        zero,
        Joint::hinge(a, b, 0.1),
        both(together, aligned),
    );
    add(
        "hinge by axis",
        5,
        zero,
        Joint::hinge_by_axis(a, b),
        both(together, aligned),
    );
    add(
        "slider",
        5,
        zero,
        Joint::slider(a, b),
        both(off_line, level),
    );
    add(
        "universal",
        4,
        zero,
        Joint::universal(a, b),
        both(together, crossed),
    );
    add("fixed", 6, zero, Joint::fixed(a, b), both(together, level));
    add(
        "fixed by points",
        6,
        zero,
        Joint::fixed_by_points(a, b, 0.1),
        both(together, level),
    );
    // A new one: a gimbal that slides in a plane.
    let joint = base(Kind::Plane(x)).with(a.anchor, b.anchor, Kind::Angle(x, y, right));
    add("composed", 2, zero, joint, both(off_plane, crossed));

    // Guides.
    let out = DVec3::new(0.0, 0.6, 0.8) * 0.15;
    let [a, b] = sides(out);
    let ring = |a: &Stand, b: &Stand| {
        let apart = a.axes.conjugate() * (b.point - a.point);
        vec![apart.x, apart.reject_from(DVec3::X).length() - 0.15]
    };
    let circle = || Curve::Circle {
        axis: DVec3::X,
        radius: 0.15,
    };
    add(
        "circle",
        2,
        out,
        Joint::ball_on_curve(a, b.anchor, circle()),
        Some(Box::new(ring)),
    );
    add(
        "circle slider",
        5,
        out,
        Joint::slider_on_curve(a, b, circle()),
        both(ring, level),
    );
    let far = |a: &Stand, b: &Stand| vec![b.point.distance(a.point) - 0.15];
    add(
        "distance",
        1,
        out,
        Joint::distance(a.anchor, b.anchor, 0.15),
        Some(Box::new(far)),
    );
    let sphere = Sheet::Sphere { radius: 0.15 };
    add(
        "sphere",
        1,
        out,
        Joint::ball_on_sheet(a, b.anchor, sphere),
        Some(Box::new(far)),
    );
    let tube = Sheet::Cylinder {
        axis: DVec3::X,
        radius: 0.15,
    };
    let round = |a: &Stand, b: &Stand| vec![(b.point - a.point).reject_from(a.x()).length() - 0.15];
    add(
        "cylinder",
        1,
        out,
        Joint::ball_on_sheet(a, b.anchor, tube),
        Some(Box::new(round)),
    );
    let donut = |a: &Stand, b: &Stand| {
        let apart = a.axes.conjugate() * (b.point - a.point);
        let across = apart.reject_from(DVec3::X).length() - 0.12;
        vec![DVec3::new(apart.x, across, 0.0).length() - 0.05]
    };
    let at = DVec3::new(0.04, 0.09, 0.12);
    let [a, b] = sides(at);
    let torus = Sheet::Torus {
        axis: DVec3::X,
        radius: 0.12,
        tube: 0.05,
    };
    add(
        "torus",
        1,
        at,
        Joint::ball_on_sheet(a, b.anchor, torus),
        Some(Box::new(donut)),
    );
    let points = vec![
        DVec3::ZERO,
        DVec3::new(0.1, 0.02, 0.0),
        DVec3::new(0.15, 0.1, 0.03),
    ];
    let [a, b] = sides(points[1]);
    let through = Curve::Through {
        points: points.clone(),
        closed: false,
    };
    add(
        "spline",
        2,
        points[1],
        Joint::ball_on_curve(a, b.anchor, through),
        None,
    );
    let helix = Curve::Helix {
        axis: DVec3::X,
        radius: 0.15,
        pitch: 0.1,
    };
    let at = helix.foot(DVec3::new(0.01, 0.1, 0.1), 0.0).point;
    let [a, b] = sides(at);
    add(
        "helix",
        2,
        at,
        Joint::ball_on_curve(a, b.anchor, helix),
        None,
    );
    cases
}

/// Two bodies and the sides of a joint on them.
fn sides_of(bodies: &[Body; 2], place: &Place, shift: DVec3) -> [Side; 2] {
    [(0, place.at), (1, place.at + place.axes * shift)].map(|(k, at)| {
        let local = bodies[k].turn.conjugate();
        Side {
            anchor: Anchor::frame(BODIES, k as u32, local * (at - bodies[k].place)),
            axes: (local * place.axes).normalize(),
        }
    })
}

const METHODS: [Method; 3] = [Method::Iterative, Method::System, Method::Graph];

/// Correcting velocities is a projection (T03, T05). Its rank is what the joint leaves free; it is even in the masses, so
/// that impulses are C's rows and nothing else; motion of both as one is untouched; and what it lets through leaves the
/// joint right, by its closed form.
#[test]
fn every_joint_takes_the_freedom_it_says_and_no_other() {
    let mut dice = Dice(7);
    for round in 0..3 {
        let bodies = [dice.body(), dice.body()];
        let place = Place {
            at: dice.vector() * 0.2,
            axes: dice.turn(),
        };
        for case in cases(|shift| sides_of(&bodies, &place, shift)) {
            let name = case.name;
            assert_eq!(case.joint.rows(), case.takes, "{name}");
            for method in METHODS {
                let budget = Budget {
                    method,
                    iterations: 2000,
                    velocity: 1e-13,
                    ..Budget::default()
                };
                let mut shop = Shop::new(&bodies, &[], vec![case.joint.clone()]);
                let project = |shop: &mut Shop, v: &[f64]| {
                    shop.set_velocities(v);
                    shop.correct(&budget);
                    shop.velocities()
                };
                let unit = |k: usize| (0..12).map(|i| f64::from(u8::from(i == k))).collect();
                let images: Vec<Vec<f64>> = (0..12)
                    .map(|k| {
                        let e: Vec<f64> = unit(k);
                        project(&mut shop, &e)
                    })
                    .collect();
                let matrix = transposed(&images);
                let trace: f64 = (0..12).map(|k| matrix[k][k]).sum();
                let taken = 12.0 - trace;
                assert!(
                    (taken - case.takes as f64).abs() < 1e-9,
                    "{name}, {method:?}: it takes {taken}"
                );
                let weighed = multiplied(&shop.masses(), &matrix);
                let crooked = apart(&weighed, &transposed(&weighed));
                assert!(crooked < 1e-11, "{name}, {method:?}: {crooked}");
                let twice = apart(&multiplied(&matrix, &matrix), &matrix);
                assert!(twice < 1e-10, "{name}, {method:?}: {twice}");

                // Both as one.
                let (v, w) = (dice.vector(), dice.vector());
                let as_one: Vec<f64> = bodies
                    .iter()
                    .flat_map(|b| [v + w.cross(b.place), w])
                    .flat_map(|x| x.to_array())
                    .collect();
                let after = project(&mut shop, &as_one);
                let changed = apart(&[after], &[as_one]);
                assert!(changed < 1e-12, "{name}, {method:?}: {changed}");

                // A short way along what is let through.
                let Some(wrong) = &case.wrong else { continue };
                let any: Vec<f64> = (0..12).map(|_| dice.number()).collect();
                let free = project(&mut shop, &any);
                let h = 1e-6;
                let stand = |k: usize, h: f64| {
                    let (v, w) = (
                        DVec3::from_slice(&free[6 * k..]),
                        DVec3::from_slice(&free[6 * k + 3..]),
                    );
                    let shift = if k == 0 { DVec3::ZERO } else { case.shift };
                    let arm = place.at + place.axes * shift - bodies[k].place;
                    let turn = rotation::from_scaled_axis(w * h);
                    Stand {
                        point: bodies[k].place + v * h + turn * arm,
                        axes: turn * place.axes,
                    }
                };
                for h in [0.0, h, -h] {
                    let left = wrong(&stand(0, h), &stand(1, h));
                    let left = left.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
                    // What a joint takes and this did not would be 1e-6 or so.
                    assert!(left < 2e-10, "{name}, {method:?}, round {round}: {left}");
                }
            }
        }
    }
}

/// A base joint of the tree below: what is worked out anew of it.
struct Row {
    /// Numbers of the bodies, and where the joint's point is.
    ends: [Option<usize>; 2],
    at: DVec3,
    /// Directions, and whether they are turned about.
    along: Vec<DVec3>,
    turns: bool,
}

/// A tree of bodies and particles, joined by joints of all sorts.
fn mixed_tree(dice: &mut Dice) -> (Shop, Vec<Row>) {
    let bodies: Vec<Body> = (0..8).map(|_| dice.body()).collect();
    let beads: Vec<(f64, DVec3)> = (0..3).map(|_| (0.2, dice.vector() * 0.3)).collect();
    let axes = dice.turn();
    let mut rows = Vec::new();
    let mut joints = Vec::new();
    let anchor = |end: Option<usize>, at: DVec3| match end {
        None => Anchor::world(at),
        Some(k) if k < 8 => {
            let body = &bodies[k];
            Anchor::frame(BODIES, k as u32, body.turn.conjugate() * (at - body.place))
        }
        Some(k) => Anchor::node(BODIES, k as u32),
    };
    let side = |end: Option<usize>, at: DVec3| Side {
        anchor: anchor(end, at),
        axes: match end {
            Some(k) if k < 8 => bodies[k].turn.conjugate() * axes,
            _ => axes,
        },
    };
    let [x, y, z] = DVec3::AXES.map(|e| axes * e);
    // Parent and child of each joint.
    let pairs = [
        (None, 0),
        (Some(0), 1),
        (Some(0), 2),
        (Some(1), 3),
        (Some(1), 4),
        (Some(2), 5),
        (Some(2), 6),
        (Some(6), 7),
        (Some(3), 8),
        (Some(7), 9),
        (Some(9), 10),
    ];
    for (k, (parent, child)) in pairs.into_iter().enumerate() {
        let ends = [parent, Some(child)];
        let at = if child >= 8 {
            beads[child - 8].1
        } else {
            dice.vector() * 0.2
        };
        let (a, b) = (side(parent, at), side(Some(child), at));
        let mut row = |along: &[DVec3], turns: bool, at: DVec3| {
            rows.push(Row {
                ends,
                at,
                along: along.to_vec(),
                turns,
            });
        };
        let all = [x, y, z];
        joints.push(match k {
            0 => {
                row(&all, false, at);
                row(&[y, z], false, at + x * 0.1);
                Joint::hinge(a, b, 0.1)
            }
            1 => {
                row(&all, false, at);
                row(&[z], true, at);
                Joint::universal(a, b)
            }
            2 => {
                row(&[y, z], false, at);
                row(&all, true, at);
                Joint::slider(a, b)
            }
            3 => {
                row(&all, false, at);
                row(&[y, z], true, at);
                Joint::hinge_by_axis(a, b)
            }
            4 => {
                row(&[x], false, at);
                Joint::ball_on_plane(a, b.anchor)
            }
            5 => {
                row(&all, true, at);
                Joint::free().with(a.anchor, b.anchor, Kind::Spin)
            }
            6 => {
                row(&all, false, at);
                row(&all, true, at);
                Joint::fixed(a, b)
            }
            8 => {
                row(&[y, z], false, at);
                Joint::ball_on_rail(a, b.anchor)
            }
            10 => {
                // From particle to particle: the way between them is the row.
                let from = beads[1].1;
                let length = at.distance(from);
                rows.push(Row {
                    ends,
                    at,
                    along: vec![(at - from) / length],
                    turns: false,
                });
                Joint::distance(a.anchor, b.anchor, length)
            }
            _ => {
                row(&all, false, at);
                Joint::ball(a.anchor, b.anchor)
            }
        });
    }
    (Shop::new(&bodies, &beads, joints), rows)
}

/// C of all rows: side b minus side a, as digest 3.9 writes it.
fn constraint_matrix(shop: &Shop, rows: &[Row]) -> Vec<Vec<f64>> {
    let nodes = &shop.nodes[1];
    let width = shop.velocities().len();
    let mut matrix = Vec::new();
    for row in rows {
        for along in &row.along {
            let mut line = vec![0.0; width];
            for (end, sign) in row.ends.iter().zip([-1.0, 1.0]) {
                let Some(k) = end else { continue };
                let first = if *k < 8 { 6 * k } else { 48 + 3 * (k - 8) };
                let mut add = |at: usize, v: DVec3| {
                    (line[at], line[at + 1], line[at + 2]) = (sign * v.x, sign * v.y, sign * v.z);
                };
                if !row.turns {
                    add(first, *along);
                }
                if *k < 8 {
                    let arm = row.at - nodes.position[*k];
                    let moment = if row.turns { *along } else { arm.cross(*along) };
                    add(first + 3, moment);
                }
            }
            matrix.push(line);
        }
    }
    matrix
}

/// The same A block by block from the responses, as digest 3.8 writes it: K, W, U and L of the bodies that two base joints
/// share, with a sign for each.
fn system_by_blocks(shop: &Shop, rows: &[Row]) -> Vec<Vec<f64>> {
    let matter = &shop.matters[1];
    let nodes = &shop.nodes[1];
    let mut blocks = Vec::new();
    for i in rows {
        for p in &i.along {
            let mut line = Vec::new();
            for j in rows {
                for q in &j.along {
                    let mut sum = 0.0;
                    for (s, end) in i.ends.iter().enumerate() {
                        for (t, other) in j.ends.iter().enumerate() {
                            let Some(k) = end.filter(|_| end == other) else {
                                continue;
                            };
                            let sign = if s == t { 1.0 } else { -1.0 };
                            let turned = |at: DVec3| {
                                let q = nodes.orientation.get(k).copied();
                                q.map_or(DVec3::ZERO, |q| q.conjugate() * (at - nodes.position[k]))
                            };
                            let at = |at: DVec3| Point {
                                node: k as u32,
                                offset: turned(at),
                            };
                            let inverse = nodes.orientation.get(k).map_or(DMat3::ZERO, |q| {
                                matter.masses().rigid()[k].inverse_inertia(*q)
                            });
                            let (ra, rb) = (
                                skew(i.at - nodes.position[k]),
                                skew(j.at - nodes.position[k]),
                            );
                            let block = match (i.turns, j.turns) {
                                (false, false) => matter.mobility(nodes, &at(i.at), &at(j.at)),
                                (true, true) => inverse,
                                (true, false) => inverse * rb,
                                (false, true) => -ra * inverse,
                            };
                            sum += sign * p.dot(block * *q);
                        }
                    }
                    line.push(sum);
                }
            }
            blocks.push(line);
        }
    }
    blocks
}

/// A = C M⁻¹ Cᵀ (T09), and every method puts velocities where it says.
#[test]
fn every_solver_solves_the_system_of_all_rows() {
    let mut dice = Dice(11);
    for round in 0..4 {
        let (mut shop, rows) = mixed_tree(&mut dice);
        let c = constraint_matrix(&shop, &rows);
        let inverse_mass_rows = solved(&shop.masses(), &transposed(&c));
        let a = multiplied(&c, &inverse_mass_rows);
        let scale = a.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
        let crooked = apart(&a, &transposed(&a));
        assert!(crooked < 1e-12 * scale, "{crooked}");
        let blocks = apart(&a, &system_by_blocks(&shop, &rows));
        assert!(blocks < 1e-12 * scale, "block by block: {blocks}");
        assert_eq!(
            a.len(),
            shop.joints.iter().map(Joint::rows).sum::<usize>(),
            "rows"
        );

        // v − M⁻¹ Cᵀ A⁻¹ C v, all dense.
        let v: Vec<f64> = (0..shop.velocities().len())
            .map(|_| dice.number())
            .collect();
        let column: Vec<Vec<f64>> = v.iter().map(|x| vec![*x]).collect();
        let impulses = solved(&a, &multiplied(&c, &column));
        let change = multiplied(&inverse_mass_rows, &impulses);
        let ideal: Vec<f64> = v.iter().zip(&change).map(|(v, d)| v - d[0]).collect();
        for method in METHODS {
            let budget = Budget {
                method,
                iterations: 100_000,
                velocity: 1e-13,
                ..Budget::default()
            };
            shop.set_velocities(&v);
            let outcome = shop.correct(&budget);
            let found = shop.velocities();
            let off = apart(&[found], std::slice::from_ref(&ideal));
            // Rounding is a part of what impulses do, most of which cancels.
            let greatest = |m: &[Vec<f64>]| m.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
            let stirred = greatest(&impulses) * greatest(&inverse_mass_rows);
            let most = match method {
                Method::Iterative => 1e-9,
                _ => 1e-12 * stirred,
            };
            assert!(off < most, "{method:?}, round {round}: {off}, {outcome:?}");
            assert_eq!(outcome.redundant, 0, "{method:?}");
        }
    }
}

/// Not only the motion but the impulses themselves are the same (T09).
#[test]
fn every_solver_finds_the_same_impulses() {
    let mut dice = Dice(23);
    let (shop, _) = mixed_tree(&mut dice);
    let v: Vec<f64> = (0..57).map(|_| 0.2 * dice.number()).collect();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for method in METHODS {
        let mut dice = Dice(23);
        let (mut shop, _) = mixed_tree(&mut dice);
        shop.gravity = DVec3::Y * -9.81;
        shop.set_velocities(&v);
        let budget = Budget {
            method,
            iterations: 100_000,
            position: 1e-14,
            velocity: 1e-12,
            ..Budget::default()
        };
        shop.correct(&budget);
        for _ in 0..3 {
            let (aim, _) = shop.step(0.001, &budget);
            assert!(aim.error < 1e-12, "{method:?}: {aim:?}");
        }
        let all = shop.joints.iter().flat_map(|j| &j.memory.impulses);
        found.push(all.copied().collect());
        let scale = found[0].iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        assert!(scale > 1e-3, "there is nothing to compare");
        let off = apart(&found[..1], &found[found.len() - 1..]);
        assert!(off < 1e-6 * scale, "{method:?}: {off} of {scale}");
    }
    assert_eq!(shop.joints.len(), 11);
}
