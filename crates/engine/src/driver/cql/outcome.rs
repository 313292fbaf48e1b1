//! How a failed attempt reads as an outcome. The texts are short and without varying parts where that is possible, so that
//! equal failures count as equal.

use super::wire::frame::{Malformed, ServerError};
use crate::net::Ended;
use crate::operation::Outcome;

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// The histogram key.
    pub outcome: Outcome,
    /// What happened.
    pub text: String,
}

impl Failure {
    fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self {
            outcome,
            text: text.into(),
        }
    }

    /// No node can be asked.
    pub fn unreachable() -> Self {
        Self::new(Outcome::Connection, "no connection to any node")
    }

    /// A fault on our side of the wire.
    pub fn client(text: impl Into<String>) -> Self {
        Self::new(Outcome::Client, text)
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        Self::new(Outcome::Connection, ended.0)
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::client(malformed.to_string())
    }
}

/// By the error codes of native_protocol_v4.spec, section 9.
impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        let (outcome, text) = match error.code {
            0x1000 => (Outcome::Unavailable, "too few replicas alive"),
            0x1001 => (Outcome::Overloaded, "overloaded"),
            0x1002 => (Outcome::Unavailable, "the coordinator is joining"),
            0x1100 => (Outcome::Timeout, "write timeout"),
            0x1200 => (Outcome::Timeout, "read timeout"),
            0x1300 => (Outcome::Server, "read failure on a replica"),
            0x1500 => (Outcome::Server, "write failure on a replica"),
            // These name a fault of the request: another attempt would end the same way.
            0x000A | 0x0100 | 0x2000..=0x23FF => (Outcome::Client, ""),
            _ => (Outcome::Server, ""),
        };
        if text.is_empty() {
            return Self::new(
                outcome,
                format!("{} (error {:#06x})", error.message, error.code),
            );
        }
        Self::new(outcome, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_errors_have_their_outcomes() {
        let cases = [
            (0x0000, Outcome::Server),
            (0x000A, Outcome::Client),
            (0x1000, Outcome::Unavailable),
            (0x1001, Outcome::Overloaded),
            (0x1002, Outcome::Unavailable),
            (0x1100, Outcome::Timeout),
            (0x1200, Outcome::Timeout),
            (0x1300, Outcome::Server),
            (0x2100, Outcome::Client),
            (0x2200, Outcome::Client),
            (ServerError::UNPREPARED, Outcome::Server),
        ];
        for (code, expected) in cases {
            let message = "what the server says".to_owned();
            let failure = Failure::from(ServerError { code, message });
            assert_eq!(failure.outcome, expected, "{code:#06x}");
            assert!(!failure.text.is_empty());
        }
    }
}
