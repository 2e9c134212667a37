//! Tissues: nodal nets by the MESD method (Kuhn 1997), and membranes that tear (Weber 2009).
//!
//! A [`Net`] is a set of masses joined by connection elements, with a memory of its shape and a
//! hierarchy of fathers and children. [`primitive`] builds the three shapes the
//! method is made for: organ, pipe and sheet. [`Hyper`] nodes couple nets. [`stability`] says how
//! long a substep may be. [`membrane`] is sheets that stick, peel, fold and tear.

pub mod element;
pub mod energy;
pub mod global;
pub mod hyper;
pub mod membrane;
pub mod net;
pub mod primitive;
pub mod stability;
pub mod surface;

pub use element::{Active, Base, Drive, Element, Input, Law, Piece, Pieces, Plastic, Signal};
pub use global::{Global, Link};
pub use hyper::Hyper;
pub use net::{Net, NetError, NetParts, NodeFlags, OwnMemory};
pub use primitive::{Material, NetKind};
pub use stability::StepBounds;
