//! Why an edit did not happen.

use super::{EdgeId, Fault, NodeId, TriangleId};

/// Why an edit was refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The node is gone.
    #[error("node {0} is gone; follow the events of the edits before")]
    NoNode(NodeId),
    /// The edge is gone.
    #[error("edge {0} is gone; follow the events of the edits before")]
    NoEdge(EdgeId),
    /// The triangle is gone.
    #[error("triangle {0} is gone; follow the events of the edits before")]
    NoTriangle(TriangleId),
    /// No edge joins the two.
    #[error("no edge joins nodes {0} and {1}")]
    NotNeighbours(NodeId, NodeId),
    /// A number is not finite, or lies outside of where it must be.
    #[error("the point to edit at must lie strictly inside of what is edited")]
    OutOfRange,
    /// The node lies on a rim: moved or taken away, it would change what the sheet covers.
    #[error("node {0} holds the rim of the sheet in place")]
    HoldsRim(NodeId),
    /// The edge lies on a rim already.
    #[error("edge {0} lies on a rim")]
    OnRim(EdgeId),
    /// The edit would turn a triangle over or leave it with hardly any area.
    #[error("triangle {0} would be turned over or lose its area")]
    Degenerate(TriangleId),
    /// The four nodes do not lie so that the other diagonal runs inside.
    #[error("the two triangles at edge {0} do not form a convex figure")]
    NotConvex(EdgeId),
    /// An edge between the nodes exists already.
    #[error("nodes {0} and {1} are joined already")]
    Joined(NodeId, NodeId),
    /// The edit would fold the sheet onto itself: the two nodes have more neighbours in common than their triangles.
    #[error("nodes {0} and {1} can't become one without closing the sheet onto itself")]
    Pinch(NodeId, NodeId),
    /// The sheet would have more parts than it can name.
    #[error("the sheet has as many parts as it can name")]
    Full,
    /// The edit left the sheet broken and was taken back: a mistake in this program.
    #[error("the edit left the sheet broken ({0}) and was taken back; please report this")]
    Broken(Fault),
}
