//! HBase.proto and Comparator.proto: what several services share.

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TableName {
    #[prost(bytes = "vec", required, tag = "1")]
    pub namespace: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    pub qualifier: Vec<u8>,
}

/// `state`: 0 enabled, 1 disabled, 2 disabling, 3 enabling.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TableState {
    #[prost(int32, required, tag = "1")]
    pub state: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RegionInfo {
    #[prost(uint64, required, tag = "1")]
    pub region_id: u64,
    #[prost(message, required, tag = "2")]
    pub table_name: TableName,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub start_key: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub end_key: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "5")]
    pub offline: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub split: Option<bool>,
    #[prost(int32, optional, tag = "7")]
    pub replica_id: Option<i32>,
}

/// `type` 1 is REGION_NAME: the full name; HBase refuses the encoded one for data calls.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RegionSpecifier {
    #[prost(int32, required, tag = "1")]
    pub r#type: i32,
    #[prost(bytes = "vec", required, tag = "2")]
    pub value: Vec<u8>,
}

impl RegionSpecifier {
    pub(crate) fn by_name(name: &[u8]) -> Self {
        Self {
            r#type: 1,
            value: name.to_vec(),
        }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TimeRange {
    #[prost(uint64, optional, tag = "1")]
    pub from: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub to: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub(crate) struct ServerName {
    #[prost(string, required, tag = "1")]
    pub host_name: String,
    #[prost(uint32, optional, tag = "2")]
    pub port: Option<u32>,
    #[prost(uint64, optional, tag = "3")]
    pub start_code: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct NameBytesPair {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub value: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct VersionInfo {
    #[prost(string, required, tag = "1")]
    pub version: String,
    #[prost(string, required, tag = "2")]
    pub url: String,
    #[prost(string, required, tag = "3")]
    pub revision: String,
    #[prost(string, required, tag = "4")]
    pub user: String,
    #[prost(string, required, tag = "5")]
    pub date: String,
    #[prost(string, required, tag = "6")]
    pub src_checksum: String,
    #[prost(uint32, optional, tag = "7")]
    pub version_major: Option<u32>,
    #[prost(uint32, optional, tag = "8")]
    pub version_minor: Option<u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RegionLocation {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(message, optional, tag = "2")]
    pub server_name: Option<ServerName>,
    #[prost(int64, required, tag = "3")]
    pub seq_num: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Comparator {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub serialized_comparator: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ByteArrayComparable {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub value: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BinaryComparator {
    #[prost(message, required, tag = "1")]
    pub comparable: ByteArrayComparable,
}
