use super::*;
use crate::client_state::ClientState;
use crate::merged::Greatest;
use crate::summary::OperationCounts;

/// What an engine leaves of a phase of `seconds`: reads of (value, count) in each, and a backlog.
fn engine(folder: &Path, reads: (u64, u64), seconds: u64, backlog: u64, ended: bool) {
    fs::create_dir_all(folder).unwrap();
    let mut files = PhaseFiles::create(folder, "run", 100.0).unwrap();
    for second in 0..seconds {
        let row = Row {
            second: second.into(),
            t_ns: (second * 1_000_000_000).into(),
            done: reads.1,
            ok: reads.1,
            backlog,
            client: Greatest(ClientState::CapReached),
            ..Row::default()
        };
        let samples = Tagged::from([
            ("READ.all".to_owned(), vec![reads]),
            ("READ.not_yet".to_owned(), vec![(reads.0, 2)]),
            ("TOTAL.all".to_owned(), vec![reads]),
        ]);
        files.write_second(row, samples).unwrap();
    }
    files.finish(seconds as f64).unwrap();
    let mut summary = Summary {
        operations: seconds * reads.1,
        ok: seconds * reads.1,
        ..Summary::default()
    };
    summary.phase = "run".to_owned().into();
    summary.seconds = Greatest(seconds as f64);
    summary.pacing.turns = 5;
    summary.saturation.max_backlog = backlog;
    let counts = OperationCounts {
        count: seconds * reads.1,
        not_yet: seconds * 2,
        ..OperationCounts::default()
    };
    let read = OperationSummary {
        counts: Some(counts),
        ..OperationSummary::default()
    };
    summary.ops.insert("READ".to_owned(), read);
    let mut events = vec![json!({"event": "phase_start", "phase": "run", "t_ns": 1})];
    if ended {
        events.push(json!({"event": "phase_end", "phase": "run", "reason": "time", "t_ns": 2, "summary": summary}));
    }
    write_lines(&folder.join("events.ndjson"), &events).unwrap();
}

fn merged(engines: &[PathBuf], out: &Path) -> (Value, Vec<String>) {
    fs::create_dir_all(out).unwrap();
    merge(out, engines).unwrap();
    let text = fs::read_to_string(out.join("events.ndjson")).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let end = events
        .iter()
        .find(|e| e["merged"] == true && e["event"] == "phase_end")
        .unwrap();
    let warnings = events.iter().filter(|e| e["kind"] == "incomplete");
    let texts = warnings
        .map(|e| e["text"].as_str().unwrap().to_owned())
        .collect();
    (end["summary"].clone(), texts)
}

fn two(root: &Path) -> [PathBuf; 2] {
    [root.join("0"), root.join("1")]
}

#[test]
fn counts_backlogs_and_turns_add_up_and_percentiles_are_found_anew() {
    let root = tempfile::tempdir().unwrap();
    let engines = two(root.path());
    engine(&engines[0], (1_000_000, 99), 3, 7, true);
    engine(&engines[1], (9_000_000, 99), 3, 5, true);
    let (summary, missing) = merged(&engines, &root.path().join("out"));
    assert_eq!(
        (&summary["operations"], &summary["pacing"]["turns"]),
        (&json!(594), &json!(10))
    );
    assert_eq!(
        summary["saturation"]["max_backlog"], 12,
        "of one second, of all engines"
    );
    assert_eq!(summary["saturation"]["seconds_cap_reached"], 3);
    assert_eq!(summary["ops"]["READ"]["all"]["count"], 594);
    assert_eq!(
        summary["ops"]["READ"]["not_yet"], 12,
        "a count, not its times"
    );
    let p99 = summary["ops"]["READ"]["all"]["p99_ns"].as_f64().unwrap();
    assert!((p99 / 9e6 - 1.0).abs() < 0.001, "{p99}");
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_torn_files_of_a_killed_engine_count_as_far_as_they_go_and_it_is_said() {
    let root = tempfile::tempdir().unwrap();
    let engines = two(root.path());
    engine(&engines[0], (1_000_000, 10), 5, 0, true);
    engine(&engines[1], (1_000_000, 10), 3, 0, false);
    for (file, cut) in [
        ("run.hdr", 20),
        ("run.series.ndjson", 50),
        ("events.ndjson", 9),
    ] {
        let path = engines[1].join(file);
        let text = fs::read_to_string(&path).unwrap();
        let more = if file == "events.ndjson" {
            r#"{"event":"interval","t"#
        } else {
            ""
        };
        let kept = if more.is_empty() {
            &text[..text.len() - cut]
        } else {
            &text
        };
        fs::write(path, format!("{kept}{more}")).unwrap();
    }
    let (summary, missing) = merged(&engines, &root.path().join("out"));
    assert_eq!(
        summary["operations"],
        50 + 20,
        "two whole rows of the one that was killed"
    );
    assert_eq!(summary["ops"]["READ"]["all"]["count"], 50 + 30);
    let all = missing.join("\n");
    for said in [
        "engine 1 never ended it",
        "run.hdr cannot be read",
        "run.series.ndjson cannot be read",
        "events.ndjson cannot",
    ] {
        assert!(all.contains(said), "{said}: {all}");
    }
}

#[test]
fn a_phase_that_was_run_again_counts_once() {
    let root = tempfile::tempdir().unwrap();
    let engines = two(root.path());
    for folder in &engines {
        engine(folder, (1_000_000, 10), 2, 0, true);
        let file = folder.join("events.ndjson");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.repeat(3)).unwrap();
    }
    assert_eq!(
        merged(&engines, &root.path().join("out")).0["operations"],
        40
    );
}

#[test]
fn a_mark_that_all_engines_were_given_stands_once() {
    let root = tempfile::tempdir().unwrap();
    let engines = two(root.path());
    for (folder, t_ns) in engines.iter().zip([30, 20]) {
        engine(folder, (1_000_000, 10), 1, 0, true);
        let marks = [
            json!({"id": 4, "label": "join", "t_ns": t_ns}),
            json!({"id": 5, "label": "join", "t_ns": t_ns + 50}),
        ];
        write_lines(&folder.join("marks.ndjson"), &marks).unwrap();
    }
    let out = root.path().join("out");
    merged(&engines, &out);
    let marks = fs::read_to_string(out.join("marks.ndjson")).unwrap();
    let times: Vec<u64> = marks
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["t_ns"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(times, [20, 70]);
}
