//! Goals of every kind are reached by doing what they ask for, and not before; marks say where.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use glam::DVec3;
use std::sync::Arc;
use trocar_math::real;
use trocar_scene::{Bundle, Simulation};
use trocar_tools::Handle;
use trocar_train::{Ending, Exercise, MarkKind, MarkState, NoticeKind, Run, TrainError};

const SCENE: &str = "trocar = 1\n\
    [endoscope]\ntrocar = [0, 0.1, 0.25]\ntarget = [0, 0, 0]\ndepth = 0.1\n\
    [[sheet]]\nname = \"sheet\"\norigin = [-0.05, 0, -0.05]\nu = [0, 0, 0.1]\nv = [0.1, 0, 0]\nrows = 11\ncolumns = 11\n\
    fixed = [{ ring = 0 }, { ring = 10 }]\n\
    material = { mass = 0.001, damping = 0.1, stiffness = 60, memory = 8, gravity = false }\n\
    [[instrument]]\nname = \"grasper\"\ntrocar = [0, 0.2, 0.05]\ntarget = [0, 0, 0]\ndepth = 0.12\n";

fn exercise(goals: &str) -> Arc<Exercise> {
    let text = format!(
        "trocar = 1\ntitle = \"Test\"\nabout = \"\"\nscene = \"s.toml\"\ninstrument = \"grasper\"\ntissue = \"sheet\"\n\
         instructions = [\"\"]\ntime_limit = 30\n{goals}\n\
         [[hint]]\nwhen = \"idle\"\ntext = \"go on\"\nafter = 2\nevery = 3\n\
         [[part]]\nmeasure = \"goals\"\npoints = 1\nbest = 100\nworst = 0\n[[level]]\nname = \"one\"\ntitle = \"One\"\n"
    );
    let files = [("e.toml", text.as_str()), ("s.toml", SCENE)];
    let files = files.map(|(n, t)| (n.to_string(), t.as_bytes().to_vec()));
    let exercise = Exercise::from_bundle(&Bundle {
        files: files.to_vec(),
    });
    Arc::new(exercise.unwrap_or_else(|e| panic!("{e}")))
}

fn goal(id: &str, kind: &str, rest: &str) -> String {
    format!(
        "[[goal]]\nid = \"{id}\"\nkind = \"{kind}\"\ntitle = \"{id}\"\ninstruction = \"\"\n{rest}\n"
    )
}

struct Hand {
    simulation: Simulation,
    run: Run,
}

impl Hand {
    fn new(goals: &str) -> Self {
        let exercise = exercise(goals);
        let simulation = Simulation::new(&exercise.levels[0].scene, 1).unwrap();
        let run = Run::new(exercise, 0, &simulation).unwrap();
        Self { simulation, run }
    }

    /// Moves the tip to a point and stays there.
    fn go(&mut self, point: DVec3, jaw: f64, seconds: f64) {
        let grasper = &self.simulation.model().tools[0].grasper;
        let local = grasper.trocar.local(point);
        let to = Handle {
            yaw: real::atan2(local.x, local.z),
            pitch: real::atan2(local.y, real::hypot(local.x, local.z)),
            depth: local.length() - grasper.jaw_length,
            roll: 0.0,
            jaw,
        };
        let mut input = self.simulation.idle_input();
        let from = input.handles[0];
        let steps = (seconds / input.dt).round() as usize;
        for k in 1..=steps {
            // Half of the time on the way.
            let s = (2.0 * k as f64 / steps as f64).min(1.0);
            let mix = |a: f64, b: f64| a + (b - a) * s;
            input.handles[0] = Handle {
                yaw: mix(from.yaw, to.yaw),
                pitch: mix(from.pitch, to.pitch),
                depth: mix(from.depth, to.depth),
                roll: 0.0,
                jaw: mix(from.jaw, to.jaw),
            };
            self.simulation.step(&input);
            self.run.observe(&self.simulation, self.simulation.report());
        }
    }

    fn goal(&self) -> usize {
        self.run.task().goal
    }
}

#[test]
fn touching_a_ball_a_point_and_a_surface() {
    let goals = [
        goal(
            "ball",
            "touch",
            "centre = [0.02, 0.05, 0]\nradius = 0.005\nhold = 0.5",
        ),
        goal(
            "point",
            "touch",
            "tissue = \"sheet\"\nat = [-0.02, 0, 0]\nradius = 0.006\nhold = 0.3",
        ),
        goal(
            "surface",
            "touch",
            "tissue = \"sheet\"\nradius = 0.004\nhold = 1.5",
        ),
    ];
    let mut hand = Hand::new(&goals.concat());
    let mark = hand.run.task().marks[0].clone();
    assert_eq!((mark.kind, mark.state), (MarkKind::Ball, MarkState::Now));
    assert_eq!(mark.position, [0.02, 0.05, 0.0]);
    // Passing by is not staying.
    hand.go(DVec3::new(0.0, 0.05, 0.02), 0.2, 1.0);
    assert_eq!(hand.goal(), 0);
    hand.go(DVec3::new(0.02, 0.05, 0.0), 0.2, 0.6);
    assert_eq!(hand.goal(), 0);
    let task = hand.run.task();
    assert!(
        task.hold_left.is_some_and(|t| t > 0.0 && t < 0.5),
        "{task:?}"
    );
    assert!(task.progress > 0.0 && task.progress < 1.0 / 3.0);
    assert_eq!(task.marks[0].state, MarkState::Reached);
    hand.go(DVec3::new(0.02, 0.05, 0.0), 0.2, 0.6);
    assert_eq!(hand.goal(), 1);
    assert_eq!(hand.run.task().marks[0].kind, MarkKind::Spot);
    hand.go(DVec3::new(-0.02, 0.002, 0.0), 0.2, 1.6);
    assert_eq!(hand.goal(), 2);
    assert!(
        hand.run.task().marks.is_empty(),
        "a whole surface has no mark"
    );
    hand.go(DVec3::new(0.03, 0.002, 0.02), 0.2, 4.0);
    assert_eq!(hand.run.ending(), Some(Ending::Completed));
    let found = hand.run.finish(Ending::BrokenOff);
    assert_eq!(
        (found.ending, found.score, found.reached),
        (Ending::Completed, 100.0, 3)
    );
}

