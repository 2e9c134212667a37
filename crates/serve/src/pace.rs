//! Simulated time against the clock (K81), and what is measured of it. No clock is read here, so that tests can bring
//! their own.

use trocar_scene::{Stage, Timings};

/// How far simulated time may lie behind and still be made up for, s. What is more is lost: time then runs slower.
/// Long enough for a hiccup of the machine, short enough that nobody sees time run faster afterwards.
const MAX_BACKLOG: f64 = 0.05;

/// Over how long measurements are averaged, s.
const MEMORY: f64 = 0.5;

/// Part of the time that must be lost before we say that the machine is too slow.
const SLOW: f64 = 0.03;

/// Says when a step is due.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    step: f64,
    last: f64,
    backlog: f64,
    speed: f64,
}

/// What passed since the last turn, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// On the clock, while running.
    pub wall: f64,
    /// What was to be simulated meanwhile.
    pub due: f64,
    /// What won't be simulated any more.
    pub lost: f64,
}

impl Pace {
    /// For steps of `step` s, from `now` (s) on.
    pub fn new(step: f64, now: f64) -> Self {
        Self {
            step,
            last: now,
            backlog: 0.0,
            speed: 1.0,
        }
    }

    /// The clock shows `now`. Unless `running`, the time since the last call does not count; simulated time runs
    /// `speed` times as fast.
    pub fn pass(&mut self, now: f64, running: bool, speed: f64) -> Passed {
        let wall = if running {
            (now - self.last).max(0.0)
        } else {
            0.0
        };
        self.last = now;
        self.speed = speed;
        let due = wall * speed;
        self.backlog += due;
        let lost = (self.backlog - MAX_BACKLOG.max(self.step)).max(0.0);
        self.backlog -= lost;
        Passed { wall, due, lost }
    }

    /// Takes one step off what lies behind; false if none is due.
    pub fn take(&mut self) -> bool {
        // A billionth of a step is rounding, not time.
        let due = self.backlog >= self.step * (1.0 - 1e-9);
        if due {
            self.backlog -= self.step;
        }
        due
    }

    /// How long a step may take, s on the clock, for simulated time to keep up with it.
    pub fn room(&self) -> f64 {
        self.step / self.speed
    }

    /// How long until a step is due, s on the clock; 0 if one is.
    pub fn wait(&self) -> f64 {
        (self.step - self.backlog).max(0.0) / self.speed
    }
}

/// Says how hard steps may try (B3): a machine that can't keep up with the clock makes fewer sweeps over joints and contacts, which leaves larger
/// errors, before time runs slower. What a step was allowed is part of its input, and so of its recording.
#[derive(Clone, Copy, Debug)]
pub struct Thrift {
    part: f64,
    /// Means over recent steps of what they took of their time, and what of that was sweeps.
    load: f64,
    sweeps: f64,
}

impl Thrift {
    /// Least part of the sweeps. With fewer than that, joints part visibly, and time should rather run slower.
    const LEAST: f64 = 0.25;
    /// Part of its time that a step may take before there are fewer sweeps, and below which there are more again.
    const FULL: f64 = 0.9;
    const EASY: f64 = 0.6;
    /// Part of a step's cost that sweeps must be for it to matter how many there are.
    const WORTH: f64 = 0.1;
    /// Where all else takes so much of a step's time, fewer sweeps do not help: time runs slower in any case.
    const HOPELESS: f64 = 1.2;
    /// Part by which a step changes the means, and by which sweeps are changed after a step.
    const MEMORY: f64 = 0.1;
    const CHANGE: f64 = 0.02;

    /// The part of the scene's sweeps that the next step may make.
    pub fn part(&self) -> f64 {
        self.part
    }

    /// A step was made that took `cost` s and should have taken no more than `room` s. What its stages took is work, of all threads together.
    pub fn step(&mut self, room: f64, cost: f64, stages: &Timings) {
        let work: f64 = stages.stage.iter().sum();
        let sweeps = stages.stage[Stage::Aim as usize] + stages.stage[Stage::Correct as usize];
        let load = cost / room;
        let share = if work > 0.0 { sweeps / work } else { 0.0 };
        self.load += (load - self.load) * Self::MEMORY;
        self.sweeps += (load * share - self.sweeps) * Self::MEMORY;
        let hopeless = self.load - self.sweeps > Self::HOPELESS;
        if self.load < Self::EASY || hopeless {
            self.part = (self.part * (1.0 + Self::CHANGE)).min(1.0);
        } else if self.load > Self::FULL && self.sweeps > Self::WORTH * self.load {
            self.part = (self.part * (1.0 - Self::CHANGE)).max(Self::LEAST);
        }
    }
}

