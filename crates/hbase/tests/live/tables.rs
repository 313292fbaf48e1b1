//! Tables whose regions move and split, that are disabled, that are not there.

use super::*;

/// Regions that move and split under reads and writes: single attempts may fail, the next one goes right; operations never fail.
#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn regions_move_and_split() {
    with_table("move", &[b"m"], async |client, table| {
        let admin = client.admin();
        for row in [b"a", b"b", b"x", b"y"] {
            put(&client, &table, row, Q, row).await;
        }
        let moving = client.regions(&table).await.unwrap().remove(0);
        admin.move_region(&moving, None).await.unwrap();
        let once = client.once();
        let error = once.get(&table, &Get::new(b"a")).await.unwrap_err();
        assert_eq!(error.action(), Action::Relocate, "{error}");
        let row = once.get(&table, &Get::new(b"a")).await.unwrap().value;
        assert_eq!(
            row.value(F, Q),
            Some(&b"a"[..]),
            "the exception named the new server"
        );

        let splitting = client.regions(&table).await.unwrap().remove(1);
        assert_eq!(client.warm(&table).await.unwrap(), 2);
        admin.split(&splitting, Some(b"y")).await.unwrap();
        for row in [b"x", b"y"] {
            let answer = client.get(&table, &Get::new(row)).await.unwrap();
            assert_eq!(answer.value.value(F, Q), Some(&row[..]));
        }
        let regions = client.regions(&table).await.unwrap();
        let served = regions.iter().filter(|placed| !placed.region.offline);
        assert_eq!(served.count(), 3);
        assert_eq!(table.known_regions(), 3);
    });
}

#[tokio::test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
async fn what_does_not_exist_is_said() {
    let client = common::connect(Config::default()).await;
    assert_eq!(client.cluster_id().len(), 36);
    let table = client.table("live_no_such_table").unwrap();
    // As a task of its own: the future is Send.
    let get = tokio::spawn(async move { client.get(&table, &Get::new(b"r")).await });
    let failed = get.await.unwrap().unwrap_err();
    assert!(matches!(failed.error(), Error::NoTable(_)), "{failed}");
    assert_eq!(failed.attempts.len(), 1);
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn a_disabled_table_is_given_up_at_once() {
    with_table("disabled", &[b"m"], |client, table| async move {
        put(&client, &table, b"a", b"q", b"1").await;
        client.admin().disable(table.name()).await.unwrap();
        let failed = client.get(&table, &Get::new(b"a")).await.unwrap_err();
        assert!(matches!(failed.error(), Error::Disabled(_)), "{failed}");
        client.admin().enable(table.name()).await.unwrap();
        let row = client.get(&table, &Get::new(b"a")).await.unwrap().value;
        assert_eq!(row.value(F, b"q"), Some(&b"1"[..]));
    });
}
