//! Makes the liver of `scenes/parts/liver.obj`: a wedge with a rounded dome, a thin front edge and a shallow
//! bed for the gall bladder. Not anybody's liver.
//!
//! ```text
//! cargo run -p trocar-mesh --example liver -- scenes/parts/liver.obj
//! ```

use glam::DVec3;
use trocar_mesh::{export::write_obj, primitive::TubeShape};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    let mut liver = TubeShape {
        path: vec![
            DVec3::new(-0.150, 0.046, -0.030),
            DVec3::new(-0.080, 0.062, -0.034),
            DVec3::new(0.020, 0.066, -0.040),
            DVec3::new(0.120, 0.058, -0.046),
        ],
        radii: vec![
            [0.060, 0.030],
            [0.078, 0.040],
            [0.072, 0.036],
            [0.046, 0.020],
        ],
        up: DVec3::Y,
        rings: 44,
        around: 48,
    }
    .organ()?
    .surface;
    for p in &mut liver.positions {
        *p = shaped(*p);
    }
    liver.check()?;
    write_obj(&path, &liver)?;
    println!("{path}: {} triangles", liver.triangles.len());
    Ok(())
}

fn shaped(mut p: DVec3) -> DVec3 {
    // The underside is flatter than the dome, and rises towards the front edge.
    let middle = 0.056;
    if p.y < middle {
        p.y = middle + (p.y - middle) * 0.62;
    }
    let front = ((p.z + 0.02) / 0.06).clamp(0.0, 1.0);
    p.y = middle + (p.y - middle) * (1.0 - 0.55 * front);
    // The bed: a shallow trough along the gall bladder.
    let along = ((p.x + 0.004) / 0.045).abs();
    let across = ((p.z - 0.004) / 0.026).abs();
    let depth = (1.0 - along * along).max(0.0) * (1.0 - across * across).max(0.0);
    if p.y < middle {
        p.y += 0.010 * depth;
    }
    // Gentle waves, so that light has something to play with.
    let wave = libm::sin(61.0 * p.x + 1.3) * libm::sin(73.0 * p.z)
        + 0.6 * libm::sin(131.0 * p.x - 97.0 * p.z);
    p.y += 0.0007 * wave;
    p
}
