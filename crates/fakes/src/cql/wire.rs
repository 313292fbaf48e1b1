//! Frames and the protocol's notations (`native_protocol_v4.spec`, sections 2 and 3), from the server's side.

/// Bytes of a frame's header.
pub const HEADER: usize = 9;
/// Version byte of requests and of answers.
pub const REQUEST: u8 = 0x04;
const RESPONSE: u8 = 0x84;

/// What a frame is (section 2.4).
pub mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const OPTIONS: u8 = 0x05;
    pub const SUPPORTED: u8 = 0x06;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0A;
    pub const REGISTER: u8 = 0x0B;
}

/// The header of a request.
pub struct Header {
    pub version: u8,
    pub stream: i16,
    pub opcode: u8,
    pub length: usize,
}

impl Header {
    /// None while it is not whole.
    pub fn read(input: &[u8]) -> Option<Self> {
        let head = input.first_chunk::<HEADER>()?;
        Some(Self {
            version: head[0],
            stream: i16::from_be_bytes([head[2], head[3]]),
            opcode: head[4],
            length: u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize,
        })
    }
}

/// Reads one notation after the other; None where the bytes end too early.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take(4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub fn i64(&mut self) -> Option<i64> {
        let bytes = self.take(8)?.first_chunk::<8>()?;
        Some(i64::from_be_bytes(*bytes))
    }

    /// `[bytes]`; a null one is None too.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// `[short bytes]`
    pub fn short_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(length.into())
    }

    /// `[long string]`
    pub fn long_text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

/// Appends one notation after the other.
pub struct Writer<'a>(pub &'a mut Vec<u8>);

impl Writer<'_> {
    /// Append a frame: its header, then what `body` appends.
    pub fn frame(out: &mut Vec<u8>, stream: i16, opcode: u8, body: impl FnOnce(&mut Writer<'_>)) {
        let start = out.len();
        let [high, low] = stream.to_be_bytes();
        out.extend_from_slice(&[RESPONSE, 0, high, low, opcode, 0, 0, 0, 0]);
        body(&mut Writer(out));
        let length = (out.len() - start - HEADER) as u32;
        out[start + 5..start + HEADER].copy_from_slice(&length.to_be_bytes());
    }

    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// `[string]`
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.short_bytes(text.as_bytes())
    }

    /// `[short bytes]`
    pub fn short_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.u16(bytes.len() as u16).raw(bytes)
    }

    /// `[bytes]`
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.i32(bytes.len() as i32).raw(bytes)
    }

    /// `[bytes]`, null without a value.
    pub fn value(&mut self, value: Option<&[u8]>) -> &mut Self {
        match value {
            Some(bytes) => self.bytes(bytes),
            None => self.i32(-1),
        }
    }
}
