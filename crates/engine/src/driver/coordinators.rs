//! The servers that a driver sends to, each by a small number: a reply names its coordinator without owning a name.

use std::sync::{Mutex, PoisonError};

/// Every server seen so far, in the order in which they were; one that comes back keeps its index.
#[derive(Debug, Default)]
pub(crate) struct Coordinators(Mutex<Vec<String>>);

impl Coordinators {
    /// The index of the server of that name, which is given one if it is new.
    pub fn index(&self, name: &str) -> u16 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|other| other == name);
        let index = found.unwrap_or_else(|| {
            known.push(name.to_owned());
            known.len() - 1
        });
        index as u16
    }

    /// Their names by index.
    pub fn names(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_comes_back_keeps_its_index() {
        let known = Coordinators::default();
        assert_eq!(known.index("10.0.0.1:9042"), 0);
        assert_eq!(known.index("10.0.0.2:9042"), 1);
        assert_eq!(known.index("10.0.0.1:9042"), 0);
        assert_eq!(known.names(), ["10.0.0.1:9042", "10.0.0.2:9042"]);
    }
}
