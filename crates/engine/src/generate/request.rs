//! Which record an operation asks for: one law of [`Request`] over the records that can be read.

use super::random::{Draw, Source, Stream};
use super::{permutation::Permutation, ycsb, zipfian::Zipfian};
use crate::plan::{Compat, Request};

/// Draws ranks of records.
#[derive(Debug, Clone, Copy)]
pub struct Ranks {
    /// Records of the load phase.
    records: u64,
    law: Law,
    /// The law keeps to the loaded records, as YCSB's does, and never asks for a new one.
    loaded_only: bool,
}

#[derive(Debug, Clone, Copy)]
enum Law {
    /// Every record equally likely.
    Uniform,
    /// The popularity of rank r falls as (r + 1)^-theta. Ranks of loaded records are permuted among themselves; a new
    /// record enters at the cold end and keeps its place. So the map from popularity to record is one to one, and an
    /// insert changes the place of no record.
    Zipfian(Zipfian, Permutation),
    /// As zipfian, from the newest backwards.
    Latest(Zipfian),
    /// The first `data` of the records get `operations` of the draws; uniform inside and outside.
    Hotspot { data: f64, operations: f64 },
    /// Number modulo the records loaded, which no insert changes: the walk would jump. YCSB counts requests instead, which is
    /// the same while there is one kind of operation.
    Sequential,
    /// The newest less an exponential age, drawn again if negative; by inversion of the law cut there, which is equal.
    Exponential { gamma: f64 },
    /// YCSB's zipfian.
    Scrambled(ycsb::Scrambled),
    /// YCSB's latest.
    SkewedLatest(ycsb::SkewedLatest),
}

impl Ranks {
    /// The law of a checked plan. `new_keys` is how many inserts YCSB would expect; only its zipfian uses it.
    pub fn new(seed: u64, records: u64, request: &Request, new_keys: u64) -> Self {
        let law = law(seed, records, request, new_keys);
        Self {
            records,
            law,
            loaded_only: keeps_to_loaded(request),
        }
    }

    /// The rank operation `number` asks for, below `readable`, which is at least the records loaded.
    #[inline]
    pub fn rank(&self, draw: &mut Draw, number: u64, readable: u64) -> u64 {
        self.place(self.draw(draw, number, readable))
    }

    /// The same before it is scattered.
    #[inline]
    pub fn draw(&self, draw: &mut Draw, number: u64, readable: u64) -> u64 {
        let n = if self.loaded_only {
            self.records
        } else {
            readable
        };
        match &self.law {
            Law::Uniform => draw.below(n),
            Law::Zipfian(zipfian, _) => zipfian.rank(draw, n),
            Law::Latest(zipfian) => n - 1 - zipfian.rank(draw, n),
            Law::Hotspot { data, operations } => hotspot(draw, n, *data, *operations),
            Law::Sequential => number % self.records,
            Law::Exponential { gamma } => n - 1 - age(draw.unit_f64(), n, *gamma),
            Law::Scrambled(scrambled) => scrambled.rank(draw, n),
            Law::SkewedLatest(latest) => latest.rank(draw, n),
        }
    }

    /// Where what was drawn is scattered to: loaded records by a law that scatters them, else nowhere.
    #[inline]
    pub fn place(&self, rank: u64) -> u64 {
        match &self.law {
            Law::Zipfian(_, permutation) if rank < self.records => permutation.apply(rank),
            _ => rank,
        }
    }
}

fn law(seed: u64, records: u64, request: &Request, new_keys: u64) -> Law {
    const YCSB: Option<Compat> = Some(Compat::Ycsb);
    match *request {
        Request::Uniform { .. } => Law::Uniform,
        Request::Zipfian { compat: YCSB, .. } => {
            Law::Scrambled(ycsb::Scrambled::new(records, new_keys))
        }
        Request::Zipfian { theta, .. } => {
            let mut draw = Source::new(seed, Stream::Permutation).draw(0);
            Law::Zipfian(
                Zipfian::new(theta, records),
                Permutation::new(&mut draw, records),
            )
        }
        Request::Latest { compat: YCSB, .. } => Law::SkewedLatest(ycsb::SkewedLatest::new(records)),
        Request::Latest { theta, .. } => Law::Latest(Zipfian::new(theta, records)),
        Request::Hotspot {
            data_fraction: data,
            operation_fraction: operations,
            ..
        } => Law::Hotspot { data, operations },
        Request::Sequential { .. } => Law::Sequential,
        Request::Exponential {
            percentile,
            fraction,
            ..
        } => {
            let gamma = -(-percentile / 100.0).ln_1p() / (records as f64 * fraction);
            Law::Exponential { gamma }
        }
    }
}

/// YCSB's uniform, hotspot and sequential laws never ask for a new record; the others do.
const fn keeps_to_loaded(request: &Request) -> bool {
    matches!(
        request,
        Request::Uniform {
            compat: Some(Compat::Ycsb)
        } | Request::Hotspot {
            compat: Some(Compat::Ycsb),
            ..
        } | Request::Sequential {
            compat: Some(Compat::Ycsb)
        }
    )
}

/// Hot and cold parts hold at least one record each, as far as there are two.
#[inline]
fn hotspot(draw: &mut Draw, n: u64, data: f64, operations: f64) -> u64 {
    let hot = ((n as f64 * data) as u64).clamp(1, n);
    if draw.unit_f64() < operations || hot == n {
        draw.below(hot)
    } else {
        hot + draw.below(n - hot)
    }
}

/// The whole part, below `n`, of an exponential variate that is cut at `n`; `u` in [0, 1).
#[inline]
fn age(u: f64, n: u64, gamma: f64) -> u64 {
    let inside = (-gamma * n as f64).exp_m1();
    ((-(u * inside).ln_1p() / gamma) as u64).min(n - 1)
}

#[cfg(test)]
mod tests;
