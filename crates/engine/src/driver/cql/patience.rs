//! How long a connection's silence is borne.

use std::time::Duration;

/// A connection on which nothing was received for so long is asked for a sign of life ...
pub(super) const PROBE_AFTER: Duration = Duration::from_secs(2);
/// ... and given up after this long without one: a frozen node answers nothing and closes nothing. Bears a long collection of
/// garbage, notices a frozen node before operations reach their usual deadline.
pub(super) const PROBE_LIMIT: Duration = Duration::from_secs(5);
