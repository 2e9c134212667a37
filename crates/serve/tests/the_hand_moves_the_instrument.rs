//! A page is greeted with the scene, sees it move, and steers it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Client, Theatre};
use trocar_serve::wire::Role;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_greeted_with_the_scene_and_sees_frames() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    assert_eq!(client.role, Role::Controller);
    let scene = client.scene.clone();
    assert_eq!(scene.name, "Bench top");
    let mut last = client.frame().await;
    for _ in 0..30 {
        let frame = client.frame().await;
        assert!(frame.head.number > last.head.number);
        assert!(frame.time >= last.time);
        assert_eq!(frame.tissues.len(), scene.tissues.len());
        assert_eq!(
            frame.tissues[0].positions.len(),
            scene.tissues[0].vertices as usize
        );
        assert_eq!(frame.bodies.len(), scene.bodies.len());
        assert_eq!(frame.instruments.len(), scene.instruments.len());
        assert!(!frame.head.paused);
        last = frame;
    }
    assert!(last.time > 0.0 && last.head.step_cost > 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_moves_the_instrument_and_its_sequence_comes_back() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let before = client.frame().await;
    assert_eq!(before.head.input_sequence, 0);
    client.steer(41, 0.2, 0.06).await;
    client.steer(42, 0.25, 0.06).await;
    let used = client.frame_where(|f| f.head.input_sequence == 42).await;
    assert!(used.time > before.time);
    let there = client
        .frame_where(|f| (f.instruments[0].handle[0] - 0.25).abs() < 1e-6)
        .await;
    let [a, b] = [&before, &there].map(|f| f.instruments[0].poses[0]);
    assert!((0..3).any(|i| (a[i] - b[i]).abs() > 0.005), "{a:?} {b:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_to_come_only_looks_on() {
    let theatre = Theatre::open();
    let mut first = theatre.enter().await;
    let mut second = theatre.enter().await;
    assert_eq!((first.role, second.role), (Role::Controller, Role::Viewer));
    for text in [
        common::handle(7, 0, 0.3, 0.06),
        r#"{"type":"pause"}"#.into(),
    ] {
        second.say(text).await;
        assert!(second.complaint().await.contains("looks on"));
    }
    let after = second.frame().await;
    let frame = first
        .frame_where(|f| f.head.number > after.head.number)
        .await;
    assert_eq!((frame.head.input_sequence, frame.head.paused), (0, false));

    // The viewer stays one when the controller leaves; the next to come takes over, and counts anew.
    first.steer(5, 0.1, 0.06).await;
    first.frame_where(|f| f.head.input_sequence == 5).await;
    first.leave().await;
    let mut third = enter_as_controller(&theatre).await;
    second.say(r#"{"type":"restart"}"#).await;
    assert!(second.complaint().await.contains("looks on"));
    third.steer(1, 0.2, 0.06).await;
    second.frame_where(|f| f.head.input_sequence == 1).await;
}

/// The server may need a moment to notice that somebody left.
async fn enter_as_controller(theatre: &Theatre) -> Client {
    for _ in 0..1000 {
        let client = theatre.enter().await;
        if client.role == Role::Controller {
            return client;
        }
        client.leave().await;
    }
    panic!("nobody gets the instruments");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endoscope_follows_its_own_hand() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let before = client.frame().await.eye.unwrap();
    client
        .say(r#"{"type":"endoscope","sequence":3,"yaw":0.2,"pitch":0,"depth":0.12,"roll":0,"horizon":0,"zoom":2}"#)
        .await;
    let there = client
        .frame_where(|f| {
            let eye = f.eye.unwrap();
            eye.handle[0] > 0.199 && eye.handle[5] > 1.99
        })
        .await;
    assert_eq!(there.head.input_sequence, 3);
    let eye = there.eye.unwrap();
    assert!(eye.field_of_view < 0.6 * before.field_of_view);
    assert_ne!(eye.pose, before.pose);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_only_wants_to_look_on_never_takes_the_instruments() {
    let theatre = Theatre::open();
    let mut watcher = theatre.enter_at(&theatre.operation, "?watch=1").await;
    assert_eq!(watcher.role, Role::Viewer);
    let seen = watcher.frame().await;
    watcher.frame_where(|f| f.time > seen.time).await;
    let controller = theatre.enter().await;
    assert_eq!(controller.role, Role::Controller);
    assert_eq!(controller.operation.watching, 2);
    // After the connection broke, the next one has them again.
    drop(controller);
    let again = enter_as_controller(&theatre).await;
    assert!(again.operation.controlled);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_pauses_goes_on_and_restarts() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    client.frame_where(|f| f.time > 0.1).await;
    client.order("pause").await;
    let paused = client.frame_where(|f| f.head.paused).await;
    let later = client
        .frame_where(|f| f.head.number > paused.head.number + 5)
        .await;
    assert_eq!((later.time, later.head.rate), (paused.time, 0.0));
    client.order("resume").await;
    client
        .frame_where(|f| !f.head.paused && f.time > paused.time)
        .await;
    client.order("restart").await;
    client.frame_where(|f| f.time < paused.time).await;
    client.frame_where(|f| f.time > 0.02).await;

    theatre.server.stop();
    assert_eq!(
        client.last_words().await.as_deref(),
        Some("the server has been stopped")
    );
}
