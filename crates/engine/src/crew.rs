//! The clients of one phase, as the conductor of the run sees them.

use crate::phase_state::PhaseState;

/// Clients at work on a [`PhaseState`].
pub trait Crew {
    /// Look at or change the core.
    fn with_core<R>(&self, use_core: impl FnOnce(&mut PhaseState) -> R) -> R;

    /// Wake every client that waits for something due: the schedule has changed, or the end has come.
    fn wake(&self);

    /// Give up on clients that do not come back.
    fn abandon(&self);

    /// Times the pacer has woken.
    fn turns(&self) -> u64;

    /// Every client has gone: give the core back.
    fn into_core(self) -> Option<PhaseState>;
}
