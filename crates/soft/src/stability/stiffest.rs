//! Nets with fathers as stiff as they can become.

use super::probe::Probe;
use crate::{Global, Hyper, Net, element};
use trocar_dynamics::{Integrator, Matter};

/// How many times farther than they were built children may be from their father, along the way they were built.
const FARTHER: f64 = 1.5;

/// The bound of nets with fathers as stiff as they can become, s; infinite if there are no fathers.
///
/// Rows of a father's children tell nothing of the father, and the exact bound only tells of rest. So every element is replaced by a linear one of
/// its greatest slope that acts alike along and across (a spring of no length). As quadratic forms these are above the elements in any
/// configuration. Memory holds a father against turning by Σ k b·r, where b is how far a child was built from it and r how far it is now: so far as
/// [`FARTHER`] says that is counted as well. So are bends and twists with arms as short as they act undiminished. What grows at any step then is no reason to refuse: no configuration is as stiff everywhere at once; its
/// stiffest mode alone is asked.
pub(super) fn stiffest_step(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> f64 {
    if nets.iter().all(|net| net.masses().frames() == 0) {
        return f64::INFINITY;
    }
    let linear = |law: element::Law, slope: f64| match law.input {
        element::Input::Distance => element::Law::spring(slope),
        element::Input::Velocity => element::Law::damper(slope),
    };
    let stiff: Option<Vec<Net>> = nets
        .iter()
        .map(|net| {
            let slopes: Vec<f64> = net.slopes().map(|x| x.2).collect();
            let mut stiff = (*net).clone();
            let changed = stiff.change(|parts| {
                for (e, slope) in parts.elements.iter_mut().zip(slopes) {
                    e.law = linear(e.law, slope);
                    e.rest_length = 0.0;
                }
                parts.actives.clear();
                // With arms as short as they count; what is built is not changed by it.
                for bend in &mut parts.bends {
                    bend.constant /= element::FADES;
                }
                for twist in &mut parts.twists {
                    twist.constant /= element::FADES * element::FADES;
                }
                // What explicit damping of children takes grows with the square of how far they are.
                let explicit = parts.integrator.predictor() == Integrator::Euler;
                let farther = if explicit { FARTHER * FARTHER } else { FARTHER };
                for rigid in parts.nodes.iter_mut().filter_map(|n| n.rigid.as_mut()) {
                    // As much stiffer against turning as lighter.
                    rigid.inertia = rigid.inertia.map(|i| i / farther);
                    rigid.damping /= farther;
                }
                for (i, memory) in parts.memory.iter_mut().enumerate() {
                    if net.memory_base(i) == element::Base::Quadratic {
                        *memory *= 2.0 * element::LEAST_REACH;
                    }
                }
                parts.memory_base = element::Base::Linear;
                let own = parts.own_memory.iter_mut();
                own.for_each(|own| own.base = element::Base::Linear);
            });
            changed.ok().map(|()| stiff)
        })
        .collect();
    let Some(stiff) = stiff else {
        return f64::INFINITY;
    };
    let stiff: Vec<&Net> = stiff.iter().collect();
    let globals: Vec<Global> = globals.iter().map(Global::stiffest).collect();
    let mut probe = Probe::new(&stiff, hypers, &globals);
    match probe.exact_step() {
        (_, true) => probe.mode_step(),
        (step, false) => step,
    }
}
