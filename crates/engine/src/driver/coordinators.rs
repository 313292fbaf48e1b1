//! The nodes that a driver sends to, each by a small number: a reply names its coordinator without owning a name.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// A node that coordinates requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coordinator {
    /// Where it answers.
    pub address: SocketAddr,
    /// Its index among all that were ever seen.
    pub index: u16,
}

/// Every node seen so far, in the order in which they were; one that comes back keeps its index.
#[derive(Debug, Default)]
pub(crate) struct Coordinators(Mutex<Vec<SocketAddr>>);

impl Coordinators {
    /// The node at `address`, which is given an index if it is new.
    pub fn at(&self, address: SocketAddr) -> Coordinator {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|other| *other == address);
        let index = found.unwrap_or_else(|| {
            known.push(address);
            known.len() - 1
        });
        Coordinator {
            address,
            index: index as u16,
        }
    }

    /// Their names, `address:port`, by index.
    pub fn names(&self) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_comes_back_keeps_its_index() {
        let known = Coordinators::default();
        let node = |last| SocketAddr::from(([10, 0, 0, last], 9042));
        assert_eq!(known.at(node(1)).index, 0);
        assert_eq!(known.at(node(2)).index, 1);
        assert_eq!(known.at(node(1)).index, 0);
        assert_eq!(known.names(), ["10.0.0.1:9042", "10.0.0.2:9042"]);
    }
}
