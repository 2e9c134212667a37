//! Contacts between rigid bodies (B73–B79).
//!
//! What a body is to collisions is its [`Form`], apart from how it looks and how it moves (B79); a [`Shape`] is a form
//! that has been checked and made ready. Each step
//!
//! 1. [`Broad`] finds the pairs whose boxes overlap (B73),
//! 2. a [`Detector`] finds where the shapes of each pair touch (B74–B78) and writes [`Manifold`]s into [`Contacts`].
//!
//! Detectors can be exchanged (B76): [`Regions`] gives the whole contact region, [`Deepest`] one point a pair (B102).
//!
//! **Results depend on shapes, poses and margins alone**, never on what was computed before, in which order, or by how
//! many threads: pairs are sorted, manifolds are sorted by pair and part, points by their features. A restored snapshot
//! therefore sees the same contacts, to the bit. What lives from step to step is memory, not numbers. To go on with the
//! impulses of the last step, match [`Manifold::pair`], [`Manifold::part`] and [`Point::id`].
//!
//! Distances, penetrations and the contacts of round things are computed by `parry`; the region between polyhedra is
//! clipped here, because there it must be complete, free of doubles, and keep its identities while a stack trembles.
//!
//! Once warm, nothing is allocated, except where parry measures how deep something round overlaps a hull, or a capsule,
//! cylinder or hull a box or a triangle of a mesh.
//!
//! ```
//! use glam::DVec3;
//! use trocar_collide::rigid::{Contacts, Detector, Form, Pair, Regions, Scratch, Shape, World};
//! use trocar_math::Pose;
//!
//! let table = Shape::new(&Form::Box { half: DVec3::new(1.0, 0.5, 1.0) })?;
//! let cube = Shape::new(&Form::Box { half: DVec3::splat(0.1) })?;
//! let mut above = Pose::IDENTITY;
//! above.position.y = 0.599;
//! let world = World {
//!     shapes: &[table, cube],
//!     poses: &[Pose::IDENTITY, above],
//!     margins: &[0.001, 0.001],
//! };
//! let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
//! Regions.narrow(&world, &[Pair { a: 0, b: 1 }], &mut scratch, &mut contacts);
//! assert_eq!(contacts.manifolds[0].normal, DVec3::Y);
//! assert_eq!(contacts.points.len(), 4);
//! # Ok::<(), trocar_collide::rigid::ShapeError>(())
//! ```

mod boxes;
mod broad;
mod clip;
mod contacts;
mod detect;
mod facet;
mod form;
mod impact;
mod polygon;
mod regions;
mod shape;
mod shell;
mod solid;

pub use broad::{Broad, Pair};
pub use contacts::{Contacts, Manifold, Point};
pub use detect::{Deepest, Detector, World};
pub use facet::{FacetScratch, Kind, Meeting, Nearness, Piece};
pub use form::{Form, MAX_POINTS, MAX_SIZE, MIN_SIZE, ShapeError};
pub use impact::{Motion, time_of_impact};
pub use regions::{Regions, Scratch};
pub use shape::{Nearest, Shape};
