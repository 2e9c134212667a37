//! Springs that yield and remember it: plasticity, which the source has only as dead zones (K34) and limits.

use serde::{Deserialize, Serialize};

/// How a spring yields. Everything is told in stretches, so that it means the same for every base function and transform.
///
/// ```text
/// x = l − l₀ − s                                elastic stretch, which the law answers
/// |x − r s| ≤ y = ε l₀                           else s flows until this holds again
/// ```
///
/// with the flow s (m) as the memory of the element, the yield strain ε and the hardening r. In a test of tension the slope falls
/// from k to k r / (1 + r) where it yields; when it is turned back it yields again after a way of 2 y (kinematic
/// hardening after Prager: what was drawn long yields the earlier when pressed).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plastic {
    /// Strain ε at which it begins to yield, as a part of the rest length, ≥ 0.
    pub yield_strain: f64,
    /// Hardening r, ≥ 0: 0 flows on under a constant force; without end it would not flow at all.
    pub hardening: f64,
    /// So much of its rest length it flows at most, either way, from 0 to below 1: what is pressed to nothing
    /// would have no direction.
    pub most: f64,
}

impl Plastic {
    /// Yields at `yield_strain`, hardens by `hardening`, flows to half and to one and a half of its length at most.
    pub const fn new(yield_strain: f64, hardening: f64) -> Self {
        Self {
            yield_strain,
            hardening,
            most: 0.5,
        }
    }

    /// The flow (m) after a spring with `flow` was brought to `stretch` = l − l₀ (m): the closest point at which it
    /// does not yield. Asked again with the same stretch, it answers with what it was given, to rounding.
    #[inline]
    pub fn settled(&self, stretch: f64, flow: f64, rest_length: f64) -> f64 {
        self.eased(stretch, flow, rest_length, 0.0).0
    }

    /// [`settled`](Self::settled) for a spring that is `spared` (m): somebody had it forget its flow while it was drawn (or, below 0, pressed) so far.
    /// It does not yield on its way back; what it has come back it is spared no longer. Returns the flow, and up to where it is spared from now on.
    #[inline]
    pub fn eased(&self, stretch: f64, flow: f64, rest_length: f64, spared: f64) -> (f64, f64) {
        let over = stretch - flow - self.hardening * flow;
        let bound = self.yield_strain * rest_length;
        let borne = over.clamp((-bound).min(spared), bound.max(spared));
        let most = self.most * rest_length;
        // What lies beyond already is not drawn back: `most` may have been changed meanwhile.
        let most = most.max(flow.abs());
        let flow = (flow + (over - borne) / (1.0 + self.hardening)).clamp(-most, most);
        (flow, if borne.abs() > bound { borne } else { 0.0 })
    }

