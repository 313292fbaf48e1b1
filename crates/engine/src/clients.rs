//! The clients of one phase, as whoever runs the phase sees them.

use crate::phase_state::PhaseState;
use crate::summary::PacingFacts;

/// Clients at work on a [`PhaseState`].
pub trait Clients {
    /// Look at or change the state; none once the clients have ended.
    fn with_state<R: Send + 'static>(
        &self,
        use_state: impl FnOnce(&mut PhaseState) -> R + Send + 'static,
    ) -> Option<R>;

    /// Wake every client that waits for something due: the schedule has changed, or the end has come.
    fn wake(&self);

    /// Give up on clients that do not come back.
    fn abandon(&self);

    /// Every client has ended, or was given up: the state, and how their waiting was timed .
    fn into_state(self) -> Option<(PhaseState, PacingFacts)>;
}
