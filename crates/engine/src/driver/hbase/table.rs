//! The table: made by engine 0 where it is missing, waited for by the others, refused where it is not as planned.

use super::outcome::unopened;
use super::plan::HbasePlan;
use crate::driver::OpenError;
use crate::generate::split::splits;
use crate::plan::Plan;
use std::time::{Duration, Instant};
use steelyard_hbase::admin::{Admin, Family, TableDescriptor, TableState};
use steelyard_hbase::{Client, Table};

/// How long making or dropping the table may take, and how long an engine waits for the one that does.
const TABLE_TIMEOUT: Duration = Duration::from_secs(180);
/// How often a waiting engine looks.
const TABLE_POLL: Duration = Duration::from_millis(200);

/// Have the table as planned, and know where its regions are.
pub(super) async fn prepare(
    client: &Client,
    table: &Table,
    options: &HbasePlan,
    plan: &Plan,
) -> Result<(), OpenError> {
    let admin = client.admin().within(TABLE_TIMEOUT);
    let first = plan.engine.index == 0;
    if first {
        create(&admin, table, options, plan).await?;
    }
    let began = Instant::now();
    loop {
        let reason = match serving(client, &admin, table, options).await {
            Ok(()) => return Ok(()),
            Err(reason @ OpenError::Shape(_)) if first => return Err(reason),
            Err(reason) => reason, // with `fresh` an old table may stand in its place for a while
        };
        if began.elapsed() > TABLE_TIMEOUT {
            return Err(reason);
        }
        tokio::time::sleep(TABLE_POLL).await;
    }
}

/// Make the table if it is missing; `fresh` drops it first.
async fn create(
    admin: &Admin,
    table: &Table,
    options: &HbasePlan,
    plan: &Plan,
) -> Result<(), OpenError> {
    let name = table.name();
    let mut exists = admin.table_exists(name).await.map_err(unopened)?;
    if exists && options.fresh {
        admin.drop_table(name).await.map_err(unopened)?;
        exists = false;
    }
    if exists {
        return Ok(());
    }
    let planned = TableDescriptor::new(name.clone(), [family(options)?]);
    let splits = splits(
        &plan.workload.key,
        plan.workload.records,
        options.regions_of(plan.workload.records),
    );
    admin
        .create_table(&planned, &splits)
        .await
        .map_err(unopened)
}

/// The family as the plan would make it.
fn family(options: &HbasePlan) -> Result<Family, OpenError> {
    let mut family = Family::new(&options.family);
    let bloom = options.bloom.to_ascii_uppercase();
    family.bloom = bloom.parse().map_err(unopened)?;
    family.versions = options.versions;
    family.compression = options.compression.to_ascii_uppercase();
    family.block_cache = options.block_cache;
    Ok(family)
}

/// Whether the table is as planned and all its regions have a server.
async fn serving(
    client: &Client,
    admin: &Admin,
    table: &Table,
    options: &HbasePlan,
) -> Result<(), OpenError> {
    let name = table.name();
    if !admin.table_exists(name).await.map_err(unopened)? {
        let patience = TABLE_TIMEOUT.as_secs();
        return Err(OpenError::Reach(format!(
            "engine 0 did not create table {name} within {patience} s"
        )));
    }
    let found = admin.describe(name).await.map_err(unopened)?;
    let differences = differences(&found, &family(options)?);
    if !differences.is_empty() {
        return Err(OpenError::Shape(format!(
            "table {name} has another shape: {}; `--fresh` drops it, or ask for what it has",
            differences.join("; ")
        )));
    }
    match admin.table_state(name).await.map_err(unopened)? {
        TableState::Enabled => {}
        TableState::Disabled => {
            return Err(OpenError::Shape(format!(
                "table {name} is disabled: enable it, or drop it with `--fresh`"
            )));
        }
        TableState::Disabling | TableState::Enabling => {
            return Err(OpenError::Reach(format!("table {name} does not serve yet")));
        }
    }
    let all = admin.regions(name).await.map_err(unopened)?.len();
    let placed = client.warm(table).await.map_err(unopened)?;
    if placed == 0 || placed < all {
        let text = format!("{placed} of the {all} regions of table {name} have a server");
        return Err(OpenError::Reach(text));
    }
    Ok(())
}

/// What a table has otherwise than planned.
fn differences(found: &TableDescriptor, planned: &Family) -> Vec<String> {
    let Some(family) = found.families.iter().find(|f| f.name == planned.name) else {
        let names: Vec<_> = found.families.iter().map(|f| f.name.as_str()).collect();
        return vec![format!(
            "no family {:?}, it has {}",
            planned.name,
            names.join(", ")
        )];
    };
    [
        ("bloom", family.bloom.to_string(), planned.bloom.to_string()),
        (
            "versions",
            family.versions.to_string(),
            planned.versions.to_string(),
        ),
        (
            "compression",
            family.compression.to_ascii_uppercase(),
            planned.compression.clone(),
        ),
        (
            "block_cache",
            family.block_cache.to_string(),
            planned.block_cache.to_string(),
        ),
    ]
    .into_iter()
    .filter(|(_, found, planned)| found != planned)
    .map(|(what, found, planned)| format!("{what} is {found}, not {planned}"))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(family: Family) -> TableDescriptor {
        TableDescriptor::new("t".parse().unwrap(), [family])
    }

    #[test]
    fn a_table_as_planned_has_no_differences() {
        let mut family = Family::new("family");
        assert!(differences(&table(family.clone()), &family).is_empty());
        family.compression = "none".into();
        assert!(differences(&table(family), &Family::new("family")).is_empty());
    }

    #[test]
    fn every_difference_is_named() {
        let planned = Family::new("family");
        let mut other = planned.clone();
        other.versions = 3;
        other.block_cache = false;
        assert_eq!(
            differences(&table(other), &planned),
            ["versions is 3, not 1", "block_cache is false, not true"]
        );
        assert_eq!(
            differences(&table(Family::new("cf")), &planned),
            ["no family \"family\", it has cf"]
        );
    }
}
