//! Scans over region borders, forward and backward, with every way to bound them.

use super::java::hex;
use super::*;
use steelyard_hbase::Scan;

/// A row where a scan begins or ends, or nowhere.
type Bound = Option<&'static [u8]>;

/// Borders of the regions; rows are `00` to `99`, so that some borders fall on a row and one between two.
const SPLITS: [&[u8]; 4] = [b"20", b"45x", b"46", b"80"];
const BOUNDS: [(Bound, Bound); 6] = [
    (None, None),
    (Some(b"10"), Some(b"90")),
    (Some(b"20"), Some(b"46")),
    (Some(b"45x"), None),
    (None, Some(b"20")),
    (Some(b"5"), Some(b"5")),
];

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn scans_find_what_javas_find() {
    let bench = Bench::new("peer_scans", 3, &SPLITS).await;
    for number in 0..100_u64 {
        let row = format!("{number:02}").into_bytes();
        for timestamp in 1..=3 {
            bench
                .put(&row, b"a", Some(timestamp), &noise(number as usize, number))
                .await;
        }
        bench.java_put(&row, b"\xff", Some(9), &row);
    }
    for (low, high) in BOUNDS {
        for reversed in [false, true] {
            let (start, stop) = if reversed { (high, low) } else { (low, high) };
            for (versions, caching, limit) in
                [(1, 100, 0), (3, 1, 0), (1, 7, 0), (2, 3, 10), (1, 100, 1)]
            {
                let ours = scan(&bench, start, stop, reversed, (versions, caching, limit)).await;
                let javas = java_scan(&bench, start, stop, reversed, (versions, caching, limit));
                assert_eq!(
                    ours, javas,
                    "{start:?} to {stop:?}, reversed {reversed}, {versions} versions, {caching} a call, limit {limit}"
                );
            }
        }
    }
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn a_row_larger_than_an_answer_comes_whole() {
    let bench = Bench::new("peer_partial", 1, &[b"m"]).await;
    for row in [b"a", b"m", b"z"] {
        let mut put = Put::new(row);
        for number in 0..200_u64 {
            put.add(
                FAMILY,
                format!("q{number:03}").as_bytes(),
                &noise(2_000, number),
            );
        }
        bench.client.put(&bench.table, &put).await.unwrap();
    }
    for reversed in [false, true] {
        let mut rows = Vec::new();
        let scan = if reversed {
            Scan::new().reversed()
        } else {
            Scan::new()
        };
        let mut scanner = bench
            .client
            .scan(&bench.table, scan.max_bytes(20_000).caching(10));
        while let Some(row) = scanner.next_row().await.unwrap() {
            assert_eq!(
                row.len(),
                200,
                "a part of row {:?} came as a row",
                row.key()
            );
            rows.push(row.key().to_vec());
        }
        let expected: [&[u8]; 3] = if reversed {
            [b"z", b"m", b"a"]
        } else {
            [b"a", b"m", b"z"]
        };
        assert_eq!(rows, expected);
    }
    bench.end().await;
}

type Shape = (u32, u32, u64);

async fn scan(
    bench: &Bench,
    start: Option<&[u8]>,
    stop: Option<&[u8]>,
    reversed: bool,
    shape: Shape,
) -> Vec<Cell> {
    let (versions, caching, limit) = shape;
    let mut scan = Scan::new().versions(versions).caching(caching);
    if let Some(row) = start {
        scan = scan.start(row);
    }
    if let Some(row) = stop {
        scan = scan.stop(row);
    }
    if reversed {
        scan = scan.reversed();
    }
    if limit > 0 {
        scan = scan.limit(limit);
    }
    let mut scanner = bench.client.scan(&bench.table, scan);
    let mut found = Vec::new();
    while let Some(row) = scanner.next_row().await.unwrap() {
        found.extend(cells(&row));
    }
    found
}

fn java_scan(
    bench: &Bench,
    start: Option<&[u8]>,
    stop: Option<&[u8]>,
    reversed: bool,
    shape: Shape,
) -> Vec<Cell> {
    let (versions, caching, limit) = shape;
    let bound = |row: Option<&[u8]>| row.map_or("-".to_owned(), hex);
    let numbers = [versions.to_string(), caching.to_string(), limit.to_string()];
    let reversed = reversed.to_string();
    let words = [
        &bound(start),
        &bound(stop),
        &reversed,
        &numbers[0],
        &numbers[1],
        &numbers[2],
    ];
    let mut all = vec!["scan", bench.name];
    all.extend(words.into_iter().map(String::as_str));
    java::cells(&all)
}
