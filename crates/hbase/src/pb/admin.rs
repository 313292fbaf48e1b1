//! Admin.proto, Master.proto, ClusterStatus.proto and ZooKeeper.proto: what administration sends and reads.

use super::{RegionInfo, RegionSpecifier, ServerName, TableName, TableState};

// ---- tables (Master.proto, HBase.proto)

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BytesBytesPair {
    #[prost(bytes = "vec", required, tag = "1")]
    pub first: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    pub second: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ColumnFamilySchema {
    #[prost(bytes = "vec", required, tag = "1")]
    pub name: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<BytesBytesPair>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TableSchema {
    #[prost(message, optional, tag = "1")]
    pub table_name: Option<TableName>,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<BytesBytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub column_families: Vec<ColumnFamilySchema>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CreateTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_schema: TableSchema,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub split_keys: Vec<Vec<u8>>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// DeleteTable, EnableTable and DisableTable: one layout.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TruncateTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(bool, optional, tag = "2")]
    pub preserve_splits: Option<bool>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTableDescriptorsRequest {
    #[prost(message, repeated, tag = "1")]
    pub table_names: Vec<TableName>,
    #[prost(bool, optional, tag = "3")]
    pub include_sys_tables: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTableDescriptorsResponse {
    #[prost(message, repeated, tag = "1")]
    pub table_schema: Vec<TableSchema>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTableNamesRequest {
    #[prost(bool, optional, tag = "2")]
    pub include_sys_tables: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTableNamesResponse {
    #[prost(message, repeated, tag = "1")]
    pub table_names: Vec<TableName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTableStateRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetTableStateResponse {
    #[prost(message, required, tag = "1")]
    pub table_state: TableState,
}

// ---- procedures (Master.proto, ErrorHandling.proto)

/// The answer of every request that starts a procedure.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProcedureStarted {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetProcedureResultRequest {
    #[prost(uint64, required, tag = "1")]
    pub proc_id: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GenericExceptionMessage {
    #[prost(string, optional, tag = "1")]
    pub class_name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub message: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ForeignExceptionMessage {
    #[prost(message, optional, tag = "2")]
    pub generic_exception: Option<GenericExceptionMessage>,
}

/// `state`: 0 not found, 1 running, 2 finished.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetProcedureResultResponse {
    #[prost(int32, required, tag = "1")]
    pub state: i32,
    #[prost(message, optional, tag = "5")]
    pub exception: Option<ForeignExceptionMessage>,
}

// ---- regions (Master.proto, Admin.proto)

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SplitTableRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub split_row: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// The master wants the region's encoded name here (specifier type 2).
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MoveRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(message, optional, tag = "2")]
    pub dest_server_name: Option<ServerName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FlushRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CompactRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(bool, optional, tag = "2")]
    pub major: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetRegionInfoRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(bool, optional, tag = "2")]
    pub compaction_state: Option<bool>,
}

/// `compaction_state`: 0 none, 1 minor, 2 major, 3 both.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetRegionInfoResponse {
    #[prost(int32, optional, tag = "2")]
    pub compaction_state: Option<i32>,
}

// ---- the cluster (Master.proto, ClusterStatus.proto)

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct BalanceRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BalanceResponse {
    #[prost(bool, required, tag = "1")]
    pub balancer_ran: bool,
    #[prost(uint32, optional, tag = "2")]
    pub moves_calculated: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub moves_executed: Option<u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SetBalancerRunningRequest {
    #[prost(bool, required, tag = "1")]
    pub on: bool,
    #[prost(bool, optional, tag = "2")]
    pub synchronous: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SetBalancerRunningResponse {
    #[prost(bool, optional, tag = "1")]
    pub prev_balance_value: Option<bool>,
}

/// `options`: which fields of the status are wanted (`ClusterStatus.proto`, enum Option); empty = all.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetClusterStatusRequest {
    #[prost(int32, repeated, packed = "false", tag = "1")]
    pub options: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetClusterStatusResponse {
    #[prost(message, required, tag = "1")]
    pub cluster_status: ClusterStatus,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ClusterStatus {
    #[prost(message, optional, tag = "1")]
    pub hbase_version: Option<HBaseVersion>,
    #[prost(message, repeated, tag = "2")]
    pub live_servers: Vec<LiveServerInfo>,
    #[prost(message, repeated, tag = "3")]
    pub dead_servers: Vec<ServerName>,
    #[prost(message, repeated, tag = "4")]
    pub regions_in_transition: Vec<RegionInTransition>,
    #[prost(message, optional, tag = "7")]
    pub master: Option<ServerName>,
    #[prost(message, repeated, tag = "8")]
    pub backup_masters: Vec<ServerName>,
    #[prost(bool, optional, tag = "9")]
    pub balancer_on: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HBaseVersion {
    #[prost(string, required, tag = "1")]
    pub version: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct LiveServerInfo {
    #[prost(message, required, tag = "1")]
    pub server: ServerName,
    #[prost(message, required, tag = "2")]
    pub server_load: ServerLoad,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ServerLoad {
    #[prost(uint64, optional, tag = "2")]
    pub total_number_of_requests: Option<u64>,
    #[prost(uint32, optional, tag = "3")]
    pub used_heap_mib: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    pub max_heap_mib: Option<u32>,
    #[prost(message, repeated, tag = "5")]
    pub region_loads: Vec<RegionLoad>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RegionLoad {
    #[prost(message, required, tag = "1")]
    pub region_specifier: RegionSpecifier,
    #[prost(uint32, optional, tag = "3")]
    pub storefiles: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub storefile_size_mib: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    pub mem_store_size_mib: Option<u32>,
    #[prost(uint64, optional, tag = "8")]
    pub read_requests_count: Option<u64>,
    #[prost(uint64, optional, tag = "9")]
    pub write_requests_count: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RegionInTransition {
    #[prost(message, required, tag = "1")]
    pub spec: RegionSpecifier,
    #[prost(message, required, tag = "2")]
    pub region_state: RegionState,
}

/// `state`: enum State of ClusterStatus.proto.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RegionState {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(int32, required, tag = "2")]
    pub state: i32,
}

// ---- what stands in ZooKeeper (ZooKeeper.proto, ClusterId.proto)

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ClusterIdNode {
    #[prost(string, required, tag = "1")]
    pub cluster_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MasterNode {
    #[prost(message, required, tag = "1")]
    pub master: ServerName,
}

/// `state`: enum State of ClusterStatus.proto; absent means open.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MetaRegionServerNode {
    #[prost(message, required, tag = "1")]
    pub server: ServerName,
    #[prost(int32, optional, tag = "3")]
    pub state: Option<i32>,
}
