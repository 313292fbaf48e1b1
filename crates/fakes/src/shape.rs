//! What a record looks like, and how a key tells its operation's number.

use std::net::Ipv4Addr;

/// The one record that every read finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Fields of a record; their names are `field` and their index.
    pub fields: usize,
    /// Bytes of each.
    pub length: usize,
}

/// Keyspace of the CQL server.
pub const KEYSPACE: &str = "ycsb";
/// Table of both.
pub const TABLE: &str = "usertable";
/// Column family of the HBase server.
pub const FAMILY: &str = "family";
/// What a field's name begins with.
pub const FIELD: &str = "field";
/// Where servers listen unless told otherwise; of HBase always.
pub const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Where the CQL node of that place listens, the first one's address given.
pub fn address(first: Ipv4Addr, node: usize) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(first) + node as u32)
}

/// The number at the end of a key.
pub fn number(key: &[u8]) -> u64 {
    let digits = key.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    key[key.len() - digits..]
        .iter()
        .fold(0_u64, |number, digit| {
            number
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_with_its_number() {
        assert_eq!(number(b"user0000000123"), 123);
        assert_eq!(number(b"7"), 7);
        assert_eq!(number(b"user"), 0);
    }
}
