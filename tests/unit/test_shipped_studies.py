"""The studies that are shipped: the papers' experiments are all there, and every study can be run."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.spec.checks import Equality, Ratio, Value
from steelyard.spec.estimate import estimate
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.read import both_forms, read_study
from steelyard.spec.shipped import find_study, shipped
from steelyard.spec.system import CassandraSystem
from steelyard.spec.trials import trials
from steelyard.systems.hbase.facts import durability

FOLDERS = [name for name in sorted(shipped()) if "/" in name]
PAPERS = [name for name in FOLDERS if not name.startswith(("faults/", "elasticity/"))]
SMALL_LIMIT_S = 30 * 60
"""What one waits for a small form, by estimate."""
ACTED_LIMIT_S = 60 * 60
"""Where something is done to the cluster: each trial has one of its own, and runs until it has recovered."""


def test_the_papers_experiments_are_there() -> None:
    """SEIS 630 as a whole; of Sheth 2023 figures 4.1 to 4.11, 5.1 to 5.6, table 4.1, and what it quotes and
    names as future work (of Kuhlenkamp 2014 below)."""
    assert {f"seis630/{n}" for n in ("workloads", "partitioners", "replication", "racks")} <= set(PAPERS)
    drawn = {
        plot.id.partition("-")[0]
        for name in PAPERS
        if name.startswith("sheth-2023/")
        for plot in read_study(find_study(name)).figures
    }
    assert {*(f"4.{n}" for n in range(1, 12)), *(f"5.{n}" for n in range(1, 7))} <= drawn
    claimed = {
        claim.id.partition("-")[0]
        for name in PAPERS
        if name.startswith("sheth-2023/")
        for claim in read_study(find_study(name)).claims
    }
    assert {*(f"C{n}" for n in range(1, 9)), "N1", "N2", "N3", "N4"} <= claimed
    beyond = ("rf-consistency", "coordinated-consistency", "distribution", "cluster-size")
    assert {f"sheth-2023/{name}" for name in beyond} <= set(PAPERS)


SHETH: dict[str, dict[str, tuple[float, dict[str, float]]]] = {
    "a": {
        "read": (0.4, {"Cooper 2010": 0.4, "Tudorica 2011": 0.7}),
        "update": (1.85, {"Cooper 2010": 7, "Tudorica 2011": 7}),
        "throughput": (2.8, {"Swaminathan 2016": 1.4, "Abramova 2014": 2.7}),
    },
    "b": {
        "read": (0.25, {"Cooper 2010": 0.5, "Tudorica 2011": 0.64}),
        "update": (2.5, {"Cooper 2010": 5, "Tudorica 2011": 7}),
        "throughput": (1.6, {"Swaminathan 2016": 1.6, "Abramova 2014": 1.42}),
    },
}
"""Workload -> claim -> what Sheth 2023 prints in 5.3 and 5.5, and what it quotes in 3.3."""


@pytest.mark.parametrize("workload", "ab")
@pytest.mark.parametrize("level", ["ONE", "QUORUM"])
def test_cassandra_and_hbase_are_compared_with_every_papers_figures(workload: str, level: str) -> None:
    """Latencies where both reach the target, throughput at plateaus; Cassandra at ONE and at QUORUM."""
    name, suffix = (f"compare-{workload}", "") if level == "ONE" else ("compare-quorum", f"-{workload}")
    study = read_study(find_study(f"sheth-2023/{name}"))
    asked = {
        point.levels.get("consistency", point.system.access.read_consistency)  # type: ignore[attr-defined]
        for point in study.points
        if point.system_name == "cassandra"
    }
    assert asked == {level}
    claims = {one.id: one for one in study.claims}
    for name, (own, others) in SHETH[workload].items():
        claim = claims[f"{name}{suffix}"]
        assert isinstance(claim.check, Ratio)
        assert claim.check.cells == ("plateau" if name == "throughput" else "reached")
        assert claim.check.numerator.where["system"] == "cassandra"
        assert claim.where == ({} if level == "ONE" else {"workload": workload})
        assert {source: told.middle for source, told in claim.sources.items()} == {"": own, **others}


def test_versions_of_sheth_2023_are_pinned() -> None:
    """The newest tried of a line moves."""
    named = {
        (point.system.kind, point.system.version)  # type: ignore[attr-defined]
        for name in PAPERS
        if name.startswith("sheth-2023/")
        for point in read_study(find_study(name)).points
    }
    assert named == {("cassandra", "3.11.13"), ("hbase", "2.4.16")}


def test_every_row_of_seis_630s_tables_is_drawn_with_what_it_prints() -> None:
    """Tables 2 to 4: run time, start-up; of each operation count, OK, mean, least, greatest, p95, p99."""
    figures = read_study(find_study("seis630/workloads")).figures
    printed = {values.metric or plot.y[0] for plot in figures for values in plot.paper}
    ops = ("load_insert", "read", "update", "insert", "scan")
    ends = ("count", "ok", *(f"service_{figure}_ns" for figure in ("mean", "min", "max", "p95", "p99")))
    assert {f"{op}_{row}" for op in ops for row in ends} <= printed
    assert {"load_run_s", "run_s", "load_run_per_s", "run_per_s", "load_outside_s", "outside_s"} <= printed


def test_loads_are_compared_over_all_six_workloads() -> None:
    claims = read_study(find_study("seis630/workloads")).claims
    equal = [one.check for one in claims if one.metric == "load_ok_per_s" and isinstance(one.check, Equality)]
    assert {side.where["workload"] for check in equal for side in (check.numerator, check.denominator)} == {
        *"abcdef"
    }


def test_cs4224s_graphs_and_table_are_there() -> None:
    """Graphs 1 to 6; the table of least and greatest latencies; its write claims once with HBase's client
    buffer and once without."""
    study = read_study(find_study("cs4224-2014/graphs"))
    assert {plot.id for plot in study.figures} == {*"123456", "read-ends", "update-ends"}
    ends = [one for one in study.claims if isinstance(one.check, Value)]
    assert {one.check.paper.words for one in ends if isinstance(one.check, Value) and one.check.paper} == {
        "7", "1,669", "747", "8,387", "507", "24,418", "1,099", "9,307",
    }  # fmt: skip
    assert {one.check.unit for one in ends if isinstance(one.check, Value)} == {"us"}
    buffers = {point.variant: point.system.access.client_buffering_bytes for point in study.points
               if point.system_name == "hbase"}  # fmt: skip
    assert buffers == {"buffered": 12 * 2**20, "unbuffered": 0}
    assert "ratio-update-unbuffered" in {one.id for one in study.claims}
    assert "ratio-update-buffered" in {one.id for one in study.checks}  # of the client's memory alone


def test_load_management_has_its_figures_and_tells_balance() -> None:
    """Figures 2 and 3, a to c; execution time with connecting and without; what the nodes share."""
    names = [name for name in PAPERS if name.startswith("load-management/")]
    studies = [both_forms(find_study(name)) for name in names]
    drawn = {plot.id: plot.y for full, _ in studies for plot in full.figures}
    assert all(drawn[f"{n}{letter}"] == ("run_s", "seconds") for n in (2, 3) for letter in "abc")
    assert {m for plot in ("balance-most", "balance-variation") for m in drawn[plot]} == {
        f"{what}_{how}"
        for what in ("requests", "replica", "cpu", "data")
        for how in ("imbalance", "variation")
    }
    for form, sizes in ((0, [1, 4, 8]), (1, [1, 2, 4])):
        first = [study[form].points[0] for study in studies if study[form]]  # type: ignore[union-attr]
        assert sorted(point.system.nodes for point in first) == sizes
        records = {point.system.nodes: point.workload.records / point.system.nodes for point in first}
        assert len({*records.values()}) == 1, "data grow with the cluster"


def test_matched_guarantees_are_matched() -> None:
    """Cassandra beside HBase: a write is on disks before its answer, of each (as the report words it)."""
    full, _ = both_forms(find_study("compare-cassandra-hbase"))
    matched = {p.system.kind: p.system for p in full.points if p.variant == "matched"}
    assert isinstance(cassandra := matched["cassandra"], CassandraSystem)
    assert isinstance(hbase := matched["hbase"], HBaseSystem)
    assert cassandra.commitlog_sync == "batch"
    assert (cassandra.access.write_consistency, cassandra.access.read_consistency) == ("QUORUM", "QUORUM")
    assert "synced to the disks of 3 DataNodes" in durability(hbase)


def test_versions_are_pinned_side_by_side() -> None:
    levels = {
        name: {point.levels["version"] for point in read_study(find_study(name)).points}
        for name in PAPERS
        if name.startswith("versions/")
    }
    assert {line.rpartition(".")[0] for found in levels.values() for line in found} == {
        "3.11", "4.1", "5.0", "2.4", "2.6",
    }  # fmt: skip


@pytest.mark.parametrize("name", PAPERS)
def test_a_papers_study_has_claims_and_figures_and_says_where_it_differs(name: str) -> None:
    full, small = both_forms(find_study(name))
    assert full.paper
    assert full.claims or full.checks
    assert full.figures
    assert full.deviations
    assert small is not None
    assert (small.form, small.claims, small.figures) == ("small", full.claims, full.figures)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_small_forms_decide_claims_and_take_no_longer_than_one_waits(name: str) -> None:
    _, small = both_forms(find_study(name))
    assert small is not None
    assert small.repetitions >= 6, "fewer decide no claim"
    acted = name.startswith(("faults/", "elasticity/", "kuhlenkamp-2014/elasticity-"))
    assert estimate(trials(small)).seconds <= (ACTED_LIMIT_S if acted else SMALL_LIMIT_S)


def test_the_papers_scalability_is_there() -> None:
    """Figures 1 to 10 and table 3 of Kuhlenkamp 2014."""
    named = [name for name in PAPERS if name.startswith("kuhlenkamp-2014/")]
    drawn = {plot.source for name in named for plot in read_study(find_study(name)).figures}
    for number in range(1, 11):
        assert any(re.search(rf"Figures? {number}\b", source) for source in drawn), number
    assert "Table 3" in drawn


def test_the_papers_scaling_scenarios_are_there() -> None:
    """CS-1 to CS-7 of Kuhlenkamp 2014, and every cell of its table 4, each with what the paper has."""
    named = "kuhlenkamp-2014/elasticity-"
    done = {p.load.timeline for n in PAPERS if n.startswith(named) for p in read_study(find_study(n)).points}
    assert {*(f"cs-{n}" for n in range(1, 8)), *(f"add-{n}" for n in (1, 2, 6))} <= done
    cells = {
        f"{workload}-{share}-add-{nodes}"
        for workload in "ab"
        for share in (0.8, 1.0, 1.5)
        for nodes in (1, 2, 6)
    }
    assert cells <= {claim.id for claim in read_study(find_study(f"{named}hbase")).claims}


@pytest.mark.parametrize("name", [name for name in FOLDERS if name.startswith("faults/")])
def test_faults_read_every_acknowledged_write_back(name: str) -> None:
    for study in both_forms(find_study(name)):
        assert study is not None
        assert all(p.load.audit and p.workload.verify == "full" for p in study.points)
        assert any(check.metric in ("audit_wrong", "audit_lost", "audit_missing") for check in study.checks)
        assert all(c.check.every for c in study.checks if isinstance(c.check, Value) and c.check.below == 1)


def test_trials_without_a_steady_state_count_only_where_the_papers_own_had_none() -> None:
    """And the claim says where: a table, a figure or a graph."""
    unsteady = {
        name: {claim.unsteady for claim in (*study.claims, *study.checks)}
        for name in PAPERS
        for study in [read_study(find_study(name))]
    }
    assert {name for name, said in unsteady.items() if said != {""}} == {
        "seis630/workloads",
        "sheth-2023/compare-a",
        "sheth-2023/compare-b",
        "sheth-2023/compare-quorum",
        "sheth-2023/operations",
        "cs4224-2014/graphs",
        "load-management/one-node",
        "load-management/four-nodes",
        "load-management/eight-nodes",
        "kuhlenkamp-2014/elasticity-hbase",
        "kuhlenkamp-2014/elasticity-several",
    }
    told = (words for said in unsteady.values() for words in said if words)
    assert all(re.match(r"(tables?|figures?|graphs?) \d", words) for words in told)


def test_throughput_is_claimed_only_where_it_is_not_the_rate_that_is_offered() -> None:
    claims = read_study(find_study("kuhlenkamp-2014/elasticity-hbase")).claims
    shares = [one.where.get("load.target.share") for one in claims if one.metric == "ok_per_s"]
    assert shares == [1.5, 1.5]


def test_what_only_follows_from_a_paper_is_a_check_of_ours() -> None:
    assert not any(read_study(find_study(f"seis630/{name}")).claims for name in ("replication", "racks"))
    assert not any(read_study(find_study(name)).claims for name in PAPERS if name.startswith("versions/"))
    assert [one.id for one in read_study(find_study("seis630/partitioners")).checks] == [
        "murmur3-alike",
        "ordered-requests",
    ]


@pytest.mark.parametrize("name", sorted(shipped()))
@pytest.mark.parametrize("form", [[], ["--small"]])
def test_every_shipped_study_can_be_run(name: str, form: list[str]) -> None:
    result = CliRunner().invoke(app, ["run", name, *form, "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "nothing was started" in result.stdout
