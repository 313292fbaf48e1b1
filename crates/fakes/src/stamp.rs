//! What is written down of each request, and the file of it: records of four little-endian u64.

use crate::fault::Fate;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// One request. Times are CLOCK_MONOTONIC ns.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// The operation's number.
    pub number: u64,
    /// When the read that completed the request returned.
    pub arrived_ns: u64,
    /// When the write that carried the answer was issued; 0 if there was none.
    pub left_ns: u64,
    /// How it ended.
    pub fate: Fate,
}

/// Write `stamps` to a new file.
pub fn write(path: &Path, stamps: &[Stamp]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for stamp in stamps {
        for word in [
            stamp.number,
            stamp.arrived_ns,
            stamp.left_ns,
            stamp.fate as u64,
        ] {
            out.write_all(&word.to_le_bytes())?;
        }
    }
    out.flush()
}
