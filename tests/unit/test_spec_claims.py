"""Claims and figures in a study file: what is refused, and with which words, before anything starts."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.analysis.metrics import metric_of
from steelyard.cli import app
from steelyard.errors import InputError
from steelyard.results.store import study_toml
from steelyard.spec.checks import Equality, Ratio, Value
from steelyard.spec.estimate import estimate
from steelyard.spec.metrics import CLIENT, INSIDE, LOAD, named, names
from steelyard.spec.read import both_forms, read_study
from steelyard.spec.schema import study_schema
from steelyard.spec.shipped import find_study, shipped
from steelyard.spec.trials import plan_hash, trials

TEXT = """
workload = "a"
system = { kind = "null" }
paper = "A paper"
[load]
operations = 10
[factors]
clients = [1, 2]
[[claims]]
id = "C1"
statement = "More clients do more."
metric = "ok_per_s"
check = { kind = "trend", factor = "clients", direction = "up" }
[[claims]]
id = "C2"
statement = "One client reads sooner."
metric = "read_service_mean_ns"
where = { clients = [1, 2] }
why = [{ reason = "fewer files", metric = "sstables", expect = "up" }]
[claims.check]
kind = "ratio"
numerator = { where = { clients = 1 } }
denominator = { where = { clients = 2 } }
direction = "below"
[[figures]]
id = "1"
title = "Throughput"
x = "clients"
y = "ok_per_s"
paper = [{ x = [1, 2], y = [3, 4] }]
[small]
repetitions = 1
dropped = ["two clients"]
[small.factors]
clients = [1]
"""


def fault(folder: Path, old: str, new: str) -> str:
    assert old in TEXT
    (folder / "s.toml").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_study(folder / "s.toml")
    return caught.value.message.replace(f"{folder}/", "")


def written(folder: Path, text: str = TEXT) -> Path:
    (folder / "s.toml").write_text(text)
    return folder / "s.toml"


def test_claims_and_figures_are_read(tmp_path: Path) -> None:
    study = read_study(written(tmp_path))
    assert [claim.id for claim in study.claims] == ["C1", "C2"]
    assert study.claims[1].why[0].metric == "sstables"
    assert study.figures[0].y == ("ok_per_s",)
    assert (study.form, study.paper) == ("full", "A paper")


def test_sides_that_match_does_not_tell_apart_are_refused(tmp_path: Path) -> None:
    text = TEXT.replace("clients = [1, 2]\n[[", "clients = [1, 2]\nrecords = [10, 20]\n[[", 1)
    text = text.replace('direction = "below"', 'direction = "below"\nmatch = ["system"]')
    with pytest.raises(InputError) as caught:
        read_study(written(tmp_path, text))
    told = caught.value.message.replace(f"{tmp_path}/", "").splitlines()
    assert told[0] == (
        "s.toml:26: claims 2: its numerator has both records 10 and records 20, which match does not tell "
        "apart: say which in its where"
    )
    assert len(told) == 2, "the denominator too"
    read_study(written(tmp_path, text.replace('match = ["system"]', 'match = ["records"]')))


@pytest.mark.parametrize(
    ("metric", "check", "told"),
    [
        ("run_per_s", 'kind = "trend", factor = "operations", direction = "up"', "the longer a run"),
        ("run_per_s", 'kind = "ratio", numerator = {}, denominator = { metric = "ok_per_s" }, paper = 0.54',
         "connecting takes time"),
        ("ok_per_s", 'kind = "ratio", numerator = {}, denominator = { metric = "search_per_s" }, paper = 0.5',
         "the run offers a share"),
        ("ok_per_s", 'kind = "trend", factor = "operations", direction = "up"', ""),
        ("run_per_s", 'kind = "trend", factor = "clients", direction = "up"', ""),
    ],
)  # fmt: skip
def test_what_holds_by_construction_is_refused(tmp_path: Path, metric: str, check: str, told: str) -> None:
    text = TEXT.replace("clients = [1, 2]\n[[", "clients = [1, 2]\noperations = [10, 20]\n[[", 1)
    text = text.replace('kind = "trend", factor = "clients", direction = "up"', check)
    path = written(tmp_path, text.replace('metric = "ok_per_s"', f'metric = "{metric}"', 1))
    if not told:
        read_study(path)
        return
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert f"s.toml:14: claims 1: no claim, since it holds by construction: {told}" in caught.value.message


def test_checks_have_the_form_of_claims(tmp_path: Path) -> None:
    text = TEXT.replace('[[claims]]\nid = "C2"', '[[checks]]\nid = "C2"').replace("[claims.c", "[checks.c")
    study = read_study(written(tmp_path, text))
    assert ([one.id for one in study.claims], [one.id for one in study.checks]) == (["C1"], ["C2"])
    broken = text.replace('metric = "read_service_mean_ns"', 'metric = "read_mean"')
    with pytest.raises(InputError, match=r"s.toml:17: checks 1: no metric 'read_mean'"):
        read_study(written(tmp_path, broken))


@pytest.mark.parametrize(
    ("said", "told", "band"),
    [
        ("3.5", "3.5", (3.5, 3.5)),
        ('"1,000 ms"', "1,000 ms", (1000, 1000)),
        ('"25 to 30 ms"', "25 to 30 ms", (25, 30)),
        ('"> 5 s"', "> 5 s", (5, math.inf)),
        ('"< 1 ms"', "< 1 ms", (0, 1)),
        ('{ value = 4, label = "the middle" }', "4 (the middle)", (4, 4)),
        ('{ low = 3, high = 5, label = "three to five times" }', "3 to 5 (three to five times)", (3, 5)),
    ],
)
def test_a_paper_prints_values_ranges_and_bounds(
    tmp_path: Path, said: str, told: str, band: tuple[float, float]
) -> None:
    text = TEXT.replace(
        'kind = "trend", factor = "clients", direction = "up"', f'kind = "value", paper = {said}'
    )
    latency = "read_service_mean_ns" if "ms" in said or "5 s" in said else "seconds"
    text = text.replace('metric = "ok_per_s"', f'metric = "{latency}"', 1)
    check = read_study(written(tmp_path, text)).claims[0].check
    assert isinstance(check, Value)
    assert check.paper is not None
    assert (check.paper.words, check.paper.band) == (told, band)


def test_deviations_name_the_settings_of_the_form_that_runs(tmp_path: Path) -> None:
    text = TEXT.replace('paper = "A paper"', 'deviations = ["{clients} clients, {operations} operations"]')
    path = written(tmp_path, text)
    assert read_study(path).deviations == ("1 and 2 clients, 10 operations",)
    small = read_study(path, small=True)
    assert small.deviations == ("1 clients, 10 operations",)
    assert read_study(written(tmp_path, study_toml(small))).deviations == small.deviations


def test_they_are_no_part_of_the_plan(tmp_path: Path) -> None:
    """A claim can be put right after the run; what was measured stays the same."""
    with_claims = read_study(written(tmp_path))
    without = read_study(written(tmp_path, TEXT[: TEXT.index("[[claims]]")]))
    assert plan_hash(trials(with_claims)) == plan_hash(trials(without))


@pytest.mark.parametrize("small", [False, True])
def test_written_down_they_are_the_same(tmp_path: Path, small: bool) -> None:
    study = read_study(written(tmp_path), small=small)
    again = read_study(written(tmp_path, study_toml(study)))
    assert (again.claims, again.figures, again.form) == (study.claims, study.figures, study.form)
    assert again.form == ("small" if small else "full")


def test_a_plain_study_writes_nothing_of_them(tmp_path: Path) -> None:
    text = 'workload = "a"\nsystem = { kind = "null" }\nload = { operations = 1 }\n'
    assert "claims" not in study_toml(read_study(written(tmp_path, text)))


def test_the_small_form_may_lack_levels_of_its_claims(tmp_path: Path) -> None:
    study = read_study(written(tmp_path), small=True)
    assert [point.levels["clients"] for point in study.points] == [1]
    assert study.dropped == ("two clients",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('paper = "A paper"', 'deviations = ["{record} records"]',
         "s.toml:4: deviations: unknown factor 'record' (did you mean 'records'?)"),
        ('factor = "clients"', 'factor = "clints"',
         "s.toml:13: claims 1: no factor 'clints' in this study (did you mean 'clients'?)"),
        ('factor = "clients"', 'factor = "speed"',
         "s.toml:13: claims 1: no factor 'speed' in this study; there are: system, variant, clients"),
        ('metric = "ok_per_s"', 'metric = "ok_pr_s"',
         "s.toml:12: claims 1: no metric 'ok_pr_s' in this study (did you mean 'ok_per_s'?)"),
        ('metric = "sstables"', 'metric = "sstable"',
         "s.toml:19: claims 2: no metric 'sstable' in this study (did you mean 'sstables'?)"),
        ('where = { clients = [1, 2] }', 'where = { clients = [1, 3] }',
         "s.toml:14: claims 2: clients has no level '3'; levels: 1, 2"),
        ('where = { clients = 2 }', 'where = { clients = 20 }',
         "s.toml:14: claims 2: clients has no level '20'"),
        ('id = "C2"', 'id = "C1"', "s.toml:14: claims 2: id 'C1' stands there twice"),
        ('kind = "trend"', 'kind = "trand"',
         "s.toml:13: claims.0.check 'trand' is unknown (did you mean 'trend'?)"),
        ('statement = "More', 'statment = "More', "s.toml:9: claims.0.statement is missing"),
        ('expect = "up"', 'expect = "more"',
         "s.toml:19: claims.1.why.0.expect = 'more' should be 'up' or 'down'"),
        ('y = "ok_per_s"', 'y = "ok_per_sec"',
         "s.toml:29: figures 1: no metric 'ok_per_sec' in this study (did you mean 'ok_per_s'?)"),
        ('x = "clients"', 'x = "client"',
         "s.toml:28: figures 1: no factor 'client' in this study (did you mean"),
        ("y = [3, 4]", "y = [3]", "s.toml:30: figures.0.paper.0: x has 2 values and y has 1"),
        ('direction = "up" }', 'direction = "up", paper = "five" }',
         "s.toml:13: claims.0.check.paper: 'five' is no figure: expected '35 ms'"),
        ('direction = "up" }', 'direction = "up", paper = "5 to 3" }',
         "s.toml:13: claims.0.check.paper: the range ends at 3, below 5"),
        ('direction = "up" }', 'direction = "up", paper = "5 ms" }',
         "s.toml:9: claims.0: what 'trend' estimates has no unit, and the paper's figure has 'ms'"),
        ('direction = "up" }', 'direction = "up", papers = { Wang = "x" } }',
         "s.toml:13: claims.0.check.papers.Wang: 'x' is no figure"),
        ('kind = "trend", factor = "clients", direction = "up"', 'kind = "value", below = 3, unit = "ms"',
         "s.toml:9: claims.0: ok_per_s has the unit '/s', not 'ms'"),
        ('kind = "trend", factor = "clients", direction = "up"', 'kind = "value"',
         "s.toml:13: claims.0.check: say a bound (above, below) or the paper's figure"),
        ('kind = "trend", factor = "clients", direction = "up"',
         'kind = "best", factor = "clients", want = "highest"',
         "s.toml:13: claims.0.check: say the level that wins, or the factor it depends on (depends_on)"),
        ('kind = "trend", factor = "clients", direction = "up"',
         'kind = "best", factor = "clients", want = "highest", level = 4',
         "s.toml:9: claims 1: clients has no level '4'; levels: 1, 2"),
        ('kind = "trend", factor = "clients", direction = "up"',
         'kind = "best", factor = "clients", want = "highest", depends_on = "client"',
         "s.toml:13: claims 1: no factor 'client' in this study (did you mean 'clients'?)"),
        ('kind = "trend", factor = "clients", direction = "up"', 'kind = "distribution"',
         "s.toml:13: claims.0.check: say how many modes, or the skew"),
        ('direction = "below"', 'direction = "below"\nmatch = ["clints"]',
         "s.toml:25: claims 2: no factor 'clints' in this study (did you mean 'clients'?)"),
        ('direction = "below"\n', '', "s.toml:20: claims.1.check: say the direction, 'above' or 'below' 1"),
        ('where = { clients = [1, 2] }', 'where = { clients = [1, 2] }\ncovers = [1, 2]',
         "s.toml:14: claims.1: covers needs a check with a factor, and 'ratio' has none"),
        ('expect = "up" }]', 'expect = "up", unseen = "one client" }]',
         "s.toml:19: claims.1.why.0: a reason that cannot be seen (unseen) has no metric"),
        ('metric = "sstables", expect = "up" }]', 'metric = "sstables" }]',
         "s.toml:19: claims.1.why.0: say the metric and how it is expected to go, or why it cannot be seen"),
        ('expect = "up" }]', 'expect = "up", also = { numerator = { where = { clint = 1 } }, '
         'denominator = {}, expect = "up" } }]',
         "s.toml:19: claims 2: no factor 'clint' in this study"),
        ("x = [1, 2]", "x = [1, 9]", "s.toml:25: figures 1: clients has no level '9'; levels: 1, 2"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert fault(tmp_path, old, new).splitlines()[0].startswith(message)


def test_every_metric_has_words_and_a_unit() -> None:
    assert {name for name in names() if named(name) is None} == set()
    assert named("read_service_p999_ns").words == "READ service time, p99.9"  # type: ignore[union-attr]
    assert named(f"{LOAD}insert_service_mean_ns").unit == "ns"  # type: ignore[union-attr]
    assert named("read_service_min_ns").words == "READ service time, min"  # type: ignore[union-attr]
    assert named(f"{LOAD}insert_count").words == "load: INSERT operations"  # type: ignore[union-attr]
    assert named("scan_ok").words == "SCAN successes"  # type: ignore[union-attr]
    assert named("read_service_p98_ns") is None
    assert not CLIENT.keys() & INSIDE.keys()
    assert metric_of(f"{LOAD}insert_service_p99_ns") is None, "what `compare` compares is the measured phase"


def test_editors_know_claims() -> None:
    schema = json.loads(json.dumps(study_schema()))
    assert {"claims", "figures", "deviations", "dropped", "paper"} <= schema["properties"].keys()
    kinds = {"Trend", "Value", "SlopeCheck", "Speedup", "Scaling", "Best", "Distribution", "KeptRatio"}
    assert kinds <= schema["$defs"].keys()
    paper = schema["$defs"]["Value"]["properties"]["paper"]["anyOf"]
    assert {one.get("type") for one in paper} == {"number", "string", "null", None}, "and the table"


FOLDERS = [name for name in sorted(shipped()) if "/" in name]
PAPERS = [name for name in FOLDERS if not name.startswith(("faults/", "elasticity/"))]
HALF_AN_HOUR = 1800
AN_HOUR = 3600
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
    claims = {one.id: one for one in read_study(find_study(f"sheth-2023/compare-{workload}")).claims}
    for name, (own, others) in SHETH[workload].items():
        claim = claims[name if level == "ONE" else f"{name}-quorum"]
        assert isinstance(claim.check, Ratio)
        assert claim.check.cells == ("plateau" if name == "throughput" else "reached")
        assert claim.check.numerator.where == {"system": "cassandra", "consistency": level}
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
    assert {plot.id for plot in study.figures} == {*"123456"}
    ends = [one for one in study.claims if isinstance(one.check, Value)]
    assert {one.check.paper.words for one in ends if isinstance(one.check, Value) and one.check.paper} == {
        "7", "1,669", "747", "8,387", "507", "24,418", "1,099", "9,307",
    }  # fmt: skip
    assert {one.check.unit for one in ends if isinstance(one.check, Value)} == {"us"}
    buffers = {point.variant: point.system.access.client_buffering_bytes for point in study.points
               if point.system_name == "hbase"}  # fmt: skip
    assert buffers == {"buffered": 12 * 2**20, "unbuffered": 0}
    assert {"ratio-update-buffered", "ratio-update-unbuffered"} <= {one.id for one in study.claims}


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


@pytest.mark.parametrize("name", FOLDERS)
def test_small_forms_decide_claims_and_take_no_longer_than_one_waits(name: str) -> None:
    _, small = both_forms(find_study(name))
    assert small is not None
    assert small.repetitions >= 6, "fewer decide no claim"
    acted = any(point.timeline for point in small.points)
    assert estimate(trials(small)).seconds <= (AN_HOUR if acted else HALF_AN_HOUR)


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
        assert any(check.metric == "audit_lost" for check in study.checks)
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
        "sheth-2023/operations",
        "cs4224-2014/graphs",
        "load-management/one-node",
        "load-management/four-nodes",
        "load-management/eight-nodes",
        "kuhlenkamp-2014/elasticity-hbase",
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
    assert [one.id for one in read_study(find_study("seis630/partitioners")).checks] == ["ordered-requests"]


@pytest.mark.parametrize("name", sorted(shipped()))
@pytest.mark.parametrize("form", [[], ["--small"]])
def test_every_shipped_study_can_be_run(name: str, form: list[str]) -> None:
    result = CliRunner().invoke(app, ["run", name, *form, "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "nothing was started" in result.stdout
