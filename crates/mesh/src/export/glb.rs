//! The container of binary glTF: a JSON chunk and a buffer of accessors.

use serde_json::{Value, json};

/// Numbers in a glTF buffer and the JSON that describes them.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

/// glTF's code for a vertex buffer.
pub(super) const VERTICES: u32 = 34962;
/// glTF's code for an index buffer.
pub(super) const INDICES: u32 = 34963;

impl Buffer {
    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds `f32` vectors with their smallest and largest components, which viewers need to frame the scene.
    pub fn add_vectors(&mut self, vectors: &[[f32; 3]]) -> usize {
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for vector in vectors {
            for axis in 0..3 {
                bounds[0][axis] = bounds[0][axis].min(vector[axis]);
                bounds[1][axis] = bounds[1][axis].max(vector[axis]);
            }
        }
        let bytes: Vec<u8> = vectors
            .as_flattened()
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let accessor = json!({ "componentType": 5126, "count": vectors.len(), "type": "VEC3", "min": bounds[0], "max": bounds[1] });
        self.add(&bytes, Some(VERTICES), accessor)
    }

    /// Adds vertex indices.
    pub fn add_indices(&mut self, indices: &[u32]) -> usize {
        let bytes: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        self.add(
            &bytes,
            Some(INDICES),
            json!({ "componentType": 5125, "count": indices.len(), "type": "SCALAR" }),
        )
    }

    /// Adds single numbers: times or weights. For times, which ascend, glTF wants the first and the last.
    pub fn add_scalars(&mut self, numbers: &[f32], ascending: bool) -> usize {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut accessor =
            json!({ "componentType": 5126, "count": numbers.len(), "type": "SCALAR" });
        if let (true, Some(first), Some(last)) = (ascending, numbers.first(), numbers.last()) {
            accessor["min"] = json!([first]);
            accessor["max"] = json!([last]);
        }
        self.add(&bytes, None, accessor)
    }

    /// Everything here is made of four-byte numbers, so every view starts aligned.
    fn add(&mut self, bytes: &[u8], target: Option<u32>, mut accessor: Value) -> usize {
        let mut view =
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        accessor["bufferView"] = json!(self.views.len());
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// The whole file: `document` with the buffer's description added, then the buffer.
    pub fn into_glb(self, mut document: Value) -> Vec<u8> {
        document["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        document["bufferViews"] = Value::Array(self.views);
        document["accessors"] = Value::Array(self.accessors);
        let mut json = document.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + json.len() + 8 + self.bytes.len();
        let mut file = Vec::with_capacity(total);
        file.extend(b"glTF");
        file.extend(2_u32.to_le_bytes());
        file.extend((total as u32).to_le_bytes());
        file.extend((json.len() as u32).to_le_bytes());
        file.extend(b"JSON");
        file.extend(json);
        file.extend((self.bytes.len() as u32).to_le_bytes());
        file.extend(b"BIN\0");
        file.extend(self.bytes);
        file
    }
}
