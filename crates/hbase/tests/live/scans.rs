//! Scans over regions, also while these move and split.

use super::*;

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
