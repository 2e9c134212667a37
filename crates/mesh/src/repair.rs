//! Making the best of a surface that came from outside.

use std::fmt;

use glam::DVec3;

use crate::sides::{Side, same_edge, sides};
use crate::surface::{Surface, usable};

/// How near, as a part of the bounding diagonal, vertices are one: a hundredth of what an `f32` file can tell apart, so
/// only vertices that were meant to be the same are joined. On a liver of 0.3 m it is a third of a nanometre.
const WELD_FRACTION: f64 = 1e-9;

/// What [`Surface::repair`] found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repair {
    /// Triangles dropped because a vertex is missing or not a usable number.
    pub invalid: usize,
    /// Vertices joined to another in the same place.
    pub welded: usize,
    /// Triangles dropped because two corners are the same vertex.
    pub degenerate: usize,
    /// Triangles dropped because another has the same three vertices.
    pub duplicate: usize,
    /// How many of the `duplicate` ones stood out from the surface as a fold without thickness: both sides are dropped.
    pub fins: usize,
    /// Vertices removed because no triangle uses them.
    pub unreferenced: usize,
    /// Triangles turned over so that neighbours agree, or so that a closed piece faces outwards.
    pub flipped: usize,
    /// Pieces that cannot be oriented, like a Möbius strip. Left as they are.
    pub unorientable: usize,
    /// Triangles with three different corners on a line. Kept: dropping them would tear a hole.
    pub slivers: usize,
}

impl Repair {
    /// Whether nothing had to be changed.
    pub fn changed_nothing(&self) -> bool {
        Repair {
            unorientable: 0,
            slivers: 0,
            ..*self
        } == Repair::default()
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.invalid, "invalid triangles dropped"),
            (self.welded, "vertices welded"),
            (self.degenerate, "degenerate triangles dropped"),
            (self.duplicate, "duplicate triangles dropped"),
            (self.fins, "of these in fins"),
            (self.unreferenced, "unused vertices removed"),
            (self.flipped, "triangles turned over"),
            (self.unorientable, "pieces that cannot be oriented"),
            (self.slivers, "slivers kept"),
        ];
        let said: Vec<_> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        if said.is_empty() {
            f.write_str("nothing to repair")
        } else {
            f.write_str(&said.join(", "))
        }
    }
}

impl Surface {
    /// Welds, drops what is no triangle, removes what is unused, and orients: neighbours alike, closed pieces outwards.
    ///
    /// Total: whatever the surface holds, afterwards all indices and numbers are sound (it may be empty, so still
    /// [`Surface::check`] it). Deterministic: it depends on nothing but the surface, and keeps its order. Doing it twice
    /// changes nothing more. A closed piece inside another is turned outwards too: a cavity must be turned back by hand.
    pub fn repair(&mut self) -> Repair {
        let invalid = self.drop_invalid();
        let stray = self.remove_unreferenced();
        let diagonal = self.bounds().map_or(0.0, |b| b.diagonal());
        let welded = self.weld(WELD_FRACTION * diagonal);
        let degenerate = self.drop_degenerate();
        let (duplicate, fins) = self.drop_duplicates();
        let unreferenced = stray + self.remove_unreferenced();
        let (flipped, unorientable) = self.orient();
        let slivers = self.count_slivers();
        Repair {
            invalid,
            welded,
            degenerate,
            duplicate,
            fins,
            unreferenced,
            flipped,
            unorientable,
            slivers,
        }
    }

    fn drop_invalid(&mut self) -> usize {
        let positions = &self.positions;
        drop_unless(&mut self.triangles, |triangle| {
            triangle
                .iter()
                .all(|&v| positions.get(v as usize).is_some_and(|&p| usable(p)))
        })
    }

    fn drop_degenerate(&mut self) -> usize {
        drop_unless(&mut self.triangles, |[a, b, c]| a != b && b != c && c != a)
    }

