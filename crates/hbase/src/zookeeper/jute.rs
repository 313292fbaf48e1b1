//! ZooKeeper's wire format: big-endian numbers; strings, buffers and lists led by an int32 length (-1 = none).
//!
//! Every frame is led by its own int32 length. Source: `zookeeper.jute` of ZooKeeper, and bytes of a real session.

use std::time::Duration;

use super::ZooKeeperError;

pub(super) const GET_DATA: i32 = 4;
pub(super) const GET_CHILDREN: i32 = 8;
const CLOSE: i32 = -11;
/// Error code of an answer: there is no such node.
pub(super) const NO_NODE: i32 = -101;
/// Bytes of an answer's header: xid, zxid, error.
pub(super) const HEADER: usize = 16;
/// Length of a session's password.
const PASSWORD: usize = 16;

/// What leads every answer but the first. The zxid between the two is of no use to a reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub xid: i32,
    pub error: i32,
}

/// The frame that asks for a new session.
pub(super) fn connect(session_timeout: Duration) -> Vec<u8> {
    let timeout_ms = i32::try_from(session_timeout.as_millis()).unwrap_or(i32::MAX);
    let mut body = Vec::new();
    body.extend(0_i32.to_be_bytes()); // protocol version
    body.extend(0_i64.to_be_bytes()); // last transaction seen
    body.extend(timeout_ms.to_be_bytes());
    body.extend(0_i64.to_be_bytes()); // no session yet
    put_buffer(&mut body, &[0; PASSWORD]);
    body.push(0); // a server that lost its quorum may not answer
    frame(&body)
}

/// Whether the first answer says that there will be no session (its time-out is then 0).
pub(super) fn session_refused(answer: &[u8]) -> Result<bool, ZooKeeperError> {
    let mut reader = Reader::new(answer);
    reader.int()?; // protocol version
    Ok(reader.int()? <= 0)
}

/// The frame of a read of `path` without a watch.
pub(super) fn read(xid: i32, kind: i32, path: &str) -> Vec<u8> {
    let mut body = head(xid, kind);
    put_buffer(&mut body, path.as_bytes());
    body.push(0); // no watch
    frame(&body)
}

/// The frame that ends the session.
pub(super) fn close(xid: i32) -> Vec<u8> {
    frame(&head(xid, CLOSE))
}

pub(super) fn header(answer: &[u8]) -> Result<Header, ZooKeeperError> {
    let mut reader = Reader::new(answer);
    let xid = reader.int()?;
    reader.take(8)?;
    Ok(Header {
        xid,
        error: reader.int()?,
    })
}

fn head(xid: i32, kind: i32) -> Vec<u8> {
    [xid.to_be_bytes(), kind.to_be_bytes()].concat()
}

fn put_buffer(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as i32).to_be_bytes());
    body.extend(bytes);
}

fn frame(body: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(4 + body.len());
    put_buffer(&mut framed, body);
    framed
}

/// Reads values off the front of an answer.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn int(&mut self) -> Result<i32, ZooKeeperError> {
        let bytes = self.take(4)?;
        Ok(i32::from_be_bytes(
            bytes.try_into().expect("four bytes were taken"),
        ))
    }

    /// A buffer or a string; one that is absent (length -1) reads as empty.
    pub(super) fn buffer(&mut self) -> Result<&'a [u8], ZooKeeperError> {
        let length = self.int()?;
        self.take(usize::try_from(length).unwrap_or(0))
    }

    pub(super) fn strings(&mut self) -> Result<Vec<String>, ZooKeeperError> {
        let count = self.int()?;
        (0..count)
            .map(|_| {
                self.buffer()
                    .map(|name| String::from_utf8_lossy(name).into_owned())
            })
            .collect()
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ZooKeeperError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(ZooKeeperError::Malformed("an answer that ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }
}
