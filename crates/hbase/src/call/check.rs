//! Check: the condition of a put or delete that is done only if a column has a certain value.

use crate::pb;
use crate::rpc::wire::{put_bytes, put_number};
use prost::Message;

/// How the column's value must compare to the one given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// The given value is less than the column's.
    Less = 0,
    /// Less or equal.
    LessOrEqual = 1,
    /// Equal.
    Equal = 2,
    /// Not equal.
    NotEqual = 3,
    /// Greater or equal.
    GreaterOrEqual = 4,
    /// The given value is greater than the column's.
    Greater = 5,
}

/// A condition on one column.
///
/// After an attempt whose answer was lost, a second one may find its own first one's value: like HBase's own client, a checked
/// mutation that was tried more than once can say "not done" although it was.
#[derive(Debug, Clone)]
pub struct Check {
    family: Vec<u8>,
    qualifier: Vec<u8>,
    compare: Compare,
    comparator: Vec<u8>,
}

impl Check {
    /// The newest version of the column is `value`.
    pub fn equal(family: &[u8], qualifier: &[u8], value: &[u8]) -> Self {
        Self::compare(family, qualifier, Compare::Equal, value)
    }

    /// The column does not exist, or is empty.
    pub fn absent(family: &[u8], qualifier: &[u8]) -> Self {
        Self::compare(family, qualifier, Compare::Equal, b"")
    }

    /// `value` compares so to the newest version of the column, byte by byte.
    pub fn compare(family: &[u8], qualifier: &[u8], compare: Compare, value: &[u8]) -> Self {
        let comparable = pb::ByteArrayComparable {
            value: Some(value.to_vec()),
        };
        let comparator = pb::Comparator {
            name: "org.apache.hadoop.hbase.filter.BinaryComparator".to_owned(),
            serialized_comparator: Some(pb::BinaryComparator { comparable }.encode_to_vec()),
        };
        Self {
            family: family.to_vec(),
            qualifier: qualifier.to_vec(),
            compare,
            comparator: comparator.encode_to_vec(),
        }
    }

    /// As the message `Condition` for `row`.
    pub(crate) fn encode(&self, row: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes(&mut out, 1, row);
        put_bytes(&mut out, 2, &self.family);
        put_bytes(&mut out, 3, &self.qualifier);
        put_number(&mut out, 4, self.compare as u64);
        put_bytes(&mut out, 5, &self.comparator);
        out
    }
}
