//! What is counted during an operation, and the measures that come of it.

use crate::{
    exercise::Limits,
    measure::{Measure, Measured, kernel},
    signal::Sample,
    trace::{RATE, Trace},
};
use glam::{DQuat, DVec3};

/// Below this speed (m/s) nothing moves: a resting hand trembles by about as much.
const STILL: f64 = 2e-3;

/// A force below this (N) is no contact.
const TOUCH: f64 = 0.05;

/// Cut-off of the low-pass before the jerk is computed, Hz; hands move more slowly on purpose.
const CUTOFF: f64 = 6.0;

/// Ways shorter than this (m) tell nothing about smoothness.
const SHORT: f64 = 5e-3;

/// A way begins where its start is left by this much, m.
const BEGUN: f64 = 1e-3;

/// True if nothing moves though something is to be done; `still` while standing still is what is asked for.
pub fn is_idle(sample: &Sample, still: bool) -> bool {
    sample.speed < STILL && !still
}

/// All that is counted.
pub struct Tally {
    /// Signals for the plots.
    pub trace: Trace,
    tips: Vec<DVec3>,
    shafts: Vec<DQuat>,
    /// The last sample's force (N) and speed (m/s).
    last: (f64, f64),
    greatest_force: f64,
    greatest_stretch: f64,
    contact: (f64, u32),
    over_force: u32,
    over_stretch: u32,
    unseen: u32,
    idle: u32,
    /// Shortest way to each goal when it began first, m.
    ways: Vec<Option<f64>>,
    shortest: f64,
    counted: Vec<bool>,
    /// First sample of the current way, and the one in which its target was entered to stay.
    leg: (usize, Option<usize>),
    legs: Vec<(usize, usize)>,
    /// Tissue was lost.
    pub drops: u32,
    /// Tissue tore out.
    pub tears: u32,
    /// The wrong thing was taken.
    pub misgrasps: u32,
    /// Distances from the target's centre while holding still, m.
    pub steady: Vec<f64>,
    /// Distances of grasps from their spots, m.
    pub grasps: Vec<f64>,
    /// Force (N) and speed (m/s) of the worst release as asked.
    release: Option<(f64, f64)>,
}

impl Tally {
    /// Nothing counted yet, for `goals` goals.
    pub fn new(goals: usize) -> Self {
        Self {
            trace: Trace::default(),
            tips: Vec::new(),
            shafts: Vec::new(),
            last: (0.0, 0.0),
            greatest_force: 0.0,
            greatest_stretch: 0.0,
            contact: (0.0, 0),
            over_force: 0,
            over_stretch: 0,
            unseen: 0,
            idle: 0,
            ways: vec![None; goals],
            shortest: 0.0,
            counted: vec![false; goals],
            leg: (0, None),
            legs: Vec::new(),
            drops: 0,
            tears: 0,
            misgrasps: 0,
            steady: Vec::new(),
            grasps: Vec::new(),
            release: None,
        }
    }

    /// A goal begins; `way`: the shortest way to it, m.
    pub fn begin(&mut self, goal: usize, way: f64) {
        self.ways[goal].get_or_insert(way);
        self.leg = (self.tips.len().saturating_sub(1), None);
    }

    /// What counts is in the target of the current goal, or not: the way ends where it entered it to stay.
    pub fn inside(&mut self, is: bool) {
        let now = self.tips.len();
        if is {
            self.leg.1.get_or_insert(now);
        } else {
            self.leg.1 = None;
        }
    }

    /// A goal is reached.
    pub fn reach(&mut self, goal: usize) {
        let (start, entered) = self.leg;
        self.legs.push((start, entered.unwrap_or(self.tips.len())));
        // What was lost and is reached again was a detour.
        if !self.counted[goal] {
            self.counted[goal] = true;
            self.shortest += self.ways[goal].unwrap_or(0.0);
        }
    }

    /// How many goals were ever reached.
    pub fn goals_reached(&self) -> usize {
        self.counted.iter().filter(|c| **c).count()
    }

    /// The jaws let go as asked.
    pub fn released(&mut self, force: f64, speed: f64) {
        let (f, s) = self.release.unwrap_or_default();
        self.release = Some((f.max(force), s.max(speed)));
    }

