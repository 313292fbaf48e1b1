//! The engine as its users see it: a process with a plan, commands and events.

mod engine;

use engine::{ENGINE, Engine};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

fn plan(out: &Path, phases: Value) -> Value {
    json!({"plan_format": 2, "seed": 7, "out": out, "driver": {"kind": "null"},
           "workload": {"records": 1000, "mix": {"read": 0.5, "update": 0.5}, "request": {"kind": "zipfian"}},
           "phases": phases})
}

fn phase(name: &str, kind: &str, limit: Value) -> Value {
    json!({"name": name, "kind": kind, "in_flight": 4, "limit": limit})
}

#[test]
fn load_and_run_to_the_summary() {
    let out = tempfile::tempdir().unwrap();
    let phases = json!([
        phase("load", "load", json!({})),
        phase("run", "run", json!({"operations": 5000}))
    ]);
    let mut engine = Engine::start(&plan(out.path(), phases));
    engine.until("ready");
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "load"}));
    assert_eq!(engine.until("ack")["ok"], true);
    assert_eq!(
        engine.until("phase_end")["summary"]["ops"]["INSERT"]["count"],
        1000
    );
    engine.tell(&json!({"cmd": "phase", "id": 2, "name": "run"}));
    let end = engine.until("phase_end");
    let summary = &end["summary"];
    assert_eq!(end["reason"], "operations");
    assert_eq!(summary["ok"], 5000);
    assert_eq!(summary["ops"]["TOTAL"]["response"]["count"], 5000);
    let kinds = |field: &str| summary["ops"][field]["count"].as_u64().unwrap();
    assert_eq!(kinds("READ") + kinds("UPDATE"), 5000);
    assert_eq!(tenths(out.path()), 5000);
    assert_eq!(summary["traffic"], Value::Null, "null has no sockets");
    engine.tell(&json!({"cmd": "finish", "id": 3}));
    engine.until("end");
    assert_eq!(engine.exit(), 0);
    for file in [
        "load.hdr",
        "run.hdr",
        "run.totals.hdr",
        "run.series.ndjson",
        "events.ndjson",
    ] {
        assert!(
            out.path().join(file).metadata().unwrap().len() > 0,
            "{file}"
        );
    }
}

/// Completions of the run over all tenths of its seconds, which are those of each second.
fn tenths(out: &Path) -> u64 {
    let series = std::fs::read_to_string(out.join("run.series.ndjson")).unwrap();
    let rows = series.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let counts = row["tenths"].as_array().expect("a list");
        assert_eq!(counts.len(), 10);
        let sum: u64 = counts.iter().filter_map(Value::as_u64).sum();
        assert_eq!(row["done"], sum, "{row}");
        sum
    });
    rows.sum()
}

/// The summaries of load and run on the embedded store, of a plan whose workload and load are changed.
fn stored(workload: &Value, first: u64) -> [Value; 2] {
    let out = tempfile::tempdir().unwrap();
    let mut phases = json!([
        phase("load", "load", json!({})),
        phase("run", "run", json!({"operations": 2000}))
    ]);
    phases[0]["first"] = json!(first);
    let mut plan = plan(out.path(), phases);
    plan["driver"] = json!({"kind": "embedded", "path": out.path().join("store")});
    for (name, value) in workload.as_object().unwrap() {
        plan["workload"][name] = value.clone();
    }
    let mut engine = Engine::start(&plan);
    engine.until("ready");
    let summaries = ["load", "run"].map(|name| {
        engine.tell(&json!({"cmd": "phase", "id": 1, "name": name}));
        engine.until("phase_end")["summary"].clone()
    });
    assert_eq!(engine.exit(), 0);
    summaries
}

#[test]
fn a_load_may_begin_where_another_has_ended() {
    let [load, run] = stored(&json!({"request": {"kind": "uniform"}}), 400);
    assert_eq!(
        (&load["ok"], &load["first"], &load["next"]),
        (&json!(600), &json!(400), &json!(1000))
    );
    let missing = run["ops"]["READ"]["failures"]["not_found"]
        .as_f64()
        .unwrap();
    let reads = run["ops"]["READ"]["count"].as_f64().unwrap();
    // Updates of the embedded store make the records they find missing, so that fewer are missing later.
    assert!(
        (0.1..0.45).contains(&(missing / reads)),
        "{missing} of {reads}"
    );
}

