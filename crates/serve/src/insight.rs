//! What goes on inside, for those who asked for it: one binary message, little endian.
//!
//! | what | as |
//! |---|---|
//! | magic `TRI7`, number of the frame it belongs to | u32, u32 |
//! | nodes: their number; of each position and state (0 free, 1 locked, 2 fixed, 3 grasped, 4 follower, 5 centre, 6 inside, 7 joined, 8 pulled) | u32; 3 f32, u32 … |
//! | elements: their number; of each both ends and force, N (> 0 is tension) | u32; 7 f32 … |
//! | torsion elements: their number; of each the position of its frame and its torque on it, N·m | u32; 6 f32 … |
//! | contacts: their number; of each point, normal, force, N, depth, m | u32; 8 f32 … |
//! | forces: their number; of each position and force, N | u32; 6 f32 … |
//! | anchors: their number; of each both ends | u32; 6 f32 … |
//! | frames: their number; of each position and quaternion x y z w | u32; 7 f32 … |
//! | normals: their number; of each position and direction | u32; 6 f32 … |
//! | boxes that the search for contacts looked at: their number; of each lowest and highest corner, 1 if something is near, how many levels are below it | u32; 8 f32 … |
//! | triangles of membranes in false colours: their number; of each three corners with a number from 0 to 1 | u32; 12 f32 … |
//! | points of distance grids: their number; of each its position and the nearest point of the surface | u32; 6 f32 … |
//! | that search: probes, boxes, pairs of probe and triangle, pairs of bodies, contacts, pairs of triangles of tissues, folds, such pairs that intersect, contacts that overlap; the deepest overlap, m | 9 u32, f32 |

use crate::binary::{BinaryError, Reader, Writer};
use trocar_scene::Insight;

/// "TRI7", read as a little-endian u32.
pub const MAGIC: u32 = 0x3749_5254;

/// Writes what was seen at frame `number` into `out`, whose memory is reused.
pub fn encode(out: &mut Vec<u8>, number: u32, insight: &Insight) {
    let mut w = Writer::new(out, MAGIC);
    w.u32(number);
    w.count(insight.nodes.len());
    for node in &insight.nodes {
        w.vector(node.position);
        w.u32(node.state as u32);
    }
    w.count(insight.elements.len());
    for element in &insight.elements {
        w.vector(element.a);
        w.vector(element.b);
        w.f32(element.force);
    }
    w.pairs(&insight.torques);
    w.count(insight.contacts.len());
    for contact in &insight.contacts {
        w.vector(contact.point);
        w.vector(contact.normal);
        w.f32(contact.force);
        w.f32(contact.depth);
    }
    w.pairs(&insight.forces);
    w.pairs(&insight.anchors);
    w.count(insight.frames.len());
    for (position, rotation) in &insight.frames {
        w.pose(*position, *rotation);
    }
    w.pairs(&insight.normals);
    w.count(insight.boxes.len());
    for seen in &insight.boxes {
        w.vector(seen.low);
        w.vector(seen.high);
        w.f32(f64::from(u8::from(seen.is_near)));
        w.f32(f64::from(seen.level));
    }
    w.count(insight.colours.len());
    for (position, value) in insight.colours.iter().flat_map(|c| c.corners) {
        w.vector(position);
        w.f32(value);
    }
    w.pairs(&insight.grids);
    let search = insight.search;
    for count in [
        search.probes,
        search.boxes,
        search.pairs,
        search.body_pairs,
        search.contacts,
        search.fold_pairs,
        search.folds,
        search.crossings,
        search.overlaps,
    ] {
        w.u32(count);
    }
    w.f32(insight.deepest);
}

/// Insight as received; for tests and other clients in Rust. Columns as in the table above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InsightMessage {
    /// The frame it belongs to.
    pub number: u32,
    /// Position and state.
    pub nodes: Vec<([f32; 3], u32)>,
    /// Both ends and force.
    pub elements: Vec<[f32; 7]>,
    /// Position and torque.
    pub torques: Vec<[f32; 6]>,
    /// Point, normal, force and depth.
    pub contacts: Vec<[f32; 8]>,
    /// Position and force.
    pub forces: Vec<[f32; 6]>,
    /// Both ends.
    pub anchors: Vec<[f32; 6]>,
    /// Position and quaternion.
    pub frames: Vec<[f32; 7]>,
    /// Position and direction.
    pub normals: Vec<[f32; 6]>,
    /// Both corners, 1 if something is near, and its level.
    pub boxes: Vec<[f32; 8]>,
    /// Three corners, each with its number.
    pub colours: Vec<[f32; 12]>,
    /// Points of distance grids, and the nearest points of the surface.
    pub grids: Vec<[f32; 6]>,
    /// Probes, boxes, pairs of probe and triangle, pairs of bodies, contacts, pairs of triangles of tissues, folds, such pairs that intersect, contacts that overlap.
    pub search: [u32; 9],
    /// The deepest overlap, m.
    pub deepest: f32,
}

