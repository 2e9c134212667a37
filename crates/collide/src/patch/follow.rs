//! How far nodes have gone: a look at every one of them, by all threads.

use glam::DVec3;
use trocar_math::{Bounds, Workers};

/// Nodes that one thread looks at together, at least: less is done before another has been called.
const SPAN: usize = 8192;

/// There are never more parts: they stand on the stack.
const MOST: usize = 32;

/// What was found of some nodes. Only least and greatest, so that it does not depend on who looked at which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    /// Square of the farthest way since the last time, m².
    pub far: f64,
    /// Square of the farthest way since boxes were fitted, m².
    pub drift: f64,
    /// A box around them.
    pub extent: Bounds,
    /// Square of the greatest speed, m²/s²; what is no number does not count.
    pub speed: f64,
    finite: bool,
}

impl Gone {
    const NONE: Self = Self {
        far: 0.0,
        drift: 0.0,
        extent: Bounds::EMPTY,
        speed: 0.0,
        finite: true,
    };

    fn and(self, other: Self) -> Self {
        Self {
            far: self.far.max(other.far),
            drift: self.drift.max(other.drift),
            extent: Bounds {
                low: self.extent.low.min(other.extent.low),
                high: self.extent.high.max(other.extent.high),
            },
            speed: self.speed.max(other.speed),
            finite: self.finite & other.finite,
        }
    }
}

/// Nodes as they were and as they are.
struct Span<'a> {
    before: &'a mut [DVec3],
    now: &'a [DVec3],
    /// Where they were when boxes were fitted; empty if nobody knows.
    fitted: &'a [DVec3],
    /// How fast they are; empty if nobody asks.
    velocity: &'a [DVec3],
    gone: Gone,
}

impl Span<'_> {
    fn look(&mut self) {
        let mut gone = Gone::NONE;
        for (k, (before, now)) in self.before.iter_mut().zip(self.now).enumerate() {
            let way = before.distance_squared(*now);
            // A place that is no number has no way, now and the next time.
            gone.finite &= way.is_finite();
            gone.far = gone.far.max(way);
            gone.extent.low = gone.extent.low.min(*now);
            gone.extent.high = gone.extent.high.max(*now);
            if let Some(then) = self.fitted.get(k) {
                gone.drift = gone.drift.max(then.distance_squared(*now));
            }
            *before = *now;
        }
        let speeds = self.velocity.iter().map(|v| v.length_squared());
        gone.speed = speeds.fold(0.0, f64::max);
        self.gone = gone;
    }
}

/// How far nodes have gone from `before`, and from where they were when boxes were `fitted`, and how fast they are by their `velocity` (each of as many nodes, or of none);
/// `before` then is `now`. None if a place is no number.
pub(super) fn follow(
    before: &mut [DVec3],
    now: &[DVec3],
    [fitted, velocity]: [&[DVec3]; 2],
    workers: &impl Workers,
) -> Option<Gone> {
    let of_all = |list| {
        if now.len() == <[DVec3]>::len(list) {
            list
        } else {
            &[]
        }
    };
    let (fitted, velocity) = (of_all(fitted), of_all(velocity));
    let parts = (now.len() / SPAN).clamp(1, MOST);
    let size = now.len().div_ceil(parts).max(1);
    let (mut befores, mut nows) = (before.chunks_mut(size), now.chunks(size));
    let (mut fits, mut velocities) = (fitted.chunks(size), velocity.chunks(size));
    let mut spans: [Span<'_>; MOST] = std::array::from_fn(|_| Span {
        before: befores.next().unwrap_or_default(),
        now: nows.next().unwrap_or_default(),
        fitted: fits.next().unwrap_or_default(),
        velocity: velocities.next().unwrap_or_default(),
        gone: Gone::NONE,
    });
    workers.each(&mut spans[..parts], Span::look);
    let all = spans[..parts].iter().map(|s| s.gone);
    Some(all.fold(Gone::NONE, Gone::and)).filter(|gone| gone.finite)
}

