//! Scissors that cut a membrane and take nothing away (W80, M22).

use super::Travel;
use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_math::rotation;
use trocar_mesh::sheet::Refusal;
use trocar_soft::membrane::Membrane;

/// A blade that turns by more than this, rad, sweeps a surface of several strips.
const STRIP: f64 = 0.2;

/// Scissors, by the blade that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scissors {
    /// Ends of the blade in the tool's frame, m.
    pub blade: [DVec3; 2],
}

impl Scissors {
    /// The triangles that the blade sweeps on its way, m.
    pub fn swept(&self, travel: &Travel) -> Vec<[DVec3; 3]> {
        let turn = travel.to.rotation * travel.from.rotation.conjugate();
        let angle = rotation::to_scaled_axis(turn).length();
        let strips = trocar_math::real::ceil(angle / STRIP).clamp(1.0, 64.0) as u32;
        let blade = |k: u32| {
            let pose = travel.at(f64::from(k) / f64::from(strips));
            self.blade.map(|p| pose.point(p))
        };
        (0..strips)
            .flat_map(|k| {
                let ([a, b], [c, d]) = (blade(k), blade(k + 1));
                [[a, b, d], [a, d, c]]
            })
            // A blade that turns about its own end sweeps no second triangle.
            .filter(|[a, b, c]| (*b - *a).cross(*c - *a) != DVec3::ZERO)
            .collect()
    }

    /// Cuts the membrane where the blade goes through it; how many edges were opened. [`Membrane::event`] says what became of the
    /// sheet, for tools that hold it.
    pub fn cut(
        &self,
        membrane: &mut Membrane,
        nodes: &mut Nodes,
        travel: &Travel,
    ) -> Result<usize, Refusal> {
        membrane.cut(nodes, &self.swept(travel))
    }
}
