//! Frames of the CQL binary protocol, version 4 (`native_protocol_v4.spec`): what is sent, and how answers read.

use std::fmt::{self, Display};
use steelyard_multiplexer as multiplexer;

/// Bytes of a frame's header (section 2).
pub(crate) const HEADER: usize = 9;
const REQUEST_VERSION: u8 = 0x04;
const RESPONSE_VERSION: u8 = 0x84;
/// Largest body either side may send (section 2.5).
const BODY_MAX: usize = 256 << 20;
const FLAG_COMPRESSED: u8 = 0x01;
const FLAG_TRACED: u8 = 0x02;
const FLAG_PAYLOAD: u8 = 0x04;
const FLAG_WARNING: u8 = 0x08;

/// What a frame is (section 2.4).
pub(crate) mod opcode {
    pub(crate) const ERROR: u8 = 0x00;
    pub(crate) const STARTUP: u8 = 0x01;
    pub(crate) const READY: u8 = 0x02;
    pub(crate) const AUTHENTICATE: u8 = 0x03;
    pub(crate) const OPTIONS: u8 = 0x05;
    pub(crate) const RESULT: u8 = 0x08;
    pub(crate) const PREPARE: u8 = 0x09;
    pub(crate) const EXECUTE: u8 = 0x0A;
    pub(crate) const AUTH_RESPONSE: u8 = 0x0F;
    pub(crate) const AUTH_SUCCESS: u8 = 0x10;
}

/// An answer that does not read as the protocol says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub &'static str);

impl Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer is no CQL frame of version 4: {}", self.0)
    }
}

/// A connection's frames. Frames of negative streams are events, which nobody asked for.
pub(crate) struct Frames;

const NO_CQL: multiplexer::Malformed =
    multiplexer::Malformed("the server speaks no CQL of version 4");

impl multiplexer::Framing for Frames {
    const IDENTIFIERS: usize = 1 << 15;

    #[inline]
    fn length(received: &[u8]) -> Result<Option<usize>, multiplexer::Malformed> {
        let header = Header::read(received).map_err(|_| NO_CQL)?;
        Ok(header.map(|header| HEADER + header.length))
    }

    #[inline]
    fn identifier(frame: &[u8]) -> Result<Option<u32>, multiplexer::Malformed> {
        let header = Header::read(frame).ok().flatten().ok_or(NO_CQL)?;
        Ok(u32::try_from(header.stream).ok())
    }
}

/// A whole frame's header and message.
pub(crate) fn take_apart(frame: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let header = Header::read(frame)?.ok_or(Malformed("shorter than its header"))?;
    let message = header.message(&frame[HEADER..])?;
    Ok((header, message))
}

/// Append a request: its header, then what `body` appends.
pub(crate) fn append(out: &mut Vec<u8>, stream: u16, opcode: u8, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    let [high, low] = stream.to_be_bytes();
    out.extend_from_slice(&[REQUEST_VERSION, 0, high, low, opcode, 0, 0, 0, 0]);
    body(out);
    let length = (out.len() - start - HEADER) as u32;
    out[start + 5..start + HEADER].copy_from_slice(&length.to_be_bytes());
}

/// Append a `[string]`.
pub(crate) fn short_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Append `[bytes]`.
pub(crate) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_be_bytes());
    out.extend_from_slice(value);
}

/// The header of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The request it answers; negative for events.
    pub stream: i16,
    /// See [`opcode`].
    pub opcode: u8,
    flags: u8,
    /// Bytes that follow.
    pub length: usize,
}

impl Header {
    /// The header at the start of `received`; none while it is not whole.
    pub(crate) fn read(received: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(head) = received.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        if head[0] != RESPONSE_VERSION {
            return Err(Malformed("another version"));
        }
        let length = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize;
        if length > BODY_MAX {
            return Err(Malformed("larger than 256 MiB"));
        }
        Ok(Some(Self {
            stream: i16::from_be_bytes([head[2], head[3]]),
            opcode: head[4],
            flags: head[1],
            length,
        }))
    }

    /// The body without what flags put before it.
    pub(crate) fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Malformed> {
        if self.flags == 0 {
            return Ok(body);
        }
        if self.flags & FLAG_COMPRESSED != 0 {
            return Err(Malformed("compressed, which was not asked for"));
        }
        let mut reader = Reader(body);
        if self.flags & FLAG_TRACED != 0 {
            reader.take(16)?;
        }
        if self.flags & FLAG_WARNING != 0 {
            for _ in 0..reader.u16()? {
                reader.short_bytes()?;
            }
        }
        if self.flags & FLAG_PAYLOAD != 0 {
            for _ in 0..reader.u16()? {
                reader.short_bytes()?;
                reader.bytes()?;
            }
        }
        Ok(reader.0)
    }
}

/// Reads the protocol's notations (section 3) one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(Malformed("shorter than it says"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        let taken = self.take(2)?;
        Ok(u16::from_be_bytes([taken[0], taken[1]]))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        let taken = self.take(4)?;
        Ok(i32::from_be_bytes([taken[0], taken[1], taken[2], taken[3]]))
    }

    /// `[string]` or `[short bytes]`.
    pub(crate) fn short_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u16()?;
        self.take(length.into())
    }

    /// `[bytes]`: none is null.
    pub(crate) fn bytes(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        match usize::try_from(self.i32()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Ok(None),
        }
    }
}

