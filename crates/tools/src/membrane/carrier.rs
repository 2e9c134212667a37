//! How Eyesi's needle worked before forces (W141, M20): once a frame, nodes of triangles that meet the tool's boxes are put where they were relative to the tool a
//! frame ago. It is kept to compare with: it needs four times the substeps, has no friction to choose, and glues the sheet to the tool.

use super::Travel;
use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_soft::membrane::Membrane;

/// A box in the tool's frame, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolBox {
    /// Its middle.
    pub centre: DVec3,
    /// Half of its sides, each > 0.
    pub half: DVec3,
}

/// A tool that carries what it meets; see the [module](self).
#[derive(Clone, Debug)]
pub struct Carrier {
    boxes: Vec<ToolBox>,
    /// Where all nodes were in the tool's frame when the frame began, m.
    before: Vec<DVec3>,
}

impl Carrier {
    /// Checks the boxes; the reason why not, if they can't be used.
    pub fn new(boxes: Vec<ToolBox>) -> Result<Self, &'static str> {
        let sound = |b: &ToolBox| {
            b.centre.is_finite() && b.half.is_finite() && b.half.cmpgt(DVec3::ZERO).all()
        };
        if boxes.is_empty() || !boxes.iter().all(sound) {
            return Err("a carrier needs boxes with finite sides above 0");
        }
        let before = Vec::new();
        Ok(Self { boxes, before })
    }

    /// Begins a frame: remembers where all nodes are, seen from the tool.
    pub fn begin(&mut self, nodes: &Nodes, travel: Travel) {
        self.before.clear();
        let local = nodes.position.iter().map(|p| travel.from.local(*p));
        self.before.extend(local);
    }

    /// Ends a frame: puts nodes of triangles that meet a box back to where they were, seen from the tool; how many.
    pub fn end(&self, membrane: &Membrane, nodes: &mut Nodes, travel: Travel) -> usize {
        let mut met: Vec<u32> = Vec::new();
        for (_, corners) in membrane.triangles() {
            let local = corners.map(|n| travel.to.local(nodes.position[n as usize]));
            if self.boxes.iter().any(|b| meets(b, local)) {
                met.extend(corners);
            }
        }
        met.sort_unstable();
        met.dedup();
        // Nodes made by a tear within the frame were nowhere before.
        met.retain(|n| (*n as usize) < self.before.len());
        for n in &met {
            nodes.position[*n as usize] = travel.to.point(self.before[*n as usize]);
        }
        met.len()
    }
}

/// Whether a triangle and a box share a point: no axis of thirteen parts them.
fn meets(of: &ToolBox, corners: [DVec3; 3]) -> bool {
    let [a, b, c] = corners.map(|p| p - of.centre);
    let sides = [b - a, c - b, a - c];
    let parts = |axis: DVec3| {
        let (x, y, z) = (axis.dot(a), axis.dot(b), axis.dot(c));
        let reach = of.half.dot(axis.abs());
        x.min(y).min(z) > reach || x.max(y).max(z) < -reach
    };
    let crosses = DVec3::AXES
        .into_iter()
        .flat_map(|axis| sides.map(|s| axis.cross(s)));
    let normal = sides[0].cross(sides[1]);
    let mut axes = DVec3::AXES.into_iter().chain([normal]).chain(crosses);
    !axes.any(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_meets_what_shares_a_point_with_it() {
        let unit = ToolBox {
            centre: DVec3::new(1.0, 0.0, 0.0),
            half: DVec3::splat(0.5),
        };
        let beside = [DVec3::ZERO, DVec3::Y, DVec3::Z];
        assert!(!meets(&unit, beside));
        assert!(meets(&unit, beside.map(|p| p + DVec3::X * 0.6)));
        // Through it, with all corners outside.
        let through = [
            DVec3::new(1.0, -5.0, -5.0),
            DVec3::new(1.0, 5.0, -5.0),
            DVec3::new(1.0, 0.0, 9.0),
        ];
        assert!(meets(&unit, through));
        // Past an edge of it, where no side of the box parts them.
        let slanted = [
            DVec3::new(2.2, 0.0, -3.0),
            DVec3::new(2.2, 0.0, 3.0),
            DVec3::new(1.0, 1.2, 0.0),
        ];
        assert!(!meets(&unit, slanted));
        assert!(meets(&unit, slanted.map(|p| p - DVec3::new(0.3, 0.3, 0.0))));
    }
}
