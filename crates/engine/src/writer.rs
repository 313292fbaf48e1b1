//! The thread that encodes and writes: nothing slow happens on a worker's thread.

use crate::clock::{Usage, resident_bytes};
use crate::events::Events;
use crate::plan::Phase;
use crate::recorder::{IntervalSet, SECOND, Tick, WriterMessage};
use crate::tally::{SecondCounts, Tally, failures};
use serde_json::json;
use std::io;
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
}

/// Start the writer of one phase. It ends, with the tally, when all senders are gone.
pub fn start(
    mut tally: Tally,
    info: PhaseInfo,
    messages: Receiver<WriterMessage>,
    spare: Sender<Box<IntervalSet>>,
) -> io::Result<JoinHandle<io::Result<Tally>>> {
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
                        let counts = SecondCounts {
                            counts: tick.counts,
                            backlog: tick.backlog,
                            cpu_ns: tick.cpu_ns,
                        };
                        tally.count(tick.second, counts);
                        tally.settle(tick.watermark)?;
                        interval(&info, &tick);
                    }
                }
            }
            Ok(tally)
        })
}

fn interval(info: &PhaseInfo, tick: &Tick) {
    let usage = Usage::now();
    let failed: u64 = tick.counts.outcomes[1..].iter().sum();
    info.events.emit(
        "interval",
        json!({
            "phase": info.phase.name, "second": tick.second,
            "seconds_since_start": (tick.second + 1) as f64 * SECOND as f64 / 1e9,
            "due": tick.counts.due, "started": tick.counts.started, "done": tick.counts.done,
            "ok": tick.counts.done - failed, "failed": failures(&tick.counts.outcomes),
            "total_done": tick.total.0, "total_ok": tick.total.1, "total_failed": tick.total.0 - tick.total.1,
            "limit_operations": info.operations, "limit_seconds": info.phase.limit.seconds,
            "in_flight": tick.in_flight, "cap": info.cap, "backlog": tick.backlog,
            "response_p50_ns": tick.live.0, "response_p99_ns": tick.live.1,
            "cpu_user_ns": usage.user_ns, "cpu_system_ns": usage.system_ns, "rss_bytes": resident_bytes(),
        }),
    );
}
