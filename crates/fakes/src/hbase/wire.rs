//! Protocol buffers, as much of them as the calls need.

/// Appends fields.
#[derive(Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A number, or a bool.
    pub fn number(mut self, field: u8, value: u64) -> Self {
        self.varint(u64::from(field << 3));
        self.varint(value);
        self
    }

    /// Bytes, or a text.
    pub fn bytes(mut self, field: u8, value: impl AsRef<[u8]>) -> Self {
        self.varint(u64::from(field << 3 | 2));
        self.length_delimited(value.as_ref())
    }

    /// A message inside.
    pub fn inner(self, field: u8, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// A length and that many bytes, without a tag.
    pub fn length_delimited(mut self, value: &[u8]) -> Self {
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }
}

/// A field as read.
pub enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

/// Reads fields; None where the bytes end too early.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for (place, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * place);
            if *byte < 0x80 {
                self.0 = &self.0[place + 1..];
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A length and that many bytes.
    pub fn delimited(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        self.take(length)
    }

    fn next(&mut self) -> Option<(u64, Field<'a>)> {
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

    /// The first bytes field of that number.
    pub fn find(self, wanted: u64) -> Option<&'a [u8]> {
        self.all(wanted).next()
    }

    /// All bytes fields of that number.
    pub fn all(mut self, wanted: u64) -> impl Iterator<Item = &'a [u8]> {
        std::iter::from_fn(move || {
            loop {
                if let (number, Field::Bytes(bytes)) = self.next()?
                    && number == wanted
                {
                    return Some(bytes);
                }
            }
        })
    }

    /// The first number field of that number.
    pub fn find_number(mut self, wanted: u64) -> Option<u64> {
        loop {
            if let (number, Field::Number(value)) = self.next()?
                && number == wanted
            {
                return Some(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_again() {
        let inner = Message::default().bytes(1, "row").number(9, 300);
        let message = Message::default()
            .number(1, 7)
            .inner(2, &inner)
            .number(4, 1);
        assert_eq!(Reader(&message.0).find_number(1), Some(7));
        let found = Reader(&message.0).find(2).expect("the inner message");
        assert_eq!(Reader(found).find(1), Some(&b"row"[..]));
        assert_eq!(Reader(found).find_number(9), Some(300));
        assert!(Reader(&message.0).find(3).is_none());
        let twice = Message::default().bytes(1, "a").number(2, 1).bytes(1, "b");
        assert!(Reader(&twice.0).all(1).eq([b"a", b"b"]));
    }
}
