//! The attempts of an operation: whether and when there is another, and what is told of them.

use crate::error::{Action, Error};
use crate::shared::{Config, Retries};
use crate::stamps::{Stamps, monotonic_ns};
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Overloaded servers are left alone for so many times the usual pause.
const OVERLOAD_FACTOR: u32 = 4;

/// What an operation brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<T> {
    /// The result.
    pub value: T,
    /// When the successful attempt was on the wire.
    pub stamps: Stamps,
    /// The attempts that failed before it.
    pub failed: Vec<Attempt>,
}

impl<T> Answer<T> {
    pub(crate) const fn first(value: T, stamps: Stamps) -> Self {
        Self {
            value,
            stamps,
            failed: Vec::new(),
        }
    }
}

/// An attempt that failed.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Why.
    pub error: Error,
    /// When it was begun, CLOCK_MONOTONIC ns.
    pub started_ns: u64,
    /// When it had failed, CLOCK_MONOTONIC ns.
    pub ended_ns: u64,
}

impl PartialEq for Attempt {
    fn eq(&self, other: &Self) -> bool {
        (self.started_ns, self.ended_ns) == (other.started_ns, other.ended_ns)
    }
}

impl Eq for Attempt {}

/// An operation that failed.
#[derive(Debug, Clone)]
pub struct Failed {
    /// Its attempts in order: at least one.
    pub attempts: Vec<Attempt>,
}

impl Failed {
    /// Why the last attempt failed.
    pub fn error(&self) -> &Error {
        &self
            .attempts
            .last()
            .expect("an operation fails by its last attempt")
            .error
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error())?;
        match self.attempts.len() {
            1 => Ok(()),
            n => write!(f, " (after {n} attempts)"),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.error())
    }
}

impl From<Failed> for Error {
    fn from(mut failed: Failed) -> Self {
        failed
            .attempts
            .pop()
            .expect("an operation fails by its last attempt")
            .error
    }
}

/// The attempts of one operation: told how each went, it says whether and when there is another.
pub(crate) struct Attempts {
    deadline: Instant,
    retries: Retries,
    pause: Duration,
    attempt_timeout: Duration,
    started_ns: u64,
    failed: Vec<Attempt>,
}

impl Attempts {
    pub(crate) fn begin(config: &Config) -> Self {
        Self {
            deadline: Instant::now() + config.operation_timeout,
            retries: config.retries,
            pause: config.pause,
            attempt_timeout: config.attempt_timeout,
            started_ns: monotonic_ns(),
            failed: Vec::new(),
        }
    }

    /// How long the next attempt may take.
    pub(crate) fn patience(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.min(self.attempt_timeout)
    }

    /// An attempt failed. Returns when the next one is due; the operation's failure if there is none.
    pub(crate) async fn failed(&mut self, error: Error) -> Result<(), Failed> {
        let pause = self.pause_after(&error);
        let useless = error.action() == Action::GiveUp;
        self.failed.push(Attempt {
            error,
            started_ns: self.started_ns,
            ended_ns: monotonic_ns(),
        });
        if useless || self.retries == Retries::None || Instant::now() + pause >= self.deadline {
            return Err(Failed {
                attempts: std::mem::take(&mut self.failed),
            });
        }
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        self.started_ns = monotonic_ns();
        Ok(())
    }

    /// None before going on with a new location the first time, then longer each time, and uneven, so that callers who failed
    /// together do not come back together.
    fn pause_after(&self, error: &Error) -> Duration {
        let before = self.failed.len() as u32;
        if before == 0 && error.action() == Action::Relocate {
            return Duration::ZERO;
        }
        let factor = if error.overloaded() {
            OVERLOAD_FACTOR
        } else {
            1
        };
        let grown = self.pause * factor * 2_u32.pow(before.min(10));
        let unevenness = 0.75 + 0.5 * (monotonic_ns() % 1024) as f64 / 1024.0;
        grown.min(LONGEST_PAUSE).mul_f64(unevenness)
    }

    /// The operation succeeded in part: what failed is told with that.
    pub(crate) fn take_back(&mut self, failed: Failed) {
        self.failed = failed.attempts;
    }

    /// The failures before the success.
    pub(crate) fn into_failed(self) -> Vec<Attempt> {
        self.failed
    }
}

pub(crate) fn timed_out(after: Duration) -> Error {
    Error::Timeout {
        what: "HBase".to_owned(),
        after,
    }
}
