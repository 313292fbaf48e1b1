//! What can be said of a value that was read.

/// Verdict on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Written by operation `number` for this key and field; content as derived.
    Good {
        /// The write's operation number; [`LOADED`](super::values::LOADED)` | n` for the load phase.
        number: u64,
    },
    /// As it must be for this key and field; nobody can say by which write.
    Unnumbered,
    /// Does not fit its own header.
    Corrupt,
    /// A sound value of another key, field or seed.
    Foreign,
}
