"""What engines on load hosts are called in reports, and which of them was starved of CPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from steelyard.analysis.spread import engine_spread
from steelyard.analysis.summary import phase_from_summary
from steelyard.report.in_effect import is_local
from steelyard.report.tables.nodes import engines
from steelyard.report.trial_row import PhaseReport
from steelyard.results.clients import client_names, starved_seconds


def load_hosts(*lost: bool) -> dict[str, Any]:
    """A manifest's load hosts a, b ..., some of them lost, and a server host."""
    load = [
        {"name": name, "role": "load", "engine": index, "lost_ns": 7 if gone else None}
        for index, (name, gone) in enumerate(zip("abcdefgh", lost, strict=False))
    ]
    return {"hosts": [*load, {"name": "s", "role": "server", "lost_ns": None}]}


def series(folder: Path, *states: str) -> None:
    """What an engine said of each second."""
    folder.mkdir(parents=True)
    rows = [{"second": n, "t_ns": n, "done": 1, "client": state, "ops": {}} for n, state in enumerate(states)]
    (folder / "run.series.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_engines_have_the_names_of_their_load_hosts() -> None:
    assert client_names(load_hosts(False, False), 2) == ("a", "b")
    assert client_names({}, 2) == ("engine 0", "engine 1")
    assert client_names({"hosts": [{"name": "s", "role": "server"}]}, 1) == ("engine 0",)


def test_of_a_load_host_that_was_lost_there_are_no_figures() -> None:
    assert client_names(load_hosts(False, True, False), 2) == ("a", "c")
    assert client_names(load_hosts(False, True, False), 3) == ("a", "b", "c"), "lost after the phase"


def test_it_is_said_which_load_host_starved_its_engine(tmp_path: Path) -> None:
    series(tmp_path / "engines" / "0", "kept", "kept")
    series(tmp_path / "engines" / "1", "starved", "cap_reached", "starved")
    (tmp_path / "engines" / "2").mkdir()  # of a machine that was lost
    manifest = load_hosts(False, False, True)
    assert starved_seconds(tmp_path, manifest, "run") == {"b": 2}
    assert starved_seconds(tmp_path, {}, "run") == {"engine 1": 2}
    assert starved_seconds(tmp_path, manifest, "warm") == {}


def test_a_single_load_host_is_named_and_this_machine_is_not(tmp_path: Path) -> None:
    series(tmp_path / "engine", "starved")
    assert starved_seconds(tmp_path, load_hosts(False), "run") == {"a": 1}
    assert starved_seconds(tmp_path, {}, "run") == {}


def test_servers_on_machines_of_their_own_share_no_cores_with_the_client() -> None:
    trial = {"trial": {"system": {"kind": "cassandra"}}}
    assert is_local(trial)
    assert not is_local(trial | {"hosts": [{"name": "s", "role": "server"}]})
    assert is_local(trial | {"hosts": [{"name": "a", "role": "load"}]})


def part(p50_ms: float | None) -> dict[str, Any]:
    """An engine's figures of a phase; None = it had no such operation."""
    times = {"count": 1, "p50_ns": p50_ms * 1e6} if p50_ms else {"count": 0}
    return {"ops": {"READ": {"count": 1, "response": times}}, "seconds": 1.0}


def report(*p50_ms: float | None) -> PhaseReport:
    times = {"count": 2, "p50_ns": 1e6}
    facts = {"ops": {"READ": {"count": 2, "response": times}}, "engines": [part(one) for one in p50_ms]}
    phase = phase_from_summary(facts, {})
    names = client_names(load_hosts(*[False] * len(p50_ms)), len(p50_ms))
    return PhaseReport(phase, engines=engine_spread(phase, names))


def test_the_table_of_engines_names_load_hosts() -> None:
    table = engines(report(1.0, None, 3.0))
    assert table is not None
    assert table.columns == ("operation", "percentile", "a", "c", "CoV"), "b had no such operation"
