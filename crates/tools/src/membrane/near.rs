//! Triangles that a needle may reach (W39, W56, W57, W130), looked for among all once a frame, and when their margin is used up among those of a wide
//! neighbourhood.

use super::needle::Held;
use glam::DVec3;
use trocar_collide::Capsule;
use trocar_dynamics::Nodes;
use trocar_math::{
    Bounds, Four, f64x4,
    four::{LANES, flat},
};
use trocar_mesh::sheet::TriangleId;
use trocar_soft::membrane::Membrane;

/// A triangle that may be reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) triangle: TriangleId,
    /// Which of its sides are rims.
    pub(super) open: [bool; 3],
    pub(super) held: Held,
}

/// Triangles in a wide neighbourhood, so that those that may be reached need not be looked for among all.
#[derive(Clone, Debug, Default)]
struct Wide {
    /// Their places, in order; some may be gone.
    places: Vec<u32>,
    /// All that came into this when it was looked at last are among them.
    bounds: Option<Bounds>,
    /// Way that nodes may have gone since, m.
    gone: f64,
    /// Of the sheet as it is known.
    version: u64,
}

/// How far the wide neighbourhood reaches beyond the near one, in radii of the needle: some hundred triangles of the size that a needle is made for.
const WIDE: f64 = 8.0;

impl Wide {
    /// Whether whatever comes into `low` … `high` now is known.
    fn knows(&self, version: u64, low: DVec3, high: DVec3) -> bool {
        let gone = DVec3::splat(self.gone);
        self.version == version
            && self.bounds.is_some_and(|b| {
                let (least, most) = (b.low + gone, b.high - gone);
                least.cmple(low).all() && most.cmpge(high).all()
            })
    }

    /// Looks at all triangles; those of `kept` are taken in wherever they are.
    fn gather(&mut self, membrane: &Membrane, nodes: &Nodes, bounds: Bounds, kept: &[Candidate]) {
        self.places.clear();
        for (slot, corners) in membrane.triangles() {
            if !is_away(nodes, corners, bounds.low, bounds.high) {
                self.places.push(slot as u32);
            }
        }
        let passed = kept.iter().filter(|c| c.held.has_passed());
        self.places.extend(passed.map(|c| c.triangle.slot() as u32));
        self.places.sort_unstable();
        self.places.dedup();
        self.bounds = Some(bounds);
        self.gone = 0.0;
        self.version = membrane.sheet().version();
    }

    /// Takes in what an edit has made or changed; it costs what the edit costs.
    fn follow(&mut self, membrane: &Membrane) {
        let version = membrane.sheet().version();
        if version.checked_sub(1) != Some(self.version) {
            return;
        }
        let new = membrane.event().after.iter();
        self.places.extend(new.map(|t| t.slot() as u32));
        self.places.sort_unstable();
        self.places.dedup();
        self.version = version;
    }
}

/// Whether a triangle is beside `low` … `high`. Written so that what is no number is near.
fn is_away(nodes: &Nodes, corners: [u32; 3], low: DVec3, high: DVec3) -> bool {
    let [a, b, c] = corners.map(|n| nodes.position[n as usize]);
    let (least, most) = (a.min(b).min(c), a.max(b).max(c));
    least.cmpgt(high).any() || most.cmplt(low).any()
}

/// The triangles that may be reached, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    pub(super) candidates: Vec<Candidate>,
    /// Corners of each, by place.
    pub(super) corners: Vec<[u32; 3]>,
    old: Vec<Candidate>,
    wide: Wide,
    /// Way that nodes may go before others can be reached, m.
    margin: f64,
    /// Of the sheet as it was looked at last.
    version: Option<u64>,
}

impl Near {
    /// Finds all triangles that come within `margin` (m) of what the needle sweeps from `from` to `to`; `bulge` (m) is how far it may leave the
    /// straight way between them. What is remembered of triangles that stay is kept; the others let go (W137).
    pub(super) fn gather(
        &mut self,
        membrane: &Membrane,
        nodes: &Nodes,
        [from, to]: [&Capsule; 2],
        bulge: f64,
        margin: f64,
    ) {
        let ways = Bounds::of([from.a, from.b, to.a, to.b]);
        let bounds = ways.grown(from.radius + bulge + margin);
        let Bounds { low, high } = bounds;
        let sheet = membrane.sheet();
        std::mem::swap(&mut self.old, &mut self.candidates);
        // Nobody said what became of the sheet: what is remembered may mean other triangles now.
        if self.version != Some(sheet.version()) {
            self.old.clear();
        }
        self.candidates.clear();
        self.corners.clear();
        if !self.wide.knows(sheet.version(), low, high) {
            let wide = bounds.grown(WIDE * from.radius + margin);
            self.wide.gather(membrane, nodes, wide, &self.old);
        }
        let mut old = self.old.iter().peekable();
        for slot in self.wide.places.iter().map(|slot| *slot as usize) {
            while old.next_if(|o| o.triangle.slot() < slot).is_some() {}
            let before = old.next_if(|o| o.triangle.slot() == slot);
            let Some(corners) = membrane.corners_at(slot) else {
                continue;
            };
            let triangle = sheet.triangle_at(slot);
            let held = before.filter(|o| o.triangle == triangle).map(|o| o.held);
            // What the needle has leapt over has to come back from wherever it is.
            if is_away(nodes, corners, low, high) && !held.is_some_and(|h| h.has_passed()) {
                continue;
            }
            self.candidates.push(Candidate {
                triangle,
                open: sheet.sides(triangle).map(|side| sheet.is_rim(side)),
                held: held.unwrap_or_default(),
            });
            self.corners.push(corners);
        }
        self.margin = margin;
        self.version = Some(sheet.version());
    }

