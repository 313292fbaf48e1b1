//! One epoll instance, its timer and its notifier.
//!
//! Timer and notifier are edge-triggered and never read: their wake-up is all that is wanted. The timer is set only when its
//! time changes. Sockets are level-triggered, so that one read for each wake-up is enough.

use super::Notifier;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const TIMER: u64 = u64::MAX;
const NOTIFIER: u64 = u64::MAX - 1;
/// Events fetched at a time.
const EVENTS: usize = 64;

/// A socket that can be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// What the socket was added under.
    pub token: u32,
    /// There are bytes, an end or an error.
    pub readable: bool,
    /// It takes bytes again.
    pub writable: bool,
}

/// Waits for sockets, for a time, and for other threads.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    notifier: Notifier,
    /// What the timer is set to, ns; 0 after it has fired.
    armed_ns: u64,
    events: Vec<libc::epoll_event>,
    ready: Vec<Ready>,
    notified: bool,
}

fn owned(fd: i32) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

impl Poller {
    /// One that is woken by `notifier`.
    pub fn new(notifier: Notifier) -> io::Result<Self> {
        // SAFETY: neither call has memory arguments.
        let (epoll, timer) = unsafe {
            (
                owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?,
                owned(libc::timerfd_create(
                    libc::CLOCK_MONOTONIC,
                    libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
                ))?,
            )
        };
        let poller = Self {
            epoll,
            timer,
            notifier,
            armed_ns: 0,
            events: Vec::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            notified: false,
        };
        let edge = (libc::EPOLLIN | libc::EPOLLET) as u32;
        poller.control(libc::EPOLL_CTL_ADD, poller.timer.as_fd(), edge, TIMER)?;
        poller.control(libc::EPOLL_CTL_ADD, poller.notifier.as_fd(), edge, NOTIFIER)?;
        Ok(poller)
    }

    fn control(&self, what: i32, fd: BorrowedFd<'_>, events: u32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: both descriptors are open and `event` is valid for the call.
        let done = unsafe {
            libc::epoll_ctl(self.epoll.as_raw_fd(), what, fd.as_raw_fd(), &raw mut event)
        };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Watch a socket until it is closed: for bytes, and for room to write if `writable`.
    pub fn add(&self, socket: BorrowedFd<'_>, token: u32, writable: bool) -> io::Result<()> {
        self.control(
            libc::EPOLL_CTL_ADD,
            socket,
            interest(writable),
            token.into(),
        )
    }

    /// Change whether room to write is waited for.
    pub fn change(&self, socket: BorrowedFd<'_>, token: u32, writable: bool) -> io::Result<()> {
        self.control(
            libc::EPOLL_CTL_MOD,
            socket,
            interest(writable),
            token.into(),
        )
    }

    /// Wait until `until_ns` on CLOCK_MONOTONIC, a socket or the notifier; 0 does not wait. Which sockets are ready then.
    pub fn wait(&mut self, until_ns: u64) -> &[Ready] {
        if until_ns != 0 && until_ns != self.armed_ns && until_ns != u64::MAX {
            self.arm(until_ns);
        }
        self.poll(if until_ns == 0 { 0 } else { -1 })
    }

    /// Sleep until `until_ns`, woken by the notifier and by no socket. Which sockets are ready then.
    pub fn sleep(&mut self, until_ns: u64, now_ns: u64) -> &[Ready] {
        let left = until_ns.saturating_sub(now_ns);
        let time = libc::timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        };
        let mut watched = libc::pollfd {
            fd: self.notifier.as_fd().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `watched` and `time` are valid for the call.
        let woken = unsafe { libc::ppoll(&raw mut watched, 1, &raw const time, std::ptr::null()) };
        if woken > 0 {
            let mut count = 0_u64;
            // SAFETY: the buffer is 8 bytes, as eventfd asks. Unread it would end every later sleep at once.
            unsafe { libc::read(watched.fd, (&raw mut count).cast(), 8) };
        }
        self.poll(0);
        self.notified |= woken > 0; // what was read is no event of the poller any more
        &self.ready
    }

    fn poll(&mut self, timeout_ms: i32) -> &[Ready] {
        // SAFETY: the vector has room for as many events as are asked for, and the kernel says how many it wrote.
        unsafe {
            let room = self.events.as_mut_ptr();
            let found = libc::epoll_wait(self.epoll.as_raw_fd(), room, EVENTS as i32, timeout_ms);
            self.events.set_len(found.max(0) as usize); // a signal ends it early: nothing is ready then
        }
        self.ready.clear();
        self.notified = false;
        for event in &self.events {
            match event.u64 {
                TIMER => self.armed_ns = 0,
                NOTIFIER => self.notified = true,
                token => self.ready.push(Ready {
                    token: token as u32,
                    readable: event.events & !(libc::EPOLLOUT as u32) != 0,
                    writable: event.events & libc::EPOLLOUT as u32 != 0,
                }),
            }
        }
        &self.ready
    }

    /// Whether the notifier was notified since it waited before.
    pub const fn notified(&self) -> bool {
        self.notified
    }

    /// What was ready when it last waited.
    pub fn ready(&self) -> &[Ready] {
        &self.ready
    }

    fn arm(&mut self, at_ns: u64) {
        self.armed_ns = at_ns;
        let spec = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (at_ns / 1_000_000_000) as i64,
                tv_nsec: (at_ns % 1_000_000_000) as i64,
            },
        };
        // SAFETY: the descriptor is open and `spec` is valid for the call.
        unsafe {
            libc::timerfd_settime(
                self.timer.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const spec,
                std::ptr::null_mut(),
            )
        };
    }
}

