//! The client against a scripted cluster: two servers, a table of one region that lives on one of them.

use super::*;
use crate::cell::{Cell, CellKind};
use crate::error::Action;
use crate::names::Address;
use crate::pb;
use crate::registry::Registry;
use crate::rpc::script::{accept, answer, listen, read_frame, refusal};
use crate::rpc::wire::{Field, Fields};
use prost::Message;
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// What is true in the scripted cluster.
#[derive(Debug)]
struct World {
    servers: [Address; 2],
    /// The server of the table's region, and whether it answers gets.
    owner: usize,
    silent: bool,
    /// What was asked of the registry, of meta, and of the region.
    registry: usize,
    lookups: usize,
    gets: usize,
}

type Shared = Arc<Mutex<World>>;

/// A server's answer to one request; None = silence.
fn respond(world: &Shared, server: usize, id: u32, method: &[u8]) -> Option<Vec<u8>> {
    let mut world = world.lock().unwrap();
    match method {
        b"GetClusterId" => {
            let cluster_id = Some("scripted".to_owned());
            Some(answer(
                id,
                &pb::GetClusterIdResponse { cluster_id }.encode_to_vec(),
                b"",
            ))
        }
        b"GetMetaRegionLocations" => {
            world.registry += 1;
            Some(answer(
                id,
                &meta_location(&world.servers[0]).encode_to_vec(),
                b"",
            ))
        }
        b"Scan" => {
            world.lookups += 1;
            let cells = meta_row(&world.servers[world.owner]);
            let response = pb::ScanResponse {
                cells_per_result: vec![3],
                ..pb::ScanResponse::default()
            };
            Some(answer(id, &response.encode_to_vec(), &cells))
        }
        b"Get" if server != world.owner => Some(refusal(
            id,
            "org.apache.hadoop.hbase.NotServingRegionException",
        )),
        b"Get" => {
            world.gets += 1;
            let response = pb::GetResponse::default().encode_to_vec();
            (!world.silent).then(|| answer(id, &response, b""))
        }
        other => panic!("{}", String::from_utf8_lossy(other)),
    }
}

fn meta_location(server: &Address) -> pb::GetMetaRegionLocationsResponse {
    let location = pb::RegionLocation {
        server_name: Some(pb::ServerName {
            host_name: server.host.to_string(),
            port: Some(server.port.into()),
            start_code: Some(1),
        }),
        ..pb::RegionLocation::default()
    };
    pb::GetMetaRegionLocationsResponse {
        meta_locations: vec![location],
    }
}

/// The table's only row in meta.
fn meta_row(server: &Address) -> Vec<u8> {
    let info = pb::RegionInfo {
        region_id: 1,
        ..pb::RegionInfo::default()
    };
    let info = [b"PBUF", &*info.encode_to_vec()].concat();
    let (address, start_code) = (server.to_string(), 1_u64.to_be_bytes());
    let mut block = Vec::new();
    for (qualifier, value) in [
        ("regioninfo", &*info),
        ("server", address.as_bytes()),
        ("serverstartcode", &start_code),
    ] {
        let cell = Cell {
            row: b"t,,1.0123456789abcdef0123456789abcdef.",
            family: b"info",
            qualifier: qualifier.as_bytes(),
            timestamp: 1,
            kind: CellKind::Put,
            value,
        };
        cell.write(&mut block);
    }
    block
}

async fn serve(listener: TcpListener, world: Shared, server: usize) {
    loop {
        let stream = accept(&listener).await;
        tokio::spawn(converse(stream, world.clone(), server));
    }
}

async fn converse(mut stream: TcpStream, world: Shared, server: usize) {
    loop {
        let frame = read_frame(&mut stream).await;
        let mut header = Fields::new(Fields::new(&frame).delimited().unwrap());
        let Some((1, Field::Number(id))) = header.next() else {
            panic!("no id")
        };
        let Some((3, Field::Bytes(method))) = header.next() else {
            panic!("no method")
        };
        if let Some(response) = respond(&world, server, id as u32, method) {
            stream.write_all(&response).await.unwrap();
        }
    }
}

