//! Hashes the engine's sources, so that a recording names the build that made it.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn main() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for name in [
        "math", "mesh", "collide", "dynamics", "soft", "tools", "scene",
    ] {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo:rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        for file in files {
            // FNV-1a: small, and enough to tell two builds apart.
            for byte in fs::read(file).unwrap_or_default() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    println!("cargo:rustc-env=TROCAR_SOURCES={hash:016x}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
