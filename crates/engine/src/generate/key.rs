//! From a record's rank to its key, in YCSB's format: a prefix and a decimal number, padded with zeros to a least width.
//! Source: YCSB's `CoreWorkload.buildKeyName` and `Utils.fnvhash64`.

use crate::operation::{DIGITS_MAX, Key, PREFIX_MAX};
use crate::plan::{KeyOrder, KeyPlan};

const FNV_PRIME: u64 = 1_099_511_628_211;

/// FNV-1a, 64 bits, over the eight bytes of `x`, least significant first.
#[inline]
pub const fn fnv1a64(x: u64) -> u64 {
    let low = fnv1a_bytes(0xcbf2_9ce4_8422_2325, x as u32);
    if x >> 32 == 0 {
        // Four bytes of zero: each only multiplies.
        return low.wrapping_mul(FNV_PRIME.wrapping_pow(4));
    }
    fnv1a_bytes(low, (x >> 32) as u32)
}

#[inline]
const fn fnv1a_bytes(mut hash: u64, x: u32) -> u64 {
    let bytes = x.to_le_bytes();
    let mut byte = 0;
    while byte < bytes.len() {
        hash = (hash ^ bytes[byte] as u64).wrapping_mul(FNV_PRIME);
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
    prefix: [u8; PREFIX_MAX],
    /// Bytes of the prefix.
    start: usize,
    zero_padding: usize,
    hashed: bool,
}

impl Keys {
    /// The format of a checked plan; what is too long is cut.
    pub fn new(plan: &KeyPlan) -> Self {
        let start = plan.prefix.len().min(PREFIX_MAX);
        let mut prefix = [0; PREFIX_MAX];
        prefix[..start].copy_from_slice(&plan.prefix.as_bytes()[..start]);
        let zero_padding = (plan.zero_padding as usize).min(DIGITS_MAX);
        Self {
            prefix,
            start,
            zero_padding,
            hashed: plan.order == KeyOrder::Hashed,
        }
    }

    /// The number in the key of `rank`.
    #[inline]
    pub const fn number(&self, rank: u64) -> u64 {
        if self.hashed { ycsb_hash(rank) } else { rank }
    }

    /// Write the key that has `number` into `key`.
    #[inline]
    pub fn write(&self, number: u64, key: &mut Key) {
        let digits = Digits::of(number);
        let count = digits.count().max(self.zero_padding);
        // All of the prefix's room, and three words whatever the length: what lies behind the key's end counts for nothing.
        key.bytes[..PREFIX_MAX].copy_from_slice(&self.prefix);
        let (places, _) = key.bytes[self.start..].as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(digits.last(count)) {
            *place = word.to_le_bytes();
        }
        key.len = (self.start + count) as u8;
    }
}

/// Eight digits of a decimal number.
const EIGHT: u64 = 100_000_000;
/// Eight zeros.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// A number in [`DIGITS_MAX`] decimal digits, zeros before them: three words, the first character lowest in the first. They are
/// shifted in registers, since bytes that were just stored are slow to load from another place.
struct Digits([u64; 3]);

impl Digits {
    #[inline]
    const fn of(number: u64) -> Self {
        let high = number / EIGHT;
        Self([
            eight_digits(high / EIGHT),
            eight_digits(high % EIGHT),
            eight_digits(number % EIGHT),
        ])
    }

    /// Digits without the zeros before them, at least one.
    #[inline]
    const fn count(&self) -> usize {
        let [a, b, c] = self.0;
        let (word, before) = if a != ZEROS {
            (a, 0)
        } else if b != ZEROS {
            (b, 8)
        } else {
            (c | 1 << 63, 16) // the last digit counts also when it is a zero
        };
        let zeros = ((word ^ ZEROS).trailing_zeros() / 8) as usize;
        DIGITS_MAX - before - zeros
    }

    /// The last `count` digits, 1 ..= [`DIGITS_MAX`], then bytes of no meaning.
    #[inline]
    const fn last(&self, count: usize) -> [u64; 3] {
        let skip = DIGITS_MAX - count;
        let [a, b, c] = self.0;
        let (a, b, c) = match skip / 8 {
            0 => (a, b, c),
            1 => (b, c, 0),
            _ => (c, 0, 0),
        };
        let low = (skip % 8 * 8) as u32;
        let high = 63 - low; // and one more, since a shift by 64 is none
        [
            a >> low | b << 1 << high,
            b >> low | c << 1 << high,
            c >> low,
        ]
    }
}

/// The digits of a number below 10^8, most significant first: halved three times, all parts of a step at once.
#[inline]
const fn eight_digits(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    // x * 10486 / 2^20 is x / 100 for x below 10^4, y * 103 / 2^10 is y / 10 for y below 100.
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    let ones = tens | (twos - tens * 10) << 8;
    ones | ZEROS
}

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
        let keys = Keys::new(&plan);
        keys.write(keys.number(rank), &mut key);
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
    fn hashes_of_small_and_large_numbers_are_those_of_all_eight_bytes() {
        let literal = |x: u64| {
            let bytes = x.to_le_bytes();
            bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
            })
        };
        for power in 0..64 {
            for x in [(1 << power) - 1, 1 << power, (1 << power) + 1] {
                assert_eq!(fnv1a64(x), literal(x), "{x}");
            }
        }
    }

    #[test]
    fn every_eight_digits_are_written() {
        for number in (0..EIGHT)
            .step_by(97)
            .chain(EIGHT - 10_100..EIGHT)
            .chain(0..10_100)
        {
            let expected = format!("{number:08}");
            assert_eq!(eight_digits(number).to_le_bytes(), expected.as_bytes());
        }
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
