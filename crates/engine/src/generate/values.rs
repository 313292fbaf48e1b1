//! Field values: written so that they can be judged when they are read.

/// Verdict on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Written by operation `number` for this key and field; content as derived.
    Good {
        /// The write's operation number; `LOADED | n` for the load phase.
        number: u64,
    },
    /// Does not fit its own header.
    Corrupt,
    /// A sound value of another key, field or seed.
    Foreign,
}

/// Set in the write number of values the load phase wrote, which are older than any other.
pub const LOADED: u64 = 1 << 63;

/// Writes and judges values.
#[derive(Debug, Clone)]
pub struct Values {}

impl Values {
    /// Judge a value of `key`'s field `field`.
    pub fn check(&self, key: &[u8], field: u16, value: &[u8]) -> Check {
        let _ = (key, field, value);
        todo!()
    }
    /// Append the value that operation `number` writes.
    pub fn write(&self, key: &[u8], field: u16, number: u64, out: &mut Vec<u8>) {
        let _ = (key, field, number, out);
        todo!()
    }
}
