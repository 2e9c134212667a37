//! The interface between detection and whoever answers contacts (B76).

use trocar_math::{Bounds, Pose};

use super::{Contacts, Manifold, Pair, Regions, Scratch, Shape};

/// All colliders of a moment: three slices of the same length.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// What they are.
    pub shapes: &'a [Shape],
    /// Where they are.
    pub poses: &'a [Pose],
    /// How far from each a contact counts already, m. The margin of a pair is the sum. For resting contacts, the
    /// tolerance ε_c; for fast bodies more ([`Shape::reach`]), so that nothing is passed through between two steps.
    pub margins: &'a [f64],
}

impl World<'_> {
    /// The boxes for [`Broad`](super::Broad): around each shape, grown by its margin.
    pub fn bounds(&self, out: &mut Vec<Bounds>) {
        out.clear();
        out.extend((0..self.shapes.len()).map(|i| self.bound(i)));
    }

    /// One of them.
    pub fn bound(&self, i: usize) -> Bounds {
        self.shapes[i].bounds(&self.poses[i]).grown(self.margins[i])
    }

    /// The margin of `pair`, m.
    pub fn margin(&self, pair: Pair) -> f64 {
        self.margins[pair.a as usize] + self.margins[pair.b as usize]
    }
}

/// Finds where bodies touch (B74, B75). A detector remembers nothing: its answer depends on `world` alone.
pub trait Detector: Send + Sync {
    /// Adds the contacts of `pairs`, in their order, to `contacts`. Threads may share one detector and divide the pairs:
    /// each takes a stretch, with its own `scratch` and its own `contacts`, to be put together in order with
    /// [`Contacts::append`].
    fn narrow(
        &self,
        world: &World<'_>,
        pairs: &[Pair],
        scratch: &mut Scratch,
        contacts: &mut Contacts,
    );
}

/// One contact a pair: the deepest point, or the nearest (B102, after Mirtich).
///
/// Here for comparison. A box that rests on one point tips over it and back; a wall built so crawls apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deepest;

impl Detector for Deepest {
    fn narrow(
        &self,
        world: &World<'_>,
        pairs: &[Pair],
        scratch: &mut Scratch,
        contacts: &mut Contacts,
    ) {
        let mut all = std::mem::take(&mut scratch.pair);
        for &pair in pairs {
            all.clear();
            Regions.narrow(world, &[pair], scratch, &mut all);
            let points = all
                .manifolds
                .iter()
                .flat_map(|m| all.points_of(m).iter().map(move |point| (m, point)));
            if let Some((manifold, point)) = points.min_by(|x, y| x.1.gap.total_cmp(&y.1.gap)) {
                contacts.manifolds.push(Manifold {
                    first: contacts.points.len() as u32,
                    count: 1,
                    ..*manifold
                });
                contacts.points.push(*point);
            }
        }
        scratch.pair = all;
    }
}
