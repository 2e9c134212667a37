//! The two models that Kuhn timed, and his times (Table 6.1).

use anyhow::{Context, Result, bail};
use std::path::Path;
use trocar_scene::{Scene, Simulation};

/// On what he timed them: an SGI Onyx.
pub const MACHINE: &str = "Kuhn 1997, R4400 200 MHz";

/// A net of Kuhn's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Rings.
    pub rings: usize,
    /// Nodes in each ring.
    pub around: usize,
    /// Nodes, central nodes included.
    pub nodes: usize,
    /// Connection elements.
    pub elements: usize,
}

/// Mean times of ten runs, ms.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// All forces on all nodes.
    pub element_block: f64,
    /// Integration of all nodes.
    pub node_block: f64,
    /// Interaction without contact, and with many contacts.
    pub interaction: [f64; 2],
    /// The whole cycle without contact, and with many contacts.
    pub cycle: [f64; 2],
}

/// A model of Kuhn's.
#[derive(Clone, Copy, Debug)]
pub struct KuhnModel {
    /// What the rows call it.
    pub name: &'static str,
    /// The gall bladder.
    pub organ: Counts,
    /// The cystic duct.
    pub pipe: Counts,
    /// Whether the duct has dampers from ring to ring: only so does the count of the smaller model come out.
    pub braced: bool,
    /// What it took.
    pub times: Times,
}

/// Both of them.
pub const MODELS: [KuhnModel; 2] = [
    KuhnModel {
        name: "Kuhn's model 1",
        organ: Counts {
            rings: 16,
            around: 12,
            nodes: 195,
            elements: 756,
        },
        pipe: Counts {
            rings: 10,
            around: 12,
            nodes: 130,
            elements: 561,
        },
        braced: true,
        times: Times {
            element_block: 3.31,
            node_block: 1.66,
            interaction: [0.281, 1.277],
            cycle: [6.1, 7.1],
        },
    },
    KuhnModel {
        name: "Kuhn's model 2",
        organ: Counts {
            rings: 22,
            around: 20,
            nodes: 443,
            elements: 1740,
        },
        pipe: Counts {
            rings: 13,
            around: 20,
            nodes: 273,
            elements: 992,
        },
        braced: false,
        times: Times {
            element_block: 6.75,
            node_block: 3.48,
            interaction: [0.289, 1.593],
            cycle: [11.7, 13.3],
        },
    },
];

impl KuhnModel {
    /// A simulation of it on one thread; an error if it has not the nodes and elements that Kuhn printed.
    pub fn simulation(&self) -> Result<Simulation> {
        let simulation = Simulation::new(&self.scene()?, 1)?;
        let model = simulation.model();
        let wanted = [("gall bladder", self.organ), ("cystic duct", self.pipe)];
        if model.tissues.len() != wanted.len() || model.hypers.len() != self.organ.around {
            bail!(
                "{} has {} tissues and {} hyper nodes instead of {} and {}",
                self.name,
                model.tissues.len(),
                model.hypers.len(),
                wanted.len(),
                self.organ.around
            );
        }
        for (tissue, (name, counts)) in model.tissues.iter().zip(wanted) {
            let nodes = model.start[tissue.matter.index()].len();
            if (tissue.name.as_str(), nodes, tissue.elements)
                != (name, counts.nodes, counts.elements)
            {
                bail!(
                    "{}: the {} has {nodes} nodes and {} elements; Kuhn's {name} has {} and {}",
                    self.name,
                    tissue.name,
                    tissue.elements,
                    counts.nodes,
                    counts.elements
                );
            }
        }
        Ok(simulation)
    }

    /// `scenes/gallbladder.toml` with the rings of this model.
    fn scene(&self) -> Result<Scene> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/gallbladder.toml");
        let mut bundle = Scene::load(path)?.bundle;
        let main = bundle.files.first_mut().context("the scene has no file")?;
        let text = String::from_utf8(std::mem::take(&mut main.1))?;
        main.1 = self.resized(&text)?.into_bytes();
        Ok(Scene::from_bundle(&bundle)?)
    }

    /// The scene's text with other rings. Each word to be replaced must be there as often as expected, so
    /// that an edit of the scene can't go unnoticed.
    fn resized(&self, text: &str) -> Result<String> {
        let (organ, pipe) = (self.organ, self.pipe);
        let brace = if self.braced { "0.004" } else { "0.0" };
        let mut text = text.to_string();
        for (old, new, times) in [
            ("rings = 16\n", format!("rings = {}\n", organ.rings), 1),
            ("rings = 10\n", format!("rings = {}\n", pipe.rings), 1),
            ("around = 12\n", format!("around = {}\n", organ.around), 2),
            ("ring = 15 ", format!("ring = {} ", organ.rings - 1), 1),
            ("ring = 9 ", format!("ring = {} ", pipe.rings - 1), 1),
            ("brace = 0.004\n", format!("brace = {brace}\n"), 1),
        ] {
            let found = text.matches(old).count();
            if found != times {
                let old = old.trim();
                bail!(
                    "scenes/gallbladder.toml says `{old}` {found} times instead of {times}; \
                     teach bench/src/mesd/kuhn.rs the new scene"
                );
            }
            text = text.replace(old, &new);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_models_have_the_printed_counts() {
        for model in MODELS {
            model.simulation().unwrap();
        }
    }

    #[test]
    fn a_changed_scene_is_noticed() {
        let error = MODELS[1].resized("rings = 16\n").unwrap_err().to_string();
        assert!(error.contains("rings = 10"), "{error}");
    }
}
