//! The hash by which a value knows its key.

use super::random::{GOLDEN, STEP, fold};

/// Seeded hash of a key: 16 bytes per multiplication (the way of wyhash).
#[inline]
pub fn hash(seed: u64, key: &[u8]) -> u64 {
    let mut hash = seed ^ (key.len() as u64).wrapping_mul(GOLDEN);
    let mut rest = key;
    while rest.len() > 16 {
        hash = absorb(hash, &rest[..8], &rest[8..16]);
        rest = &rest[16..];
    }
    let end = &key[key.len().saturating_sub(16)..];
    if let Some(tail) = end.first_chunk::<16>() {
        return absorb(hash, &tail[..8], &tail[8..]);
    }
    let mut padded = [0; 16];
    padded[..end.len()].copy_from_slice(end);
    absorb(hash, &padded[..8], &padded[8..])
}

/// Two more words of eight bytes.
#[inline]
fn absorb(hash: u64, a: &[u8], b: &[u8]) -> u64 {
    let word = |bytes: &[u8]| {
        bytes
            .first_chunk()
            .map_or(0, |chunk| u64::from_le_bytes(*chunk))
    };
    fold(word(a) ^ STEP, word(b) ^ hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_of_every_length_hash_apart() {
        let keys = (0..60).flat_map(|length| [b'a', b'b'].map(|byte| vec![byte; length]));
        let hashes: HashSet<u64> = keys.map(|key| hash(1, &key)).collect();
        assert_eq!(hashes.len(), 119); // the two empty keys are one
    }

    #[test]
    fn every_byte_and_the_seed_count() {
        let key = *b"user6284781860667377211-and-forty-bytes!";
        for length in 1..=key.len() {
            let whole = hash(1, &key[..length]);
            assert_ne!(whole, hash(2, &key[..length]));
            for at in 0..length {
                let mut other = key;
                other[at] ^= 1;
                assert_ne!(whole, hash(1, &other[..length]), "byte {at} of {length}");
            }
        }
    }
}