/// Reads an insight message.
pub fn decode(bytes: &[u8]) -> Result<InsightMessage, BinaryError> {
    let mut r = Reader::new(bytes, MAGIC)?;
    let number = r.u32()?;
    let count = r.count(4 * 4)?;
    let nodes = (0..count)
        .map(|_| Ok((r.floats()?, r.u32()?)))
        .collect::<Result<_, BinaryError>>()?;
    let message = InsightMessage {
        number,
        nodes,
        elements: r.rows()?,
        torques: r.rows()?,
        contacts: r.rows()?,
        forces: r.rows()?,
        anchors: r.rows()?,
        frames: r.rows()?,
        normals: r.rows()?,
        boxes: r.rows()?,
        colours: r.rows()?,
        grids: r.rows()?,
        search: [
            r.u32()?,
            r.u32()?,
            r.u32()?,
            r.u32()?,
            r.u32()?,
            r.u32()?,
            r.u32()?,
            r.u32()?,
            r.u32()?,
        ],
        deepest: r.floats::<1>()?[0],
    };
    r.end()?;
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};
    use proptest::prelude::*;
    use trocar_scene::insight::{
        BoxInsight, ColourInsight, ContactInsight, ElementInsight, NodeInsight, NodeState, Search,
    };

    fn sample() -> Vec<u8> {
        let mut insight = Insight::default();
        insight.nodes = vec![
            NodeInsight {
                position: DVec3::X,
                state: NodeState::Free,
            },
            NodeInsight {
                position: DVec3::Y,
                state: NodeState::Centre,
            },
        ];
        insight.elements = vec![ElementInsight {
            a: DVec3::X,
            b: DVec3::Z,
            force: -2.0,
        }];
        insight.torques = vec![(DVec3::Z, DVec3::X)];
        insight.contacts = vec![ContactInsight {
            friction: DVec3::ZERO,
            point: DVec3::X,
            normal: DVec3::Y,
            force: f64::INFINITY,
            depth: 0.5,
        }];
        insight.forces = vec![(DVec3::X, DVec3::Y)];
        insight.anchors = vec![(DVec3::Y, DVec3::Z); 2];
        insight.frames = vec![(DVec3::Z, DQuat::IDENTITY)];
        insight.normals = vec![(DVec3::X, DVec3::Z)];
        let corner = |x: f64| (DVec3::splat(x), 0.25 * x);
        insight.colours = vec![ColourInsight {
            corners: [corner(0.0), corner(1.0), corner(2.0)],
        }];
        insight.boxes = vec![BoxInsight {
            low: DVec3::ZERO,
            high: DVec3::ONE,
            is_near: true,
            level: 2,
        }];
        insight.search = Search {
            probes: 1,
            boxes: 2,
            pairs: 3,
            body_pairs: 4,
            contacts: 5,
            fold_pairs: 6,
            folds: 7,
            crossings: 8,
            overlaps: 9,
        };
        insight.grids = vec![(DVec3::X, DVec3::Y)];
        insight.deepest = 0.5;
        let mut bytes = vec![1; 3];
        encode(&mut bytes, 9, &insight);
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let read = decode(&sample()).unwrap();
        assert_eq!(read.number, 9);
        assert_eq!(
            read.nodes,
            [([1.0, 0.0, 0.0], 0), ([0.0, 1.0, 0.0], 5)],
            "states are numbers of the protocol"
        );
        assert_eq!(read.elements, [[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -2.0]]);
        assert_eq!(read.contacts[0][6], f32::MAX, "always finite");
        assert_eq!((read.forces.len(), read.anchors.len()), (1, 2));
        assert_eq!(read.frames, [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]]);
        assert_eq!(read.contacts[0][7], 0.5);
        assert_eq!(read.normals, [[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]]);
        assert_eq!(read.boxes, [[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0]]);
        assert_eq!(
            read.colours,
            [[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.25, 2.0, 2.0, 2.0, 0.5]]
        );
        assert_eq!(read.grids, [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]]);
        assert_eq!(read.search, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(read.deepest, 0.5);
    }

    #[test]
    fn damage_is_refused() {
        let bytes = sample();
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "cut at {end}");
        }
    }

    proptest! {
        #[test]
        fn wrong_counts_never_panic(at in 0usize..200, count in any::<u32>()) {
            let mut bytes = sample();
            let at = (at * 4).min(bytes.len() - 4);
            bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
            let _ = decode(&bytes);
        }
    }
}
