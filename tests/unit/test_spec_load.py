"""Durations, sizes, the load's dependent defaults, and the engine's plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from steelyard.spec.load import DEFAULT_OPERATIONS, OF_A_RUN, Load
from steelyard.spec.models import Study, Trial
from steelyard.spec.plan import engine_plan
from steelyard.spec.system import NullSystem
from steelyard.spec.trials import trials
from steelyard.spec.units import byte_count, bytes_text, mebibytes, milliseconds, seconds
from steelyard.spec.workload import CORE


def trial(**load: Any) -> Trial:
    workload = CORE["a"].model_copy(update={"verify": "full"})
    study = Study(name="x", system=NullSystem(), workload=workload, load=Load(**load))
    return trials(study)[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("60s", 60),
        ("5m", 300),
        ("5min", 300),
        ("250ms", 0.25),
        ("1h30m", 5400),
        ("1.5s", 1.5),
        ("20us", 20e-6),
    ],
)
def test_durations(text: str, value: float) -> None:
    assert seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "60", "s", "5 s", "-5s", "5sx", "1d"])
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration; write a number and a unit"):
        seconds(text)


@pytest.mark.parametrize(("text", "value"), [("512m", 512), ("2g", 2048), ("1.5GiB", 1536), ("64MiB", 64)])
def test_sizes(text: str, value: int) -> None:
    assert mebibytes(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("500k", 512_000), ("0.5k", 512), ("1.5m", 3 << 19), ("2g", 2 << 30)]
)
def test_sizes_are_exact(text: str, value: int) -> None:
    assert byte_count(text) == value


def test_a_setting_of_whole_mib_takes_no_other_size() -> None:
    with pytest.raises(ValueError, match=r"'700k' is 0\.683594 MiB, and whole MiB are needed"):
        mebibytes("700k")


@pytest.mark.parametrize("text", ["", "512", "g", "-1g", "1x"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="is no size"):
        mebibytes(text)


def test_other_units() -> None:
    assert milliseconds("1.5s") == 1500
    assert [bytes_text(n) for n in (5, 2048, 5 << 20, 3 << 30, 2 << 40)] == [
        "5 B", "2.0 KiB", "5.0 MiB", "3.0 GiB", "2.0 TiB",
    ]  # fmt: skip


def test_defaults_depend_on_what_is_given() -> None:
    assert (Load().clients, Load().operations, Load().cap) == (32, 100_000, 32)
    assert Load(duration_s=5).operations is None
    assert Load(target=10).cap == 1024
    assert Load(target=10, clients=7).cap == 7
    assert Load(target=10, in_flight=9, clients=7).cap == 9
    assert Load(timeout_ms=200).attempt_timeout_ms == 200
    assert Load(timeout_ms=20_000).attempt_timeout_ms == 5000


@pytest.mark.parametrize(
    "wrong",
    [{"in_flight": 5}, {"arrivals": "poisson"}, {"timeout_ms": 10, "attempt_timeout_ms": 20}, {"engines": 64},
     {"clients": 0}, {"operations": -1}, {"target": 0}, {"warmup_s": -1}],
)  # fmt: skip
def test_loads_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Load(**wrong)


def test_a_plan_has_totals_and_phases(tmp_path: Path) -> None:
    plan = engine_plan(trial(target=500, in_flight=9, duration_s=3, warmup_s=1), {"kind": "null"}, tmp_path)
    assert [p["name"] for p in plan["phases"]] == ["load", "warmup", "run"]
    assert plan["phases"][2]["arrivals"] == {"kind": "constant", "rate": 500}
    assert plan["phases"][2]["limit"] == {"operations": None, "seconds": 3}
    assert plan["workload"]["insert_lag"] == 9
    assert "name" not in plan["workload"]
    assert plan["engine"] == {"index": 0, "count": 1}


def test_a_closed_loop_without_warm_up(tmp_path: Path) -> None:
    plan = engine_plan(trial(clients=3), {"kind": "null"}, tmp_path)
    assert [(p["name"], p["in_flight"]) for p in plan["phases"]] == [("load", 64), ("run", 3)]
    assert plan["phases"][1]["arrivals"] == {"kind": "closed"}


def test_only_the_first_engine_empties_the_table(tmp_path: Path) -> None:
    driver = {"kind": "cql", "fresh": True}
    plans = [engine_plan(trial(engines=2), driver, tmp_path, index=k, count=2) for k in range(2)]
    assert [p["driver"]["fresh"] for p in plans] == [True, False]


def test_a_load_alone_is_driven_as_its_run_is() -> None:
    """Every setting of another value than its default is kept, those that are about the run set apart."""
    other: dict[str, Any] = {
        "engines": 2, "retry": "none", "timeout_ms": 7000, "attempt_timeout_ms": 900, "pacing": "exact",
        "realtime": True, "load_clients": 9,
    }  # fmt: skip
    assert Load.model_fields.keys() - OF_A_RUN == other.keys()
    loading = Load(target=500, operations=10, warmup_s=3, **other).loading()
    assert {name: getattr(loading, name) for name in other} == other
    assert (loading.phases, loading.clients, loading.target, loading.warmup_s) == (("load",), 9, None, 0)


def test_a_curve_and_an_audit_are_told_to_the_engine(tmp_path: Path) -> None:
    load = {
        "curve": [[0, 100], [10, 500], [10, 50]],
        "duration_s": 20,
        "audit": True,
        "part": {"index": 0, "count": 2},
    }
    plan = engine_plan(trial(**load), {"kind": "null"}, tmp_path)
    run, audit = plan["phases"][1:]
    assert run["arrivals"] == {"kind": "constant", "rate": [[0, 200], [10, 1000], [10, 100]]}
    assert run["in_flight"] == 2048
    assert (audit["name"], audit["kind"]) == ("audit", "audit")


def test_a_run_along_a_curve_ends_with_it_unless_told_otherwise() -> None:
    curve = [[0, 100], [10, 500], [30, 0]]
    assert (Load(curve=curve).duration_s, Load(curve=curve).operations) == (30, None)
    assert Load(curve=curve[:2], operations=7).duration_s is None
    assert Load(curve=curve, duration_s=12).duration_s == 12
    assert Load(curve=[[0, 100]]).operations == DEFAULT_OPERATIONS


def test_an_audit_needs_values_that_can_be_judged() -> None:
    with pytest.raises(ValidationError, match=r"set workload.verify = 'full' \(--verify full\)"):
        Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load(audit=True))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"curve": [[0, 5]], "target": 9}, "leave target"),
        ({"curve": [[1, 5]]}, "begins at 0 s"),
        ({"curve": [[0, 5], [9, 5], [3, 5]]}, "goes forward"),
        ({"curve": [[0, 0], [3, 0]], "duration_s": 9}, "above 0 nowhere"),
        ({"curve": [[0, 5], [3, 0]], "operations": 9}, "never end"),
        ({"curve": [[0, 0], [3, 9]], "warmup_s": 3, "duration_s": 9}, "warm-up"),
        ({"audit": True, "phases": ["load"]}, "audit follows a run"),
        ({"marks": [[1, "x"]], "phases": ["load"]}, "marks are of a run"),
        (
            {"marks": [[5, "x"], [6, "y"]], "duration_s": 5},
            r"marks \[6, 'y'\] come after the end of the run, 5 s",
        ),
        ({"curve": [[0, 5], [3, 9]], "marks": [[4, "x"]]}, "come after the end of the run, 3 s"),
        ({"marks": [10, "x"]}, r"list of pairs, marks = \[\[10, .*here it is \[10, 'x'\]"),
        ({"marks": "x"}, r"list of pairs, marks = .*here it is 'x'"),
        ({"curve": "0s=1000,30s=4000"}, r"list of pairs, curve = \[\[0, 1000\], .*here it is '0s=1000"),
        ({"curve": [0, 1000]}, r"list of pairs, curve = .*here it is \[0, 1000\]"),
        ({"curve": "fast"}, "curve"),
    ],
)
def test_a_curve_that_makes_no_sense_is_refused(load: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Load(**load)
