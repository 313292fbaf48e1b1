//! One clock for every room: CLOCK_MONOTONIC nanoseconds, read from the TSC and re-anchored every interval.
//!
//! The TSC drifts against the kernel's clock by about 1 us a second; without the anchor a long run would pace milliseconds late.

use std::cell::Cell;
use std::time::Duration;

/// How long the TSC is trusted before it is tied to CLOCK_MONOTONIC again.
const REANCHOR_NS: u64 = 1_000_000_000;
/// Readings from which the least disturbed is taken.
const READINGS: u32 = 4;

/// A thread's clock. Reading it costs about 10 ns.
pub struct Clock {
    tsc: quanta::Clock,
    /// What it reads is the processor's counter, which then is read here, without a call.
    direct: bool,
    /// Nanoseconds of 2^32 ticks.
    scale: u64,
    /// Ticks of [`REANCHOR_NS`]; so few that their product with the scale is one word.
    trusted: u64,
    anchor_raw: Cell<u64>,
    anchor_ns: Cell<u64>,
    last: Cell<u64>,
}

impl Default for Clock {
    fn default() -> Self {
        let tsc = quanta::Clock::new();
        let scale = tsc.delta_as_nanos(0, 1 << 32);
        let clock = Self {
            direct: counts_cycles(&tsc),
            trusted: ((u128::from(REANCHOR_NS) << 32) / u128::from(scale)) as u64,
            scale,
            tsc,
            anchor_raw: Cell::new(0),
            anchor_ns: Cell::new(0),
            last: Cell::new(0),
        };
        clock.reanchor();
        clock
    }
}

impl Clock {
    /// CLOCK_MONOTONIC nanoseconds.
    #[inline]
    pub fn now(&self) -> u64 {
        let ticks = self.raw().saturating_sub(self.anchor_raw.get());
        if ticks > self.trusted {
            self.reanchor();
            return self.forward(self.anchor_ns.get());
        }
        self.forward(self.anchor_ns.get() + ((ticks * self.scale) >> 32))
    }

    #[inline]
    fn raw(&self) -> u64 {
        if self.direct {
            cycles()
        } else {
            self.tsc.raw()
        }
    }

    /// A new anchor may lie some nanoseconds behind the old one: time stands still then, it never goes back.
    #[inline]
    fn forward(&self, ns: u64) -> u64 {
        let ns = ns.max(self.last.get());
        self.last.set(ns);
        ns
    }

    /// Tie the TSC to CLOCK_MONOTONIC anew: of a few readings the one least disturbed, since a thread that is put aside between
    /// the two clocks would tie them together wrongly by all that time.
    #[cold]
    fn reanchor(&self) {
        let mut best = u64::MAX;
        for _ in 0..READINGS {
            let before = self.tsc.raw();
            let kernel = monotonic_ns();
            let gap = self.tsc.delta_as_nanos(before, self.tsc.raw());
            if gap < best {
                best = gap;
                self.anchor_raw.set(before);
                self.anchor_ns.set(kernel.saturating_sub(gap / 2));
            }
        }
    }
}

/// The processor's counter.
#[inline]
fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 has the instruction, and it touches no memory.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Whether what `tsc` reads lies between two readings of the processor's counter.
fn counts_cycles(tsc: &quanta::Clock) -> bool {
    let (before, read, after) = (cycles(), tsc.raw(), cycles());
    before < read && read < after
}

fn read(id: libc::clockid_t) -> u64 {
    let mut spec = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `spec` is a valid out pointer and the clock ids used here exist on every Linux.
    unsafe { libc::clock_gettime(id, &raw mut spec) };
    spec.tv_sec as u64 * 1_000_000_000 + spec.tv_nsec as u64
}

/// CLOCK_MONOTONIC by system call, nanoseconds.
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME by system call, nanoseconds since 1970.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// A pair of readings that aligns this host's monotonic time with other hosts and logs.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct ClockPair {
    /// CLOCK_MONOTONIC, ns.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME, ns.
    pub realtime_ns: u64,
}

impl ClockPair {
    /// Both clocks, now.
    pub fn now() -> Self {
        Self {
            monotonic_ns: monotonic_ns(),
            realtime_ns: realtime_ns(),
        }
    }
}

/// What the operating system says this process has used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// CPU time in user mode, ns.
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    /// Context switches so far.
    pub context_switches: u64,
}

impl Usage {
    /// Of the whole process, now (getrusage).
    pub fn now() -> Self {
        // SAFETY: an all-zero rusage is valid and getrusage fills it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        }
    }

    /// CPU time in both modes, ns.
    pub const fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// Resident set of this process now, bytes; 0 where /proc is missing.
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| {
            text.split(' ')
                .nth(1)
                .and_then(|field| field.parse::<u64>().ok())
        });
    pages.unwrap_or(0) * 4096
}

/// Largest resident set of this process so far, bytes; 0 where /proc is missing. Not getrusage's: a process that is started by
/// vfork and exec begins there with the size of the one that started it.
pub fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"))
        .and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// A duration of `ns` nanoseconds.
pub const fn nanos(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_at_least_what_is_resident_and_follows_what_is_touched() {
        let before = peak_resident_bytes();
        let touched = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(before > 0 && peak_resident_bytes() >= touched.len() as u64);
        assert!(peak_resident_bytes() >= before);
    }

    #[test]
    fn follows_the_kernel() {
        let clock = Clock::default();
        for _ in 0..100 {
            let (before, read, after) = (monotonic_ns(), clock.now(), monotonic_ns());
            assert!(
                read + 20_000 >= before && read <= after + 20_000,
                "{before} {read} {after}"
            );
        }
    }
}
