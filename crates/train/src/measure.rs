//! What is measured of an operation: each measure with its unit, its formula and where that comes from.

pub mod kernel;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measure. All are computed from the simulation's state and reports alone, so a replay gives the same value.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Share of the goals that were reached.
    Goals,
    /// Time from start to end, s.
    Time,
    /// Way of the tip, mm.
    Path,
    /// Turns of the shaft, degrees.
    AngularPath,
    /// Log dimensionless jerk of the tip; nearer to 0 is smoother.
    Smoothness,
    /// Shortest way through the goals, divided by the way that was gone.
    Economy,
    /// Greatest force at the tip, N.
    GreatestForce,
    /// Mean force at the tip while it touched or held something, N.
    MeanForce,
    /// Time with more force than allowed, s.
    TimeOverForce,
    /// How often tissue was lost: it slipped, tore out, or was let go too early or roughly.
    Drops,
    /// How often tissue tore out of the jaws.
    Tears,
    /// How often the jaws took the wrong tissue or the wrong place.
    Misgrasps,
    /// Greatest stretch of the tissue, %.
    GreatestStretch,
    /// Time with more stretch than allowed, s.
    TimeOverStretch,
    /// Time in which the tip was not seen, s.
    TimeOutOfView,
    /// Time in which nothing moved though something was to be done, s.
    IdleTime,
    /// Root mean square distance from the target's centre while holding still in it, mm.
    Steadiness,
    /// Distance of the jaws from the marked spot when they took it, mm.
    GraspAccuracy,
    /// Speed of the tip when it let go as asked, mm/s.
    ReleaseSpeed,
    /// Force at the tip when it let go as asked, N.
    ReleaseForce,
}

/// Which way a measure is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The less, the better.
    Less,
    /// The more, the better.
    More,
}

/// A measure and its value in one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Which measure.
    pub id: Measure,
    /// Its name for people.
    pub title: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// How it is computed, with the source.
    pub formula: String,
    /// Which way is good.
    pub better: Better,
}

impl Measure {
    /// All measures, in the order in which people read them.
    pub const ALL: [Self; 20] = [
        Self::Goals,
        Self::Time,
        Self::Path,
        Self::AngularPath,
        Self::Economy,
        Self::Smoothness,
        Self::IdleTime,
        Self::TimeOutOfView,
        Self::GreatestForce,
        Self::MeanForce,
        Self::TimeOverForce,
        Self::GreatestStretch,
        Self::TimeOverStretch,
        Self::GraspAccuracy,
        Self::Steadiness,
        Self::ReleaseForce,
        Self::ReleaseSpeed,
        Self::Drops,
        Self::Tears,
        Self::Misgrasps,
    ];

