//! Waking the event loop from another thread.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// An eventfd; whoever holds a clone wakes the poller that watches it.
#[derive(Debug, Clone)]
pub struct Notifier(Arc<OwnedFd>);

impl Notifier {
    /// One that nobody watches yet.
    pub fn new() -> io::Result<Self> {
        // SAFETY: eventfd has no memory arguments; the descriptor is owned from here on.
        let fd = unsafe {
            let fd = libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Self(Arc::new(fd)))
    }

    /// Wake the poller, now or when it waits next.
    pub fn notify(&self) {
        let one = 1_u64;
        // SAFETY: the descriptor is open and the buffer is 8 bytes, as eventfd asks.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }
}

impl AsFd for Notifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
