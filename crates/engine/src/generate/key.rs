//! From a record's rank to its key, in YCSB's format: a prefix and a decimal number, padded with zeros to a least width.
//! Source: YCSB's `CoreWorkload.buildKeyName` and `Utils.fnvhash64`.

use crate::operation::{KEY_MAX, Key};
use crate::plan::{KeyOrder, KeyPlan};

/// Longest prefix in bytes.
pub const PREFIX_MAX: usize = 16;
/// Widest zero padding in digits.
pub const DIGITS_MAX: usize = KEY_MAX - PREFIX_MAX;

/// FNV-1a, 64 bits, over the eight bytes of `x`, least significant first.
#[inline]
pub const fn fnv1a64(x: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut rest = x;
    let mut byte = 0;
    while byte < 8 {
        hash = (hash ^ (rest & 0xff)).wrapping_mul(1_099_511_628_211);
        rest >>= 8;
        byte += 1;
    }
    hash
}

/// YCSB's `fnvhash64`: FNV-1a as a signed number, without its sign.
#[inline]
pub const fn ycsb_hash(x: u64) -> u64 {
    fnv1a64(x).cast_signed().unsigned_abs()
}

/// Writes keys of one format.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    start: Key,
    zero_padding: usize,
    hashed: bool,
}

impl Keys {
    /// The format of a checked plan; what is too long is cut.
    pub fn new(plan: &KeyPlan) -> Self {
        let prefix = plan.prefix.as_bytes();
        let length = prefix.len().min(PREFIX_MAX);
        let mut start = Key::default();
        start.bytes[..length].copy_from_slice(&prefix[..length]);
        start.len = length as u8;
        let zero_padding = (plan.zero_padding as usize).min(DIGITS_MAX);
        Self {
            start,
            zero_padding,
            hashed: plan.order == KeyOrder::Hashed,
        }
    }

    /// Write the key of `rank` into `key`.
    #[inline]
    pub fn write(&self, rank: u64, key: &mut Key) {
        let number = if self.hashed { ycsb_hash(rank) } else { rank };
        *key = self.start;
        let mut digits = [b'0'; DIGITS_MAX];
        let count = write_digits(number, &mut digits).max(self.zero_padding);
        let start = usize::from(self.start.len);
        key.bytes[start..start + count].copy_from_slice(&digits[DIGITS_MAX - count..]);
        key.len = (start + count) as u8;
    }
}

/// Write `number` in decimal at the end of `digits`, two digits at a time; how many there are.
#[inline]
fn write_digits(mut number: u64, digits: &mut [u8; DIGITS_MAX]) -> usize {
    let mut at = DIGITS_MAX;
    while number >= 10 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if number > 0 || at == DIGITS_MAX {
        at -= 1;
        digits[at] = b'0' + number as u8;
    }
    DIGITS_MAX - at
}

/// "00", "01" ... "99".
static PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut i = 0;
    while i < 100 {
        pairs[2 * i] = b'0' + (i / 10) as u8;
        pairs[2 * i + 1] = b'0' + (i % 10) as u8;
        i += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    fn key(order: KeyOrder, prefix: &str, zero_padding: u32, rank: u64) -> String {
        let plan = KeyPlan {
            order,
            prefix: prefix.into(),
            zero_padding,
        };
        let mut key = Key::default();
        Keys::new(&plan).write(rank, &mut key);
        key.as_str().to_owned()
    }

    #[test]
    fn hashed_keys_are_ycsbs() {
        let vectors = [
            (0, "user6284781860667377211"),
            (1, "user8517097267634966620"),
            (2, "user1820151046732198393"),
            (3, "user4052466453699787802"),
            (10, "user2408371864701034737"),
            (999, "user2071219101098386137"),
            (1_000_000, "user1011632231655643464"),
            (1_000_000_000, "user6103061475906567652"),
            ((1 << 31) - 1, "user627943977067101855"),
            (1 << 31, "user5860980763039959109"),
            (10_000_000_000, "user1201321332300452516"),
        ];
        for (rank, expected) in vectors {
            assert_eq!(key(KeyOrder::Hashed, "user", 1, rank), expected);
        }
    }

    #[test]
    fn ordered_keys_are_padded_ranks() {
        assert_eq!(key(KeyOrder::Ordered, "user", 1, 0), "user0");
        assert_eq!(key(KeyOrder::Ordered, "user", 0, 0), "user0");
        assert_eq!(key(KeyOrder::Ordered, "user", 8, 1234), "user00001234");
        assert_eq!(key(KeyOrder::Ordered, "", 3, 1234), "1234");
        let widest = key(KeyOrder::Ordered, "0123456789abcdef", 24, u64::MAX);
        assert_eq!(widest, "0123456789abcdef000018446744073709551615");
    }

    #[test]
    fn every_digit_count_is_written_as_the_standard_library_does() {
        for power in 0..20 {
            for rank in [10u64.pow(power) - 1, 10u64.pow(power), 10u64.pow(power) + 9] {
                assert_eq!(key(KeyOrder::Ordered, "k", 1, rank), format!("k{rank}"));
            }
        }
    }
}
