//! Commands: one JSON object a line on standard input, each acknowledged by a line on standard output.

use crate::fault::{Faults, Loss};
use crate::law::Law;
use serde::Deserialize;
use std::io;
use std::path::PathBuf;

/// What is to be done.
#[derive(Debug, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// From now on this law; what was written down and what was still to be answered is forgotten.
    Case(Case),
    /// Write the stamps to a new file, and forget them.
    Stamps { path: PathBuf },
    /// End all connections, and forget which statements were prepared, as servers do that are started again.
    Restart,
    /// Say how many requests have come since the case began, for each node.
    Counts,
}

/// How requests are answered.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Of all draws.
    pub seed: u64,
    /// What laws and faults call 0, CLOCK_MONOTONIC ns; requests that come sooner come at 0.
    pub epoch_ns: u64,
    /// When answers are due.
    pub law: Law,
    /// What fails.
    #[serde(default)]
    pub faults: Faults,
    /// Of single nodes, by their places: what fails there instead.
    #[serde(default)]
    pub nodes: Vec<Option<Faults>>,
    /// CPU used for each request beside answering it.
    #[serde(default)]
    pub burn_us: u64,
}

impl Case {
    /// What fails on the node of that place.
    pub fn faults(&self, node: usize) -> &Faults {
        let own = self.nodes.get(node).and_then(Option::as_ref);
        own.unwrap_or(&self.faults)
    }

    /// Whether reads find less than what was written.
    pub fn loses(&self) -> bool {
        let all = self.nodes.iter().flatten().chain([&self.faults]);
        all.into_iter().any(|faults| faults.loss != Loss::default())
    }
}

impl Default for Case {
    fn default() -> Self {
        Self {
            seed: 0,
            epoch_ns: 0,
            law: Law::Constant { latency_us: 0.0 },
            faults: Faults::default(),
            nodes: Vec::new(),
            burn_us: 0,
        }
    }
}

/// Lines of standard input, read when there is something.
#[derive(Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Read once; the whole lines there are, none at the end of input.
    pub fn read(&mut self) -> io::Result<Option<Vec<String>>> {
        let mut piece = [0_u8; 4096];
        // SAFETY: the buffer is valid for its length. The standard library's own reader would keep what we poll for.
        let count = unsafe { libc::read(0, piece.as_mut_ptr().cast(), piece.len()) };
        let Ok(count) = usize::try_from(count) else {
            return Err(io::Error::last_os_error());
        };
        if count == 0 {
            return Ok(None);
        }
        self.0.extend_from_slice(&piece[..count]);
        let whole = self
            .0
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&self.0[..whole]).into_owned();
        self.0.drain(..whole);
        Ok(Some(text.lines().map(ToOwned::to_owned).collect()))
    }
}
