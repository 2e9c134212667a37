//! The matter that one solve may read and push.

use crate::{Anchor, Matter, MatterId, Nodes, anchor::Support};
use glam::{DMat3, DVec3};

/// All matter of a model, and the shares of state of one group of it.
pub struct Cast<'a> {
    /// Every matter of the model, by [`MatterId`].
    pub matters: &'a [Box<dyn Matter>],
    /// For every matter its place in `nodes`.
    pub slot: &'a [u32],
    /// The shares of this group.
    pub nodes: &'a mut [Nodes],
}

impl Cast<'_> {
    /// The nodes an anchor rests on; a node that only copies another is replaced by its leader.
    pub fn support(&self, anchor: &Anchor) -> Support {
        let mut support = Support::of(anchor);
        for (matter, point, _) in support.parts_mut() {
            if let Some((leader, node)) = self.matters[matter.index()].leader(point.node) {
                *matter = leader;
                point.node = node;
            }
        }
        support
    }

    fn share(&self, matter: usize) -> (&dyn Matter, &Nodes) {
        (
            &*self.matters[matter],
            &self.nodes[self.slot[matter] as usize],
        )
    }

    fn sum(
        &self,
        support: &Support,
        of: impl Fn(&dyn Matter, &Nodes, &crate::Point) -> DVec3,
    ) -> DVec3 {
        support
            .parts()
            .iter()
            .fold(DVec3::ZERO, |sum, (matter, point, weight)| {
                let (matter, nodes) = self.share(matter.index());
                sum + of(matter, nodes, point) * *weight
            })
    }

    /// Position, m.
    pub fn position(&self, support: &Support) -> DVec3 {
        self.sum(support, |matter, nodes, point| {
            matter.position(nodes, point)
        })
    }

    /// Velocity, m/s.
    pub fn velocity(&self, support: &Support) -> DVec3 {
        self.sum(support, |matter, nodes, point| {
            matter.velocity(nodes, point)
        })
    }

    /// Position after `h` seconds if left alone, m.
    pub fn preview(&self, support: &Support, h: f64) -> DVec3 {
        self.sum(support, |matter, nodes, point| {
            matter.preview(nodes, point, h)
        })
    }

    /// ∂ (preview(b) − preview(a)) / ∂ impulse, the impulse pushing `b` and its opposite `a`.
    pub fn response(&self, a: &Support, b: &Support, h: f64) -> DMat3 {
        self.pairs((a, b), (a, b), |matter, nodes, p, q| {
            matter.response(nodes, p, q, h)
        })
    }

    /// ∂ (velocity(b) − velocity(a)) / ∂ impulse, likewise.
    pub fn mobility(&self, a: &Support, b: &Support) -> DMat3 {
        self.pairs((a, b), (a, b), |matter, nodes, p, q| {
            matter.mobility(nodes, p, q)
        })
    }

    /// Sum over the points of two pairs, those of `a` counted negative.
    pub(crate) fn pairs(
        &self,
        i: (&Support, &Support),
        j: (&Support, &Support),
        of: impl Fn(&dyn Matter, &Nodes, &crate::Point, &crate::Point) -> DMat3,
    ) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for (matter, p, w) in signed(i) {
            for (other, q, v) in signed(j) {
                if matter == other && !self.matters[matter.index()].is_prescribed() {
                    let (matter, nodes) = self.share(matter.index());
                    sum += of(matter, nodes, p, q) * (w * v);
                }
            }
        }
        sum
    }

    /// Pushes `b` by `impulse` (N·s) and `a` by its opposite.
    pub fn push(&mut self, a: &Support, b: &Support, impulse: DVec3, h: f64) {
        for (support, sign) in [(a, -1.0), (b, 1.0)] {
            for (matter, point, weight) in support.parts() {
                let matter = matter.index();
                let nodes = &mut self.nodes[self.slot[matter] as usize];
                self.matters[matter].push(nodes, point, impulse * (sign * weight), h);
            }
        }
    }
}

fn signed<'a>(
    (a, b): (&'a Support, &'a Support),
) -> impl Iterator<Item = (&'a MatterId, &'a crate::Point, f64)> {
    let minus = a.parts().iter().map(|(m, p, w)| (m, p, -w));
    minus.chain(b.parts().iter().map(|(m, p, w)| (m, p, *w)))
}
