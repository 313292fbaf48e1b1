//! Counter-based randomness: every draw is a function of (seed, stream, number), so that no state is shared, numbers may
//! be taken in any order and by any engine, and a run can be repeated.
//!
//! A draw's start is splitmix64's finaliser (Steele et al., OOPSLA 2014) of the number; its words are wyrand's (Wang Yi).

/// Golden-ratio increment: consecutive numbers fall far apart.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// wyrand's increment.
pub const STEP: u64 = 0xa076_1d64_78bd_642f;
/// wyrand's second factor.
pub const SALT: u64 = 0xe703_7ed1_a0b4_28db;

/// What a draw decides. Each use has a stream of its own, so that no choice depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Kind of operation.
    Kind = 1,
    /// Rank of the record.
    Rank = 2,
    /// Rows of a scan.
    ScanLength = 3,
    /// Field of a one-field read.
    ReadField = 4,
    /// Field of a one-field write.
    WrittenField = 5,
    /// The permutation that scatters hot records.
    Permutation = 6,
    /// Field values.
    Value = 7,
    /// Gaps between arrivals.
    Arrival = 8,
}

/// Bijective scrambling of 64 bits (splitmix64's finaliser).
pub const fn mix64(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Both halves of the 128-bit product, folded by exclusive or.
pub const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// One stream of one seed.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    base: u64,
}

impl Source {
    /// The stream of this seed.
    pub const fn new(seed: u64, stream: Stream) -> Self {
        let base = mix64(seed ^ mix64((stream as u64).wrapping_mul(GOLDEN)));
        Self { base }
    }

    /// The draw of `number`.
    #[inline]
    pub const fn draw(self, number: u64) -> Draw {
        Draw::from_bits(mix64(self.base.wrapping_add(number.wrapping_mul(GOLDEN))))
    }
}

/// An endless sequence of random words that belongs to one number of one stream.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The draw of `number` in `stream` of `seed`.
    pub const fn new(seed: u64, stream: Stream, number: u64) -> Self {
        Source::new(seed, stream).draw(number)
    }

    /// The draw that starts from these bits, which must be well mixed already.
    pub const fn from_bits(bits: u64) -> Self {
        Self { state: bits }
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        fold(self.state, self.state ^ SALT)
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub const fn unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n (Lemire's multiplication without its rejection: off by at most n / 2^64). 0 for n = 0.
    #[inline]
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_on_seed_stream_and_number_only() {
        let word = |seed, stream, number| Draw::new(seed, stream, number).next_u64();
        assert_eq!(word(1, Stream::Kind, 5), word(1, Stream::Kind, 5));
        assert_ne!(word(1, Stream::Kind, 5), word(2, Stream::Kind, 5));
        assert_ne!(word(1, Stream::Kind, 5), word(1, Stream::Rank, 5));
        assert_ne!(word(1, Stream::Kind, 5), word(1, Stream::Kind, 6));
    }

    #[test]
    fn first_words_of_consecutive_numbers_are_uniform() {
        let source = Source::new(7, Stream::Rank);
        let mut bins = [0u32; 100];
        for number in 0..100_000 {
            bins[source.draw(number).below(100) as usize] += 1;
        }
        let chi: f64 = bins
            .iter()
            .map(|&seen| (f64::from(seen) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(
            chi < 148.2,
            "chi-square {chi} of 99 degrees, 99.9 % is 148.2"
        );
    }

    #[test]
    fn units_fill_the_half_open_interval() {
        let mut draw = Draw::new(3, Stream::Kind, 0);
        let units: Vec<f64> = (0..100_000).map(|_| draw.unit_f64()).collect();
        assert!(units.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = units.iter().sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }

    #[test]
    fn below_one_is_zero() {
        assert_eq!(Draw::new(3, Stream::Kind, 0).below(1), 0);
    }
}
