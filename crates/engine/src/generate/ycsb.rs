//! The zipfian laws as YCSB draws them (`compat = "ycsb"`), its defects included, from our seeded draws.
//!
//! Sources: YCSB's `ZipfianGenerator` (J. Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD
//! 1994), `ScrambledZipfianGenerator` and `SkewedLatestGenerator`. Its other laws differ from ours only in their range.

use super::key::ycsb_hash;
use super::random::Draw;
use super::zeta::Zeta;

/// The only skew YCSB knows.
pub const THETA: f64 = crate::plan::YCSB_THETA;
/// Items a scrambled draw chooses from before it is hashed, whatever the number of records.
const SCRAMBLED_ITEMS: u64 = 10_000_000_001;
/// The sum YCSB gives for them.
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;
/// Draws above the last readable record before one is folded back, where YCSB would draw for ever.
const REDRAWS: u32 = 10_000;

/// Gray's approximation over some number of items.
#[derive(Debug, Clone, Copy)]
struct Gray {
    alpha: f64,
    /// The sum over two items.
    zeta_two: f64,
    /// (2 / first number of items)^(1 - theta).
    two_share: f64,
}

impl Gray {
    fn new(items: u64) -> Self {
        Self {
            alpha: 1.0 / (1.0 - THETA),
            zeta_two: 1.0 + 0.5f64.powf(THETA),
            two_share: (2.0 / items as f64).powf(1.0 - THETA),
        }
    }

    fn eta(&self, zeta: f64) -> f64 {
        (1.0 - self.two_share) / (1.0 - self.zeta_two / zeta)
    }

    /// The rank that `u` of [0, 1) stands for among `items` with this sum.
    #[inline]
    fn rank(&self, u: f64, items: u64, zeta: f64, eta: f64) -> u64 {
        let uz = u * zeta;
        if uz < 1.0 {
            0
        } else if uz < self.zeta_two {
            1
        } else {
            (items as f64 * (eta * u - eta + 1.0).powf(self.alpha)) as u64
        }
    }
}

/// `ScrambledZipfianGenerator`: ranks of ten thousand million items, hashed onto the records.
#[derive(Debug, Clone, Copy)]
pub struct Scrambled {
    gray: Gray,
    eta: f64,
    modulus: u64,
}

impl Scrambled {
    /// Over `records` loaded and `new_keys` expected records: YCSB's range holds one more than both.
    pub fn new(records: u64, new_keys: u64) -> Self {
        let gray = Gray::new(SCRAMBLED_ITEMS);
        let modulus = records.saturating_add(new_keys).saturating_add(1);
        Self {
            gray,
            eta: gray.eta(SCRAMBLED_ZETA),
            modulus,
        }
    }

    /// A rank below `readable`; draws above it are drawn again.
    #[inline]
    pub fn rank(&self, draw: &mut Draw, readable: u64) -> u64 {
        let mut rank = self.map(draw.unit_f64());
        for _ in 0..REDRAWS {
            if rank < readable {
                return rank;
            }
            rank = self.map(draw.unit_f64());
        }
        rank % readable
    }

    /// The record that `u` of [0, 1) stands for, readable or not.
    #[inline]
    fn map(&self, u: f64) -> u64 {
        self.scramble(self.gray.rank(u, SCRAMBLED_ITEMS, SCRAMBLED_ZETA, self.eta))
    }

    #[inline]
    fn scramble(&self, rank: u64) -> u64 {
        ycsb_hash(rank) % self.modulus
    }
}

/// `SkewedLatestGenerator`: how far a rank lies before the newest. Its sum grows with the records, but one term of eta
/// keeps the first count; record 0 is never drawn.
#[derive(Debug, Clone, Copy)]
pub struct SkewedLatest {
    gray: Gray,
    zeta: Zeta,
    first_items: u64,
    first_zeta: f64,
    first_eta: f64,
}

impl SkewedLatest {
    /// From `records` loaded records on.
    pub fn new(records: u64) -> Self {
        let first_items = records.saturating_sub(1);
        let (gray, zeta) = (Gray::new(first_items), Zeta::new(THETA));
        let first_zeta = zeta.sum(first_items);
        Self {
            gray,
            zeta,
            first_items,
            first_zeta,
            first_eta: gray.eta(first_zeta),
        }
    }

    /// A rank below `readable`.
    #[inline]
    pub fn rank(&self, draw: &mut Draw, readable: u64) -> u64 {
        let newest = readable - 1;
        newest.saturating_sub(self.age(draw.unit_f64(), newest))
    }

    /// How many records lie between the newest, of rank `items`, and that of `u`.
    #[inline]
    fn age(&self, u: f64, items: u64) -> u64 {
        if items == self.first_items {
            return self.gray.rank(u, items, self.first_zeta, self.first_eta);
        }
        let zeta = self.zeta.sum(items);
        self.gray.rank(u, items, zeta, self.gray.eta(zeta))
    }
}

#[cfg(test)]
mod tests;
