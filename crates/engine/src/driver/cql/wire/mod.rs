//! The hot path over CQL: connections of our own that carry many requests each.
//!
//! Requests that wait together leave in one write; each answer is copied once, out of the connection's buffer into one that
//! the caller reads and gives back. Nothing is allocated per request once buffers have grown.

mod call;
pub(crate) mod connection;
pub(crate) mod establish;
pub(crate) mod frame;
pub(crate) mod node;
pub(crate) mod patience;
mod socket;
pub(crate) mod streams;
