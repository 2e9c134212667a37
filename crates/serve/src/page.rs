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

/// The file at `path`; the page itself if there is none, for it has paths of its own. Only what looks like a file and
/// is none is missing: a page instead of a script would be a riddle.
pub fn file(path: &str) -> Response {
    let assets = || ASSETS.iter().chain((!is_built()).then_some(&MISSING));
    let at = |path: &str| assets().find(|a| a.path == path);
    let is_file = path.starts_with("/assets/") || path.contains("..");
    let asset = match at(path) {
        None if !is_file => at("/index.html"),
        found => found,
    };
    let Some(asset) = asset else {
        return (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response();
    };
    // Vite names what is in this folder after its contents: it never changes.
    let lasting = if asset.path.starts_with("/assets/") {
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