impl Default for Thrift {
    fn default() -> Self {
        Self {
            part: 1.0,
            load: 0.0,
            sweeps: 0.0,
        }
    }
}

/// Between two frames, s.
pub const FRAME: f64 = 1.0 / 60.0;

/// Says when a frame is due: 60 times a second, or as often as there are turns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metronome {
    next: f64,
}

impl Metronome {
    /// True if a frame is due at `now` (s); it then counts as made.
    pub fn beat(&mut self, now: f64) -> bool {
        let due = now >= self.next;
        if due {
            // On a grid, so that the mean is kept; but what was missed is not made up for.
            let next = self.next + FRAME;
            self.next = if next > now { next } else { now + FRAME };
        }
        due
    }

    /// How long until a frame is due, s; 0 if one is.
    pub fn wait(&self, now: f64) -> f64 {
        (self.next - now).max(0.0)
    }
}

/// Averages over recent time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauge {
    wall: f64,
    due: f64,
    lost: f64,
    simulated: f64,
    steps: f64,
    cost: f64,
    stages: Timings,
}

impl Gauge {
    /// Time passed.
    pub fn pass(&mut self, passed: Passed) {
        let keep = 1.0 / (1.0 + passed.wall / MEMORY);
        self.wall = self.wall * keep + passed.wall;
        self.due = self.due * keep + passed.due;
        self.lost = self.lost * keep + passed.lost;
        self.simulated *= keep;
        self.steps *= keep;
        self.cost *= keep;
        self.stages.stage.iter_mut().for_each(|s| *s *= keep);
    }

    /// A step of `step` s was made, which took `cost` s.
    pub fn step(&mut self, step: f64, cost: f64, stages: &Timings) {
        self.simulated += step;
        self.steps += 1.0;
        self.cost += cost;
        self.stages.add(stages);
    }

    /// Simulated seconds per second.
    pub fn rate(&self) -> f64 {
        if self.wall > 0.0 {
            self.simulated / self.wall
        } else {
            1.0
        }
    }

    /// The machine can't keep up.
    pub fn is_slow(&self) -> bool {
        self.lost > SLOW * self.due
    }

