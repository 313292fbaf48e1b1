//! How long answers lay in the kernel before they were read.

use super::Buckets;

/// Times from the arrival of bytes to the read() that brought them: a sample for each read.
#[derive(Debug, Default, Clone)]
pub struct Lag {
    buckets: Buckets<7>,
    /// Reads.
    pub count: u64,
    /// The longest, ns.
    pub max_ns: u64,
}

impl Lag {
    /// Bytes were read `ns` after they had come.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.buckets.record(ns);
        self.count += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// The reads of `other` count here too.
    pub fn add(&mut self, other: &Self) {
        self.buckets.add(&other.buckets);
        self.count += other.count;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Reads that found their bytes within this time were this share of all, ns.
    pub fn quantile(&self, share: f64) -> u64 {
        self.buckets.value_at_quantile(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_times_together_are_one_in_which_all_reads_were_made() {
        let (mut first, mut second, mut whole) = (Lag::default(), Lag::default(), Lag::default());
        for ns in 1..=1000 {
            let part = if ns % 3 == 0 { &mut first } else { &mut second };
            part.record(ns * ns);
            whole.record(ns * ns);
        }
        first.add(&second);
        assert_eq!((first.count, first.max_ns), (1000, 1_000_000));
        for share in [0.01, 0.5, 0.99] {
            assert_eq!(first.quantile(share), whole.quantile(share));
        }
    }
}
