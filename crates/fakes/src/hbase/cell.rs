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
