//! Quantiles for the live view: values counted in buckets less than one per cent wide. Beside the histograms of the files, which
//! keep three digits, this is a second count of every operation; so it is an increment and nothing else.

use super::HOUR_NS;

/// Values below 2^PRECISION have a bucket each; so have the 2^PRECISION parts of every power of two above.
const PRECISION: u32 = 7;
const BUCKETS: usize = bucket(HOUR_NS) + 1;

/// Counts of the responses of one second.
pub struct Live(Vec<u32>);

impl Default for Live {
    fn default() -> Self {
        Self(vec![0; BUCKETS])
    }
}

impl Live {
    /// Count a value in ns; above an hour as an hour.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.0[bucket(value.min(HOUR_NS))] += 1;
    }

    /// The largest value, ns, of the bucket below or in which a share of `quantile` (0 to 1) lies; 0 if nothing was counted.
    pub fn value_at_quantile(&self, quantile: f64) -> u64 {
        let total: u64 = self.0.iter().map(|count| u64::from(*count)).sum();
        let wanted = ((quantile * total as f64).ceil() as u64).max(1);
        let mut below = 0;
        let reached = self.0.iter().position(|count| {
            below += u64::from(*count);
            below >= wanted
        });
        reached.map_or(0, highest)
    }

    /// Forget all counts.
    pub fn reset(&mut self) {
        self.0.fill(0);
    }
}

/// Buckets of 2^shift values follow each other without a gap: `value >> shift` has PRECISION + 1 bits where shift > 0.
#[inline]
const fn bucket(value: u64) -> usize {
    let shift = u64::BITS - 1 - PRECISION - (value | 1 << PRECISION).leading_zeros();
    ((shift as usize) << PRECISION) + (value >> shift) as usize
}

/// The largest value of a bucket.
const fn highest(bucket: usize) -> u64 {
    let shift = (bucket >> PRECISION).saturating_sub(1);
    (((bucket - (shift << PRECISION)) as u64 + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_a_bucket_less_than_a_hundredth_wide() {
        let values = (0..3000).chain((0..=41).flat_map(|power| {
            let one = 1_u64 << power;
            [one - 1, one, one + one / 3]
        }));
        for value in values.filter(|value| *value <= HOUR_NS) {
            let top = highest(bucket(value));
            assert!(top >= value && top - value <= value / 100, "{value} {top}");
            assert_eq!(bucket(top), bucket(value));
            assert_eq!(bucket(top + 1), bucket(value) + 1);
        }
    }

    #[test]
    fn quantiles_are_those_of_an_hdr_histogram_of_two_digits() {
        let mut live = Live::default();
        let mut exact = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HOUR_NS, 2).unwrap();
        assert_eq!(live.value_at_quantile(0.5), 0);
        for value in (1..5000_u64).map(|n| n * n * n % 1_000_003) {
            live.record(value);
            exact.record(value).unwrap();
        }
        for quantile in [0.001, 0.5, 0.99, 0.999, 1.0] {
            assert_eq!(
                live.value_at_quantile(quantile),
                exact.value_at_quantile(quantile)
            );
        }
        live.record(2 * HOUR_NS);
        assert!(live.value_at_quantile(1.0) >= HOUR_NS);
        live.reset();
        assert_eq!(live.value_at_quantile(1.0), 0);
    }
}
