//! In the Lab the mouse pulls, parameters change while it runs, and the inside is seen; several run at once.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Client, Received, Theatre};
use trocar_serve::wire::{NoticeKind, OperationInfo, Parameter, Role, ServerMessage};

async fn parameters(client: &mut Client) -> Vec<Parameter> {
    client
        .said(|m| match m {
            ServerMessage::Parameters { parameters, .. } => Some(parameters),
            _ => None,
        })
        .await
}

fn gravity(parameters: &[Parameter]) -> usize {
    let down = |p: &Parameter| p.group == "world" && p.value < -5.0;
    parameters.iter().position(down).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_changes_while_it_runs_and_stays_over_a_restart() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let at = gravity(&client.parameters);
    let before = client.parameters[at].clone();
    assert_eq!(before.value, before.start);
    client
        .say(format!(
            r#"{{"type":"change","parameter":{at},"value":-1.5}}"#
        ))
        .await;
    let changed = parameters(&mut client).await;
    assert_eq!((changed[at].value, changed[at].start), (-1.5, before.start));
    client.order("restart").await;
    let again = parameters(&mut client).await;
    assert_eq!(again[at].value, -1.5, "a restart keeps it");
    let late = theatre.enter().await;
    assert_eq!(late.parameters[at].value, -1.5, "whoever comes sees it");

    client
        .say(format!(
            r#"{{"type":"change","parameter":{at},"value":1e11}}"#
        ))
        .await;
    let refused = client
        .said(|m| match m {
            ServerMessage::Event { kind, text, .. } => Some((kind, text)),
            _ => None,
        })
        .await;
    assert_eq!(refused.0, NoticeKind::Error, "{refused:?}");
    let same = parameters(&mut client).await;
    assert_eq!(same[at].value, -1.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn attribute_bits_are_told_and_changed_or_refused_with_a_reason() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let words = async |client: &mut Client| {
        client
            .said(|m| match m {
                ServerMessage::Parameters { flags, .. } => Some(flags),
                _ => None,
            })
            .await
    };
    // Gravity off, the scheme of Runge and Kutta.
    client
        .say(r#"{"type":"flags","tissue":0,"word":2097152}"#)
        .await;
    let now = words(&mut client).await;
    assert_eq!(now[0].word & 0x20_0040, 0x20_0000, "{now:?}");
    client
        .say(r#"{"type":"flags","tissue":null,"word":8448}"#)
        .await;
    let refused = client
        .said(|m| match m {
            ServerMessage::Event {
                kind: NoticeKind::Error,
                text,
                ..
            } => Some(text),
            _ => None,
        })
        .await;
    assert!(refused.contains("contradict"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mouse_takes_hold_and_pulls() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let picked = async |client: &mut Client| {
        client
            .said(|m| match m {
                ServerMessage::Picked { name } => Some(name),
                _ => None,
            })
            .await
    };
    let ray = |kind: &str, x: f32, y: f32, z: f32| {
        format!(r#"{{"type":"{kind}","origin":[{x},{y},{z}],"direction":[0,0,-3]}}"#)
    };
    client.say(ray("grab", 5.0, 5.0, 1.0)).await;
    assert_eq!(picked(&mut client).await, None);
    let body = client.frame_where(|f| f.time > 0.05).await.bodies[0];
    client
        .say(ray("grab", body[0], body[1], body[2] + 0.1))
        .await;
    assert_eq!(picked(&mut client).await.as_deref(), Some("block"));
    client
        .say(ray("drag", body[0] + 0.02, body[1], body[2] + 0.1))
        .await;
    client
        .frame_where(|f| f.bodies[0][0] > body[0] + 0.01)
        .await;
    client.order("drop").await;
    client
        .frame_where(|f| (f.bodies[0][0] - body[0]).abs() < 0.004)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inside_is_shown_to_those_who_ask() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let mut viewer = theatre.enter().await;
    assert_eq!(viewer.role, Role::Viewer);
    let watch = |on: bool| {
        format!(
            r#"{{"type":"watch","nodes":{on},"elements":{on},"contacts":false,"forces":false,"anchors":{on},"frames":{on}}}"#
        )
    };
    viewer.say(watch(true)).await;
    let seen = loop {
        if let Received::Seen(seen) = viewer.receive().await {
            break seen;
        }
    };
    assert!(seen.nodes.len() > 40 && seen.elements.len() > 40);
    assert!(!seen.anchors.is_empty() && !seen.frames.is_empty());
    assert!(seen.contacts.is_empty() && seen.forces.is_empty());
    for _ in 0..30 {
        let received = client.receive().await;
        assert!(!matches!(received, Received::Seen(_)), "it did not ask");
    }
    viewer.say(watch(false)).await;
    let mut quiet = 0;
    while quiet < 10 {
        match viewer.receive().await {
            Received::Seen(_) => quiet = 0,
            Received::Shown(_) => quiet += 1,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_operations_run_at_once_and_not_too_many() {
    let theatre = Theatre::open();
    let body = r#"{"kind":"lab","scene":"bench-top"}"#;
    let mut others = Vec::new();
    for _ in 0..15 {
        let (status, body) = theatre.call("POST", "/api/operations", body);
        assert_eq!(status, 201, "{body}");
        others.push(serde_json::from_str::<OperationInfo>(&body).unwrap());
    }
    let (status, told) = theatre.call("POST", "/api/operations", body);
    assert_eq!(status, 503, "{told}");
    assert!(told.contains("End one"), "{told}");
    let listed: Vec<OperationInfo> = theatre.read("/api/operations");
    assert_eq!(listed.len(), 16);

    let mut first = theatre.enter().await;
    let mut second = theatre.enter_at(&others[0], "").await;
    assert_eq!(
        (first.role, second.role),
        (Role::Controller, Role::Controller)
    );
    first.order("pause").await;
    first.frame_where(|f| f.head.paused).await;
    second.steer(1, 0.2, 0.06).await;
    let moved = second
        .frame_where(|f| f.instruments[0].handle[0] > 0.199)
        .await;
    assert!(!moved.head.paused);
    let still = first.frame().await;
    assert_eq!(still.instruments[0].handle[0], 0.0);

    // One that is ended frees its room, and its pages are told.
    let path = format!("/api/operations/{}", others[0].id);
    assert_eq!(theatre.call("DELETE", &path, "").0, 204);
    assert_eq!(theatre.call("DELETE", &path, "").0, 404);
    assert_eq!(
        second.last_words().await.as_deref(),
        Some("the operation has been ended")
    );
    assert_eq!(theatre.call("POST", "/api/operations", body).0, 201);
    first.order("resume").await;
    first.frame_where(|f| !f.head.paused).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_runs_as_fast_as_it_is_told() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    client.say(r#"{"type":"speed","factor":0.1}"#).await;
    let slow = client
        .frame_where(|f| f.time > 0.1 && f.head.rate < 0.3)
        .await;
    assert!(!slow.head.slow, "as it was told, not for want of time");
    client.say(r#"{"type":"speed","factor":2}"#).await;
    client.frame_where(|f| f.head.rate > 1.2).await;
}

/// The bounds of substeps are told, Kuhn's among them, and change with what they depend on.
#[tokio::test(flavor = "multi_thread")]
async fn bounds_of_substeps_are_told_and_follow_the_parameters() {
    let theatre = Theatre::open();
    let mut client = theatre.enter().await;
    let bound = client.bounds[0].clone();
    let (safe, exact) = (bound.safe.unwrap(), bound.exact.unwrap());
    let kuhn = bound.kuhn.unwrap();
    assert!(0.0 < safe && safe <= exact, "{bound:?}");
    assert!(kuhn > 0.0 && bound.time_constant.unwrap() > 0.0);
    let stiffness = |p: &Parameter| p.name == "stiffness" && bound.tissues.contains(&p.group);
    let at = client.parameters.iter().position(stiffness).unwrap();
    let value = 2.0 * client.parameters[at].value;
    client
        .say(format!(
            r#"{{"type":"change","parameter":{at},"value":{value}}}"#
        ))
        .await;
    let stiffer = client
        .said(|m| match m {
            ServerMessage::Parameters { bounds, .. } => Some(bounds),
            _ => None,
        })
        .await;
    assert_eq!(stiffer[0].tissues, bound.tissues);
    assert!(stiffer[0].kuhn.unwrap() < kuhn && stiffer[0].exact.unwrap() < exact);
    assert_eq!(theatre.enter().await.bounds, stiffer, "whoever comes");
}
