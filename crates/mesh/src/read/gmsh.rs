//! Gmsh `.msh`, ASCII, versions 1, 2, 4.0 and 4.1.

use glam::DVec3;

use super::cells::Cells;
use super::error::ParseError;
use super::format::Format;
use super::scan::{Scan, excerpt};
use crate::surface::Surface;

const AS_MSH2: &str = "convert it: gmsh file.msh -save -format msh2 -bin 0 -o new.msh";

/// Reads Gmsh's ASCII format: the boundary of the tetrahedra, or the triangles and quads if there are none. Of curved
/// elements the corners are taken.
pub fn parse_gmsh(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut mesh = Gmsh {
        scan: Scan::new(bytes, Format::Gmsh),
        tags: Vec::new(),
        cells: Cells::default(),
    };
    let mut version = Version::One;
    while let Some(word) = mesh.scan.word() {
        match (word, version) {
            (b"$MeshFormat", _) => version = mesh.read_version()?,
            (b"$NOD" | b"$Nodes", Version::One | Version::Two) => mesh.read_plain_nodes()?,
            (b"$Nodes", _) => mesh.read_node_blocks(version)?,
            (b"$ELM", _) => mesh.read_plain_elements(true)?,
            (b"$Elements", Version::One | Version::Two) => mesh.read_plain_elements(false)?,
            (b"$Elements", _) => mesh.read_element_blocks(version)?,
            (section, _) if section.starts_with(b"$") => mesh.skip_section(section)?,
            (other, _) => {
                return Err(mesh
                    .scan
                    .broken(format!("`{}` stands between two sections", excerpt(other))));
            }
        }
        // Sections we read end with a word that begins like this; sections we skip have it read already.
        if mesh
            .scan
            .peek()
            .is_some_and(|word| word.to_ascii_uppercase().starts_with(b"$END"))
        {
            mesh.scan.word();
        }
    }
    mesh.cells.into_surface(Format::Gmsh)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
    Four,
    FourOne,
}

struct Gmsh<'a> {
    scan: Scan<'a>,
    /// Node numbers, which may have gaps, with their vertices; sorted before elements are read.
    tags: Vec<(u64, u32)>,
    cells: Cells,
}

impl Gmsh<'_> {
    fn read_version(&mut self) -> Result<Version, ParseError> {
        let word = self.scan.word().unwrap_or_default();
        let binary: u32 = self.scan.number("the kind of file")?;
        let _size: u32 = self.scan.number("the size of a number")?;
        if binary != 0 {
            return Err(self.scan.error("it is a binary file", AS_MSH2));
        }
        match word {
            b"2" | b"2.0" | b"2.1" | b"2.2" => Ok(Version::Two),
            b"4" | b"4.0" => Ok(Version::Four),
            b"4.1" => Ok(Version::FourOne),
            other => Err(self
                .scan
                .error(format!("version {} is not read", excerpt(other)), AS_MSH2)),
        }
    }

    fn skip_section(&mut self, name: &[u8]) -> Result<(), ParseError> {
        let end = [b"$End", &name[1..]].concat();
        while let Some(line) = self.scan.line() {
            if line.eq_ignore_ascii_case(&end) {
                return Ok(());
            }
        }
        Err(self
            .scan
            .broken(format!("the section {} has no end", excerpt(name))))
    }

    fn add_node(&mut self, tag: u64) -> Result<(), ParseError> {
        let position: DVec3 = self.scan.position()?;
        self.tags
            .push((tag, self.cells.surface.positions.len() as u32));
        self.cells.surface.positions.push(position);
        Ok(())
    }

    fn sort_nodes(&mut self) -> Result<(), ParseError> {
        self.tags.sort_unstable();
        match self.tags.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(self
                .scan
                .broken(format!("node {} is there twice", pair[0].0))),
            None => Ok(()),
        }
    }

    /// Versions 1 and 2: a count, then a number and three coordinates for each node.
    fn read_plain_nodes(&mut self) -> Result<(), ParseError> {
        for _ in 0..self.scan.count("nodes", 8)? {
            let tag = self.scan.number("a node number")?;
            self.add_node(tag)?;
        }
        self.sort_nodes()
    }

    /// Version 4: blocks of nodes, one for each geometric entity.
    fn read_node_blocks(&mut self, version: Version) -> Result<(), ParseError> {
        let blocks = self.read_block_counts("nodes", version)?;
        for _ in 0..blocks {
            let dimension_and_entity: [i64; 2] = [
                self.scan.number("an entity")?,
                self.scan.number("an entity")?,
            ];
            let dimension = dimension_and_entity[usize::from(version == Version::Four)];
            let parametric = self.scan.number::<u32>("whether nodes have parameters")? != 0;
            let count = self.scan.count("nodes", 6)?;
            let parameters = if parametric { dimension.clamp(0, 3) } else { 0 };
            // In 4.1 all numbers come first, in 4.0 each before its coordinates.
            let first = if version == Version::FourOne {
                count
            } else {
                0
            };
            let tags: Vec<u64> = (0..first)
                .map(|_| self.scan.number("a node number"))
                .collect::<Result<_, _>>()?;
            for node in 0..count {
                let tag = match tags.get(node) {
                    Some(&tag) => tag,
                    None => self.scan.number("a node number")?,
                };
                self.add_node(tag)?;
                for _ in 0..parameters {
                    self.scan.number::<f64>("a parameter")?;
                }
            }
        }
        self.sort_nodes()
    }

    /// Versions 1 and 2: a count, then each element with its type, tags and nodes.
    fn read_plain_elements(&mut self, first_version: bool) -> Result<(), ParseError> {
        for _ in 0..self.scan.count("elements", 4)? {
            self.scan.number::<u64>("an element number")?;
            let kind = Kind::of(self.scan.number("an element type")?, &self.scan)?;
            let skipped = if first_version {
                // Two regions and the number of nodes, which the type tells too.
                3
            } else {
                self.scan.count("tags", 2)?
            };
            for _ in 0..skipped {
                self.scan.number::<i64>("a tag")?;
            }
            self.read_element(kind)?;
        }
        Ok(())
    }

    /// Version 4: blocks of elements of one type.
    fn read_element_blocks(&mut self, version: Version) -> Result<(), ParseError> {
        let blocks = self.read_block_counts("elements", version)?;
        for _ in 0..blocks {
            self.scan.number::<i64>("an entity")?;
            self.scan.number::<i64>("an entity")?;
            let kind = Kind::of(self.scan.number("an element type")?, &self.scan)?;
            for _ in 0..self.scan.count("elements", 4)? {
                self.scan.number::<u64>("an element number")?;
                self.read_element(kind)?;
            }
        }
        Ok(())
    }

    /// The number of blocks; what else stands in that line is of no use.
    fn read_block_counts(&mut self, what: &str, version: Version) -> Result<usize, ParseError> {
        let blocks = self.scan.count("blocks", 2)?;
        self.scan.count(what, 2)?;
        if version == Version::FourOne {
            self.scan.number::<u64>("the lowest number")?;
            self.scan.number::<u64>("the highest number")?;
        }
        Ok(blocks)
    }

    fn read_element(&mut self, kind: Kind) -> Result<(), ParseError> {
        let mut corners = [0_i64; 4];
        for node in 0..kind.nodes {
            let tag: u64 = self.scan.number("a node number")?;
            if let Some(corner) = corners[..kind.corners].get_mut(node) {
                let found = self.tags.binary_search_by_key(&tag, |entry| entry.0);
                let found = found.map_err(|_| {
                    self.scan
                        .broken(format!("an element uses node {tag}, which does not exist"))
                })?;
                *corner = i64::from(self.tags[found].1);
            }
        }
        self.cells
            .add(kind.vtk_type, &corners[..kind.corners], &self.scan)
    }
}

