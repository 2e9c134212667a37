//! A half width along a path: smooth, and never beyond the values it goes through.

/// A monotone cubic through values at increasing places (Fritsch and Carlson 1980, with the weighted harmonic mean of
/// PCHIP). Unlike a spline it never overshoots, so a radius that is given positive stays positive.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    at: Vec<f64>,
    value: Vec<f64>,
    slope: Vec<f64>,
}

impl Profile {
    /// `at` strictly increasing, as long as `value`; both at least one long.
    pub fn new(at: Vec<f64>, value: Vec<f64>) -> Self {
        let width: Vec<f64> = at.windows(2).map(|w| w[1] - w[0]).collect();
        let rise: Vec<f64> = value
            .windows(2)
            .zip(&width)
            .map(|(v, h)| (v[1] - v[0]) / h)
            .collect();
        let inner = |i: usize| {
            let (before, after) = (rise[i - 1], rise[i]);
            if before * after <= 0.0 {
                return 0.0;
            }
            let (a, b) = (2.0 * width[i] + width[i - 1], width[i] + 2.0 * width[i - 1]);
            (a + b) / (a / before + b / after)
        };
        // At the ends the slope of the first and last piece: monotone, and exact for a cone.
        let ends = [rise.first(), rise.last()].map(|r| r.copied().unwrap_or(0.0));
        let slope = (0..value.len())
            .map(|i| match i {
                0 => ends[0],
                i if i + 1 == value.len() => ends[1],
                i => inner(i),
            })
            .collect();
        Self { at, value, slope }
    }

    /// The value at `s`; constant beyond both ends.
    pub fn value(&self, s: f64) -> f64 {
        let right = self.at.partition_point(|&a| a <= s);
        if right == 0 || right == self.at.len() {
            return self.value[right.saturating_sub(1)];
        }
        let left = right - 1;
        let h = self.at[right] - self.at[left];
        let t = (s - self.at[left]) / h;
        let (t2, t3) = (t * t, t * t * t);
        self.value[left] * (2.0 * t3 - 3.0 * t2 + 1.0)
            + self.slope[left] * h * (t3 - 2.0 * t2 + t)
            + self.value[right] * (3.0 * t2 - 2.0 * t3)
            + self.slope[right] * h * (t3 - t2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_through_its_values_and_never_beyond() {
        let (at, value) = (
            vec![0.0, 1.0, 1.5, 4.0, 5.0],
            vec![1.0, 0.01, 0.01, 3.0, 0.5],
        );
        let profile = Profile::new(at.clone(), value.clone());
        for (s, v) in at.iter().zip(&value) {
            assert!((profile.value(*s) - v).abs() < 1e-14);
        }
        for (span, ends) in at.windows(2).zip(value.windows(2)) {
            for k in 0..=100 {
                let v = profile.value(span[0] + (span[1] - span[0]) * k as f64 / 100.0);
                assert!(v >= ends[0].min(ends[1]) - 1e-12 && v <= ends[0].max(ends[1]) + 1e-12);
            }
        }
    }

    #[test]
    fn a_cone_is_exact_and_one_value_is_constant() {
        let cone = Profile::new(vec![0.0, 2.0], vec![1.0, 5.0]);
        assert!((cone.value(0.5) - 2.0).abs() < 1e-15);
        assert_eq!(Profile::new(vec![0.0], vec![7.0]).value(3.0), 7.0);
    }
}
