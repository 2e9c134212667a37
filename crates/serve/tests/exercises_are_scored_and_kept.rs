//! An exercise waits for its hand, is scored, recorded and kept, and can be seen again.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Received, Theatre, call};
use std::time::Duration;
use trocar_scene::recording::Recording;
use trocar_serve::{
    Options,
    wire::{
        Ending, OperationInfo, OperationKind, Profile, ResultDetail, ResultRow, Role, ServerMessage,
    },
};

fn results(theatre: &Theatre, profile: &Profile) -> Vec<ResultRow> {
    theatre.read(&format!("/api/results?profile={}", profile.id))
}

/// The results, once they are as wanted: what is kept is kept a moment later.
async fn results_where(
    theatre: &Theatre,
    profile: &Profile,
    wanted: impl Fn(&[ResultRow]) -> bool,
) -> Vec<ResultRow> {
    for _ in 0..600 {
        let rows = results(theatre, profile);
        if wanted(&rows) {
            return rows;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?}", results(theatre, profile));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_waits_for_the_hand_is_scored_kept_and_seen_again() {
    let theatre = Theatre::open();
    let ann = theatre.profile("Ann");
    let operation = theatre.exercise("short", &ann);
    assert_eq!(operation.kind, OperationKind::Exercise);
    assert_eq!(operation.profile.as_deref(), Some("Ann"));
    let mut client = theatre.enter_at(&operation, "").await;
    assert_eq!(client.role, Role::Controller);
    let task = client.task.clone().unwrap();
    assert_eq!((task.goal, task.goals), (0, 1));
    assert!(client.parameters.is_empty());
    let first = client.frame().await;
    let later = client
        .frame_where(|f| f.head.number > first.head.number + 10)
        .await;
    assert_eq!((later.time, later.head.paused), (0.0, true));
    assert!(results(&theatre, &ann).is_empty(), "nothing was done yet");

    client.steer(1, 0.01, 0.05).await;
    client.order("resume").await;
    let (result, score, passed, problem) = client.finished().await;
    assert_eq!(problem, None);
    assert!(score > 50.0 && passed, "{score}");
    let over = client.frame().await;
    assert!(over.head.paused && over.time > 0.25);
    // It is over for good, until a restart.
    client.order("resume").await;
    let still = client
        .frame_where(|f| f.head.number > over.head.number + 10)
        .await;
    assert_eq!((still.time, still.head.paused), (over.time, true));

    let id = result.unwrap();
    let detail: ResultDetail = theatre.read(&format!("/api/results/{id}"));
    assert_eq!(detail.row.ending, Ending::Completed);
    assert_eq!(detail.row.score, Some(score));
    assert_eq!(detail.row.profile_name, "Ann");
    // The list says what was measured, too.
    let listed = results(&theatre, &ann).remove(0).values.unwrap();
    let measured = detail.measures.iter().map(|m| (m.id.clone(), m.value));
    assert_eq!(listed, measured.collect());
    assert!(listed["goals"] == 100.0 && listed.len() > 1);
    assert!(detail.row.has_recording && detail.same_build);
    assert!(detail.realtime > 0.0 && detail.realtime < 1.5);
    assert_eq!(detail.parts.len(), 2);
    assert!(!detail.trace.time.is_empty());
    assert!(
        theatre
            .get(&format!("/api/results/{id}/export.csv"), "")
            .contains("text/csv")
    );
    let (status, json) = theatre.call("GET", &format!("/api/results/{id}/export.json"), "");
    assert_eq!(status, 200);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
    let list = format!("/api/profiles/{}/results.csv", ann.id);
    assert!(theatre.get(&list, "").contains("attachment"));

    // Whoever comes late is told that it is over.
    let mut late = theatre.enter_at(&operation, "?watch=1").await;
    assert_eq!(late.finished().await.0, Some(id));

    let file = theatre.recordings().remove(0);
    let recording = Recording::read(&file).unwrap();
    assert!(recording.complete);
    assert_eq!(recording.attachment("level"), Some(&b"short"[..]));
    assert!((recording.steps() as f64 * 0.002 - over.time).abs() < 1e-6);
    let saved = theatre.get(&format!("/api/results/{id}/recording"), "");
    assert!(saved.contains("TROCREC"));

    replay(&theatre, id, over.time).await;

    let (status, _) = theatre.call("DELETE", &format!("/api/profiles/{}", ann.id), "");
    assert_eq!(status, 204);
    assert!(theatre.recordings().is_empty(), "its data is gone");
    assert!(theatre.read::<Vec<ResultRow>>("/api/results").is_empty());
    assert!(late.last_words().await.is_some(), "so is its operation");
}

async fn replay(theatre: &Theatre, result: i64, end: f64) {
    let body = format!(r#"{{"kind":"replay","result":{result}}}"#);
    let (status, body) = theatre.call("POST", "/api/operations", &body);
    assert_eq!(status, 201, "{body}");
    let operation: OperationInfo = serde_json::from_str(&body).unwrap();
    assert_eq!(operation.subject, "be-there");
    let mut client = theatre.enter_at(&operation, "").await;
    let replay = client.replay.clone().unwrap();
    assert!(replay.same_build && replay.complete);
    assert!((replay.duration - end).abs() < 1e-6);
    assert!(!replay.events.is_empty());
    let last = client.frame_where(|f| f.head.at_end).await;
    assert!((last.time - end).abs() < 1e-9);
    assert_eq!(last.head.rate, 0.0);
    // Back, and there it stays while it is paused.
    client.order("pause").await;
    client.say(r#"{"type":"seek","time":0.1}"#).await;
    let back = client.frame_where(|f| !f.head.at_end).await;
    assert!((back.time - 0.1).abs() < 0.0021, "{}", back.time);
    assert!(back.head.paused);
    client.say(r#"{"type":"seek","time":0.2}"#).await;
    let on = client.frame_where(|f| f.time > 0.15).await;
    assert!((on.time - 0.2).abs() < 0.0021, "{}", on.time);
    client.say(r#"{"type":"speed","factor":0.05}"#).await;
    client.order("resume").await;
    client
        .frame_where(|f| f.time > 0.201 && f.head.rate < 0.3)
        .await;
    client.say(r#"{"type":"seek","time":100000}"#).await;
    client.frame_where(|f| f.head.at_end).await;
    client.order("restart").await;
    client.frame_where(|f| f.time < 0.1).await;
    client.steer(1, 0.5, 0.1).await;
    client.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_the_run_before_it_as_given_up() {
    let theatre = Theatre::open();
    let bea = theatre.profile("Bea");
    let operation = theatre.exercise("long", &bea);
    let mut client = theatre.enter_at(&operation, "").await;
    client.order("resume").await;
    client.frame_where(|f| f.time > 0.1).await;
    // Nothing was done: nothing is kept.
    client.order("restart").await;
    client.frame_where(|f| f.time < 0.1).await;
    results_where(&theatre, &bea, |rows| rows.len() == 1).await;
    client.steer(7, 0.1, 0.06).await;
    client.frame_where(|f| f.time > 0.2).await;
    let rows = results_where(&theatre, &bea, |r| r[0].ending == Ending::Running).await;
    assert_eq!(rows.len(), 1);
    client.order("restart").await;
    client.frame_where(|f| f.time < 0.1).await;
    let rows = results_where(&theatre, &bea, |r| {
        r.iter().any(|r| r.ending == Ending::GivenUp)
    })
    .await;
    assert!(rows.iter().all(|r| r.score.is_none_or(|s| s < 50.0)));
    client.frame_where(|f| f.time > 0.1).await;
    client.order("finish").await;
    let (id, score, passed, _) = client.finished().await;
    assert!(id.is_some() && !passed && score < 50.0);
    let rows = results(&theatre, &bea);
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter()
            .all(|r| r.ending == Ending::GivenUp && r.has_recording)
    );
    assert_eq!(theatre.recordings().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_pauses_when_its_hand_leaves_and_is_broken_off_when_everybody_has() {
    let options = Options {
        grace: Duration::from_millis(800),
        ..Options::new(common::catalogue())
    };
    let theatre = Theatre::start(options, "bench-top");
    let cem = theatre.profile("Cem");
    let operation = theatre.exercise("long", &cem);
    let mut viewer = theatre.enter_at(&operation, "?watch=1").await;
    let mut client = theatre.enter_at(&operation, "").await;
    client.order("resume").await;
    client.steer(1, 0.1, 0.05).await;
    client.frame_where(|f| f.time > 0.1).await;
    drop(client);
    let paused = viewer.frame_where(|f| f.head.paused).await;
    // The same hand comes back, and goes on where it was. On a busy machine its place is cleared a moment after the pause is seen.
    let mut client = theatre.enter_at(&operation, "").await;
    for _ in 0..20 {
        if client.role == Role::Controller {
            break;
        }
        drop(client);
        tokio::time::sleep(Duration::from_millis(20)).await;
        client = theatre.enter_at(&operation, "").await;
    }
    assert_eq!(client.role, Role::Controller);
    client.order("resume").await;
    client.frame_where(|f| f.time > paused.time + 0.1).await;
    client.leave().await;
    viewer.leave().await;
    let rows = results_where(&theatre, &cem, |r| r[0].ending == Ending::BrokenOff).await;
    assert!(rows[0].has_recording);
    assert!(rows[0].seconds > paused.time);
    let running: Vec<OperationInfo> = theatre.read("/api/operations");
    assert!(running.iter().all(|o| o.id != operation.id));
    let recording = Recording::read(theatre.recordings().remove(0)).unwrap();
    assert!(recording.complete);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_keeps_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        data_dir: Some(folder.path().join("data")),
        ..Options::new(common::catalogue())
    };
    let server = trocar_serve::Server::start(options()).unwrap();
    let theatre = |server| Theatre {
        operation: OperationInfo {
            id: String::new(),
            kind: OperationKind::Lab,
            title: String::new(),
            subject: String::new(),
            level: None,
            profile: None,
            result: None,
            watching: 0,
            controlled: false,
        },
        server,
        folder: tempfile::tempdir().unwrap(),
    };
    let first = theatre(server);
    let dan = first.profile("Dan");
    let operation = first.exercise("long", &dan);
    let mut client = first.enter_at(&operation, "").await;
    client.order("resume").await;
    client.steer(1, 0.1, 0.05).await;
    client.frame_where(|f| f.time > 0.3).await;
    first.server.stop();
    assert!(client.last_words().await.is_some());
    let second = theatre(trocar_serve::Server::start(options()).unwrap());
    let rows = results(&second, &dan);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].ending, Ending::BrokenOff);
    assert!(rows[0].score.is_some() && rows[0].has_recording);
    second.server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_nothing_is_kept_and_everything_works() {
    let server = trocar_serve::Server::start(Options::new(common::catalogue())).unwrap();
    let address = server.address();
    let (status, body) = common::call(address, "POST", "/api/profiles", r#"{"name":"Eva"}"#);
    assert_eq!(status, 201, "{body}");
    let eva: Profile = serde_json::from_str(&body).unwrap();
    let new = trocar_serve::wire::NewOperation::Exercise {
        exercise: "be-there".into(),
        level: "short".into(),
        profile: eva.id,
    };
    let operation = server.open(new).unwrap();
    let mut client = common::Client::enter(&server.socket(&operation)).await;
    client.order("resume").await;
    let (result, score, _, problem) = client.finished().await;
    assert!(score > 0.0 && problem.is_none(), "{problem:?}");
    let path = format!("/api/results/{}", result.unwrap());
    let (status, body) = common::call(address, "GET", &path, "");
    assert_eq!(status, 200);
    let detail: ResultDetail = serde_json::from_str(&body).unwrap();
    assert!(!detail.row.has_recording);
    let (_, health) = common::call(address, "GET", "/api/health", "");
    assert!(health.contains(r#""keeps":false"#), "{health}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_takes_nothing_ends_the_recording_and_not_the_operation() {
    let theatre = Theatre::open();
    let fay = theatre.profile("Fay");
    let operation = theatre.exercise("long", &fay);
    // In place of the folder there is a file: nothing can be made in it.
    let folder = theatre.folder.path().join("data/recordings");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "").unwrap();
    let mut client = theatre.enter_at(&operation, "").await;
    client.order("resume").await;
    client.steer(1, 0.1, 0.05).await;
    let told = client
        .said(|m| match m {
            ServerMessage::Event { text, .. } if text.contains("recorded") => Some(text),
            _ => None,
        })
        .await;
    assert!(told.contains("Not recorded any more"), "{told}");
    let seen = client.frame().await;
    client.frame_where(|f| f.time > seen.time + 0.1).await;
    client.order("finish").await;
    let (result, _, _, problem) = client.finished().await;
    let problem = problem.unwrap();
    assert!(problem.contains("recording"), "{problem}");
    let rows = results(&theatre, &fay);
    assert_eq!(rows[0].id, result.unwrap());
    assert!(!rows[0].has_recording);
    assert!(matches!(client.receive().await, Received::Shown(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_operates_for_a_profile_that_is_deleted_meanwhile() {
    let theatre = Theatre::open();
    for round in 0..40 {
        let name = format!("Ann {round}");
        let profile = theatre.profile(&name);
        let address = theatre.address();
        let body = format!(
            r#"{{"kind":"exercise","exercise":"be-there","level":"long","profile":{}}}"#,
            profile.id
        );
        let opening = std::thread::spawn(move || call(address, "POST", "/api/operations", &body).0);
        // At another moment of the opening in every round.
        std::thread::sleep(Duration::from_micros(250 * round));
        let path = format!("/api/profiles/{}", profile.id);
        assert_eq!(theatre.call("DELETE", &path, "").0, 204);
        let opened = opening.join().unwrap();
        assert!([201, 404].contains(&opened), "{opened}");
        let operations: Vec<OperationInfo> = theatre.read("/api/operations");
        let his = |o: &OperationInfo| o.profile.as_ref() == Some(&name);
        assert!(!operations.iter().any(his), "round {round}: it goes on");
    }
    assert!(theatre.recordings().is_empty());
}
