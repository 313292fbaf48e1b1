//! The embedded driver: a fjall store (a log-structured merge tree) inside this process.
//!
//! Its calls block, so the engine gives each client a thread. A record is one value holding all fields (see [`row`]); any
//! write is therefore a read, a merge and a write, done under a lock of the record's shard. Scans follow key order.

mod row;

use super::{Attempts, Blocking, Database, OpenError, Options};
use crate::generate::Generator;
use crate::generate::values::Values;
use crate::operation::{FieldSet, Kind, Operation, Outcome};
use crate::plan::{Plan, Workload};
use crate::reply::Reply;
use fjall::{Keyspace, KeyspaceCreateOptions, PersistMode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Version of the store, for the facts; a test compares it with the lock file.
const FJALL_VERSION: &str = "3.1.13";
/// Block cache, bytes. The store's own default, written down so that it is reported.
const CACHE_BYTES: u64 = 32 << 20;
/// A memtable's most bytes before it is flushed. The store's own default.
const MEMTABLE_BYTES: u64 = 64 << 20;
/// Locks that serialise writes to one record; far more than clients, so that two records rarely share one.
const SHARDS: usize = 1024;
/// The keyspace that remembers the shape of each table.
const SHAPES: &str = "_steelyard";
/// Version of the row encoding.
const ENCODING: u32 = 1;

thread_local! {
    /// The row being built: one buffer for each client thread, so that a write does not grow a new one.
    static ROW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Options of the embedded driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddedPlan {
    /// The store's directory; created if missing.
    pub path: PathBuf,
    /// fsync after every write.
    #[serde(default)]
    pub sync: bool,
    /// Empty the store first.
    #[serde(default)]
    pub fresh: bool,
}

/// An open store.
pub struct Embedded {
    database: fjall::Database,
    table: Keyspace,
    fields: usize,
    sync: bool,
    locks: Box<[Mutex<()>]>,
    facts: Value,
}

impl Embedded {
    /// Open the store in `options.path`, creating directory and table if missing.
    ///
    /// # Errors
    /// [`OpenError::Reach`] if the directory cannot be used, for one because another process holds it;
    /// [`OpenError::Shape`] if the table was written with another number of fields;
    /// [`OpenError::Option`] for a table name that cannot be one.
    pub fn open(options: &EmbeddedPlan, workload: &Workload) -> Result<Self, OpenError> {
        check_name(&workload.table)?;
        let database = fjall::Database::builder(&options.path)
            .cache_size(CACHE_BYTES)
            .open()
            .map_err(|error| reach(options, &error))?;
        let keyspace = |name: &str| {
            database
                .keyspace(name, || {
                    KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES)
                })
                .map_err(|error| reach(options, &error))
        };
        let table = keyspace(&workload.table)?;
        let shapes = keyspace(SHAPES)?;
        if options.fresh {
            table.clear().map_err(|error| reach(options, &error))?;
        }
        agree_on_shape(options, workload, &shapes)?;
        Ok(Self {
            table,
            fields: workload.fields.count as usize,
            sync: options.sync,
            locks: (0..SHARDS).map(|_| Mutex::new(())).collect(),
            facts: facts(options, &database),
            database,
        })
    }

    fn lock(&self, key: &[u8]) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        // The lock guards no data of its own: a client that panicked while holding it left nothing half done.
        self.locks[hasher.finish() as usize % SHARDS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, op: &Operation, values: &Values, reply: &mut Reply) -> fjall::Result<Outcome> {
        match op.kind {
            Kind::Read => self.read(op, values, reply),
            Kind::Scan => self.scan(op, values, reply),
            Kind::Insert | Kind::Update => self.write(op),
            Kind::Delete => self.delete(op),
            other => {
                reply.error = Some(format!("{} is not one row's operation", other.name()));
                Ok(Outcome::Client)
            }
        }
    }

    fn read(&self, op: &Operation, values: &Values, reply: &mut Reply) -> fjall::Result<Outcome> {
        let key = op.key.as_bytes();
        let Some(row) = self.table.get(key)? else {
            return Ok(Outcome::NotFound);
        };
        Ok(show(&row, key, op.fields, values, reply))
    }

    fn scan(&self, op: &Operation, values: &Values, reply: &mut Reply) -> fjall::Result<Outcome> {
        for entry in self
            .table
            .range(op.key.as_bytes()..)
            .take(op.scan_length as usize)
        {
            let (key, row) = entry.into_inner()?;
            let outcome = show(&row, &key, op.fields, values, reply);
            if outcome != Outcome::Ok {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Ok)
    }

    fn write(&self, op: &Operation) -> fjall::Result<Outcome> {
        let key = op.key.as_bytes();
        ROW.with_borrow_mut(|new| {
            let held = self.lock(key);
            let old = self.table.get(key)?;
            row::write(old.as_deref().unwrap_or_default(), op, self.fields, new);
            self.table.insert(key, new.as_slice())?;
            drop(held);
            self.acknowledge()
        })
    }

    fn delete(&self, op: &Operation) -> fjall::Result<Outcome> {
        let key = op.key.as_bytes();
        ROW.with_borrow_mut(|new| {
            let held = self.lock(key);
            let old = self.table.get(key)?;
            if row::delete(old.as_deref().unwrap_or_default(), op.timestamp_us, new) {
                self.table.insert(key, new.as_slice())?;
            } else {
                self.table.remove(key)?;
            }
            drop(held);
            self.acknowledge()
        })
    }

    fn acknowledge(&self) -> fjall::Result<Outcome> {
        if self.sync {
            self.database.persist(PersistMode::SyncAll)?;
        }
        Ok(Outcome::Ok)
    }
}

impl Options for EmbeddedPlan {
    async fn open(&self, plan: &Plan) -> Result<Arc<dyn Database>, OpenError> {
        let store = Embedded::open(self, &plan.workload)?;
        Ok(Arc::new(Opened(Arc::new(store))))
    }
}

/// The store as its clients share it.
struct Opened(Arc<Embedded>);

impl Database for Opened {
    fn attempts(&self, _: &Arc<Generator>) -> io::Result<Attempts> {
        Ok(Attempts::Blocking(self.0.clone()))
    }

    fn facts(&self) -> Value {
        self.0.facts.clone()
    }
}

impl Blocking for Embedded {
    /// A call cannot be interrupted, so `timeout` is not looked at: the caller's clocks tell the truth.
    fn execute(
        &self,
        op: &Operation,
        _attempt: u32,
        _timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        self.run(op, values, reply).unwrap_or_else(|error| {
            reply.error = Some(error.to_string());
            Outcome::Server
        })
    }
}

/// Hand the wanted fields of a stored row to `reply`.
fn show(row: &[u8], key: &[u8], wanted: FieldSet, values: &Values, reply: &mut Reply) -> Outcome {
    reply.row();
    let mut fields = row::Fields::of(row);
    for (index, field) in (0..).zip(fields.by_ref()) {
        let asked = wanted == FieldSet::All || wanted == FieldSet::One(index);
        if let (true, Some(value)) = (asked, field.value) {
            reply.field(values, key, index, value);
        }
    }
    if fields.damaged() {
        reply.error = Some("the store returned bytes that are not a row".into());
        return Outcome::Server;
    }
    Outcome::Ok
}

fn check_name(table: &str) -> Result<(), OpenError> {
    let fits = !table.is_empty() && table.len() <= 200 && table != SHAPES;
    fits.then_some(()).ok_or_else(|| {
        OpenError::Option(format!(
            "workload.table: {table:?} cannot name a table: 1 to 200 bytes, not {SHAPES:?}"
        ))
    })
}

fn reach(options: &EmbeddedPlan, error: &fjall::Error) -> OpenError {
    let path = options.path.display();
    OpenError::Reach(match error {
        fjall::Error::Locked => format!("the store in {path} is in use by another process"),
        other => format!("the store in {path}: {other}"),
    })
}

/// Refuse a table of other shape; note the shape of a new or emptied one.
fn agree_on_shape(
    options: &EmbeddedPlan,
    workload: &Workload,
    shapes: &Keyspace,
) -> Result<(), OpenError> {
    let table = workload.table.as_str();
    let wanted = format!("encoding {ENCODING}, {} fields", workload.fields.count);
    let found = shapes.get(table).map_err(|error| reach(options, &error))?;
    match found {
        Some(found) if !options.fresh && *found != *wanted.as_bytes() => {
            Err(OpenError::Shape(format!(
                "table {table:?} in {} was written with {}; the plan wants {wanted}; `--fresh` empties it",
                options.path.display(),
                String::from_utf8_lossy(&found),
            )))
        }
        _ => shapes
            .insert(table, wanted.as_str())
            .map_err(|error| reach(options, &error)),
    }
}

fn facts(options: &EmbeddedPlan, database: &fjall::Database) -> Value {
    let acknowledged = if options.sync {
        "fsync of the journal before each write is acknowledged"
    } else {
        "the write is in the operating system's page cache: it survives this process, not the host"
    };
    json!({
        "system": "embedded",
        "clocks": "call",
        "store": "fjall",
        "store_version": FJALL_VERSION,
        "path": options.path,
        "sync": options.sync,
        "durability": acknowledged,
        "cache_bytes": database.cache_capacity(),
        "memtable_bytes": MEMTABLE_BYTES,
        "row_encoding": ENCODING,
        "writes": "read-modify-write of the whole row under a lock",
        "scan_order": "key",
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_reported_version_is_the_locked_one() {
        let lock = include_str!("../../../../../Cargo.lock");
        let expected = format!("name = \"fjall\"\nversion = \"{}\"", super::FJALL_VERSION);
        assert!(lock.contains(&expected), "the facts name another fjall");
    }
}
