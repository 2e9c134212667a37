//! The stiffest mode of a group.

use super::{
    critical_step,
    probe::{Probe, rough},
};
use crate::{Global, Net, element};
use glam::DVec3;
use trocar_dynamics::{Integrator, Matter, integrator::Mode, masses::Brake};

impl Probe<'_> {
    /// D x of all damping but that of dampers, N·s/m times what `x` is.
    fn damped(&mut self, x: &[DVec3]) -> Vec<DVec3> {
        if self.nets.iter().any(|net| net.masses().has_families()) {
            self.clear();
            for (u, x) in self.unknowns.iter().zip(x) {
                let nodes = &mut self.work[u.net];
                (if u.turns {
                    &mut nodes.spin
                } else {
                    &mut nodes.velocity
                })[u.node] = u.freed(*x);
            }
            for (net, nodes) in self.nets.iter().zip(&mut self.work) {
                net.masses().brake(nodes, 0.0, Brake::Explicit);
            }
        } else {
            self.clear();
        }
        let both = self.unknowns.iter().zip(x);
        both.map(|(u, x)| {
            let bonds = match self.nets[u.net].masses().integrator() {
                Integrator::QuasiDynamic(factor) => u.of(&self.work[u.net]) / factor,
                _ => u.of(&self.work[u.net]),
            };
            u.freed(*x) * u.damping - bonds
        })
        .collect()
    }

    /// True if the scheme of a net takes its damping at the start of a substep: it narrows the step then.
    fn damps_explicitly(&self, net: usize) -> bool {
        self.nets[net].masses().integrator().predictor() == Integrator::Euler
    }

    /// Turns what is pushed with `x` into (4 M + 2 h D)⁻¹ x. What families share of D is eliminated as their substeps do it: with half
    /// the step (M + h D/2) v' = h f/2.
    fn yield_to(&mut self, x: &mut [DVec3], h: f64) {
        self.clear();
        for (u, x) in self.unknowns.iter().zip(x.iter()) {
            let nodes = &mut self.work[u.net];
            (if u.turns {
                &mut nodes.torque
            } else {
                &mut nodes.force
            })[u.node] = *x;
        }
        for (net, nodes) in self.nets.iter().zip(&mut self.work) {
            let masses = net.masses();
            match masses.integrator() {
                Integrator::QuasiDynamic(factor) => {
                    masses.brake(nodes, h, Brake::Massless(factor));
                }
                i if i.predictor() == Integrator::Euler => {}
                _ => masses.brake(nodes, 0.5 * h, Brake::Implicit(1.0)),
            }
        }
        for (u, x) in self.unknowns.iter().zip(x) {
            let (masses, felt) = (self.nets[u.net].masses(), u.of(&self.work[u.net]));
            *x = match masses.integrator() {
                // 2 h D/q x = f, where children are damped by as much as others once their fathers are known.
                Integrator::QuasiDynamic(factor) => {
                    let damping = match u.turns {
                        true => masses.turn_damping()[u.node],
                        false => masses.damping()[u.node],
                    };
                    u.axes
                        * (u.gains * (u.axes.conjugate() * felt))
                        * (factor / (2.0 * h * damping))
                }
                i if i.predictor() == Integrator::Euler => u.yields(felt, 0.0),
                _ => u.yields(felt, h),
            };
        }
    }

    /// What the stiffest mode says of the step, by all schemes there are, s.
    pub(super) fn mode_step(&self) -> f64 {
        let mode = Mode {
            drag: 0.0,
            ..self.stiffest
        };
        self.scheme_step(&mode)
            .min(critical_step(mode.mass, mode.damping, mode.stiffness))
    }

    /// The least step of a mode by the schemes that are not like MESD; infinite if there are none. Without mass (4 M + 2 h D is 2 h D then)
    /// MESD's formula holds as well.
    pub(super) fn scheme_step(&self, mode: &Mode) -> f64 {
        let schemes = self.nets.iter().map(|net| net.masses().integrator());
        schemes
            .filter(|i| !matches!(i, Integrator::Mesd | Integrator::QuasiDynamic(_)))
            .map(|i| i.critical_step(mode))
            .fold(f64::INFINITY, f64::min)
    }

    /// Finds the stiffest mode by power iteration: each round applies (4M + 2hD)⁻¹ (h² K + 2h C) and takes
    /// the step at which the present shape would be on the edge of stability.
    pub(super) fn critical_step(&mut self) -> f64 {
        if self.unknowns.is_empty() {
            return f64::INFINITY;
        }
        // Small against any cell, large against rounding.
        const SCALE: f64 = 1e-7;
        // Any start will do that is not orthogonal to the stiffest mode; this one is rough.
        let start = self.unknowns.iter().enumerate();
        let mut x: Vec<DVec3> = start
            .map(|(i, u)| u.axes * (u.gains * (u.axes.conjugate() * rough(i))))
            .collect();
        let damped =
            self.nets.iter().any(|net| has_dampers(net)) || self.globals.iter().any(Global::damps);
        let rounds = if self.unknowns.len() > 20_000 {
            60
        } else {
            400
        };
        let mut step = f64::INFINITY;
        for round in 0..rounds {
            let pull = self.slope(&x, SCALE, 0.0);
            let mut drag = if damped {
                self.slope(&x, 0.0, SCALE)
            } else {
                vec![DVec3::ZERO; x.len()]
            };
            let held = self.damped(&x);
            let (mut mass, mut damping, mut own, mut stiffness) = (0.0, 0.0, 0.0, 0.0);
            let mut between = 0.0;
            for (i, u) in self.unknowns.iter().enumerate() {
                let (heavy, damped) = (u.heavy(x[i]), x[i].dot(held[i]));
                mass += heavy;
                own += damped;
                between += x[i].dot(drag[i]);
                stiffness += x[i].dot(pull[i]);
                if self.damps_explicitly(u.net) {
                    damping -= damped;
                    drag[i] += held[i];
                } else {
                    damping += damped;
                }
            }
            damping -= between;
            self.stiffest = Mode {
                mass,
                damping: own,
                drag: between,
                stiffness,
            };
            let next = critical_step(mass, damping, stiffness);
            if round > 30 && (next - step).abs() < 1e-7 * next {
                return next;
            }
            step = next;
            if !step.is_finite() {
                // Nothing resists this shape: look at the mode the forces point to instead.
                step = 1.0;
            }
            for (x, (pull, drag)) in x.iter_mut().zip(pull.iter().zip(&drag)) {
                *x = *pull * (step * step) + *drag * (2.0 * step);
            }
            self.yield_to(&mut x, step);
            let size = x.iter().map(|x| x.length_squared()).sum::<f64>().sqrt();
            if size == 0.0 || !size.is_finite() {
                return f64::INFINITY;
            }
            x.iter_mut().for_each(|x| *x /= size);
        }
        step
    }
}

fn has_dampers(net: &Net) -> bool {
    net.slopes()
        .any(|(_, input, _)| input == element::Input::Velocity)
}
