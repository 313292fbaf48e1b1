//! From the plan's words to values the driver can use. Nothing here touches the network.

use super::plan::{DURABILITIES, HbasePlan};
use crate::driver::OpenError;
use crate::operation::FieldSet;
use crate::plan::{Plan, Workload, words};
use std::time::Duration;
use steelyard_hbase::{Columns, Config, Durability, Registry, Retries};

/// Making a connection may take this long at most.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The client's configuration: single attempts, since retries and deadlines are the engine's.
pub(super) fn config(options: &HbasePlan, plan: &Plan) -> Config {
    let registry = if options.zookeeper.is_empty() {
        Registry::Servers(options.registry.clone())
    } else {
        Registry::ZooKeeper {
            quorum: options.zookeeper.clone(),
            parent: options.zookeeper_parent.clone(),
        }
    };
    let attempt_timeout = Duration::from_millis(plan.attempt_timeout_ms);
    Config {
        registry,
        user: options.user.clone(),
        connections: options.connections as usize,
        connect_timeout: CONNECT_TIMEOUT.min(attempt_timeout),
        attempt_timeout,
        retries: Retries::None,
        ..Config::default()
    }
}

/// The durability of that name.
pub(super) fn durability(text: &str) -> Result<Durability, OpenError> {
    const ALL: [Durability; DURABILITIES.len()] = [
        Durability::UseDefault,
        Durability::SkipWal,
        Durability::AsyncWal,
        Durability::SyncWal,
        Durability::FsyncWal,
    ];
    words::position("driver.durability", "durability", text, &DURABILITIES)
        .map(|index| ALL[index])
        .map_err(OpenError::Option)
}

/// The family and its columns, made once.
pub(super) struct Names {
    family: Vec<u8>,
    prefix: Vec<u8>,
    qualifiers: Vec<Vec<u8>>,
    all: Columns,
    each: Vec<Columns>,
}

impl Names {
    /// Columns are the workload's field prefix and the field's index.
    pub fn new(family: &str, workload: &Workload) -> Self {
        let prefix = &workload.fields.prefix;
        let qualifiers: Vec<_> = (0..workload.fields.count)
            .map(|index| format!("{prefix}{index}").into_bytes())
            .collect();
        let one = |qualifier: &Vec<u8>| Columns::all().column(family.as_bytes(), qualifier);
        Self {
            all: Columns::all().family(family.as_bytes()),
            each: qualifiers.iter().map(one).collect(),
            family: family.as_bytes().to_vec(),
            prefix: prefix.as_bytes().to_vec(),
            qualifiers,
        }
    }

    /// The family.
    pub fn family(&self) -> &[u8] {
        &self.family
    }

    /// The column of `field`.
    pub fn qualifier(&self, field: u16) -> &[u8] {
        &self.qualifiers[usize::from(field)]
    }

    /// What a read of these fields asks for.
    pub fn columns(&self, fields: FieldSet) -> &Columns {
        match fields {
            FieldSet::All => &self.all,
            FieldSet::One(field) => &self.each[usize::from(field)],
        }
    }

    /// Which field a column is, if it is one.
    pub fn field(&self, qualifier: &[u8]) -> Option<u16> {
        let digits = qualifier.strip_prefix(self.prefix.as_slice())?;
        let mut index = 0usize;
        for digit in digits {
            let digit = digit.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            index = index * 10 + usize::from(digit);
            if index >= self.qualifiers.len() {
                return None;
            }
        }
        (self.qualifiers[index] == qualifier).then_some(index as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_column_is_its_fields_index_and_nothing_else_is() {
        let workload = json!({"records": 10, "mix": {"read": 1}, "request": {"kind": "uniform"}, "fields": {"count": 12}});
        let names = Names::new("family", &serde_json::from_value(workload).unwrap());
        for field in 0..12 {
            assert_eq!(names.field(names.qualifier(field)), Some(field));
        }
        let others: [&[u8]; 6] = [
            b"field",
            b"field12",
            b"field01",
            b"other",
            b"field1x",
            b"field99999999999999999999",
        ];
        assert!(others.iter().all(|other| names.field(other).is_none()));
    }

    #[test]
    fn words_of_durability_have_their_meaning() {
        assert!(matches!(durability("fsync_wal"), Ok(Durability::FsyncWal)));
        assert!(durability("SYNC").is_err());
    }
}
