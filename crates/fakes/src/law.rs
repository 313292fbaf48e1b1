//! When an answer is due: a pure function of (seed, operation number, time of arrival). Times are ns since the case's epoch.
//!
//! A stall is a server that stands still: what comes meanwhile begins when it is over, what was at work goes on then.

use crate::draw::{Use, unit};
use serde::Deserialize;

/// A law of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Law {
    /// Always the same.
    Constant { latency_us: f64 },
    /// `median` times e to the power of (`sigma` times a standard normal draw).
    Lognormal { median_us: f64, sigma: f64 },
    /// Fast, or for this share of the operations slow.
    Bimodal {
        fast_us: f64,
        slow_us: f64,
        slow_share: f64,
    },
    /// Constant, and the server stands still at every multiple of `every` (not at 0) for a while.
    PeriodicStall {
        latency_us: f64,
        every_ms: f64,
        stall_ms: f64,
    },
    /// Constant, and the server stands still once.
    OneStall {
        latency_us: f64,
        at_ms: f64,
        stall_ms: f64,
    },
    /// From one latency to another in a straight line over a time, by arrival; then the last.
    Ramp {
        from_us: f64,
        to_us: f64,
        over_ms: f64,
    },
}

const fn us(us: f64) -> u64 {
    (us * 1e3) as u64
}

const fn ms(ms: f64) -> u64 {
    (ms * 1e6) as u64
}

impl Law {
    /// When the answer to operation `number`, whose request came at `arrived`, is due.
    pub fn due(&self, seed: u64, number: u64, arrived: u64) -> u64 {
        match *self {
            Self::Constant { latency_us } => arrived + us(latency_us),
            Self::Lognormal { median_us, sigma } => {
                let (a, b) = (
                    unit(seed, Use::Latency, number),
                    unit(seed, Use::Second, number),
                );
                let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos(); // Box and Muller
                arrived + us(median_us * (sigma * normal).exp())
            }
            Self::Bimodal {
                fast_us,
                slow_us,
                slow_share,
            } => {
                let slow = unit(seed, Use::Latency, number) < slow_share;
                arrived + us(if slow { slow_us } else { fast_us })
            }
            Self::PeriodicStall {
                latency_us,
                every_ms,
                stall_ms,
            } => {
                let (every, stall) = (ms(every_ms), ms(stall_ms));
                let last = arrived / every * every;
                let begun = if last > 0 {
                    arrived.max(last + stall)
                } else {
                    arrived
                };
                past(begun, us(latency_us), last + every, stall)
            }
            Self::OneStall {
                latency_us,
                at_ms,
                stall_ms,
            } => {
                let (at, stall) = (ms(at_ms), ms(stall_ms));
                if arrived < at {
                    return past(arrived, us(latency_us), at, stall);
                }
                arrived.max(at + stall) + us(latency_us)
            }
            Self::Ramp {
                from_us,
                to_us,
                over_ms,
            } => {
                let part = (arrived as f64 / (over_ms * 1e6)).min(1.0);
                arrived + us(from_us + (to_us - from_us) * part)
            }
        }
    }

    /// What is wrong with its figures, if anything is.
    pub fn fault(&self) -> Option<&'static str> {
        let figures = match *self {
            Self::Constant { latency_us } => [latency_us, 0.0, 0.0],
            Self::Lognormal { median_us, sigma } => [median_us, sigma, 0.0],
            Self::Bimodal {
                fast_us,
                slow_us,
                slow_share,
            } => [fast_us, slow_us, slow_share],
            Self::PeriodicStall {
                latency_us,
                every_ms,
                stall_ms,
            } => {
                if latency_us / 1e3 >= every_ms - stall_ms {
                    return Some("the server would stand still again before it has answered");
                }
                [latency_us, every_ms, stall_ms]
            }
            Self::OneStall {
                latency_us,
                at_ms,
                stall_ms,
            } => [latency_us, at_ms, stall_ms],
            Self::Ramp {
                from_us,
                to_us,
                over_ms,
            } => {
                if over_ms <= 0.0 {
                    return Some("a ramp needs a time");
                }
                [from_us, to_us, over_ms]
            }
        };
        let sound = figures.iter().all(|f| f.is_finite() && *f >= 0.0);
        (!sound).then_some("figures of a law must not be negative")
    }
}

/// When `work` that was begun is done, if the server stands still for `stall` at `at`.
const fn past(begun: u64, work: u64, at: u64, stall: u64) -> u64 {
    let done = begun + work;
    if done > at { done + stall } else { done }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(text: &str) -> Law {
        serde_json::from_str(text).expect("a law")
    }

    /// When an answer is due whose request came at `us`, us.
    fn due_us(law: Law, us: u64) -> u64 {
        law.due(1, 0, us * 1000) / 1000
    }

    #[test]
    fn a_server_that_stands_still_answers_nothing_meanwhile() {
        let law = law(r#"{"kind":"one_stall","latency_us":1000,"at_ms":10,"stall_ms":100}"#);
        let due = [8_000, 9_500, 50_000, 200_000].map(|us| due_us(law, us));
        // half of the second one's work was left when it began
        assert_eq!(due, [9_000, 110_500, 111_000, 201_000]);
    }

    #[test]
    fn stalls_come_again() {
        let law =
            law(r#"{"kind":"periodic_stall","latency_us":1000,"every_ms":100,"stall_ms":10}"#);
        let due = [0, 99_500, 105_000, 150_000, 300_000].map(|us| due_us(law, us));
        assert_eq!(due, [1_000, 110_500, 111_000, 151_000, 311_000]);
    }

    #[test]
    fn a_ramp_rises_and_stays() {
        let law = law(r#"{"kind":"ramp","from_us":100,"to_us":300,"over_ms":10}"#);
        let due = |ms: u64| law.due(1, 0, ms * 1_000_000) - ms * 1_000_000;
        assert_eq!(
            (due(0), due(5), due(10), due(99)),
            (100_000, 200_000, 300_000, 300_000)
        );
    }

    #[test]
    fn random_laws_have_their_shares_and_medians() {
        let bimodal = law(r#"{"kind":"bimodal","fast_us":1,"slow_us":2,"slow_share":0.02}"#);
        let slow = (0..100_000)
            .filter(|n| bimodal.due(5, *n, 0) == 2000)
            .count();
        assert!((1800..2200).contains(&slow), "{slow}");
        let lognormal = law(r#"{"kind":"lognormal","median_us":500,"sigma":0.5}"#);
        let mut drawn: Vec<u64> = (0..100_001).map(|n| lognormal.due(5, n, 0)).collect();
        drawn.sort_unstable();
        let at = |q: f64| drawn[(q * 1e5) as usize] as f64;
        assert!((at(0.5) / 500e3 - 1.0).abs() < 0.01, "{}", at(0.5));
        let p99 = 500e3 * (0.5_f64 * 2.326_348).exp();
        assert!((at(0.99) / p99 - 1.0).abs() < 0.03, "{}", at(0.99));
    }

    #[test]
    fn impossible_laws_are_refused() {
        let wrong = [
            r#"{"kind":"constant","latency_us":-1}"#,
            r#"{"kind":"periodic_stall","latency_us":1000,"every_ms":10,"stall_ms":10}"#,
            r#"{"kind":"ramp","from_us":1,"to_us":2,"over_ms":0}"#,
        ];
        assert!(wrong.iter().all(|text| law(text).fault().is_some()));
        assert!(serde_json::from_str::<Law>(r#"{"kind":"constant","latency":1}"#).is_err());
    }
}