#[test]
fn values_of_ycsbs_dataintegrity_are_judged_when_they_are_read() {
    let [load, run] = stored(&json!({"values": "ycsb_integrity", "verify": "full"}), 0);
    assert_eq!(load["ok"], 1000);
    assert_eq!(run["ok"], 2000);
    let verify = &run["verify"];
    assert_eq!(
        verify["checked"].as_u64(),
        run["ops"]["READ"]["count"].as_u64().map(|reads| reads * 10)
    );
    for fault in ["corrupt", "foreign", "stale", "lost"] {
        assert_eq!(verify[fault], 0, "{fault}");
    }
}

#[test]
fn fields_of_a_histograms_lengths_are_judged_as_others() {
    let lengths = json!({"length": {"kind": "histogram", "weights": [[20, 1], [500, 2]]}});
    let [_, run] = stored(&json!({"fields": lengths}), 0);
    let verify = &run["verify"];
    assert!(verify["checked"].as_u64() > Some(5000));
    assert_eq!(
        (&verify["corrupt"], &verify["foreign"]),
        (&json!(0), &json!(0))
    );
    let bytes = run["ops"]["READ"]["bytes"].as_f64().unwrap() / verify["checked"].as_f64().unwrap();
    assert!((bytes - 340.0).abs() < 15.0, "{bytes} bytes a value");
}

/// Operations that fell due in the next second that is over: the schedule's doing, however busy the host is.
fn due_in_a_second(engine: &Engine) -> i64 {
    engine.until("interval")["due"].as_i64().unwrap()
}

#[test]
fn a_rate_is_kept_changed_by_command_and_stopped() {
    let out = tempfile::tempdir().unwrap();
    let mut run = phase("run", "run", json!({"seconds": 60}));
    run["arrivals"] = json!({"kind": "constant", "rate": 200});
    let mut engine = Engine::start(&plan(out.path(), json!([run])));
    engine.until("ready");
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run"}));
    assert_eq!(
        [due_in_a_second(&engine), due_in_a_second(&engine)],
        [200; 2]
    );
    engine.tell(&json!({"cmd": "rate", "id": 2, "rate": 2000}));
    assert_eq!(engine.until("ack")["ok"], true);
    // The second before the change may be told after it, and a change at its very end leaves 2000 of the next.
    let mixed = (0..3)
        .map(|_| due_in_a_second(&engine))
        .find(|due| *due != 200)
        .expect("another rate within three seconds");
    assert!((200..=2000).contains(&mixed), "{mixed}: the change");
    assert_eq!(
        [due_in_a_second(&engine), due_in_a_second(&engine)],
        [2000; 2]
    );
    engine.tell(&json!({"cmd": "stop", "id": 3}));
    let end = engine.until("phase_end");
    assert_eq!(end["reason"], "stop");
    let summary = &end["summary"];
    assert_eq!(summary["ok"], summary["operations"], "{summary:#}");
    assert!(summary["operations"].as_u64() > Some(400), "{summary:#}");
    assert_eq!(engine.exit(), 0);
}

#[test]
fn a_phase_ends_when_it_is_told_to_and_the_next_one_follows() {
    let out = tempfile::tempdir().unwrap();
    let mut paced = phase("paced", "run", json!({"seconds": 60}));
    paced["arrivals"] = json!({"kind": "constant", "rate": 200});
    let closed = phase("closed", "run", json!({"operations": 1_000_000_000}));
    let mut engine = Engine::start(&plan(out.path(), json!([paced, closed])));
    engine.until("ready");
    engine.tell(&json!({"cmd": "end", "id": 1}));
    assert_eq!(engine.until("ack")["ok"], false, "no phase is running");
    let mut next = json!(0);
    for name in ["paced", "closed"] {
        engine.tell(&json!({"cmd": "phase", "id": 2, "name": name}));
        let at_ns = engine.until("phase_start")["at_ns"].as_u64().unwrap() + 500_000_000;
        engine.tell(&json!({"cmd": "end", "id": 3, "at_ns": at_ns}));
        let end = engine.until("phase_end");
        assert_eq!((&end["reason"], &end["first"]), (&json!("time"), &next));
        assert_eq!(end["summary"]["window_end_ns"], at_ns);
        assert!(end["next"].as_u64() > next.as_u64());
        next = end["next"].clone();
    }
    engine.tell(&json!({"cmd": "finish", "id": 4}));
    assert_eq!(engine.exit(), 0);
}

