use super::*;

const KEY: &str = "user6284781860667377211";

fn value(key: &str, field: u16, length: u32) -> Vec<u8> {
    let mut out = b"before".to_vec();
    Integrity::new("field", length).write(key.as_bytes(), field, &mut out);
    out.split_off(6)
}

fn verdict(field: u16, value: &[u8]) -> Check {
    Integrity::new("field", 100).check(KEY.as_bytes(), field, value)
}

/// What `CoreWorkload.buildDeterministicValue` of YCSB 0.17.0 returned.
#[test]
fn values_are_those_of_ycsb() {
    let vectors = [
        (
            KEY,
            0,
            "user6284781860667377211:field0:-56807877:2032869390:-165488160:1762371712:-169193395:-1039977118:-10",
        ),
        (
            "user8517097267634966620",
            9,
            "user8517097267634966620:field9:-557952544:-154748015:-999445747:",
        ),
        (
            "user8517097267634966620",
            10,
            "user8517097267634966620:field10",
        ),
        ("user1", 0, "user1"),
        ("user1", 0, "user1:field0"),
        ("user1", 0, "user1:field0:"),
    ];
    for (key, field, expected) in vectors {
        let found = value(key, field, expected.len() as u32);
        assert_eq!(String::from_utf8_lossy(&found), expected);
    }
}

#[test]
fn what_is_written_is_sound_at_every_length() {
    for length in 1..200 {
        let integrity = Integrity::new("field", length);
        for field in [0, 9, 10, 4095] {
            let found = integrity.check(KEY.as_bytes(), field, &value(KEY, field, length));
            assert_eq!(found, Check::Unnumbered, "length {length} field {field}");
        }
    }
}

#[test]
fn every_flipped_bit_and_every_other_length_is_found() {
    let mut sound = value(KEY, 3, 100);
    for bit in 0..sound.len() * 8 {
        sound[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(verdict(3, &sound), Check::Corrupt, "bit {bit}");
        sound[bit / 8] ^= 1 << (bit % 8);
    }
    for length in 0..100 {
        assert_eq!(verdict(3, &sound[..length]), Check::Corrupt, "{length}");
    }
    sound.push(b'1');
    assert_eq!(verdict(3, &sound), Check::Corrupt);
}

#[test]
fn a_value_of_another_key_or_field_is_foreign() {
    assert_eq!(verdict(3, &value("user1", 3, 100)), Check::Foreign);
    for field in (0..200).filter(|field| *field != 1) {
        assert_eq!(verdict(1, &value(KEY, field, 100)), Check::Foreign);
    }
    assert_eq!(
        verdict(10, &value(KEY, 1, 100)),
        Check::Foreign,
        "field1 is how field10 begins"
    );
}

#[test]
fn the_least_number_is_written_as_java_does() {
    assert_eq!(Decimal::of(i32::MIN).as_bytes(), b"-2147483648");
    assert_eq!(Decimal::of(0).as_bytes(), b"0");
    assert_eq!(Decimal::of(-10).as_bytes(), b"-10");
}
