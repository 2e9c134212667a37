//! The liver: a dome under the diaphragm, cut by its visceral surface; where the two meet is the sharp lower margin.

use crate::field::{Tube, at, carve, ellipsoid, hill, join, meet, noise, ramp};
use glam::DVec3;

/// The liver and what lies in its hollows.
pub struct Liver {
    gall_bladder: Tube,
    round_ligament: Tube,
    hilum: Tube,
}

impl Liver {
    pub fn new() -> Self {
        Self {
            gall_bladder: gall_bladder(),
            // The fissure of the round ligament, from the notch in the margin to the hilum.
            round_ligament: Tube::new(&[
                [76.0, 46.0, 40.0, 7.0],
                [75.0, 28.0, 18.0, 6.0],
                [73.0, 10.0, -18.0, 5.0],
                [70.0, -2.0, -52.0, 5.0],
            ]),
            // The porta hepatis runs across, behind the quadrate lobe.
            hilum: Tube::new(&[
                [44.0, 0.0, -46.0, 7.0],
                [60.0, -2.0, -54.0, 12.0],
                [82.0, 4.0, -60.0, 8.0],
            ]),
        }
    }

    /// Height of the visceral surface.
    fn underside(x: f64, z: f64) -> f64 {
        let slope = if z > 0.0 { 0.62 * z } else { 0.42 * z };
        let right = -34.0 * ramp(-45.0, -150.0, x);
        let quadrate = -5.0 * hill((x - 54.0) / 13.0) * ramp(-40.0, -8.0, z);
        let left = -10.0 * ramp(80.0, 105.0, x) * ramp(-60.0, -10.0, z);
        // The hepatic flexure of the colon and the kidney leave their impressions.
        let impressions = 7.0 * hill((x + 88.0) / 34.0) * hill((z + 8.0) / 36.0)
            + 9.0 * hill((x + 70.0) / 40.0) * hill((z + 80.0) / 34.0);
        11.0 + slope + 0.16 * x + right + quadrate + left + impressions
    }

    /// Negative inside the liver.
    pub fn field(&self, p: DVec3) -> f64 {
        let right = ellipsoid(p, at(-45.0, 5.0, -85.0), at(128.0, 101.0, 129.0));
        let left = ellipsoid(p, at(108.0, 38.0, -66.0), at(104.0, 48.0, 94.0));
        let margin = 5.0 * noise(p, 46.0, 11) + 2.0 * noise(p, 19.0, 12);
        // The front slopes down to the margin, more gently than a ball would.
        let front = 0.80 * (p.y - 34.0) + 0.60 * (p.z - 24.0) + 0.05 * (p.x - 20.0);
        let front = front - 10.0 * hill((p.x + 40.0) / 70.0);
        let dome = meet(join(right, left, 34.0), front, 46.0) + margin * ramp(70.0, 20.0, p.y);
        // Slopes make heights longer than distances.
        let below = 0.84 * (Self::underside(p.x, p.z) - p.y) + 1.6 * noise(p, 27.0, 13);
        let mut solid = meet(dome, below, 3.5);
        solid = carve(solid, self.round_ligament.wall(p), 7.0);
        solid = carve(solid, self.hilum.wall(p), 10.0);
        // The falciform ligament stands in a shallow groove of the dome.
        let groove = 2.6 * hill((p.x - falciform(p)) / 5.0) * ramp(20.0, 45.0, p.y);
        solid += groove;
        // A notch in the margin over the fundus, then the bed itself, hugging the gall bladder.
        solid = carve(solid, self.gall_bladder.wall(p) - 0.8, 7.0);
        // Barely nodular: enough for the light to play with.
        solid + 0.45 * noise(p, 9.0, 14) + 0.2 * noise(p, 4.6, 15)
    }
}

/// Where the falciform ligament stands on the dome: x for given y and z.
pub fn falciform(p: DVec3) -> f64 {
    78.0 + 0.05 * (p.y - 40.0) - 0.06 * (p.z - 30.0) + 2.0 * libm::sin(p.y / 17.0)
}

/// The gall bladder of scenes/gallbladder.toml as it is built: path, and the radius of its rings.
pub fn gall_bladder() -> Tube {
    Tube::new(&[
        [-46.0, -12.0, 13.0, 2.0],
        [-42.0, -11.2, 12.2, 10.0],
        [-36.0, -10.0, 11.0, 13.2],
        [-26.0, -8.0, 8.5, 15.2],
        [-10.0, -4.2, 4.0, 16.2],
        [3.0, -1.5, 0.0, 15.5],
        [14.0, -0.8, -3.4, 13.8],
        [23.0, -0.5, -6.5, 11.6],
        [30.0, 1.4, -9.3, 8.6],
        [36.0, 3.0, -11.6, 5.8],
        [41.5, 3.6, -13.2, 3.8],
        [44.0, 3.2, -13.8, 3.0],
    ])
}
