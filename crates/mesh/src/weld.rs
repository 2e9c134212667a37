//! Joining vertices that stand in the same place.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};

use crate::surface::Surface;

impl Surface {
    /// Makes vertices within `tolerance` (m) of each other one, and returns how many went away.
    ///
    /// Each vertex joins the first one before it that is near enough, which keeps its place; a chain of close vertices
    /// does not collapse. A `tolerance` that is not above zero joins only equal positions. Vertices that are not finite
    /// are left alone. Triangles keep their order; some may now name a vertex twice (see [`Surface::repair`]).
    pub fn weld(&mut self, tolerance: f64) -> usize {
        let origin = self
            .positions
            .iter()
            .copied()
            .filter(|p| p.is_finite())
            .reduce(DVec3::min)
            .unwrap_or_default();
        let tolerance = if tolerance > 0.0 && tolerance.is_finite() {
            tolerance
        } else {
            0.0
        };
        // A cell twice as wide as the tolerance: what is near enough lies in one of eight cells, and a cell holds few
        // kept vertices, as they are all further apart than the tolerance. Lookups only, so hash order never shows.
        let cell_of = |p: DVec3| {
            if tolerance > 0.0 {
                ((p - origin) / (2.0 * tolerance)).floor().as_i64vec3()
            } else {
                // Adding zero makes −0 into 0, which is the same place.
                I64Vec3::from((p + 0.0).to_array().map(|x| x.to_bits() as i64))
            }
        };
        let mut cells: HashMap<I64Vec3, Vec<u32>> = HashMap::new();
        let mut kept: Vec<DVec3> = Vec::with_capacity(self.positions.len());
        let mut moved_to = Vec::with_capacity(self.positions.len());

        for &position in &self.positions {
            let near = |&&vertex: &&u32| kept[vertex as usize].distance(position) <= tolerance;
            let found = if position.is_finite() {
                neighbours(
                    cell_of(position),
                    cell_of(position - tolerance),
                    cell_of(position + tolerance),
                )
                .filter_map(|cell| cells.get(&cell)?.iter().find(near).copied())
                .min()
            } else {
                None
            };
            moved_to.push(found.unwrap_or_else(|| {
                let vertex = kept.len() as u32;
                kept.push(position);
                cells.entry(cell_of(position)).or_default().push(vertex);
                vertex
            }));
        }

        let welded = self.positions.len() - kept.len();
        if welded > 0 {
            self.positions = kept;
            self.renumber(&moved_to);
        }
        welded
    }

    /// Removes vertices that no triangle uses, and returns how many went away. The others keep their order.
    pub fn remove_unreferenced(&mut self) -> usize {
        let mut used = vec![false; self.positions.len()];
        for &vertex in self.triangles.as_flattened() {
            if let Some(used) = used.get_mut(vertex as usize) {
                *used = true;
            }
        }
        let mut moved_to = Vec::with_capacity(used.len());
        let mut next = 0;
        for &used in &used {
            moved_to.push(next);
            next += u32::from(used);
        }
        let mut keep = used.into_iter();
        let before = self.positions.len();
        self.positions.retain(|_| keep.next().unwrap_or(false));
        if self.positions.len() < before {
            self.renumber(&moved_to);
        }
        before - self.positions.len()
    }

    /// Gives every corner its vertex's new number; corners without a vertex keep pointing nowhere.
    fn renumber(&mut self, moved_to: &[u32]) {
        for vertex in self.triangles.as_flattened_mut() {
            *vertex = moved_to.get(*vertex as usize).copied().unwrap_or(u32::MAX);
        }
    }
}

/// The cells from `low` to `high`, at most eight; only `own` if they are no range (exact welding).
fn neighbours(own: I64Vec3, low: I64Vec3, high: I64Vec3) -> impl Iterator<Item = I64Vec3> {
    let is_range = low.cmple(own).all()
        && own.cmple(high).all()
        && high.saturating_sub(low).cmple(I64Vec3::ONE).all();
    let (low, high) = if is_range { (low, high) } else { (own, own) };
    (low.x..=high.x).flat_map(move |x| {
        (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| I64Vec3::new(x, y, z)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(xs: &[f64]) -> Surface {
        let positions = xs.iter().map(|&x| DVec3::new(x, 0.0, 0.0)).collect();
        Surface {
            positions,
            triangles: vec![[0, 1, 2]],
        }
    }

    #[test]
    fn welds_equal_places_exactly() {
        let mut surface = line(&[1.0, 0.0, -0.0, 1.0, 1.0 + 1e-15]);
        assert_eq!(surface.weld(0.0), 2);
        assert_eq!(surface.positions.len(), 3);
        assert_eq!(surface.triangles, [[0, 1, 1]]);
    }

    #[test]
    fn welds_within_a_tolerance_across_cells() {
        // Steps of 0.9 tolerance: each kept vertex takes its right neighbour, chains do not collapse.
        let xs: Vec<f64> = (0..100).map(|i| 0.9 * i as f64).collect();
        let mut surface = line(&xs);
        assert_eq!(surface.weld(1.0), 50);
        assert!(surface.positions.windows(2).all(|p| p[1].x - p[0].x > 1.0));
    }

    #[test]
    fn absurd_vertices_and_corners_survive() {
        let mut surface = line(&[f64::NAN, f64::INFINITY, 1e308, 1e308, -1e308, 0.0]);
        surface.triangles.push([2, 3, 77]);
        assert_eq!(surface.clone().weld(1e-9), 1);
        assert_eq!(surface.weld(0.0), 1);
        assert_eq!(surface.remove_unreferenced(), 2);
        assert_eq!(surface.triangles, [[0, 1, 2], [2, 2, u32::MAX]]);
    }
}
