//! How long a substep may be (K69).
//!
//! The MESD scheme on M ẍ + D ẋ + K x = 0 is stable as long as h² K ≤ 4 M + 2 h D (both sides as
//! quadratic forms; explicit dampers C between nodes count as −C in D): written for an eigenvector with mass m, damping d and stiffness k that is
//!
//! ```text
//! h = ( d + √(d² + 4 m k) ) / k
//! ```
//!
//! Other integrators have bounds of their own ([`trocar_dynamics::Integrator::critical_step`]); nets of different ones may hang together, so
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
mod tempo;
mod trial;

pub use gauge::Gauge;
pub use rows::{Added, Stiffest, safe_step, stiffest};
pub use tempo::Tempo;

use crate::{Global, Hyper, Net};
use probe::Probe;
use rows::{added, node_stiffness};
use stiffest::stiffest_step;
use trocar_dynamics::{Lock, Matter};

/// Bounds on the substep of a group of coupled nets, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBounds {
    /// The exact bound for small motion about rest, from the stiffest mode and the integrators of the nets. Of more than 20 000 nodes that mode is
    /// found by fewer rounds, to a percent or two; what is stepped by is [`safe`](Self::safe).
    pub exact: f64,
    /// A bound that holds in every configuration: linear springs of any direction; quadratic ones up to twice their
    /// rest length and at least a centimetre, quadratic memory up to a centimetre; children half as far again from their fathers as built.
    pub safe: f64,
    /// The author's own estimate (3.96), a node at a time.
    pub kuhn: f64,
    /// The shortest time constant of a node, its neighbours at rest: the author wants substeps of a tenth of it (K68), for exactness rather
    /// than stability.
    pub time_constant: f64,
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

/// Both time constants of one oscillator, s, the shorter one first (3.79, 3.80): of its two ways to come to rest if it is damped strongly, and of
/// dying away and swinging if it is not. `mass` kg, `damping` N·s/m, `stiffness` N/m.
pub fn time_constants(mass: f64, damping: f64, stiffness: f64) -> [f64; 2] {
    let inner = damping * damping - 4.0 * mass * stiffness;
    let both = if inner >= 0.0 {
        // The other root by the product of both, m/k: their difference would lose digits.
        let short = 2.0 * mass / (damping + inner.sqrt());
        [short, mass / (stiffness * short)]
    } else {
        [2.0 * mass / damping, 2.0 * mass / (-inner).sqrt()]
    };
    [both[0].min(both[1]), both[0].max(both[1])]
}

/// The positive root of h² k = f m + 2 h d (f = 4 or 2). What is stiffer than numbers can say bears no step at all.
fn step_bound(mass: f64, damping: f64, stiffness: f64, factor: f64) -> f64 {
    let root = (damping * damping + factor * mass * stiffness.max(0.0)).sqrt();
    if !(root.is_finite() && stiffness.is_finite()) {
        return 0.0;
    }
    // Two forms of the same root; each avoids the difference of equal numbers.
    if damping < 0.0 {
        factor * mass / (root - damping)
    } else if stiffness > 0.0 {
        (damping + root) / stiffness
    } else {
        f64::INFINITY
    }
}

/// The least of what is said of every node alone by its mass, damping and stiffness, its neighbours at rest, s.
fn least(net: &Net, of: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let masses = net.masses();
    node_stiffness(net)
        .iter()
        .enumerate()
        .filter(|(i, _)| masses.lock(*i) != Lock::Fixed)
        .fold(f64::INFINITY, |bound, (i, k)| {
            bound.min(of(masses.mass()[i], masses.damping()[i], *k))
        })
}

/// All bounds of a group of nets coupled by `hypers`. In the hypers, a matter's id is its index in
/// `nets`, so a group is judged without the rest of the scene.
pub fn bounds(nets: &[&Net], hypers: &[Hyper]) -> StepBounds {
    bounds_with(nets, hypers, &[])
}

/// [`bounds`] of nets that `globals` join as well, to each other and to fixed points.
///
/// Elements whose stiffness is driven (K44) count as stiff as they ever are.
pub fn bounds_with(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> StepBounds {
    let stiff: Vec<Option<Net>> = nets.iter().map(|net| net.stiffened()).collect();
    let nets = nets.iter().zip(&stiff);
    let nets: Vec<&Net> = nets
        .map(|(net, stiff)| stiff.as_ref().unwrap_or(net))
        .collect();
    let nets = &nets[..];
    let globals: Vec<Global> = globals.iter().map(Global::stiffened).collect();
    let globals = &globals[..];
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
            .map(|net| least(net, kuhn_step))
            .fold(f64::INFINITY, f64::min),
        time_constant: nets
            .iter()
            .map(|net| least(net, |m, d, k| time_constants(m, d, k)[0]))
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
        // Strongly damped: the roots of λ² + d/m λ + k/m; weakly: e^(−t/τ) and sin(t/τ).
        let (m, d, k) = (0.002, 0.3, 4.0);
        for tau in time_constants(m, d, k) {
            let root: f64 = -1.0 / tau;
            assert!((m * root * root + d * root + k).abs() < 1e-12);
        }
        let [swing, die] = time_constants(0.5, 0.1, 50.0);
        assert!(
            (die - 10.0).abs() < 1e-12 && (swing - 1.0 / (100.0_f64 - 0.01).sqrt()).abs() < 1e-12
        );
        let m = 0.002;
        // A damper alone: |m − h c| ≤ m.
        assert!((critical_step(m, -0.5, 0.0) - 2.0 * m / 0.5).abs() < 1e-15);
    }
}
