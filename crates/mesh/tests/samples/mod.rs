//! The same small surface in every format and dialect, written independently of the readers.

use glam::DVec3;
use trocar_mesh::export::{to_obj, to_stl, to_vtp};
use trocar_mesh::{Format, Surface};

/// A file.
pub struct Sample {
    pub name: &'static str,
    pub format: Format,
    pub bytes: Vec<u8>,
}

/// A tetrahedron whose coordinates are exact in `f32`, facing outwards.
pub fn surface() -> Surface {
    Surface {
        positions: vec![
            DVec3::new(-0.5, 0.0, 0.25),
            DVec3::X,
            DVec3::Y,
            DVec3::new(0.0, 0.125, 2.0),
        ],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    }
}

/// Every dialect of [`surface`].
pub fn all() -> Vec<Sample> {
    let s = surface();
    let sample = |name, format, bytes: Vec<u8>| Sample {
        name,
        format,
        bytes,
    };
    vec![
        sample("stl binary", Format::Stl, to_stl(&s).unwrap()),
        sample("stl ascii", Format::Stl, stl_ascii(&s).into()),
        sample("obj", Format::Obj, to_obj(&s).unwrap().into()),
        sample("ply ascii", Format::Ply, ply_ascii(&s).into()),
        sample("ply binary", Format::Ply, ply_binary(&s)),
        sample("vtk ascii polydata", Format::Vtk, vtk_ascii(&s).into()),
        sample("vtk binary polydata", Format::Vtk, vtk_binary(&s)),
        sample(
            "vtk ascii tetrahedra",
            Format::Vtk,
            vtk_tetrahedron(&s).into(),
        ),
        sample(
            "vtk binary tetrahedra",
            Format::Vtk,
            vtk_binary_tetrahedron(&s),
        ),
        sample(
            "vtp binary",
            Format::Vtu,
            to_vtp(&(&s).into()).unwrap().into(),
        ),
        sample(
            "vtu ascii tetrahedra",
            Format::Vtu,
            vtu_tetrahedron(&s).into(),
        ),
        sample("off", Format::Off, off(&s).into()),
        sample("gmsh 1", Format::Gmsh, gmsh_1(&s).into()),
        sample("gmsh 2", Format::Gmsh, gmsh_2(&s).into()),
        sample("gmsh 4.1", Format::Gmsh, gmsh_4(&s).into()),
        sample("inventor", Format::Inventor, inventor(&s).into()),
    ]
}

fn inventor(s: &Surface) -> String {
    let faces: String = s
        .triangles
        .iter()
        .map(|t| format!("{}, {}, {}, -1,\n", t[0], t[1], t[2]))
        .collect();
    format!(
        "#Inventor V2.1 ascii\n# made by hand\nDEF liver Separator {{\n  ShapeHints {{ vertexOrdering COUNTERCLOCKWISE }}\n  \
         Coordinate3 {{ point [ {} ] }}\n  IndexedFaceSet {{ coordIndex [\n{faces}] }}\n}}\n",
        points(s).join(",\n")
    )
}

fn points(s: &Surface) -> Vec<String> {
    s.positions
        .iter()
        .map(|p| format!("{:?} {:?} {:?}", p.x, p.y, p.z))
        .collect()
}

/// Each triangle as a line, indices counted from `base`, after `prefix`.
fn corners(s: &Surface, prefix: &str, base: u32) -> String {
    s.triangles
        .iter()
        .map(|t| format!("{prefix}{} {} {}\n", t[0] + base, t[1] + base, t[2] + base))
        .collect()
}

fn numbered(lines: &[String]) -> String {
    lines
        .iter()
        .enumerate()
        .map(|(i, line)| format!("{} {line}\n", i + 1))
        .collect()
}

fn stl_ascii(s: &Surface) -> String {
    let p = points(s);
    let facet = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| &p[v as usize]);
        format!(
            "facet normal 0 0 0\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n"
        )
    };
    format!(
        "solid liver\n{}endsolid liver\n",
        s.triangles.iter().map(facet).collect::<String>()
    )
}

