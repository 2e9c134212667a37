//! A surface over time in one binary glTF file, for Blender and everything on the web.

use std::path::Path;

use glam::DVec3;
use serde_json::{Value, json};

use super::glb::Buffer;
use super::{ExportError, atomic};
use crate::normals::normals_into;
use crate::surface::{self, Surface};

/// The most frames of an animation. Every frame is a morph target and every key sets the weight of all of them, so the
/// weights grow with the square: at this many they take 16 MB.
pub const MAX_FRAMES: usize = 2000;

/// The most bytes of numbers: half of what the format's 32-bit lengths hold.
const MAX_BYTES: usize = 1 << 31;

/// What is shown between two frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// The one before: shows just what was computed.
    Step,
    /// A blend of both: plays smoothly.
    #[default]
    Linear,
}

/// Frames of one deforming surface, to be written as a morph-target animation (`.glb`, glTF 2.0).
///
/// The first frame is the mesh; every other frame is a morph target, and the animation fades from one to the next. The
/// triangles never change: for tears and cuts use [`super::VtkSeries`]. Metres and y up, as glTF has them.
#[derive(Debug, Clone)]
pub struct GltfAnimation {
    name: String,
    interpolation: Interpolation,
    triangles: Vec<[u32; 3]>,
    /// Seconds since the first frame.
    times: Vec<f32>,
    first_time: f64,
    last_time: Option<f64>,
    shapes: Vec<Shape>,
    /// Kept from frame to frame so as not to allocate.
    normals: Vec<DVec3>,
}

/// A frame as it is written: for the first, positions and normals; for the others, differences from the first.
#[derive(Debug, Clone)]
struct Shape {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
}

impl GltfAnimation {
    /// Starts an animation whose first frame is `surface` at `time`, s. `name` is what Blender calls the object.
    pub fn new(
        name: &str,
        interpolation: Interpolation,
        time: f64,
        surface: &Surface,
    ) -> Result<Self, ExportError> {
        surface.check()?;
        let mut animation = Self {
            name: name.into(),
            interpolation,
            triangles: surface.triangles.clone(),
            times: Vec::new(),
            first_time: time,
            last_time: None,
            shapes: Vec::new(),
            normals: Vec::new(),
        };
        animation.push(time, &surface.positions)?;
        Ok(animation)
    }

    /// Adds a frame at `time`, s, later than the one before, with the same vertices elsewhere, m.
    pub fn push(&mut self, time: f64, positions: &[DVec3]) -> Result<(), ExportError> {
        ExportError::unless_after(self.last_time, time)?;
        // In single precision, two late and close frames may fall together, which the format forbids.
        let since_start = (time - self.first_time) as f32;
        ExportError::unless_after(
            self.times.last().map(|&t| f64::from(t)),
            f64::from(since_start),
        )?;
        surface::check_positions(positions)?;
        let vertices = self
            .shapes
            .first()
            .map_or(positions.len(), |first| first.positions.len());
        ExportError::unless_matching("the frame", positions.len(), vertices)?;
        let bytes =
            (self.shapes.len() + 1).saturating_mul(24 * vertices) + 12 * self.triangles.len();
        if self.shapes.len() >= MAX_FRAMES || bytes > MAX_BYTES {
            return Err(ExportError::TooLong);
        }
        normals_into(positions, &self.triangles, &mut self.normals);
        let first = self.shapes.first();
        let shape = Shape {
            positions: differences(positions, first.map(|f| &f.positions)),
            normals: differences(&self.normals, first.map(|f| &f.normals)),
        };
        self.shapes.push(shape);
        self.times.push(since_start);
        self.last_time = Some(time);
        Ok(())
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.shapes.len()
    }

    /// Writes the file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ExportError> {
        atomic::write(path.as_ref(), &self.to_glb()?)
    }

    /// The bytes of a `.glb` file.
    pub fn to_glb(&self) -> Result<Vec<u8>, ExportError> {
        let (first, targets) = self.shapes.split_first().ok_or(ExportError::NoFrames)?;
        let mut buffer = Buffer::default();
        let indices = buffer.add_indices(self.triangles.as_flattened());
        let attributes = |buffer: &mut Buffer, shape: &Shape| json!({ "POSITION": buffer.add_vectors(&shape.positions), "NORMAL": buffer.add_vectors(&shape.normals) });
        let mut primitive = json!({ "attributes": attributes(&mut buffer, first), "indices": indices, "material": 0 });
        let mut mesh = json!({ "name": self.name });
        let mut document = json!({
            "asset": { "version": "2.0", "generator": "Trocar" },
            "scene": 0,
            "scenes": [{ "nodes": [0] }],
            "nodes": [{ "name": self.name, "mesh": 0 }],
            "materials": [{
                "name": "tissue",
                "doubleSided": true,
                "pbrMetallicRoughness": { "baseColorFactor": [0.72, 0.33, 0.28, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.45 },
            }],
        });
        if !targets.is_empty() {
            let morphs: Vec<Value> = targets
                .iter()
                .map(|shape| attributes(&mut buffer, shape))
                .collect();
            primitive["targets"] = Value::Array(morphs);
            mesh["weights"] = json!(vec![0.0; targets.len()]);
            // Not in the standard, but where Blender and three.js look for the names of shapes.
            let names: Vec<String> = self.times[1..]
                .iter()
                .map(|time| format!("{time:.3} s"))
                .collect();
            mesh["extras"] = json!({ "targetNames": names });
            document["animations"] = json!([self.animation(&mut buffer)]);
        }
        mesh["primitives"] = json!([primitive]);
        document["meshes"] = json!([mesh]);
        if buffer.len() > MAX_BYTES {
            return Err(ExportError::TooLong);
        }
        Ok(buffer.into_glb(document))
    }

    /// At the time of each frame, its target has weight one and all others zero; at the first, all are zero.
    fn animation(&self, buffer: &mut Buffer) -> Value {
        let targets = self.shapes.len() - 1;
        let mut weights = vec![0.0_f32; self.shapes.len() * targets];
        for target in 0..targets {
            weights[(target + 1) * targets + target] = 1.0;
        }
        let input = buffer.add_scalars(&self.times, true);
        let output = buffer.add_scalars(&weights, false);
        let interpolation = match self.interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
        };
        json!({
            "name": self.name,
            "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
        })
    }
}

/// `values` less `base`, rounded once: a viewer that adds them in `f32` comes as near as it can.
fn differences(values: &[DVec3], base: Option<&Vec<[f32; 3]>>) -> Vec<[f32; 3]> {
    let Some(base) = base else {
        return values.iter().map(|v| v.as_vec3().to_array()).collect();
    };
    let difference =
        |(v, b): (&DVec3, &[f32; 3])| (*v - DVec3::from(b.map(f64::from))).as_vec3().to_array();
    values.iter().zip(base).map(difference).collect()
}
