//! Exceptions of HBase's servers, sorted by what they mean to a client.

use super::Action;
use crate::names::Address;
use crate::pb;
use crate::stamps::Stamps;
use std::fmt;

/// An exception as a server sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// The Java class, with its package.
    pub class: String,
    /// The exception's message: the first line of the stack trace, without the class.
    pub message: String,
    /// The server's stack trace.
    pub stack: String,
    /// Who sent it.
    pub server: Address,
    /// The region's new server, if the exception names it.
    pub moved_to: Option<Address>,
    /// The server says that trying again is useless.
    pub do_not_retry: bool,
    /// The server says that it is overloaded.
    pub server_overloaded: bool,
    /// When the request was written and the answer read.
    pub stamps: Stamps,
}

/// What an exception means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The region is not on this server, or does not hold the row: the location is wrong.
    NotHere,
    /// The server is about to open the region.
    Opening,
    /// The server is going away: it, and all that is on it, must be forgotten.
    ServerGone,
    /// The server is busy.
    Busy,
    /// The server sheds load.
    Overloaded,
    /// The scanner is gone: open a new one after the last row seen.
    ScannerLost,
    /// Trying again is useless.
    Hopeless,
    /// Anything else that may pass.
    Passing,
}

/// The table of recipes: the end of a class name (without package) and its meaning. Where the server's own `do_not_retry` says
/// otherwise, this table is right: a put outside its region is marked as hopeless by the server, a bad message as passing.
const MEANINGS: &[(&str, Meaning)] = &[
    ("NotServingRegionException", Meaning::NotHere),
    ("RegionMovedException", Meaning::NotHere),
    ("WrongRegionException", Meaning::NotHere),
    ("RegionOfflineException", Meaning::NotHere),
    ("RegionOpeningException", Meaning::Opening),
    ("RegionTooBusyException", Meaning::Busy),
    ("RpcThrottlingException", Meaning::Busy),
    ("RetryImmediatelyException", Meaning::Busy),
    ("MultiActionResultTooLarge", Meaning::Busy),
    ("ServerNotRunningYetException", Meaning::Busy),
    ("PleaseHoldException", Meaning::Busy),
    ("CallQueueTooBigException", Meaning::Overloaded),
    ("CallDroppedException", Meaning::Overloaded),
    ("RegionServerStoppedException", Meaning::ServerGone),
    ("RegionServerAbortedException", Meaning::ServerGone),
    ("UnknownScannerException", Meaning::ScannerLost),
    ("OutOfOrderScannerNextException", Meaning::ScannerLost),
    ("ScannerResetException", Meaning::ScannerLost),
    ("LeaseException", Meaning::ScannerLost),
    ("InvalidProtocolBufferException", Meaning::Hopeless),
    ("UninitializedMessageException", Meaning::Hopeless),
];

impl Exception {
    pub(crate) fn of_response(
        response: pb::ExceptionResponse,
        server: &Address,
        stamps: Stamps,
    ) -> Self {
        let named = response.hostname.as_deref().zip(response.port);
        let moved_to =
            named.and_then(|(host, port)| Some(Address::new(host, u16::try_from(port).ok()?)));
        Self {
            moved_to,
            do_not_retry: response.do_not_retry.unwrap_or(false),
            server_overloaded: response.server_overloaded.unwrap_or(false),
            ..Self::of_text(
                response.exception_class_name.unwrap_or_default(),
                response.stack_trace.unwrap_or_default(),
                server,
                stamps,
            )
        }
    }

    /// Of one action or one region of a multi call: there only the class and the text are sent.
    pub(crate) fn of_pair(pair: pb::NameBytesPair, server: &Address, stamps: Stamps) -> Self {
        let stack = String::from_utf8_lossy(&pair.value.unwrap_or_default()).into_owned();
        let moved_to = moved_to(&stack);
        Self {
            moved_to,
            ..Self::of_text(pair.name, stack, server, stamps)
        }
    }

    fn of_text(class: String, stack: String, server: &Address, stamps: Stamps) -> Self {
        let first = stack.lines().next().unwrap_or("");
        let message = first.strip_prefix(&*class).unwrap_or(first);
        Self {
            message: message.trim_start_matches(':').trim().to_owned(),
            class,
            stack,
            server: server.clone(),
            moved_to: None,
            do_not_retry: false,
            server_overloaded: false,
            stamps,
        }
    }

    /// The class without its package.
    pub fn name(&self) -> &str {
        self.class.rsplit(['.', '$']).next().unwrap_or(&self.class)
    }

