//! When calls were on the wire.

/// When a call was on the wire, CLOCK_MONOTONIC nanoseconds.
///
/// Both are read once for each system call, not for each call: requests that left together share `sent_ns`, answers that came
/// together share `received_ns`. Our own queues are in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamps {
    /// Just before the first `write()` that was handed the request.
    pub sent_ns: u64,
    /// Just after the `read()` that completed the answer, before it was parsed.
    pub received_ns: u64,
}

/// CLOCK_MONOTONIC, ns.
pub(crate) fn monotonic_ns() -> u64 {
    let mut spec = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `spec` is a valid out pointer and every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut spec) };
    spec.tv_sec as u64 * 1_000_000_000 + spec.tv_nsec as u64
}
