//! Counts of values in the buckets of an HdrHistogram, for the hot half of recording: counting is an increment and nothing else.
//!
//! Values below 2^(P + 1) have a bucket each; so have the 2^P parts of every power of two above. With P = 10 the buckets are those of
//! an HdrHistogram of three digits, with P = 7 of two.

use super::HOUR_NS;

/// Counts in buckets of 2^-P of their values.
#[derive(Debug, Clone)]
pub struct Buckets<const P: u32>(Box<[u32]>);

impl<const P: u32> Default for Buckets<P> {
    fn default() -> Self {
        Self(vec![0; bucket::<P>(HOUR_NS) + 1].into())
    }
}

impl<const P: u32> Buckets<P> {
    /// Count a value in ns; above an hour as an hour.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.0[bucket::<P>(value.min(HOUR_NS))] += 1;
    }

    /// Count what `other` has counted.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
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
        reached.map_or(0, highest::<P>)
    }

    /// (largest value, count) of every bucket in which there is something, and forget them.
    pub fn drain(&mut self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.0.iter_mut().map(std::mem::take).enumerate();
        counts
            .filter(|(_, count)| *count > 0)
            .map(|(place, count)| (highest::<P>(place), u64::from(count)))
    }

    /// Forget all counts.
    pub fn reset(&mut self) {
        self.0.fill(0);
    }
}

/// Buckets of 2^shift values follow each other without a gap: `value >> shift` has P + 1 bits where shift > 0.
#[inline]
const fn bucket<const P: u32>(value: u64) -> usize {
    let shift = u64::BITS - 1 - P - (value | 1 << P).leading_zeros();
    ((shift as usize) << P) + (value >> shift) as usize
}

/// The largest value of a bucket.
const fn highest<const P: u32>(bucket: usize) -> u64 {
    let shift = (bucket >> P).saturating_sub(1);
    (((bucket - (shift << P)) as u64 + 1) << shift) - 1
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
            let top = highest::<7>(bucket::<7>(value));
            assert!(top >= value && top - value <= value / 100, "{value} {top}");
            assert_eq!(bucket::<7>(top), bucket::<7>(value));
            assert_eq!(bucket::<7>(top + 1), bucket::<7>(value) + 1);
        }
    }

    #[test]
    fn what_is_drained_is_an_hdr_histogram_of_three_digits() {
        let mut counted = Buckets::<10>::default();
        let mut exact = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HOUR_NS, 3).unwrap();
        for value in (0..15_000_u64).map(|n| n * n * n) {
            counted.record(value);
            exact.saturating_record(value);
        }
        let expected: Vec<_> = exact
            .iter_recorded()
            .map(|v| (v.value_iterated_to(), v.count_at_value()))
            .collect();
        assert!(counted.drain().eq(expected));
        assert_eq!(counted.drain().count(), 0);
    }

    #[test]
    fn quantiles_are_those_of_an_hdr_histogram_of_two_digits() {
        let mut live = Buckets::<7>::default();
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
