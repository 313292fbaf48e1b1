//! A histogram in numbers, as every file shows it.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The figures of one distribution; nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Least.
    pub min_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90 %.
    pub p90_ns: u64,
    /// 95 %.
    pub p95_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// 99.99 %.
    pub p9999_ns: u64,
    /// Greatest.
    pub max_ns: u64,
}

impl From<&Histogram<u64>> for Distribution {
    fn from(h: &Histogram<u64>) -> Self {
        let q = |quantile| h.value_at_quantile(quantile).min(h.max());
        Self {
            count: h.len(),
            mean_ns: h.mean(),
            min_ns: h.min(),
            p50_ns: q(0.5),
            p90_ns: q(0.9),
            p95_ns: q(0.95),
            p99_ns: q(0.99),
            p999_ns: q(0.999),
            p9999_ns: q(0.9999),
            max_ns: h.max(),
        }
    }
}
