//! Who may ask: only what was loaded from this server, under a name of this machine.
//!
//! A page of a stranger, open in the same browser, can reach a server on the loopback address: by a name that it
//! makes point there (so Host is checked on every request) or by a WebSocket or a form (so Origin is checked on
//! those, and what changes something must be JSON, which no form sends). Programs that are no browsers send no Origin
//! and could send any: they are not what this keeps out.

use crate::house::Refusal;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::{net::SocketAddr, sync::Arc};

/// Only our own files and our own socket, which `'self'` includes (CSP 3); nothing inline, nothing embedded, nobody's frame.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/// Where the WebSockets are.
const SOCKETS: &str = "/ws/";

/// Where things can be changed.
const API: &str = "/api/";

/// Largest body of a request, bytes.
pub const MAX_BODY: usize = 16 << 10;

/// The names under which this server may be asked.
#[derive(Clone, Debug)]
pub struct Names(Arc<[String]>);

impl Names {
    /// Of a server bound to this address: it, and the loopback names with its port.
    pub fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let mut names = vec![
            format!("localhost:{port}"),
            format!("127.0.0.1:{port}"),
            format!("[::1]:{port}"),
            address.to_string(),
        ];
        if port == 80 {
            // Browsers leave the usual port out.
            let short: Vec<_> = names
                .iter()
                .filter_map(|n| n.strip_suffix(":80"))
                .map(String::from)
                .collect();
            names.extend(short);
        }
        Self(names.into())
    }

    fn contain(&self, host: &str) -> bool {
        self.0.iter().any(|n| n.eq_ignore_ascii_case(host))
    }
}

/// Lets a request pass, or answers it; adds the headers that every answer has.
pub async fn check(State(names): State<Names>, request: Request, next: Next) -> Response {
    let mut response = match refuse(&names, &request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Why a request is refused; none if it may pass.
fn refuse(names: &Names, request: &Request) -> Option<Refusal> {
    let headers = request.headers();
    let path = request.uri().path();
    let refusal = |status, text: &str| Some(Refusal::new(status, text));
    let Some(host) = only(headers, header::HOST) else {
        return refusal(StatusCode::BAD_REQUEST, "A request needs one Host.");
    };
    // A request may also name its host in the first line.
    let target = request.uri().authority().map_or(host, |a| a.as_str());
    if !names.contain(host) || !names.contain(target) {
        return refusal(
            StatusCode::FORBIDDEN,
            "This server is not known by that name. Use the address it printed when it started.",
        );
    }
    let method = request.method();
    let reads = matches!(*method, Method::GET | Method::HEAD);
    if (!reads || path.starts_with(SOCKETS)) && !is_own_origin(headers, host) {
        return refusal(
            StatusCode::FORBIDDEN,
            "Only the page of this server may do that.",
        );
    }
    if reads {
        return None;
    }
    let changes = matches!(*method, Method::POST | Method::PATCH | Method::DELETE);
    if !changes || !path.starts_with(API) {
        return refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "Nothing can be changed here.",
        );
    }
    if *method != Method::DELETE && !is_json(headers) {
        return refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "What changes something must be application/json.",
        );
    }
    let length = only(headers, header::CONTENT_LENGTH).and_then(|l| l.parse::<usize>().ok());
    if length.is_some_and(|l| l > MAX_BODY) {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "That is too much.");
    }
    None
}

fn is_json(headers: &HeaderMap) -> bool {
    only(headers, header::CONTENT_TYPE).is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    })
}

/// True if the request comes from a page of this very host, or from no page.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    if !headers.contains_key(header::ORIGIN) {
        return true;
    }
    only(headers, header::ORIGIN)
        .and_then(|origin| origin.strip_prefix("http://"))
        .is_some_and(|origin| origin.eq_ignore_ascii_case(host))
}

/// The value of a header that stands there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let names = Names::of("127.0.0.1:8080".parse().unwrap());
        refuse(&names, &request.body(Body::empty()).unwrap()).map_or(200, |r| r.status.as_u16())
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in [
            "localhost:8080",
            "LocalHost:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
        ] {
            assert_eq!(status("GET", "/", &[("host", host)]), 200, "{host}");
        }
        for host in [
            "localhost",
            "localhost:81",
            "evil.example:8080",
            "127.0.0.1.evil.example:8080",
            "",
            "127.0.0.1:8080@evil",
        ] {
            assert_eq!(status("GET", "/", &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status("GET", "/", &[]), 400);
        assert_eq!(
            status(
                "GET",
                "/",
                &[("host", "localhost:8080"), ("host", "evil.example")]
            ),
            400
        );
        assert_eq!(
            status("GET", "http://evil.example/", &[("host", "localhost:8080")]),
            403
        );
    }

    #[test]
    fn only_our_page_may_open_the_socket() {
        let host = ("host", "127.0.0.1:8080");
        assert_eq!(status("GET", "/ws/1", &[host]), 200);
        assert_eq!(
            status("GET", "/ws/1", &[host, ("origin", "http://127.0.0.1:8080")]),
            200
        );
        for origin in [
            "http://evil.example",
            "http://127.0.0.1:9090",
            "https://127.0.0.1:8080",
            "http://localhost:8080",
            "null",
            "",
        ] {
            assert_eq!(
                status("GET", "/ws/1", &[host, ("origin", origin)]),
                403,
                "{origin}"
            );
        }
        let twice = [
            host,
            ("origin", "http://127.0.0.1:8080"),
            ("origin", "http://127.0.0.1:8080"),
        ];
        assert_eq!(status("GET", "/ws/1", &twice), 403);
    }

    #[test]
    fn only_json_from_our_page_changes_anything_and_only_below_api() {
        let host = ("host", "127.0.0.1:8080");
        let json = ("content-type", "application/json; charset=utf-8");
        let evil = ("origin", "http://evil.example");
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            assert_eq!(status(method, "/", &[host, json]), 405, "{method}");
            assert_eq!(status(method, "/ws/1", &[host, json]), 405, "{method}");
            for path in ["/", "/api/profiles"] {
                assert_eq!(status(method, path, &[host, json, evil]), 403, "{method}");
            }
        }
        for method in ["PUT", "OPTIONS", "TRACE"] {
            assert_eq!(status(method, "/api/profiles", &[host, json]), 405);
        }
        for method in ["POST", "PATCH"] {
            assert_eq!(status(method, "/api/profiles", &[host, json]), 200);
            for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
                let kind = ("content-type", kind);
                assert_eq!(status(method, "/api/profiles", &[host, kind]), 415);
            }
            assert_eq!(status(method, "/api/profiles", &[host]), 415);
            let long = ("content-length", "16385");
            assert_eq!(status(method, "/api/profiles", &[host, json, long]), 413);
        }
        assert_eq!(status("DELETE", "/api/profiles/1", &[host]), 200);
    }

    #[test]
    fn the_usual_port_may_be_left_out() {
        assert!(Names::of("127.0.0.1:80".parse().unwrap()).contain("localhost"));
        assert!(!Names::of("127.0.0.1:8080".parse().unwrap()).contain("localhost"));
        assert!(Names::of("192.168.1.5:8080".parse().unwrap()).contain("192.168.1.5:8080"));
    }
}
