//! What is written by hand is what protocol buffers say.

use super::*;
use crate::names::Address;
use crate::pb;
use crate::region::{Location, Region, RegionCache};
use crate::rpc::{Pool, PoolConfig, Request};
use prost::Message;
use std::sync::Arc;
use std::time::Duration;

/// Client.proto's `Get`, as far as it is sent.
#[derive(Clone, PartialEq, prost::Message)]
struct GetMessage {
    #[prost(bytes = "vec", required, tag = "1")]
    row: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    column: Vec<pb::Column>,
    #[prost(message, optional, tag = "5")]
    time_range: Option<pb::TimeRange>,
    #[prost(uint32, optional, tag = "6")]
    max_versions: Option<u32>,
    #[prost(bool, optional, tag = "8")]
    cache_blocks: Option<bool>,
    #[prost(bool, optional, tag = "10")]
    existence_only: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct GetRequestMessage {
    #[prost(message, required, tag = "1")]
    region: pb::RegionSpecifier,
    #[prost(message, required, tag = "2")]
    get: GetMessage,
}

/// Client.proto's `MutationProto`, as far as it is sent.
#[derive(Clone, PartialEq, prost::Message)]
struct MutationMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    row: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    mutate_type: Option<i32>,
    #[prost(uint64, optional, tag = "4")]
    timestamp: Option<u64>,
    #[prost(int32, optional, tag = "6")]
    durability: Option<i32>,
    #[prost(int32, optional, tag = "8")]
    associated_cell_count: Option<i32>,
    #[prost(uint64, optional, tag = "9")]
    nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ConditionMessage {
    #[prost(bytes = "vec", required, tag = "1")]
    row: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "2")]
    family: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "3")]
    qualifier: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "4")]
    compare_type: Option<i32>,
    #[prost(message, optional, tag = "5")]
    comparator: Option<pb::Comparator>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MutateRequestMessage {
    #[prost(message, required, tag = "1")]
    region: pb::RegionSpecifier,
    #[prost(message, required, tag = "2")]
    mutation: MutationMessage,
    #[prost(message, optional, tag = "3")]
    condition: Option<ConditionMessage>,
    #[prost(uint64, optional, tag = "4")]
    nonce_group: Option<u64>,
}

const NAME: &[u8] = b"t,,1.0123456789abcdef0123456789abcdef.";

fn location() -> Arc<Location> {
    let pool = Pool::new(PoolConfig {
        user: "test".to_owned(),
        connections: 1,
        connect_timeout: Duration::from_secs(1),
    });
    let region = Region {
        name: NAME.to_vec(),
        ..Region::meta()
    };
    RegionCache::default().learn(region, pool.server(&Address::new("host", 1)))
}

fn decoded<M: Message + Default>(request: &impl Request) -> M {
    let mut out = Vec::new();
    request.write_param(&mut out);
    assert_eq!(out.len(), request.param_len());
    M::decode(&*out).unwrap()
}

fn get_message(get: &Get<'_>) -> GetMessage {
    let location = location();
    let request = GetRequest {
        get,
        location: &location,
    };
    let message: GetRequestMessage = decoded(&request);
    assert_eq!(message.region, pb::RegionSpecifier::by_name(NAME));
    message.get
}

fn mutate_message(mutation: &Mutation, condition: &[u8]) -> MutateRequestMessage {
    let location = location();
    decoded(&MutateRequest {
        mutation,
        location: &location,
        condition,
        nonce_group: 77,
    })
}

