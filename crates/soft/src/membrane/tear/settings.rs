//! How a membrane tears: thresholds and lengths.

use trocar_mesh::sheet::{Kind, Sheet};

/// Which topological way a tear takes through the sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The tip moves freely; triangles around it are kept in shape (W100–W105).
    #[default]
    Continuous,
    /// A node is snapped onto the way and the edge to it opens like a zipper (W95–W99).
    PseudoContinuous,
    /// Baseline: the whole edge that is stretched least opens at once (W116).
    EdgeBased,
    /// Baseline: the whole edge most nearly across the most stretched one opens (W117).
    Perpendicular,
    /// Baseline: triangles at the most stretched edge are taken out (W118).
    Deletion,
    /// Baseline: the way is cut into the triangles as it comes (W119).
    Subdivision,
}

/// Stress above which a node fails, in the unit of the membrane's stress measure (W89).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// At a tip: the least of the three.
    pub tip: f64,
    /// On a rim.
    pub edge: f64,
    /// Inside: the greatest of the three.
    pub inner: f64,
    /// Stress at a tip from which it runs at its greatest length a call (W91); above `tip`.
    pub fastest: f64,
}

impl Thresholds {
    /// The threshold of a kind of node.
    pub fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Tip => self.tip,
            Kind::Edge => self.edge,
            Kind::Inner => self.inner,
        }
    }
}

/// Lengths that tears go by, m, all at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// The least way a tip goes in a call (W91).
    pub least: f64,
    /// The greatest, about the mean length of edges (W92).
    pub most: f64,
    /// How far a tip stays away from the side in front of it (W93).
    pub gap: f64,
    /// Nodes nearer to a tip are drawn onto it (W101), and tears nearer to a rim end there (W110, W111).
    pub near: f64,
    /// Sides of a torn edge that are longer are split (W102), so that how fine it is does not depend on the mesh.
    pub side: f64,
}

impl Lengths {
    /// In the source's proportions to a mean edge length, m (0.001 and 0.3 mm to 0.5 mm), and ours where it gives none.
    pub fn of_edge(edge: f64) -> Self {
        Self {
            least: 0.002 * edge,
            most: 0.6 * edge,
            gap: 0.02 * edge,
            near: 0.3 * edge,
            side: edge,
        }
    }

    /// [`Lengths::of_edge`] of a sheet's mean edge.
    pub fn of_sheet(sheet: &Sheet) -> Self {
        let sum: f64 = sheet.edges().map(|e| sheet.rest_length(e)).sum();
        Self::of_edge(sum / sheet.edge_count().max(1) as f64)
    }
}

/// Why settings can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Thresholds in the wrong order.
    #[error("thresholds must be finite, with 0 < tip ≤ edge ≤ inner and tip < fastest")]
    Thresholds,
    /// Lengths in the wrong order.
    #[error("lengths must be finite, with 0 < least ≤ most, 0 < gap < near and side above near")]
    Lengths,
}

/// How a membrane tears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TearSettings {
    /// Which way it takes.
    pub algorithm: Algorithm,
    /// When nodes fail.
    pub thresholds: Thresholds,
    /// How far tears go.
    pub lengths: Lengths,
}

impl TearSettings {
    /// Whether they make sense.
    pub fn check(&self) -> Result<(), SettingsError> {
        let Thresholds {
            tip,
            edge,
            inner,
            fastest,
        } = self.thresholds;
        let ordered = tip > 0.0 && tip <= edge && edge <= inner && inner < f64::INFINITY;
        let runs = tip < fastest && fastest < f64::INFINITY;
        if !(ordered && runs) {
            return Err(SettingsError::Thresholds);
        }
        let l = self.lengths;
        let ways = l.least > 0.0 && l.least <= l.most && l.most < f64::INFINITY;
        let sizes = l.gap > 0.0 && l.gap < l.near && l.near < l.side && l.side < f64::INFINITY;
        if !(ways && sizes) {
            return Err(SettingsError::Lengths);
        }
        Ok(())
    }

    /// How far a tip under `stress` goes in a call, m (W91): from least to most, linearly in between.
    pub fn length(&self, stress: f64) -> f64 {
        let Thresholds { tip, fastest, .. } = self.thresholds;
        let part = ((stress - tip) / (fastest - tip)).clamp(0.0, 1.0);
        self.lengths.least + part * (self.lengths.most - self.lengths.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_linear_between_its_bounds_and_nonsense_is_refused() {
        let good = TearSettings {
            algorithm: Algorithm::Continuous,
            thresholds: Thresholds {
                tip: 1.0,
                edge: 5.0,
                inner: 20.0,
                fastest: 3.0,
            },
            lengths: Lengths {
                least: 1e-6,
                most: 3e-4,
                ..Lengths::of_edge(5e-4)
            },
        };
        assert_eq!(good.check(), Ok(()));
        assert_eq!([good.length(0.0), good.length(1.0)], [1e-6; 2]);
        assert!((good.length(2.0) - 0.5 * (1e-6 + 3e-4)).abs() < 1e-18);
        assert_eq!(good.length(50.0), 3e-4);
        let mut bad = good;
        bad.thresholds.edge = 0.5;
        assert_eq!(bad.check(), Err(SettingsError::Thresholds));
        bad = good;
        bad.thresholds.fastest = f64::NAN;
        assert_eq!(bad.check(), Err(SettingsError::Thresholds));
        bad = good;
        bad.lengths.near = 0.0;
        assert_eq!(bad.check(), Err(SettingsError::Lengths));
    }
}