#[test]
fn a_phase_may_begin_at_another_rate_than_the_plans() {
    let out = tempfile::tempdir().unwrap();
    let mut run = phase("run", "run", json!({"seconds": 1}));
    run["arrivals"] = json!({"kind": "constant", "rate": 10});
    let mut engine = Engine::start(&plan(out.path(), json!([run])));
    engine.until("ready");
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run", "rate": 0}));
    assert_eq!(engine.until("ack")["ok"], false);
    engine.tell(&json!({"cmd": "phase", "id": 2, "name": "run", "rate": 300}));
    assert_eq!(engine.until("ack")["ok"], true);
    let summary = &engine.until("phase_end")["summary"];
    assert_eq!(summary["arrivals"]["rate"], 300.0);
    let due =
        summary["operations"].as_i64().unwrap() + summary["censored"]["unsent"].as_i64().unwrap();
    assert_eq!(due, 300, "none was due at the plan's rate");
    engine.tell(&json!({"cmd": "finish", "id": 3}));
    assert_eq!(engine.exit(), 0);
}

#[test]
fn the_end_of_standard_input_ends_the_run() {
    let out = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(&plan(
        out.path(),
        json!([phase("run", "run", json!({"seconds": 60}))]),
    ));
    engine.until("ready");
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run"}));
    engine.until("phase_start");
    let (code, events) = engine.last_words();
    assert_eq!(code, 0);
    let end = events.iter().find(|event| event["event"] == "phase_end");
    let end = end.expect("the phase is over and has its summary");
    assert_eq!(end["reason"], "stop");
    assert_eq!(end["summary"]["failed"], json!({}));
    assert_eq!(end["summary"]["ok"], end["summary"]["operations"]);
}

#[test]
fn the_end_of_standard_input_ends_the_wait_for_a_database() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap(); // takes connections and says nothing
    let address = silent.local_addr().unwrap().to_string();
    for driver in [
        json!({"kind": "hbase", "registry": [address], "table": "usertable"}),
        json!({"kind": "cql", "hosts": [address], "keyspace": "ycsb",
               "replication": {"class": "SimpleStrategy", "replication_factor": "1"},
               "read_consistency": "ONE", "write_consistency": "ONE"}),
    ] {
        let out = tempfile::tempdir().unwrap();
        let mut plan = plan(
            out.path(),
            json!([phase("run", "run", json!({"seconds": 1}))]),
        );
        plan["driver"] = driver;
        let (code, events) = Engine::start(&plan).last_words();
        let said: Vec<_> = events.iter().map(|event| &event["event"]).collect();
        assert_eq!(
            (code, said),
            (0, vec![&json!("ack"), &json!("end")]),
            "{events:?}"
        );
    }
}

#[test]
fn commands_that_make_no_sense_are_refused_and_the_run_goes_on() {
    let out = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(&plan(
        out.path(),
        json!([phase("run", "run", json!({"operations": 10}))]),
    ));
    engine.until("ready");
    for command in [
        json!({"cmd": "phase", "name": "rnu"}),
        json!({"cmd": "dance"}),
        json!({"cmd": "rate", "rate": 5}),
    ] {
        engine.tell(&command);
        assert_eq!(engine.until("ack")["ok"], false, "{command}");
    }
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run"}));
    engine.until("phase_end");
    assert_eq!(engine.exit(), 0);
}

