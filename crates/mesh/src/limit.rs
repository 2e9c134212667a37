//! How large a surface may be. Beyond these a file is a mistake or an attack, not an organ.

/// The most triangles a surface may have.
pub const MAX_TRIANGLES: usize = 10_000_000;

/// The most vertices a surface may have: an STL file repeats all three corners of every triangle.
pub const MAX_VERTICES: usize = 3 * MAX_TRIANGLES;

/// The largest coordinate, in the file's unit. Chosen so that volumes (cubes of it, summed over all triangles) stay far
/// from overflow and every position is finite as an `f32` too.
pub const MAX_COORDINATE: f64 = 1e12;

/// The largest file a reader opens, in bytes (1 GiB).
pub const MAX_FILE_BYTES: u64 = 1 << 30;
