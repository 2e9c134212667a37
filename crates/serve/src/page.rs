//! The built page, inside the program: a fixed table of files, so that no path leads anywhere else.

use axum::{
    body::Bytes,
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};

/// A file of the page.
struct Asset {
    /// Its path on the server.
    path: &'static str,
    /// Its content type.
    kind: &'static str,
    bytes: &'static [u8],
}

/// Made by `build.rs` of `web/dist`; empty if the page has not been built.
static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Shown instead of a page that has not been built.
static MISSING: Asset = Asset {
    path: "/index.html",
    kind: "text/html; charset=utf-8",
    bytes: b"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Trocar</title>\
        <h1>Trocar</h1><p>The server runs, but its page was not built into it. Run <code>cargo xtask web</code>, \
        then build and start the server again; <code>cargo xtask run</code> does all of it.</p></html>",
};

/// True if the built page is inside the program.
pub fn is_built() -> bool {
    !ASSETS.is_empty()
}

/// The file at `path`, or that there is none.
pub fn file(path: &str) -> Response {
    let path = if path == "/" { "/index.html" } else { path };
    let missing = (!is_built()).then_some(&MISSING);
    let Some(asset) = ASSETS.iter().chain(missing).find(|a| a.path == path) else {
        return (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response();
    };
    // Vite names what is in this folder after its contents: it never changes.
    let lasting = if path.starts_with("/assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers: [(HeaderName, &str); 2] = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, lasting),
    ];
    (headers, Bytes::from_static(asset.bytes)).into_response()
}
