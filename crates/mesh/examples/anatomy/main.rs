//! Makes the meshes of `scenes/parts`: the field of a laparoscopic cholecystectomy as the endoscope sees it, with the
//! proportions of textbooks. Nobody's anatomy in particular.
//!
//! ```text
//! cargo run -p trocar-mesh --example anatomy -- scenes/parts
//! ```
//!
//! A name after the folder makes that mesh alone. Axes as in `scenes/gallbladder.toml`: x to the patient's left, y to the
//! front, z to the feet. The same program gives the same bytes.

mod bowel;
mod cavity;
mod field;
mod ligament;
mod liver;

use cavity::{Falciform, Omentum};
use field::at;
use glam::DVec3;
use ligament::Ligament;
use liver::Liver;
use std::path::Path;
use trocar_mesh::{
    Bounds, Surface,
    export::write_obj,
    implicit::{Grid, relax, surface},
};

type Error = Box<dyn std::error::Error>;

/// What the endoscope looks at, mm: here the cells are smallest.
const FOCUS: Bounds = Bounds {
    min: at(-50.0, -40.0, -50.0),
    max: at(98.0, 40.0, 45.0),
};

/// A mesh to be made.
struct Part {
    name: &'static str,
    /// Where it lies, mm.
    bounds: Bounds,
    /// Size of a cell in the focus, mm, and how much it grows with every mm of distance.
    cell: f64,
    growth: f64,
    field: Box<dyn Fn(DVec3) -> f64>,
}

fn part(
    name: &'static str,
    (min, max): (DVec3, DVec3),
    (cell, growth): (f64, f64),
    field: impl Fn(DVec3) -> f64 + 'static,
) -> Part {
    Part {
        name,
        bounds: Bounds { min, max },
        cell,
        growth,
        field: Box::new(field),
    }
}

fn parts() -> Vec<Part> {
    let [bile, arteries, vein, fat] = [(); 4].map(|()| Ligament::new());
    let (liver, falciform, omentum) = (Liver::new(), Falciform::new(), Omentum::new());
    let (stomach, colon) = (bowel::stomach(), bowel::colon());
    vec![
        part(
            "liver",
            (at(-180.0, -60.0, -220.0), at(215.0, 112.0, 60.0)),
            (4.8, 0.1),
            move |p| liver.field(p),
        ),
        part(
            "bile_ducts",
            (at(38.0, -72.0, -76.0), at(90.0, 14.0, 38.0)),
            (1.9, 0.02),
            move |p| bile.bile(p),
        ),
        part(
            "arteries",
            (at(4.0, -72.0, -66.0), at(138.0, 18.0, 32.0)),
            (1.3, 0.01),
            move |p| arteries.arteries(p),
        ),
        part(
            "portal_vein",
            (at(40.0, -76.0, -80.0), at(96.0, 14.0, 30.0)),
            (3.2, 0.02),
            move |p| vein.vein(p),
        ),
        part(
            "ligament",
            (at(30.0, -92.0, -78.0), at(150.0, 8.0, 46.0)),
            (2.5, 0.04),
            move |p| fat.fat(p),
        ),
        part(
            "stomach",
            (at(10.0, -150.0, -160.0), at(260.0, 92.0, 72.0)),
            (3.6, 0.05),
            move |p| bowel::stomach_field(&stomach, p),
        ),
        part(
            "colon",
            (at(-170.0, -142.0, -44.0), at(256.0, 16.0, 140.0)),
            (4.2, 0.02),
            move |p| bowel::colon_field(&colon, p),
        ),
        part(
            "omentum",
            (at(-190.0, -140.0, -200.0), at(230.0, -12.0, 250.0)),
            (4.8, 0.10),
            move |p| omentum.field(p),
        ),
        part(
            "wall",
            (at(-200.0, -156.0, -232.0), at(240.0, 176.0, 272.0)),
            (14.0, 0.07),
            cavity::wall,
        ),
        part(
            "falciform",
            (at(62.0, 8.0, -130.0), at(98.0, 172.0, 156.0)),
            (2.9, 0.05),
            move |p| falciform.field(p),
        ),
    ]
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name the folder to write to")?;
    let only = arguments.next();
    for part in parts() {
        if only.as_ref().is_none_or(|only| only == part.name) {
            make(&part, Path::new(&folder)).map_err(|e| format!("{}: {e}", part.name))?;
        }
    }
    Ok(())
}

fn make(part: &Part, folder: &Path) -> Result<(), Error> {
    let mut mesh = net(part)?;
    relax(&mut mesh, &part.field, 3);
    keep_largest(&mut mesh);
    match part.name {
        "wall" => seen_from_within(&mut mesh),
        "omentum" => cut_below(&mut mesh, -128.0),
        _ => {}
    }
    // A hundredth of a millimetre, in metres: files of half the size.
    for p in &mut mesh.positions {
        *p = (*p * 100.0).round() / 1e5;
    }
    mesh.repair();
    mesh.check()?;
    write_obj(folder.join(part.name).with_extension("obj"), &mesh)?;
    println!("{}: {}", part.name, mesh.topology());
    Ok(())
}

/// The surface of a part. Where two walls come nearer than a cell they may run into each other; a grid of slightly
/// smaller cells meets them elsewhere.
fn net(part: &Part) -> Result<Surface, Error> {
    let mut cell = part.cell;
    for _ in 0..12 {
        let mesh = surface(
            &Grid::around(part.bounds, FOCUS, cell, part.growth)?,
            &part.field,
        );
        let topology = mesh.topology();
        if topology.is_closed() && topology.is_manifold() {
            return Ok(mesh);
        }
        cell *= 0.985;
    }
    Err("it is no closed manifold; use smaller cells, or thicker walls".into())
}

/// Drops crumbs that noise has cut off.
fn keep_largest(mesh: &mut Surface) {
    let mut piece: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    // Every vertex takes the lowest number among its neighbours until nothing changes.
    loop {
        let mut changed = false;
        for triangle in &mesh.triangles {
            let least = triangle
                .map(|v| piece[v as usize])
                .into_iter()
                .min()
                .unwrap_or(0);
            for &v in triangle {
                changed |= piece[v as usize] != least;
                piece[v as usize] = least;
            }
        }
        if !changed {
            break;
        }
    }
    let mut sizes = vec![0_usize; mesh.positions.len()];
    mesh.triangles
        .iter()
        .for_each(|t| sizes[piece[t[0] as usize] as usize] += 1);
    let largest = (0..sizes.len()).max_by_key(|&i| sizes[i]).unwrap_or(0) as u32;
    mesh.triangles.retain(|t| piece[t[0] as usize] == largest);
}

/// Turns a cavity inside out. A closed surface would be turned back when it is read, so the last triangle goes: it lies
/// at the far end towards the feet, behind every endoscope.
fn seen_from_within(mesh: &mut Surface) {
    mesh.flip();
    let height = |t: &[u32; 3]| mesh.positions[t[0] as usize].z;
    let last = (0..mesh.triangles.len())
        .max_by(|&a, &b| height(&mesh.triangles[a]).total_cmp(&height(&mesh.triangles[b])));
    last.map(|t| mesh.triangles.remove(t));
}

/// Leaves away what nobody sees: triangles that lie below a height, mm.
fn cut_below(mesh: &mut Surface, height: f64) {
    let positions = &mesh.positions;
    mesh.triangles
        .retain(|t| t.iter().any(|&v| positions[v as usize].y > height));
}