    /// A frame begins: nobody knows how far nodes have gone since the last.
    pub(super) fn begin(&mut self) {
        self.wide.bounds = None;
    }

    /// Takes over what another knows, in memory that it has.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.candidates.clone_from(&other.candidates);
        self.corners.clone_from(&other.corners);
        (self.margin, self.version) = (other.margin, other.version);
    }

    /// Takes up what is remembered of triangles of a sheet, by place in ascending order.
    pub(super) fn resume(&mut self, membrane: &Membrane, held: &[(u32, Held)]) {
        let sheet = membrane.sheet();
        self.candidates.clear();
        self.candidates
            .extend(held.iter().map(|(slot, held)| Candidate {
                triangle: sheet.triangle_at(*slot as usize),
                open: [false; 3],
                held: *held,
            }));
        // The list itself is found anew at the next look.
        self.corners.clear();
        self.margin = -1.0;
        self.wide.bounds = None;
        self.version = Some(sheet.version());
    }

    /// Whether all that can be reached is known, after nodes have gone `way` (m) more at most.
    pub(super) fn still_knows(&mut self, membrane: &Membrane, way: f64) -> bool {
        self.margin -= way;
        self.wide.gone += way;
        self.margin >= 0.0 && self.version == Some(membrane.sheet().version())
    }

    /// Lets what is remembered follow the membrane's last event. The list itself is found anew at the next look.
    pub(super) fn follow(&mut self, membrane: &Membrane) {
        let (sheet, event) = (membrane.sheet(), membrane.event());
        if event.is_empty() {
            return;
        }
        self.wide.follow(membrane);
        for candidate in &mut self.candidates {
            candidate.follow(sheet, event);
        }
        self.candidates.sort_by_key(|c| c.triangle.slot());
        // Two that come to lie on one triangle: the first speaks for both.
        self.candidates.dedup_by_key(|c| c.triangle);
        self.corners.clear();
        self.version = Some(sheet.version());
        self.margin = -1.0;
    }
}

/// Nodes that are glanced at together, in fours.
const GLANCE: usize = 4;

/// Greatest speed of all nodes, m/s. (What is no number does not count: whoever moves the nodes reports it.)
///
/// This is asked in every substep of all nodes, so most of them are only glanced at: with the greatest coordinate m, no square of a speed is above 3 m², rounded or not.
pub(super) fn fastest(nodes: &Nodes) -> f64 {
    let (fours, rest) = nodes.velocity.as_chunks::<LANES>();
    let (groups, few) = fours.as_chunks::<GLANCE>();
    let exactly = |fours: &[[DVec3; LANES]], so_far: f64| {
        let squares = fours.iter().map(|four| Four::load(four).length_squared());
        let most = squares.fold(f64x4::ZERO, |most, square| square.fast_max(most));
        most.to_array().into_iter().fold(so_far, f64::max)
    };
    let mut most = 0.0;
    for group in groups {
        let mut glance = f64x4::ZERO;
        for four in group {
            let [a, b, c] = flat(four);
            // What is no number leaves what is there.
            glance = (a * a).fast_max(glance);
            glance = (b * b).fast_max(glance);
            glance = (c * c).fast_max(glance);
        }
        let above = (glance * f64x4::splat(3.0)).simd_gt(f64x4::splat(most));
        if above.to_bitmask() != 0 {
            most = exactly(group, most);
        }
    }
    let rest = rest.iter().map(|v| v.length_squared());
    rest.fold(exactly(few, most), f64::max).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_finds_the_speed_that_a_close_look_finds() {
        for count in [0, 3, 16, 97, 1000] {
            for seed in 0..20_u32 {
                let mut nodes = Nodes::at_rest(&[], &vec![DVec3::ZERO; count]);
                for (n, v) in nodes.velocity.iter_mut().enumerate() {
                    let n = f64::from(n as u32 * 31 + seed * 17);
                    let part = |k: f64| (n * k) % 1.0 - 0.5;
                    *v = DVec3::new(part(0.37), part(0.61), part(0.83)) * ((n * 0.19) % 1.0);
                }
                if let Some(v) = nodes.velocity.get_mut(40) {
                    *v = DVec3::new(f64::NAN, 7.0, 0.0);
                }
                let all = nodes.velocity.iter().map(|v| v.length_squared());
                let expected = all.fold(0.0, f64::max).sqrt();
                assert_eq!(fastest(&nodes).to_bits(), expected.to_bits());
            }
        }
    }
}
