//! Which columns a get or a scan asks for.

use crate::pb;
use crate::rpc::wire::{bytes_len, put_bytes, put_length};
use std::sync::Arc;

/// Columns asked for: all, or whole families and single columns. Made once, shared by as many calls as one likes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    chosen: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// The same as `column` fields (number 2) of a Get.
    encoded: Arc<[u8]>,
}

impl Columns {
    /// All columns of all families.
    pub fn all() -> Self {
        Self::default()
    }

    /// And all columns of `family`.
    #[must_use]
    pub fn family(mut self, family: &[u8]) -> Self {
        match self.of(family) {
            Some(qualifiers) => qualifiers.clear(),
            None => self.chosen.push((family.to_vec(), Vec::new())),
        }
        self.encode()
    }

    /// And this one column. Of a family chosen as a whole, all columns stay chosen.
    #[must_use]
    pub fn column(mut self, family: &[u8], qualifier: &[u8]) -> Self {
        match self.of(family) {
            Some(whole) if whole.is_empty() => {}
            Some(qualifiers) => qualifiers.push(qualifier.to_vec()),
            None => self
                .chosen
                .push((family.to_vec(), vec![qualifier.to_vec()])),
        }
        self.encode()
    }

    fn of(&mut self, family: &[u8]) -> Option<&mut Vec<Vec<u8>>> {
        let found = self.chosen.iter_mut().find(|(name, _)| name == family);
        found.map(|(_, qualifiers)| qualifiers)
    }

    fn encode(mut self) -> Self {
        let mut out = Vec::new();
        for (family, qualifiers) in &self.chosen {
            let len = bytes_len(family.len())
                + qualifiers.iter().map(|q| bytes_len(q.len())).sum::<usize>();
            put_length(&mut out, 2, len);
            put_bytes(&mut out, 1, family);
            for qualifier in qualifiers {
                put_bytes(&mut out, 2, qualifier);
            }
        }
        self.encoded = out.into();
        self
    }

    pub(super) fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    pub(crate) fn messages(&self) -> Vec<pb::Column> {
        let message = |(family, qualifier): &(Vec<u8>, Vec<Vec<u8>>)| pb::Column {
            family: family.clone(),
            qualifier: qualifier.clone(),
        };
        self.chosen.iter().map(message).collect()
    }
}
