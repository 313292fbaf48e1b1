//! YCSB's values for `dataintegrity`: the key, a colon, the field's name, then again and again a colon and Java's hash of all
//! the text so far, that colon included; cut to the length. Source: YCSB's `CoreWorkload.buildDeterministicValue`.

use super::check::Check;

/// Longest decimal of a signed 32-bit number.
const DECIMAL_MAX: usize = 11;

/// Writes and judges such values.
#[derive(Debug, Clone)]
pub struct Integrity {
    /// Column names are this and the field's index.
    prefix: String,
    length: usize,
}

impl Integrity {
    /// Values of `length` bytes in fields called `prefix` and a number.
    pub fn new(prefix: &str, length: u32) -> Self {
        Self {
            prefix: prefix.to_owned(),
            length: length as usize,
        }
    }

    /// Append the value of `key`'s field `field`.
    pub fn write(&self, key: &[u8], field: u16, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(key);
        out.push(b':');
        out.extend_from_slice(self.prefix.as_bytes());
        out.extend_from_slice(Decimal::of(i32::from(field)).as_bytes());
        let (mut hash, mut hashed) = (Hash::default(), start);
        while out.len() - start < self.length {
            out.push(b':');
            hash.take(&out[hashed..]);
            hashed = out.len();
            out.extend_from_slice(Decimal::of(hash.0).as_bytes());
        }
        out.truncate(start + self.length);
    }

    /// Judge a value read from `key`'s field `field`: a sound one of another key or field is foreign.
    pub fn check(&self, key: &[u8], field: u16, value: &[u8]) -> Check {
        if value.len() != self.length {
            return Check::Corrupt;
        }
        if let Some(head) = self.own_head(key, field, value) {
            return if chained(value, head) {
                Check::Unnumbered
            } else {
                Check::Corrupt
            };
        }
        let colons = value.iter().enumerate().filter(|(_, byte)| **byte == b':');
        match colons.map(|(at, _)| at).nth(1) {
            Some(head) if chained(value, head) => Check::Foreign,
            _ => Check::Corrupt,
        }
    }

    /// Where the hashes begin, if the value begins with this key and field.
    fn own_head(&self, key: &[u8], field: u16, value: &[u8]) -> Option<usize> {
        let number = Decimal::of(i32::from(field));
        let parts = [key, b":", self.prefix.as_bytes(), number.as_bytes()];
        let mut at = 0;
        for part in parts {
            let rest = &value[at..];
            let seen = part.len().min(rest.len());
            if rest[..seen] != part[..seen] {
                return None;
            }
            at += seen;
        }
        // `field1` begins as `field10` does: after the head comes a colon or nothing.
        (at == value.len() || value[at] == b':').then_some(at)
    }
}

/// Whether all that follows `head` is what the text before it asks for.
fn chained(value: &[u8], head: usize) -> bool {
    let (mut hash, mut hashed, mut at) = (Hash::default(), 0, head);
    while at < value.len() {
        if value[at] != b':' {
            return false;
        }
        at += 1;
        hash.take(&value[hashed..at]);
        hashed = at;
        let decimal = Decimal::of(hash.0);
        let rest = &value[at..];
        let seen = decimal.as_bytes().len().min(rest.len());
        if rest[..seen] != decimal.as_bytes()[..seen] {
            return false;
        }
        at += seen;
    }
    true
}

/// Java's `String.hashCode` of ASCII text, piece by piece.
#[derive(Debug, Clone, Copy, Default)]
struct Hash(i32);

impl Hash {
    fn take(&mut self, text: &[u8]) {
        for byte in text {
            self.0 = self.0.wrapping_mul(31).wrapping_add(i32::from(*byte));
        }
    }
}

/// A number in decimal, in place.
struct Decimal {
    bytes: [u8; DECIMAL_MAX],
    start: usize,
}

impl Decimal {
    fn of(number: i32) -> Self {
        let mut new = Self {
            bytes: [b'0'; DECIMAL_MAX],
            start: DECIMAL_MAX,
        };
        let mut rest = number.unsigned_abs();
        while rest > 0 || new.start == DECIMAL_MAX {
            new.put(b'0' + (rest % 10) as u8);
            rest /= 10;
        }
        if number < 0 {
            new.put(b'-');
        }
        new
    }

    fn put(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests;