#[test]
fn gets_say_what_they_ask_for() {
    let plain = GetMessage {
        row: b"row".to_vec(),
        ..GetMessage::default()
    };
    assert_eq!(get_message(&Get::new(b"row")), plain);
    let columns = Columns::all()
        .column(b"f", b"a")
        .family(b"g")
        .column(b"f", b"b")
        .column(b"g", b"x");
    let full = Get::new(b"row")
        .columns(&columns)
        .versions(3)
        .cache_blocks(false);
    let message = get_message(&full.existence_only().time_range(5..i64::MAX));
    let column = |family: &[u8], qualifiers: &[&[u8]]| pb::Column {
        family: family.to_vec(),
        qualifier: qualifiers.iter().map(|q| q.to_vec()).collect(),
    };
    let expected = GetMessage {
        column: vec![column(b"f", &[b"a", b"b"]), column(b"g", &[])],
        time_range: Some(pb::TimeRange {
            from: Some(5),
            to: Some(i64::MAX as u64),
        }),
        max_versions: Some(3),
        cache_blocks: Some(false),
        existence_only: Some(true),
        ..plain
    };
    assert_eq!(message, expected);
    assert_eq!(columns.messages(), expected.column);
}

#[test]
fn mutations_carry_their_cells_beside_them() {
    let mut put = Put::new(b"old");
    put.at(1).add(b"f", b"gone", b"");
    put.reset(b"row")
        .at(5)
        .add(b"f", b"q", b"v")
        .add(b"f", b"r", b"")
        .durability(Durability::FsyncWal);
    let message = mutate_message(&put.0, &[]);
    let expected = MutationMessage {
        row: Some(b"row".to_vec()),
        mutate_type: Some(2),
        durability: Some(4),
        associated_cell_count: Some(2),
        ..MutationMessage::default()
    };
    assert_eq!((message.mutation, message.nonce_group), (expected, None));
    let mut cells = bytes::Bytes::copy_from_slice(put.0.cells());
    let row = crate::cell::Row::take(&mut cells, 2).unwrap();
    assert!(cells.is_empty());
    assert!(
        row.cells()
            .all(|cell| cell.timestamp == 5 && cell.row == b"row")
    );
    assert_eq!(row.value(b"f", b"q"), Some(&b"v"[..]));
}

#[test]
fn a_delete_of_a_row_has_its_timestamp_in_the_message() {
    let mut delete = Delete::new(b"row");
    let message = mutate_message(&delete.at(9).0, &[]).mutation;
    assert_eq!((message.mutate_type, message.timestamp), (Some(3), Some(9)));
    let message = mutate_message(&delete.column(b"f", b"q").0, &[]).mutation;
    assert_eq!(
        (message.timestamp, message.associated_cell_count),
        (None, Some(1))
    );
}

#[test]
fn nonces_and_conditions_go_with_the_request() {
    let mut increment = Increment::new(b"row");
    let message = mutate_message(&increment.add(b"f", b"q", 1).nonce(42).0, &[]);
    assert_eq!(
        (message.mutation.nonce, message.nonce_group),
        (Some(42), Some(77))
    );
    let mut put = Put::new(b"row");
    let check = Check::compare(b"f", b"q", Compare::NotEqual, b"value").encode(b"row");
    let condition = mutate_message(&put.add(b"f", b"q", b"").0, &check)
        .condition
        .unwrap();
    assert_eq!(
        (condition.row, condition.compare_type),
        (b"row".to_vec(), Some(3))
    );
    let comparator = condition.comparator.unwrap();
    let value = pb::BinaryComparator::decode(&*comparator.serialized_comparator.unwrap()).unwrap();
    assert_eq!(value.comparable.value.unwrap(), b"value");
}

#[test]
fn what_no_cell_can_hold_is_refused() {
    let mut put = Put::new(b"row");
    assert!(put.0.check().is_err(), "nothing in it");
    assert!(put.add(&[b'f'; 128], b"q", b"").0.check().is_err());
    put.reset(b"row");
    assert!(put.add(b"f", &vec![0; 1 << 15], b"").0.check().is_err());
    put.reset(b"row");
    assert!(put.add(b"f", b"q", b"").0.check().is_ok());
    assert!(Delete::new(b"row").0.check().is_ok());
    assert!(Delete::new(b"").0.check().is_err());
}
