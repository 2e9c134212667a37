//! Making a mesh ready to be a tissue.

use anyhow::{Context, Result, bail};
use clap::Args;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};
use trocar_mesh::{
    Surface,
    export::{write_obj, write_stl},
};

/// What the command is told.
#[derive(Args)]
pub struct Options {
    /// The mesh: STL, OBJ, PLY, OFF, VTK, VTU, Gmsh or Inventor.
    mesh: PathBuf,
    /// Where to write it, as `.obj` or `.stl`. Left out: it is only described.
    out: Option<PathBuf>,
    /// All lengths times this; 0.001 makes metres of millimetres.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// At most so many nodes; they stay dense where it is curved.
    #[arg(long)]
    most_nodes: Option<usize>,
    /// Keep the numbers of its nodes. Otherwise neighbours get numbers near each other, which is faster.
    #[arg(long)]
    keep_order: bool,
}

/// Repairs, scales and coarsens a mesh, and puts its nodes in order.
pub fn run(options: &Options) -> Result<ExitCode> {
    if !(options.scale > 0.0 && options.scale.is_finite()) {
        bail!("the scale is {}; it must be positive", options.scale);
    }
    if options.most_nodes.is_some_and(|most| most < 4) {
        bail!("a closed mesh has at least 4 nodes");
    }
    let path = options.mesh.display();
    let mut surface =
        trocar_mesh::read(&options.mesh).with_context(|| format!("reading {path}"))?;
    let mut told = format!("{path}\n{}", describe(&surface)?);
    let repair = surface.repair();
    if !repair.changed_nothing() {
        writeln!(told, "  repaired    {repair}")?;
    }
    surface
        .positions
        .iter_mut()
        .for_each(|p| *p *= options.scale);
    if let Some(most) = options.most_nodes.filter(|m| *m < surface.positions.len()) {
        surface = surface.coarsened(most);
    }
    if !options.keep_order {
        surface.put_in_order();
    }
    surface.check().context("what is left is no mesh")?;
    if let Some(out) = &options.out {
        write(out, &surface)?;
        write!(told, "{}\n{}", out.display(), describe(&surface)?)?;
    }
    crate::print(told.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn describe(surface: &Surface) -> Result<String> {
    let mut told = String::new();
    let (nodes, triangles) = (surface.positions.len(), surface.triangles.len());
    writeln!(told, "  size        {nodes} nodes, {triangles} triangles")?;
    if let Some(bounds) = surface.bounds() {
        let [x, y, z] = (bounds.max - bounds.min).to_array();
        writeln!(told, "  box         {x:.4} × {y:.4} × {z:.4} m")?;
    }
    writeln!(told, "  surface     {}", surface.topology())?;
    if surface.topology().is_closed() {
        writeln!(told, "  volume      {:.3e} m³", surface.volume().abs())?;
    }
    let reach = surface.edge_reach();
    writeln!(
        told,
        "  node order  ends of an edge are {reach:.0} numbers apart"
    )?;
    Ok(told)
}

fn write(out: &Path, surface: &Surface) -> Result<()> {
    let ending = out.extension().and_then(|e| e.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("obj") => write_obj(out, surface),
        Some("stl") => write_stl(out, surface),
        _ => bail!("{}: a mesh is written as .obj or .stl", out.display()),
    }
    .with_context(|| format!("writing {}", out.display()))
}
