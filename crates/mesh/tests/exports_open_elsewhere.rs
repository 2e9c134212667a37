//! The structure that ParaView and Blender ask for, checked by reading the files back with other eyes.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use std::fs;

use glam::DVec3;
use serde_json::Value;
use trocar_mesh::export::{
    ExportError, GltfAnimation, Interpolation, PointVectors, VtkFrame, VtkSeries, to_vtp,
};
use trocar_mesh::primitive::TubeShape;
use trocar_mesh::{Refinement, Surface, read};

fn organ() -> Surface {
    let path = vec![DVec3::ZERO, 0.1 * DVec3::Y];
    TubeShape {
        path,
        radii: vec![[0.03, 0.02]],
        up: DVec3::Z,
        rings: 6,
        around: 8,
    }
    .organ()
    .unwrap()
    .surface
}

/// The organ swollen by a part that grows with time.
fn swollen(frame: usize) -> Vec<DVec3> {
    organ()
        .positions
        .iter()
        .map(|p| *p * (1.0 + 0.1 * frame as f64))
        .collect()
}

#[test]
fn a_series_is_readable_after_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    let mut series = VtkSeries::create(folder.path().join("out"), "gall bladder").unwrap();
    let mut organ = organ();
    for frame in 0..3 {
        organ.positions = swollen(frame);
        organ.triangles.pop(); // A tear: topology may change.
        let velocity = vec![DVec3::X; organ.positions.len()];
        let vectors = [PointVectors {
            name: "velocity",
            values: &velocity,
        }];
        let path = series
            .push(
                0.04 * frame as f64,
                VtkFrame {
                    positions: &organ.positions,
                    triangles: &organ.triangles,
                    vectors: &vectors,
                    texture: &[],
                },
            )
            .unwrap();
        assert_eq!(read(&path).unwrap(), organ);
        let index = fs::read_to_string(series.index()).unwrap();
        let listed: Vec<&str> = index
            .split("file=\"")
            .skip(1)
            .map(|s| s.split('"').next().unwrap())
            .collect();
        assert_eq!(listed.len(), frame + 1);
        assert!(
            listed
                .iter()
                .all(|file| folder.path().join("out").join(file).is_file())
        );
        assert!(
            index.contains(&format!("timestep=\"{:?}\"", 0.04 * frame as f64))
                && index.trim_end().ends_with("</VTKFile>")
        );
    }
    assert_eq!(series.index().file_name().unwrap(), "gall bladder.pvd");
    assert_eq!(
        fs::read_dir(folder.path().join("out")).unwrap().count(),
        4,
        "no drafts are left"
    );
}

#[test]
fn a_refused_frame_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        VtkSeries::create(folder.path(), "../x"),
        Err(ExportError::BadName { .. })
    ));
    let mut series = VtkSeries::create(folder.path(), "x").unwrap();
    let mut organ = organ();
    series.push(1.0, &organ).unwrap();
    assert!(matches!(
        series.push(1.0, &organ),
        Err(ExportError::BadTime { .. })
    ));
    assert!(matches!(
        series.push(f64::NAN, &organ),
        Err(ExportError::BadTime { .. })
    ));
    organ.positions[0].x = f64::NAN;
    assert!(matches!(
        series.push(2.0, &organ),
        Err(ExportError::Surface(_))
    ));
    let vectors = [PointVectors {
        name: "force",
        values: &[DVec3::X],
    }];
    let good = self::organ();
    let frame = VtkFrame {
        positions: &good.positions,
        triangles: &good.triangles,
        vectors: &vectors,
        texture: &[],
    };
    assert!(matches!(
        series.push(2.0, frame),
        Err(ExportError::WrongCount { .. })
    ));
    assert_eq!(series.frames(), 1);
}