#[test]
fn a_bad_plan_exits_with_2_and_names_the_field() {
    let out = tempfile::tempdir().unwrap();
    let mut wrong = plan(out.path(), json!([phase("run", "run", json!({}))]));
    let engine = Engine::start(&wrong);
    assert!(
        engine.until("error")["text"]
            .as_str()
            .unwrap()
            .contains("phases[0]: limit")
    );
    assert_eq!(engine.exit(), 2);
    wrong["wrokload"] = json!(1);
    let engine = Engine::start(&wrong);
    assert!(
        engine.until("error")["text"]
            .as_str()
            .unwrap()
            .contains("wrokload")
    );
    assert_eq!(engine.exit(), 2);
}

/// The summary of a run of `driver` at a rate that nothing can keep.
fn overloaded(out: &Path, driver: Value) -> Value {
    let run = json!({"name": "run", "kind": "run", "in_flight": 4, "limit": {"seconds": 1.5},
                     "arrivals": {"kind": "constant", "rate": 30_000_000}});
    let mut plan = plan(out, json!([run]));
    plan["driver"] = driver;
    let mut engine = Engine::start(&plan);
    engine.until("ready");
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run"}));
    let summary = engine.until("phase_end")["summary"].clone();
    assert_eq!(engine.exit(), 0);
    summary
}

#[test]
fn a_slow_client_and_a_slow_server_have_different_names() {
    let out = tempfile::tempdir().unwrap();
    let client = overloaded(out.path(), json!({"kind": "null"}));
    // On a machine that is busy with something else it may well have starved.
    let seconds = |state: &str| client["saturation"][state].as_u64().unwrap();
    assert!(
        seconds("seconds_saturated") + seconds("seconds_starved") > 0,
        "{}",
        client["saturation"]
    );
    assert_eq!(client["saturation"]["seconds_cap_reached"], 0);
    let server = overloaded(
        out.path(),
        json!({"kind": "embedded", "path": out.path().join("store")}),
    );
    assert!(
        server["saturation"]["seconds_cap_reached"]
            .as_u64()
            .unwrap()
            > 0,
        "{}",
        server["saturation"]
    );
    assert_eq!(server["saturation"]["seconds_saturated"], 0);
    let counted = server["ops"]["TOTAL"]["all"]["count"].as_u64().unwrap();
    let sent = server["operations"].as_u64().unwrap();
    assert_eq!(
        counted,
        sent + server["censored"]["unsent"].as_u64().unwrap(),
        "what was due and unsent is censored"
    );
}

/// What one engine does, and what `count` engines do together, merged.
fn merged(count: u32, folder: &Path) -> Value {
    let phases =
        json!([{"name": "run", "kind": "run", "in_flight": 4, "limit": {"operations": 4001}}]);
    let outs: Vec<_> = (0..count)
        .map(|i| folder.join(format!("{count}-{i}")))
        .collect();
    for (index, out) in outs.iter().enumerate() {
        std::fs::create_dir_all(out).unwrap();
        let mut plan = plan(out, phases.clone());
        plan["engine"] = json!({"index": index, "count": count});
        plan["workload"]["mix"] = json!({"read": 0.4, "insert": 0.3, "read_modify_write": 0.3});
        let mut engine = Engine::start(&plan);
        engine.until("ready");
        engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run"}));
        engine.until("phase_end");
        assert_eq!(engine.exit(), 0);
    }
    let out = folder.join(format!("{count}-merged"));
    std::fs::create_dir_all(&out).unwrap();
    assert!(
        Command::new(ENGINE)
            .arg("merge")
            .arg(&out)
            .args(&outs)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(tenths(&out), 4001);
    let events = std::fs::read_to_string(out.join("events.ndjson")).unwrap();
    let merged = events
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap())
        .find(|e| e["merged"] == true);
    merged.unwrap()["summary"].clone()
}

#[test]
fn several_engines_do_what_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let (one, three) = (merged(1, folder.path()), merged(3, folder.path()));
    assert_eq!(three["operations"], 4001);
    for op in ["READ", "INSERT", "UPDATE", "READ-MODIFY-WRITE", "TOTAL"] {
        assert_eq!(
            one["ops"][op]["all"]["count"], three["ops"][op]["all"]["count"],
            "{op}"
        );
        assert_eq!(one["ops"][op]["count"], three["ops"][op]["count"], "{op}");
    }
    assert_eq!(one["ops"]["TOTAL"]["all"]["count"], 4001);
    assert_eq!(three["engines"].as_array().unwrap().len(), 3);
}

