//! epoll and an absolute timerfd on CLOCK_MONOTONIC: all that a server of one thread waits with.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Events taken by one wait.
const AT_ONCE: usize = 64;

/// What is waited for, by token.
pub struct Poll {
    epoll: OwnedFd,
    events: [libc::epoll_event; AT_ONCE],
}

/// What happened to the descriptor of a token.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// As given to [`Poll::add`].
    pub token: u64,
    /// It can be written to again.
    pub writable: bool,
    /// It can be read, or its end has come.
    pub readable: bool,
}

impl Poll {
    /// Nothing is waited for yet.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory arguments.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let events = [libc::epoll_event { events: 0, u64: 0 }; AT_ONCE];
        Ok(Self { epoll, events })
    }

    /// Wait for `fd` too, until it is closed.
    pub fn add(&self, fd: &impl AsRawFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd.as_raw_fd(), token, libc::EPOLLIN)
    }

    /// Whether to wait until `fd` can be read, and until it can be written to.
    pub fn want(&self, fd: &impl AsRawFd, token: u64, read: bool, write: bool) -> io::Result<()> {
        let bit = |wanted: bool, bit: i32| if wanted { bit } else { 0 };
        let events = bit(read, libc::EPOLLIN) | bit(write, libc::EPOLLOUT);
        self.control(libc::EPOLL_CTL_MOD, fd.as_raw_fd(), token, events)
    }

    fn control(&self, what: i32, fd: RawFd, token: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: token,
        };
        // SAFETY: `event` is valid for the call, and both descriptors are open.
        checked(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), what, fd, &raw mut event) })
            .map(drop)
    }

    /// Wait until something happens.
    pub fn wait(&mut self) -> io::Result<Vec<Event>> {
        let room = self.events.as_mut_ptr();
        // SAFETY: `room` holds AT_ONCE events.
        let found =
            checked(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), room, AT_ONCE as i32, -1) });
        let count = match found {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => other?,
        };
        let events = &self.events[..count as usize];
        Ok(events
            .iter()
            .map(|event| {
                let bits = event.events as i32;
                Event {
                    token: event.u64,
                    writable: bits & libc::EPOLLOUT != 0,
                    readable: bits & !libc::EPOLLOUT != 0,
                }
            })
            .collect())
    }
}

/// Wakes at an absolute time.
pub struct Timer {
    fd: OwnedFd,
    armed: u64,
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Timer {
    /// Disarmed.
    pub fn new() -> io::Result<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: no memory arguments.
        let fd = owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) })?;
        Ok(Self { fd, armed: 0 })
    }

    /// Fire at `at` ns on CLOCK_MONOTONIC, once; at 0 never.
    pub fn set(&mut self, at: u64) -> io::Result<()> {
        if at == self.armed {
            return Ok(());
        }
        self.armed = at;
        let spec = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (at / 1_000_000_000) as i64,
                tv_nsec: (at % 1_000_000_000) as i64,
            },
        };
        let fd = self.fd.as_raw_fd();
        // SAFETY: the descriptor is open and `spec` is valid for the call.
        checked(unsafe {
            libc::timerfd_settime(
                fd,
                libc::TFD_TIMER_ABSTIME,
                &raw const spec,
                std::ptr::null_mut(),
            )
        })
        .map(drop)
    }

    /// Take note that it has fired.
    pub fn clear(&mut self) {
        self.armed = 0;
        let mut count = 0_u64;
        // SAFETY: the buffer is 8 bytes, as timerfd asks. Nothing to read is no error: it was set anew.
        unsafe { libc::read(self.fd.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn owned(fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: a descriptor that was just made, owned from here on.
    checked(fd).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
