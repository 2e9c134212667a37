//! Stomach with duodenum, and the transverse colon with the right flexure.

use crate::field::{Tube, hill, noise, ramp};
use glam::DVec3;
use std::f64::consts::TAU;

/// Antrum, pylorus, duodenal bulb and the descending duodenum in one.
pub fn stomach() -> Tube {
    Tube::new(&[
        [196.0, 44.0, -110.0, 40.0],
        [205.0, 2.0, -54.0, 46.0],
        [190.0, -22.0, -10.0, 42.0],
        [160.0, -44.0, 20.0, 31.0],
        [132.0, -52.0, 30.0, 22.0],
        [115.0, -53.0, 30.0, 13.5],
        [100.0, -52.0, 29.0, 17.0],
        [78.0, -50.0, 27.0, 16.5],
        [56.0, -51.0, 21.0, 14.5],
        [38.0, -58.0, 16.0, 14.5],
        [30.0, -74.0, 20.0, 15.0],
        [30.0, -100.0, 34.0, 15.0],
        [34.0, -132.0, 52.0, 15.0],
    ])
}

/// Negative inside the stomach and the duodenum.
pub fn stomach_field(tube: &Tube, p: DVec3) -> f64 {
    let place = tube.place(p);
    // Waves run over the antrum; the duodenum is finely ringed.
    let waves = 1.3 * libm::sin(place.along / 5.6) * hill((place.along - 165.0) / 60.0);
    let rings = 0.5 * libm::sin(place.along / 1.75) * ramp(220.0, 255.0, place.along);
    place.wall - waves - rings + 1.6 * noise(p, 21.0, 31) + 0.6 * noise(p, 9.0, 32)
}

/// The path of the colon: ascending, right flexure under the liver, across towards the left flexure.
pub fn colon() -> Tube {
    Tube::new(&[
        [-128.0, -112.0, 110.0, 24.0],
        [-136.0, -88.0, 66.0, 25.0],
        [-122.0, -66.0, 28.0, 24.0],
        [-90.0, -62.0, 20.0, 23.0],
        [-58.0, -74.0, 36.0, 23.0],
        [-24.0, -88.0, 56.0, 22.0],
        [22.0, -96.0, 72.0, 22.0],
        [72.0, -94.0, 80.0, 22.0],
        [124.0, -84.0, 74.0, 22.0],
        [172.0, -68.0, 58.0, 22.0],
        [212.0, -44.0, 26.0, 22.0],
        [226.0, -12.0, -14.0, 22.0],
    ])
}

/// Negative inside the colon: haustra between three taeniae, set off by folds that do not go all the way round.
pub fn colon_field(tube: &Tube, p: DVec3) -> f64 {
    let place = tube.place(p);
    let third = TAU / 3.0;
    // Distance from the nearest taenia along the wall; one of them runs along the top.
    let turned = place.around - 0.5;
    let from_taenia = (turned - third * libm::round(turned / third)) * place.radius;
    let between = 1.0 - hill(from_taenia / 8.0);
    // Folds of neighbouring thirds are shifted against each other; the taeniae lie between the thirds.
    let row = libm::floor(turned / third);
    let uneven = 0.3 * noise(DVec3::splat(place.along), 45.0, 41);
    let phase = place.along / 27.0 + 0.37 * row + uneven;
    let from_fold = (phase - libm::round(phase)).abs();
    // Pouches: round on top, narrow clefts between.
    let pouch = 5.0 - 9.5 * hill(from_fold / 0.17);
    let taenia = 0.9 * hill(from_taenia / 3.0);
    place.wall - between * pouch - taenia + 0.8 * noise(p, 18.0, 42)
}
