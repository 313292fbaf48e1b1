//! What can be sent.

use prost::Message;

/// A request that writes itself into the outgoing buffer.
pub(crate) trait Request {
    /// The method's name within its service.
    fn method(&self) -> &'static str;
    /// Bytes [`Self::write_param`] will append.
    fn param_len(&self) -> usize;
    /// Append the request message.
    fn write_param(&self, out: &mut Vec<u8>);
    /// The cell block that goes with it.
    fn cells(&self) -> &[u8] {
        &[]
    }
}

/// Any message as a request.
pub(crate) struct Plain<'a, M> {
    /// The method's name within its service.
    pub(crate) method: &'static str,
    /// The request message.
    pub(crate) message: &'a M,
    /// The cell block that goes with it.
    pub(crate) cells: &'a [u8],
}

impl<M: Message> Request for Plain<'_, M> {
    fn method(&self) -> &'static str {
        self.method
    }

    fn param_len(&self) -> usize {
        self.message.encoded_len()
    }

    fn write_param(&self, out: &mut Vec<u8>) {
        self.message.encode(out).expect("a vector grows");
    }

    fn cells(&self) -> &[u8] {
        self.cells
    }
}
