//! The scenes and exercises that are built into the program, so that it can be started anywhere.

use trocar_serve::Catalogue;

/// Made by `build.rs`: names such as `scenes/gallbladder.toml`, and contents.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// All of them.
pub fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for problem in catalogue.add_files(FILES) {
        // A test makes sure that there is none.
        tracing::error!("built in: {problem}");
    }
    catalogue
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use trocar_scene::Scene;

    #[test]
    fn they_are_those_of_the_repository() {
        let mut catalogue = Catalogue::default();
        assert_eq!(catalogue.add_files(FILES), Vec::<String>::new());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut count = 0;
        for entry in std::fs::read_dir(root.join("scenes")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                let id = path.file_stem().unwrap().to_str().unwrap();
                let built_in = catalogue.scene(id).unwrap();
                let scene = Scene::load(&path).unwrap();
                assert_eq!(built_in.bundle.hash(), scene.bundle.hash(), "{id}");
                count += 1;
            }
        }
        assert!(count >= 2);
        for entry in std::fs::read_dir(root.join("exercises")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                let id = path.file_stem().unwrap().to_str().unwrap();
                assert!(catalogue.exercise(id).is_some(), "{id}");
            }
        }
    }
}
