//! Names: of tables, of servers, of where they listen.

use crate::pb;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A text that is no name, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAName(pub String);

/// A table's name; `default` is the namespace of names without one.
///
/// Parsed from `table` or `namespace:table`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    namespace: Arc<str>,
    qualifier: Arc<str>,
}

impl TableName {
    /// The namespace, `default` if none was named.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name within its namespace.
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// As the message the servers use.
    pub(crate) fn to_pb(&self) -> pb::TableName {
        pb::TableName {
            namespace: self.namespace.as_bytes().to_vec(),
            qualifier: self.qualifier.as_bytes().to_vec(),
        }
    }

    /// From the message the servers use.
    pub(crate) fn from_pb(name: &pb::TableName) -> Self {
        Self {
            namespace: String::from_utf8_lossy(&name.namespace).into(),
            qualifier: String::from_utf8_lossy(&name.qualifier).into(),
        }
    }
}

const DEFAULT_NAMESPACE: &str = "default";

/// HBase's rule: letters, digits, `_`, `-`, `.`, and no `-` or `.` first.
fn legal(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(['-', '.'])
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

impl FromStr for TableName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let (namespace, qualifier) = text.split_once(':').unwrap_or((DEFAULT_NAMESPACE, text));
        if !legal(namespace) || !legal(qualifier) {
            return Err(NotAName(format!(
                "`{text}` cannot be a table's name: use `table` or `namespace:table` of letters, digits, `_`, `-` and `.`, \
                 beginning with neither `-` nor `.`"
            )));
        }
        Ok(Self {
            namespace: namespace.into(),
            qualifier: qualifier.into(),
        })
    }
}

/// As HBase writes it: without the namespace if that is `default`. This is also how region names begin.
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if &*self.namespace != DEFAULT_NAMESPACE {
            write!(f, "{}:", self.namespace)?;
        }
        f.write_str(&self.qualifier)
    }
}

/// Where a server listens. Parsed from `host:port`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// Host name or IP address (IPv6 without brackets).
    pub host: Arc<str>,
    /// TCP port of its RPC server.
    pub port: u16,
}

impl Address {
    /// Of a host and a port.
    pub fn new(host: &str, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }
}

impl FromStr for Address {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let wrong = || NotAName(format!("`{text}` is not `host:port`"));
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let host = host
            .strip_prefix('[')
            .and_then(|inner| inner.strip_suffix(']'))
            .unwrap_or(host);
        let port = port.parse().map_err(|_| wrong())?;
        if host.is_empty() || port == 0 {
            return Err(wrong());
        }
        Ok(Self::new(host, port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// One run of a server process: where it listens and when it started.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName {
    /// Where it listens.
    pub address: Address,
    /// When it started, milliseconds since 1970; tells a restarted server from its predecessor.
    pub start_code: u64,
}

impl ServerName {
    /// From the message the servers use; None without a port.
    pub(crate) fn from_pb(name: &pb::ServerName) -> Option<Self> {
        let port = name.port.and_then(|port| u16::try_from(port).ok())?;
        Some(Self {
            address: Address::new(&name.host_name, port),
            start_code: name.start_code.unwrap_or(0),
        })
    }

    /// As the message the servers use.
    pub(crate) fn to_pb(&self) -> pb::ServerName {
        pb::ServerName {
            host_name: self.address.host.to_string(),
            port: Some(self.address.port.into()),
            start_code: Some(self.start_code),
        }
    }
}

/// HBase's own form, `host,port,startcode`.
impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{},{},{}",
            self.address.host, self.address.port, self.start_code
        )
    }
}

impl FromStr for ServerName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let wrong = || NotAName(format!("`{text}` is not `host,port,startcode`"));
        let mut parts = text.rsplitn(3, ',');
        let (Some(start_code), Some(port), Some(host)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        Ok(Self {
            address: Address::new(host, port.parse().map_err(|_| wrong())?),
            start_code: start_code.parse().map_err(|_| wrong())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_namespace() {
        let plain: TableName = "usertable".parse().unwrap();
        assert_eq!(
            (plain.namespace(), plain.qualifier()),
            ("default", "usertable")
        );
        assert_eq!(plain.to_string(), "usertable");
        let meta: TableName = "hbase:meta".parse().unwrap();
        assert_eq!(meta.to_string(), "hbase:meta");
        assert_eq!(TableName::from_pb(&meta.to_pb()), meta);
        for bad in ["", "a:b:c", ":t", "t:", "-t", "a b"] {
            assert!(bad.parse::<TableName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_and_server_names_are_read_back() {
        for text in ["127.0.0.1:16020", "[::1]:16020", "host.example:1"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for bad in ["", "host", "host:", ":1", "host:0", "host:x", "host:70000"] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        let name: ServerName = "rs1,16020,1700000000000".parse().unwrap();
        assert_eq!(name.to_string(), "rs1,16020,1700000000000");
        assert_eq!(ServerName::from_pb(&name.to_pb()).unwrap(), name);
    }
}
