//! Keys and values of any bytes and any size.

use super::*;

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
