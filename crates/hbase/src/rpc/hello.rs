//! The first bytes of a connection: magic, version, the way to prove who one is, and the connection header. No answer comes
//! unless the server refuses.

use super::Service;
use crate::pb;
use prost::Message;

const MAGIC: &[u8; 4] = b"HBas";
const RPC_VERSION: u8 = 0;
/// SIMPLE authentication: the server believes the name. Kerberos (81) and tokens (82) would begin a SASL exchange here, before
/// the header; this byte and the header's `user_info` are all that SIMPLE is.
const AUTH_SIMPLE: u8 = 80;
const CODEC: &str = "org.apache.hadoop.hbase.codec.KeyValueCodec";
/// Servers answer in cell blocks, and speak of scanners as we understand it, only to clients that say a version (1.4 or later).
const VERSION: (&str, u32, u32) = ("2.6.4", 2, 6);

/// What a connection for `service` begins with.
pub(super) fn bytes(service: Service, user: &str) -> Vec<u8> {
    let (version, major, minor) = VERSION;
    let header = pb::ConnectionHeader {
        user_info: Some(pb::UserInformation {
            effective_user: user.to_owned(),
            real_user: None,
        }),
        service_name: Some(service.name().to_owned()),
        cell_block_codec_class: Some(CODEC.to_owned()),
        version_info: Some(pb::VersionInfo {
            version: version.to_owned(),
            version_major: Some(major),
            version_minor: Some(minor),
            ..pb::VersionInfo::default()
        }),
    };
    let mut out = MAGIC.to_vec();
    out.extend([RPC_VERSION, AUTH_SIMPLE]);
    out.extend((header.encoded_len() as u32).to_be_bytes());
    header.encode(&mut out).expect("a vector grows");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_as_servers_expect() {
        let hello = bytes(Service::Client, "bench");
        assert_eq!(&hello[..6], b"HBas\x00\x50");
        assert_eq!(
            u32::from_be_bytes(hello[6..10].try_into().unwrap()) as usize,
            hello.len() - 10
        );
        let header = pb::ConnectionHeader::decode(&hello[10..]).unwrap();
        assert_eq!(header.user_info.unwrap().effective_user, "bench");
        assert_eq!(header.service_name.unwrap(), "ClientService");
        assert_eq!(header.version_info.unwrap().version_major, Some(2));
    }
}