#[test]
fn grasping_carrying_a_point_and_letting_go() {
    let goals = [
        goal("take", "grasp", "tissue = \"sheet\""),
        goal(
            "lift",
            "carry",
            "tissue = \"sheet\"\nat = [0, 0, 0]\ncentre = [0, 0.02, 0]\nradius = 0.006\nhold = 0.5",
        ),
        goal("let go", "release", "speed = 0.02").replace("id = \"let go\"", "id = \"go\""),
    ];
    let mut hand = Hand::new(&goals.concat());
    hand.go(DVec3::new(0.0, -0.003, 0.0), 1.0, 1.0);
    assert_eq!(hand.goal(), 0);
    hand.go(DVec3::new(0.0, -0.003, 0.0), 0.0, 0.6);
    assert_eq!(hand.goal(), 1, "{:?}", hand.run.task());
    hand.go(DVec3::new(0.0, 0.017, 0.0), 0.0, 2.4);
    assert_eq!(hand.goal(), 2, "{:?}", hand.run.task());
    // Opening while moving is no letting go: it has to be taken again.
    hand.go(DVec3::new(0.0, 0.06, 0.0), 1.0, 0.4);
    assert_eq!(hand.goal(), 0);
    let errors = |hand: &mut Hand| {
        hand.run
            .notices()
            .filter(|n| n.kind == NoticeKind::Error)
            .count()
    };
    assert_eq!(errors(&mut hand), 1);
    hand.go(DVec3::new(0.0, -0.003, 0.0), 1.0, 1.5);
    hand.go(DVec3::new(0.0, -0.003, 0.0), 0.0, 0.6);
    // The lift is not asked for again.
    assert_eq!(hand.goal(), 2);
    hand.go(DVec3::new(0.0, -0.003, 0.0), 1.0, 0.6);
    assert_eq!(hand.run.ending(), Some(Ending::Completed));
    assert_eq!(errors(&mut hand), 0);
}

#[test]
fn looking_at_a_point() {
    let goals = goal(
        "see",
        "look",
        "centre = [0.03, 0, 0]\nangle = 4\nhold = 0.5",
    );
    let mut hand = Hand::new(&goals);
    let mut input = hand.simulation.idle_input();
    for wanted in [0, 1] {
        for _ in 0..(1.5 / input.dt) as usize {
            hand.simulation.step(&input);
            hand.run.observe(&hand.simulation, hand.simulation.report());
        }
        assert_eq!(hand.goal(), wanted);
        // Now look there.
        let scope = &hand
            .simulation
            .model()
            .endoscope
            .as_ref()
            .unwrap()
            .endoscope;
        let local = scope.trocar.local(DVec3::new(0.03, 0.0, 0.0));
        let mut handle = input.endoscope.unwrap();
        handle.yaw = real::atan2(local.x, local.z);
        handle.pitch = real::atan2(local.y, real::hypot(local.x, local.z));
        input.endoscope = Some(handle);
    }
}

#[test]
fn time_is_up_hints_come_and_doing_nothing_scores_nothing() {
    let goals = goal("ball", "touch", "centre = [0.02, 0.05, 0]\nradius = 0.005");
    let mut hand = Hand::new(&goals);
    let input = hand.simulation.idle_input();
    let mut hints = Vec::new();
    while hand.run.ending().is_none() {
        hand.simulation.step(&input);
        hand.run.observe(&hand.simulation, hand.simulation.report());
        hints.extend(hand.run.notices().filter(|n| n.kind == NoticeKind::Hint));
    }
    // After 2 s, and every 3 s from then on.
    assert_eq!(hints.len(), 10, "{hints:?}");
    let task = hand.run.task();
    assert_eq!((task.goal, task.time_left), (0, Some(0.0)));
    let found = hand.run.finish(Ending::GivenUp);
    assert_eq!(
        (found.ending, found.score, found.passed),
        (Ending::TimeUp, 0.0, false)
    );
    assert!((found.seconds - 30.0).abs() < 0.01);
    assert_eq!(found.trace.len(), 1501);
}

#[test]
fn a_simulation_of_another_scene_is_refused() {
    let one = exercise(&goal(
        "ball",
        "touch",
        "centre = [0, 0.05, 0]\nradius = 0.005",
    ));
    let other = common::exercise();
    let simulation = Simulation::new(&one.levels[0].scene, 1).unwrap();
    assert!(matches!(
        Run::new(other.clone(), 0, &simulation),
        Err(TrainError::Unfit(_))
    ));
    assert!(matches!(
        Run::new(other, 9, &simulation),
        Err(TrainError::NoLevel { .. })
    ));
}
