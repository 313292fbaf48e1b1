//! One connection that carries many requests at once, without its I/O: requests go in and are bytes to be written, bytes
//! that were read go in and are answers, each with the tag of its request.
//!
//! What a protocol looks like is its [`Framing`]. Identifiers are places in a flat table. Whoever owns the socket writes
//! [`Multiplexer::outgoing`] and reads into [`Multiplexer::room`], in a reactor, a loop of its own, or a test.

mod identifiers;

use identifiers::Identifiers;
use std::marker::PhantomData;

/// The least room offered to a `read()`, bytes: a few dozen answers of a kilobyte come in one.
const READ_ROOM: usize = 64 << 10;
/// A buffer that grew beyond this for one large message is given back, bytes.
const KEEP: usize = 256 << 10;

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

/// What a connection has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls of `read()` that brought bytes.
    pub reads: u64,
    /// Bytes they brought.
    pub bytes_in: u64,
    /// Calls of `write()` that took bytes.
    pub writes: u64,
    /// Bytes they took.
    pub bytes_out: u64,
    /// Requests handed to a `write()`.
    pub requests: u64,
    /// Answers received, those that nobody waited for included.
    pub answers: u64,
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, more: Self) {
        self.reads += more.reads;
        self.bytes_in += more.bytes_in;
        self.writes += more.writes;
        self.bytes_out += more.bytes_out;
        self.requests += more.requests;
        self.answers += more.answers;
    }
}

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
    outgoing: Vec<u8>,
    /// Bytes of `outgoing` that were written.
    written: usize,
    limit: usize,
    /// Requests in `outgoing` that no write was handed yet.
    unsent: Vec<u32>,
    identifiers: Identifiers<T>,
    /// Bytes from `start` to `end` were received; the first `frame` of them were handed out last.
    incoming: Vec<u8>,
    start: usize,
    end: usize,
    frame: usize,
    received_ns: u64,
    traffic: Traffic,
    framing: PhantomData<F>,
}

impl<F: Framing, T> Multiplexer<F, T> {
    /// Nothing is in flight at `now_ns`. With `limit` bytes that wait to be written no further request is taken.
    pub fn new(limit: usize, now_ns: u64) -> Self {
        Self {
            outgoing: Vec::new(),
            written: 0,
            limit,
            unsent: Vec::new(),
            identifiers: Identifiers::new(F::IDENTIFIERS),
            incoming: Vec::new(),
            start: 0,
            end: 0,
            frame: 0,
            received_ns: now_ns,
            traffic: Traffic::default(),
            framing: PhantomData,
        }
    }

    /// Take a request: `encode` appends its frame under the identifier that it is given, which comes back.
    ///
    /// # Errors
    /// [`Full`], with nothing taken, while too many bytes wait to be written or every identifier is in use.
    pub fn request(&mut self, tag: T, encode: impl FnOnce(u32, &mut Vec<u8>)) -> Result<u32, Full> {
        if self.waiting() >= self.limit {
            return Err(Full);
        }
        let id = self.identifiers.take(tag).ok_or(Full)?;
        encode(id, &mut self.outgoing);
        self.unsent.push(id);
        Ok(id)
    }

    /// Append bytes that are no request, as a handshake is.
    pub fn preamble(&mut self, bytes: &[u8]) {
        self.outgoing.extend_from_slice(bytes);
    }

    /// Nobody waits for request `id` any more: its identifier stays taken until the answer comes, which is thrown away.
    /// When it was sent, ns; 0 if it was not.
    pub fn abandon(&mut self, id: u32) -> u64 {
        self.identifiers.abandon(id)
    }

    /// Bytes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.outgoing.len() - self.written
    }

    /// What waits to be written. Requests in it are stamped with the time of their first write, which `clock` tells in ns;
    /// it is asked only if there are any.
    pub fn outgoing(&mut self, clock: impl FnOnce() -> u64) -> &[u8] {
        if !self.unsent.is_empty() {
            let now = clock();
            self.traffic.requests += self.unsent.len() as u64;
            for id in self.unsent.drain(..) {
                self.identifiers.sent(id, now);
            }
        }
        &self.outgoing[self.written..]
    }

    /// A write took `bytes` of [`Self::outgoing`].
    pub fn wrote(&mut self, bytes: usize) {
        self.traffic.writes += 1;
        self.traffic.bytes_out += bytes as u64;
        self.written += bytes;
        if self.written == self.outgoing.len() {
            self.outgoing.clear();
            self.outgoing.shrink_to(KEEP);
            self.written = 0;
        }
    }

    /// Where the next read goes; never empty.
    ///
    /// # Errors
    /// [`Malformed`] where the bytes received are no frame.
    pub fn room(&mut self) -> Result<&mut [u8], Malformed> {
        self.discard();
        let received = &self.incoming[self.start..self.end];
        let missing =
            F::length(received)?.map_or(0, |length| length.saturating_sub(received.len()));
        // What is left of the buffer is used up before its unfinished frame is moved to the front.
        if self.incoming.len() - self.end < missing.max(READ_ROOM / 4) {
            self.make_room(missing.max(READ_ROOM));
        }
        Ok(&mut self.incoming[self.end..])
    }

    fn make_room(&mut self, wanted: usize) {
        self.incoming.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let least = (self.end + wanted).max(READ_ROOM);
        if self.incoming.len() < least || (self.end == 0 && self.incoming.len() > KEEP) {
            self.incoming.resize(least, 0);
            self.incoming.shrink_to(KEEP);
        }
    }

    /// A read brought `bytes` into [`Self::room`] at `now_ns`.
    ///
    /// # Panics
    /// If that is more than there was room.
    pub fn received(&mut self, bytes: usize, now_ns: u64) {
        assert!(bytes <= self.incoming.len() - self.end);
        self.end += bytes;
        self.received_ns = now_ns;
        self.traffic.reads += 1;
        self.traffic.bytes_in += bytes as u64;
    }

    /// The next answer that is whole and that somebody waits for, or a frame that answers no request.
    ///
    /// # Errors
    /// [`Malformed`] for bytes that are no frame, or one for a request that was never made.
    pub fn next_answer(&mut self) -> Result<Option<Answer<T>>, Malformed> {
        loop {
            self.discard();
            let received = &self.incoming[self.start..self.end];
            let frame = match F::length(received)? {
                Some(length) if length <= received.len() => &received[..length],
                _ => return Ok(None),
            };
            let id = F::identifier(frame)?;
            self.frame = frame.len();
            let received_ns = self.received_ns;
            let Some(id) = id else {
                return Ok(Some(Answer {
                    tag: None,
                    sent_ns: 0,
                    received_ns,
                }));
            };
            self.traffic.answers += 1;
            if let Some((tag, sent_ns)) = self.identifiers.answered(id)? {
                return Ok(Some(Answer {
                    tag: Some(tag),
                    sent_ns,
                    received_ns,
                }));
            }
        }
    }

    /// The frame of the answer handed out last.
    pub fn frame(&self) -> &[u8] {
        &self.incoming[self.start..self.start + self.frame]
    }

    /// Tags of all requests that are unanswered: the connection is gone. Nothing is in flight then, and nothing waits.
    pub fn close(&mut self) -> Vec<T> {
        self.outgoing = Vec::new();
        self.written = 0;
        self.unsent.clear();
        self.identifiers.drain()
    }

    /// When something was last received, ns.
    pub const fn received_ns(&self) -> u64 {
        self.received_ns
    }

    /// What it has done so far.
    pub const fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn discard(&mut self) {
        self.start += std::mem::take(&mut self.frame);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests;
