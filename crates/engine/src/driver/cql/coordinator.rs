//! After a failure some node other than the one that failed coordinates.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Failures remembered at most: an operation that is given up never comes back for its own.
const REMEMBERED: usize = 16_384;

/// Which node failed an operation last, by the operation's number. Only failures and what follows them come here.
#[derive(Debug, Default)]
pub(super) struct Failed(Mutex<HashMap<u64, SocketAddr>>);

impl Failed {
    /// `node` failed operation `number`.
    pub fn note(&self, number: u64, node: SocketAddr) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= REMEMBERED {
            map.clear();
        }
        map.insert(number, node);
    }

    /// Who failed operation `number`; forgotten by asking.
    pub fn take(&self, number: u64) -> Option<SocketAddr> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_forgotten_when_asked_for_and_when_too_many() {
        let node = SocketAddr::from(([10, 0, 0, 1], 9042));
        let failed = Failed::default();
        for number in 0..=REMEMBERED as u64 {
            failed.note(number, node);
        }
        assert_eq!(failed.take(0), None);
        assert_eq!(failed.take(REMEMBERED as u64), Some(node));
        assert_eq!(failed.take(REMEMBERED as u64), None);
    }
}
