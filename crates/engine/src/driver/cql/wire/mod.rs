//! CQL's binary protocol as our own connections speak it: frames, and the handshake.

pub(crate) mod establish;
pub(crate) mod frame;
