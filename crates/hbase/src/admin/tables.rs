//! Tables: made, described, switched off and on, emptied, dropped.

use super::procedure::nonce;
use super::{Admin, TableDescriptor};
use crate::error::Error;
use crate::names::TableName;
use crate::pb::admin::{
    CreateTableRequest, GetTableDescriptorsRequest, GetTableDescriptorsResponse,
    GetTableNamesRequest, GetTableNamesResponse, GetTableStateRequest, GetTableStateResponse,
    TableRequest, TruncateTableRequest,
};

/// Whether a table serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableState {
    /// It serves.
    Enabled,
    /// It does not.
    Disabled,
    /// On the way to [`Self::Disabled`].
    Disabling,
    /// On the way to [`Self::Enabled`].
    Enabling,
}

impl Admin {
    /// Makes a table, split at `splits` (so many regions and one more), and waits until it serves.
    ///
    /// Fails with `TableExistsException` if there is one of the name, and if the servers lack a codec.
    pub async fn create_table(
        &self,
        table: &TableDescriptor,
        splits: &[Vec<u8>],
    ) -> Result<(), Error> {
        check_splits(splits)?;
        let request = CreateTableRequest {
            table_schema: table.to_pb(),
            split_keys: splits.to_vec(),
            nonce_group: Some(nonce()),
            nonce: Some(nonce()),
        };
        self.procedure("CreateTable", &request).await
    }

    /// The table as the master knows it.
    pub async fn describe(&self, table: &TableName) -> Result<TableDescriptor, Error> {
        self.descriptor(table)
            .await?
            .ok_or_else(|| Error::NoTable(table.clone()))
    }

    /// Whether there is such a table, enabled or not.
    pub async fn table_exists(&self, table: &TableName) -> Result<bool, Error> {
        Ok(self.descriptor(table).await?.is_some())
    }

    /// All tables but the system's.
    pub async fn tables(&self) -> Result<Vec<TableName>, Error> {
        let request = GetTableNamesRequest {
            include_sys_tables: Some(false),
        };
        let answer: GetTableNamesResponse = self.ask("GetTableNames", &request).await?;
        Ok(answer.table_names.iter().map(TableName::from_pb).collect())
    }

    /// Whether the table serves.
    pub async fn table_state(&self, table: &TableName) -> Result<TableState, Error> {
        let request = GetTableStateRequest {
            table_name: table.to_pb(),
        };
        let answer: GetTableStateResponse = self.ask("GetTableState", &request).await?;
        Ok(match answer.table_state.state {
            0 => TableState::Enabled,
            1 => TableState::Disabled,
            2 => TableState::Disabling,
            _ => TableState::Enabling,
        })
    }

    /// Switches an enabled table off, and waits for it.
    pub async fn disable(&self, table: &TableName) -> Result<(), Error> {
        self.procedure("DisableTable", &table_request(table)).await
    }

    /// Switches a disabled table on, and waits until all its regions are open.
    pub async fn enable(&self, table: &TableName) -> Result<(), Error> {
        self.procedure("EnableTable", &table_request(table)).await
    }

    /// Deletes the table with all data; it is switched off first if need be.
    pub async fn drop_table(&self, table: &TableName) -> Result<(), Error> {
        self.switch_off(table).await?;
        self.procedure("DeleteTable", &table_request(table)).await
    }

    /// Deletes all data of the table and waits until it serves again; its regions stay, or become one.
    pub async fn truncate(&self, table: &TableName, keep_splits: bool) -> Result<(), Error> {
        self.switch_off(table).await?;
        let request = TruncateTableRequest {
            table_name: table.to_pb(),
            preserve_splits: Some(keep_splits),
            nonce_group: Some(nonce()),
            nonce: Some(nonce()),
        };
        self.procedure("truncateTable", &request).await
    }

    async fn switch_off(&self, table: &TableName) -> Result<(), Error> {
        match self.table_state(table).await? {
            TableState::Disabled => Ok(()),
            _ => self.disable(table).await,
        }
    }

    async fn descriptor(&self, table: &TableName) -> Result<Option<TableDescriptor>, Error> {
        let request = GetTableDescriptorsRequest {
            table_names: vec![table.to_pb()],
            include_sys_tables: Some(true),
        };
        let answer: GetTableDescriptorsResponse = self.ask("GetTableDescriptors", &request).await?;
        let read = |schema| {
            TableDescriptor::from_pb(schema).ok_or_else(|| {
                Error::Input(format!(
                    "table {table} has attributes that this client cannot read"
                ))
            })
        };
        answer.table_schema.first().map(read).transpose()
    }
}

fn table_request(table: &TableName) -> TableRequest {
    TableRequest {
        table_name: table.to_pb(),
        nonce_group: Some(nonce()),
        nonce: Some(nonce()),
    }
}

/// The master would refuse them too, but only inside a procedure and in its own words.
fn check_splits(splits: &[Vec<u8>]) -> Result<(), Error> {
    let ascending = splits.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || splits.first().is_some_and(Vec::is_empty) {
        return Err(Error::Input(
            "split keys must ascend, and none may be empty or stand twice".to_owned(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_keys_ascend() {
        let keys = |words: &[&str]| {
            words
                .iter()
                .map(|word| word.as_bytes().to_vec())
                .collect::<Vec<_>>()
        };
        assert!(check_splits(&[]).is_ok());
        assert!(check_splits(&keys(&["a", "b", "ba"])).is_ok());
        for bad in [&["b", "a"][..], &["a", "a"], &["", "a"]] {
            assert!(check_splits(&keys(bad)).is_err(), "{bad:?}");
        }
    }
}
