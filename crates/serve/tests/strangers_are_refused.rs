//! Over HTTP there is the page, and only for whoever asks for this server by its name.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::Theatre;
use std::{fs, net::TcpListener};
use trocar_scene::Scene;
use trocar_serve::{
    Options, ServeError, Server,
    wire::{ExerciseInfo, SceneDescription, SceneInfo},
};

#[test]
fn the_page_comes_with_a_strict_policy() {
    let theatre = Theatre::open();
    let answer = theatre.get("/", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let lower = answer.to_ascii_lowercase();
    for header in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-cache",
    ] {
        assert!(lower.contains(header), "{header} is missing in {answer}");
    }
    assert!(answer.contains("Trocar"));
}

#[test]
fn it_says_that_it_is_well() {
    let theatre = Theatre::open();
    let answer = theatre.get("/api/health", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for part in [
        r#""status":"ok""#,
        r#""protocol":4"#,
        r#""keeps":true"#,
        r#""operations":1"#,
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}

#[test]
fn no_path_leads_out_of_the_page() {
    let theatre = Theatre::open();
    for path in [
        "/../Cargo.toml",
        "/assets/../../../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/assets/nothing.js",
    ] {
        let answer = theatre.get(path, "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    // Everything else is a path of the page's own, and shows the page.
    let page = theatre.get("/", "");
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_string();
    for path in [
        "/exercise/grasp-and-lift",
        "/result/3",
        "//etc/passwd",
        "/.git/config",
        "/%2e%2e/%2e%2e/etc/passwd",
    ] {
        let answer = theatre.get(path, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert_eq!(body(&answer), body(&page), "{path}");
    }
}

#[test]
fn what_the_api_does_not_know_it_says_as_json() {
    let theatre = Theatre::open();
    for (method, path, body, status) in [
        ("GET", "/api/nothing", "", 404),
        ("GET", "/api/scenes/nothing", "", 404),
        ("GET", "/api/scenes/be-there:nothing", "", 404),
        ("GET", "/api/results/77", "", 404),
        ("GET", "/api/results/77/export.csv", "", 404),
        ("DELETE", "/api/results/77", "", 404),
        ("DELETE", "/api/operations/77", "", 404),
        ("PATCH", "/api/profiles/77", r#"{"name":"x"}"#, 404),
        ("POST", "/api/health", "{}", 405),
        ("POST", "/api/profiles", "{", 400),
        ("POST", "/api/profiles", r#"{"name":1}"#, 400),
        ("POST", "/api/profiles", r#"{"name":"x","id":1}"#, 400),
        ("POST", "/api/profiles", r#"{"name":"   "}"#, 422),
        ("POST", "/api/operations", r#"{"kind":"war"}"#, 400),
        (
            "POST",
            "/api/operations",
            r#"{"kind":"lab","scene":"nothing"}"#,
            404,
        ),
        (
            "POST",
            "/api/operations",
            r#"{"kind":"exercise","exercise":"be-there","level":"short","profile":9}"#,
            404,
        ),
        (
            "POST",
            "/api/operations",
            r#"{"kind":"replay","result":9}"#,
            404,
        ),
    ] {
        let (found, answer) = theatre.call(method, path, body);
        assert_eq!(found, status, "{method} {path}: {answer}");
        let problem: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert!(problem["error"].as_str().unwrap().len() > 10, "{answer}");
    }
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(20_000));
    assert_eq!(theatre.call("POST", "/api/profiles", &long).0, 413);
}

#[test]
fn scenes_and_exercises_are_listed_and_described() {
    let theatre = Theatre::open();
    let scenes: Vec<SceneInfo> = theatre.read("/api/scenes");
    assert_eq!(scenes.len(), 1);
    assert_eq!((scenes[0].id.as_str(), scenes[0].tissues), ("bench-top", 1));
    let exercises: Vec<ExerciseInfo> = theatre.read("/api/exercises");
    assert_eq!(exercises[0].id, "be-there");
    let levels = &exercises[0].levels;
    assert_eq!((levels.len(), levels[1].id.as_str()), (2, "long"));
    let picture: SceneDescription = theatre.read(&format!("/api/scenes/{}", levels[0].scene));
    let lab: SceneDescription = theatre.read("/api/scenes/bench-top");
    assert_eq!(picture, lab);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let theatre = Theatre::open();
    let address = theatre.address();
    let port = address.port();
    let status = |request: String| {
        theatre
            .ask(&request)
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_string()
    };
    let with_host = |host: &str| {
        status(format!(
            "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
    };
    assert_eq!(with_host(&format!("localhost:{port}")), "200");
    assert_eq!(with_host("evil.example"), "403");
    assert_eq!(with_host(&format!("evil.example:{port}")), "403");
    assert_eq!(with_host("127.0.0.1:1"), "403");
    assert_eq!(
        status("GET / HTTP/1.1\r\nConnection: close\r\n\r\n".into()),
        "400"
    );

    let socket = "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                  Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let id = &theatre.operation.id;
    let with_origin = |origin: &str| {
        status(format!(
            "GET /ws/{id} HTTP/1.1\r\nHost: {address}\r\n{socket}Origin: {origin}\r\n\r\n"
        ))
    };
    assert_eq!(with_origin("http://evil.example"), "403");
    assert_eq!(with_origin("null"), "403");
    assert_eq!(
        status(format!(
            "GET /ws/{id} HTTP/1.1\r\nHost: evil.example:{port}\r\n{socket}\r\n"
        )),
        "403"
    );

    let post = |extra: &str| {
        status(format!(
            "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 0\r\n{extra}\r\n"
        ))
    };
    assert_eq!(post(""), "405");
    assert_eq!(post("Origin: http://evil.example\r\n"), "403");
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_page_may_open_the_socket() {
    use tokio_tungstenite::tungstenite::client::IntoClientRequest;
    let theatre = Theatre::open();
    let address = theatre.address();
    let url = theatre.server.socket(&theatre.operation);
    let mut request = url.into_client_request().unwrap();
    request
        .headers_mut()
        .insert("origin", format!("http://{address}").parse().unwrap());
    assert!(tokio_tungstenite::connect_async(request).await.is_ok());
}

#[test]
fn what_can_not_be_served_says_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::from_text("scene.toml", include_str!("common/scene.toml")).unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let failure = |options: Options| {
        Server::start(options)
            .err()
            .expect("it must not start")
            .to_string()
    };

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let told = failure(Options {
        address,
        ..Options::of_scene(scene.clone())
    });
    assert!(
        told.contains(&address.to_string()) && told.contains("another port"),
        "{told}"
    );

    let told = failure(Options {
        address: "0.0.0.0:0".parse().unwrap(),
        ..Options::of_scene(scene.clone())
    });
    assert!(told.contains("127.0.0.1"), "{told}");

    let told = failure(Options {
        data_dir: Some(file),
        ..Options::of_scene(scene.clone())
    });
    assert!(told.contains("file"), "{told}");
    drop(folder);
}

#[test]
fn two_servers_do_not_share_a_folder_and_a_stopped_one_frees_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        data_dir: Some(folder.path().join("data")),
        ..Options::new(common::catalogue())
    };
    let first = Server::start(options()).unwrap();
    let error = Server::start(options()).err().unwrap();
    assert!(matches!(error, ServeError::Records(_)), "{error}");
    first.stop();
    Server::start(options()).unwrap().stop();
}