const fn interest(writable: bool) -> u32 {
    let events = if writable {
        libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLOUT
    } else {
        libc::EPOLLIN | libc::EPOLLRDHUP
    };
    events as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic_ns;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    const MS: u64 = 1_000_000;

    fn poller() -> (Poller, Notifier) {
        let notifier = Notifier::new().expect("an eventfd");
        (Poller::new(notifier.clone()).expect("an epoll"), notifier)
    }

    #[test]
    fn waits_until_its_time_and_again_until_the_same_time_after_it_has_fired() {
        let (mut poller, _) = poller();
        let until = monotonic_ns() + 2 * MS;
        assert_eq!(poller.wait(until).len(), 0);
        assert!(monotonic_ns() >= until);
        assert_eq!(poller.wait(until).len(), 0, "a time that has passed");
    }

    #[test]
    fn a_notification_ends_a_wait_even_if_it_came_before() {
        let (mut poller, notifier) = poller();
        notifier.notify();
        assert_eq!(poller.wait(u64::MAX).len(), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| notifier.notify());
            assert_eq!(poller.wait(u64::MAX).len(), 0);
        });
        notifier.notify();
        let before = monotonic_ns();
        poller.sleep(before + 10_000 * MS, before);
        assert!(monotonic_ns() < before + 5_000 * MS);
        assert!(poller.notified(), "what came with it is to be taken up");
    }

    #[test]
    fn a_sleep_is_not_ended_by_a_socket_but_tells_it_afterwards() {
        let (mut poller, _) = poller();
        let (mut ours, theirs) = UnixStream::pair().expect("sockets");
        poller.add(theirs.as_fd(), 7, false).expect("to be watched");
        ours.write_all(b"x").expect("room");
        let now = monotonic_ns();
        let ready = poller.sleep(now + 2 * MS, now).to_vec();
        assert!(monotonic_ns() >= now + 2 * MS);
        let expected = Ready {
            token: 7,
            readable: true,
            writable: false,
        };
        assert_eq!(ready, [expected]);
        assert_eq!(poller.wait(u64::MAX), [expected], "it is still there");
        poller
            .change(theirs.as_fd(), 7, true)
            .expect("to be watched");
        assert!(poller.wait(u64::MAX).iter().all(|ready| ready.writable));
    }
}
