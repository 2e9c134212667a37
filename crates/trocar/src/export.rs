//! Meshes over time, for ParaView and Blender.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use glam::DVec3;
use std::path::{Path, PathBuf};
use trocar_mesh::{
    Surface,
    export::{GltfAnimation, Interpolation, VtkFrame, VtkSeries},
};
use trocar_scene::Simulation;

/// In which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A `.vtp` file for each frame and a `.pvd` that lists them, for ParaView.
    Vtk,
    /// One animated `.glb` for each tissue, for Blender.
    Gltf,
}

/// What every command that exports may be told.
#[derive(Args)]
pub struct ExportOptions {
    /// Write every tissue over time into this folder.
    #[arg(long)]
    export: Option<PathBuf>,
    /// How to write it.
    #[arg(long, value_enum, default_value_t = Format::Vtk)]
    export_format: Format,
    /// How often, frames a second of simulated time.
    #[arg(long, default_value_t = 25.0)]
    export_rate: f64,
}

impl ExportOptions {
    /// Prepares the export, if one is wanted.
    pub fn open(&self, simulation: &Simulation) -> Result<Option<Export>> {
        let open = |folder: &PathBuf| {
            Export::new(folder, self.export_format, self.export_rate, simulation)
        };
        self.export.as_ref().map(open).transpose()
    }
}

enum Sink {
    Vtk(VtkSeries),
    Gltf(Box<GltfAnimation>, PathBuf),
}

/// Writes every tissue, a frame at a time.
pub struct Export {
    sinks: Vec<Sink>,
    interval: f64,
    next: f64,
}

impl Export {
    /// Prepares the folder; `rate` frames a second of simulated time.
    fn new(folder: &Path, format: Format, rate: f64, simulation: &Simulation) -> Result<Self> {
        anyhow::ensure!(
            rate > 0.0 && rate <= 1000.0,
            "--export-rate must lie between 0 and 1000 frames a second"
        );
        anyhow::ensure!(
            !simulation.model().tissues.is_empty(),
            "the scene has no tissue to export; bodies and particles are not exported yet"
        );
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} can't be made", folder.display()))?;
        let mut sinks = Vec::new();
        for t in 0..simulation.model().tissues.len() {
            let name = file_name(&simulation.model().tissues[t].name);
            sinks.push(match format {
                Format::Vtk => Sink::Vtk(VtkSeries::create(folder, &name)?),
                Format::Gltf => {
                    let animation = GltfAnimation::new(
                        &name,
                        Interpolation::Linear,
                        simulation.state().time,
                        &surface(simulation, t),
                    )?;
                    Sink::Gltf(Box::new(animation), folder.join(format!("{name}.glb")))
                }
            });
        }
        let mut export = Self {
            sinks,
            interval: 1.0 / rate,
            next: 0.0,
        };
        if format == Format::Vtk {
            export.frame(simulation)?;
        }
        export.next = export.interval;
        Ok(export)
    }

    /// After a step: writes a frame if one is due.
    pub fn step(&mut self, simulation: &Simulation) -> Result<()> {
        if simulation.state().time + 1e-9 < self.next {
            return Ok(());
        }
        self.next += self.interval;
        self.frame(simulation)
    }

    fn frame(&mut self, simulation: &Simulation) -> Result<()> {
        let time = simulation.state().time;
        for (t, sink) in self.sinks.iter_mut().enumerate() {
            match sink {
                Sink::Vtk(series) => {
                    series.push(time, VtkFrame::from(&surface(simulation, t)))?;
                }
                Sink::Gltf(animation, _) => animation.push(time, positions(simulation, t))?,
            }
        }
        Ok(())
    }

    /// Writes what is written at the end; names what can be opened.
    pub fn finish(self) -> Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for sink in self.sinks {
            written.push(match sink {
                Sink::Vtk(series) => series.index(),
                Sink::Gltf(animation, path) => {
                    animation.write(&path)?;
                    path
                }
            });
        }
        Ok(written)
    }
}

fn positions(simulation: &Simulation, t: usize) -> &[DVec3] {
    let tissue = &simulation.model().tissues[t];
    &simulation.state().nodes[tissue.matter.index()].position[tissue.first as usize..]
}

fn surface(simulation: &Simulation, t: usize) -> Surface {
    let tissue = &simulation.model().tissues[t];
    Surface {
        positions: positions(simulation, t).to_vec(),
        triangles: tissue
            .triangles
            .iter()
            .map(|t| t.map(|n| n - tissue.first))
            .collect(),
    }
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect()
}
