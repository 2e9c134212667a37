//! How long a substep may be (K69).
//!
//! The MESD scheme on M ẍ + D ẋ + K x = 0 is stable as long as h² K ≤ 4 M + 2 h D (both sides as
//! quadratic forms; explicit dampers C between nodes count as −C in D): written for an eigenvector with mass m, damping d and stiffness k that is
//!
//! ```text
//! h = ( d + √(d² + 4 m k) ) / k
//! ```
//!
//! Other integrators have bounds of their own ([`Integrator::critical_step`]); nets of different ones may hang together, so
//! the bound of a group that is not all MESD is found by trying the scheme itself, from the guess that its stiffest mode
//! gives.
//!
//! The bound printed in the source (3.96) has 2mk instead of 4mk: it takes the old velocity for an
//! input and is stricter than need be.

mod gauge;
mod mode;
mod probe;
mod rows;
mod stiffest;
mod trial;

pub use gauge::Gauge;
pub use rows::{Added, safe_step};

use crate::{Global, Hyper, Net};
use probe::Probe;
use rows::{added, node_stiffness};
use stiffest::stiffest_step;
use trocar_dynamics::Matter;

/// Bounds on the substep of a group of coupled nets, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBounds {
    /// The exact bound for small motion about rest, from the stiffest mode and the integrators of the nets.
    pub exact: f64,
    /// A bound that holds in every configuration: linear springs of any direction; quadratic ones up to twice their
    /// rest length and at least a centimetre, quadratic memory up to a centimetre; children half as far again from their fathers as built.
    pub safe: f64,
    /// The author's own estimate (3.96), a node at a time.
    pub kuhn: f64,
    /// True if the nets swing up by themselves at any step: so does what is not damped by schemes that need damping. No step is short
    /// enough then.
    pub flutters: bool,
}

/// The exact bound of one mode, s; infinite if nothing can excite it. `mass` kg, `stiffness` N/m.
/// `damping` N·s/m is the node's own, implicit damping *minus* that of dampers between nodes, which
/// act explicitly and so narrow the bound.
pub fn critical_step(mass: f64, damping: f64, stiffness: f64) -> f64 {
    step_bound(mass, damping, stiffness, 4.0)
}

/// The printed bound (3.96) of one node, s.
pub fn kuhn_step(mass: f64, damping: f64, stiffness: f64) -> f64 {
    step_bound(mass, damping, stiffness, 2.0)
}

/// The positive root of h² k = f m + 2 h d (f = 4 or 2).
fn step_bound(mass: f64, damping: f64, stiffness: f64, factor: f64) -> f64 {
    let root = (damping * damping + factor * mass * stiffness.max(0.0)).sqrt();
    // Two forms of the same root; each avoids the difference of equal numbers.
    if damping < 0.0 {
        factor * mass / (root - damping)
    } else if stiffness > 0.0 {
        (damping + root) / stiffness
    } else {
        f64::INFINITY
    }
}

/// The author's estimate for a net, s: every node alone, its neighbours at rest.
fn kuhn_bound(net: &Net) -> f64 {
    let masses = net.masses();
    node_stiffness(net)
        .iter()
        .enumerate()
        .fold(f64::INFINITY, |bound, (i, k)| {
            bound.min(kuhn_step(masses.mass()[i], masses.damping()[i], *k))
        })
}

/// All bounds of a group of nets coupled by `hypers`. In the hypers, a matter's id is its index in
/// `nets`, so a group is judged without the rest of the scene.
pub fn bounds(nets: &[&Net], hypers: &[Hyper]) -> StepBounds {
    bounds_with(nets, hypers, &[])
}

/// [`bounds`] of nets that `globals` join as well, to each other and to fixed points.
pub fn bounds_with(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> StepBounds {
    let added = added(nets, hypers, globals);
    let (exact, flutters) = Probe::new(nets, hypers, globals).exact_step();
    let safe = nets
        .iter()
        .zip(&added)
        .map(|(net, added)| safe_step(net, &|i| added[i]))
        .fold(f64::INFINITY, f64::min);
    StepBounds {
        exact,
        // The rows of fathers, which carry others, are judged as a whole: at rest, and as stiff as they can become. A scheme that swings up a
        // node left alone swings up the net, too.
        safe: safe
            .min(0.9 * exact)
            .min(stiffest_step(nets, hypers, globals)),
        kuhn: nets
            .iter()
            .map(|net| kuhn_bound(net))
            .fold(f64::INFINITY, f64::min),
        flutters: flutters || safe == 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_one_oscillator_are_the_printed_and_the_exact_formula() {
        let (m, d, k) = (0.002, 0.2, 9.8);
        assert!((critical_step(m, d, k) - 0.0555).abs() < 5e-5);
        assert!((kuhn_step(m, d, k) - 0.0491).abs() < 5e-5);
        assert_eq!(critical_step(m, d, 0.0), f64::INFINITY);
        // A damper alone: |m − h c| ≤ m.
        assert!((critical_step(m, -0.5, 0.0) - 2.0 * m / 0.5).abs() < 1e-15);
    }
}
