//! One connection that carries many requests at once, without its I/O: requests go in and are bytes to be written, bytes
//! that were read go in and are answers, each with the tag of its request.
//!
//! What a protocol looks like is its [`Framing`]. Identifiers are places in a flat table. Whoever owns a connection alone, in a
//! loop of its own or a test, has a [`Multiplexer`], writes [`Multiplexer::outgoing`] and reads into [`Multiplexer::room`]. Where
//! callers share one across threads its halves are apart: [`Requests`] under a lock of theirs, [`Incoming`] with the task that
//! reads, so that no lock is held during I/O.

mod identifiers;
mod incoming;
mod requests;
mod traffic;

pub use incoming::Incoming;
pub use requests::Requests;
pub use traffic::{Counters, Traffic};

/// Received bytes that are not of the protocol, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// What a protocol's frames look like.
pub trait Framing {
    /// Identifiers a connection has: requests that can be unanswered at once.
    const IDENTIFIERS: usize;

    /// The length of the frame that `received` begins with, header included, once that can be told.
    fn length(received: &[u8]) -> Result<Option<usize>, Malformed>;

    /// Which request a whole frame answers; none for what answers no request.
    fn identifier(frame: &[u8]) -> Result<Option<u32>, Malformed>;
}

/// Why a request cannot be taken now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// An answer whose frame is [`Multiplexer::frame`] until the next call of [`Multiplexer::next_answer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<T> {
    /// What the request was tagged with; none if the frame answers no request.
    pub tag: Option<T>,
    /// When the request was handed to a write, ns.
    pub sent_ns: u64,
    /// When the bytes that completed the frame were received, ns.
    pub received_ns: u64,
}

/// The state of one connection. `T` tags a request until it is answered.
#[derive(Debug)]
pub struct Multiplexer<F, T> {
    requests: Requests<T>,
    incoming: Incoming<F>,
    received_ns: u64,
    traffic: Traffic,
}

impl<F: Framing, T> Multiplexer<F, T> {
    /// Nothing is in flight at `now_ns`. With `limit` bytes that wait to be written no further request is taken.
    pub fn new(limit: usize, now_ns: u64) -> Self {
        Self {
            requests: Requests::new(limit, F::IDENTIFIERS),
            incoming: Incoming::default(),
            received_ns: now_ns,
            traffic: Traffic::default(),
        }
    }

    /// As [`Requests::request`].
    ///
    /// # Errors
    /// [`Full`], with nothing taken.
    #[inline]
    pub fn request(&mut self, tag: T, encode: impl FnOnce(u32, &mut Vec<u8>)) -> Result<u32, Full> {
        self.requests.request(tag, encode)
    }

    /// As [`Requests::abandon`].
    pub fn abandon(&mut self, id: u32) -> u64 {
        self.requests.abandon(id)
    }

    /// As [`Requests::cancel`].
    ///
    /// # Panics
    /// If it was not the last, or a write was handed it.
    pub fn cancel(&mut self, id: u32) {
        self.requests.cancel(id);
    }

    /// As [`Requests::unanswered`].
    pub const fn unanswered(&self) -> usize {
        self.requests.unanswered()
    }

    /// Bytes that wait to be written.
    pub const fn waiting(&self) -> usize {
        self.requests.waiting()
    }

    /// What waits to be written. Requests in it are stamped with the time of their first write, which `clock` tells in ns;
    /// it is asked only if there are any.
    #[inline]
    pub fn outgoing(&mut self, clock: impl FnOnce() -> u64) -> &[u8] {
        let (bytes, fresh) = self.requests.outgoing(clock);
        self.traffic.requests += fresh;
        bytes
    }

    /// A write took `bytes` of [`Self::outgoing`].
    pub fn wrote(&mut self, bytes: usize) {
        self.traffic.writes += 1;
        self.traffic.bytes_out += bytes as u64;
        self.requests.wrote(bytes);
    }

    /// As [`Incoming::room`].
    ///
    /// # Errors
    /// [`Malformed`] where the bytes received are no frame.
    pub fn room(&mut self) -> Result<&mut [u8], Malformed> {
        self.incoming.room()
    }

    /// A read brought `bytes` into [`Self::room`] at `now_ns`.
    ///
    /// # Panics
    /// If that is more than there was room.
    pub fn received(&mut self, bytes: usize, now_ns: u64) {
        self.incoming.received(bytes);
        self.received_ns = now_ns;
        self.traffic.reads += 1;
        self.traffic.bytes_in += bytes as u64;
    }

    /// The next answer that is whole and that somebody waits for, or a frame that answers no request.
    ///
    /// # Errors
    /// [`Malformed`] for bytes that are no frame, or one for a request that was never made.
    #[inline]
    pub fn next_answer(&mut self) -> Result<Option<Answer<T>>, Malformed> {
        let received_ns = self.received_ns;
        while let Some(frame) = self.incoming.next_frame()? {
            let Some(id) = F::identifier(frame)? else {
                return Ok(Some(Answer {
                    tag: None,
                    sent_ns: 0,
                    received_ns,
                }));
            };
            self.traffic.answers += 1;
            if let Some((tag, sent_ns)) = self.requests.answered(id)? {
                return Ok(Some(Answer {
                    tag: Some(tag),
                    sent_ns,
                    received_ns,
                }));
            }
        }
        Ok(None)
    }

    /// The frame of the answer handed out last.
    #[inline]
    pub fn frame(&self) -> &[u8] {
        self.incoming.frame()
    }

    /// As [`Requests::close`].
    pub fn close(&mut self) -> Vec<T> {
        self.requests.close()
    }

    /// When something was last received, ns.
    pub const fn received_ns(&self) -> u64 {
        self.received_ns
    }

    /// What it has done so far.
    pub const fn traffic(&self) -> Traffic {
        self.traffic
    }
}

#[cfg(test)]
mod tests;
