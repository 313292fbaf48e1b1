//! Operations that the server computes: increments, appends, checks.

use super::java::{self, hex};
use super::*;
use steelyard_hbase::{Append, Check, Delete, Increment};

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn increments_and_appends_of_both_add_up() {
    let bench = Bench::new("peer_counters", 1, &[]).await;
    let (client, table) = (&bench.client, &bench.table);

    let mut increment = Increment::new(b"r");
    increment.add(FAMILY, b"n", 5);
    let answer = client.increment(table, &increment).await.unwrap();
    assert_eq!(
        answer.value.value(FAMILY, b"n"),
        Some(&5_i64.to_be_bytes()[..])
    );
    assert_eq!(
        java::ask(&[
            "increment",
            bench.name,
            &hex(b"r"),
            &hex(FAMILY),
            &hex(b"n"),
            "-7"
        ]),
        ["-2"]
    );
    let answer = client.increment(table, &increment).await.unwrap();
    assert_eq!(
        answer.value.value(FAMILY, b"n"),
        Some(&3_i64.to_be_bytes()[..])
    );

    let mut append = Append::new(b"r");
    append.add(FAMILY, b"text", b"one\x00");
    client.append(table, &append).await.unwrap();
    java::ask(&[
        "append",
        bench.name,
        &hex(b"r"),
        &hex(FAMILY),
        &hex(b"text"),
        &hex(b"\xfftwo"),
    ]);
    let answer = client.append(table, &append).await.unwrap();
    assert_eq!(
        answer.value.value(FAMILY, b"text"),
        Some(&b"one\x00\xfftwoone\x00"[..])
    );

    let found = bench.both(b"r", 1).await;
    assert_eq!(found.len(), 2);
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn a_check_holds_against_what_java_wrote() {
    let bench = Bench::new("peer_checks", 1, &[]).await;
    let (client, table) = (&bench.client, &bench.table);
    let mut put = Put::new(b"r");
    put.add(FAMILY, b"q", b"new");

    let absent = Check::absent(FAMILY, b"q");
    let old = Check::equal(FAMILY, b"q", b"old");
    assert!(!client.check_and_put(table, &old, &put).await.unwrap().value);
    bench.java_put(b"r", b"q", None, b"old");
    assert!(
        !client
            .check_and_put(table, &absent, &put)
            .await
            .unwrap()
            .value
    );
    assert!(client.check_and_put(table, &old, &put).await.unwrap().value);
    assert_eq!(bench.both(b"r", 1).await[0].value, b"new");

    let delete = Delete::new(b"r");
    assert!(
        !client
            .check_and_delete(table, &old, &delete)
            .await
            .unwrap()
            .value
    );
    assert!(
        client
            .check_and_delete(table, &Check::equal(FAMILY, b"q", b"new"), &delete)
            .await
            .unwrap()
            .value
    );
    assert!(bench.both(b"r", 1).await.is_empty());
    assert!(
        client
            .check_and_put(table, &absent, &put)
            .await
            .unwrap()
            .value
    );
    bench.end().await;
}
