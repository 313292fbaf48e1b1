"""Claims and figures in a study file: what is refused, and with which words, before anything starts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from steelyard.analysis.metrics import metric_of
from steelyard.errors import InputError
from steelyard.results.store import study_toml
from steelyard.spec.checks import Value
from steelyard.spec.metrics import CLIENT, INSIDE, LOAD, named, names
from steelyard.spec.read import read_study
from steelyard.spec.schema import study_schema
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


SECOND = TEXT[TEXT.index('[[claims]]\nid = "C2"') : TEXT.index("[[figures]]")]
CHECKED = (SECOND, SECOND.replace("claims", "checks").replace("C2", "C1"))
"""A claim, and a check of ours in its place that is called as another claim is."""


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
        (CHECKED[0], CHECKED[1], "s.toml:14: checks 1: id 'C1' stands there twice"),
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
