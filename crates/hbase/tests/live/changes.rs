//! Versions, deletes, what reads and changes in one call, many operations at once.

use super::*;

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn versions_and_deletes() {
    with_table("versions", &[], async |client, table| {
        let write = async |row: &[u8], timestamp: i64| {
            let mut put = Put::new(row);
            put.at(timestamp)
                .add(F, Q, &timestamp.to_be_bytes())
                .add(F, b"other", b"x")
                .add(b"g", Q, b"y");
            put.durability(Durability::SyncWal);
            client.put(&table, &put).await.unwrap();
        };
        let versions = async |row: &[u8]| -> Vec<i64> {
            let columns = Columns::all().column(F, Q);
            let get = Get::new(row).columns(&columns).versions(10);
            let row = client.get(&table, &get).await.unwrap().value;
            row.cells().map(|cell| cell.timestamp).collect()
        };
        for timestamp in [10, 30, 20, 40] {
            write(b"r", timestamp).await;
        }
        assert_eq!(versions(b"r").await, [40, 30, 20, 10]);
        let range = Get::new(b"r").versions(10).time_range(20..40);
        let row = client.get(&table, &range).await.unwrap().value;
        assert_eq!(
            row.cells()
                .filter(|cell| cell.qualifier == Q && cell.family == F)
                .count(),
            2
        );

        let delete = async |change: &dyn Fn(&mut Delete)| {
            let mut delete = Delete::new(b"r");
            change(&mut delete);
            client.delete(&table, &delete).await.unwrap();
        };
        delete(&|delete| _ = delete.at(30).version(F, Q)).await;
        assert_eq!(versions(b"r").await, [40, 20, 10]);
        delete(&|delete| _ = delete.at(10).column(F, Q)).await;
        assert_eq!(versions(b"r").await, [40, 20]);
        delete(&|delete| _ = delete.version(F, Q)).await;
        assert_eq!(versions(b"r").await, [20]);
        delete(&|delete| _ = delete.family(F)).await;
        let row = get(&client, &table, b"r").await;
        assert_eq!((row.len(), row.value(b"g", Q)), (1, Some(&b"y"[..])));
        delete(&|delete| _ = delete.at(39)).await;
        assert_eq!(
            get(&client, &table, b"r").await.len(),
            1,
            "the cell of 40 stays"
        );
        delete(&|_| ()).await;
        assert!(get(&client, &table, b"r").await.is_empty());
    });
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn read_and_change_in_one_call() {
    with_table("change", &[], async |client, table| {
        let mut first = Put::new(b"r");
        first.add(F, Q, b"5");
        let mut second = Put::new(b"r");
        second.add(F, Q, b"7");
        let absent = Check::absent(F, Q);
        assert!(
            client
                .check_and_put(&table, &absent, &first)
                .await
                .unwrap()
                .value
        );
        assert!(
            !client
                .check_and_put(&table, &absent, &second)
                .await
                .unwrap()
                .value
        );
        let is = |value: &[u8]| Check::equal(F, Q, value);
        assert!(
            !client
                .check_and_put(&table, &is(b"6"), &second)
                .await
                .unwrap()
                .value
        );
        assert!(
            client
                .check_and_put(&table, &is(b"5"), &second)
                .await
                .unwrap()
                .value
        );
        let greater = Check::compare(F, Q, Compare::Greater, b"8");
        assert!(
            !client
                .check_and_delete(&table, &is(b"5"), &Delete::new(b"r"))
                .await
                .unwrap()
                .value
        );
        assert!(
            client
                .check_and_delete(&table, &greater, &Delete::new(b"r"))
                .await
                .unwrap()
                .value
        );
        assert!(get(&client, &table, b"r").await.is_empty());

        let mut add = Increment::new(b"n");
        add.add(F, Q, 40);
        let number = |row: &Row| i64::from_be_bytes(row.value(F, Q).unwrap().try_into().unwrap());
        assert_eq!(
            number(&client.increment(&table, &add).await.unwrap().value),
            40
        );
        add = Increment::new(b"n");
        add.add(F, Q, -50);
        assert_eq!(
            number(&client.increment(&table, &add).await.unwrap().value),
            -10
        );
        // The same nonce is the same operation: a second attempt changes nothing.
        add.nonce(u64::MAX - 1);
        for _ in 0..2 {
            assert_eq!(
                number(&client.once().increment(&table, &add).await.unwrap().value),
                -60
            );
        }
        let mut append = Append::new(b"a");
        append.add(F, Q, b"ab");
        client.append(&table, &append).await.unwrap();
        let row = client.append(&table, &append).await.unwrap().value;
        assert_eq!(row.value(F, Q), Some(&b"abab"[..]));
    });
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn many_at_once() {
    with_table("multi", &[b"g", b"n", b"t"], async |client, table| {
        for row in [b"a", b"h", b"o", b"z"] {
            put(&client, &table, row, Q, row).await;
        }
        let (mut write, mut wrong, mut count) =
            (Put::new(b"i"), Put::new(b"p"), Increment::new(b"u"));
        write.add(F, Q, b"new");
        wrong.add(b"no such family", Q, b"");
        count.add(F, b"n", 3);
        let delete = Delete::new(b"a");
        let items = [
            Item::Get(Get::new(b"z")),
            Item::Put(&write),
            Item::Get(Get::new(b"h")),
            Item::Put(&wrong),
            Item::Increment(&count),
            Item::Get(Get::new(b"absent")),
            Item::Delete(&delete),
            Item::Get(Get::new(b"o")),
            Item::Get(Get::new(b"")),
        ];
        let results = client.multi(&table, &items).await.unwrap().value;
        let value = |i: usize| results[i].as_ref().unwrap().value(F, Q);
        assert_eq!(value(0), Some(&b"z"[..]));
        assert!(results[1].as_ref().unwrap().is_empty());
        assert_eq!(value(2), Some(&b"h"[..]));
        let error = results[3].as_ref().unwrap_err();
        assert_eq!(
            error.exception().unwrap().name(),
            "NoSuchColumnFamilyException"
        );
        assert_eq!(error.action(), Action::GiveUp);
        assert_eq!(
            results[4].as_ref().unwrap().value(F, b"n"),
            Some(&3_i64.to_be_bytes()[..])
        );
        assert!(results[5].as_ref().unwrap().is_empty());
        assert_eq!(value(7), Some(&b"o"[..]));
        assert!(matches!(results[8], Err(Error::Input(_))));
        assert!(get(&client, &table, b"a").await.is_empty());
        assert_eq!(
            get(&client, &table, b"i").await.value(F, Q),
            Some(&b"new"[..])
        );
    });
}