/// The body of an ERROR (section 4.2.1 and 9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub code: u32,
    pub message: String,
}

impl ServerError {
    /// The prepared statement is not known to this node (any more).
    pub(crate) const UNPREPARED: u32 = 0x2500;

    pub(crate) fn read(message: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(message);
        Ok(Self {
            code: reader.i32()?.cast_unsigned(),
            message: String::from_utf8_lossy(reader.short_bytes()?).into_owned(),
        })
    }
}

/// The rows of a RESULT (section 4.2.5.2), read where they lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// Columns of each row.
    pub columns: usize,
    /// Rows.
    pub count: usize,
    /// Where the next page begins, if there is one.
    pub paging_state: Option<&'a [u8]>,
    cells: Reader<'a>,
}

impl<'a> Rows<'a> {
    const KIND: i32 = 2;
    const MORE_PAGES: i32 = 0x02;
    const NO_METADATA: i32 = 0x04;

    /// From a RESULT's message, asked for without metadata.
    pub(crate) fn read(message: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader(message);
        if reader.i32()? != Self::KIND {
            return Err(Malformed("a result without rows"));
        }
        let flags = reader.i32()?;
        let columns = count(reader.i32()?)?;
        let paging_state = if flags & Self::MORE_PAGES == 0 {
            None
        } else {
            reader.bytes()?
        };
        if flags & Self::NO_METADATA == 0 {
            return Err(Malformed("with metadata, which was not asked for"));
        }
        let count = count(reader.i32()?)?;
        Ok(Self {
            columns,
            count,
            paging_state,
            cells: reader,
        })
    }

    /// The next value, row by row; none is null.
    pub(crate) fn cell(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        self.cells.bytes()
    }
}

fn count(number: i32) -> Result<usize, Malformed> {
    usize::try_from(number).map_err(|_| Malformed("a negative count"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(cells: &[Option<&[u8]>], columns: i32, paging: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&2_i32.to_be_bytes());
        let flags = Rows::NO_METADATA | paging.map_or(0, |_| Rows::MORE_PAGES);
        out.extend_from_slice(&flags.to_be_bytes());
        out.extend_from_slice(&columns.to_be_bytes());
        if let Some(state) = paging {
            bytes(&mut out, state);
        }
        out.extend_from_slice(&(cells.len() as i32 / columns).to_be_bytes());
        for cell in cells {
            match cell {
                Some(value) => bytes(&mut out, value),
                None => out.extend_from_slice(&(-1_i32).to_be_bytes()),
            }
        }
        out
    }

    #[test]
    fn rows_are_read_where_they_lie() {
        let message = rows(&[Some(b"a"), None, Some(b""), Some(b"d")], 2, Some(b"next"));
        let mut found = Rows::read(&message).expect("rows");
        assert_eq!((found.columns, found.count), (2, 2));
        assert_eq!(found.paging_state, Some(&b"next"[..]));
        let cells: Vec<_> = (0..4).map(|_| found.cell().expect("a cell")).collect();
        assert_eq!(
            cells,
            [Some(&b"a"[..]), None, Some(&b""[..]), Some(&b"d"[..])]
        );
        assert!(found.cell().is_err());
    }

    #[test]
    fn what_flags_put_before_a_message_is_left_out() {
        let mut body = Vec::new();
        body.extend_from_slice(&1_u16.to_be_bytes());
        short_text(&mut body, "aggregation without a partition key");
        body.extend_from_slice(b"rest");
        let header = Header {
            stream: 1,
            opcode: opcode::RESULT,
            flags: FLAG_WARNING,
            length: body.len(),
        };
        assert_eq!(header.message(&body), Ok(&b"rest"[..]));
        let compressed = Header {
            flags: FLAG_COMPRESSED,
            ..header
        };
        assert!(compressed.message(&body).is_err());
    }

    #[test]
    fn a_server_of_another_version_is_told_apart() {
        assert!(Header::read(&[0x85, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert_eq!(Header::read(&[0x84, 0, 0]), Ok(None));
    }

    proptest! {
        #[test]
        fn a_request_says_its_own_length(stream: u16, body: Vec<u8>) {
            let mut out = b"before".to_vec();
            append(&mut out, stream, opcode::EXECUTE, |out| out.extend_from_slice(&body));
            let frame = &out[6..];
            prop_assert_eq!(frame.len(), HEADER + body.len());
            prop_assert_eq!(&frame[5..9], (body.len() as u32).to_be_bytes());
            prop_assert_eq!(&frame[HEADER..], &body[..]);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(message: Vec<u8>) {
            if let Ok(mut found) = Rows::read(&message) {
                while found.cell().is_ok() && !found.cells.0.is_empty() {}
            }
            let _ = ServerError::read(&message);
            if let Ok(Some(header)) = Header::read(&message) {
                let _ = header.message(&message[HEADER..]);
            }
        }
    }
}