    /// Keeps the first of all triangles with the same vertices, whichever way round, unless they are a fin. Returns how
    /// many went, and how many of these were in fins.
    fn drop_duplicates(&mut self) -> (usize, usize) {
        let key = |mut triangle: [u32; 3]| {
            triangle.sort_unstable();
            triangle
        };
        let mut order: Vec<_> = self
            .triangles
            .iter()
            .enumerate()
            .map(|(i, &t)| (key(t), i))
            .collect();
        order.sort_unstable();
        let mut copies = vec![0; order.len()];
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            copies[group[0].1] = group.len();
        }
        let mut is_first = copies.iter().map(|&n| n > 0);
        let duplicate = drop_unless(&mut self.triangles, |_| is_first.next().unwrap_or(false));
        if duplicate == 0 {
            return (0, 0);
        }
        copies.retain(|&n| n > 0);
        let fins = self.find_fins(&copies);
        let mut is_fin = fins.into_iter();
        let fin_triangles = drop_unless(&mut self.triangles, |_| !is_fin.next().unwrap_or(false));
        (duplicate + fin_triangles, 2 * fin_triangles)
    }

    /// Which triangles were a fin: a fold without thickness that stands on a surface which is whole without it. Keeping
    /// one side of it would open a closed surface.
    ///
    /// Told by its edges: each has no other triangle (the free edges) or two (where it stands). A doubled triangle that
    /// belongs to the surface has one other on each edge. The order of corners is no help: it may be wrong as well.
    fn find_fins(&self, copies: &[usize]) -> Vec<bool> {
        let (mut even, mut standing) = (vec![true; copies.len()], vec![false; copies.len()]);
        for group in sides(self).chunk_by(same_edge) {
            let others = group.len() - 1;
            for side in group {
                even[side.triangle as usize] &= others.is_multiple_of(2);
                standing[side.triangle as usize] |= others >= 2;
            }
        }
        let is_fin = |t: usize| copies[t].is_multiple_of(2) && even[t] && standing[t];
        (0..copies.len()).map(is_fin).collect()
    }

    /// Returns how many triangles were turned over, and how many pieces cannot be oriented.
    fn orient(&mut self) -> (usize, usize) {
        let sides = sides(self);
        let neighbours = Neighbours::new(self.triangles.len(), &sides);
        let centre = self.bounds().map_or(DVec3::ZERO, |b| b.centre());
        let mut turn: Vec<Option<bool>> = vec![None; self.triangles.len()];
        let (mut flipped, mut unorientable) = (0, 0);

        for seed in 0..self.triangles.len() {
            if turn[seed].is_some() {
                continue;
            }
            let patch = neighbours.spread(seed, &mut turn);
            if !patch.orientable {
                unorientable += 1;
                patch.triangles.iter().for_each(|&t| turn[t] = Some(false));
                continue;
            }
            let turned = |t: usize| turn[t] == Some(true);
            let invert = if patch.closed {
                let volume: f64 = patch
                    .triangles
                    .iter()
                    .filter_map(|&t| {
                        let [a, b, c] = self.corners(self.triangles[t])?.map(|p| p - centre);
                        Some(if turned(t) {
                            -a.dot(b.cross(c))
                        } else {
                            a.dot(b.cross(c))
                        })
                    })
                    .sum();
                volume < 0.0
            } else {
                // An open piece has no outside: change as little as possible.
                2 * patch.triangles.iter().filter(|&&t| turned(t)).count() > patch.triangles.len()
            };
            for &t in &patch.triangles {
                if turn[t] == Some(!invert) {
                    self.triangles[t].swap(1, 2);
                    flipped += 1;
                }
            }
        }
        (flipped, unorientable)
    }

    fn count_slivers(&self) -> usize {
        let flat = |&&triangle: &&[u32; 3]| {
            self.corners(triangle).is_some_and(|[a, b, c]| {
                let (u, v) = (b - a, c - a);
                // The sine of the angle at the first corner, compared with rounding error.
                u.cross(v).length() <= 1e-14 * u.length() * v.length()
            })
        };
        self.triangles.iter().filter(flat).count()
    }
}

/// Keeps the triangles that are `good` and returns how many went.
fn drop_unless(triangles: &mut Vec<[u32; 3]>, good: impl FnMut(&[u32; 3]) -> bool) -> usize {
    let before = triangles.len();
    triangles.retain(good);
    before - triangles.len()
}

/// For each side of each triangle, the triangle across and whether the two disagree about outside.
struct Neighbours {
    across: Vec<[Option<(u32, bool)>; 3]>,
}

/// Triangles that hang together by edges with two triangles each.
struct Patch {
    triangles: Vec<usize>,
    closed: bool,
    orientable: bool,
}

impl Neighbours {
    /// Only edges with exactly two triangles join: where three walls meet there is no telling which continues which.
    fn new(triangles: usize, sides: &[Side]) -> Self {
        let mut across = vec![[None; 3]; triangles];
        for group in sides.chunk_by(same_edge) {
            if let [a, b] = group {
                let twisted = a.forward == b.forward;
                across[a.triangle as usize][a.start as usize] = Some((b.triangle, twisted));
                across[b.triangle as usize][b.start as usize] = Some((a.triangle, twisted));
            }
        }
        Self { across }
    }

