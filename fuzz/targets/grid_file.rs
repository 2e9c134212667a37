//! Whatever is in the file of a distance grid, it is refused or gives a grid that answers and can be written again.

#![no_main]

use arbitrary::Arbitrary;
use glam::{DQuat, DVec3};
use libfuzzer_sys::fuzz_target;
use trocar_collide::grid::{Grid, MAGIC};
use trocar_math::Pose;

#[derive(Arbitrary, Debug)]
struct File {
    place: [f64; 5],
    size: [u8; 3],
    blocks: Vec<u8>,
    values: Vec<u8>,
    /// More values than its blocks have.
    more: i8,
    /// With its right sum, or without.
    sealed: bool,
    points: Vec<[f32; 3]>,
    turn: [f32; 4],
}

impl File {
    /// Whole in most respects: a file of random bytes would never come past the first check.
    fn bytes(&self) -> Vec<u8> {
        let size = self.size.map(|n| u32::from(n % 4));
        let count: u32 = size.iter().product();
        let kind = |k: u32| {
            let given = self.blocks.get(k as usize % self.blocks.len().max(1));
            given.copied().unwrap_or(1)
        };
        let blocks: Vec<u8> = (0..count).map(kind).collect();
        let points = |kind: &u8| match kind {
            1 => 125,
            2 => 8,
            _ => 0,
        };
        let values: u32 = blocks.iter().map(points).sum();
        let values = values.saturating_add_signed(self.more.into());
        let mut bytes = MAGIC.to_vec();
        self.place.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        size.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
        bytes.extend(values.to_le_bytes());
        bytes.extend(blocks);
        let given = self.values.iter().copied().cycle();
        let none = std::iter::repeat(0);
        bytes.extend(given.chain(none).take(16 * values as usize));
        let sum = crc32fast::hash(&bytes);
        bytes.extend(if self.sealed { sum } else { !sum }.to_le_bytes());
        bytes
    }
}

fuzz_target!(|file: File| {
    let bytes = file.bytes();
    let Ok(grid) = Grid::from_bytes(&bytes) else {
        return;
    };
    assert!(file.sealed);
    assert_eq!(grid.to_bytes(), bytes);
    let bounds = grid.bounds();
    let points: Vec<DVec3> = file
        .points
        .iter()
        .map(|p| bounds.low + DVec3::from(p.map(f64::from)) * bounds.size())
        .chain([bounds.low, bounds.high, bounds.centre()])
        .collect();
    let mut out = Vec::new();
    let _ = grid.detect(&Pose::IDENTITY, &points, 0.0, &mut out);
    for (k, p) in points.iter().enumerate() {
        let alone = grid.at(*p);
        assert!(alone.is_none_or(|at| at.depth.is_finite() && at.surface.is_finite()));
        // Many at once are found as one is, but for those that rounding may put on either side.
        let together = out.iter().any(|sunk| sunk.point as usize == k);
        let deep = alone.map_or(f64::NEG_INFINITY, |at| at.depth);
        let inside = (p - bounds.low).min_element() > 1e-6 * bounds.size().max_element()
            && (bounds.high - p).min_element() > 1e-6 * bounds.size().max_element();
        let near = bounds.low.abs().max_element() < 1e3 * bounds.size().min_element();
        if inside && near && together {
            assert!(alone.is_none() || deep > -1e-3 * bounds.size().max_element());
        }
    }
    let [x, y, z, w] = file.turn.map(f64::from);
    let pose = Pose::new(DVec3::new(x, y, z), DQuat::from_xyzw(x, y, z, w).normalize());
    let _ = grid.detect(&pose, &points, grid.cell(), &mut out);
});
