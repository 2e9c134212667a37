//! Volumes of what moves and keeps its form, without its nodes (H57, H58).

use super::Hybrid;
use glam::{DMat3, DVec3};
use trocar_math::{Bounds, Pose};

impl Hybrid {
    /// Becomes the tree of `rest` where a rigid motion has carried it: nodes at p are at `pose.point(p)` now. Spheres go along; of each box the turned one is boxed again,
    /// which is larger than a refit would make it by up to √3 and costs nothing for its triangles. The next [`refit`](Self::refit) keeps none of them, whatever the
    /// [slack](super::Rules::slack). A pose that is no number is anywhere: all volumes hold everything.
    pub fn carry(&mut self, rest: &Self, pose: &Pose) {
        self.clone_from(rest);
        let known = pose.position.is_finite() && pose.rotation.is_finite();
        let turn = DMat3::from_quat(pose.rotation);
        let size = DMat3::from_cols(turn.x_axis.abs(), turn.y_axis.abs(), turn.z_axis.abs());
        for node in &mut self.nodes {
            let (middle, half) = (node.bounds.centre(), 0.5 * node.bounds.size());
            if !(known && middle.is_finite()) {
                node.bounds = Bounds::of([DVec3::NAN]);
                node.enclose();
                continue;
            }
            // What rounding may take away, here and where nodes are carried; rotations are of length 1 but for rounding.
            let far = pose.position.abs().element_sum() + middle.abs().element_sum();
            let lost = 32.0 * f64::EPSILON * (far + half.element_sum());
            let centre = pose.point(middle);
            let reach = size * half + lost;
            node.bounds = Bounds {
                low: centre - reach,
                high: centre + reach,
            };
            node.centre = centre;
            node.radius += lost;
            // Around the old box: the new one has corners outside.
            node.round = false;
        }
    }
}
