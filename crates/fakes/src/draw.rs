//! Randomness as a function of (seed, use, number), so that whoever knows the seed can make the same draws.
//! python/steelyard/calibrate/draws.py does.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a draw decides.
#[derive(Debug, Clone, Copy)]
#[repr(u64)]
pub enum Use {
    /// A latency, and its second coordinate where the law needs two.
    Latency = 11,
    Second = 12,
    /// What becomes of the request.
    Fault = 13,
    /// Which records a server has lost.
    Loss = 14,
}

/// splitmix64's finaliser (Steele et al., OOPSLA 2014).
const fn mix64(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Uniform in (0, 1), never an end of it.
pub fn unit(seed: u64, use_: Use, number: u64) -> f64 {
    let base = mix64(seed ^ mix64((use_ as u64).wrapping_mul(GOLDEN)));
    let bits = mix64(base.wrapping_add(number.wrapping_mul(GOLDEN)));
    ((bits >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of seed 7 and the numbers 0, 1, 2 and a million; the calibrator's tests hold the same.
    const VECTORS: [f64; 4] = [
        0.546_374_859_519_242_5,
        0.598_923_678_345_544_4,
        0.263_492_402_140_432_9,
        0.602_497_659_194_358_4,
    ];

    #[test]
    fn draws_are_those_that_the_calibrator_makes() {
        let drawn = [0, 1, 2, 1_000_000].map(|n| unit(7, Use::Latency, n));
        for (drawn, expected) in drawn.iter().zip(VECTORS) {
            assert!((drawn - expected).abs() < 1e-15, "{drawn} {expected}");
        }
    }

    #[test]
    fn draws_fill_the_open_interval() {
        let units: Vec<f64> = (0..100_000).map(|n| unit(3, Use::Fault, n)).collect();
        assert!(units.iter().all(|u| *u > 0.0 && *u < 1.0));
        let mean = units.iter().sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }
}
