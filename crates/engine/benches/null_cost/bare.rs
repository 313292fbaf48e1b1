//! The same work without an engine around it: a loop that draws a record, writes its key and values, reads the clock twice and
//! counts into three histograms. It tells how fast this machine is; what the engine takes beyond it is what plans, slots,
//! verification, retries and series cost.

use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use steelyard_engine::clock::{Clock, Usage, peak_resident_bytes};
use steelyard_engine::generate::key::ycsb_hash;
use steelyard_engine::generate::permutation::Permutation;
use steelyard_engine::generate::random::{Draw, Source, Stream};
use steelyard_engine::generate::zipfian::Zipfian;
use steelyard_engine::generate::{Draft, Generator};
use steelyard_engine::operation::{Kind, Operation};
use steelyard_engine::plan::Plan;
use steelyard_engine::recorder::Buckets;

/// Do the operations of `plan`'s one phase, and tell what they took as an engine does.
pub fn run(plan: &Path) {
    let text = std::fs::read_to_string(plan).expect("a plan");
    let plan: Plan = serde_json::from_str(&text).expect("a sound plan");
    let operations = plan.phases[0].limit.operations.expect("a count");
    let before = Usage::now();
    perform(&plan, operations);
    let used = Usage::now();
    let summary = json!({
        "ok": operations,
        "cpu_user_ns": used.user_ns - before.user_ns,
        "cpu_system_ns": used.system_ns - before.system_ns,
        "rss_max_bytes": peak_resident_bytes(),
    });
    println!("{}", json!({"event": "phase_end", "summary": summary}));
}

fn perform(plan: &Plan, operations: u64) {
    let records = plan.workload.records;
    let generator = Generator::new(plan).expect("a sound plan");
    let zipfian = Zipfian::new(0.99, records);
    let permutation = Permutation::new(&mut Draw::new(plan.seed, Stream::Permutation, 0), records);
    let (ranks, kinds) = (
        Source::new(plan.seed, Stream::Rank),
        Source::new(plan.seed, Stream::Kind),
    );
    let update = plan.workload.mix.update;
    let clock = Clock::default();
    let mut histograms: [Buckets<10>; 3] = Default::default();
    let mut op = Operation::default();
    for number in 0..operations {
        let updates = kinds.draw(number).unit_f64() < update;
        let rank = permutation.apply(zipfian.rank(&mut ranks.draw(number), records));
        let draft = Draft {
            kind: if updates { Kind::Update } else { Kind::Read },
            number,
            rank,
            key: ycsb_hash(rank),
            ..Draft::default()
        };
        generator.fill(&draft, &mut op);
        let started = clock.now();
        black_box(&op);
        let done = clock.now();
        for histogram in &mut histograms {
            histogram.record(done - started);
        }
    }
    black_box(&histograms);
}
