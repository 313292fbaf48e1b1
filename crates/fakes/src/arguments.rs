//! The command line.

use crate::shape::{HOST, Shape};
use std::net::Ipv4Addr;

/// Most nodes there can be: each has an address of its own, the first one's and those that follow.
const NODES_MAX: usize = 64;
const FLAGS: &str = "--fields N, --field-length N, --nodes N, --address A.B.C.D and --store";

/// What kind of servers to be.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    /// What a record looks like.
    pub shape: Shape,
    /// Nodes of the CQL cluster.
    pub nodes: usize,
    /// Where the first of them listens.
    pub first: Ipv4Addr,
    /// Keep what is written and answer reads from it, instead of one record for all.
    pub store: bool,
}

impl Arguments {
    /// From its words.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            shape: Shape {
                fields: 10,
                length: 100,
            },
            nodes: 1,
            first: HOST,
            store: false,
        };
        while let Some(word) = words.next() {
            let place = match word.as_str() {
                "--store" => {
                    arguments.store = true;
                    continue;
                }
                "--address" => {
                    let value = words.next().and_then(|text| text.parse().ok());
                    arguments.first = value.ok_or("--address needs an IPv4 address")?;
                    continue;
                }
                "--fields" => &mut arguments.shape.fields,
                "--field-length" => &mut arguments.shape.length,
                "--nodes" => &mut arguments.nodes,
                _ => return Err(format!("{word} is no flag; there are {FLAGS}")),
            };
            let value = words.next().and_then(|text| text.parse().ok());
            *place = value
                .filter(|n| *n > 0)
                .ok_or_else(|| format!("{word} needs a number above 0"))?;
        }
        if arguments.nodes > NODES_MAX {
            return Err(format!("--nodes is at most {NODES_MAX}"));
        }
        Ok(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_no_flags_are_named() {
        let read = |words: &[&str]| Arguments::parse(words.iter().map(ToString::to_string));
        let read_well = read(&["--fields", "3", "--store", "--nodes", "2"]);
        assert_eq!(
            read_well.map(|a| (a.shape.fields, a.shape.length, a.nodes, a.store)),
            Ok((3, 100, 2, true))
        );
        assert!(read(&["--field", "3"]).is_err_and(|e| e.contains("--field is no flag")));
        assert!(read(&["--fields", "0"]).is_err());
        assert!(read(&["--address", "10.0.0"]).is_err_and(|e| e.contains("IPv4")));
        let first = read(&["--address", "10.0.0.7"]).map(|a| a.first);
        assert_eq!(first, Ok(Ipv4Addr::new(10, 0, 0, 7)));
        assert!(read(&["--nodes", "65"]).is_err_and(|e| e.contains("64")));
    }
}
