use super::*;
use proptest::prelude::*;

fn counts() -> impl Strategy<Value = Counts> {
    let named = (
        prop::sample::select(vec!["timeout", "server", "client"]),
        1_u64..1000,
    );
    prop::collection::btree_map(named.0.prop_map(str::to_owned), named.1, 0..3)
}

fn operation() -> impl Strategy<Value = OperationSummary> {
    (any::<[u16; 7]>(), counts()).prop_map(|(n, failures)| {
        let n = n.map(u64::from);
        let counts = OperationCounts {
            count: n[0],
            within: n[1],
            ok: n[2],
            not_yet: n[3],
            absent: n[4],
            failures,
            rows: n[5],
            bytes: n[6],
        };
        OperationSummary {
            counts: Some(counts),
            ..OperationSummary::default()
        }
    })
}

fn unread(n: [u32; 4]) -> LagFacts {
    let [reads, p50_ns, p99_ns, max_ns] = n.map(u64::from);
    LagFacts {
        reads,
        p50_ns: Greatest(p50_ns),
        p99_ns: Greatest(p99_ns),
        max_ns: Greatest(max_ns),
    }
}

prop_compose! {
    /// What one of several engines says: the plan is the same for all.
    fn summaries()(
        n in any::<[u32; 16]>(),
        failed in counts(),
        attempts in counts(),
        traffic in prop::option::of(any::<[u32; 4]>()),
        unflushed in prop::option::of(0_u64..9),
        lag in prop::option::of(any::<[u32; 4]>()),
        ops in prop::collection::btree_map(prop::sample::select(vec!["READ".to_owned(), "UPDATE".to_owned()]), operation(), 0..3),
    ) -> Summary {
        let n = n.map(u64::from);
        Summary {
            phase: "run".to_owned().into(),
            kind: PhaseKind::Run.into(),
            start_ns: Least(n[0]),
            end_ns: Greatest(n[1]),
            window_end_ns: Greatest(n[2]),
            seconds: Greatest(n[3] as f64),
            within: Within { operations: n[4], ok: n[5] },
            first: 0.into(),
            next: Greatest(n[6]),
            operations: n[7],
            ok: n[8],
            failed,
            in_flight_cap: 4.into(),
            arrivals: Arrivals::Closed.into(),
            verify: Verification { mode: Verify::All.into(), checked: n[9], lost: n[10], ..Verification::default() },
            attempts,
            censored: Censored { unsent: n[11], unanswered: n[12] },
            saturation: Saturation::default(),
            pacing: PacingFacts { turns: n[13], lag: lag.map(unread), ..PacingFacts::default() },
            cpu_user_ns: n[14],
            cpu_system_ns: n[15],
            rss_max_bytes: n[0],
            traffic: traffic.map(|t| {
                let [reads, writes, requests, answers] = t.map(u64::from);
                Traffic { reads, writes, requests, answers }
            }),
            unflushed,
            audit: None,
            ops,
        }
    }
}

fn together(parts: &[&Summary]) -> Summary {
    let mut whole = Summary::default();
    for part in parts {
        whole.merge(part);
    }
    whole
}

proptest! {
    #[test]
    fn one_part_is_the_whole(a in summaries()) {
        prop_assert_eq!(&together(&[&a]), &a);
        prop_assert_eq!(&together(&[&a, &Summary::default()]), &a);
    }

    #[test]
    fn neither_order_nor_grouping_matters(a in summaries(), b in summaries(), c in summaries()) {
        let whole = together(&[&a, &b, &c]);
        prop_assert_eq!(&together(&[&c, &a, &b]), &whole);
        prop_assert_eq!(&together(&[&a, &together(&[&b, &c])]), &whole);
    }

    #[test]
    fn counts_are_sums_and_times_are_the_outermost(a in summaries(), b in summaries()) {
        let whole = together(&[&a, &b]);
        prop_assert_eq!(whole.operations, a.operations + b.operations);
        prop_assert_eq!(whole.within.ok, a.within.ok + b.within.ok);
        prop_assert_eq!(whole.pacing.turns, a.pacing.turns + b.pacing.turns);
        prop_assert_eq!(whole.verify.lost, a.verify.lost + b.verify.lost);
        prop_assert_eq!(whole.start_ns.0, a.start_ns.0.min(b.start_ns.0));
        prop_assert_eq!(whole.window_end_ns.0, a.window_end_ns.0.max(b.window_end_ns.0));
        let stamped = |s: &Summary| s.pacing.lag.as_ref().map(|lag| lag.reads);
        let engines = [stamped(&a), stamped(&b)];
        let all = engines.iter().flatten().copied().reduce(|one, other| one + other);
        prop_assert_eq!(stamped(&whole), all, "none if no engine's kernel stamped anything");
        for kind in ["timeout", "server", "client"] {
            let of = |s: &Summary| s.failed.get(kind).copied().unwrap_or(0);
            prop_assert_eq!(of(&whole), of(&a) + of(&b));
        }
        let reads = |s: &Summary| s.ops.get("READ").and_then(|op| Some(op.counts.as_ref()?.rows)).unwrap_or(0);
        prop_assert_eq!(reads(&whole), reads(&a) + reads(&b));
    }

    #[test]
    fn what_is_written_is_read_again(a in summaries()) {
        let text = serde_json::to_string(&a).expect("it is JSON");
        let read: Summary = serde_json::from_str(&text).expect("it is a summary");
        prop_assert_eq!(read, a);
    }
}

#[test]
fn percentiles_of_parts_are_never_those_of_the_whole() {
    let mut histogram = crate::recorder::histogram();
    histogram.saturating_record(5);
    let views = Views(BTreeMap::from([(
        "all".to_owned(),
        Distribution::from(&histogram),
    )]));
    let mut whole = Summary::default();
    let part = Summary {
        ops: BTreeMap::from([(
            "TOTAL".to_owned(),
            OperationSummary {
                counts: None,
                views,
            },
        )]),
        ..Summary::default()
    };
    whole.merge(&part);
    whole.merge(&part);
    assert!(whole.ops["TOTAL"].views.0.is_empty());
}

#[test]
fn a_count_and_its_times_do_not_share_a_key() {
    let mut histogram = crate::recorder::histogram();
    histogram.saturating_record(5);
    let seen = Distribution::from(&histogram);
    let views = crate::phase_files::VIEWS.map(|view| (view.to_owned(), seen.clone()));
    let mut kinds: [KindCounts; Kind::ALL.len()] = Default::default();
    kinds[Kind::Read as usize].count = 3;
    kinds[Kind::Read as usize].not_yet = 2;
    let views = BTreeMap::from([(Kind::Read.name().to_owned(), Views(BTreeMap::from(views)))]);
    let ops = operations(views, &kinds);
    let text = serde_json::to_string(&ops).unwrap();
    let read: BTreeMap<String, OperationSummary> = serde_json::from_str(&text).unwrap();
    assert_eq!(read["READ"].counts.as_ref().unwrap().not_yet, 2, "{text}");
}
