//! From measures to a score, and what to do better.

use crate::{
    exercise::ScorePart,
    measure::{Better, Measure, Measured},
    performance::Part,
};

/// From this share of a part's points on, it is praised.
const GOOD: f64 = 0.9;

/// Losing fewer points than this is not worth a word.
const WORTH_A_WORD: f64 = 0.5;

/// All errors together cost at most this share of what was got.
const MOST_LOST: f64 = 0.9;

/// A score and what to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// 0 to 100.
    pub total: f64,
    /// Its parts, in the order of the exercise.
    pub parts: Vec<Part>,
    /// What to do better, what cost most first.
    pub advice: Vec<String>,
    /// What was good.
    pub praise: Vec<String>,
}

/// How good a value is: 0 at `worst`, 1 at `best`, a straight line between, the same beyond.
pub fn quality(value: f64, best: f64, worst: f64) -> f64 {
    ((value - worst) / (best - worst)).clamp(0.0, 1.0)
}

/// The score: every part gives its points by its measure's quality and by the share of goals reached (`reached`, 0 to 1);
/// every error then costs a share of what was got. So whoever does nothing gets nothing, however little force he used, who
/// gets far with errors gets more than who gets nowhere, and no measure that gets better makes the score worse. What could not
/// be measured gives nothing and costs nothing.
pub fn score(parts: &[ScorePart], measures: &[Measured], reached: f64) -> Score {
    let value = |m: Measure| measures.iter().find(|x| x.id == m).map(|x| x.value);
    let judged: Vec<(&ScorePart, Option<f64>, Option<f64>)> = parts
        .iter()
        .map(|p| {
            let value = value(p.measure);
            (p, value, value.map(|v| quality(v, p.best, p.worst)))
        })
        .collect();
    let gain = |p: &ScorePart, q: Option<f64>| {
        // The goals themselves are not counted twice.
        let share = if p.measure == Measure::Goals {
            1.0
        } else {
            reached
        };
        p.points * q.unwrap_or(0.0) * share
    };
    let gained: f64 = judged
        .iter()
        .filter(|j| !j.0.costs)
        .map(|(p, _, q)| gain(p, *q))
        .sum();
    let fault = |p: &ScorePart, q: Option<f64>| 0.01 * p.points * (1.0 - q.unwrap_or(1.0));
    let faults: f64 = judged
        .iter()
        .filter(|j| j.0.costs)
        .map(|(p, _, q)| fault(p, *q))
        .sum();
    // All errors together leave something of what was got.
    let scale = gained * (MOST_LOST / faults.max(MOST_LOST));
    let mut found = Score {
        total: 0.0,
        parts: Vec::new(),
        advice: Vec::new(),
        praise: Vec::new(),
    };
    // What the other parts would have given for goals that were not reached.
    let forgone: f64 = judged
        .iter()
        .filter(|j| !j.0.costs && j.0.measure != Measure::Goals)
        .map(|(p, _, q)| p.points * q.unwrap_or(0.0) * (1.0 - reached))
        .sum();
    let mut lost: Vec<([f64; 2], String)> = Vec::new();
    for (part, value, quality) in judged {
        let points = if part.costs {
            -scale * fault(part, quality)
        } else {
            gain(part, quality)
        };
        // Whether it deserves a word depends on how bad it was, even if there was little to lose.
        let fault = quality.map_or(0.0, |q| part.points * (1.0 - q));
        let advice = value
            .filter(|_| fault >= WORTH_A_WORD)
            .map(|v| advise(part, v));
        if let Some(advice) = &advice {
            // All losses together are what the score lacks.
            let loss = match part.measure {
                _ if part.costs => -points,
                Measure::Goals => fault + forgone,
                _ => fault,
            };
            lost.push(([loss, fault], advice.clone()));
        } else if reached >= 1.0
            && quality.is_some_and(|q| q >= GOOD)
            && let Some(text) = value.and_then(|v| praise_for(part.measure, v))
        {
            found.praise.push(text);
        }
        found.total += points;
        found.parts.push(Part {
            id: part.measure,
            title: part.measure.title().into(),
            points,
            most: if part.costs { 0.0 } else { part.points },
            cost: if part.costs { part.points } else { 0.0 },
            value,
            unit: part.measure.unit().into(),
            best: part.best,
            worst: part.worst,
            advice,
        });
    }
    // A stable sort: equal losses stay in the order of the exercise.
    lost.sort_by(|(a, _), (b, _)| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
    found.advice = lost.into_iter().map(|l| l.1).collect();
    found.total = found.total.clamp(0.0, 100.0);
    found
}

/// A number as people write it, with its unit.
pub fn written(value: f64, unit: &str) -> String {
    let amount = value.abs();
    let counted = unit.is_empty() && (value - value.round()).abs() < 1e-9;
    let digits = if counted || amount >= 20.0 {
        0
    } else if amount >= 2.0 {
        1
    } else {
        2
    };
    let number = format!("{value:.digits$}");
    match unit {
        "" => number,
        "°" => format!("{number}°"),
        unit => format!("{number} {unit}"),
    }
}

/// The numbers, and what to do.
fn advise(part: &ScorePart, value: f64) -> String {
    let unit = part.measure.unit();
    let (value, best) = (written(value, unit), written(part.best, unit));
    let numbers = match part.measure {
        Measure::Drops => format!("You lost the tissue {}.", times(&value)),
        Measure::Tears => format!("Tissue tore out of the jaws {}.", times(&value)),
        Measure::Misgrasps => format!("You took the wrong place {}.", times(&value)),
        measure => {
            let bound = match measure.better() {
                Better::Less => "or less",
                Better::More => "or more",
            };
            let effect = if part.costs {
                "costs nothing"
            } else {
                "gets all points"
            };
            format!("{}: {value}; {best} {bound} {effect}.", measure.title())
        }
    };
    let what = part.advice.as_deref().unwrap_or(match part.measure {
        Measure::Goals => "Work on until every goal is reached; the task line says which one is next.",
        Measure::Time => "Plan the next movement while you finish this one; don't rush the ones with tissue in the jaws.",
        Measure::Path => "Go straight to where you want to be; search with the eyes, not with the instrument.",
        Measure::AngularPath => "Swing the handle less: small, direct movements about the trocar.",
        Measure::Smoothness => "Make one even movement of it instead of many small corrections.",
        Measure::Economy => "Go straight from target to target, without detours or overshooting.",
        Measure::GreatestForce => "Pull more slowly, watch the force, and stop when the tissue is taut.",
        Measure::MeanForce => "Pull only as much as it takes to hold the tissue where it should be.",
        Measure::TimeOverForce => "Ease off at once when the force passes its limit.",
        Measure::Drops => "Close the jaws fully over enough tissue, pull slowly, and open them only where you are asked to.",
        Measure::Tears => "Take more tissue between the jaws and pull more gently.",
        Measure::Misgrasps => "Put the marked spot between the jaws before you close them.",
        Measure::GreatestStretch => "Stop pulling when the wall goes thin and shiny; take a deeper bite to spread the pull.",
        Measure::TimeOverStretch => "Ease off at once when the tissue is stretched too far.",
        Measure::TimeOutOfView => "Move the instrument only where the camera sees it; move the camera first.",
        Measure::IdleTime => "Know the next step before you begin, so that you need not stop to think.",
        Measure::Steadiness => "Bring it to the middle of the target first, then keep the hand still; rest your forearm.",
        Measure::GraspAccuracy => "Aim the tip at the middle of the spot and look from the side before closing.",
        Measure::ReleaseSpeed => "Stop moving before you open the jaws.",
        Measure::ReleaseForce => "Bring the tissue back until the force is gone, then open the jaws.",
    });
    format!("{numbers} {what}")
}

fn times(count: &str) -> String {
    match count {
        "1" => "once".into(),
        "2" => "twice".into(),
        n => format!("{n} times"),
    }
}

fn praise_for(measure: Measure, value: f64) -> Option<String> {
    let value = written(value, measure.unit());
    Some(match measure {
        Measure::Goals => "You reached every goal.".into(),
        Measure::Time => format!("Quick: {value}."),
        Measure::Path | Measure::Economy | Measure::AngularPath => {
            format!(
                "Direct movements: {} {value}.",
                measure.title().to_lowercase()
            )
        }
        Measure::Smoothness => "Smooth, even movements.".into(),
        Measure::GreatestForce => format!("Gentle: never more than {value}."),
        Measure::MeanForce => format!("Gentle: {value} on average."),
        Measure::Steadiness => format!("A steady hand: {value} from the middle."),
        Measure::GraspAccuracy => format!("Well aimed: the grasp was {value} from the mark."),
        Measure::GreatestStretch => format!("The tissue was spared: stretched by {value} at most."),
        Measure::TimeOutOfView => "The tip was always in sight.".into(),
        Measure::ReleaseSpeed | Measure::ReleaseForce => "You let go gently.".into(),
        // That an error was not made is no feat.
        Measure::Drops
        | Measure::Tears
        | Measure::Misgrasps
        | Measure::TimeOverForce
        | Measure::TimeOverStretch
        | Measure::IdleTime => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts() -> Vec<ScorePart> {
        let part = |measure, points, costs, best, worst| ScorePart {
            measure,
            points,
            costs,
            best,
            worst,
            advice: None,
        };
        vec![
            part(Measure::Goals, 30.0, false, 100.0, 0.0),
            part(Measure::Time, 25.0, false, 20.0, 90.0),
            part(Measure::GreatestForce, 20.0, false, 2.0, 5.0),
            part(Measure::Smoothness, 15.0, false, -8.0, -20.0),
            part(Measure::Economy, 10.0, false, 90.0, 20.0),
            part(Measure::Drops, 30.0, true, 0.0, 3.0),
            part(Measure::TimeOverForce, 10.0, true, 0.0, 4.0),
        ]
    }

    fn measures(reached: f64, values: &[f64; 6]) -> Vec<Measured> {
        let ids = [
            Measure::Time,
            Measure::GreatestForce,
            Measure::Smoothness,
            Measure::Economy,
            Measure::Drops,
            Measure::TimeOverForce,
        ];
        let mut all = vec![Measure::Goals.with(100.0 * reached)];
        all.extend(ids.into_iter().zip(values).map(|(id, v)| id.with(*v)));
        all
    }

    fn total(reached: f64, values: &[f64; 6]) -> f64 {
        score(&parts(), &measures(reached, values), reached).total
    }

    #[test]
    fn perfect_is_100_and_nothing_is_0() {
        let perfect = [10.0, 1.0, -6.0, 95.0, 0.0, 0.0];
        assert_eq!(total(1.0, &perfect), 100.0);
        // Whoever does nothing uses no force and takes no way, and still gets nothing.
        assert_eq!(total(0.0, &perfect), 0.0);
        let none = score(&parts(), &[Measure::Goals.with(0.0)], 0.0);
        assert_eq!(none.total, 0.0);
        assert!(none.parts.iter().all(|p| p.points <= 0.0));
    }

    #[test]
    fn errors_cost_a_share_and_never_everything() {
        let clean = [20.0, 2.0, -8.0, 90.0, 0.0, 0.0];
        assert_eq!(total(1.0, &clean), 100.0);
        // One drop of three: a third of 30 %.
        let once = [20.0, 2.0, -8.0, 90.0, 1.0, 0.0];
        assert!((total(1.0, &once) - 90.0).abs() < 1e-9);
        let mut heavy = parts();
        heavy[5].points = 100.0;
        heavy[6].points = 100.0;
        let worst = [20.0, 2.0, -8.0, 90.0, 9.0, 9.0];
        let found = score(&heavy, &measures(1.0, &worst), 1.0);
        assert!((found.total - 10.0).abs() < 1e-9, "{}", found.total);
        let sum: f64 = found.parts.iter().map(|p| p.points).sum();
        assert!((sum - found.total).abs() < 1e-9);
    }

    #[test]
    fn advice_is_concrete_and_ordered_by_what_it_cost() {
        let found = score(
            &parts(),
            &measures(1.0, &[55.0, 5.0, -8.0, 90.0, 1.0, 0.0]),
            1.0,
        );
        assert_eq!(found.advice.len(), 3);
        assert!(found.advice[0].contains("5.0 N"), "{:?}", found.advice);
        assert!(found.advice[1].contains("55 s") && found.advice[1].contains("20 s or less"));
        assert!(found.advice[2].contains("once"));
        assert!(found.praise.iter().any(|p| p.contains("every goal")));
        assert!(found.praise.iter().any(|p| p.contains("Smooth")));
    }

    #[test]
    fn an_error_ranks_by_the_points_it_took_and_missing_goals_by_all_they_cost() {
        // A quarter of the goals gives 7.5 + ¼ · 47.5 = 19.4 points. Two drops of three take a fifth of them, 3.9 points: more
        // than the 2.5 of the time, less than the 20 of the force; the goals lack 22.5 + ¾ · 47.5.
        let found = score(
            &parts(),
            &measures(0.25, &[27.0, 5.0, -8.0, 90.0, 2.0, 0.0]),
            0.25,
        );
        assert_eq!(found.total, 15.5);
        let order = ["Goals", "Greatest force", "twice", "Time"];
        assert_eq!(found.advice.len(), order.len());
        for (advice, word) in found.advice.iter().zip(order) {
            assert!(advice.contains(word), "{:?}", found.advice);
        }
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(written(3.0, ""), "3");
        assert_eq!(written(-7.25, ""), "-7.2");
        assert_eq!(written(123.4, "mm"), "123 mm");
        assert_eq!(written(0.256, "N"), "0.26 N");
        assert_eq!(written(45.2, "°"), "45°");
    }

    proptest! {
        #[test]
        fn the_score_is_monotone_in_every_measure_and_in_the_goals(
            values in [0.0..120.0, 0.0..8.0, -30.0..0.0, 0.0..100.0, 0.0..6.0, 0.0..10.0],
            which in 0usize..7,
            by in 0.0..50.0_f64,
            reached in 0.0..1.0_f64,
        ) {
            let before = total(reached, &values);
            prop_assert!((0.0..=100.0).contains(&before));
            let mut better = values;
            let mut reached_more = reached;
            match which {
                6 => reached_more = (reached + by / 50.0).min(1.0),
                // Smoothness and economy: more is better.
                2 | 3 => better[which] += by,
                _ => better[which] -= by,
            }
            prop_assert!(total(reached_more, &better) >= before - 1e-9);
        }
    }
}
