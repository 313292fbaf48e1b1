//! What the loop's thread asks of the kernel's scheduler: to be woken at the nanosecond, and to run soon when it is woken. Its
//! share of the processor stays what it is.

/// The shortest slice that Linux gives an ordinary thread (`kernel/sched/syscalls.c`, since 6.12), ns.
const SLICE_NS: u64 = 100_000;

/// Ask it for the calling thread.
///
/// Under EEVDF a thread with a short slice has an early deadline whenever it wakes: it runs before a server's thread has used
/// up its own slice of milliseconds, and gives the core back sooner. Older kernels do not look at it.
pub(super) fn ask_for_promptness() {
    // SAFETY: prctl with these arguments only changes this thread's timer slack, which a sleep without the timer has.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let Some(mut attributes) = attributes() else {
        return;
    };
    if attributes.sched_policy == libc::SCHED_OTHER as u32 {
        attributes.sched_runtime = SLICE_NS;
        // SAFETY: `attributes` is valid for the call and says its size; 0 is this thread.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}

/// What the calling thread has now.
fn attributes() -> Option<libc::sched_attr> {
    let size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: an all-zero sched_attr is valid, the kernel writes no more than it is told, and 0 is this thread.
    unsafe {
        let mut found: libc::sched_attr = std::mem::zeroed();
        let done = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, size, 0);
        (done == 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer_slack_ns() -> i32 {
        // SAFETY: prctl with this argument only tells.
        unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }
    }

    #[test]
    fn a_thread_that_asks_is_woken_promptly_and_keeps_its_policy_and_its_share() {
        let asks = || {
            // A share that is not everybody's, so that losing it would be seen. SAFETY: it has no memory arguments.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 17) };
            let before = attributes().expect("to be told");
            ask_for_promptness();
            (before, attributes().expect("to be told"), timer_slack_ns())
        };
        let (before, after, slack_ns) = std::thread::spawn(asks).join().expect("it is asked for");
        assert_eq!(
            (after.sched_policy, after.sched_nice),
            (before.sched_policy, before.sched_nice)
        );
        assert_eq!(slack_ns, 1);
        // A kernel that knows slices tells the one in effect, one that does not tells none.
        let knows = before.sched_policy == libc::SCHED_OTHER as u32 && before.sched_runtime > 0;
        let slice_ns = if knows {
            SLICE_NS
        } else {
            before.sched_runtime
        };
        assert_eq!(after.sched_runtime, slice_ns);
    }
}