    pub(crate) fn meaning(&self) -> Meaning {
        let known = MEANINGS.iter().find(|(name, _)| *name == self.name());
        match known {
            Some((_, meaning)) => *meaning,
            // A put outside its region: the reason is named in the text only.
            None if self.name() == "FailedSanityCheckException"
                && self.stack.contains("WrongRegionException") =>
            {
                Meaning::NotHere
            }
            None if self.server_overloaded => Meaning::Overloaded,
            None if self.do_not_retry || self.says_do_not_retry() => Meaning::Hopeless,
            None => Meaning::Passing,
        }
    }

    /// Exceptions inside a multi answer carry no flag.
    fn says_do_not_retry(&self) -> bool {
        matches!(
            self.name(),
            "DoNotRetryIOException"
                | "NoSuchColumnFamilyException"
                | "FailedSanityCheckException"
                | "AccessDeniedException"
        )
    }

    pub(crate) fn action(&self) -> Action {
        match self.meaning() {
            Meaning::NotHere | Meaning::ScannerLost => Action::Relocate,
            Meaning::Opening | Meaning::Busy | Meaning::Overloaded | Meaning::Passing => {
                Action::Pause
            }
            Meaning::ServerGone => Action::Reconnect,
            Meaning::Hopeless => Action::GiveUp,
        }
    }

    pub(crate) fn overloaded(&self) -> bool {
        self.server_overloaded || self.meaning() == Meaning::Overloaded
    }
}

/// `Region moved to: hostname=H port=P startCode=...`, as RegionMovedException words it.
fn moved_to(text: &str) -> Option<Address> {
    let (_, rest) = text.split_once("hostname=")?;
    let (host, rest) = rest.split_once(" port=")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    Some(Address::new(host, rest[..digits].parse().ok()?))
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.name(), self.server)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exception(class: &str, text: &str, do_not_retry: bool) -> Exception {
        let response = pb::ExceptionResponse {
            exception_class_name: Some(format!("org.apache.hadoop.hbase.{class}")),
            stack_trace: Some(format!(
                "org.apache.hadoop.hbase.{class}: {text}\n\tat Somewhere"
            )),
            do_not_retry: Some(do_not_retry),
            ..pb::ExceptionResponse::default()
        };
        Exception::of_response(response, &Address::new("rs", 1), Stamps::default())
    }

    #[test]
    fn classes_say_what_helps() {
        for (class, text, do_not_retry, action) in [
            ("NotServingRegionException", "", false, Action::Relocate),
            (
                "regionserver.WrongRegionException",
                "",
                false,
                Action::Relocate,
            ),
            (
                "exceptions.FailedSanityCheckException",
                "...regionserver.WrongRegionException: Requested row",
                true,
                Action::Relocate,
            ),
            (
                "exceptions.FailedSanityCheckException",
                "Timestamp too far",
                true,
                Action::GiveUp,
            ),
            (
                "exceptions.RegionOpeningException",
                "",
                false,
                Action::Pause,
            ),
            ("RegionTooBusyException", "", false, Action::Pause),
            (
                "regionserver.RegionServerStoppedException",
                "",
                false,
                Action::Reconnect,
            ),
            ("UnknownScannerException", "", true, Action::Relocate),
            ("DoNotRetryIOException", "", true, Action::GiveUp),
            ("SomethingNew", "", false, Action::Pause),
            ("SomethingNew", "", true, Action::GiveUp),
            (
                "shaded.com.google.protobuf.InvalidProtocolBufferException",
                "",
                false,
                Action::GiveUp,
            ),
        ] {
            assert_eq!(
                exception(class, text, do_not_retry).action(),
                action,
                "{class} {text}"
            );
        }
        assert!(exception("CallQueueTooBigException", "", false).overloaded());
        assert!(!exception("RegionTooBusyException", "", false).overloaded());
    }

    #[test]
    fn a_moved_region_names_its_server_even_in_a_text() {
        let text = "org.apache.hadoop.hbase.exceptions.RegionMovedException: Region moved to: hostname=rs2 port=16020 startCode=17. As of ...";
        let pair = pb::NameBytesPair {
            name: "org.apache.hadoop.hbase.exceptions.RegionMovedException".to_owned(),
            value: Some(text.as_bytes().to_vec()),
        };
        let exception = Exception::of_pair(pair, &Address::new("rs", 1), Stamps::default());
        assert_eq!(exception.moved_to, Some(Address::new("rs2", 16020)));
        assert_eq!(exception.action(), Action::Relocate);
        assert!(exception.message.starts_with("Region moved to"));
        assert_eq!(
            exception.to_string(),
            format!("RegionMovedException from rs:1: {}", exception.message)
        );
    }
}
