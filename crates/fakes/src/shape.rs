//! What a record looks like, and how a key tells its operation's number.

use std::net::Ipv4Addr;

/// The one record that every read finds.
#[derive(Debug, Clone, Copy)]
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
/// Where both listen.
pub const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

impl Shape {
    /// From the command line.
    pub fn from_arguments(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut shape = Self {
            fields: 10,
            length: 100,
        };
        while let Some(word) = words.next() {
            let place = match word.as_str() {
                "--fields" => &mut shape.fields,
                "--field-length" => &mut shape.length,
                _ => {
                    return Err(format!(
                        "{word} is no flag; there are --fields and --field-length"
                    ));
                }
            };
            let value = words.next().and_then(|text| text.parse().ok());
            *place = value
                .filter(|n| *n > 0)
                .ok_or_else(|| format!("{word} needs a number above 0"))?;
        }
        Ok(shape)
    }
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

    #[test]
    fn words_that_are_no_flags_are_named() {
        let read = |words: &[&str]| Shape::from_arguments(words.iter().map(ToString::to_string));
        assert_eq!(
            read(&["--fields", "3"]).map(|s| (s.fields, s.length)),
            Ok((3, 100))
        );
        assert!(read(&["--field", "3"]).is_err_and(|e| e.contains("--field is no flag")));
        assert!(read(&["--fields", "0"]).is_err());
    }
}
