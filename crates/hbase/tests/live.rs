//! The client against a real cluster: `STEELYARD_TEST_HBASE=host:port[,host:port]` names masters or region servers.
//! Every test makes a table of its own and drops it.

use std::future::Future;
use std::time::{SystemTime, UNIX_EPOCH};
use steelyard_hbase::admin::{Family, TableDescriptor};
use steelyard_hbase::{
    Action, Append, Check, Client, Columns, Compare, Config, Delete, Durability, Error, Get,
    Increment, Item, Put, Registry, Row, Scan, Table,
};

const F: &[u8] = b"f";
const Q: &[u8] = b"q";

/// Run `test` with a fresh table of two families, `f` (5 versions) and `g`, split at `splits`.
fn with_table<T: Future<Output = ()>>(
    name: &str,
    splits: &[&[u8]],
    test: impl FnOnce(Client, Table) -> T,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = connect().await;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_millis();
        let table = client.table(&format!("live_{name}_{now}")).unwrap();
        let mut f = Family::new("f");
        f.versions = 5;
        let descriptor = TableDescriptor::new(table.name().clone(), [f, Family::new("g")]);
        let splits: Vec<Vec<u8>> = splits.iter().map(|row| row.to_vec()).collect();
        client
            .admin()
            .create_table(&descriptor, &splits)
            .await
            .unwrap();
        test(client.clone(), table.clone()).await;
        client.admin().disable(table.name()).await.unwrap();
        client.admin().drop_table(table.name()).await.unwrap();
    });
}

async fn connect() -> Client {
    let servers = std::env::var("STEELYARD_TEST_HBASE").expect("STEELYARD_TEST_HBASE=host:port");
    let registry = Registry::Servers(servers.split(',').map(str::to_owned).collect());
    let config = Config {
        registry,
        ..Config::default()
    };
    Client::connect(config).await.unwrap()
}

async fn put(client: &Client, table: &Table, row: &[u8], qualifier: &[u8], value: &[u8]) {
    let mut put = Put::new(row);
    put.add(F, qualifier, value);
    client.put(table, &put).await.unwrap();
}