fn ply_header(format: &str) -> String {
    format!(
        "ply\nformat {format} 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n\
         element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

fn ply_ascii(s: &Surface) -> String {
    ply_header("ascii") + &points(s).join("\n") + "\n" + &corners(s, "3 ", 0)
}

fn ply_binary(s: &Surface) -> Vec<u8> {
    let mut bytes = ply_header("binary_little_endian").into_bytes();
    bytes.extend(
        s.positions
            .iter()
            .flat_map(|p| p.to_array())
            .flat_map(f64::to_le_bytes),
    );
    for t in &s.triangles {
        bytes.push(3);
        bytes.extend(t.iter().flat_map(|v| v.to_le_bytes()));
    }
    bytes
}

fn vtk_header(kind: &str, dataset: &str) -> String {
    format!("# vtk DataFile Version 3.0\nliver\n{kind}\nDATASET {dataset}\nPOINTS 4 double\n")
}

fn vtk_ascii(s: &Surface) -> String {
    vtk_header("ASCII", "POLYDATA")
        + &points(s).join("\n")
        + "\nPOLYGONS 4 16\n"
        + &corners(s, "3 ", 0)
}

fn vtk_binary_points(s: &Surface, dataset: &str) -> Vec<u8> {
    let mut bytes = vtk_header("BINARY", dataset).into_bytes();
    bytes.extend(
        s.positions
            .iter()
            .flat_map(|p| p.to_array())
            .flat_map(f64::to_be_bytes),
    );
    bytes
}

fn vtk_binary_tetrahedron(s: &Surface) -> Vec<u8> {
    let mut bytes = vtk_binary_points(s, "UNSTRUCTURED_GRID");
    bytes.extend(b"\nCELLS 1 5\n");
    bytes.extend([4, 0, 1, 2, 3].into_iter().flat_map(u32::to_be_bytes));
    bytes.extend(b"\nCELL_TYPES 1\n");
    bytes.extend(10_u32.to_be_bytes());
    bytes
}

fn vtk_binary(s: &Surface) -> Vec<u8> {
    let mut bytes = vtk_binary_points(s, "POLYDATA");
    bytes.extend(b"\nPOLYGONS 4 16\n");
    bytes.extend(
        s.triangles
            .iter()
            .flat_map(|t| [3, t[0], t[1], t[2]])
            .flat_map(u32::to_be_bytes),
    );
    bytes
}

fn vtk_tetrahedron(s: &Surface) -> String {
    vtk_header("ASCII", "UNSTRUCTURED_GRID")
        + &points(s).join("\n")
        + "\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"
}

fn vtu_tetrahedron(s: &Surface) -> String {
    let array = |kind: &str, name: &str, text: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">{text}</DataArray>\n")
    };
    format!(
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece><Points>{}</Points><Cells>{}{}{}</Cells></Piece></UnstructuredGrid></VTKFile>",
        array("Float64", "Points", &points(s).join(" ")),
        array("Int64", "connectivity", "0 1 2 3"),
        array("Int64", "offsets", "4"),
        array("UInt8", "types", "10"),
    )
}

fn off(s: &Surface) -> String {
    format!(
        "OFF\n4 4 0\n{}\n{}",
        points(s).join("\n"),
        corners(s, "3 ", 0)
    )
}

fn gmsh_1(s: &Surface) -> String {
    format!(
        "$NOD\n4\n{}$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n",
        numbered(&points(s))
    )
}

fn gmsh_2(s: &Surface) -> String {
    let nodes = numbered(&points(s));
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n{nodes}$EndNodes\n$Elements\n4\n{}$EndElements\n",
        corners(s, "7 2 1 5 ", 1)
    )
}

fn gmsh_4(s: &Surface) -> String {
    let nodes = points(s).join("\n");
    let head = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
    let nodes = format!("$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n{nodes}\n$EndNodes\n");
    format!("{head}{nodes}$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n")
}
