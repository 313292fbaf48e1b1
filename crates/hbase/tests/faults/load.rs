//! The load: single puts of keys that are never used twice, and what became of each.

use super::{Client, TableName, connect, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use steelyard_hbase::{Get, Put, Table};
use tokio::task::JoinHandle;
use tokio::time::sleep;

const CLIENTS: u64 = 16;
const FAMILY: &[u8] = b"f";
/// Between a client's puts: servers that share few processors with an unbounded load miss each other's heartbeats.
const THINK: Duration = Duration::from_millis(5);

/// Clients that put, each soon after its last put was answered.
pub struct Load {
    table: TableName,
    stopped: Arc<AtomicBool>,
    advanced: Vec<Arc<AtomicU64>>,
    clients: Vec<JoinHandle<Journal>>,
}

/// What a client saw.
#[derive(Default)]
struct Journal {
    acknowledged: Vec<u64>,
    failed: Vec<String>,
    cost: Cost,
}

/// What a fault cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Puts that took more than one attempt.
    pub retried: u64,
    /// Attempts of the put that took most.
    pub most_attempts: usize,
    /// Time of the put that took longest.
    pub longest: Duration,
}

impl Load {
    pub fn start(client: &Client, table: &TableName) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let advanced: Vec<_> = (0..CLIENTS).map(|_| Arc::new(AtomicU64::new(0))).collect();
        let opened = client.table(&table.to_string()).unwrap();
        let clients = advanced.iter().enumerate().map(|(number, advanced)| {
            let puts = put_until(
                client.clone(),
                opened.clone(),
                number as u64,
                advanced.clone(),
                stopped.clone(),
            );
            tokio::spawn(puts)
        });
        let clients = clients.collect();
        Self {
            table: table.clone(),
            stopped,
            advanced,
            clients,
        }
    }

    /// Waits until every client got through so many more puts: then no region is out of reach.
    pub async fn everybody_advances(&self, by: u64) {
        let now = || {
            self.advanced
                .iter()
                .map(|count| count.load(Ordering::Relaxed))
        };
        let goals: Vec<u64> = now().map(|count| count + by).collect();
        until("every client gets through", async || {
            now().zip(&goals).all(|(count, goal)| count >= *goal)
        })
        .await;
    }

    /// Ends the load; every put must have been acknowledged, and every acknowledged key is read back by another client.
    pub async fn stop(self, what: &str) -> Cost {
        self.stopped.store(true, Ordering::Relaxed);
        let mut all = Journal::default();
        for client in self.clients {
            all.merge(client.await.expect("the client did not panic"));
        }
        assert!(
            all.failed.is_empty(),
            "{} puts failed, the first: {}",
            all.failed.len(),
            all.failed[0]
        );
        let lost = lost(&self.table, &all.acknowledged).await;
        println!(
            "{what}: {} acknowledged, {} lost, {:?}",
            all.acknowledged.len(),
            lost.len(),
            all.cost
        );
        assert!(
            lost.is_empty(),
            "acknowledged but gone: {:?}",
            &lost[..lost.len().min(10)]
        );
        all.cost
    }
}

impl Journal {
    fn merge(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.failed.extend(other.failed);
        self.cost.retried += other.cost.retried;
        self.cost.most_attempts = self.cost.most_attempts.max(other.cost.most_attempts);
        self.cost.longest = self.cost.longest.max(other.cost.longest);
    }
}

async fn put_until(
    client: Client,
    table: Table,
    number: u64,
    advanced: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
) -> Journal {
    let mut journal = Journal::default();
    for key in (0..).map(|count: u64| count * CLIENTS + number) {
        if stopped.load(Ordering::Relaxed) {
            break;
        }
        let row = row(key);
        let mut put = Put::new(&row);
        put.add(FAMILY, b"q", &row);
        let began = Instant::now();
        let failures = match client.put(&table, &put).await {
            Ok(answer) => {
                journal.acknowledged.push(key);
                answer.failed.len()
            }
            Err(failed) => {
                journal.failed.push(failed.to_string());
                failed.attempts.len()
            }
        };
        journal.cost.retried += u64::from(failures > 0);
        journal.cost.most_attempts = journal.cost.most_attempts.max(failures + 1);
        journal.cost.longest = journal.cost.longest.max(began.elapsed());
        advanced.fetch_add(1, Ordering::Relaxed);
        sleep(THINK).await;
    }
    journal
}

/// The keys whose row is not there, or holds something else.
async fn lost(table: &TableName, keys: &[u64]) -> Vec<u64> {
    let client = connect().await;
    let table = client.table(&table.to_string()).unwrap();
    let parts = keys.chunks(keys.len().div_ceil(CLIENTS as usize).max(1));
    let readers: Vec<_> = parts
        .map(|part| tokio::spawn(missing(client.clone(), table.clone(), part.to_vec())))
        .collect();
    let mut lost = Vec::new();
    for reader in readers {
        lost.extend(reader.await.expect("the reader did not panic"));
    }
    lost
}

async fn missing(client: Client, table: Table, keys: Vec<u64>) -> Vec<u64> {
    let mut missing = Vec::new();
    for key in keys {
        let row = row(key);
        let answer = client.get(&table, &Get::new(&row)).await.unwrap();
        if answer.value.value(FAMILY, b"q") != Some(&*row) {
            missing.push(key);
        }
    }
    missing
}

/// A row of 16 hexadecimal digits, spread over all regions; different for different keys (an odd factor is invertible).
fn row(key: u64) -> Vec<u8> {
    format!("{:016x}", key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).into_bytes()
}
