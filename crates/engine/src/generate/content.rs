//! The bytes of values: printable ASCII, either derived from 64 bits so that they can be derived again, or as YCSB's.

use super::header::SPACES;
use super::random::{Draw, SALT, STEP, fold};

/// Derived content: eight printable bytes from each step of wyrand's counter.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    base: u64,
    mask: u64,
}

/// Bytes written at a time.
const CHUNK: usize = 32;

/// The mask that leaves `bits` random bits (1 ..= 6) in each byte.
pub const fn mask(bits: u32) -> u64 {
    0x0101_0101_0101_0101 * ((1 << bits) - 1)
}

#[expect(
    clippy::inline_always,
    reason = "of every value of an operation: a call takes as long as what is called"
)]
impl Content {
    /// The content that `base` stands for, its words cut by a [`mask`].
    pub const fn new(base: u64, mask: u64) -> Self {
        Self { base, mask }
    }

    /// Fill `out`.
    #[inline(always)]
    pub fn write(self, out: &mut [u8]) {
        // Words of one chunk wait for none of the others; a chunk of one word would mostly count.
        let (chunks, rest) = out.as_chunks_mut::<CHUNK>();
        let mut words = self;
        for chunk in chunks {
            let (places, _) = chunk.as_chunks_mut::<8>();
            for (index, place) in places.iter_mut().enumerate() {
                *place = words.word(index);
            }
            words = words.after(CHUNK / 8);
        }
        let (places, tail) = rest.as_chunks_mut::<8>();
        for (index, place) in places.iter_mut().enumerate() {
            *place = words.word(index);
        }
        if !tail.is_empty() {
            tail.copy_from_slice(&words.word(places.len())[..tail.len()]);
        }
    }

    /// Whether `bytes` are what [`Content::write`] writes.
    #[inline]
    pub fn matches(self, bytes: &[u8]) -> bool {
        let (chunks, rest) = bytes.as_chunks::<CHUNK>();
        let mut words = self;
        let mut difference = 0;
        for chunk in chunks {
            let (places, _) = chunk.as_chunks::<8>();
            for (index, place) in places.iter().enumerate() {
                difference |= u64::from_le_bytes(*place) ^ u64::from_le_bytes(words.word(index));
            }
            words = words.after(CHUNK / 8);
        }
        let (places, tail) = rest.as_chunks::<8>();
        for (index, place) in places.iter().enumerate() {
            difference |= u64::from_le_bytes(*place) ^ u64::from_le_bytes(words.word(index));
        }
        difference == 0 && (tail.is_empty() || tail == &words.word(places.len())[..tail.len()])
    }

    /// Eight bytes of the content.
    #[inline(always)]
    fn word(self, index: usize) -> [u8; 8] {
        let counter = self.after(index + 1).base;
        apart((fold(counter, counter ^ SALT) & self.mask) + SPACES).to_le_bytes()
    }

    /// The content that follows on `words` words.
    #[inline(always)]
    const fn after(self, words: usize) -> Self {
        let base = self.base.wrapping_add(STEP.wrapping_mul(words as u64));
        Self { base, ..self }
    }
}

/// The same word, of which the compiler knows nothing: it would pair words in vector registers, and the way of a product
/// there takes longer than the pair saves.
#[expect(
    clippy::inline_always,
    reason = "of every value of an operation: a call takes as long as what is called"
)]
#[inline(always)]
fn apart(word: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut word = word;
        // SAFETY: there is no instruction.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(target_arch = "x86_64"))]
    word
}

/// Fill `out` as YCSB's `RandomByteIterator` does: six bytes from 32 bits, cut by 31, 63, 95, 31, 63, 95.
#[inline]
pub fn write_ycsb(draw: &mut Draw, out: &mut [u8]) {
    for twelve in out.chunks_mut(12) {
        let bits = draw.next_u64();
        let (first, second) = twelve.split_at_mut(twelve.len().min(6));
        first.copy_from_slice(&ycsb_bytes(bits as u32)[..first.len()]);
        second.copy_from_slice(&ycsb_bytes((bits >> 32) as u32)[..second.len()]);
    }
}

/// Six printable bytes of 32 bits, as YCSB's; neighbours share bits where a mask is wider than the step.
#[inline]
const fn ycsb_bytes(bits: u32) -> [u8; 6] {
    [
        b' ' + (bits & 0x1f) as u8,
        b' ' + (bits >> 5 & 0x3f) as u8,
        b' ' + (bits >> 10 & 0x5f) as u8,
        b' ' + (bits >> 15 & 0x1f) as u8,
        b' ' + (bits >> 20 & 0x3f) as u8,
        b' ' + (bits >> 25 & 0x5f) as u8,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::random::Stream;
    use super::*;

    #[test]
    fn content_is_derived_again_at_every_length() {
        for length in 0..70 {
            let mut bytes = vec![0; length];
            Content::new(99, mask(6)).write(&mut bytes);
            assert!(Content::new(99, mask(6)).matches(&bytes));
            for at in 0..length {
                bytes[at] ^= 1;
                assert!(
                    !Content::new(99, mask(6)).matches(&bytes),
                    "length {length} byte {at}"
                );
                bytes[at] ^= 1;
            }
        }
    }

    #[test]
    fn bits_per_byte_limit_the_alphabet() {
        for bits in 1..=6 {
            let mut bytes = vec![0; 10_000];
            Content::new(7, mask(bits)).write(&mut bytes);
            let distinct: std::collections::HashSet<u8> = bytes.iter().copied().collect();
            assert_eq!(distinct.len(), 1 << bits);
            assert!(
                bytes
                    .iter()
                    .all(|&byte| (0x20..0x20 + (1 << bits)).contains(&byte))
            );
        }
    }

    #[test]
    fn ycsb_bytes_lie_under_their_masks() {
        assert_eq!(&ycsb_bytes(0), b"      ");
        assert_eq!(
            ycsb_bytes(u32::MAX),
            [31, 63, 95, 31, 63, 95].map(|mask| b' ' + mask)
        );
        let mut bytes = [0; 100];
        write_ycsb(&mut Draw::new(1, Stream::Value, 1), &mut bytes);
        for (at, byte) in bytes.into_iter().enumerate() {
            let mask = [31, 63, 95, 31, 63, 95][at % 6];
            assert_eq!((byte - b' ') & !mask, 0);
        }
    }
}
