//! A checked value's first 20 bytes, which say who wrote it: 12 characters of write number, 4 of identity, 4 of checksum.
//!
//! A character is a space plus 6 bits, so a header is printable ASCII (0x20 ..= 0x5f) as the content is.

use super::random::{SALT, STEP, fold};

/// Bytes of a header.
pub const HEADER_LEN: usize = 20;
/// Bits of an identity, and of a checksum.
pub const IDENTITY_BITS: u32 = 24;
/// Eight spaces.
pub const SPACES: u64 = 0x2020_2020_2020_2020;

const WORD_BITS: u32 = 48;
const WORD_MASK: u64 = (1 << WORD_BITS) - 1;
/// Of a word's eight characters these have bits that no six of them use.
const STRAY_BITS: u64 = 0xc0c0_c0c0_c0c0_c0c0;

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of the write.
    pub number: u64,
    /// Hash of seed, key and field, [`IDENTITY_BITS`] wide.
    pub identity: u64,
}

/// What the headers of one write's values, all of one length, have in common.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    number: u64,
    length: usize,
    /// The number's first eight characters, and its last four.
    text: (u64, u32),
}

impl Stamp {
    /// Of write `number`, for values of `length` bytes.
    #[inline]
    pub const fn new(number: u64, length: usize) -> Self {
        let text = (
            to_text(number & WORD_MASK),
            to_text(number >> WORD_BITS) as u32,
        );
        Self {
            number,
            length,
            text,
        }
    }

    /// Write the header of the value with this identity.
    #[inline]
    pub fn write(self, identity: u64, header: &mut [u8; HEADER_LEN]) {
        let checksum = checksum(self.number, identity, self.length);
        header[..8].copy_from_slice(&self.text.0.to_le_bytes());
        header[8..12].copy_from_slice(&self.text.1.to_le_bytes());
        header[12..].copy_from_slice(&to_text(identity | checksum << IDENTITY_BITS).to_le_bytes());
    }
}

impl Header {
    /// The header of `value`, if it is sound: printable, and its checksum fits it and the value's length.
    #[inline]
    pub fn decode(value: &[u8]) -> Option<Self> {
        let low = from_text(u64::from_le_bytes(*value.first_chunk()?))?;
        let high = u32::from_le_bytes(*value.get(8..)?.first_chunk()?);
        let high = from_text(u64::from(high) | SPACES << 32)?;
        let last = from_text(u64::from_le_bytes(*value.get(12..)?.first_chunk()?))?;
        let number = low | high << WORD_BITS;
        let identity = last & ((1 << IDENTITY_BITS) - 1);
        let sound = high >> (u64::BITS - WORD_BITS) == 0
            && last >> IDENTITY_BITS == checksum(number, identity, value.len());
        sound.then_some(Self { number, identity })
    }
}

/// 24 bits over number, identity and the value's length; no seed, so that foreign headers are seen to be sound.
#[inline]
const fn checksum(number: u64, identity: u64, length: usize) -> u64 {
    let rest = (identity << 32 | length as u64) ^ SALT;
    fold(number ^ STEP, rest) >> (u64::BITS - IDENTITY_BITS)
}

/// 48 bits as eight characters, six bits each, least significant first.
#[inline]
const fn to_text(x: u64) -> u64 {
    let x = x & 0x0000_0000_00ff_ffff | (x & 0x0000_ffff_ff00_0000) << 8;
    let x = x & 0x0000_0fff_0000_0fff | (x & 0x00ff_f000_00ff_f000) << 4;
    let x = x & 0x003f_003f_003f_003f | (x & 0x0fc0_0fc0_0fc0_0fc0) << 2;
    x + SPACES
}

/// The inverse of [`to_text`]; nothing if a byte is none of its characters.
#[inline]
const fn from_text(text: u64) -> Option<u64> {
    let x = text.wrapping_sub(SPACES);
    if x & STRAY_BITS != 0 {
        return None;
    }
    let x = x & 0x003f_003f_003f_003f | (x & 0x3f00_3f00_3f00_3f00) >> 2;
    let x = x & 0x0000_0fff_0000_0fff | (x & 0x0fff_0000_0fff_0000) >> 4;
    Some(x & 0x0000_0000_00ff_ffff | (x & 0x00ff_ffff_0000_0000) >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};

    fn encoded(header: Header, length: usize) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        Stamp::new(header.number, length).write(header.identity, &mut bytes);
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]
        #[test]
        fn what_is_encoded_is_decoded(number: u64, identity in 0u64..1 << IDENTITY_BITS, more in 0usize..200) {
            let header = Header { number, identity };
            let mut value = encoded(header, HEADER_LEN + more).to_vec();
            prop_assert!(value.iter().all(|byte| (0x20..0x60).contains(byte)));
            value.resize(HEADER_LEN + more, b' ');
            prop_assert_eq!(Header::decode(&value), Some(header));
            value.push(b' ');
            prop_assert_eq!(Header::decode(&value), None);
        }

        #[test]
        fn no_bit_may_flip(number: u64, identity in 0u64..1 << IDENTITY_BITS, bit in 0..HEADER_LEN * 8) {
            let mut value = encoded(Header { number, identity }, HEADER_LEN);
            value[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(Header::decode(&value), None);
        }
    }

    #[test]
    fn too_short_a_value_has_no_header() {
        let header = Header {
            number: 1,
            identity: 2,
        };
        let value = encoded(header, HEADER_LEN);
        assert!((0..HEADER_LEN).all(|length| Header::decode(&value[..length]).is_none()));
    }
}
