//! What an operation costs the engine itself: the null driver answers at once, so that all CPU and memory is ours.
//!
//!     cargo bench -p steelyard-engine --bench null_cost
//!
//! Each case is a process of its own; rounds are interleaved, and the median of CPU (user and system) over the operations of the
//! phase is shown with the least and the most. Allocations are counted by the allocator; those of a phase twice as long, less
//! those of the phase, are what operations take once buffers have grown. What is over its limit is marked, and the exit code is 1.
//! Ratios are of the least disturbed rounds.
//! The bare loops beside them say how fast the machine is (see `bare`). Measure on an idle machine.

mod bare;

use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};

/// Set in a case's process: the plan to run.
const PLAN: &str = "STEELYARD_NULL_COST_PLAN";
/// Set beside it: run that plan's operations in a bare loop.
const BARE: &str = "STEELYARD_NULL_COST_BARE";
const ROUNDS: usize = 5;
const MIB: f64 = 1024.0 * 1024.0;
/// How far CPU per operation may go apart between table sizes, beside 10 ns of cache misses.
const LEVEL: f64 = 1.1;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as our caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as our caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as our caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as our caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Clone)]
struct Case {
    name: &'static str,
    workload: Value,
    in_flight: u32,
    operations: u64,
    /// Most ns of CPU an operation may take.
    cpu_limit: Option<f64>,
    /// Most MiB the process may hold.
    memory_limit: Option<f64>,
    /// Without an engine.
    bare: bool,
}

#[derive(Clone, Copy)]
struct Figures {
    cpu_ns: f64,
    rss_mib: f64,
    allocations: u64,
}

impl Case {
    fn new(name: &'static str, records: u64, mix: Value) -> Self {
        let workload = json!({"records": records, "mix": mix, "request": {"kind": "zipfian"}, "write_all_fields": true});
        Self {
            name,
            workload,
            in_flight: 32,
            operations: 4_000_000,
            cpu_limit: None,
            memory_limit: None,
            bare: false,
        }
    }

    /// Run `operations` of it in a process of its own.
    fn run(&self, operations: u64) -> Figures {
        let out = tempfile::tempdir().expect("a folder");
        let plan = json!({
            "plan_format": 2, "seed": 1, "out": out.path(), "driver": {"kind": "null"}, "workload": self.workload,
            "autostart": true,
            "phases": [{"name": "run", "kind": "run", "in_flight": self.in_flight, "limit": {"operations": operations}}],
        });
        let file = out.path().join("plan.json");
        std::fs::write(&file, plan.to_string()).expect("a plan");
        let engine = std::env::current_exe().expect("this program");
        // Its standard input stays open as long as it runs: an end would stop it.
        let mut command = Command::new(engine);
        if self.bare {
            command.env(BARE, "1");
        }
        let mut child = command
            .env(PLAN, &file)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("a process");
        let input = child.stdin.take();
        let done = child.wait_with_output().expect("its end");
        drop(input);
        let events: Vec<Value> = String::from_utf8_lossy(&done.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let event = |name| events.iter().find(|event| event["event"] == name);
        let summary = &event("phase_end").expect("the phase ends")["summary"];
        assert_eq!(summary["ok"], operations);
        let number = |field: &str| summary[field].as_f64().expect("a number");
        Figures {
            cpu_ns: (number("cpu_user_ns") + number("cpu_system_ns")) / operations as f64,
            rss_mib: number("rss_max_bytes") / MIB,
            allocations: event("allocations")
                .and_then(|told| told["count"].as_u64())
                .expect("a count"),
        }
    }
}

fn cases() -> Vec<Case> {
    let reads = json!({"read": 1.0});
    let halves = json!({"read": 0.5, "update": 0.5});
    let large = 100_000_000;
    vec![
        Case {
            cpu_limit: Some(150.0),
            memory_limit: Some(32.0),
            ..Case::new("C, 100 M records", large, reads.clone())
        },
        Case {
            cpu_limit: Some(250.0),
            memory_limit: Some(32.0),
            ..Case::new("A, 100 M records, 10 fields written", large, halves.clone())
        },
        Case::new("C, 1 k records", 1000, reads.clone()),
        Case::new("C, 1 M records", 1_000_000, reads.clone()),
        Case {
            in_flight: 10_000,
            memory_limit: Some(128.0),
            ..Case::new("A, 10,000 in flight", large, halves.clone())
        },
        Case {
            bare: true,
            ..Case::new("C, bare loop", large, reads)
        },
        Case {
            bare: true,
            ..Case::new("A, bare loop", large, halves)
        },
    ]
}

fn median(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    (
        values[values.len() / 2],
        values[0],
        values[values.len() - 1],
    )
}

/// A figure and its limit; whether it keeps it.
fn against(limit: Option<f64>, found: f64, unit: &str) -> (String, bool) {
    match limit {
        None => (String::new(), true),
        Some(most) if found <= most => (format!(" (at most {most} {unit})"), true),
        Some(most) => (format!(" (OVER {most} {unit})"), false),
    }
}

fn report(case: &Case, rounds: &[Figures], kept: &mut bool) -> f64 {
    let (cpu, least, most) = median(rounds.iter().map(|round| round.cpu_ns).collect());
    let (rss, ..) = median(rounds.iter().map(|round| round.rss_mib).collect());
    let twice = case.run(2 * case.operations).allocations;
    let once = case.run(case.operations).allocations;
    let each = (twice as f64 - once as f64) / case.operations as f64;
    let (cpu_word, cpu_kept) = against(case.cpu_limit, cpu, "ns");
    let (rss_word, rss_kept) = against(case.memory_limit, rss, "MiB");
    // A phase twice as long has more seconds, each of which is written down: some hundred allocations.
    let (each_word, each_kept) = against(Some(0.01), each, "per operation");
    println!(
        "{:38} {cpu:6.1} ns [{least:.1}..{most:.1}]{cpu_word}  {rss:6.1} MiB{rss_word}  {each:.5} allocations{each_word}",
        case.name
    );
    *kept &= cpu_kept && rss_kept && each_kept;
    least
}

fn main() -> ExitCode {
    if let Some(plan) = std::env::var_os(PLAN) {
        let code = if std::env::var_os(BARE).is_some() {
            bare::run(plan.as_ref());
            ExitCode::SUCCESS
        } else {
            steelyard_engine::run::run(plan.as_ref())
        };
        let count = ALLOCATIONS.load(Ordering::Relaxed);
        let told = json!({"event": "allocations", "count": count});
        let _ = writeln!(std::io::stdout(), "{told}");
        return code;
    }
    let cases = cases();
    let mut found = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (case, rounds) in cases.iter().zip(&mut found) {
            rounds.push(case.run(case.operations));
        }
    }
    let mut kept = true;
    let cpu: Vec<f64> = cases
        .iter()
        .zip(&found)
        .map(|(case, rounds)| report(case, rounds, &mut kept))
        .collect();
    let of = |name: &str| {
        cases
            .iter()
            .position(|case| case.name == name)
            .map_or(f64::NAN, |at| cpu[at])
    };
    println!(
        "engine / bare loop: C {:.2}, A {:.2}",
        cpu[0] / of("C, bare loop"),
        cpu[1] / of("A, bare loop")
    );
    let (small, large) = (cpu[2].min(cpu[3]), cpu[0]);
    let level = large <= small * LEVEL + 10.0;
    println!(
        "C over 100 M records / over the fewest: {:.3}{}",
        large / small,
        if level { "" } else { " (NOT LEVEL)" }
    );
    ExitCode::from(u8::from(!(kept && level)))
}
