//! Over HTTP there is the page, and only for whoever asks for this server by its name.

mod common;

use common::Theatre;
use std::{fs, net::TcpListener};
use trocar_scene::Scene;
use trocar_serve::{Options, ServeError, Server};

#[test]
fn the_page_comes_with_a_strict_policy() {
    let theatre = Theatre::open();
    let answer = theatre.get("/", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let lower = answer.to_ascii_lowercase();
    for header in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self' ws:; \
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
    assert!(
        answer.contains(r#""status":"ok""#) && answer.contains(r#""scene":"Bench top""#),
        "{answer}"
    );
}

#[test]
fn no_path_leads_out_of_the_page() {
    let theatre = Theatre::open();
    for path in [
        "/../Cargo.toml",
        "/assets/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/index.html/",
        "/.git/config",
        "/nothing",
    ] {
        let answer = theatre.get(path, "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
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
    let with_origin = |origin: &str| {
        status(format!(
            "GET /ws HTTP/1.1\r\nHost: {address}\r\n{socket}Origin: {origin}\r\n\r\n"
        ))
    };
    assert_eq!(with_origin("http://evil.example"), "403");
    assert_eq!(with_origin("null"), "403");
    assert_eq!(
        status(format!(
            "GET /ws HTTP/1.1\r\nHost: evil.example:{port}\r\n{socket}\r\n"
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
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
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
        ..Options::new(scene.clone())
    });
    assert!(
        told.contains(&address.to_string()) && told.contains("another port"),
        "{told}"
    );

    let told = failure(Options {
        address: "0.0.0.0:0".parse().unwrap(),
        ..Options::new(scene.clone())
    });
    assert!(told.contains("127.0.0.1"), "{told}");

    let told = failure(Options {
        data_dir: Some(file),
        ..Options::new(scene.clone())
    });
    assert!(
        told.contains("recordings") && told.contains("folder"),
        "{told}"
    );

    let text = include_str!("common/scene.toml").replace("trocar = 1", "trocar = 9");
    let newer = Scene::from_text("newer.toml", &text).unwrap();
    let error = Server::start(Options::new(newer)).err().unwrap();
    assert!(matches!(error, ServeError::Scene(_)), "{error}");
}
