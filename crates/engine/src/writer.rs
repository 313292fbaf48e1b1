//! The thread that encodes and writes: nothing slow happens on a worker's thread.

use crate::client_state::Scheduled;
use crate::clock::{Usage, resident_bytes};
use crate::driver::Database;
use crate::events::Events;
use crate::plan::Phase;
use crate::recorder::{IntervalSet, SECOND, Tick, WriterMessage};
use crate::series::Row;
use crate::tally::Tally;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;

/// What the writer needs to know of the phase.
pub struct PhaseInfo {
    /// The phase.
    pub phase: Phase,
    /// Operations to come over all engines, if limited.
    pub operations: Option<u64>,
    /// Clients of this engine.
    pub cap: u64,
    /// Where events go.
    pub events: Events,
    /// Knows the coordinators' names.
    pub driver: Arc<dyn Database>,
}

/// Start the writer of one phase. It ends, with the tally, when all senders are gone.
pub fn start(
    mut tally: Tally,
    info: PhaseInfo,
    messages: Receiver<WriterMessage>,
    spare: Sender<Box<IntervalSet>>,
) -> io::Result<JoinHandle<io::Result<Tally>>> {
    let mut before = Scheduled::now();
    std::thread::Builder::new()
        .name("writer".into())
        .spawn(move || {
            for message in messages {
                match message {
                    WriterMessage::Late(samples) => tally.late(&samples),
                    WriterMessage::Set(mut set) => {
                        tally.take(&mut set);
                        let _ = spare.send(set); // a recorder that has finished needs no spare
                    }
                    WriterMessage::Tick(tick) => {
                        let now = Scheduled::now();
                        let scheduled = now.since(before);
                        before = now;
                        let row = tally.count(&tick, scheduled, &info.driver.coordinators());
                        tally.settle(tick.watermark)?;
                        interval(&info, &tick, &row);
                    }
                }
            }
            Ok(tally)
        })
}

fn interval(info: &PhaseInfo, tick: &Tick, row: &Row) {
    let usage = Usage::now();
    let failed: u64 = tick.counts.outcomes[1..].iter().sum();
    info.events.emit_live(
        "interval",
        json!({
            "phase": info.phase.name, "second": tick.second,
            "seconds_since_start": (tick.second + 1) as f64 * SECOND as f64 / 1e9,
            "due": tick.counts.due, "started": tick.counts.started, "done": tick.counts.done,
            "ok": tick.counts.done - failed, "failed": row.failed,
            "total_done": tick.total.0, "total_ok": tick.total.1, "total_failed": tick.total.0 - tick.total.1,
            "limit_operations": info.operations, "limit_seconds": info.phase.limit.seconds,
            "in_flight": tick.in_flight, "on_wire": row.on_wire, "cap": info.cap, "backlog": tick.backlog,
            "client": row.client, "run_wait_ns": row.run_wait_ns, "late_max_ns": row.late_max_ns, "verdicts": row.verdicts,
            "response_p50_ns": tick.live.0, "response_p99_ns": tick.live.1,
            "cpu_user_ns": usage.user_ns, "cpu_system_ns": usage.system_ns, "rss_bytes": resident_bytes(),
        }),
    );
}