    /// Force (N) and speed (m/s) in the last sample.
    pub fn last(&self) -> (f64, f64) {
        self.last
    }

    /// Takes in a sample.
    pub fn take(&mut self, sample: &Sample, goal: Option<usize>, limits: Limits, still: bool) {
        self.tips.push(sample.tip);
        self.shafts.push(sample.shaft);
        self.last = (sample.force, sample.speed);
        self.greatest_force = self.greatest_force.max(sample.force);
        self.greatest_stretch = self.greatest_stretch.max(sample.stretch);
        if sample.force > TOUCH || sample.holding {
            self.contact.0 += sample.force;
            self.contact.1 += 1;
        }
        self.over_force += u32::from(limits.force.is_some_and(|l| sample.force > l));
        self.over_stretch += u32::from(limits.stretch.is_some_and(|l| sample.stretch > l));
        self.unseen += u32::from(!sample.seen);
        self.idle += u32::from(is_idle(sample, still));
        let t = &mut self.trace;
        t.time.push(sample.time as f32);
        t.x.push(sample.tip.x as f32);
        t.y.push(sample.tip.y as f32);
        t.z.push(sample.tip.z as f32);
        t.speed.push(sample.speed as f32);
        t.force.push(sample.force as f32);
        t.stretch.push(sample.stretch as f32);
        t.in_view.push(u8::from(sample.seen));
        t.holding.push(u8::from(sample.holding));
        let goal = goal.unwrap_or(self.ways.len());
        t.goal.push(goal.min(usize::from(u8::MAX)) as u8);
    }

    /// The measures; `reached`: share of the goals, `seconds`: length of the operation.
    pub fn measures(&self, reached: f64, seconds: f64) -> Vec<Measured> {
        let path = kernel::path_length(&self.tips);
        let time = |samples: u32| f64::from(samples) / RATE;
        let (sum, count) = self.contact;
        let value = |measure: Measure| match measure {
            Measure::Goals => Some(100.0 * reached),
            Measure::Time => Some(seconds),
            Measure::Path => Some(1e3 * path),
            Measure::AngularPath => Some(kernel::angular_path(&self.shafts).to_degrees()),
            Measure::Smoothness => self.smoothness(),
            Measure::Economy => (path > BEGUN).then(|| (100.0 * self.shortest / path).min(100.0)),
            Measure::GreatestForce => Some(self.greatest_force),
            Measure::MeanForce => (count > 0).then(|| sum / f64::from(count)),
            Measure::TimeOverForce => Some(time(self.over_force)),
            Measure::Drops => Some(f64::from(self.drops)),
            Measure::Tears => Some(f64::from(self.tears)),
            Measure::Misgrasps => Some(f64::from(self.misgrasps)),
            Measure::GreatestStretch => Some(100.0 * self.greatest_stretch),
            Measure::TimeOverStretch => Some(time(self.over_stretch)),
            Measure::TimeOutOfView => Some(time(self.unseen)),
            Measure::IdleTime => Some(time(self.idle)),
            Measure::Steadiness => kernel::root_mean_square(&self.steady).map(|m| 1e3 * m),
            Measure::GraspAccuracy => kernel::mean(self.grasps.iter().copied()).map(|m| 1e3 * m),
            Measure::ReleaseSpeed => self.release.map(|r| 1e3 * r.1),
            Measure::ReleaseForce => self.release.map(|r| r.0),
        };
        Measure::ALL
            .into_iter()
            .filter_map(|m| Some(m.with(value(m)?)))
            .collect()
    }

    /// Mean log dimensionless jerk of the ways to the goals.
    fn smoothness(&self) -> Option<f64> {
        let mut tips = self.tips.clone();
        kernel::low_pass(&mut tips, CUTOFF, RATE);
        let jerks = self.legs.iter().filter_map(|(start, end)| {
            let way = tips.get(*start..*end)?;
            let first = way.first()?;
            let begun = way.iter().position(|p| p.distance(*first) > BEGUN)?;
            let way = &way[begun.saturating_sub(1)..];
            if kernel::path_length(way) < SHORT {
                return None;
            }
            kernel::log_dimensionless_jerk(way, RATE)
        });
        kernel::mean(jerks)
    }
}
