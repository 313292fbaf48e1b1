//! What one single-row call costs the client: calls in flight in a closed loop on one thread, for a while.
//!
//! `cargo run --release --example single_row -- REGISTRY TABLE IN_FLIGHT SECONDS get|put [ROWS]` prints one JSON object: throughput, CPU of
//! this process per call (and the kernel's part of it), calls per `read()` and `write()`, latencies, memory. The table is made, in three regions, if it is missing;
//! a put writes one column of 1,000 bytes, a get reads it: load with put first.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fs;
use std::rc::Rc;
use std::time::{Duration, Instant};
use steelyard_hbase::admin::{Family, TableDescriptor};
use steelyard_hbase::{Client, Config, Get, Put, Registry, Table};
use tokio::task::LocalSet;

const FAMILY: &[u8] = b"family";
const QUALIFIER: &[u8] = b"field0";
const VALUE: usize = 1000;

/// What the tasks share.
struct Bench {
    client: Client,
    table: Table,
    rows: u64,
    put: bool,
    number: Cell<u64>,
    until: Instant,
    done: Cell<u64>,
    failed: Cell<u64>,
    missing: Cell<u64>,
    latencies_ns: RefCell<Vec<u32>>,
}

/// Spread over the key space, every row once in `rows` calls.
fn key(number: u64, rows: u64) -> [u8; 20] {
    let mut key = *b"user0000000000000000";
    let spread = (number % rows).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut digits = spread % 10_000_000_000_000_000;
    for place in key[4..].iter_mut().rev() {
        *place += (digits % 10) as u8;
        digits /= 10;
    }
    key
}

async fn caller(bench: Rc<Bench>) {
    let once = bench.client.once();
    let mut put = Put::new(b"");
    let value = [b'x'; VALUE];
    while Instant::now() < bench.until {
        let number = bench.number.replace(bench.number.get() + 1);
        let key = key(number, bench.rows);
        let outcome = if bench.put {
            put.reset(&key).add(FAMILY, QUALIFIER, &value);
            once.put(&bench.table, &put)
                .await
                .map(|answer| answer.stamps)
        } else {
            let answer = once.get(&bench.table, &Get::new(&key)).await;
            answer.map(|answer| {
                let found = answer
                    .value
                    .value(FAMILY, QUALIFIER)
                    .is_some_and(|value| value.len() == VALUE);
                bench.missing.set(bench.missing.get() + u64::from(!found));
                answer.stamps
            })
        };
        match outcome {
            Ok(stamps) => {
                bench.done.set(bench.done.get() + 1);
                let ns = stamps.received_ns - stamps.sent_ns;
                bench
                    .latencies_ns
                    .borrow_mut()
                    .push(u32::try_from(ns).unwrap_or(u32::MAX));
            }
            Err(error) => {
                if bench.failed.replace(bench.failed.get() + 1) == 0 {
                    eprintln!("first error: {error}");
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// User and system time of this process, us; and the system's part of it.
fn cpu_us() -> (f64, f64) {
    // SAFETY: an all-zero rusage is valid and getrusage fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    let system = us(usage.ru_stime);
    (us(usage.ru_utime) + system, system)
}

fn resident_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

async fn make(client: &Client, table: &Table) -> Result<(), Box<dyn Error>> {
    let (admin, name) = (client.admin(), table.name().clone());
    if !admin.table_exists(&name).await? {
        let splits = [b"user3333".to_vec(), b"user6666".to_vec()];
        let descriptor = TableDescriptor::new(name, [Family::new("family")]);
        admin.create_table(&descriptor, &splits).await?;
    }
    Ok(())
}

async fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [registry, table, in_flight, seconds, what, rows @ ..] = arguments else {
        return Err("give: REGISTRY TABLE IN_FLIGHT SECONDS get|put [ROWS]".into());
    };
    let (in_flight, seconds): (usize, f64) = (in_flight.parse()?, seconds.parse()?);
    let rows = rows.first().map_or(Ok(20_000), |rows| rows.parse())?;
    let config = Config {
        registry: Registry::Servers(registry.split(',').map(str::to_owned).collect()),
        ..Config::default()
    };
    let client = Client::connect(config).await?;
    let table = client.table(table)?;
    make(&client, &table).await?;
    let regions = client.warm(&table).await?;
    let bench = Rc::new(Bench {
        client,
        table,
        rows,
        put: what == "put",
        number: Cell::new(0),
        until: Instant::now() + Duration::from_secs_f64(seconds),
        done: Cell::new(0),
        failed: Cell::new(0),
        missing: Cell::new(0),
        latencies_ns: RefCell::new(Vec::with_capacity(1 << 20)),
    });
    let (before, cpu, began) = (bench.client.traffic(), cpu_us(), Instant::now());
    let callers: Vec<_> = (0..in_flight)
        .map(|_| tokio::task::spawn_local(caller(bench.clone())))
        .collect();
    for caller in callers {
        caller.await?;
    }
    let (took, cpu_after, after) = (
        began.elapsed().as_secs_f64(),
        cpu_us(),
        bench.client.traffic(),
    );
    let done = bench.done.get() as f64;
    let answers = (after.answers - before.answers) as f64;
    let mut latencies = bench.latencies_ns.borrow_mut();
    latencies.sort_unstable();
    let at = |share: f64| {
        latencies
            .get((latencies.len() as f64 * share) as usize)
            .map_or(0.0, |ns| f64::from(*ns) / 1000.0)
    };
    println!(
        "{{\"what\": \"{what}\", \"in_flight\": {in_flight}, \"regions\": {regions}, \"calls\": {done}, \"failed\": {}, \"missing\": {}, \
         \"calls_per_s\": {:.0}, \"cpu_us_per_call\": {:.2}, \"system_us_per_call\": {:.2}, \"answers_per_read\": {:.2}, \"calls_per_write\": {:.2}, \
         \"p50_us\": {:.0}, \"p99_us\": {:.0}, \"max_rss_mib\": {:.1}}}",
        bench.failed.get(),
        bench.missing.get(),
        done / took,
        (cpu_after.0 - cpu.0) / done,
        (cpu_after.1 - cpu.1) / done,
        answers / (after.reads - before.reads) as f64,
        answers / (after.writes - before.writes) as f64,
        at(0.5),
        at(0.99),
        resident_mib(),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, run(&arguments))
}
