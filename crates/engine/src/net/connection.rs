//! A socket and the requests in flight on it.

use super::{KernelClock, Poller, Socket};
use crate::clock::monotonic_ns;
use crate::recorder::Lag;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use steelyard_multiplexer::{Framing, Multiplexer};

/// Bytes that may wait for a server that takes none: further requests wait in their clients.
const OUTGOING_LIMIT: usize = 1 << 20;

/// The connection is over, and why. Answers that were delivered before its end have been given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended(pub &'static str);

const BROKE: Ended = Ended("the connection broke");

/// A connection whose handshake is done, watched by a poller.
pub struct Connection<F, T> {
    socket: Socket,
    token: u32,
    /// Whether the poller waits for room to write.
    writable: bool,
    /// A write failed: what was delivered before that is read, then it ends.
    failed: bool,
    /// Requests, answers, counters.
    pub requests: Multiplexer<F, T>,
}

impl<F: Framing, T> Connection<F, T> {
    /// Watch `socket` under `token`.
    pub fn new(socket: Socket, token: u32, poller: &Poller) -> io::Result<Self> {
        poller.add(socket.as_fd(), token, false)?;
        Ok(Self {
            socket,
            token,
            writable: false,
            failed: false,
            requests: Multiplexer::new(OUTGOING_LIMIT, monotonic_ns()),
        })
    }

    /// What the poller knows it by.
    pub const fn token(&self) -> u32 {
        self.token
    }

    /// Write what waits: one `write()` unless the socket takes only a part of it.
    ///
    /// # Errors
    /// [`Ended`] if nothing can be written any more; read what was delivered first.
    pub fn flush(&mut self, poller: &Poller) -> Result<(), Ended> {
        if self.failed {
            return Err(BROKE);
        }
        let mut blocked = false;
        while !blocked && self.requests.waiting() > 0 {
            match self.socket.write(self.requests.outgoing(monotonic_ns)) {
                Ok(written) => self.requests.wrote(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => blocked = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.failed = true;
                    return Err(BROKE);
                }
            }
        }
        if !blocked && self.socket.writes_more() {
            self.socket.flush().map_err(|_| BROKE)?;
            blocked = self.socket.writes_more();
        }
        if blocked != self.writable {
            self.writable = blocked;
            let changed = poller.change(self.socket.as_fd(), self.token, blocked);
            changed.map_err(|_| BROKE)?;
        }
        Ok(())
    }

    /// One read; whether it brought bytes. The answers in them are stamped with the time of their arrival, and how long they lay
    /// there goes to `lag`.
    ///
    /// # Errors
    /// [`Ended`] at the end of the connection.
    pub fn receive(&mut self, clock: &mut KernelClock, lag: &mut Lag) -> Result<bool, Ended> {
        let room = self
            .requests
            .room()
            .map_err(|malformed| Ended(malformed.0))?;
        let read = match self.socket.read(room) {
            Ok(0) => return Err(BROKE),
            Ok(read) => read,
            Err(error) => {
                let nothing = matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                );
                return if nothing && !self.failed {
                    Ok(false)
                } else {
                    Err(BROKE)
                };
            }
        };
        let now = monotonic_ns();
        let arrived = match self.socket.stamp_ns() {
            None => now,
            Some(stamp) => {
                let arrived = clock.monotonic(stamp, now);
                lag.record(now - arrived);
                arrived
            }
        };
        self.requests.received(read, arrived);
        Ok(true)
    }

    /// Whether more may be there to be read though the poller does not say so: what TLS has deciphered, and what was delivered
    /// before a write failed.
    pub const fn reads_on(&self) -> bool {
        self.socket.has_tls() || self.failed
    }
}
