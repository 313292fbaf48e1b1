//! Zipfian ranks for any skew and any number of items, set up in constant time.
//!
//! Rejection-inversion: W. Hoermann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
//! distributions", ACM TOMACS 6(3), 1996. One power per draw, and seldom a second try.

use super::random::Draw;

/// |1 - theta| below which powers lose too many digits and logarithms are used.
const NEARLY_ONE: f64 = 1e-4;

/// 1 / (1 - 0.99) is 99.99999999999991.
const ROUNDING: f64 = 1e-12;

/// P(rank r) proportional to (r + 1)^-theta over 0..n. `theta` >= 0 may be 0 (uniform), 1, or more.
#[derive(Debug, Clone, Copy)]
pub struct Zipfian {
    theta: f64,
    /// 1 - theta.
    q: f64,
    inverse_q: f64,
    /// The skew is the usual 0.99, of which this is 100.
    usual: bool,
    /// Lower end of the area that is drawn from.
    low: f64,
    /// Distance from the rounded to the exact point within which no test is needed.
    squeeze: f64,
    n: u64,
    /// Upper end of the area for `n` items.
    high: f64,
}

impl Zipfian {
    /// Skew `theta` >= 0, over `n` >= 1 items unless a draw says another count.
    pub fn new(theta: f64, n: u64) -> Self {
        let q = 1.0 - theta;
        let inverse_q = 1.0 / q;
        let mut new = Self {
            theta,
            q,
            inverse_q,
            usual: (inverse_q - 100.0).abs() < ROUNDING,
            low: 0.0,
            squeeze: 0.0,
            n,
            high: 0.0,
        };
        new.low = new.area(1.5) - 1.0;
        new.squeeze = 2.0 - new.area_inverse(new.area(2.5) - 2f64.powf(-theta));
        new.high = new.area(n as f64 + 0.5);
        new
    }

    /// A rank of 0..n. Any `n` of 1 to 2^63 - 1 will do; the one given to [`Zipfian::new`] is the fastest.
    #[inline]
    pub fn rank(&self, draw: &mut Draw, n: u64) -> u64 {
        let high = if n == self.n {
            self.high
        } else {
            self.other_high(n)
        };
        loop {
            let area = high + draw.unit_f64() * (self.low - high);
            let point = self.point(area);
            let item = ((point + 0.5) as i64).clamp(1, n.cast_signed());
            if item as f64 - point <= self.squeeze || self.under_bar(area, item as f64) {
                return item.cast_unsigned() - 1;
            }
        }
    }

    /// Whether the point of this area lies under the bar of `item`. Of fifty draws one asks.
    #[cold]
    #[inline(never)]
    fn under_bar(&self, area: f64, item: f64) -> bool {
        area >= self.area(item + 0.5) - item.powf(-self.theta)
    }

    /// Upper end of the area for another count of items than the usual.
    #[inline(never)]
    fn other_high(&self, n: u64) -> f64 {
        self.area(n as f64 + 0.5)
    }

    /// The integral of x^-theta from 1 to `x`.
    fn area(&self, x: f64) -> f64 {
        if self.q.abs() >= NEARLY_ONE {
            (x.powf(self.q) - 1.0) * self.inverse_q
        } else if self.q == 0.0 {
            x.ln()
        } else {
            (self.q * x.ln()).exp_m1() * self.inverse_q
        }
    }

    /// The x whose [`Zipfian::area`] is `area`.
    #[inline]
    fn point(&self, area: f64) -> f64 {
        if self.usual {
            hundredth_power((1.0 + self.q * area).max(0.0))
        } else {
            self.area_inverse(area)
        }
    }

    #[inline(never)]
    fn area_inverse(&self, area: f64) -> f64 {
        if self.q.abs() >= NEARLY_ONE {
            let base = (1.0 + self.q * area).max(0.0);
            base.powf(self.inverse_q)
        } else if self.q == 0.0 {
            area.exp()
        } else {
            ((self.q * area).ln_1p() * self.inverse_q).exp()
        }
    }
}

/// x^100 in eight multiplications instead of a power.
#[inline]
fn hundredth_power(x: f64) -> f64 {
    let x3 = x * x * x;
    let x12 = (x3 * x3) * (x3 * x3);
    let x25 = x12 * x12 * x;
    let x50 = x25 * x25;
    x50 * x50
}

#[cfg(test)]
mod tests {
    use super::super::random::{Source, Stream};
    use super::*;

