//! What the programs beside this file share: the task, the statements, the keys, and the meter.
//!
//! Each program keeps so many single-row operations of one kind in flight, first unmeasured, then for a window, and prints
//! one JSON object of what the window cost.

use hdrhistogram::Histogram;
use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Any failure ends a program.
pub type Failure = Box<dyn Error>;

/// Longer latencies count as this long.
const LONGEST_NS: u64 = 60_000_000_000;

/// The statement of a read.
pub const SELECT: &str = r#"SELECT "field0" FROM "ycsb"."usertable" WHERE y_id = ? LIMIT 1"#;
/// The statement of a write.
pub const INSERT: &str = r#"INSERT INTO "ycsb"."usertable" (y_id, "field0") VALUES (?, ?)"#;

/// What a program is asked to do.
pub struct Task {
    /// A node.
    pub node: SocketAddr,
    /// Whether operations write; else they read.
    pub writes: bool,
    /// Records there are.
    pub rows: u64,
    /// Bytes of the one field.
    pub value_bytes: usize,
    /// Operations in flight.
    pub in_flight: usize,
    /// Time before the window.
    pub warm_up: Duration,
    /// The window.
    pub window: Duration,
}

impl Task {
    /// From the command line: `NODE read|write ROWS VALUE_BYTES IN_FLIGHT WARM_UP_S WINDOW_S`.
    pub fn from_arguments() -> Result<Self, Failure> {
        let words: Vec<String> = env::args().skip(1).collect();
        let [node, kind, rows, value_bytes, in_flight, warm_up, window] = words.as_slice() else {
            return Err(
                "give: NODE read|write ROWS VALUE_BYTES IN_FLIGHT WARM_UP_S WINDOW_S".into(),
            );
        };
        Ok(Self {
            node: node.parse()?,
            writes: match kind.as_str() {
                "read" => false,
                "write" => true,
                other => return Err(format!("{other:?} is neither read nor write").into()),
            },
            rows: rows.parse()?,
            value_bytes: value_bytes.parse()?,
            in_flight: in_flight.parse()?,
            warm_up: Duration::from_secs_f64(warm_up.parse()?),
            window: Duration::from_secs_f64(window.parse()?),
        })
    }

    /// The statement.
    pub const fn statement(&self) -> &'static str {
        if self.writes { INSERT } else { SELECT }
    }

    /// The key of operation `number`: neighbours in number are no neighbours in the table.
    pub fn key(&self, number: u64) -> String {
        let record = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % self.rows;
        format!("user{record}")
    }

    /// What a write stores.
    pub fn value(&self) -> String {
        "x".repeat(self.value_bytes)
    }
}

/// Counts operations and what the process spends on them, from the end of the warm-up to the end of the window.
pub struct Meter {
    opens: Instant,
    closes: Instant,
    opened: Option<Moment>,
    closed: Option<Moment>,
    operations: u64,
    latencies: Histogram<u64>,
    /// `read()` calls that brought answers.
    pub reads: u64,
    /// `write()` calls that carried requests.
    pub writes: u64,
}

struct Moment {
    at: Instant,
    cpu_us: f64,
}

impl Moment {
    fn new(at: Instant) -> Self {
        Self {
            at,
            cpu_us: cpu_us(),
        }
    }
}

impl Meter {
    /// A meter whose warm-up begins now.
    pub fn new(task: &Task) -> Self {
        let opens = Instant::now() + task.warm_up;
        Self {
            opens,
            closes: opens + task.window,
            opened: None,
            closed: None,
            operations: 0,
            latencies: Histogram::new_with_bounds(1, LONGEST_NS, 3)
                .expect("the bounds are allowed"),
            reads: 0,
            writes: 0,
        }
    }

    /// Take an operation that was sent and answered; false once the window is over.
    pub fn done(&mut self, sent: Instant, answered: Instant) -> bool {
        if answered < self.opens {
            return true;
        }
        if self.opened.is_none() {
            self.opened = Some(Moment::new(answered));
            (self.reads, self.writes) = (0, 0);
        }
        if answered >= self.closes {
            self.closed.get_or_insert_with(|| Moment::new(answered));
            return false;
        }
        self.operations += 1;
        let ns = (answered - sent).as_nanos() as u64;
        self.latencies.saturating_record(ns.max(1));
        true
    }

    /// One JSON object; operations for each `read()` and `write()` are null where nobody counted.
    pub fn report(&self) -> Result<String, Failure> {
        let (Some(opened), Some(closed)) = (&self.opened, &self.closed) else {
            return Err("the window never closed".into());
        };
        let operations = self.operations as f64;
        let each = |calls: u64| match calls {
            0 => "null".to_owned(),
            some => format!("{:.2}", operations / some as f64),
        };
        Ok(format!(
            "{{\"operations\": {operations}, \"rate_per_s\": {:.1}, \"cpu_us\": {:.3}, \"p99_us\": {:.1}, \
             \"per_read\": {}, \"per_write\": {}}}",
            operations / (closed.at - opened.at).as_secs_f64(),
            (closed.cpu_us - opened.cpu_us) / operations,
            self.latencies.value_at_quantile(0.99) as f64 / 1e3,
            each(self.reads),
            each(self.writes),
        ))
    }
}

/// User and system time of this process, us.
fn cpu_us() -> f64 {
    // SAFETY: an all-zero rusage is valid and getrusage fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    us(usage.ru_utime) + us(usage.ru_stime)
}
