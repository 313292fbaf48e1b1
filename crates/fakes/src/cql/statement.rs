//! Prepared statements about records: what their texts ask for, and what an EXECUTE binds to them.

use super::catalogue;
use super::wire::Reader;
use crate::fault::Side;
use crate::shape::{FIELD, number};
use crate::store::Request;

/// Bits of an EXECUTE's flags (section 4.1.4).
mod flag {
    pub(super) const PAGE_SIZE: u8 = 0x04;
    pub(super) const PAGING_STATE: u8 = 0x08;
    pub(super) const SERIAL_CONSISTENCY: u8 = 0x10;
    pub(super) const TIMESTAMP: u8 = 0x20;
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Read,
    Scan,
    Insert,
    Delete,
}

/// A statement about records.
#[derive(Debug)]
pub struct Data {
    verb: Verb,
    /// The columns it names: the places of fields, none for the key.
    pub columns: Vec<Option<usize>>,
}

/// What an EXECUTE asks for.
pub struct Bound {
    /// The operation's number.
    pub number: u64,
    pub side: Side,
    /// What is asked of a table that keeps what is written.
    pub request: Option<Box<Request>>,
}

impl Data {
    /// From the text of a statement that is not about a system table.
    pub fn parse(text: &str) -> Self {
        let lower = text.trim_start().to_ascii_lowercase();
        let inserted = lower.strip_prefix("insert ").and_then(|rest| {
            let (_, rest) = rest.split_once('(')?;
            rest.split_once(')')
        });
        let (verb, columns) = match inserted {
            Some((columns, _)) => (Verb::Insert, catalogue::names(columns)),
            None if lower.starts_with("delete ") => (Verb::Delete, Vec::new()),
            None => {
                let selected = catalogue::select(&lower).map(|(columns, _)| columns);
                let verb = if lower.contains(" token(") {
                    Verb::Scan
                } else {
                    Verb::Read
                };
                (verb, selected.unwrap_or_default())
            }
        };
        let field = |name: &String| name.strip_prefix(FIELD).and_then(|n| n.parse().ok());
        Self {
            verb,
            columns: columns.iter().map(field).collect(),
        }
    }

    /// Whether it is answered with rows.
    pub const fn reads(&self) -> bool {
        matches!(self.verb, Verb::Read | Verb::Scan)
    }

    /// What an EXECUTE binds, read from what follows on the statement's id; all of it only where it is kept. None if it is
    /// malformed.
    pub fn bind(&self, reader: &mut Reader<'_>, kept: bool) -> Option<Bound> {
        let (_consistency, flags, values) = (reader.u16()?, reader.u8()?, reader.u16()?);
        let key = reader.bytes()?;
        let request = if kept {
            Some(Box::new(self.request(key, flags, values, reader)?))
        } else {
            None
        };
        Some(Bound {
            number: number(key),
            side: if self.reads() {
                Side::Reads
            } else {
                Side::Writes
            },
            request,
        })
    }

    fn request(
        &self,
        key: &[u8],
        flags: u8,
        values: u16,
        reader: &mut Reader<'_>,
    ) -> Option<Request> {
        let more: Option<Vec<&[u8]>> = (1..values).map(|_| reader.bytes()).collect();
        let more = more?;
        let has = |bit: u8| flags & bit != 0;
        let page_rows = has(flag::PAGE_SIZE).then(|| reader.u32());
        let state = has(flag::PAGING_STATE).then(|| reader.bytes());
        if has(flag::SERIAL_CONSISTENCY) {
            reader.u16()?;
        }
        let timestamp = if has(flag::TIMESTAMP) {
            reader.i64()?
        } else {
            0
        };
        let key = key.to_vec();
        Some(match self.verb {
            Verb::Read => Request::Read { key },
            Verb::Delete => Request::Delete { key, timestamp },
            Verb::Insert => Request::Write {
                key,
                timestamp,
                whole: true,
                values: (self.columns.iter().flatten().copied())
                    .zip(more.iter().map(|value| value.to_vec()))
                    .collect(),
            },
            Verb::Scan => {
                let limit = Reader(more.first()?).u32()? as usize;
                let (from, behind, wanted) = match state.flatten() {
                    Some(state) => {
                        let (left, last) = state.split_first_chunk::<4>()?;
                        (last.to_vec(), true, u32::from_be_bytes(*left) as usize)
                    }
                    None => (key, false, limit),
                };
                let rows = page_rows
                    .flatten()
                    .map_or(wanted, |most| wanted.min(most as usize));
                Request::Scan {
                    from,
                    behind,
                    rows,
                    left: wanted - rows,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_what_the_driver_prepares() {
        let parsed = |text: &str| {
            let data = Data::parse(text);
            (data.verb, data.columns)
        };
        let fields = vec![Some(0), Some(11)];
        let read = "SELECT \"field0\", \"field11\" FROM \"ks\".\"t\" WHERE y_id = ? LIMIT 1";
        assert_eq!(parsed(read), (Verb::Read, fields.clone()));
        let scan =
            "SELECT y_id, \"field0\" FROM \"ks\".\"t\" WHERE token(y_id) >= token(?) LIMIT ?";
        assert_eq!(parsed(scan), (Verb::Scan, vec![None, Some(0)]));
        let insert = "INSERT INTO \"ks\".\"t\" (y_id, \"field0\", \"field11\") VALUES (?, ?, ?)";
        assert_eq!(
            parsed(insert),
            (Verb::Insert, vec![None, Some(0), Some(11)])
        );
        let delete = "DELETE FROM \"ks\".\"t\" WHERE y_id = ?";
        assert_eq!(parsed(delete), (Verb::Delete, Vec::new()));
    }

    #[test]
    fn a_scan_goes_on_behind_its_last_page() {
        let data = Data::parse("SELECT y_id FROM t WHERE token(y_id) >= token(?) LIMIT ?");
        let mut bytes = vec![
            0, 1, 0x0D, 0, 2, 0, 0, 0, 1, b'a', 0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 3,
        ];
        bytes.extend_from_slice(&[0, 0, 0, 5, 0, 0, 0, 6, b'c']);
        let bound = data.bind(&mut Reader(&bytes), true).expect("a scan");
        let request = bound.request.expect("it is kept");
        let expected = "Scan { from: [99], behind: true, rows: 3, left: 3 }";
        assert_eq!(format!("{request:?}"), expected);
    }
}