/// Texture coordinates go along, refined like the surface; a wrong number of them is refused.
#[test]
fn texture_coordinates_are_written() {
    let good = organ();
    let coarse: Vec<[f64; 2]> = good.positions.iter().map(|p| [p.x, p.y]).collect();
    let refinement = Refinement::new(&good.triangles, good.positions.len(), 1).unwrap();
    let fine = refinement.texture(&coarse);
    assert_eq!(fine.len(), refinement.vertices());
    for t in refinement.triangles().chunks_exact(4).zip(&good.triangles) {
        // All new corners are middles of the old edges.
        let middles: Vec<[f64; 2]> = (0..3)
            .map(|k| [t.1[k], t.1[(k + 1) % 3]].map(|v| coarse[v as usize]))
            .map(|[a, b]| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])])
            .collect();
        let new = t.0.as_flattened().iter().map(|v| *v as usize);
        for v in new.filter(|v| *v >= coarse.len()) {
            assert!(middles.contains(&fine[v]), "{:?}", fine[v]);
        }
    }
    assert!(refinement.texture(&coarse[1..]).is_empty());
    let frame = VtkFrame::from(&good);
    let text = to_vtp(&VtkFrame {
        texture: &coarse,
        ..frame
    })
    .unwrap();
    assert!(text.contains("<PointData TCoords=\"texture\">"), "{text}");
    assert!(text.contains("Name=\"texture\" NumberOfComponents=\"2\""));
    assert!(matches!(
        to_vtp(&VtkFrame {
            texture: &coarse[1..],
            ..frame
        }),
        Err(ExportError::WrongCount { .. })
    ));
}

/// A `.glb` taken apart by the rules of the standard.
struct Glb {
    json: Value,
    bin: Vec<u8>,
}

impl Glb {
    fn open(bytes: &[u8]) -> Glb {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(&bytes[..4], b"glTF");
        assert_eq!((word(4), word(8)), (2, bytes.len()));
        let json_length = word(12);
        assert_eq!(&bytes[16..20], b"JSON");
        assert_eq!(json_length % 4, 0);
        let json = serde_json::from_slice(&bytes[20..20 + json_length]).unwrap();
        let bin = 20 + json_length;
        assert_eq!(&bytes[bin + 4..bin + 8], b"BIN\0");
        assert_eq!(bin + 8 + word(bin), bytes.len());
        assert_eq!(word(bin) % 4, 0);
        Glb {
            json,
            bin: bytes[bin + 8..].to_vec(),
        }
    }

    /// The four-byte numbers of an accessor, checked against its view and its bounds.
    fn words(&self, accessor: &Value) -> Vec<[u8; 4]> {
        let accessor = &self.json["accessors"][number(accessor)];
        let view = &self.json["bufferViews"][number(&accessor["bufferView"])];
        let (start, length) = (number(&view["byteOffset"]), number(&view["byteLength"]));
        assert_eq!(start % 4, 0);
        let components = if accessor["type"] == "VEC3" { 3 } else { 1 };
        assert_eq!(length, 4 * components * number(&accessor["count"]));
        self.bin[start..start + length]
            .chunks_exact(4)
            .map(|w| w.try_into().unwrap())
            .collect()
    }

    fn floats(&self, accessor: &Value) -> Vec<f32> {
        assert_eq!(
            self.json["accessors"][number(accessor)]["componentType"],
            5126
        );
        self.words(accessor)
            .into_iter()
            .map(f32::from_le_bytes)
            .collect()
    }

