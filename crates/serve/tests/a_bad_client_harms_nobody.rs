//! Whatever one connection sends, or does not read: it is told and closed, and the others go on.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Client, Received, Theatre, handle};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use trocar_scene::Scene;
use trocar_serve::{Options, wire::OperationInfo};

/// Sends `messages` on a connection of its own; it must be told `word` and closed, while `other` goes on.
async fn is_refused(theatre: &Theatre, other: &mut Client, messages: Vec<Message>, word: &str) {
    let mut bad = theatre.enter().await;
    for message in messages {
        if bad.send(message).await.is_err() {
            break;
        }
    }
    let told = bad.last_words().await.unwrap_or_default();
    assert!(told.contains(word), "told {told:?}, not {word:?}");
    let seen = other.frame().await;
    other
        .frame_where(|f| f.head.number > seen.head.number && f.time > seen.time)
        .await;
}

fn text(text: impl Into<String>) -> Vec<Message> {
    vec![Message::Text(text.into().into())]
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_break_the_rules_end_their_connection() {
    let theatre = Theatre::open();
    let mut other = theatre.enter().await;
    let number = |yaw: &str| handle(1, 0, 0.125, 0.05).replace("0.125", yaw);
    for (messages, word) in [
        (text("{"), "not one of the protocol"),
        (text("\u{0}"), "not one of the protocol"),
        (text(r#"{"type":"hello"}"#), "not one of the protocol"),
        (
            text(r#"{"type":"pause","now":true}"#),
            "not one of the protocol",
        ),
        (text(number("NaN")), "not one of the protocol"),
        (text(number("1e999")), "not one of the protocol"),
        (text(number("1e30")), "numbers from"),
        (text(handle(1, 1, 0.0, 0.05)), "no instrument 1"),
        (
            text(r#"{"type":"change","parameter":100000,"value":1}"#),
            "no parameter 100000",
        ),
        (text(r#"{"type":"speed","factor":1000}"#), "times as fast"),
        (
            text(format!("{:5000}", r#"{"type":"pause"}"#)),
            "4096 bytes",
        ),
        (text(" ".repeat(60_000)), "4096 bytes"),
        // So much that the connection breaks before it is read; what we say may be lost with it.
        (text(" ".repeat(1 << 20)), ""),
        (vec![Message::Binary(vec![1, 2, 3].into())], "not binary"),
        (
            vec![Message::Text(handle(1, 0, 0.0, 0.05).into()); 3000],
            "too many",
        ),
        (vec![Message::Ping(Vec::new().into()); 3000], "too many"),
    ] {
        is_refused(&theatre, &mut other, messages, word).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_that_breaks_the_rules_loses_the_instruments() {
    let theatre = Theatre::open();
    let mut bad = theatre.enter().await;
    let mut viewer = theatre.enter().await;
    bad.say("nonsense").await;
    assert!(bad.last_words().await.is_some());
    let seen = viewer.frame().await;
    viewer.frame_where(|f| f.time > seen.time).await;
    let next = theatre.enter().await;
    assert_eq!(next.role, trocar_serve::wire::Role::Controller);
}

/// A sheet whose frames have 120 kB, so that those who do not read are soon out of buffers.
const LARGE: &str = r#"
trocar = 1

[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [1, 0, 0]
v = [0, 0, 1]
rows = 100
columns = 100
material = { mass = 0.01, damping = 1, stiffness = 1 }

[[instrument]]
name = "grasper"
trocar = [0, 0.3, 0]
target = [0, 0, 0]
depth = 0.05
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_never_reads_stalls_nobody_and_is_given_up() {
    let patience = Duration::from_secs(2);
    let scene = Scene::from_text("large.toml", LARGE).unwrap();
    let theatre = Theatre::start(
        Options {
            patience,
            ..Options::of_scene(scene)
        },
        "scene",
    );
    let mut controller = theatre.enter().await;
    // Frames come as often while time stands still, and the machine is free for sending them.
    controller.order("pause").await;
    controller.frame_where(|f| f.head.paused).await;
    let mut idle = theatre.enter().await;
    let watching = || theatre.read::<Vec<OperationInfo>>("/api/operations")[0].watching;
    assert_eq!(watching(), 2);

    // The other one gets every frame meanwhile, until the server has given up on who never reads.
    let began = Instant::now();
    let first = controller.frame().await.head.number;
    let (mut last, mut missed, mut looked) = (first, 0, began);
    loop {
        let number = controller.frame().await.head.number;
        missed += number - last - 1;
        last = number;
        if looked.elapsed() > Duration::from_millis(250) {
            looked = Instant::now();
            if watching() == 1 {
                break;
            }
            assert!(began.elapsed() < common::PATIENCE, "it is never given up");
        }
    }
    let lasted = began.elapsed();
    assert!(lasted >= patience, "given up after {lasted:?}");
    // The machine may be busy with other things for a moment.
    let frames = last - first;
    assert!(missed <= frames / 10, "{missed} of {frames} missed");

    // It finds what the system kept for it, which ends long before that, and then the end of the connection.
    let mut seen = 0;
    loop {
        match idle.receive().await {
            Received::Closed => break,
            Received::Said(_) | Received::Seen(_) => {}
            Received::Shown(frame) => seen = frame.head.number,
        }
    }
    assert!(seen < last - 60, "it got {seen} of {last}");
    controller.order("resume").await;
    controller.steer(1, 0.1, 0.05).await;
    controller.frame_where(|f| f.head.input_sequence == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_a_last_seat_and_it_becomes_free_again() {
    let theatre = Theatre::open();
    let mut seated = Vec::new();
    for _ in 0..64 {
        seated.push(theatre.enter().await);
    }
    let request = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let address = theatre.address();
    let id = &theatre.operation.id;
    let ask = || {
        theatre.ask(&format!(
            "GET /ws/{id} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade, close\r\n{request}\r\n"
        ))
    };
    assert!(ask().starts_with("HTTP/1.1 503"));
    drop(seated);
    for attempt in 0.. {
        assert!(attempt < 1000, "no seat becomes free");
        if tokio_tungstenite::connect_async(theatre.server.socket(&theatre.operation))
            .await
            .is_ok()
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_here_is_only_told() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    for (message, word) in [
        (r#"{"type":"finish"}"#, "exercise"),
        (r#"{"type":"seek","time":1}"#, "replay"),
    ] {
        client.say(message).await;
        let told = client.complaint().await;
        assert!(told.contains(word), "{told}");
    }
    let seen = client.frame().await;
    client.frame_where(|f| f.time > seen.time).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_are_not_waited_for() {
    use std::io::{ErrorKind, Read, Write};
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let address = theatre.address();
    let mut slow: Vec<_> = (0..200)
        .filter_map(|_| std::net::TcpStream::connect(address).ok())
        .collect();
    for stream in &mut slow {
        // The others have been turned away.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
    }
    // Whoever is there does not notice.
    let seen = client.frame().await;
    client.frame_where(|f| f.time > seen.time + 0.2).await;
    // In the end they are all closed, and there is room for others.
    for mut stream in slow {
        stream.set_read_timeout(Some(common::PATIENCE)).unwrap();
        let closed = stream.read_to_end(&mut Vec::new());
        // One that was closed while something was on its way to it is reset.
        if let Err(error) = closed {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
        }
    }
    assert_eq!(theatre.call("GET", "/api/health", "").0, 200);
}
