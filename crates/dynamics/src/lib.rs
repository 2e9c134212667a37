//! Everything that carries momentum: state, matter, anchors, ties and contacts.
//!
//! [`State`] is plain data: for every piece of [`Matter`] its [`Nodes`]. An [`Anchor`] is a point on
//! any matter. Whatever ties or touches two things is written once, between two anchors, and
//! solved by impulses that make the end of the substep right ([`solve`]).

pub mod anchor;
pub mod bodies;
pub mod cast;
pub mod constraint;
pub mod crew;
pub mod integrator;
pub mod joint;
pub mod kinematic;
pub mod masses;
pub mod matter;
pub mod rigid;
pub mod solve;
pub mod stages;
pub mod state;

pub use anchor::{Anchor, Local, MatterId, Point};
pub use bodies::{Bodies, BodyNumber, Hold};
pub use cast::Cast;
pub use constraint::{BodyContact, Contact, Pull, Tie, TieKind};
pub use crew::Crew;
pub use integrator::Integrator;
pub use joint::{Joint, JointForce};
pub use kinematic::Kinematic;
pub use masses::{Lock, MassNode, Masses};
pub use matter::{Field, Matter};
pub use rigid::{Rigid, Turning};
pub use solve::{Bonds, Budget, Method, Outcome};
pub use stages::Stages;
pub use state::{Nodes, State};
