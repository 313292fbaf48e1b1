//! How the client's errors read as outcomes. The texts are short and without varying parts where that is possible, so that
//! equal failures count as equal.

use crate::driver::OpenError;
use crate::operation::Outcome;
use steelyard_hbase::{Action, Error, Exception};

/// Exceptions by which a server sheds load or holds a client back.
const OVERLOADED: [&str; 5] = [
    "RegionTooBusyException",
    "CallQueueTooBigException",
    "CallDroppedException",
    "RpcThrottlingException",
    "ThrottlingException",
];
/// Exceptions of a region that is not served here just now: it moves, opens, splits, or its server goes.
const UNAVAILABLE: [&str; 9] = [
    "NotServingRegionException",
    "RegionMovedException",
    "RegionOfflineException",
    "RegionOpeningException",
    "WrongRegionException",
    "ServerNotRunningYetException",
    "PleaseHoldException",
    "RegionServerStoppedException",
    "RegionServerAbortedException",
];
/// Exceptions of a server that did not finish in time.
const TIMEOUT: [&str; 3] = [
    "CallTimeoutException",
    "TimeoutIOException",
    "CallerDisconnectedException",
];

/// The histogram key of `error`, and what happened.
pub(super) fn failure(error: &Error) -> (Outcome, String) {
    match error {
        Error::Server(exception) => (answered(exception, error), described(exception)),
        Error::Connect { .. } => (Outcome::Connection, "no connection to the server".into()),
        Error::Lost { .. } => (Outcome::Connection, "the connection broke".into()),
        Error::Registry(_) | Error::ZooKeeper(_) => (
            Outcome::Connection,
            "nobody tells where the region is".into(),
        ),
        Error::Timeout { .. } => (Outcome::Timeout, "no answer in time".into()),
        Error::Unassigned(_) => (Outcome::Unavailable, "the region is on no server".into()),
        Error::NoTable(_) | Error::Disabled(_) | Error::Input(_) => {
            (Outcome::Client, error.to_string())
        }
        Error::Protocol { .. } => (Outcome::Server, error.to_string()),
    }
}

fn answered(exception: &Exception, error: &Error) -> Outcome {
    let name = exception.name();
    if OVERLOADED.contains(&name) || error.overloaded() {
        Outcome::Overloaded
    } else if UNAVAILABLE.contains(&name) {
        Outcome::Unavailable
    } else if TIMEOUT.contains(&name) {
        Outcome::Timeout
    } else {
        match error.action() {
            Action::Relocate => Outcome::Unavailable,
            // The request's own fault: another attempt would end the same way.
            Action::GiveUp => Outcome::Client,
            Action::Pause | Action::Reconnect => Outcome::Server,
        }
    }
}

fn described(exception: &Exception) -> String {
    let name = exception.name();
    if OVERLOADED.contains(&name) || UNAVAILABLE.contains(&name) || TIMEOUT.contains(&name) {
        return name.to_owned(); // its message names the region, and there are many
    }
    format!("{name}: {}", exception.message)
}

/// An error while the driver opens: what trying again cannot mend is the user's.
pub(super) fn unopened(error: Error) -> OpenError {
    match error.action() {
        Action::GiveUp => OpenError::Option(error.to_string()),
        Action::Relocate | Action::Pause | Action::Reconnect => OpenError::Reach(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steelyard_hbase::{Address, Stamps};

    fn exception(class: &str, do_not_retry: bool) -> Error {
        Error::Server(Box::new(Exception {
            class: format!("org.apache.hadoop.hbase.{class}"),
            message: "usertable,,1 is not here".into(),
            stack: String::new(),
            server: Address::new("rs", 16020),
            moved_to: None,
            do_not_retry,
            server_overloaded: false,
            stamps: Stamps {
                sent_ns: 1,
                received_ns: 2,
            },
        }))
    }

    #[test]
    fn exceptions_have_their_outcomes() {
        for (class, do_not_retry, expected) in [
            ("NotServingRegionException", false, Outcome::Unavailable),
            (
                "exceptions.RegionMovedException",
                false,
                Outcome::Unavailable,
            ),
            (
                "regionserver.WrongRegionException",
                true,
                Outcome::Unavailable,
            ),
            ("RegionTooBusyException", false, Outcome::Overloaded),
            ("CallQueueTooBigException", false, Outcome::Overloaded),
            ("quotas.RpcThrottlingException", false, Outcome::Overloaded),
            ("ipc.CallTimeoutException", false, Outcome::Timeout),
            ("DoNotRetryIOException", true, Outcome::Client),
            (
                "regionserver.NoSuchColumnFamilyException",
                true,
                Outcome::Client,
            ),
            ("SomethingNewException", false, Outcome::Server),
        ] {
            let error = exception(class, do_not_retry);
            assert_eq!(failure(&error).0, expected, "{class}");
        }
    }

    #[test]
    fn failures_of_one_kind_read_the_same_whichever_region_it_was() {
        let (_, text) = failure(&exception("NotServingRegionException", false));
        assert_eq!(text, "NotServingRegionException");
    }

    #[test]
    fn what_never_reached_a_server_has_its_outcome_too() {
        let lost = Error::Lost {
            server: Address::new("rs", 16020),
            reason: "reset".into(),
        };
        assert_eq!(failure(&lost).0, Outcome::Connection);
        assert_eq!(
            failure(&Error::Unassigned("r".into())).0,
            Outcome::Unavailable
        );
        assert_eq!(failure(&Error::Input("x".into())).0, Outcome::Client);
    }
}
