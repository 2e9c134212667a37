//! Snapshots: everything the next step reads that the scene file does not determine.

use crate::Simulation;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use trocar_collide::patch::Side;
use trocar_dynamics::State;
use trocar_tools::{Grip, Handle};

const MAGIC: &[u8; 8] = b"TROCSNP1";

/// Why a snapshot can't be taken up.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SnapshotError {
    /// It is no snapshot, or of another version.
    #[error("this is not a snapshot that this program can read")]
    Foreign,
    /// It is damaged.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
    /// It belongs to another scene.
    #[error("the snapshot belongs to another scene, or the scene's files have changed")]
    OtherScene,
}

#[derive(Serialize, Deserialize)]
struct Snapshot {
    scene: u64,
    steps: u64,
    state: State,
    handles: Vec<Handle>,
    grips: Vec<Grip>,
    /// Of each group: impulses of its ties, how often members went bad, sides of its surfaces.
    groups: Vec<(Vec<DVec3>, Vec<u32>, Vec<Vec<Side>>)>,
}

impl Simulation {
    /// The snapshot of this moment.
    pub fn snapshot(&self) -> Vec<u8> {
        let (state, steps, handles, grips, groups) = self.parts();
        let snapshot = Snapshot {
            scene: self.scene_hash(),
            steps,
            state: state.clone(),
            handles: handles.to_vec(),
            grips: grips.to_vec(),
            groups: groups
                .iter()
                .map(|g| {
                    let impulses = g.ties[..g.scene_ties].iter().map(|t| t.impulse).collect();
                    let sides = g.skins.iter().map(|s| s.patch.sides().to_vec()).collect();
                    (impulses, g.bad.clone(), sides)
                })
                .collect(),
        };
        // Plain numbers in vectors: writing them to memory can't fail.
        let body = postcard::to_stdvec(&snapshot).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Takes up a snapshot of the same scene. On error nothing has changed.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let Some((magic, rest)) = bytes.split_at_checked(8) else {
            return Err(SnapshotError::Foreign);
        };
        if magic != MAGIC {
            return Err(SnapshotError::Foreign);
        }
        let Some((sum, body)) = rest.split_at_checked(4) else {
            return Err(SnapshotError::Damaged("it is cut short"));
        };
        if sum != crc32fast::hash(body).to_le_bytes() {
            return Err(SnapshotError::Damaged("its checksum is wrong"));
        }
        let snapshot: Snapshot =
            postcard::from_bytes(body).map_err(|_| SnapshotError::Damaged("it can't be read"))?;
        if snapshot.scene != self.scene_hash() {
            return Err(SnapshotError::OtherScene);
        }
        self.check(&snapshot)?;
        let groups = self.resume(
            snapshot.state,
            snapshot.steps,
            snapshot.handles,
            snapshot.grips,
        );
        for (group, (impulses, bad, sides)) in groups.iter_mut().zip(snapshot.groups) {
            for (tie, impulse) in group.ties.iter_mut().zip(impulses) {
                tie.impulse = impulse;
            }
            group.bad = bad;
            for (skin, sides) in group.skins.iter_mut().zip(sides) {
                skin.patch.set_sides(&sides);
            }
        }
        Ok(())
    }

    fn check(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let (state, _, handles, grips, groups) = self.parts();
        let same_nodes =
            state.nodes.len() == snapshot.state.nodes.len()
                && state.nodes.iter().zip(&snapshot.state.nodes).all(|(a, b)| {
                    b.is_consistent() && a.len() == b.len() && a.frames() == b.frames()
                });
        let same_tools =
            handles.len() == snapshot.handles.len() && grips.len() == snapshot.grips.len();
        let same_groups = groups.len() == snapshot.groups.len()
            && groups
                .iter()
                .zip(&snapshot.groups)
                .all(|(g, (impulses, bad, sides))| {
                    impulses.len() == g.scene_ties
                        && bad.len() == g.members.len()
                        && sides.len() == g.skins.len()
                });
        let held = snapshot.grips.iter().flat_map(|g| &g.holds).all(|h| {
            let known = |a: &trocar_dynamics::Anchor| {
                let support = trocar_dynamics::anchor::Support::of(a);
                support.parts().iter().all(|(m, p, _)| {
                    state
                        .nodes
                        .get(m.index())
                        .is_some_and(|n| (p.node as usize) < n.len())
                })
            };
            known(&h.tie.a) && known(&h.tie.b)
        });
        if same_nodes && same_tools && same_groups && held {
            Ok(())
        } else {
            Err(SnapshotError::Damaged("it does not fit the scene"))
        }
    }
}