async fn get(client: &Client, table: &Table, row: &[u8]) -> Row {
    client.get(table, &Get::new(row)).await.unwrap().value
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn keys_and_values_of_any_bytes() {
    with_table("bytes", &[b"\x80"], async |client, table| {
        let every_byte: Vec<u8> = (0..=255).collect();
        let long_row = vec![0xFF; i16::MAX as usize];
        for row in [
            &b"\0"[..],
            b"\0\0",
            b"\xFF\xFF",
            b"a,b,c",
            &every_byte,
            &long_row,
        ] {
            put(&client, &table, row, &every_byte, &every_byte).await;
            let mut empty = Put::new(row);
            empty.add(b"g", b"", b"");
            let answer = client.put(&table, &empty).await.unwrap();
            assert!(answer.stamps.received_ns > answer.stamps.sent_ns && answer.stamps.sent_ns > 0);
            let found = get(&client, &table, row).await;
            assert_eq!((found.key(), found.len()), (row, 2));
            assert_eq!(found.value(F, &every_byte), Some(&*every_byte));
            assert_eq!(found.value(b"g", b""), Some(&b""[..]));
        }
        assert!(get(&client, &table, b"absent").await.is_empty());
        let existence = |row| Get::new(row).existence_only();
        assert!(
            client
                .get(&table, &existence(b"\0"))
                .await
                .unwrap()
                .value
                .exists()
        );
        assert!(
            !client
                .get(&table, &existence(b"absent"))
                .await
                .unwrap()
                .value
                .exists()
        );
        let oversized = vec![1; i16::MAX as usize + 1];
        assert!(matches!(
            client
                .get(&table, &Get::new(&oversized))
                .await
                .unwrap_err()
                .error(),
            Error::Input(_)
        ));
        assert!(matches!(
            client
                .put(&table, &Put::new(b"r"))
                .await
                .unwrap_err()
                .error(),
            Error::Input(_)
        ));
    });
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn large_cells_and_wide_rows() {
    with_table("large", &[], async |client, table| {
        // The largest cell that servers take by default: 10 MiB with its key.
        let large: Vec<u8> = (0..10_485_000_u32).map(|i| ((i * 31) >> 3) as u8).collect();
        put(&client, &table, b"large", Q, &large).await;
        assert_eq!(
            get(&client, &table, b"large").await.value(F, Q),
            Some(&*large)
        );
        let mut too_large = Put::new(b"too large");
        too_large.add(F, Q, &vec![0; 10_485_761]);
        let refused = client.put(&table, &too_large).await.unwrap_err();
        assert_eq!(
            (refused.error().action(), refused.attempts.len()),
            (Action::GiveUp, 1)
        );

        let mut wide = Put::new(b"wide");
        for column in 0..10_000_u32 {
            wide.add(
                F,
                &column.to_be_bytes(),
                format!("value {column}").as_bytes(),
            );
        }
        client.put(&table, &wide).await.unwrap();
        let row = get(&client, &table, b"wide").await;
        assert_eq!(row.len(), 10_000);
        for (column, cell) in (0..10_000_u32).zip(row.cells()) {
            assert_eq!(cell.qualifier, column.to_be_bytes());
            assert_eq!(cell.value, format!("value {column}").as_bytes());
        }
        // In parts, when read by a scan that takes little at a time.
        let mut scanner = client
            .once()
            .scan(&table, Scan::new().start(b"wide").max_bytes(20_000));
        let (mut rows, mut calls) = (Vec::new(), 0);
        while let Some(batch) = scanner.next_batch().await.unwrap() {
            rows.extend(batch.rows);
            calls += 1;
        }
        assert_eq!(rows, [row]);
        assert!(calls > 10, "{calls} calls: the row came whole");
    });
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn scans_over_regions() {
    let splits: Vec<Vec<u8>> = (1..5_u32).map(|i| key(i * 100)).collect();
    let splits: Vec<&[u8]> = splits.iter().map(Vec::as_slice).collect();
    with_table("scan", &splits, async |client, table| {
        let puts: Vec<Put> = (0..500)
            .map(|i| {
                let mut put = Put::new(&key(i));
                put.add(F, Q, &i.to_be_bytes()).add(F, b"r", b"other");
                put
            })
            .collect();
        let items: Vec<Item<'_>> = puts.iter().map(Item::Put).collect();
        let answer = client.multi(&table, &items).await.unwrap();
        assert!(answer.value.iter().all(Result::is_ok), "{:?}", answer.value);
        assert_eq!(client.warm(&table).await.unwrap(), 5);

        let all: Vec<u32> = (0..500).collect();
        let backwards: Vec<u32> = (0..500).rev().collect();
        for caching in [1, 7, 100, 1000] {
            let scan = Scan::new().caching(caching);
            assert_eq!(read(&client, &table, scan.clone()).await, all, "{caching}");
            assert_eq!(
                read(&client, &table, scan.reversed()).await,
                backwards,
                "{caching}"
            );
        }
        let from = |row: u32| Scan::new().start(&key(row)).caching(30);
        assert_eq!(
            read(&client, &table, from(150).stop(&key(350))).await,
            all[150..350]
        );
        assert_eq!(
            read(&client, &table, from(100).stop(&key(200))).await,
            all[100..200]
        );
        assert_eq!(
            read(&client, &table, from(100).stop_including(&key(200))).await,
            all[100..=200]
        );
        assert_eq!(
            read(&client, &table, from(0).after(&key(99))).await,
            all[100..]
        );
        assert_eq!(
            read(&client, &table, from(300).limit(150)).await,
            all[300..450]
        );
        assert_eq!(read(&client, &table, from(99).limit(1)).await, [99]);
        assert_eq!(read(&client, &table, from(500)).await, []);
        let down = |row: u32, scan: Scan| scan.start(&key(row)).reversed().caching(30);
        assert_eq!(
            read(&client, &table, down(400, Scan::new().stop(&key(99)))).await,
            backwards[99..400]
        );
        assert_eq!(
            read(
                &client,
                &table,
                down(399, Scan::new().stop_including(&key(100)))
            )
            .await,
            backwards[100..400]
        );
        assert_eq!(
            read(&client, &table, down(250, Scan::new().limit(120))).await,
            backwards[249..369]
        );
        let below = Scan::new().after(&key(200)).reversed().limit(3);
        assert_eq!(read(&client, &table, below).await, [199, 198, 197]);

        let one_column = Columns::all().column(F, b"r");
        let mut scan = client.scan(&table, Scan::new().columns(one_column).limit(2));
        let row = scan.next_row().await.unwrap().unwrap();
        assert_eq!((row.len(), row.value(F, b"r")), (1, Some(&b"other"[..])));
        scan.renew().await;
        assert!(
            scan.next_row().await.unwrap().is_some() && scan.next_row().await.unwrap().is_none()
        );

        // One call is enough for a short range within a region.
        let before = client.traffic().answers;
        assert_eq!(read(&client, &table, from(10).limit(20)).await, all[10..30]);
        assert_eq!(client.traffic().answers - before, 1);
    });
}

fn key(number: u32) -> Vec<u8> {
    format!("row{number:05}").into_bytes()
}

/// The numbers in the rows of a scan.
async fn read(client: &Client, table: &Table, scan: Scan) -> Vec<u32> {
    let mut scan = client.scan(table, scan);
    let mut numbers = Vec::new();
    while let Some(row) = scan.next_row().await.unwrap() {
        let number = u32::from_be_bytes(row.value(F, Q).unwrap().try_into().unwrap());
        assert_eq!(row.key(), key(number));
        numbers.push(number);
    }
    numbers
}

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

/// A scan whose region moves, and then splits, between two of its calls: every row comes once.
#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn a_scan_survives_moves_and_splits() {
    with_table("scanmove", &[&key(30)], async |client, table| {
        let all: Vec<u32> = (0..40).collect();
        for number in &all {
            put(&client, &table, &key(*number), Q, &number.to_be_bytes()).await;
        }
        let admin = client.admin();
        let mut scan = client.scan(&table, Scan::new().caching(3));
        let (mut numbers, mut failed) = (Vec::new(), 0);
        while let Some(answer) = scan.next_batch().await.unwrap() {
            failed += answer.failed.len();
            let number =
                |row: &Row| u32::from_be_bytes(row.value(F, Q).unwrap().try_into().unwrap());
            let before = numbers.len();
            numbers.extend(answer.value.iter().map(number));
            let passed = |row: usize| before < row && numbers.len() >= row;
            let first = client.regions(&table).await.unwrap().remove(0);
            if passed(6) {
                admin.move_region(&first, None).await.unwrap();
            }
            if passed(15) {
                admin.split(&first, Some(&key(20))).await.unwrap();
            }
        }
        assert_eq!(numbers, all);
        assert!(
            failed >= 2,
            "{failed} attempts failed: nothing was survived"
        );
    });
}

#[test]
#[ignore = "needs HBase: STEELYARD_TEST_HBASE=host:port"]
fn what_does_not_exist_is_said() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = connect().await;
        assert_eq!(client.cluster_id().len(), 36);
        let table = client.table("live_no_such_table").unwrap();
        // On a thread of its own: the future is Send.
        let get = tokio::spawn(async move { client.get(&table, &Get::new(b"r")).await });
        let failed = get.await.unwrap().unwrap_err();
        assert!(matches!(failed.error(), Error::NoTable(_)), "{failed}");
        assert_eq!(failed.attempts.len(), 1);
    });
}
