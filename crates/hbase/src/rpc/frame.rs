//! Frames. A request is `int32 length | varint, RequestHeader | varint, message | cells`; a response the same with a
//! ResponseHeader, or that header alone if it carries an exception.

use super::Request;
use super::wire::{
    Field, Fields, bytes_len, number_len, put_bytes, put_length, put_number, put_varint, varint_len,
};
use bytes::Bytes;
use std::ops::Range;
use steelyard_multiplexer::{Framing, Malformed};

/// What a frame begins with: its length without these bytes.
pub(crate) const LENGTH: usize = 4;
/// Longer frames are refused as garbage, bytes.
const MAX_FRAME: usize = 1 << 30;
/// Of the call id that answers a connection header instead of a call.
pub(super) const NO_CALL: u32 = u32::MAX;

/// Frames of HBase's RPC: four bytes of length, then a response.
#[derive(Debug)]
pub struct Frames;

const GARBAGE: Malformed = Malformed("the server speaks no RPC of HBase");

impl Framing for Frames {
    const IDENTIFIERS: usize = 1 << 20;

    fn length(received: &[u8]) -> Result<Option<usize>, Malformed> {
        let Some(length) = received.first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        match u32::from_be_bytes(*length) as usize {
            length if length > MAX_FRAME => Err(GARBAGE),
            length => Ok(Some(LENGTH + length)),
        }
    }

    /// The rest of the frame is looked at by whoever waits for it.
    fn identifier(frame: &[u8]) -> Result<Option<u32>, Malformed> {
        let id = call_id(&frame[LENGTH..]).ok_or(GARBAGE)?;
        Ok((id != NO_CALL).then_some(id))
    }
}

/// Append the frame of `request` as call `id`; `timeout_ms` tells the server when nobody waits any more.
pub(super) fn write(out: &mut Vec<u8>, id: u32, request: &impl Request, timeout_ms: u32) {
    let (method, cells) = (request.method(), request.cells());
    let meta_len = number_len(cells.len() as u64);
    let mut header_len = number_len(id.into())
        + bytes_len(method.len())
        + number_len(1)
        + number_len(timeout_ms.into());
    if !cells.is_empty() {
        header_len += bytes_len(meta_len);
    }
    let param_len = request.param_len();
    let total = varint_len(header_len as u64)
        + header_len
        + varint_len(param_len as u64)
        + param_len
        + cells.len();
    out.reserve(LENGTH + total);
    out.extend_from_slice(&(total as u32).to_be_bytes());
    put_varint(out, header_len as u64);
    put_number(out, 1, id.into());
    put_bytes(out, 3, method.as_bytes());
    put_number(out, 4, 1);
    if !cells.is_empty() {
        put_length(out, 5, meta_len);
        put_number(out, 1, cells.len() as u64);
    }
    put_number(out, 7, timeout_ms.into());
    put_varint(out, param_len as u64);
    let before = out.len();
    request.write_param(out);
    debug_assert_eq!(out.len() - before, param_len, "{method} miscounts itself");
    out.extend_from_slice(cells);
}

/// A response frame (without its length), taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) id: u32,
    pub(super) content: Content,
}

/// Where in the frame the content is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// An ExceptionResponse.
    Exception(Range<usize>),
    /// The message and the cells.
    Answer(Range<usize>, Range<usize>),
}

/// Which call a response answers: its header's first field. None if the bytes have no such header.
fn call_id(frame: &[u8]) -> Option<u32> {
    let mut header = Fields::new(Fields::new(frame).delimited()?);
    loop {
        if let (1, Field::Number(number)) = header.next()? {
            return u32::try_from(number).ok();
        }
    }
}

/// Take a response apart; None if the bytes are no response.
pub(super) fn read(frame: &[u8]) -> Option<Response> {
    let at = |part: &[u8]| {
        let start = part.as_ptr() as usize - frame.as_ptr() as usize;
        start..start + part.len()
    };
    let mut fields = Fields::new(frame);
    let mut header = Fields::new(fields.delimited()?);
    let (mut id, mut exception, mut cells_len) = (None, None, 0);
    while !header.is_empty() {
        match header.next()? {
            (1, Field::Number(number)) => id = Some(u32::try_from(number).ok()?),
            (2, Field::Bytes(bytes)) => exception = Some(at(bytes)),
            (3, Field::Bytes(meta)) => cells_len = block_len(meta)?,
            _ => {}
        }
    }
    let content = if let Some(range) = exception {
        Content::Exception(range)
    } else {
        let message = fields.delimited()?;
        let cells = fields.rest();
        if cells.len() != cells_len {
            return None;
        }
        Content::Answer(at(message), at(cells))
    };
    Some(Response { id: id?, content })
}

fn block_len(meta: &[u8]) -> Option<usize> {
    let mut fields = Fields::new(meta);
    let mut len = 0;
    while !fields.is_empty() {
        if let (1, Field::Number(number)) = fields.next()? {
            len = usize::try_from(number).ok()?;
        }
    }
    Some(len)
}

/// A view of a part of a frame; empty parts hold nothing alive.
pub(super) fn part(frame: &Bytes, range: Range<usize>) -> Bytes {
    if range.is_empty() {
        Bytes::new()
    } else {
        frame.slice(range)
    }
}
