//! Things that lie on each other: how they are run and how deep they are found in each other.

use super::{
    engine::{Engine, Trouble},
    finder::Finder,
    ours::{Ours, Setting},
    penalty::Penalty,
    plan::{Moment, Plan},
    rapier::{Joints, double},
};
use crate::measure::{Summary, hush, progress};
use anyhow::Result;
use std::time::{Duration, Instant};
use trocar_collide::rigid::Deepest;
use trocar_dynamics::Crew;

/// Steps between two looks at how deep things overlap.
const LOOK: usize = 20;

/// Sweeps after which stacks are carried from below.
const CARRIED: u32 = 10;

/// What is slower than this, m/s and rad/s, is at rest.
const AT_REST: [f64; 2] = [1e-2, 0.1];

/// Who steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// We, with so many threads.
    Ours(usize),
    /// We, twice at the same time, each on a thread of its own: what a second core gives to those that share nothing.
    Beside,
    /// We, on one thread, with stacks carried from below (B92).
    Carried,
    /// We, on one thread, with one contact a pair (B102): what it costs not to treat all points of a pair at once.
    OnePoint,
    /// Springs at the points of contact, in so many substeps (B101).
    Penalty(u32),
    /// `rapier3d-f64` with its own settings, on one thread.
    Rapier,
}

impl Who {
    pub fn name(self) -> String {
        match self {
            Self::Ours(1) => "ours".into(),
            Self::Ours(threads) => format!("ours, {threads} threads"),
            Self::Beside => "ours, twice side by side".into(),
            Self::Carried => "ours, carried from below".into(),
            Self::OnePoint => "ours, one contact a pair".into(),
            Self::Penalty(substeps) => format!("penalty in {substeps} substeps"),
            Self::Rapier => "rapier3d-f64".into(),
        }
    }

    fn engine(self, plan: &Plan) -> Result<Box<dyn Engine>> {
        let setting = |threads| Setting {
            solver: "auto",
            tolerance: 1e-6,
            threads,
        };
        Ok(match self {
            Self::Ours(threads) => Box::new(Ours::new(plan, setting(threads))?),
            Self::Beside => Box::new(Beside {
                crew: Crew::new(2),
                both: [Ours::new(plan, setting(1))?, Ours::new(plan, setting(1))?],
            }),
            Self::Carried => Box::new(Ours::carried(plan, setting(1), CARRIED)?),
            Self::OnePoint => Box::new(Ours::detected(plan, setting(1), &Deepest)?),
            Self::Penalty(substeps) => Box::new(Penalty::new(plan, substeps)?),
            Self::Rapier => Box::new(double::Rapier::new(plan, Joints::Impulse(4))?),
        })
    }
}

/// Two at the same time.
struct Beside {
    crew: Crew,
    both: [Ours; 2],
}

impl Engine for Beside {
    fn step(&mut self) {
        self.crew.each(&mut self.both, |_, one| one.step());
    }

    fn look(&self, moments: &mut Vec<Moment>) {
        self.both[0].look(moments);
    }

    fn contacts(&self) -> usize {
        self.both[0].contacts()
    }

    fn trouble(&self) -> Trouble {
        self.both[0].trouble()
    }
}

/// What was seen of a pile.
pub struct Pile {
    pub who: Who,
    engine: Box<dyn Engine>,
    /// s of each step.
    pub times: Vec<f64>,
    /// Points of contact in each step.
    contacts: Vec<f64>,
    /// Deepest overlap of each look, m.
    deepest: Vec<f64>,
    /// Mean overlap of all points that overlap, of each look, m.
    mean: Vec<f64>,
    /// Since which step all has been at rest, as far as was looked.
    pub rests_since: Option<usize>,
    /// True if it stopped being finite.
    pub burst: bool,
    spent: Duration,
    finder: Finder,
    pub moments: Vec<Moment>,
}

impl Pile {
    pub fn new(who: Who, plan: &Plan) -> Result<Self> {
        Ok(Self {
            who,
            engine: who.engine(plan)?,
            times: Vec::new(),
            contacts: Vec::new(),
            deepest: Vec::new(),
            mean: Vec::new(),
            rests_since: None,
            burst: false,
            spent: Duration::ZERO,
            finder: Finder::new(plan)?,
            moments: plan.start(),
        })
    }

