//! Protocol buffers by hand: what the hot path writes and reads without going through messages.

/// Tag of a length-delimited field.
pub(crate) const fn bytes_tag(field: u8) -> u8 {
    field << 3 | 2
}

/// Tag of a varint field.
pub(crate) const fn varint_tag(field: u8) -> u8 {
    field << 3
}

/// Bytes a varint takes.
pub(crate) const fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Append a varint.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Append a varint field (numbers up to 15).
pub(crate) fn put_number(out: &mut Vec<u8>, field: u8, value: u64) {
    out.push(varint_tag(field));
    put_varint(out, value);
}

/// Bytes of a varint field (numbers up to 15).
pub(crate) const fn number_len(value: u64) -> usize {
    1 + varint_len(value)
}

/// Append a bytes field (numbers up to 15).
pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    put_length(out, field, value.len());
    out.extend_from_slice(value);
}

/// Bytes of a bytes field, or of a message field, whose content has `len` bytes (numbers up to 15).
pub(crate) const fn bytes_len(len: usize) -> usize {
    1 + varint_len(len as u64) + len
}

/// Append the beginning of a message field whose content of `len` bytes follows.
pub(crate) fn put_length(out: &mut Vec<u8>, field: u8, len: usize) {
    out.push(bytes_tag(field));
    put_varint(out, len as u64);
}

/// A field as read.
pub(crate) enum Field<'a> {
    /// A varint.
    Number(u64),
    /// Length-delimited.
    Bytes(&'a [u8]),
    /// Of a fixed size: nothing we read.
    Other,
}

/// Reads fields one after another. Every method returns None where the bytes end too early or are no protocol buffer.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What was not read yet.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        // Tags, and nearly all lengths and numbers of an answer, are one byte.
        match self.rest.split_first() {
            Some((byte, rest)) if *byte < 0x80 => {
                self.rest = rest;
                Some((*byte).into())
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for (i, byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if *byte < 0x80 {
                self.rest = &self.rest[i + 1..];
                return Some(value);
            }
        }
        None
    }

    /// A length and that many bytes.
    pub(crate) fn delimited(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        self.take(len)
    }

    /// The next field: its number and content.
    pub(crate) fn next(&mut self) -> Option<(u64, Field<'a>)> {
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.take(8).map(|_| Field::Other)?,
            2 => Field::Bytes(self.delimited()?),
            5 => self.take(4).map(|_| Field::Other)?,
            _ => return None,
        };
        Some((tag >> 3, field))
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_are_read_back(value: u64) {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            prop_assert_eq!(out.len(), varint_len(value));
            let mut expected = Vec::new();
            prost::encoding::encode_varint(value, &mut expected);
            prop_assert_eq!(&out, &expected);
            let mut fields = Fields::new(&out);
            prop_assert_eq!(fields.varint(), Some(value));
            prop_assert!(fields.is_empty());
        }

        #[test]
        fn fields_are_read_back(number in 1_u8..16, value: u64, bytes: Vec<u8>) {
            let mut out = Vec::new();
            put_number(&mut out, number, value);
            prop_assert_eq!(out.len(), number_len(value));
            put_bytes(&mut out, number, &bytes);
            prop_assert_eq!(out.len(), number_len(value) + bytes_len(bytes.len()));
            let mut fields = Fields::new(&out);
            prop_assert!(matches!(fields.next(), Some((n, Field::Number(v))) if n == u64::from(number) && v == value));
            prop_assert!(matches!(fields.next(), Some((n, Field::Bytes(b))) if n == u64::from(number) && b == bytes));
            prop_assert!(fields.is_empty());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let mut fields = Fields::new(&bytes);
            while fields.next().is_some() {}
        }
    }
}
