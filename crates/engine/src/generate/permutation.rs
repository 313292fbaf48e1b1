//! A seeded bijection of 0..n: hot ranks become scattered records, no two of them the same.
//!
//! Invertible steps (add, multiply by an odd number, exclusive or with the upper half) on the next power of two, walked
//! until the result is below n (cycle walking: Black and Rogaway, CT-RSA 2002). Fewer than 2 walks on average.

use super::random::Draw;

const ROUNDS: usize = 3;

/// A bijection of 0..n.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    n: u64,
    mask: u64,
    shift: u32,
    /// (what is added, the odd factor) of each round.
    rounds: [(u64, u64); ROUNDS],
}

impl Permutation {
    /// The bijection of 0..n, n >= 1, that `draw` chooses.
    pub fn new(draw: &mut Draw, n: u64) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        Self {
            n,
            mask: u64::MAX.checked_shr(64 - bits).unwrap_or(0),
            shift: (bits / 2).max(1),
            rounds: std::array::from_fn(|_| (draw.next_u64(), draw.next_u64() | 1)),
        }
    }

    /// Where `x` < n goes.
    #[inline]
    pub fn apply(&self, x: u64) -> u64 {
        debug_assert!(x < self.n, "{x} is not below {}", self.n);
        // The second step is needed by up to half of all, and nobody knows by which: taken always, it is never waited for.
        let first = self.step(x);
        let second = self.step(first);
        let mut x = if first < self.n { first } else { second };
        while x >= self.n {
            x = self.step(x);
        }
        x
    }

    /// A bijection of 0 ..= mask.
    #[inline]
    fn step(&self, mut x: u64) -> u64 {
        for (add, factor) in self.rounds {
            x = x.wrapping_add(add).wrapping_mul(factor) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Stream;
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};

    fn image(seed: u64, n: u64) -> Vec<u64> {
        let permutation = Permutation::new(&mut Draw::new(seed, Stream::Permutation, 0), n);
        (0..n).map(|x| permutation.apply(x)).collect()
    }

    fn is_bijection(seed: u64, n: u64) -> bool {
        let mut image = image(seed, n);
        image.sort_unstable();
        image.into_iter().eq(0..n)
    }

    #[test]
    fn the_smallest_sizes_are_bijections() {
        for n in 1..70 {
            assert!((0..20).all(|seed| is_bijection(seed, n)), "{n}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn every_size_is_a_bijection(seed: u64, n in 1u64..5_000) {
            prop_assert!(is_bijection(seed, n));
        }

        #[test]
        fn large_sizes_stay_in_range(seed: u64, n in 1u64..=u64::MAX, x: u64) {
            let permutation = Permutation::new(&mut Draw::new(seed, Stream::Permutation, 0), n);
            prop_assert!(permutation.apply(x % n) < n);
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let n = 1_000_000;
        for seed in 0..20 {
            let permutation = Permutation::new(&mut Draw::new(seed, Stream::Permutation, 0), n);
            let mut tenths = [0u32; 10];
            for x in 0..1000 {
                tenths[(permutation.apply(x) * 10 / n) as usize] += 1;
            }
            assert!(
                tenths.iter().all(|&seen| (40..200).contains(&seen)),
                "seed {seed}: {tenths:?}"
            );
        }
    }

    #[test]
    fn the_hottest_goes_everywhere_as_seeds_change() {
        let mut seen = [0u32; 10];
        (0..10_000).for_each(|seed| seen[image(seed, 10)[0] as usize] += 1);
        assert!(
            seen.iter().all(|&count| (800..1_200).contains(&count)),
            "{seen:?}"
        );
    }
}