    fn step(&mut self) {
        let began = Instant::now();
        self.engine.step();
        let took = began.elapsed();
        self.spent += took;
        self.times.push(took.as_secs_f64());
        self.contacts.push(self.engine.contacts() as f64);
        if self.times.len().is_multiple_of(LOOK) {
            self.engine.look(&mut self.moments);
            let finite = |m: &Moment| m.pose.position.is_finite() && m.pose.rotation.is_finite();
            if !self.moments.iter().all(finite) {
                self.burst = true;
                return;
            }
            let rests =
                |m: &Moment| m.velocity.length() < AT_REST[0] && m.spin.length() < AT_REST[1];
            self.rests_since = match self.moments.iter().all(rests) {
                true => self.rests_since.or(Some(self.times.len())),
                false => None,
            };
            self.finder.find(&self.moments);
            let (deepest, mean) = depths(&self.finder);
            self.deepest.push(deepest);
            self.mean.push(mean);
        }
    }

    /// Time spent until all was at rest, s; none if it is not yet, or only just is.
    pub fn time_to_rest(&self, held: usize) -> Option<f64> {
        let since = self.rests_since.filter(|s| s + held <= self.times.len())?;
        Some(self.times[..since].iter().sum())
    }

    /// Time of a step, ms.
    pub fn summary(&self) -> Summary {
        Summary::of(self.times.iter().map(|t| t * 1e3))
    }

    /// Contacts, on average.
    pub fn contacts(&self) -> f64 {
        mean(&self.contacts)
    }

    /// Deepest overlap ever seen, m.
    pub fn deepest(&self) -> f64 {
        self.deepest.iter().copied().fold(0.0, f64::max)
    }

    /// When that was, in steps.
    pub fn deepest_at(&self) -> usize {
        let deepest = self.deepest();
        let look = self.deepest.iter().position(|d| *d >= deepest);
        look.map_or(0, |k| (k + 1) * LOOK)
    }

    /// Mean time of the last tenth of all steps, ms: what a pile costs that has come to rest.
    pub fn rest_time(&self) -> f64 {
        let count = self.times.len();
        mean(&self.times[count - count / 10..]) * 1e3
    }

    /// Overlap on average, m.
    pub fn overlap(&self) -> f64 {
        mean(&self.mean)
    }

    /// Deepest overlap in the last look, m.
    pub fn final_depth(&self) -> f64 {
        self.deepest.last().copied().unwrap_or(0.0)
    }

    pub fn trouble(&self) -> Trouble {
        self.engine.trouble()
    }
}

/// What a second thread gains over the first steps of a plan, and what two runs gain by it that share nothing but the machine: its limit. Every step is
/// the same in every run, so that of each the least time of several runs is taken; what else the machine has to do breaks into some of them, and
/// it hits two threads that wait for each other harder than one.
pub fn second_core(case: &str, plan: &Plan, steps: usize, repeats: usize) -> Result<[f64; 2]> {
    let mut least = vec![[f64::INFINITY; 3]; steps];
    let bar = progress(&format!("{case}: second thread"), repeats);
    for _ in 0..repeats {
        let mut all = [Who::Ours(1), Who::Ours(2), Who::Beside]
            .iter()
            .map(|who| who.engine(plan))
            .collect::<Result<Vec<_>>>()?;
        for turn in least.chunks_mut(LOOK) {
            for (k, engine) in all.iter_mut().enumerate() {
                hush();
                for step in &mut *turn {
                    let began = Instant::now();
                    engine.step();
                    step[k] = step[k].min(began.elapsed().as_secs_f64());
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let [one, two, beside] = [0, 1, 2].map(|k| least.iter().map(|l| l[k]).sum::<f64>());
    Ok([one / two, 2.0 * one / beside])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Runs all in turns for `steps` steps, each at most for `patience`.
pub fn race(label: &str, piles: &mut [Pile], steps: usize, patience: Duration) {
    eprintln!("{label}");
    let rounds = steps.div_ceil(LOOK);
    let bar = progress(label, rounds);
    for round in 0..rounds {
        let count = piles.len();
        for k in 0..count {
            let pile = &mut piles[if round % 2 == 0 { k } else { count - 1 - k }];
            for _ in 0..LOOK.min(steps - round * LOOK) {
                if pile.burst || pile.spent > patience {
                    break;
                }
                pile.step();
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
}

/// The deepest overlap and the mean of all points that overlap, m.
fn depths(finder: &Finder) -> (f64, f64) {
    let gaps = finder.contacts.points.iter().map(|p| -p.gap);
    let (mut deepest, mut sum, mut count) = (0.0_f64, 0.0, 0);
    for depth in gaps.filter(|d| *d > 0.0) {
        deepest = deepest.max(depth);
        sum += depth;
        count += 1;
    }
    (deepest, sum / f64::from(count.max(1)))
}
