//! Embeds the scenes and exercises of the repository, so that the program can be started anywhere.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

/// What scenes and exercises are made of; anything else in their folders is none of ours.
const KINDS: [&str; 8] = ["toml", "obj", "stl", "ply", "off", "vtk", "vtu", "msh"];

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = variable("CARGO_MANIFEST_DIR")
        .join("../..")
        .canonicalize()?;
    let mut files = Vec::new();
    for folder in ["scenes", "exercises"] {
        let path = root.join(folder);
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            collect(&path, folder, &mut files)?;
        }
    }
    // By name: the same program from the same sources, whatever order the disk has.
    files.sort();
    let mut table = String::from("&[\n");
    for (name, file) in &files {
        let file = file.display().to_string();
        let _ = writeln!(table, "    ({name:?}, include_bytes!({file:?})),");
    }
    table.push(']');
    fs::write(variable("OUT_DIR").join("files.rs"), table)
}

/// All files below `folder`, each with its name from the root on.
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
        } else if KINDS.iter().any(|k| name.ends_with(&format!(".{k}"))) {
            files.push((path, entry.path()));
        }
    }
    Ok(())
}
