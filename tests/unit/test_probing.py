"""A search driven: each rate is offered, the answers of all engines are read together, all is noted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from steelyard.errors import InfrastructureError
from steelyard.lab.search.probes import find_rate, forget
from steelyard.spec.highest import RateSearch
from steelyard.spec.load import Load
from steelyard.spec.plan import phases

HEAD = "#[StartTime: 1.0 (seconds since epoch)]\n"


class Manifest:
    def __init__(self) -> None:
        self.search: dict[str, Any] | None = None
        self.events: list[tuple[str, str]] = []
        self.trial = SimpleNamespace(seed=7)

    def event(self, name: str, detail: str) -> None:
        self.events.append((name, detail))


class Runner:
    """Two engines in front of a system that answers in 1 ms up to its capacity; beyond, one of them in 80."""

    def __init__(self, folder: Path, capacity: float) -> None:
        self.folders = [folder / "0", folder / "1"]
        for path in self.folders:
            path.mkdir()
        self.capacity = capacity
        self.manifest = Manifest()
        self.fleet = self.show = self

    def say(self, _text: str) -> None: ...

    def collect(self) -> None: ...

    def phase(
        self, name: str, *, counts: bool, endless: bool, rate: float, noted: bool
    ) -> list[dict[str, Any]]:
        assert (name, counts, endless, noted) == ("probe", True, False, False)
        for index, path in enumerate(self.folders):
            slow = index == 1 and rate > self.capacity
            histogram = HdrHistogram(1, 3_600_000_000_000, 3)
            histogram.record_value(80_000_000 if slow else 1_000_000, 100)
            line = f"Tag=READ.all,0.000,1.000,1.0,{histogram.encode().decode()}\n"
            (path / "probe.totals.hdr").write_text(HEAD + line)
            each = round(rate / 2)  # and the last answer comes long after the probe
            rows = [{"due": each, "done": each, "ok": each}] * 5 + [{"due": 0, "done": 1, "ok": 1}]
            (path / "probe.series.ndjson").write_text(
                "".join(f"{json.dumps({'second': n, 't_ns': n, **row})}\n" for n, row in enumerate(rows))
            )
        return []


def asked(**more: Any) -> RateSearch:
    return RateSearch(**{"start": 100.0, "bound_ms": 50.0, "operation": "read", **more})


def test_the_slower_engine_counts(tmp_path: Path) -> None:
    """Half of all reads take 80 ms beyond 900 a second: the p99 over both engines is above the bound."""
    runner = Runner(tmp_path, 900.0)
    found = find_rate(runner, asked())  # type: ignore[arg-type]
    assert 900 / 1.06 <= found <= 900
    assert runner.manifest.search is not None
    assert runner.manifest.search["found_per_s"] == found
    assert runner.manifest.search["reason"] == "confirmed"
    probes = runner.manifest.search["probes"]
    assert {probe["latency_ns"] > 50e6 for probe in probes if not probe["borne"]} == {True}
    assert len(runner.manifest.events) == len(probes)
    for folder in runner.folders:
        forget(folder)
        assert not list(folder.iterdir())


def test_no_rate_is_an_error_that_says_what_was_tried(tmp_path: Path) -> None:
    runner = Runner(tmp_path, 10.0)
    with pytest.raises(InfrastructureError, match="not even the least after") as caught:
        find_rate(runner, asked(least=50.0))  # type: ignore[arg-type]
    assert caught.value.hint
    assert runner.manifest.search is not None
    assert runner.manifest.search["found_per_s"] is None


def test_a_load_that_searches_is_open_and_has_a_probe_in_its_plan() -> None:
    load = Load(search=asked(probe_s=2.5), duration_s=10)
    assert (load.rate, load.cap, load.clients) == (100.0, 1024, None)
    names = {phase["name"]: phase for phase in phases(load)}
    assert list(names) == ["load", "probe", "run"]
    assert names["probe"]["limit"] == {"seconds": 2.5}
    assert names["run"]["arrivals"] == {"kind": "constant", "rate": 100.0}
    assert "probe" not in {phase["name"] for phase in phases(Load(target=5))}


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ({"target": 5}, "search finds the rate: leave target out"),
        ({"phases": ("load",)}, "search is for the rate of a run"),
        ({"search": {"start": 5, "least": 10}}, "start = 5 is not between least and most"),
    ],
)
def test_contradictions(load: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Load(**{"search": {}, **load})
