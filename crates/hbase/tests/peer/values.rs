//! Bytes of every kind, in both directions: binary keys, empty values, a cell of 10 MB, a row of 10,000 columns.

use super::java::{self, hex};
use super::*;

/// Names and values that a careless encoding would spoil.
const BYTES: [&[u8]; 8] = [
    b"\x00",
    b"\xff",
    b"\x00\x00",
    b"\xff\xff\xff",
    b"a\x00b",
    b"\x7f\x80\x81",
    b"plain",
    b"\t\n:,\\ \"\xc3\xa9",
];

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn binary_keys_qualifiers_and_values_pass_both_ways() {
    let bench = Bench::new("peer_binary", 1, &[b"\x00\x01", b"\x80", b"\xff\xff"]).await;
    for (number, row) in BYTES.into_iter().enumerate() {
        for (order, qualifier) in BYTES.into_iter().enumerate() {
            let value = BYTES[(number + order) % BYTES.len()];
            let timestamp = Some((number * 100 + order + 1) as i64);
            if (number + order) % 2 == 0 {
                bench.put(row, qualifier, timestamp, value).await;
            } else {
                bench.java_put(row, qualifier, timestamp, value);
            }
        }
        let mut expected: Vec<Cell> = (0..BYTES.len())
            .map(|order| Cell {
                row: row.to_vec(),
                family: FAMILY.to_vec(),
                qualifier: BYTES[order].to_vec(),
                timestamp: (number * 100 + order + 1) as i64,
                value: BYTES[(number + order) % BYTES.len()].to_vec(),
            })
            .collect();
        expected.sort();
        assert_eq!(bench.both(row, 1).await, expected);
    }
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn empty_values_and_qualifiers_are_there() {
    let bench = Bench::new("peer_empty", 1, &[]).await;
    bench.put(b"ours", b"", Some(1), b"").await;
    bench.put(b"ours", b"q", Some(1), b"").await;
    bench.java_put(b"java", b"", Some(1), b"");
    bench.java_put(b"java", b"q", Some(1), b"");
    for row in [b"ours", b"java"] {
        let found = bench.both(row, 1).await;
        assert_eq!(
            found
                .iter()
                .map(|cell| &*cell.qualifier)
                .collect::<Vec<_>>(),
            [&b""[..], b"q"]
        );
        assert!(found.iter().all(|cell| cell.value.is_empty()));
    }
    assert!(bench.both(b"none", 1).await.is_empty());
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn a_cell_of_ten_megabytes_passes_both_ways() {
    let bench = Bench::new("peer_large", 1, &[]).await;
    let (first, second) = (noise(10_000_000, 1), noise(10_000_000, 2));
    bench.put(b"ours", b"q", Some(1), &first).await;
    bench.java_put(b"java", b"q", Some(1), &second);
    assert!(
        bench.javas(b"ours", 1)[0].value == first,
        "Java read other bytes than we wrote"
    );
    assert!(
        bench.ours(b"java", 1).await[0].value == second,
        "we read other bytes than Java wrote"
    );
    // One more byte than the server allows is refused, and the connection lives on.
    let mut put = Put::new(b"too large");
    put.add(FAMILY, b"q", &noise(10 << 20, 3));
    let refused = bench.client.put(&bench.table, &put).await.unwrap_err();
    assert_eq!(
        refused
            .error()
            .exception()
            .map(steelyard_hbase::Exception::name),
        Some("DoNotRetryIOException"),
        "{refused}"
    );
    assert_eq!(refused.attempts.len(), 1);
    assert!(bench.both(b"too large", 1).await.is_empty());
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn ten_thousand_columns_in_a_row_pass_both_ways() {
    let bench = Bench::new("peer_wide", 1, &[]).await;
    let columns: Vec<(Vec<u8>, Vec<u8>)> = (0..10_000)
        .map(|number| {
            (
                format!("q{number:05}").into_bytes(),
                noise(number % 300, number as u64),
            )
        })
        .collect();

    let mut put = Put::new(b"ours");
    put.at(7);
    let mut words = vec![
        "put".to_owned(),
        bench.name.to_owned(),
        hex(b"java"),
        hex(FAMILY),
    ];
    for (qualifier, value) in &columns {
        put.add(FAMILY, qualifier, value);
        words.extend([hex(qualifier), "7".to_owned(), hex(value)]);
    }
    bench.client.put(&bench.table, &put).await.unwrap();
    java::ask(&words.iter().map(String::as_str).collect::<Vec<_>>());

    for row in [b"ours", b"java"] {
        let found = bench.both(row, 1).await;
        let found: Vec<(Vec<u8>, Vec<u8>)> = found
            .into_iter()
            .map(|cell| (cell.qualifier, cell.value))
            .collect();
        assert!(
            found == columns,
            "{} columns of {} came back",
            found.len(),
            columns.len()
        );
    }
    bench.end().await;
}
