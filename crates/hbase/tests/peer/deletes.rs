//! Versions, and each kind of delete, done by one and seen by the other.

use super::java::{self, hex};
use super::*;
use steelyard_hbase::Delete;

/// Timestamps of what is left of column `q`, and whether column `other` is still there.
type Left = (&'static [i64], bool);

/// Kind, as `java/peer` names it; the timestamp given; what it leaves of versions 1 to 4.
const KINDS: [(&str, Option<i64>, Left); 9] = [
    ("row", None, (&[], false)),
    ("row", Some(2), (&[4, 3], true)),
    ("family", None, (&[], false)),
    ("family-version", Some(3), (&[4, 2, 1], true)),
    ("family-version", Some(4), (&[3, 2, 1], false)),
    ("column", None, (&[], true)),
    ("column", Some(3), (&[4], true)),
    ("version", Some(3), (&[4, 2, 1], true)),
    ("version", None, (&[3, 2, 1], true)),
];

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn each_kind_of_delete_means_the_same() {
    let bench = Bench::new("peer_deletes", 5, &[]).await;
    for (kind, at, left) in KINDS {
        let name = format!("{kind} {at:?}");
        let (ours, javas) = (
            format!("ours {name}").into_bytes(),
            format!("java {name}").into_bytes(),
        );
        fill(&bench, &ours).await;
        fill(&bench, &javas).await;
        let delete = delete(&ours, kind, at);
        bench.client.delete(&bench.table, &delete).await.unwrap();
        java_delete(&bench, &javas, kind, at);
        assert_eq!(
            remaining(&bench, &ours).await,
            (left.0.to_vec(), left.1),
            "ours: {name}"
        );
        assert_eq!(
            remaining(&bench, &javas).await,
            (left.0.to_vec(), left.1),
            "Java's: {name}"
        );
    }
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn versions_come_newest_first_and_no_more_than_asked() {
    let bench = Bench::new("peer_versions", 3, &[]).await;
    for timestamp in [30, 10, 20, 40] {
        bench
            .put(
                b"r",
                b"q",
                Some(timestamp),
                format!("v{timestamp}").as_bytes(),
            )
            .await;
    }
    let found = bench.both(b"r", 10).await;
    assert_eq!(
        found.iter().map(|cell| cell.timestamp).collect::<Vec<_>>(),
        [40, 30, 20],
        "the family keeps three"
    );
    assert_eq!(bench.both(b"r", 2).await, found[..2]);
    assert_eq!(bench.both(b"r", 1).await, found[..1]);
    bench.end().await;
}

/// Column `q` with versions 1 to 4, `other` with one of 4.
async fn fill(bench: &Bench, row: &[u8]) {
    for timestamp in 1..=4 {
        bench.put(row, b"q", Some(timestamp), b"value").await;
    }
    bench.put(row, b"other", Some(4), b"value").await;
}

async fn remaining(bench: &Bench, row: &[u8]) -> (Vec<i64>, bool) {
    let found = bench.both(row, 5).await;
    let of_q = found
        .iter()
        .filter(|cell| cell.qualifier == b"q")
        .map(|cell| cell.timestamp);
    (
        of_q.collect(),
        found.iter().any(|cell| cell.qualifier == b"other"),
    )
}

fn delete(row: &[u8], kind: &str, at: Option<i64>) -> Delete {
    let mut delete = Delete::new(row);
    if let Some(at) = at {
        delete.at(at);
    }
    match kind {
        "row" => &mut delete,
        "family" => delete.family(FAMILY),
        "family-version" => delete.family_version(FAMILY),
        "column" => delete.column(FAMILY, b"q"),
        "version" => delete.version(FAMILY, b"q"),
        _ => panic!("{kind}"),
    };
    delete
}

fn java_delete(bench: &Bench, row: &[u8], kind: &str, at: Option<i64>) {
    let at = at.map_or("-".to_owned(), |at| at.to_string());
    java::ask(&[
        "delete",
        bench.name,
        &hex(row),
        kind,
        &hex(FAMILY),
        &hex(b"q"),
        &at,
    ]);
}