/// What an element is.
#[derive(Clone, Copy)]
struct Kind {
    vtk_type: i64,
    nodes: usize,
    /// The nodes at its corners come first.
    corners: usize,
}

impl Kind {
    fn of(gmsh_type: u32, scan: &Scan<'_>) -> Result<Kind, ParseError> {
        let (vtk_type, nodes, corners) = match gmsh_type {
            15 => (1, 1, 1),
            1 => (3, 2, 2),
            8 => (3, 3, 2),
            2 => (5, 3, 3),
            9 => (5, 6, 3),
            3 => (9, 4, 4),
            16 => (9, 8, 4),
            10 => (9, 9, 4),
            4 => (10, 4, 4),
            11 => (10, 10, 4),
            _ => {
                return Err(scan.error(
                    format!("elements of type {gmsh_type} are not read"),
                    "mesh it with tetrahedra or triangles",
                ));
            }
        };
        Ok(Kind {
            vtk_type,
            nodes,
            corners,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "$NOD\n4\n1 0 0 0\n2 1 0 0\n7 0 1 0\n9 0 0 1\n$ENDNOD\n$ELM\n2\n1 4 1 1 4 1 2 7 9\n2 2 1 1 3 1 2 7\n$ENDELM\n";
    const TWO: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"liver\"\n$EndPhysicalNames\n$Nodes\n4\n\
        1 0 0 0\n2 1 0 0\n7 0 1 0\n9 0 0 1\n$EndNodes\n$Elements\n2\n1 4 2 0 1 1 2 7 9\n2 15 0 1\n$EndElements\n";
    const FOUR: &str = "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n$Nodes\n2 4\n1 0 0 1\n1 0 0 0\n1 3 0 3\n2 1 0 0\n7 0 1 0\n9 0 0 1\n\
        $EndNodes\n$Elements\n1 1\n1 3 4 1\n1 1 2 7 9\n$EndElements\n";
    const FOUR_ONE: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n$Nodes\n2 4 1 9\n0 1 0 1\n1\n\
        0 0 0\n1 1 1 3\n2\n7\n9\n1 0 0 0.5\n0 1 0 0.5\n0 0 1 0.5\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 7 9\n$EndElements\n";

    #[test]
    fn reads_all_versions() {
        for text in [ONE, TWO, FOUR, FOUR_ONE] {
            let surface = parse_gmsh(text.as_bytes()).unwrap();
            assert_eq!((surface.positions.len(), surface.triangles.len()), (4, 4));
            assert!((surface.volume() - 1.0 / 6.0).abs() < 1e-15);
        }
    }

    #[test]
    fn errors_name_place_and_remedy() {
        let error = |text: String| parse_gmsh(text.as_bytes()).unwrap_err().to_string();
        assert!(
            error(ONE.replace("1 2 7 9", "1 2 8 9"))
                .starts_with("Gmsh, line 10: an element uses node 8")
        );
        assert!(error(ONE.replace("\n2 1 0 0", "\n1 1 0 0")).contains("twice"));
        assert!(error(TWO.replace("2.2 0", "2.2 1")).contains("-bin 0"));
        assert!(error(TWO.replace("2.2 0", "3.0 0")).contains("version 3.0"));
        assert!(error(TWO.replace("$EndPhysicalNames", "")).contains("no end"));
        assert!(error(TWO.replace("$Nodes\n4", "$Nodes\n400000000")).contains("do not fit"));
        assert!(error(TWO.replace("1 4 2", "1 5 2")).contains("type 5"));
    }
}