    fn vectors(&self, accessor: &Value) -> Vec<[f32; 3]> {
        let vectors: Vec<[f32; 3]> = self
            .floats(accessor)
            .chunks_exact(3)
            .map(|v| v.try_into().unwrap())
            .collect();
        let described = &self.json["accessors"][number(accessor)];
        for axis in 0..3 {
            let bound = |key: &str| described[key][axis].as_f64().unwrap() as f32;
            let along = || vectors.iter().map(|v| v[axis]);
            assert_eq!(bound("min"), along().fold(f32::INFINITY, f32::min));
            assert_eq!(bound("max"), along().fold(f32::NEG_INFINITY, f32::max));
        }
        vectors
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

#[test]
fn an_animation_holds_every_frame() {
    let frames = 5;
    let mut animation = GltfAnimation::new("organ", Interpolation::Linear, 10.0, &organ()).unwrap();
    for frame in 1..frames {
        animation
            .push(10.0 + 0.04 * frame as f64, &swollen(frame))
            .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("organ.glb");
    animation.write(&path).unwrap();
    let glb = Glb::open(&fs::read(&path).unwrap());

    let mesh = &glb.json["meshes"][0];
    let primitive = &mesh["primitives"][0];
    let base = glb.vectors(&primitive["attributes"]["POSITION"]);
    let indices: Vec<u32> = glb
        .words(&primitive["indices"])
        .into_iter()
        .map(u32::from_le_bytes)
        .collect();
    assert_eq!(indices, organ().triangles.as_flattened());
    let targets = primitive["targets"].as_array().unwrap();
    assert_eq!(targets.len(), frames - 1);
    assert_eq!(mesh["weights"].as_array().unwrap().len(), frames - 1);
    assert_eq!(
        mesh["extras"]["targetNames"].as_array().unwrap().len(),
        frames - 1
    );

    let sampler = &glb.json["animations"][0]["samplers"][0];
    assert_eq!(sampler["interpolation"], "LINEAR");
    assert_eq!(
        glb.json["animations"][0]["channels"][0]["target"]["path"],
        "weights"
    );
    let times = glb.floats(&sampler["input"]);
    assert_eq!(times[0], 0.0);
    assert!(times.windows(2).all(|t| t[1] > t[0]));
    let described = &glb.json["accessors"][number(&sampler["input"])];
    assert_eq!(
        described["max"][0].as_f64().unwrap() as f32,
        times[frames - 1]
    );
    let weights = glb.floats(&sampler["output"]);
    assert_eq!(weights.len(), frames * (frames - 1));

    // Played back: base plus weighted targets is the frame that was pushed.
    for frame in 0..frames {
        let mut shown = base.clone();
        for (target, weight) in targets.iter().zip(&weights[frame * (frames - 1)..]) {
            for (vertex, moved) in shown.iter_mut().zip(glb.vectors(&target["POSITION"])) {
                (0..3).for_each(|axis| vertex[axis] += weight * moved[axis]);
            }
        }
        for (shown, pushed) in shown.iter().zip(swollen(frame)) {
            assert!((DVec3::from(shown.map(f64::from)) - pushed).length() < 1e-8);
        }
    }
    for normal in glb.vectors(&primitive["attributes"]["NORMAL"]) {
        assert!((DVec3::from(normal.map(f64::from)).length() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn one_frame_is_a_still_and_bad_frames_are_refused() {
    let mut animation =
        GltfAnimation::new("a \"quoted\" name", Interpolation::Step, 0.0, &organ()).unwrap();
    let glb = Glb::open(&animation.to_glb().unwrap());
    assert!(glb.json.get("animations").is_none());
    assert!(
        glb.json["meshes"][0]["primitives"][0]
            .get("targets")
            .is_none()
    );
    assert_eq!(glb.json["nodes"][0]["name"], "a \"quoted\" name");

    assert!(matches!(
        animation.push(0.0, &swollen(1)),
        Err(ExportError::BadTime { .. })
    ));
    assert!(matches!(
        animation.push(1.0, &swollen(1)[1..]),
        Err(ExportError::WrongCount { .. })
    ));
    assert!(matches!(
        animation.push(1.0, &[DVec3::NAN; 50]),
        Err(ExportError::Surface(_))
    ));
    animation.push(100_000.0, &swollen(1)).unwrap();
    assert!(
        matches!(
            animation.push(100_000.000_001, &swollen(1)),
            Err(ExportError::BadTime { .. })
        ),
        "equal in f32"
    );
    assert_eq!(animation.frames(), 2);
}