    /// Its name in files.
    pub fn id(self) -> &'static str {
        self.entry().0
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        self.entry().1
    }

    /// Its unit; empty for a plain number.
    pub fn unit(self) -> &'static str {
        self.entry().2
    }

    /// How it is computed, with the source.
    pub fn formula(self) -> &'static str {
        self.entry().3
    }

    /// Which way is good.
    pub fn better(self) -> Better {
        match self {
            Self::Goals | Self::Economy | Self::Smoothness => Better::More,
            _ => Better::Less,
        }
    }

    /// The measure with a value.
    pub fn with(self, value: f64) -> Measured {
        Measured {
            id: self,
            title: self.title().into(),
            value,
            unit: self.unit().into(),
            formula: self.formula().into(),
            better: self.better(),
        }
    }

    /// Id, title, unit, formula.
    fn entry(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Goals => (
                "goals",
                "Goals reached",
                "%",
                "100 · goals that were ever reached / goals.",
            ),
            Self::Time => (
                "time",
                "Time",
                "s",
                "Simulated time from the start to the end.",
            ),
            Self::Path => (
                "path",
                "Path of the tip",
                "mm",
                "Σ |p(k) − p(k−1)| over samples of the tip at 50 Hz (path length; Cotin et al., MICCAI 2002).",
            ),
            Self::AngularPath => (
                "angular_path",
                "Turns of the shaft",
                "°",
                "Σ of the angle between the orientations of the shaft in successive samples at 50 Hz (angular path length; van Sickle et al., Surg Endosc 2005).",
            ),
            Self::Smoothness => (
                "smoothness",
                "Smoothness",
                "",
                "Log dimensionless jerk −ln(T³ / v_peak² · ∫ |d³p/dt³|² dt) (Balasubramanian et al., IEEE Trans Biomed Eng 2012), for each way to a goal that was longer than 5 mm, from leaving its start by 1 mm to entering its target for good; mean over these ways. p: the tip at 50 Hz after a Butterworth low-pass of second order, forwards and backwards, 6 Hz. A single perfect movement (minimum jerk) has −5.3.",
            ),
            Self::Economy => (
                "economy",
                "Economy of movement",
                "%",
                "100 · shortest way / path of the tip (economy of movement; Cotin et al., MICCAI 2002). Shortest way: for each goal reached, the straight line from where it began to the edge of its target.",
            ),
            Self::GreatestForce => (
                "greatest_force",
                "Greatest force",
                "N",
                "max F(k); F: the amount of the force at the tip, mean over 20 ms.",
            ),
            Self::MeanForce => (
                "mean_force",
                "Mean force in contact",
                "N",
                "Mean of F(k) over the samples with F > 0.05 N or something held; F: mean over 20 ms.",
            ),
            Self::TimeOverForce => (
                "time_over_force",
                "Time above the force limit",
                "s",
                "Number of samples with F(k) above the limit of the goal, / 50 Hz.",
            ),
            Self::Drops => (
                "drops",
                "Drops",
                "",
                "How often tissue that was held as asked was lost: slipped, torn out, or let go before its goal or more roughly than asked.",
            ),
            Self::Tears => (
                "tears",
                "Tissue torn out",
                "",
                "How often points of tissue tore out of the jaws.",
            ),
            Self::Misgrasps => (
                "misgrasps",
                "Wrong grasps",
                "",
                "How often the jaws took another tissue or another place than asked.",
            ),
            Self::GreatestStretch => (
                "greatest_stretch",
                "Greatest stretch",
                "%",
                "100 · max over samples and surface edges of the tissue of (length / length at rest − 1).",
            ),
            Self::TimeOverStretch => (
                "time_over_stretch",
                "Time above the stretch limit",
                "s",
                "Number of samples whose greatest stretch is above the limit of the goal, / 50 Hz.",
            ),
            Self::TimeOutOfView => (
                "time_out_of_view",
                "Time out of view",
                "s",
                "Number of samples whose tip is outside the endoscope's round picture (without endoscope: outside the cone of the camera's height), / 50 Hz. Tissue in between is not considered.",
            ),
            Self::IdleTime => (
                "idle_time",
                "Idle time",
                "s",
                "Number of samples with a speed of the tip below 2 mm/s outside of holding still in a target, / 50 Hz.",
            ),
            Self::Steadiness => (
                "steadiness",
                "Steadiness",
                "mm",
                "Root mean square distance from the target's centre over the samples in which something was held still in it.",
            ),
            Self::GraspAccuracy => (
                "grasp_accuracy",
                "Accuracy of the grasp",
                "mm",
                "Distance of the marked point from the front half of the middle line between the jaws when they took hold as asked; mean over such grasps.",
            ),
            Self::ReleaseSpeed => (
                "release_speed",
                "Speed when letting go",
                "mm/s",
                "Speed of the tip over the last 20 ms before the jaws let go as asked; the greatest if there are several.",
            ),
            Self::ReleaseForce => (
                "release_force",
                "Force when letting go",
                "N",
                "F in the last sample before the jaws let go as asked; the greatest if there are several.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_its_own_name_and_a_formula() {
        for (i, m) in Measure::ALL.iter().enumerate() {
            assert_eq!(serde_json::to_string(m).unwrap(), format!("\"{}\"", m.id()));
            assert!(m.formula().len() > 10 && !m.title().is_empty());
            assert!(
                Measure::ALL[..i]
                    .iter()
                    .all(|o| o != m && o.title() != m.title())
            );
        }
    }
}
