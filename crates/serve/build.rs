//! Embeds the built page, `web/dist`, as a fixed table of files; without it, a page that says how to build it.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let dist = variable("CARGO_MANIFEST_DIR").join("../../web/dist");
    // While the folder does not exist, Cargo runs this at every build: so it is found as soon as it does.
    println!("cargo::rerun-if-changed={}", dist.display());

    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        collect(&dist.canonicalize()?, "", &mut files)?;
        files.sort();
    }
    // Copied: the page may be built anew while the program is compiled.
    let copies = variable("OUT_DIR").join("page");
    if copies.exists() {
        fs::remove_dir_all(&copies)?;
    }
    fs::create_dir_all(&copies)?;
    let mut table = String::from("&[\n");
    for (number, (path, source)) in files.iter().enumerate() {
        let kind = content_type(path);
        let file = copies.join(number.to_string());
        fs::copy(source, &file)?;
        let _ = writeln!(
            table,
            "    Asset {{ path: {path:?}, kind: {kind:?}, bytes: include_bytes!({:?}) }},",
            file.display().to_string()
        );
    }
    table.push(']');
    fs::write(variable("OUT_DIR").join("assets.rs"), table)
}

/// All files below `folder`, each with its path on the server; hidden ones stay outside.
fn collect(folder: &Path, above: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|n| !n.starts_with('.')) else {
            continue;
        };
        let path = format!("{above}/{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else if kind.is_file() {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