    /// Walks the patch of `seed`, noting in `turn` which triangles must turn over to agree with it.
    fn spread(&self, seed: usize, turn: &mut [Option<bool>]) -> Patch {
        let mut patch = Patch {
            triangles: vec![seed],
            closed: true,
            orientable: true,
        };
        turn[seed] = Some(false);
        let mut done = 0;
        while done < patch.triangles.len() {
            let here = patch.triangles[done];
            done += 1;
            for neighbour in self.across[here] {
                let Some((there, twisted)) = neighbour else {
                    patch.closed = false;
                    continue;
                };
                let wanted = turn[here] == Some(!twisted);
                match turn[there as usize] {
                    None => {
                        turn[there as usize] = Some(wanted);
                        patch.triangles.push(there as usize);
                    }
                    Some(turned) => patch.orientable &= turned == wanted,
                }
            }
        }
        patch
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::surface::tests::tetrahedron;

    #[test]
    fn a_soup_turned_inside_out_becomes_a_solid() {
        let solid = tetrahedron();
        let mut soup = Surface::default();
        for (i, &triangle) in solid.triangles.iter().enumerate() {
            soup.positions.extend(solid.corners(triangle).unwrap());
            let first = 3 * i as u32;
            soup.triangles.push([first, first + 2, first + 1]);
        }
        soup.triangles[2].swap(0, 1);
        soup.triangles.extend([[0, 1, 1], [0, 2, 1], [7, 8, 99]]);
        soup.positions.push(DVec3::NAN);

        let report = soup.repair();
        assert_eq!(
            (
                report.welded,
                report.invalid,
                report.degenerate,
                report.duplicate
            ),
            (8, 1, 1, 1)
        );
        assert_eq!((report.flipped, report.unreferenced), (3, 1));
        assert!(soup.topology().is_closed() && soup.topology().is_oriented());
        assert!((soup.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert_eq!(soup.check(), Ok(()));
    }

    #[test]
    fn a_sound_surface_is_left_alone() {
        let mut surface = tetrahedron();
        let report = surface.repair();
        assert!(report.changed_nothing());
        assert_eq!(report.to_string(), "nothing to repair");
        assert_eq!(surface, tetrahedron());
    }

    #[test]
    fn a_fin_goes_and_a_doubled_triangle_stays_once() {
        let mut surface = tetrahedron();
        surface.positions.push(DVec3::ONE);
        surface.triangles.extend([[0, 1, 4], [1, 0, 4], [2, 1, 0]]);
        let report = surface.repair();
        assert_eq!(
            (report.duplicate, report.fins, report.unreferenced),
            (3, 2, 1)
        );
        assert_eq!(surface, tetrahedron());

        // A sheet with two sides becomes a sheet: it stands on nothing.
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y];
        let mut sheet = Surface {
            positions,
            triangles: vec![[0, 1, 2], [0, 2, 3], [0, 2, 1], [0, 3, 2]],
        };
        let report = sheet.repair();
        assert_eq!(
            (report.duplicate, report.fins, sheet.triangles.len()),
            (2, 0, 2)
        );
    }

    #[test]
    fn a_moebius_strip_is_reported_and_left_alone() {
        let positions = (0..5)
            .map(|i| {
                DVec3::new(
                    libm::cos(i as f64),
                    libm::sin(i as f64),
                    0.1 * (i * i) as f64,
                )
            })
            .collect();
        let triangles = (0..5).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
        let mut strip = Surface {
            positions,
            triangles,
        };
        let before = strip.clone();
        assert_eq!(strip.repair().unorientable, 1);
        assert_eq!(strip, before);
    }

    #[test]
    fn slivers_are_kept_and_counted() {
        let positions = vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X];
        let mut surface = Surface {
            positions,
            triangles: vec![[0, 1, 2]],
        };
        let report = surface.repair();
        assert_eq!((report.slivers, surface.triangles.len()), (1, 1));
    }

    proptest! {
        #[test]
        fn repair_is_total_and_done_once(
            points in prop::collection::vec(prop::array::uniform3(-2_i8..2), 0..12),
            triangles in prop::collection::vec(prop::array::uniform3(0_u32..14), 0..24),
            poison in any::<Option<(usize, f64)>>(),
        ) {
            let mut positions: Vec<DVec3> = points.iter().map(|p| DVec3::from(p.map(f64::from))).collect();
            if let (Some((at, value)), false) = (poison, positions.is_empty()) {
                let at = at % positions.len();
                positions[at].z = value;
            }
            let mut surface = Surface { positions, triangles };
            surface.repair();
            prop_assert!(surface.triangles.is_empty() || surface.check().is_ok());
            let again = surface.clone().repair();
            prop_assert!(again.changed_nothing(), "{again}");
        }
    }
}
