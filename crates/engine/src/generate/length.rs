//! Lengths of fields (bytes) and scans (rows).

use super::random::Draw;
use super::zipfian::Zipfian;
use crate::plan::Length;
use std::sync::Arc;

/// Skew of zipfian lengths, as in YCSB.
const THETA: f64 = 0.99;

/// Draws lengths of one law.
#[derive(Debug, Clone)]
pub struct Lengths {
    min: u32,
    /// Lengths there are.
    span: u64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Constant,
    Uniform,
    Zipfian(Zipfian),
    /// (sum of the weights up to here, length) of each length.
    Histogram(Arc<[(u64, u32)]>),
}

impl Lengths {
    /// The law of a checked plan: 1 <= min <= max.
    pub fn new(length: &Length) -> Self {
        let (min, max) = length.bounds();
        let span = u64::from(max.saturating_sub(min)) + 1;
        let law = match length {
            Length::Constant { .. } => Law::Constant,
            Length::Uniform { .. } => Law::Uniform,
            Length::Zipfian { .. } => Law::Zipfian(Zipfian::new(THETA, span)),
            Length::Histogram { weights } => Law::Histogram(sums(weights)),
        };
        Self { min, span, law }
    }

    /// The least length.
    pub const fn min(&self) -> u32 {
        self.min
    }

    /// The length, if there is but one.
    pub const fn constant(&self) -> Option<u32> {
        match self.law {
            Law::Constant => Some(self.min),
            _ => None,
        }
    }

    /// A length of min ..= max.
    #[inline]
    pub fn draw(&self, draw: &mut Draw) -> u32 {
        match &self.law {
            Law::Constant => self.min,
            Law::Uniform => self.min + draw.below(self.span) as u32,
            Law::Zipfian(zipfian) => self.min + zipfian.rank(draw, self.span) as u32,
            Law::Histogram(sums) => weighted(sums, draw),
        }
    }
}

fn sums(weights: &[(u32, u64)]) -> Arc<[(u64, u32)]> {
    let mut sum = 0;
    let up_to = |&(length, weight): &(u32, u64)| {
        sum += weight;
        (sum, length)
    };
    weights.iter().map(up_to).collect()
}

#[inline]
fn weighted(sums: &[(u64, u32)], draw: &mut Draw) -> u32 {
    let total = sums.last().map_or(0, |(sum, _)| *sum);
    let x = draw.below(total);
    let at = sums.partition_point(|(sum, _)| *sum <= x);
    sums.get(at).map_or(0, |(_, length)| *length)
}

#[cfg(test)]
mod tests {
    use super::super::random::{Source, Stream};
    use super::*;

    fn draws(length: Length) -> Vec<u32> {
        let lengths = Lengths::new(&length);
        let source = Source::new(1, Stream::ScanLength);
        (0..20_000)
            .map(|number| lengths.draw(&mut source.draw(number)))
            .collect()
    }

    #[test]
    fn constant_lengths_are_constant() {
        assert!(
            draws(Length::Constant { length: 7 })
                .iter()
                .all(|&length| length == 7)
        );
    }

    #[test]
    fn uniform_lengths_have_the_middle_as_mean() {
        let draws = draws(Length::Uniform { min: 10, max: 20 });
        assert!(draws.iter().all(|length| (10..=20).contains(length)));
        assert!((10..=20).all(|length| draws.contains(&length)));
        let mean = draws.iter().map(|&length| f64::from(length)).sum::<f64>() / 20_000.0;
        assert!((mean - 15.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn zipfian_lengths_are_mostly_short() {
        let draws = draws(Length::Zipfian { min: 1, max: 100 });
        assert!(draws.iter().all(|length| (1..=100).contains(length)));
        let shortest = draws.iter().filter(|&&length| length == 1).count() as f64 / 20_000.0;
        assert!((shortest - 0.1889).abs() < 0.015, "{shortest}"); // 1 / sum of r^-0.99 over 1..=100
    }

    #[test]
    fn lengths_of_a_histogram_follow_its_weights() {
        let weights = vec![(300, 2), (100, 5), (200, 3)];
        let draws = draws(Length::Histogram { weights });
        for (length, share) in [(100, 0.5), (200, 0.3), (300, 0.2)] {
            let seen = draws.iter().filter(|&&found| found == length).count() as f64 / 20_000.0;
            assert!((seen - share).abs() < 0.015, "{length}: {seen}");
        }
        assert!(draws.iter().all(|length| [100, 200, 300].contains(length)));
    }
}