#[test]
fn an_audit_reads_back_every_record_with_an_acknowledged_write() {
    let out = tempfile::tempdir().unwrap();
    let mut phases = json!([
        phase("load", "load", json!({})),
        phase("run", "run", json!({"operations": 2000})),
        phase("audit", "audit", json!({}))
    ]);
    phases[1]["in_flight"] = json!(1);
    let mut plan = plan(out.path(), phases);
    plan["driver"] = json!({"kind": "embedded", "path": out.path().join("store")});
    plan["workload"]["verify"] = json!("full");
    plan["workload"]["mix"] = json!({"update": 0.5, "insert": 0.5});
    let mut engine = Engine::start(&plan);
    engine.until("ready");
    let [_, run, audit] = ["load", "run", "audit"].map(|name| {
        engine.tell(&json!({"cmd": "phase", "id": 1, "name": name}));
        engine.until("phase_end")["summary"].clone()
    });
    assert_eq!(engine.exit(), 0);
    let inserted = run["ops"]["INSERT"]["ok"].as_u64().unwrap();
    let found = &audit["audit"];
    assert_eq!(found["records"], 1000 + inserted, "{found}");
    for fault in ["lost", "fields_lost", "stale", "unread"] {
        assert_eq!(found[fault], 0, "{found}");
    }
    plan["workload"]["verify"] = json!("all");
    let engine = Engine::start(&plan);
    let error = engine.until("error")["text"].as_str().unwrap().to_owned();
    assert!(error.contains("verify = full"), "{error}");
    assert_eq!(engine.exit(), 2);
}

#[test]
fn a_rate_follows_its_curve_and_a_mark_has_its_time() {
    let out = tempfile::tempdir().unwrap();
    let mut run = phase("run", "run", json!({"seconds": 3}));
    let curve = json!([[0, 100], [1, 100], [1, 0], [2, 0], [3, 600]]);
    run["arrivals"] = json!({"kind": "constant", "rate": curve});
    let mut engine = Engine::start(&plan(out.path(), json!([run])));
    engine.until("ready");
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": "run"}));
    engine.until("phase_start");
    engine.tell(&json!({"cmd": "mark", "id": 2, "label": "a node joins"}));
    let mark = engine.until("mark");
    assert_eq!(engine.until("ack")["at_ns"], mark["at_ns"]);
    let summary = engine.until("phase_end")["summary"].clone();
    assert_eq!(engine.exit(), 0);
    let series = std::fs::read_to_string(out.path().join("run.series.ndjson")).unwrap();
    let due: Vec<u64> = series
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["due"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(due[..3], [100, 0, 300]);
    // Sent or not on a busy machine: all that is due is accounted for.
    let sent = summary["operations"].as_u64().unwrap();
    let unsent = summary["censored"]["unsent"].as_u64().unwrap();
    assert_eq!((sent + unsent, &summary["seconds"]), (400, &json!(3.0)));
    let marks = std::fs::read_to_string(out.path().join("marks.ndjson")).unwrap();
    let kept: Value = serde_json::from_str(&marks).unwrap();
    assert_eq!(
        (&kept["label"], &kept["phase"]),
        (&json!("a node joins"), &json!("run"))
    );
    assert_eq!(kept["t_ns"], mark["at_ns"]);
}

#[test]
fn a_plan_of_another_format_is_refused_with_the_way_out() {
    let out = tempfile::tempdir().unwrap();
    for (format, word) in [(1, "older"), (99, "newer")] {
        let mut wrong = plan(out.path(), json!([]));
        wrong["plan_format"] = json!(format);
        let engine = Engine::start(&wrong);
        let said = engine.until("error")["text"].as_str().unwrap().to_owned();
        assert!(
            said.contains(word) && said.contains("same release"),
            "{said}"
        );
        assert_eq!(engine.exit(), 2);
    }
}
