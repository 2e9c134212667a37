//! The hepatoduodenal ligament: bile ducts on the right, arteries on the left, the portal vein behind, fat around.

use crate::field::{Tube, at, carve, join, lobules, noise, ramp};
use crate::liver::gall_bladder;
use glam::DVec3;

/// What runs in the ligament, from the hilum to the duodenum.
pub struct Ligament {
    bile: Vec<Tube>,
    arteries: Vec<Tube>,
    vein: Vec<Tube>,
    fat: Vec<Tube>,
    gall_bladder: Tube,
    cystic_duct: Tube,
}

impl Ligament {
    pub fn new() -> Self {
        Self {
            bile: vec![
                // Common hepatic duct, common bile duct.
                Tube::new(&[
                    [61.0, -3.0, -56.0, 3.4],
                    [63.5, -9.0, -42.0, 3.6],
                    [66.5, -16.0, -21.0, 4.0],
                    [67.0, -30.0, 2.0, 4.2],
                    [63.0, -46.0, 20.0, 4.2],
                    [62.0, -54.0, 24.0, 4.0],
                ]),
                // Right and left hepatic duct.
                Tube::new(&[
                    [61.0, -3.0, -56.0, 3.2],
                    [54.0, 2.0, -63.0, 2.8],
                    [42.0, 8.0, -70.0, 2.4],
                ]),
                Tube::new(&[
                    [61.0, -3.0, -56.0, 3.2],
                    [70.0, 2.0, -64.0, 2.8],
                    [84.0, 8.0, -70.0, 2.4],
                ]),
                // The last of the cystic duct, where it runs along the common one.
                Tube::new(&[
                    [65.0, -13.0, -20.0, 2.9],
                    [67.0, -19.0, -15.0, 2.4],
                    [67.5, -27.0, -4.0, 2.0],
                ]),
            ],
            arteries: vec![
                // Common hepatic artery out of the depth, proper hepatic artery up the ligament, its left branch.
                Tube::new(&[
                    [132.0, -66.0, -10.0, 3.0],
                    [110.0, -50.0, -6.0, 3.0],
                    [90.0, -36.0, 2.0, 2.8],
                    [80.0, -24.0, -8.0, 2.7],
                    [77.0, -15.0, -26.0, 2.5],
                    [80.0, -7.0, -44.0, 2.0],
                    [85.0, 1.0, -60.0, 1.7],
                ]),
                // Gastroduodenal artery, down behind the duodenum.
                Tube::new(&[
                    [90.0, -36.0, 2.0, 2.5],
                    [86.0, -42.0, 14.0, 2.3],
                    [82.0, -56.0, 26.0, 2.2],
                ]),
                // Right hepatic artery, behind the common hepatic duct into Calot's triangle.
                Tube::new(&[
                    [77.0, -15.0, -26.0, 2.2],
                    [70.0, -13.5, -36.0, 2.0],
                    [62.0, -13.0, -42.0, 1.9],
                    [54.0, -6.5, -42.0, 1.8],
                    [48.0, 1.0, -50.0, 1.6],
                ]),
            ],
            vein: vec![
                Tube::new(&[
                    [66.0, -6.0, -64.0, 7.0],
                    [71.0, -17.0, -45.0, 7.4],
                    [76.0, -27.0, -20.0, 7.8],
                    [77.5, -41.0, 4.0, 8.0],
                    [77.0, -58.0, 20.0, 8.0],
                ]),
                Tube::new(&[[66.0, -6.0, -64.0, 6.0], [50.0, 4.0, -72.0, 5.0]]),
                Tube::new(&[[66.0, -6.0, -64.0, 6.0], [86.0, 4.0, -72.0, 4.5]]),
            ],
            // Fat lies behind what should be seen.
            fat: vec![
                Tube::new(&[
                    [66.0, -10.0, -62.0, 9.0],
                    [70.0, -27.0, -44.0, 10.0],
                    [74.0, -37.0, -22.0, 12.5],
                    [75.0, -50.0, 0.0, 14.0],
                    [70.0, -64.0, 12.0, 16.0],
                ]),
                Tube::new(&[
                    [82.0, -19.0, -40.0, 7.0],
                    [86.0, -32.0, -14.0, 9.0],
                    [98.0, -48.0, -4.0, 12.0],
                    [128.0, -66.0, -12.0, 18.0],
                ]),
                Tube::new(&[
                    [63.0, -23.0, -30.0, 6.0],
                    [62.5, -36.0, -2.0, 7.5],
                    [58.0, -54.0, 14.0, 8.0],
                ]),
                // The floor of Calot's triangle.
                Tube::new(&[
                    [56.0, -17.0, -44.0, 7.0],
                    [49.0, -9.0, -32.0, 5.0],
                    [40.0, -3.0, -24.0, 3.0],
                ]),
            ],
            gall_bladder: gall_bladder(),
            cystic_duct: Tube::new(&[
                [44.0, 3.2, -13.8, 3.0],
                [50.0, 0.5, -14.0, 3.0],
                [55.0, -5.5, -14.5, 3.0],
                [60.0, -9.5, -17.5, 3.0],
                [66.0, -15.0, -20.5, 3.0],
            ]),
        }
    }

    /// Negative inside the bile ducts.
    pub fn bile(&self, p: DVec3) -> f64 {
        united(&self.bile, p, 3.0) + 0.15 * noise(p, 7.0, 21)
    }

    /// Negative inside the arteries.
    pub fn arteries(&self, p: DVec3) -> f64 {
        united(&self.arteries, p, 1.6)
    }

    /// Negative inside the portal vein.
    pub fn vein(&self, p: DVec3) -> f64 {
        united(&self.vein, p, 5.0) + 0.3 * noise(p, 12.0, 22)
    }

    /// Negative inside the fat of the ligament, which leaves the front of ducts and vessels bare.
    pub fn fat(&self, p: DVec3) -> f64 {
        let warped = p + 3.0 * at(noise(p, 11.0, 23), noise(p, 11.0, 24), noise(p, 11.0, 25));
        let lumps = 2.6 * lobules(warped, 11.0, 26) + 0.6 * noise(p, 5.0, 27);
        let fat = united(&self.fat, p, 9.0) + 1.8 - lumps;
        // It hugs the vessels without covering them, and keeps clear of what moves.
        let hugging = join(
            united(&self.bile, p, 3.0),
            united(&self.arteries, p, 2.0),
            2.0,
        );
        let front = ramp(-0.6, 1.2, hugging);
        let fat = fat + 1.2 * (1.0 - front) * ramp(-4.0, 2.0, fat);
        let moving = self.gall_bladder.wall(p).min(self.cystic_duct.wall(p));
        carve(fat, moving - 2.5, 3.0)
    }
}

/// Tubes that grow out of each other.
fn united(tubes: &[Tube], p: DVec3, fillet: f64) -> f64 {
    let walls = tubes.iter().map(|tube| tube.wall(p));
    walls.fold(f64::MAX, |all, wall| join(all, wall, fillet))
}