    fn frequencies(theta: f64, n: u64, set_up_for: u64, draws: u64) -> Vec<f64> {
        let zipfian = Zipfian::new(theta, set_up_for);
        let source = Source::new(11, Stream::Rank);
        let mut seen = vec![0.0; n as usize];
        for number in 0..draws {
            seen[zipfian.rank(&mut source.draw(number), n) as usize] += 1.0;
        }
        seen
    }

    fn chi_square(theta: f64, n: u64, set_up_for: u64) -> f64 {
        let draws = 200_000;
        let weights: Vec<f64> = (1..=n).map(|item| (item as f64).powf(-theta)).collect();
        let total: f64 = weights.iter().sum();
        let seen = frequencies(theta, n, set_up_for, draws);
        let expected = weights.iter().map(|weight| weight / total * draws as f64);
        seen.iter()
            .zip(expected)
            .map(|(seen, expected)| (seen - expected).powi(2) / expected)
            .sum()
    }

    #[test]
    fn small_n_follows_the_law() {
        for theta in [0.0, 0.5, 0.99, 0.999_99, 1.0, 1.000_01, 1.01, 1.5, 3.0] {
            let chi = chi_square(theta, 20, 20);
            assert!(
                chi < 43.8,
                "theta {theta}: chi-square {chi} of 19 degrees, 99.9 % is 43.8"
            );
        }
    }

    #[test]
    fn another_n_than_the_first_follows_the_law() {
        for theta in [0.0, 0.99, 1.0, 1.5] {
            let chi = chi_square(theta, 20, 7);
            assert!(
                chi < 43.8,
                "theta {theta}: chi-square {chi} of 19 degrees, 99.9 % is 43.8"
            );
        }
    }

    /// Sum of item^-theta over 1..=n: the first million terms, then Euler and Maclaurin's integral.
    fn zeta(theta: f64, n: f64) -> f64 {
        let m = 1e6;
        let head: f64 = (1..=1_000_000)
            .map(|item| f64::from(item).powf(-theta))
            .sum();
        let integral = if (theta - 1.0).abs() < 1e-9 {
            (n / m).ln()
        } else {
            (n.powf(1.0 - theta) - m.powf(1.0 - theta)) / (1.0 - theta)
        };
        head + integral + (n.powf(-theta) - m.powf(-theta)) / 2.0
    }

    #[test]
    fn the_head_of_a_trillion_follows_the_law() {
        let (n, draws) = (1_000_000_000_000, 300_000);
        for theta in [0.99, 1.0, 1.5] {
            let zipfian = Zipfian::new(theta, n);
            let source = Source::new(5, Stream::Rank);
            let mut head = [0.0; 5];
            for number in 0..draws {
                let rank = zipfian.rank(&mut source.draw(number), n);
                assert!(rank < n);
                if rank < 5 {
                    head[rank as usize] += 1.0;
                }
            }
            let zeta = zeta(theta, n as f64);
            for (rank, seen) in head.iter().enumerate() {
                let p = (rank as f64 + 1.0).powf(-theta) / zeta;
                let expected = p * draws as f64;
                let sigma = (expected * (1.0 - p)).sqrt();
                assert!(
                    (seen - expected).abs() < 4.0 * sigma,
                    "{theta} {rank} {seen} {expected}"
                );
            }
        }
    }

    #[test]
    fn the_tail_of_a_trillion_is_reached() {
        let n = 1_000_000_000_000;
        let zipfian = Zipfian::new(0.0, n);
        let source = Source::new(5, Stream::Rank);
        let far = (0..10_000)
            .filter(|&i| zipfian.rank(&mut source.draw(i), n) >= n / 2)
            .count();
        assert!((4_800..5_200).contains(&far), "{far}");
    }

    #[test]
    fn the_usual_skew_is_drawn_by_multiplication() {
        assert!(Zipfian::new(0.99, 10).usual && !Zipfian::new(0.98, 10).usual);
        for x in (0..1000).map(|step| 1.0 + f64::from(step) * 4e-4) {
            let ratio = hundredth_power(x) / x.powi(100);
            assert!((ratio - 1.0).abs() < 1e-14, "{x}: {ratio}");
        }
    }

    #[test]
    fn one_item_is_always_drawn() {
        for theta in [0.0, 0.99, 1.0, 2.0, 100.0] {
            assert_eq!(frequencies(theta, 1, 1, 1000), [1000.0]);
        }
    }

    #[test]
    fn steep_skew_draws_the_first_item() {
        assert!(frequencies(100.0, 10, 10, 1000)[0] > 999.5);
    }
}
