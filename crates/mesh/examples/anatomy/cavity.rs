//! What closes the picture: the wall with the diaphragm, the falciform ligament, and the fat of the omentum.

use crate::bowel::{colon, stomach};
use crate::field::{Tube, at, carve, hill, join, lobules, meet, noise, ramp};
use crate::liver::{Liver, falciform};
use glam::DVec3;

/// Negative inside the abdominal cavity, which gas keeps open; the diaphragm closes it behind the liver.
pub fn wall(p: DVec3) -> f64 {
    let q = ((p - at(20.0, 10.0, 20.0)) / at(208.0, 155.0, 240.0)).abs();
    let power = |x: f64| libm::pow(x, 2.5);
    let size = libm::pow(power(q.x) + power(q.y) + power(q.z), 0.4);
    // The ribs of the arch show through, the muscle of the diaphragm radiates.
    let arch = p.z + 0.8 * (p.x - 70.0).abs() - 60.0;
    let ribs = 2.2 * libm::sin(arch / 9.0) * ramp(60.0, -40.0, p.z) * ramp(0.0, 60.0, p.y);
    let creases = 3.0 * noise(p, 60.0, 51) + 1.2 * noise(p * at(1.0, 1.0, 0.4), 14.0, 52);
    160.0 * (size - 1.0) + ribs + creases
}

/// The falciform ligament: a thin fold from the liver's dome to the wall, the round ligament in its free edge.
pub struct Falciform {
    liver: Liver,
    edge: Tube,
}

impl Falciform {
    pub fn new() -> Self {
        let edge = [
            [73.0, 10.0, -30.0, 2.6],
            [74.0, 21.0, -8.0, 3.2],
            [75.5, 29.0, 12.0, 4.0],
            [77.0, 38.0, 27.0, 4.6],
            [80.0, 62.0, 38.0, 4.6],
            [83.0, 98.0, 48.0, 4.4],
            [85.0, 132.0, 60.0, 4.2],
            [86.0, 170.0, 76.0, 4.0],
        ];
        Self {
            liver: Liver::new(),
            edge: Tube::new(&edge),
        }
    }

    /// Negative inside.
    pub fn field(&self, p: DVec3) -> f64 {
        let ripple = 2.5 * noise(at(0.0, p.y, p.z), 30.0, 53);
        let sheet = (p.x - falciform(p) - ripple).abs() - 2.4;
        // In front of the free edge there is nothing.
        let free = 0.9 * (p.z - 26.0 - 0.33 * (p.y - 34.0));
        let fold = meet(meet(sheet, free, 2.0), 34.0 - p.y, 4.0);
        let fold = meet(fold, -self.liver.field(p) - 4.0, 1.0);
        let warped = p + 4.0 * at(noise(p, 9.0, 55), noise(p, 9.0, 56), noise(p, 9.0, 57));
        let fat = self.edge.wall(p) + 1.0 - 1.6 * lobules(warped, 8.0, 54);
        meet(join(fold, fat, 4.0), wall(p) - 3.0, 1.0)
    }
}

/// The greater omentum: an apron of lobulated fat that hangs from stomach and colon over all that lies behind.
pub struct Omentum {
    colon: Tube,
    stomach: Tube,
}

impl Omentum {
    pub fn new() -> Self {
        Self {
            colon: colon(),
            stomach: stomach(),
        }
    }

    /// Negative inside.
    pub fn field(&self, p: DVec3) -> f64 {
        // Behind the colon it is the fat over kidney and pancreas, which rises towards the liver; in front it hangs
        // in folds over the bowel.
        let kidney = 16.0 * hill((p.x + 62.0) / 42.0) * hill((p.z + 42.0) / 34.0);
        let lap = 16.0 * hill((p.x - 2.0) / 24.0) * hill((p.z - 18.0) / 24.0);
        let behind = -86.0 + 60.0 * ramp(0.0, -130.0, p.z) + kidney + lap;
        let folds = 5.0 * libm::sin((p.x + 9.0 * noise(p, 40.0, 68)) / 11.0 + p.z / 60.0);
        let apron = -92.0 + 12.0 * hill((p.z - 130.0) / 50.0) + folds;
        let height = behind
            + (apron - behind) * ramp(10.0, 80.0, p.z)
            + 9.0 * noise(at(p.x, 0.0, p.z), 48.0, 61);
        let floor = 0.9 * (p.y - height);
        // Fat climbs up the bowel that it hangs from.
        let colon = self.colon.place(p);
        let hem = colon.wall - 7.0 * ramp(-10.0, 40.0, p.z) - 3.0 * noise(p, 24.0, 62)
            + 26.0 * ramp(1.9, 0.5, colon.around.abs())
            + 6.0 * ramp(-30.0, -70.0, p.x);
        let stomach = self.stomach.place(p);
        // The greater curvature looks down and to the feet; the duodenum lies bare.
        let curvature = stomach.wall - 5.0
            + 22.0 * ramp(0.8, 1.7, (stomach.around + 2.2).abs())
            + 30.0 * ramp(182.0, 220.0, stomach.along);
        let body = join(join(floor, hem, 14.0), curvature, 10.0);
        let warped = p + 6.0 * at(noise(p, 21.0, 63), noise(p, 21.0, 64), noise(p, 21.0, 65));
        // Cells grow with the distance, and what they cannot show would stand out as spikes.
        let near = 0.35 + 0.65 * ramp(110.0, 50.0, p.z);
        let large = 12.0 * near * lobules(warped, 22.0, 66);
        let small = 2.6 * near * lobules(warped, 11.0, 67);
        let fat = body + 9.0 * near - large - small;
        carve(fat, stomach.wall, 4.0)
    }
}
