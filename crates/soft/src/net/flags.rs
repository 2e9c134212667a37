//! What nodes are, and what has been done to them (K26).

use serde::{Deserialize, Serialize};

/// What a node is and what has been done to it (K26). The bits are those of the original, so that
/// its model files can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFlags(pub u32);

impl NodeFlags {
    /// Held by a grasper.
    pub const GRASPED: Self = Self(0x1);
    /// Held by a clip.
    pub const CLIPPED: Self = Self(0x2);
    /// On the lip of a partial cut.
    pub const CUT: Self = Self(0x4);
    /// On the lip of a complete cut.
    pub const DIVIDED: Self = Self(0x8);
    /// Fixed in space.
    pub const FIXED: Self = Self(0x10);
    /// Leads a node of another net.
    pub const MASTER: Self = Self(0x20);
    /// Copies a node of another net.
    pub const SLAVE: Self = Self(0x40);
    /// End of an element to another object.
    pub const GLOBAL_ELEMENT: Self = Self(0x80);
    /// Where a force is being applied by hand.
    pub const FORCE_INPUT: Self = Self(0x100);
    /// Belongs to a global-dynamic object.
    pub const GLOBAL_DYNAMIC: Self = Self(0x200);
    /// Without geometry: an F-node (K22).
    pub const FREE: Self = Self(0x400);
    /// Marked for cutting.
    pub const CUT_MARK: Self = Self(0x800);
    /// Instruments pass through it.
    pub const NOT_INTERACTIVE: Self = Self(0x1000);
    /// Coagulated.
    pub const COAGULATED: Self = Self(0x2000);
    /// First bit of the mark that rules of behaviour refer to; the bits above belong to it.
    pub const MANIPULATION_MARK: Self = Self(0x10000);

    /// What was done to a node and stays: a scene may begin after it, and a command may do it.
    pub const TREATED: Self =
        Self(Self::CLIPPED.0 | Self::CUT.0 | Self::DIVIDED.0 | Self::COAGULATED.0);

    /// What a model file may say of a node; all else tells what it is or what is being done to it.
    pub const WRITABLE: Self =
        Self(0xFFFF_0000 | Self::CUT_MARK.0 | Self::NOT_INTERACTIVE.0 | Self::TREATED.0);

    /// True if all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets or clears the bits of `other`.
    pub fn set(&mut self, other: Self, on: bool) {
        if on {
            self.0 |= other.0;
        } else {
            self.0 &= !other.0;
        }
    }
}