/// The greatest way from `then` to `now`, as many nodes (m), and the greatest speed by their `velocity` (m/s), if there are as many; else 0. What is no number does not count here:
/// whoever moves nodes reports it.
pub(super) fn strayed(
    then: &[DVec3],
    now: &[DVec3],
    velocity: &[DVec3],
    workers: &impl Workers,
) -> (f64, f64) {
    let parts = (now.len() / SPAN).clamp(1, MOST);
    let size = now.len().div_ceil(parts).max(1);
    let known = velocity.len() == now.len();
    let mut spans: [(usize, f64, f64); MOST] = std::array::from_fn(|k| (k * size, 0.0, 0.0));
    workers.each(&mut spans[..parts], |(first, far, speed)| {
        let range = *first..(*first + size).min(now.len());
        let nodes = then[range.clone()].iter().zip(&now[range.clone()]);
        *far = nodes.fold(0.0, |far, (then, now)| far.max(then.distance_squared(*now)));
        if known {
            let speeds = velocity[range].iter().map(|v| v.length_squared());
            *speed = speeds.fold(0.0, f64::max);
        }
    });
    let most = |a: (f64, f64), s: &(usize, f64, f64)| (a.0.max(s.1), a.1.max(s.2));
    let (far, speed) = spans[..parts].iter().fold((0.0, 0.0), most);
    (far.sqrt(), speed.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use trocar_math::Alone;

    /// As many threads as parts.
    struct Many;

    impl Workers for Many {
        fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
            thread::scope(|scope| {
                for item in items {
                    scope.spawn(|| work(item));
                }
            });
        }
    }

    fn places(shift: f64) -> Vec<DVec3> {
        let of = |i: usize| {
            let x = i as f64;
            let bump = if i == 20_000 { shift } else { 0.5 * shift };
            DVec3::new(x + bump, 3.0 - x, 0.25 * x)
        };
        (0..50_001).map(of).collect()
    }

    #[test]
    fn many_see_what_one_sees() {
        let (fitted, now) = (places(0.0), places(-0.125));
        let [mut a, mut b] = [places(0.25), places(0.25)];
        let mut velocity = vec![DVec3::X; now.len()];
        velocity[33_333] = DVec3::new(0.0, -3.0, 4.0);
        let one = follow(&mut a, &now, [&fitted, &velocity], &Alone).unwrap();
        let many = follow(&mut b, &now, [&fitted, &velocity], &Many).unwrap();
        assert_eq!((&a, &b), (&now, &now));
        assert_eq!((one.far, one.drift), (0.375 * 0.375, 0.125 * 0.125));
        assert_eq!((many.far, many.drift), (one.far, one.drift));
        assert_eq!((many.extent, many.speed), (one.extent, 25.0));
        assert_eq!(one.speed, 25.0);
        assert_eq!(one.extent, Bounds::of(now.iter().copied()));
    }

    #[test]
    fn many_find_the_fastest_and_the_farthest() {
        let (then, now) = (places(0.0), places(0.25));
        let mut velocity = vec![DVec3::X; now.len()];
        velocity[33_333] = DVec3::new(0.0, -3.0, 4.0);
        for found in [
            strayed(&then, &now, &velocity, &Alone),
            strayed(&then, &now, &velocity, &Many),
        ] {
            assert_eq!(found, (0.25, 5.0));
        }
        assert_eq!(strayed(&[], &[], &[], &Alone), (0.0, 0.0));
        // Without a velocity for each node it is still known how far they went.
        for few in [0, 1, 33_334] {
            let found = strayed(&then, &now, &velocity[..few], &Many);
            assert_eq!(found, (0.25, 0.0), "{few} velocities");
        }
    }

    #[test]
    fn a_place_that_is_no_number_is_seen_wherever_it_is() {
        for at in [0, 8191, 30_000, 50_000] {
            let mut now = places(0.0);
            now[at].y = f64::NAN;
            let mut before = places(0.0);
            assert!(
                follow(&mut before, &now, [&[], &[]], &Many).is_none(),
                "{at}"
            );
            // Nor is it known how far it came when it is one again.
            assert!(follow(&mut before, &places(0.0), [&[], &[]], &Alone).is_none());
            assert!(follow(&mut before, &places(0.0), [&[], &[]], &Alone).is_some());
        }
        assert!(follow(&mut [], &[], [&[], &[]], &Alone).is_some());
    }
}
