//! The half of a connection that whoever reads has alone: received bytes, and the frames in them.

use crate::{Framing, Malformed};
use bytes::Bytes;
use std::marker::PhantomData;

/// The least room offered to a `read()`, bytes: a few dozen answers of a kilobyte come in one.
const READ_ROOM: usize = 64 << 10;
/// A buffer that grew beyond this for one large message is given back, bytes.
const KEEP: usize = 256 << 10;

/// Received bytes of one connection.
#[derive(Debug)]
pub struct Incoming<F> {
    /// Bytes from `start` to `end` were received; the first `frame` of them were handed out last.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    frame: usize,
    framing: PhantomData<F>,
}

impl<F> Default for Incoming<F> {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            frame: 0,
            framing: PhantomData,
        }
    }
}

impl<F: Framing> Incoming<F> {
    /// Where the next read goes; never empty.
    ///
    /// # Errors
    /// [`Malformed`] where the bytes received are no frame.
    pub fn room(&mut self) -> Result<&mut [u8], Malformed> {
        self.discard();
        let received = &self.buffer[self.start..self.end];
        let missing =
            F::length(received)?.map_or(0, |length| length.saturating_sub(received.len()));
        // What is left of the buffer is used up before its unfinished frame is moved to the front.
        if self.buffer.len() - self.end < missing.max(READ_ROOM / 4) {
            self.make_room(missing.max(READ_ROOM));
        }
        Ok(&mut self.buffer[self.end..])
    }

    fn make_room(&mut self, wanted: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let least = (self.end + wanted).max(READ_ROOM);
        if self.buffer.len() < least || (self.end == 0 && self.buffer.len() > KEEP) {
            self.buffer.resize(least, 0);
            self.buffer.shrink_to(KEEP);
        }
    }

    /// A read brought `bytes` into [`Self::room`].
    ///
    /// # Panics
    /// If that is more than there was room.
    pub fn received(&mut self, bytes: usize) {
        assert!(bytes <= self.buffer.len() - self.end);
        self.end += bytes;
    }

    /// The next frame that is whole; it is [`Self::frame`] until the next call.
    ///
    /// # Errors
    /// [`Malformed`] for bytes that are no frame.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, Malformed> {
        self.discard();
        match F::length(&self.buffer[self.start..self.end])? {
            Some(length) if length <= self.end - self.start => self.frame = length,
            _ => return Ok(None),
        }
        Ok(Some(self.frame()))
    }

    /// The frame handed out last.
    #[inline]
    pub fn frame(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.frame]
    }

    /// The frame handed out last, for whoever keeps it. A large one takes its buffer along; others are copied, so that a small one
    /// does not hold the memory of those beside it.
    pub fn take_frame(&mut self) -> Bytes {
        if self.frame < READ_ROOM {
            return Bytes::copy_from_slice(self.frame());
        }
        let rest = self.buffer.split_off(self.start + self.frame);
        let taken = std::mem::replace(&mut self.buffer, rest);
        self.end -= taken.len();
        let frame = Bytes::from(taken).slice(self.start..);
        (self.start, self.frame) = (0, 0);
        frame
    }

    #[inline]
    fn discard(&mut self) {
        self.start += std::mem::take(&mut self.frame);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }
}