    /// Mean cost of a step and of each of its stages, µs.
    pub fn costs(&self) -> (f32, [f32; Stage::COUNT]) {
        let mean = |sum: f64| {
            if self.steps > 0.0 {
                (sum / self.steps * 1e6) as f32
            } else {
                0.0
            }
        };
        (mean(self.cost), self.stages.stage.map(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs for `seconds` on a machine on which a step of 2 ms takes `cost` s. Gives steps, turns and the gauge.
    fn run(seconds: f64, cost: f64) -> (usize, usize, Gauge) {
        let (mut pace, mut gauge) = (Pace::new(0.002, 0.0), Gauge::default());
        let (mut now, mut steps, mut turns) = (0.0, 0, 0);
        while now < seconds {
            gauge.pass(pace.pass(now, true, 1.0));
            if pace.take() {
                gauge.step(0.002, cost, &Timings::default());
                now += cost;
                steps += 1;
            } else {
                now += pace.wait().max(1e-6);
            }
            turns += 1;
        }
        (steps, turns, gauge)
    }

    #[test]
    fn a_fast_machine_keeps_time() {
        let (steps, turns, gauge) = run(10.0, 0.0005);
        assert!((4995..=5000).contains(&steps), "{steps}");
        assert!(turns < 3 * steps);
        assert!(
            (gauge.rate() - 1.0).abs() < 0.02 && !gauge.is_slow(),
            "{gauge:?}"
        );
        assert!((gauge.costs().0 - 500.0).abs() < 1.0);
    }

    #[test]
    fn a_slow_machine_slows_time_and_says_so() {
        let (steps, _, gauge) = run(10.0, 0.004);
        assert!((2499..=2501).contains(&steps), "{steps}");
        assert!(
            (gauge.rate() - 0.5).abs() < 0.02 && gauge.is_slow(),
            "{gauge:?}"
        );
    }

    /// What a step costs that makes a part of its sweeps: s of other things, and s of all sweeps.
    fn costs(others: f64, sweeps: f64, part: f64) -> Timings {
        let mut timings = Timings::default();
        timings.stage[Stage::Force as usize] = others;
        timings.stage[Stage::Aim as usize] = 0.7 * sweeps * part;
        timings.stage[Stage::Correct as usize] = 0.3 * sweeps * part;
        timings
    }

    #[test]
    fn a_machine_that_cannot_keep_up_makes_fewer_sweeps_and_more_again() {
        let mut thrift = Thrift::default();
        let mut run = |others: f64, sweeps: f64| {
            for _ in 0..1000 {
                let stages = costs(others, sweeps, thrift.part());
                // Two threads share the work.
                let cost = 0.5 * stages.stage.iter().sum::<f64>();
                thrift.step(0.001, cost, &stages);
            }
            thrift.part()
        };
        assert_eq!(run(0.0005, 0.0012), 1.0, "there is time enough");
        let part = run(0.0005, 0.0026);
        assert!((0.3..0.55).contains(&part), "{part}");
        assert!(0.0005 + 0.0026 * part < 0.002, "{part}");
        assert_eq!(run(0.0005, 0.05), Thrift::LEAST, "never none");
        assert_eq!(run(0.0018, 0.0009), Thrift::LEAST, "as long as it may help");
        assert_eq!(run(0.0005, 0.0005), 1.0, "back to all");
        assert_eq!(
            run(0.01, 0.001),
            1.0,
            "it is not the sweeps that take so long"
        );
    }

    #[test]
    fn a_long_stop_is_not_made_up_for() {
        let mut pace = Pace::new(0.002, 0.0);
        let passed = pace.pass(100.0, true, 1.0);
        assert!((passed.lost - 99.95).abs() < 1e-9);
        let mut steps = 0;
        while pace.take() {
            steps += 1;
        }
        assert_eq!(steps, 25);
    }

    #[test]
    fn a_pause_leaves_no_backlog() {
        let mut pace = Pace::new(0.002, 0.0);
        assert_eq!(
            pace.pass(5.0, false, 1.0),
            Passed {
                wall: 0.0,
                due: 0.0,
                lost: 0.0
            }
        );
        assert!(!pace.take());
        pace.pass(5.002, true, 1.0);
        assert!(pace.take() && !pace.take());
    }

    #[test]
    fn time_runs_as_fast_as_it_is_told() {
        for (speed, expected) in [(0.05, 25), (1.0, 500), (8.0, 4000)] {
            let mut pace = Pace::new(0.002, 0.0);
            let (mut now, mut steps) = (0.0, 0_i32);
            let mut gauge = Gauge::default();
            while now < 1.0 {
                gauge.pass(pace.pass(now, true, speed));
                if pace.take() {
                    gauge.step(0.002, 0.0, &Timings::default());
                    steps += 1;
                } else {
                    now += pace.wait().max(1e-6);
                }
            }
            assert!((steps - expected).abs() <= 2, "{speed}: {steps}");
            assert!(
                (gauge.rate() - speed).abs() < 0.1 * speed,
                "{}",
                gauge.rate()
            );
            assert!(!gauge.is_slow());
        }
    }

    #[test]
    fn there_are_sixty_frames_a_second_and_never_more() {
        for turn in [0.0001, 0.002, 0.0073, 0.0166] {
            let mut metronome = Metronome::default();
            let turns = (10.0 / turn) as usize;
            let frames = (0..turns)
                .filter(|i| metronome.beat(*i as f64 * turn))
                .count();
            assert!(
                (595..=601).contains(&frames),
                "{frames} frames in turns of {turn} s"
            );
        }
        let mut metronome = Metronome::default();
        assert!(metronome.beat(0.0) && metronome.beat(5.0));
        assert!(!metronome.beat(5.001));
        assert!((metronome.wait(5.001) - (FRAME - 0.001)).abs() < 1e-12);
    }

    #[test]
    fn a_step_longer_than_the_backlog_is_still_made() {
        let mut pace = Pace::new(0.08, 0.0);
        pace.pass(0.079, true, 1.0);
        assert!(!pace.take());
        pace.pass(0.081, true, 1.0);
        assert!(pace.take());
    }
}
