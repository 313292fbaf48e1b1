//! Registry.proto: the connection registry that masters (2.3 and later) and region servers (2.5 and later) answer.

use super::{RegionLocation, ServerName};

/// Every request of the registry is empty.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Empty {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetClusterIdResponse {
    #[prost(string, optional, tag = "1")]
    pub cluster_id: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetActiveMasterResponse {
    #[prost(message, optional, tag = "1")]
    pub server_name: Option<ServerName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GetMetaRegionLocationsResponse {
    #[prost(message, repeated, tag = "1")]
    pub meta_locations: Vec<RegionLocation>,
}
