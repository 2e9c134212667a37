//! From a surface to a sheet.

use glam::DVec2;

use super::slots::{NONE, Slots};
use super::{ATTRIBUTES, Edge, Node, Sheet, Triangle, quality};
use crate::sides::{same_edge, sides};
use crate::surface::{Surface, SurfaceError};

/// Why a surface can't be a sheet.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SheetError {
    /// It is no usable surface at all.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// More than two triangles meet at an edge.
    #[error(
        "{count} triangles meet at the edge of vertices {a} and {b}; a sheet has two at most; repair the mesh"
    )]
    Branching {
        /// One end.
        a: u32,
        /// The other.
        b: u32,
        /// How many meet.
        count: usize,
    },
    /// Two triangles disagree about which side is up.
    #[error(
        "the triangles at the edge of vertices {a} and {b} disagree about which side is up; repair the mesh"
    )]
    Twisted {
        /// One end.
        a: u32,
        /// The other.
        b: u32,
    },
    /// Parts of the sheet hang together by one vertex alone.
    #[error("the sheet hangs together by vertex {0} alone; split it, or join the parts by an edge")]
    Pinched(usize),
    /// A vertex that no triangle uses.
    #[error("no triangle uses vertex {0}; repair the mesh")]
    Stray(usize),
    /// A triangle without area.
    #[error("triangle {0} has no area; repair the mesh")]
    Flat(usize),
    /// A list over vertices has another length.
    #[error("{given} entries were given for {vertices} vertices")]
    Length {
        /// Entries given.
        given: usize,
        /// Vertices there are.
        vertices: usize,
    },
}

/// Triangles flatter than this have no area: sides of a millimetre would be closer than a nanometre.
const FLAT: f64 = 1e-6;

impl Sheet {
    /// A sheet at rest as the surface is. Vertex i is [`Sheet::node_at`] i; its x and y are its texture coordinates until
    /// [`Sheet::set_textures`] says otherwise.
    pub fn new(surface: &Surface) -> Result<Self, SheetError> {
        surface.check()?;
        if let Some(flat) = surface.triangles.iter().position(|t| {
            surface.corners(*t).is_none_or(|corners| {
                quality(corners).partial_cmp(&FLAT) != Some(std::cmp::Ordering::Greater)
            })
        }) {
            return Err(SheetError::Flat(flat));
        }
        let mut triangles: Vec<_> = surface
            .triangles
            .iter()
            .map(|nodes| Triangle {
                nodes: *nodes,
                opposite: [NONE; 3],
                edges: [NONE; 3],
            })
            .collect();
        let mut edges = Vec::new();
        for group in sides(surface).chunk_by(same_edge) {
            let [a, b] = group[0].edge;
            let edge = edges.len() as u32;
            let half = |k: usize| 3 * group[k].triangle + u32::from(group[k].start);
            match group {
                [_] => {}
                [one, two] if one.forward == two.forward => {
                    return Err(SheetError::Twisted { a, b });
                }
                [_, _] => {
                    let (x, y) = (half(0), half(1));
                    triangles[x as usize / 3].opposite[x as usize % 3] = y;
                    triangles[y as usize / 3].opposite[y as usize % 3] = x;
                }
                _ => {
                    let count = group.len();
                    return Err(SheetError::Branching { a, b, count });
                }
            }
            for k in 0..group.len() {
                let h = half(k) as usize;
                triangles[h / 3].edges[h % 3] = edge;
            }
            edges.push(Edge { half: half(0) });
        }
        let nodes = surface.positions.iter().enumerate().map(|(i, p)| Node {
            rest: *p,
            texture: DVec2::new(p.x, p.y),
            attributes: [0.0; ATTRIBUTES],
            leaving: NONE,
            sibling: i as u32,
        });
        let mut sheet = Self {
            nodes: Slots::new(nodes.collect()),
            edges: Slots::new(edges),
            triangles: Slots::new(triangles),
            steps: Vec::new(),
            holes: Vec::new(),
            version: 0,
            least_quality: FLAT,
        };
        sheet.find_leaving()?;
        Ok(sheet)
    }

    fn find_leaving(&mut self) -> Result<(), SheetError> {
        let mut corners = vec![0_usize; self.nodes.len()];
        for t in 0..self.triangles.len() as u32 {
            for half in 3 * t..3 * t + 3 {
                let node = self.origin(half);
                corners[node as usize] += 1;
                let leaving = self.nodes.get(node).leaving;
                if leaving == NONE || self.opposite(half) == NONE {
                    self.nodes.change(node).leaving = half;
                }
            }
        }
        for node in 0..self.nodes.len() as u32 {
            if corners[node as usize] == 0 {
                return Err(SheetError::Stray(node as usize));
            }
            if self.around(node).count() != corners[node as usize] {
                return Err(SheetError::Pinched(node as usize));
            }
        }
        self.nodes.begin();
        Ok(())
    }

    /// Sets the texture coordinates of all nodes, by place; only before the first edit is a place a vertex.
    pub fn set_textures(&mut self, textures: &[DVec2]) -> Result<(), SheetError> {
        self.same_length(textures.len())?;
        for (slot, texture) in textures.iter().enumerate() {
            self.nodes.change(slot as u32).texture = *texture;
        }
        self.nodes.begin();
        Ok(())
    }

    /// Sets the user's numbers of all nodes, by place.
    pub fn set_attributes(&mut self, attributes: &[[f64; ATTRIBUTES]]) -> Result<(), SheetError> {
        self.same_length(attributes.len())?;
        for (slot, numbers) in attributes.iter().enumerate() {
            self.nodes.change(slot as u32).attributes = *numbers;
        }
        self.nodes.begin();
        Ok(())
    }

    fn same_length(&self, given: usize) -> Result<(), SheetError> {
        let vertices = self.nodes.len();
        if given == vertices {
            return Ok(());
        }
        Err(SheetError::Length { given, vertices })
    }

    /// The sheet as a surface at the given positions, by place (m); triangles of pieces and all.
    pub fn surface(&self, positions: &[glam::DVec3]) -> Surface {
        Surface {
            positions: positions.to_vec(),
            triangles: self
                .triangles
                .live()
                .map(|t| self.triangles.get(t).nodes)
                .collect(),
        }
    }
}
