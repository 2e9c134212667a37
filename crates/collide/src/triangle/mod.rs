//! Whether two triangles touch, and where: decided exactly, with no tolerance.
//!
//! Huang's improved projection test (H70–H73) sorts a pair by the sides on which the corners of one triangle lie of the
//! other's plane, renames corners so that it is known which edges cross the plane, and compares on the line that both planes
//! share the stretch of one triangle with that of the other. He compares rounded coordinates of rounded points. Here each of his comparisons
//! is the sign of a determinant of given corners ([`trocar_math::orient`]): sides of planes first, which settle most pairs that do not
//! touch, then two comparisons of the ends of stretches; so the decision is right for all coordinates that are 0 or between 10⁻⁷⁵ and 10⁷⁵ in
//! size, beyond which products leave the range of numbers; and no division is made for it. A pair beyond that range is brought into it by a power of two; one that spans more
//! than all of it, or has a corner that is no number, may touch: nobody is told that it does not. What is rounded is the place of the contact alone, never its kind.
//!
//! Most pairs are told by floating point for both triangles at once ([`certain`]); what it can't tell goes through determinants one by one.
//!
//! A triangle is closed: corners and edges belong to it. One without area counts as the segment or point it is.

mod certain;
mod contact;
mod crossing;
mod flat;
mod range;
mod shape;
pub mod suite;

pub use contact::{Contact, Polygon};
pub use crossing::{contact, touch};

#[cfg(test)]
mod tests;
