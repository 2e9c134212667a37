//! A careful hand beats a hasty one, that a clumsy one, and whoever does nothing gets nothing; and the same operation always
//! gets the same score.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Style, exercise, operate};
use std::sync::Arc;
use trocar_scene::{
    Simulation,
    recording::{Recording, Verdict, Writer},
};
use trocar_train::{Ending, Exercise, Measure, Performance, Run};

fn perform(exercise: &Arc<Exercise>, level: usize, style: Style) -> Performance {
    operate(exercise, level, style, 1, &mut |_, _| {})
}

fn value(performance: &Performance, measure: Measure) -> f64 {
    let found = performance.measures.iter().find(|m| m.id == measure);
    found.map_or(f64::NAN, |m| m.value)
}

#[test]
fn careful_beats_hasty_beats_clumsy_beats_idle_at_every_level() {
    let exercise = exercise();
    for (level, l) in exercise.levels.iter().enumerate() {
        let [careful, hasty, clumsy, idle] =
            [Style::Careful, Style::Hasty, Style::Clumsy, Style::Idle]
                .map(|style| perform(&exercise, level, style));
        let scores = [&careful, &hasty, &clumsy, &idle].map(|p| p.score);
        println!("{}: {scores:.1?}", l.name);
        // Not by a hair: ten points are more than any small change of the tissue makes.
        assert!(scores[0] > scores[1] + 10.0, "{}: {scores:?}", l.name);
        assert!(scores[1] > scores[2] + 5.0, "{}: {scores:?}", l.name);
        assert!(scores[2] > scores[3], "{}: {scores:?}", l.name);
        assert_eq!(scores[3], 0.0, "{}", l.name);
        assert_eq!(careful.ending, Ending::Completed, "{}", l.name);
        assert!(careful.passed, "{}: {scores:?}", l.name);
        assert!(
            !hasty.passed && !clumsy.passed && !idle.passed,
            "{}",
            l.name
        );

        // And for the right reasons.
        assert_eq!(value(&careful, Measure::Drops), 0.0);
        let force = |p| value(p, Measure::GreatestForce);
        assert!(force(&hasty) > force(&careful), "{}", l.name);
        let smooth = |p| value(p, Measure::Smoothness);
        assert!(smooth(&careful) > smooth(&hasty), "{}", l.name);
        assert!(value(&clumsy, Measure::Misgrasps) >= 1.0, "{}", l.name);
        assert!(value(&clumsy, Measure::Drops) >= 1.0, "{}", l.name);
        assert!(value(&clumsy, Measure::TimeOutOfView) > 2.0, "{}", l.name);
        assert!(!hasty.advice.is_empty() && !careful.praise.is_empty());
        assert!(
            clumsy
                .events
                .iter()
                .any(|e| e.text.contains("beside the marked spot"))
        );
    }
}

#[test]
fn the_same_operation_gets_the_same_score_on_any_threads_and_from_its_recording() {
    let exercise = exercise();
    let folder = tempfile::tempdir().unwrap();
    for level in [0, exercise.levels.len() - 1] {
        let path = folder.path().join(format!("{level}.trocrec"));
        let scene = &exercise.levels[level].scene;
        let mut writer = Writer::create(&path, scene, &exercise.attachments(level)).unwrap();
        let first = operate(
            &exercise,
            level,
            Style::Careful,
            1,
            &mut |input, simulation| {
                writer.step(input, simulation).unwrap();
            },
        );
        writer.finish().unwrap();
        let second = operate(&exercise, level, Style::Careful, 2, &mut |_, _| {});
        assert!(first == second, "{} and {}", first.score, second.score);

        let recording = Recording::read(&path).unwrap();
        let again = Arc::new(Exercise::from_recording(&recording).unwrap().unwrap());
        assert_eq!(again.levels[0].name, exercise.levels[level].name);
        for threads in [1, 2] {
            let mut simulation = Simulation::new(&again.levels[0].scene, threads).unwrap();
            let mut run = Run::new(again.clone(), 0, &simulation).unwrap();
            let verdict = recording.replay(&mut simulation, |simulation| {
                run.observe(simulation, simulation.report());
                true
            });
            assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
            assert!(run.finish(Ending::GivenUp) == first, "{threads} threads");
        }
    }
}

#[test]
fn steps_of_another_length_change_the_score_little() {
    let exercise = exercise();
    let scene = exercise.levels[0].scene.clone();
    // The same hand, sampled by a simulation that steps half as often.
    let mut simulation = Simulation::new(&scene, 1).unwrap();
    let mut inputs = Vec::new();
    let fine = operate(&exercise, 0, Style::Careful, 1, &mut |input, _| {
        inputs.push(input.clone())
    });
    let mut run = Run::new(exercise.clone(), 0, &simulation).unwrap();
    for pair in inputs.chunks(2) {
        let mut input = pair[pair.len() - 1].clone();
        input.dt *= 2.0;
        simulation.step(&input);
        run.observe(&simulation, simulation.report());
    }
    let coarse = run.finish(Ending::GivenUp);
    assert_eq!(coarse.ending, Ending::Completed);
    assert!(
        (fine.score - coarse.score).abs() < 3.0,
        "{} and {}",
        fine.score,
        coarse.score
    );
    for measure in [Measure::Path, Measure::Smoothness, Measure::Time] {
        let (a, b) = (value(&fine, measure), value(&coarse, measure));
        assert!((a - b).abs() < 0.03 * a.abs(), "{measure:?}: {a} and {b}");
    }
}