/// Run `test` with a client of a fresh cluster and its table.
fn with_cluster<T: Future<Output = ()>>(test: impl FnOnce(Client, Table, Shared) -> T) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ((first, one), (second, two)) = (listen().await, listen().await);
        let world = Arc::new(Mutex::new(World {
            servers: [one.clone(), two],
            owner: 1,
            silent: false,
            registry: 0,
            lookups: 0,
            gets: 0,
        }));
        tokio::spawn(serve(first, world.clone(), 0));
        tokio::spawn(serve(second, world.clone(), 1));
        let config = Config {
            registry: Registry::Servers(vec![one.to_string()]),
            attempt_timeout: Duration::from_secs(10),
            operation_timeout: Duration::from_secs(60),
            pause: Duration::from_millis(1),
            ..Config::default()
        };
        let client = Client::connect(config).await.unwrap();
        let table = client.table("t").unwrap();
        test(client, table, world).await;
    });
}

#[test]
fn a_thousand_callers_look_a_region_up_once() {
    with_cluster(async |client, table, world| {
        let rows: Vec<[u8; 4]> = (1..=1000_u32).map(u32::to_be_bytes).collect();
        let gets: Vec<Get<'_>> = rows.iter().map(|row| Get::new(row)).collect();
        let calls = gets.iter().map(|get| client.get(&table, get));
        let answers = futures::future::join_all(calls).await;
        assert!(answers.iter().all(Result::is_ok));
        let world = world.lock().unwrap();
        assert_eq!((world.registry, world.lookups, world.gets), (1, 1, 1000));
    });
}

#[test]
fn callers_who_fail_together_look_up_together() {
    with_cluster(async |client, table, world| {
        let get = Get::new(b"row");
        client.get(&table, &get).await.unwrap();
        world.lock().unwrap().owner = 0;
        let calls = (0..1000).map(|_| client.get(&table, &get));
        let answers = futures::future::join_all(calls).await;
        for answer in answers {
            let failed = answer.unwrap().failed;
            assert_eq!(failed.len(), 1);
            assert_eq!(failed[0].error.action(), Action::Relocate);
        }
        let world = world.lock().unwrap();
        assert_eq!((world.registry, world.lookups), (1, 2));
    });
}

#[test]
fn a_server_that_hangs_is_left_when_the_region_is_elsewhere() {
    with_cluster(async |client, table, world| {
        let get = Get::new(b"row");
        client.get(&table, &get).await.unwrap();
        world.lock().unwrap().silent = true;
        let given_up =
            tokio::time::timeout(Duration::from_millis(50), client.once().get(&table, &get));
        assert!(given_up.await.is_err());
        assert_eq!(table.known_regions(), 0, "the location is in doubt");
        {
            let mut world = world.lock().unwrap();
            (world.owner, world.silent) = (0, false);
        }
        client
            .once()
            .get(&table, &get)
            .await
            .expect("the next attempt asks meta and goes right");
    });
}

#[test]
fn attempts_are_told_and_the_deadline_holds() {
    with_cluster(async |client, table, world| {
        world.lock().unwrap().silent = true;
        let mut config = client.core.config.clone();
        config.attempt_timeout = Duration::from_millis(200);
        config.operation_timeout = Duration::from_secs(3);
        let client = Client::connect(config).await.unwrap();
        let table = client.table(&table.name().to_string()).unwrap();
        let began = std::time::Instant::now();
        let failed = client.get(&table, &Get::new(b"row")).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(20));
        assert!((3..=15).contains(&failed.attempts.len()), "{failed}");
        for pair in failed.attempts.windows(2) {
            assert!(matches!(pair[0].error, Error::Timeout { .. }));
            assert!(
                pair[0].started_ns < pair[0].ended_ns && pair[0].ended_ns <= pair[1].started_ns
            );
        }
    });
}
