//! Order statistics for timings and reports.

/// The value below which `fraction` (0 to 1) of `sorted` lies, by linear interpolation between
/// neighbours. Zero for an empty slice.
pub fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let at = fraction.clamp(0.0, 1.0) * last as f64;
    let low = at as usize;
    let high = (low + 1).min(last);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

/// Median of `values`, which are sorted in place.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_ramp() {
        let ramp: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(quantile(&ramp, 0.5), 50.0);
        assert_eq!(quantile(&ramp, 0.99), 99.0);
        assert_eq!(quantile(&ramp, 1.0), 100.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(median(&mut [3.0, 1.0]), 2.0);
    }
}
