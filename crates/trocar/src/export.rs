//! Meshes over time, for ParaView and Blender.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use glam::DVec3;
use std::path::{Path, PathBuf};
use trocar_mesh::{
    Refinement, Skin, Surface,
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
    /// How often each triangle is divided into four, for a smooth picture of a coarse net: 0 to 4.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=4))]
    export_refinement: u32,
}

impl ExportOptions {
    /// Prepares the export, if one is wanted.
    pub fn open(&self, simulation: &Simulation) -> Result<Option<Export>> {
        let open = |folder: &PathBuf| Export::new(folder, self, simulation);
        self.export.as_ref().map(open).transpose()
    }
}

enum Sink {
    Vtk(VtkSeries),
    Gltf(Box<GltfAnimation>, PathBuf),
}

/// Writes every tissue, a frame at a time.
pub struct Export {
    sinks: Vec<(Fine, Sink)>,
    interval: f64,
    next: f64,
}

impl Export {
    /// Prepares the folder.
    fn new(folder: &Path, options: &ExportOptions, simulation: &Simulation) -> Result<Self> {
        let (format, rate) = (options.export_format, options.export_rate);
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
            let mut fine = Fine::new(simulation, t, options.export_refinement)
                .with_context(|| format!("{name} can't be refined so often"))?;
            let sink = match format {
                Format::Vtk => Sink::Vtk(VtkSeries::create(folder, &name)?),
                Format::Gltf => {
                    let animation = GltfAnimation::new(
                        &name,
                        Interpolation::Linear,
                        simulation.state().time,
                        fine.surface(simulation, t)?.0,
                    )?;
                    Sink::Gltf(Box::new(animation), folder.join(format!("{name}.glb")))
                }
            };
            sinks.push((fine, sink));
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
        for (t, (fine, sink)) in self.sinks.iter_mut().enumerate() {
            let torn = fine.edits != simulation.model().tissues[t].edits;
            let (surface, texture) = fine.surface(simulation, t)?;
            match sink {
                Sink::Vtk(series) => {
                    let frame = VtkFrame::from(surface);
                    series.push(time, VtkFrame { texture, ..frame })?;
                }
                Sink::Gltf(..) if torn => anyhow::bail!(
                    "{} has torn: an animation keeps its triangles; choose --export-format vtk",
                    simulation.model().tissues[t].name
                ),
                Sink::Gltf(animation, _) => animation.push(time, &surface.positions)?,
            }
        }
        Ok(())
    }

    /// Writes what is written at the end; names what can be opened.
    pub fn finish(self) -> Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for (_, sink) in self.sinks {
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

/// A tissue as it is written: as it is, or refined (K130).
struct Fine {
    refinement: Refinement,
    skin: Skin,
    surface: Surface,
    /// Texture coordinates, if the tissue has any.
    texture: Vec<[f64; 2]>,
    times: u32,
    /// Of the surface that it is made for.
    edits: u32,
}

impl Fine {
    fn new(simulation: &Simulation, t: usize, times: u32) -> Result<Self> {
        let tissue = &simulation.model().tissues[t];
        let from_first = |t: &[u32; 3]| t.map(|n| n - tissue.first);
        let triangles: Vec<[u32; 3]> = tissue.triangles.iter().map(from_first).collect();
        let refinement = Refinement::new(&triangles, positions(simulation, t).len(), times)?;
        // Nodes that were added have none of their own.
        let mut texture = tissue.texture.clone();
        if !texture.is_empty() {
            texture.resize(positions(simulation, t).len(), [0.0; 2]);
        }
        Ok(Self {
            skin: refinement.skin(),
            surface: Surface {
                positions: vec![DVec3::ZERO; refinement.vertices()],
                triangles: refinement.triangles().to_vec(),
            },
            texture: refinement.texture(&texture),
            refinement,
            times,
            edits: tissue.edits,
        })
    }

    /// Its surface now, with its texture coordinates; what was torn or cut since is refined anew.
    fn surface(&mut self, simulation: &Simulation, t: usize) -> Result<(&Surface, &[[f64; 2]])> {
        if self.edits != simulation.model().tissues[t].edits {
            *self = Self::new(simulation, t, self.times)?;
        }
        let now = positions(simulation, t);
        if self.times == 0 {
            self.surface.positions.copy_from_slice(now);
        } else {
            self.refinement.apply(now, &mut self.skin);
            let fine = self.surface.positions.iter_mut().zip(self.skin.positions());
            fine.for_each(|(to, from)| *to = from.as_dvec3());
        }
        Ok((&self.surface, &self.texture))
    }
}

fn positions(simulation: &Simulation, t: usize) -> &[DVec3] {
    let tissue = &simulation.model().tissues[t];
    &simulation.state().nodes[tissue.matter.index()].position[tissue.first as usize..]
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect()
}
