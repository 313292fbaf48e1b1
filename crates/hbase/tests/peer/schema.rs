//! Tables and regions: what we make and move, HBase's client finds, and the reverse.

use super::java::{self, hex};
use super::*;
use std::time::Duration;
use steelyard_hbase::admin::{Admin, Bloom, TableState};
use steelyard_hbase::{Error, Placed, TableName};

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn a_table_is_made_as_described() {
    let client = connect(Config::default()).await;
    let (admin, name) = (client.admin(), table("peer_described"));
    if admin.table_exists(&name).await.unwrap() {
        admin.drop_table(&name).await.unwrap();
    }
    let mut family = Family::new("f");
    family.bloom = Bloom::RowCol;
    family.versions = 4;
    family.compression = "GZ".to_owned();
    family.block_cache = false;
    family.block_size = 16 << 10;
    family
        .attributes
        .insert("TTL".to_owned(), "86400".to_owned());
    let made = TableDescriptor::new(name.clone(), [family.clone(), Family::new("g")]);
    let splits = [b"\x00\xff".to_vec(), b"m".to_vec(), b"\xff".to_vec()];
    admin.create_table(&made, &splits).await.unwrap();

    let described = java::ask(&["describe", "peer_described"]);
    for attribute in [
        "BLOOMFILTER=ROWCOL",
        "VERSIONS=4",
        "COMPRESSION=GZ",
        "BLOCKCACHE=false",
        "BLOCKSIZE=16384",
        "TTL=86400",
    ] {
        assert!(
            described.contains(&format!("f.{attribute}")),
            "{attribute} is not in {described:?}"
        );
    }
    assert!(described.contains(&"g.BLOOMFILTER=ROW".to_owned()));
    let ours = admin.describe(&name).await.unwrap();
    assert_eq!(
        ours.families
            .iter()
            .map(|family| &*family.name)
            .collect::<Vec<_>>(),
        ["f", "g"]
    );
    assert_eq!(
        (ours.families[0].bloom, ours.families[0].versions),
        (Bloom::RowCol, 4)
    );
    assert_eq!(ours.families[0].attributes["TTL"], "86400");
    assert!(admin.tables().await.unwrap().contains(&name));

    assert_eq!(same_regions(&admin, &name).await.len(), 4);
    let twice = admin.create_table(&made, &[]).await.unwrap_err();
    assert_eq!(exception(&twice), "TableExistsException");
    admin.drop_table(&name).await.unwrap();
    assert!(!admin.table_exists(&name).await.unwrap());
    assert!(matches!(
        admin.describe(&name).await.unwrap_err(),
        Error::NoTable(_)
    ));
    assert_eq!(
        exception(&admin.disable(&name).await.unwrap_err()),
        "TableNotFoundException"
    );
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn a_table_is_switched_off_on_and_emptied() {
    let bench = Bench::new("peer_switched", 1, &[b"m"]).await;
    let (admin, name) = (bench.client.admin(), table(bench.name));
    bench.put(b"a", b"q", None, b"v").await;
    admin.disable(&name).await.unwrap();
    assert_eq!(
        admin.table_state(&name).await.unwrap(),
        TableState::Disabled
    );
    admin.enable(&name).await.unwrap();
    assert_eq!(admin.table_state(&name).await.unwrap(), TableState::Enabled);
    assert_eq!(bench.both(b"a", 1).await[0].value, b"v");
    for (keep, regions) in [(true, 2), (false, 1)] {
        bench.put(b"a", b"q", None, b"v").await;
        admin.truncate(&name, keep).await.unwrap();
        assert!(bench.both(b"a", 1).await.is_empty());
        assert_eq!(same_regions(&admin, &name).await.len(), regions);
    }
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn regions_split_and_moved_by_either_are_found_by_the_other() {
    let bench = Bench::new("peer_regions", 1, &[b"h"]).await;
    let (admin, name) = (bench.client.admin(), table(bench.name));
    for row in [b"a", b"h", b"p"] {
        bench.put(row, b"q", Some(1), row).await;
    }
    admin
        .split(&same_regions(&admin, &name).await[0], Some(b"d"))
        .await
        .unwrap();
    assert_eq!(same_regions(&admin, &name).await.len(), 3);
    java::ask(&["split", bench.name, &hex(b"p")]);
    let regions = same_regions(&admin, &name).await;
    assert_eq!(
        regions
            .iter()
            .map(|at| &*at.region.start)
            .collect::<Vec<_>>(),
        [&b""[..], b"d", b"h", b"p"]
    );

    let to = java::ask(&["move", bench.name, &hex(b"h")]);
    assert_eq!(server(&same_regions(&admin, &name).await[2]), to[0]);
    let other = admin
        .servers()
        .await
        .unwrap()
        .into_iter()
        .find(|server| server.to_string() != to[0])
        .unwrap();
    admin.move_region(&regions[2], Some(&other)).await.unwrap();
    let moved = same_regions(&admin, &name).await;
    assert_eq!(moved[2].server, Some(other));
    for row in [b"a", b"h", b"p"] {
        assert_eq!(bench.both(row, 1).await[0].value, row);
    }
    let nowhere = "127.0.0.1,1,1".parse().unwrap();
    assert!(matches!(
        admin.move_region(&moved[0], Some(&nowhere)).await,
        Err(Error::Input(_))
    ));
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn memstores_are_flushed_and_files_compacted() {
    let bench = Bench::new("peer_files", 1, &[b"m"]).await;
    let (admin, name) = (bench.client.admin(), table(bench.name));
    let (mut largest, rows) = (0, [b"a", b"z"]);
    // Two files each: with three, the servers would compact them unasked.
    for round in 0..2_u8 {
        for row in rows {
            bench
                .put(row, b"q", None, &noise(2 << 20, u64::from(round)))
                .await;
        }
        admin.flush(&name).await.unwrap();
        largest = until(&admin, &name, |files| {
            files.iter().all(|files| *files > u32::from(round))
        })
        .await;
    }
    assert_eq!(largest, 2);
    compact(&admin, &name).await;
    assert_eq!(
        until(&admin, &name, |files| files.iter().all(|files| *files == 1)).await,
        1
    );
    for row in rows {
        assert_eq!(bench.both(row, 1).await[0].value, noise(2 << 20, 1));
    }
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs HBase and its Java client: STEELYARD_TEST_HBASE, STEELYARD_TEST_HBASE_CLASSPATH"]
async fn the_cluster_says_who_serves() {
    let admin = connect(Config::default()).await.admin();
    let status = admin.cluster_status().await.unwrap();
    assert!(status.version.starts_with('2'), "{}", status.version);
    assert!(status.live.len() >= 2, "{status:?}");
    assert!(status.master.is_some());
    assert!(status.live.iter().any(|load| !load.regions.is_empty()));
    let before = admin.set_balancer(false).await.unwrap();
    assert!(!admin.cluster_status().await.unwrap().balancer_on);
    assert!(!admin.balance().await.unwrap().ran, "it is switched off");
    assert!(!admin.set_balancer(before).await.unwrap());
    assert_eq!(admin.cluster_status().await.unwrap().balancer_on, before);
}

async fn compact(admin: &Admin, name: &TableName) {
    admin.compact(name, true).await.unwrap();
    while !admin.compaction(name).await.unwrap().done() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The largest number of store files of the table's regions, once `enough` says that all are as expected. The master knows
/// them from the servers' reports.
async fn until(admin: &Admin, name: &TableName, enough: impl Fn(&[u32]) -> bool) -> u32 {
    let regions = admin.regions(name).await.unwrap();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        let loads = admin
            .cluster_status()
            .await
            .unwrap()
            .live
            .into_iter()
            .flat_map(|load| load.regions);
        let ours = loads.filter(|load| {
            regions
                .iter()
                .any(|region| region.region.name == load.region)
        });
        let files: Vec<u32> = ours.map(|load| load.store_files).collect();
        if files.len() == regions.len() && enough(&files) {
            return files.into_iter().max().unwrap();
        }
        assert!(
            tokio::time::Instant::now() < deadline,
            "store files are {files:?} after 30 s"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The table's regions, which both clients see alike.
async fn same_regions(admin: &Admin, name: &TableName) -> Vec<Placed> {
    let ours = admin.regions(name).await.unwrap();
    let words: Vec<String> = ours
        .iter()
        .map(|at| {
            format!(
                "{}:{}:{}",
                hex(&at.region.start),
                hex(&at.region.end),
                server(at)
            )
        })
        .collect();
    assert_eq!(words, java::ask(&["regions", &name.to_string()]));
    ours
}

fn server(at: &Placed) -> String {
    at.server
        .as_ref()
        .map_or("none".to_owned(), ToString::to_string)
}

fn table(name: &str) -> TableName {
    name.parse().unwrap()
}

fn exception(error: &Error) -> &str {
    error
        .exception()
        .map_or("no exception", |exception| exception.name())
}
