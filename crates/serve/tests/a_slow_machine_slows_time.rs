//! Too much for the machine: time runs slower, every frame says so and what takes the time, and nothing falls behind.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::Theatre;
use std::time::{Duration, Instant};
use trocar_serve::frame::Frame;

/// Steps so short that no machine makes them in time: a sheet of 6400 nodes, 10 000 times a second.
const TOO_MUCH: &str = r#"
trocar = 1

[world]
step = 0.0001

[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.8, 0, 0]
v = [0, 0, 0.8]
rows = 80
columns = 80
material = { mass = 0.01, damping = 1, stiffness = 1 }

[[instrument]]
name = "grasper"
trocar = [0, 0.3, 0]
target = [0, 0, 0]
depth = 0.05
"#;

/// Where the time of such a step goes: what may be touched, forces, motion. Which of them takes most depends on the machine.
const WORK: [&str; 3] = ["broad", "force", "advance"];

/// Longest time anybody may wait for an answer. A server that ran after the clock would be seconds behind.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Index of the stage that costs most.
fn costliest(frame: &Frame) -> usize {
    let costs = &frame.head.stage_costs;
    (0..costs.len())
        .max_by(|a, b| costs[*a].total_cmp(&costs[*b]))
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_slows_time_aloud_and_nothing_falls_behind() {
    let theatre = Theatre::open_with(TOO_MUCH);
    let mut client = theatre.enter().await;
    let first = client.frame_where(|f| f.head.slow).await;

    let began = Instant::now();
    let (mut last, mut came, mut rates) = (first.clone(), began, Vec::new());
    while began.elapsed() < Duration::from_secs(3) {
        let frame = client.frame().await;
        let gap = came.elapsed();
        came = Instant::now();
        assert!(gap < AT_ONCE, "no frame for {gap:?}");
        assert!(frame.head.slow && !frame.head.paused, "{:?}", frame.head);
        assert!(frame.head.rate < 0.9, "{:?}", frame.head);
        assert!(frame.time >= last.time);
        let stage = costliest(&frame);
        let name = client.scene.stages[stage].as_str();
        assert!(WORK.contains(&name), "{name}: {:?}", frame.head);
        // It is worth naming, and together the stages are the step.
        let costs = &frame.head.stage_costs;
        let share = |cost: f32| cost / frame.head.step_cost;
        assert!(share(costs[stage]) > 0.25, "{:?}", frame.head);
        assert!(
            (0.8..1.05).contains(&share(costs.iter().sum())),
            "{:?}",
            frame.head
        );
        rates.push(frame.head.rate);
        last = frame;
    }
    assert!(rates.len() > 30, "{} frames in 3 s", rates.len());

    // Time is as slow as the frames say; and it does not get slower and slower.
    let rate = (last.time - first.time) / came.duration_since(began).as_secs_f64();
    let said = rates.iter().sum::<f32>() / rates.len() as f32;
    let ratio = rate / f64::from(said);
    assert!((0.5..2.0).contains(&ratio), "{rate}, but {said} was said");
    let half = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
    let (early, late) = rates.split_at(rates.len() / 2);
    assert!(half(late) > 0.3 * half(early), "{rates:?}");

    // Hands and requests are answered at once.
    let asked = Instant::now();
    client.steer(1, 0.1, 0.05).await;
    client.frame_where(|f| f.head.input_sequence == 1).await;
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    let asked = Instant::now();
    assert_eq!(theatre.call("GET", "/api/health", "").0, 200);
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());

    // And it stops at once.
    let asked = Instant::now();
    client.say(r#"{"type":"pause"}"#).await;
    client
        .frame_where(|f| f.head.paused && !f.head.slow && f.head.rate == 0.0)
        .await;
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
}
