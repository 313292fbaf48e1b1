//! Distributions that are what they say: what the generators draw, against theory that is worked out here anew.
//!
//! Everything is seeded, so that a test that passes passes for ever. [`theory`] judges by chi-square; that it can tell a skew
//! that is wrong by 1 % is tested too.

mod draws;
mod engines;
mod inserts;
mod kinds;
mod lengths;
mod requests;
mod theory;
mod ycsb;
mod zipfian;