    pub(super) fn objection(&self) -> Option<&'static str> {
        let sound = |x: f64| x >= 0.0 && x.is_finite();
        if !(sound(self.yield_strain) && sound(self.hardening)) {
            return Some("yield strain and hardening must be at least 0 and finite");
        }
        if !(0.0..1.0).contains(&self.most) {
            return Some("a spring may flow by a part of its length from 0 to below 1");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Law;

    const REST: f64 = 0.02;

    /// Draws a spring along `way` (stretches, m) in small steps; returns the work done and the forces at the corners.
    fn drawn(law: &Law, way: &[f64]) -> (f64, Vec<f64>) {
        let plastic = law.plastic.unwrap();
        let (mut flow, mut at, mut work) = (0.0, 0.0, 0.0);
        let mut corners = Vec::new();
        for to in way {
            let n = 20_000;
            let d = (to - at) / f64::from(n);
            let begin = at;
            let mut before = law.tension(at - flow);
            for i in 1..=n {
                at = begin + f64::from(i) * d;
                flow = plastic.settled(at, flow, REST);
                let force = law.tension(at - flow);
                work += 0.5 * (before + force) * d;
                before = force;
            }
            corners.push(law.tension(at - flow));
        }
        (work, corners)
    }

    #[test]
    fn a_loop_of_tension_and_compression_has_the_corners_and_the_area_of_the_closed_form() {
        let (k, far) = (50.0, 0.005);
        for (strain, hardening) in [(0.1, 0.0), (0.1, 0.25), (0.05, 1.0)] {
            let law = Law {
                plastic: Some(Plastic::new(strain, hardening)),
                ..Law::spring(k)
            };
            let y = strain * REST;
            // Beyond yielding the slope is k r / (1 + r).
            let peak = k * y + k * hardening / (1.0 + hardening) * (far - y);
            // Once around, until the loop is closed, and then one whole loop.
            let (start, corners) = drawn(&law, &[far, -far, far]);
            for (force, wanted) in corners.iter().zip([peak, -peak, peak]) {
                assert!((force - wanted).abs() < 1e-9, "{force} {wanted}");
            }
            let (whole, _) = drawn(&law, &[far, -far, far, -far, far]);
            let area = 4.0 * k * y * (far - y) / (1.0 + hardening);
            assert!(
                ((whole - start) / area - 1.0).abs() < 1e-3,
                "{hardening}: {}",
                whole - start
            );
        }
    }

    #[test]
    fn below_yielding_nothing_is_lost_and_beyond_it_something_is_left() {
        let law = Law {
            plastic: Some(Plastic::new(0.1, 0.5)),
            ..Law::spring(50.0).squared()
        };
        let (work, corners) = drawn(&law, &[0.0019, -0.0019, 0.0]);
        assert!(work.abs() < 1e-12 && corners[2] == 0.0);
        // Drawn by 5 mm it flows by (5 − 2) / 1.5 mm; let go it stays that much longer.
        let plastic = law.plastic.unwrap();
        let flow = plastic.settled(0.005, 0.0, REST);
        assert!((flow - 0.002).abs() < 1e-15);
        assert_eq!(plastic.settled(flow, flow, REST), flow);
        assert_eq!(law.tension(0.002 - flow), 0.0);
    }

    #[test]
    fn what_is_spared_comes_back_without_yielding_and_yields_again_when_drawn_on() {
        let plastic = Plastic::new(0.1, 0.3);
        // It yields at 2 mm, and was made to forget at 5 mm: back to nothing it leaves no flow.
        for side in [1.0, -1.0] {
            let (mut flow, mut spared) = (0.0, side * 0.005);
            for step in (0..=50).rev() {
                let stretch = side * 1e-4 * f64::from(step);
                (flow, spared) = plastic.eased(stretch, flow, REST, spared);
                assert_eq!(flow, 0.0, "{stretch}");
                assert!(spared.abs() <= stretch.abs());
            }
            assert_eq!(spared, 0.0);
            // At 4 mm it is let be; drawn on from 3 mm, where it had come back to, it flows as one that yields there.
            let (flow, spared) = plastic.eased(side * 0.003, 0.0, REST, side * 0.004);
            assert_eq!((flow, spared), (0.0, side * 0.003));
            let (flow, spared) = plastic.eased(side * 0.0043, flow, REST, spared);
            assert!((flow - side * 0.001).abs() < 1e-12 && spared == side * 0.003);
            // Sparing one side spares not the other.
            let (flow, spared) = plastic.eased(-side * 0.0033, 0.0, REST, side * 0.004);
            assert!((flow + side * 0.001).abs() < 1e-12 && spared == 0.0);
        }
    }

    #[test]
    fn settling_twice_changes_nothing_and_there_is_an_end_to_it() {
        let plastic = Plastic::new(0.1, 0.3);
        for stretch in [-0.018, -0.004, 0.001, 0.007, 0.5] {
            let once = plastic.settled(stretch, 0.0005, REST);
            let twice = plastic.settled(stretch, once, REST);
            assert!((once - twice).abs() < 1e-17 + 1e-15 * once.abs());
            assert!(once.abs() <= 0.5 * REST);
        }
        assert_eq!(plastic.settled(0.5, 0.0, REST), 0.5 * REST);
    }
}
