//! Cells as KeyValueCodec sends them: lengths, row, family, qualifier, timestamp, type, value, all big-endian.

const PUT: u8 = 4;
const TIMESTAMP: i64 = 1;

/// Append a cell to a block.
pub fn write(out: &mut Vec<u8>, row: &[u8], family: &[u8], qualifier: &[u8], value: &[u8]) {
    let key = 2 + row.len() + 1 + family.len() + qualifier.len() + 8 + 1;
    for length in [8 + key + value.len(), key, value.len()] {
        out.extend_from_slice(&(length as u32).to_be_bytes());
    }
    out.extend_from_slice(&(row.len() as u16).to_be_bytes());
    out.extend_from_slice(row);
    out.push(family.len() as u8);
    out.extend_from_slice(family);
    out.extend_from_slice(qualifier);
    out.extend_from_slice(&TIMESTAMP.to_be_bytes());
    out.push(PUT);
    out.extend_from_slice(value);
}

/// A cell as read.
pub struct Cell<'a> {
    pub qualifier: &'a [u8],
    pub timestamp: i64,
    pub value: &'a [u8],
}

/// Take the cell at the start of a block; None where the bytes end too early.
pub fn read<'a>(block: &mut &'a [u8]) -> Option<Cell<'a>> {
    let mut cell = part::<4>(block)?;
    let (key, value) = (length::<4>(&mut cell)?, length::<4>(&mut cell)?);
    let (mut key, rest) = cell.split_at_checked(key)?;
    let _row = part::<2>(&mut key)?;
    let _family = part::<1>(&mut key)?;
    let (key, _type) = key.split_at_checked(key.len().checked_sub(1)?)?;
    let (qualifier, timestamp) = key.split_last_chunk::<8>()?;
    Some(Cell {
        qualifier,
        timestamp: i64::from_be_bytes(*timestamp),
        value: rest.get(..value)?,
    })
}

/// A length of `N` bytes.
fn length<const N: usize>(bytes: &mut &[u8]) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    let digits = length.iter();
    Some(digits.fold(0, |length, byte| length << 8 | usize::from(*byte)))
}

/// A length of `N` bytes and that many.
fn part<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = length::<N>(bytes)?;
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_back_one_after_another_and_not_if_they_are_cut() {
        let mut block = Vec::new();
        write(&mut block, b"row", b"family", b"field0", b"first");
        write(&mut block, b"row", b"family", b"", b"");
        let mut rest = &block[..];
        let first = read(&mut rest).expect("a cell");
        assert_eq!(
            (first.qualifier, first.value),
            (&b"field0"[..], &b"first"[..])
        );
        assert_eq!(first.timestamp, TIMESTAMP);
        let second = read(&mut rest).expect("a cell");
        assert_eq!(
            (second.qualifier.len(), second.value.len(), rest.len()),
            (0, 0, 0)
        );
        assert!(read(&mut &block[..20]).is_none() && read(&mut rest).is_none());
    }
}
