use super::*;
use crate::plan::Length;

const KEY: &[u8] = b"user6284781860667377211";

fn values(seed: u64, length: Length) -> Values {
    Values::new(
        seed,
        &Fields {
            length,
            ..Fields::default()
        },
        ValueKind::Checked,
    )
}

fn hundred(seed: u64) -> Values {
    values(seed, Length::Constant { length: 100 })
}

fn written(values: &Values, key: &[u8], field: u16, number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    values.write(key, field, number, &mut out);
    out
}

#[test]
fn what_is_written_is_good() {
    for length in [20, 21, 27, 28, 29, 100, 1000] {
        let values = values(1, Length::Constant { length });
        for number in [0, 1, 1 << 40, LOADED, LOADED | 0x77, u64::MAX] {
            let value = written(&values, KEY, 3, number);
            assert_eq!(value.len(), length as usize);
            assert!(value.iter().all(|byte| (0x20..0x60).contains(byte)));
            assert_eq!(values.check(KEY, 3, &value), Check::Good { number });
        }
    }
}

#[test]
fn a_value_is_appended_and_pure() {
    let values = hundred(1);
    let mut out = b"before".to_vec();
    values.row(KEY).write(2, 9, &mut out);
    assert_eq!(&out[..6], b"before");
    assert_eq!(out[6..], written(&values, KEY, 2, 9));
    assert_ne!(
        written(&values, KEY, 2, 9)[20..],
        written(&values, KEY, 2, 10)[20..]
    );
}

#[test]
fn every_flipped_bit_is_corrupt() {
    let values = hundred(1);
    let mut value = written(&values, KEY, 0, 12_345);
    for bit in 0..value.len() * 8 {
        value[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(values.check(KEY, 0, &value), Check::Corrupt, "bit {bit}");
        value[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn every_other_length_is_corrupt() {
    for law in [
        Length::Constant { length: 100 },
        Length::Uniform { min: 20, max: 100 },
    ] {
        let values = values(1, law);
        let mut value = written(&values, KEY, 0, 5);
        for length in 0..value.len() {
            assert_eq!(
                values.check(KEY, 0, &value[..length]),
                Check::Corrupt,
                "{length}"
            );
        }
        value.push(b' ');
        assert_eq!(values.check(KEY, 0, &value), Check::Corrupt);
    }
}

#[test]
fn a_header_with_anothers_content_is_corrupt() {
    let values = hundred(1);
    let mut value = written(&values, KEY, 0, 5);
    value[20..].copy_from_slice(&written(&values, KEY, 0, 6)[20..]);
    assert_eq!(values.check(KEY, 0, &value), Check::Corrupt);
}

#[test]
fn a_value_of_another_key_field_or_seed_is_foreign() {
    let values = hundred(1);
    for rank in 0..1000 {
        let other = format!("user{rank}");
        assert_eq!(
            values.check(KEY, 0, &written(&values, other.as_bytes(), 0, 5)),
            Check::Foreign
        );
    }
    for field in 1..4096 {
        assert_eq!(
            values.check(KEY, 0, &written(&values, KEY, field, 5)),
            Check::Foreign
        );
    }
    for seed in 2..1000 {
        assert_eq!(
            values.check(KEY, 0, &written(&hundred(seed), KEY, 0, 5)),
            Check::Foreign
        );
    }
}

#[test]
fn lengths_follow_the_write_number() {
    let values = values(1, Length::Uniform { min: 20, max: 29 });
    let mut seen = [0u32; 10];
    for number in 0..10_000 {
        let value = written(&values, KEY, 1, number);
        assert_eq!(values.check(KEY, 1, &value), Check::Good { number });
        seen[value.len() - 20] += 1;
    }
    assert!(
        seen.iter().all(|&count| (850..1150).contains(&count)),
        "{seen:?}"
    );
}

#[test]
fn short_and_ycsb_values_are_not_judged() {
    let short = values(1, Length::Uniform { min: 1, max: 100 });
    let ycsb = Values::new(1, &Fields::default(), ValueKind::Ycsb);
    for values in [short, ycsb] {
        assert!(!values.verifiable());
        let value = written(&values, KEY, 0, 5);
        assert!(value.is_ascii() && (1..=100).contains(&value.len()));
        assert_eq!(values.check(KEY, 0, &value), Check::Unnumbered);
    }
    assert!(hundred(1).verifiable());
}
