//! Triangles that a needle may reach (W39, W56, W57, W130), looked for once a frame and again only when the margin is used up.

use super::needle::Held;
use trocar_collide::Capsule;
use trocar_dynamics::Nodes;
use trocar_math::{Bounds, Four, f64x4, four::LANES};
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

/// The triangles that may be reached, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    pub(super) candidates: Vec<Candidate>,
    /// Corners of each, by place.
    pub(super) corners: Vec<[u32; 3]>,
    old: Vec<Candidate>,
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
        let Bounds { low, high } = ways.grown(from.radius + bulge + margin);
        let sheet = membrane.sheet();
        std::mem::swap(&mut self.old, &mut self.candidates);
        // Nobody said what became of the sheet: what is remembered may mean other triangles now.
        if self.version != Some(sheet.version()) {
            self.old.clear();
        }
        self.candidates.clear();
        self.corners.clear();
        let mut old = self.old.iter().peekable();
        for (slot, corners) in membrane.triangles() {
            while old.next_if(|o| o.triangle.slot() < slot).is_some() {}
            let before = old.next_if(|o| o.triangle.slot() == slot);
            let triangle = sheet.triangle_at(slot);
            let held = before.filter(|o| o.triangle == triangle).map(|o| o.held);
            let [a, b, c] = corners.map(|n| nodes.position[n as usize]);
            let (least, most) = (a.min(b).min(c), a.max(b).max(c));
            // Written so that what is no number is near. What the needle has leapt over has to come back from wherever it is.
            let away = least.cmpgt(high).any() || most.cmplt(low).any();
            if away && !held.is_some_and(|h| h.has_passed()) {
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
        self.version = Some(sheet.version());
    }

    /// Whether all that can be reached is known, after nodes have gone `way` (m) more at most.
    pub(super) fn still_knows(&mut self, membrane: &Membrane, way: f64) -> bool {
        self.margin -= way;
        self.margin >= 0.0 && self.version == Some(membrane.sheet().version())
    }

    /// Lets what is remembered follow the membrane's last event. The list itself is found anew at the next look.
    pub(super) fn follow(&mut self, membrane: &Membrane) {
        let (sheet, event) = (membrane.sheet(), membrane.event());
        if event.is_empty() {
            return;
        }
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

/// Greatest speed of all nodes, m/s. (What is no number does not count: whoever moves the nodes reports it.)
pub(super) fn fastest(nodes: &Nodes) -> f64 {
    let (fours, rest) = nodes.velocity.as_chunks::<LANES>();
    let mut most = f64x4::ZERO;
    for four in fours {
        most = Four::load(four).length_squared().fast_max(most);
    }
    let rest = rest.iter().map(|v| v.length_squared());
    let all = most.to_array().into_iter().chain(rest);
    all.fold(0.0, f64::max).sqrt()
}
