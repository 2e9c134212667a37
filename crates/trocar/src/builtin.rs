//! The scene that is built into the program, so that it can be started anywhere.

use trocar_scene::{Bundle, Scene, SceneError};

/// The gall bladder.
pub fn gall_bladder() -> Result<Scene, SceneError> {
    let file = |name: &str, bytes: &[u8]| (name.to_string(), bytes.to_vec());
    Scene::from_bundle(&Bundle {
        files: vec![
            file(
                "gallbladder.toml",
                include_bytes!("../../../scenes/gallbladder.toml"),
            ),
            file(
                "parts/surroundings.toml",
                include_bytes!("../../../scenes/parts/surroundings.toml"),
            ),
            file(
                "parts/liver.obj",
                include_bytes!("../../../scenes/parts/liver.obj"),
            ),
        ],
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_the_scene_in_the_repository() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/gallbladder.toml");
        let scene = trocar_scene::Scene::load(path).unwrap();
        assert_eq!(
            super::gall_bladder().unwrap().bundle.hash(),
            scene.bundle.hash()
        );
    }
}
