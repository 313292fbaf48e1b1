//! The half of a connection that its callers share: requests that wait to be written, and those that wait for their answers.

use crate::identifiers::Identifiers;
use crate::{Full, Malformed};

/// A buffer that grew beyond this for one large request is given back, bytes.
const KEEP: usize = 256 << 10;

/// Requests of one connection, each tagged with a `T` until it is answered.
#[derive(Debug)]
pub struct Requests<T> {
    outgoing: Vec<u8>,
    /// Bytes of `outgoing` that were written.
    written: usize,
    limit: usize,
    /// Requests in `outgoing` that no write was handed yet.
    unsent: Vec<u32>,
    /// Where the newest of them begins.
    newest: usize,
    identifiers: Identifiers<T>,
}

impl<T> Requests<T> {
    /// With `limit` bytes that wait to be written, or `identifiers` requests unanswered, no further one is taken.
    pub const fn new(limit: usize, identifiers: usize) -> Self {
        Self {
            outgoing: Vec::new(),
            written: 0,
            limit,
            unsent: Vec::new(),
            newest: 0,
            identifiers: Identifiers::new(identifiers),
        }
    }

    /// Take a request: `encode` appends its frame under the identifier that it is given, which comes back.
    ///
    /// # Errors
    /// [`Full`], with nothing taken, while too many bytes wait to be written or every identifier is in use.
    #[inline]
    pub fn request(&mut self, tag: T, encode: impl FnOnce(u32, &mut Vec<u8>)) -> Result<u32, Full> {
        if self.is_full() {
            return Err(Full);
        }
        let id = self.identifiers.take(tag).ok_or(Full)?;
        self.newest = self.outgoing.len();
        encode(id, &mut self.outgoing);
        self.unsent.push(id);
        Ok(id)
    }

    /// The request taken last, `id`, could not be encoded: nothing of it is sent, and its identifier is free again.
    ///
    /// # Panics
    /// If it was not the last, or a write was handed it.
    pub fn cancel(&mut self, id: u32) {
        assert_eq!(self.unsent.pop(), Some(id), "the newest, and not sent");
        self.outgoing.truncate(self.newest);
        self.identifiers.cancel(id);
    }

    /// Requests whose answers may still come, those that were given up included.
    pub const fn unanswered(&self) -> usize {
        self.identifiers.in_use()
    }

    /// Whether too many bytes wait to be written for a further request.
    pub const fn is_full(&self) -> bool {
        self.waiting() >= self.limit
    }

    /// Nobody waits for request `id` any more: its identifier stays taken until the answer comes, which is thrown away.
    /// When it was sent, ns; 0 if it was not.
    pub fn abandon(&mut self, id: u32) -> u64 {
        self.identifiers.abandon(id)
    }

    /// Bytes that wait to be written.
    pub const fn waiting(&self) -> usize {
        self.outgoing.len() - self.written
    }

    /// Stamp what no write was handed yet with the time, which `clock` tells in ns if there is any; how many those are.
    #[inline]
    fn stamp(&mut self, clock: impl FnOnce() -> u64) -> u64 {
        if self.unsent.is_empty() {
            return 0;
        }
        let (now, count) = (clock(), self.unsent.len());
        for id in self.unsent.drain(..) {
            self.identifiers.sent(id, now);
        }
        count as u64
    }

    /// What waits to be written, and how many requests in it no write was handed before: those are stamped with the time of this
    /// one, which `clock` tells in ns; it is asked only if there are any.
    #[inline]
    pub fn outgoing(&mut self, clock: impl FnOnce() -> u64) -> (&[u8], u64) {
        let fresh = self.stamp(clock);
        (&self.outgoing[self.written..], fresh)
    }

    /// A write took `bytes` of [`Self::outgoing`].
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written == self.outgoing.len() {
            self.outgoing.clear();
            self.outgoing.shrink_to(KEEP);
            self.written = 0;
        }
    }

    /// As [`Self::outgoing`], for whoever writes while others add requests: what waits becomes `writing`, which must be empty and
    /// whose memory is used for what comes next. How many requests are in it.
    pub fn take(&mut self, writing: &mut Vec<u8>, clock: impl FnOnce() -> u64) -> u64 {
        debug_assert!(writing.is_empty() && self.written == 0);
        writing.shrink_to(KEEP);
        std::mem::swap(&mut self.outgoing, writing);
        self.stamp(clock)
    }

    /// Request `id` is answered: its tag and when it was sent, ns; none if nobody waits for it.
    ///
    /// # Errors
    /// [`Malformed`] if there is no such request.
    #[inline]
    pub fn answered(&mut self, id: u32) -> Result<Option<(T, u64)>, Malformed> {
        self.identifiers.answered(id)
    }

    /// Tags of all requests that are unanswered: the connection is gone. Nothing is in flight then, and nothing waits.
    pub fn close(&mut self) -> Vec<T> {
        self.outgoing = Vec::new();
        self.written = 0;
        self.unsent.clear();
        self.identifiers.drain()
    }
}
