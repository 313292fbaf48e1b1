//! A row as the embedded store keeps it: one value per record, all its fields inside.
//!
//! For each field, in order: write timestamp (microseconds, i64 LE), length (u32 LE), bytes. A field never written has
//! the length [`MISSING`]. A write replaces a field only if its timestamp is not older, so that the result does not depend
//! on which client's thread came first.

use crate::operation::Operation;

/// Length of a field that was never written, or was deleted.
const MISSING: u32 = u32::MAX;
/// Bytes before a field's own.
const HEADER: usize = 12;

/// One field of a stored row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// When it was written, microseconds.
    pub timestamp_us: i64,
    /// Its value, unless it is missing.
    pub value: Option<&'a [u8]>,
}

/// Never written: older than every write.
const NEVER: Field<'static> = Field {
    timestamp_us: i64::MIN,
    value: None,
};

/// Walks the fields of a row; stops early at bytes that are not a row.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The fields of `row`.
    pub fn of(row: &'a [u8]) -> Self {
        Self(row)
    }

    /// Whether bytes remain that are no field: the row is damaged.
    pub fn damaged(&self) -> bool {
        !self.0.is_empty()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let (header, rest) = self.0.split_at_checked(HEADER)?;
        let timestamp_us = i64::from_le_bytes(header[..8].try_into().ok()?);
        let length = u32::from_le_bytes(header[8..].try_into().ok()?);
        if length == MISSING {
            self.0 = rest;
            return Some(Field {
                timestamp_us,
                value: None,
            });
        }
        let (value, rest) = rest.split_at_checked(length as usize)?;
        self.0 = rest;
        Some(Field {
            timestamp_us,
            value: Some(value),
        })
    }
}

fn append(field: Field<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&field.timestamp_us.to_le_bytes());
    let length = field.value.map_or(MISSING, |value| value.len() as u32);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(field.value.unwrap_or_default());
}

/// The newer of two; the write in hand wins a tie, as a repeated attempt must.
fn newer<'a>(old: Field<'a>, new: Field<'a>) -> Field<'a> {
    if new.timestamp_us >= old.timestamp_us {
        new
    } else {
        old
    }
}

/// Write into `out` the row of `count` fields that `old` becomes by `op`'s values.
pub(super) fn write(old: &[u8], op: &Operation, count: usize, out: &mut Vec<u8>) {
    out.clear();
    let mut old = Fields::of(old);
    let mut written = op.written().peekable();
    for index in 0..count {
        let before = old.next().unwrap_or(NEVER);
        let after = match written.next_if(|&(field, _)| usize::from(field) == index) {
            Some((_, value)) => newer(
                before,
                Field {
                    timestamp_us: op.timestamp_us,
                    value: Some(value),
                },
            ),
            None => before,
        };
        append(after, out);
    }
}

/// Write into `out` what a delete at `timestamp_us` leaves of `old`: fields written later. False if that is nothing.
pub(super) fn delete(old: &[u8], timestamp_us: i64, out: &mut Vec<u8>) -> bool {
    out.clear();
    let deleted = Field {
        timestamp_us,
        value: None,
    };
    let mut remains = false;
    for before in Fields::of(old) {
        let after = newer(before, deleted);
        remains |= after.value.is_some();
        append(after, out);
    }
    remains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::FieldSet;

    fn operation(fields: FieldSet, timestamp_us: i64, values: &[&[u8]]) -> Operation {
        let mut op = Operation {
            fields,
            timestamp_us,
            ..Operation::default()
        };
        for value in values {
            op.values.extend_from_slice(value);
            op.ends.push(op.values.len() as u32);
        }
        op
    }

    fn values(row: &[u8]) -> Vec<Option<&[u8]>> {
        Fields::of(row).map(|field| field.value).collect()
    }

    #[test]
    fn a_written_row_is_read_back() {
        let mut row = Vec::new();
        write(
            &[],
            &operation(FieldSet::All, 5, &[b"a", b"", b"ccc"]),
            3,
            &mut row,
        );
        assert_eq!(
            values(&row),
            [Some(&b"a"[..]), Some(&b""[..]), Some(&b"ccc"[..])]
        );
        let mut walk = Fields::of(&row);
        walk.by_ref().for_each(drop);
        assert!(!walk.damaged());
    }

    #[test]
    fn the_order_of_writes_does_not_matter() {
        let whole = operation(FieldSet::All, 5, &[b"a", b"b"]);
        let part = operation(FieldSet::One(1), 9, &[b"B"]);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (one, other, out) in [(&whole, &part, &mut first), (&part, &whole, &mut second)] {
            let mut between = Vec::new();
            write(&[], one, 2, &mut between);
            write(&between, other, 2, out);
        }
        assert_eq!(first, second);
        assert_eq!(values(&first), [Some(&b"a"[..]), Some(&b"B"[..])]);
    }

    #[test]
    fn a_delete_leaves_what_was_written_later() {
        let (mut row, mut left) = (Vec::new(), Vec::new());
        write(
            &[],
            &operation(FieldSet::One(0), 9, &[b"late"]),
            2,
            &mut row,
        );
        assert!(delete(&row, 7, &mut left));
        assert_eq!(values(&left), [Some(&b"late"[..]), None]);
        assert!(!delete(&row, 9, &mut left));
    }

    #[test]
    fn a_cut_row_is_damaged() {
        let mut row = Vec::new();
        write(&[], &operation(FieldSet::All, 5, &[b"abc"]), 1, &mut row);
        let mut walk = Fields::of(&row[..row.len() - 1]);
        assert_eq!(walk.next(), None);
        assert!(walk.damaged());
    }
}
