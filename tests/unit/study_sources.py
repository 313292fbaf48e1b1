"""Whole studies whose truth is known: trials written as result files, then judged as a report judges them.

Tests ask for few of them, `benches/stats_truth.py` for many; all are seeded.
"""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.analysis.claims import Verdict
from steelyard.report.model import build
from steelyard.report.study.answers import answers
from steelyard.results.histograms import percentiles
from steelyard.results.store import RunFolder
from steelyard.spec.read import read_study
from steelyard.spec.trials import trials

NS = 1_000_000_000
SECONDS = 60
"""Of each trial: 600 tenths, which are enough to judge steadiness by."""
SCATTER = 0.05
"""Standard deviation of the log figures of runs, and of starts and loads around each other."""
CLIENTS = (1, 2, 4, 8, 16)
STUDY = """
repetitions = 6
[system]
kind = "cassandra"
nodes = 3
[system.access.replication]
factor = 3
[workload]
base = "a"
[load]
duration_s = 60
[factors]
clients = [1, 2, 4, 8, 16]
consistency = ["ONE", "ALL"]
"""
SIDES = (
    """numerator = { where = { consistency = "ALL" } }, denominator = { where = { consistency = "ONE" } }"""
)
BEST = 'kind = "best", factor = "consistency", want = "lowest", level = "ONE"'
STEEP = "read_modify_write_service_mean_ns"
CLAIMS = {
    "ratio": ("read_service_mean_ns", f'kind = "ratio", direction = "above", paper = 1.2, {SIDES}'),
    "ratio of p99": ("read_service_p99_ns", f'kind = "ratio", direction = "above", paper = 1.2, {SIDES}'),
    "ratio with zeros": ("requests_waiting", f'kind = "ratio", direction = "above", {SIDES}'),
    "trend": ("read_service_mean_ns", 'kind = "trend", factor = "clients", direction = "up", paper = 1.2'),
    "trend of p99": ("read_service_p99_ns", 'kind = "trend", factor = "clients", direction = "up"'),
    "order": ("scan_service_mean_ns", 'kind = "order", factor = "clients", groups = [[1], [4], [16]]'),
    "peak": ("ok_per_s", 'kind = "peak", factor = "clients"'),
    "threshold": ("update_service_mean_ns", 'kind = "threshold", factor = "clients"'),
    "shape": ("insert_service_mean_ns", 'kind = "shape", factor = "clients", shape = "linear"'),
    "equality": ("delete_service_mean_ns", f'kind = "equality", margin = 0.1, {SIDES}'),
    "paired ratio": ("read_service_mean_ns", f'kind = "ratio", direction = "above", paired = true, {SIDES}'),
    "value": ("total_service_mean_ns", 'kind = "value", below = 1.0, unit = "ms"'),
    "slope": (STEEP, f'kind = "slope", factor = "clients", direction = "steeper", {SIDES}'),
    "speedup": (STEEP, f'kind = "speedup", factor = "clients", direction = "above", {SIDES}'),
    "scaling": ("flush_service_mean_ns", 'kind = "scaling", factor = "clients"'),
    "best": (
        "update_service_mean_ns",
        'kind = "best", factor = "consistency", want = "lowest", level = "ONE"',
    ),
    "distribution": ("read_service_p50_ns", 'kind = "distribution", modes = 1'),
}
"""Name -> metric and check, one of each kind."""
HOLD_ANYWAY = ("equality", "distribution")
"""Checks that hold with and without effects: only `refuted` is false."""
MODELS = ("threshold", "shape", "scaling")
"""Checks of what a curve is like: rightly refuted where nothing happens, and only `confirmed` is false."""


@dataclass(frozen=True)
class Layout:
    """How the trials of a study hang together, and what becomes of them.

    Attributes:
        units: of each cell, of the highest level that is repeated.
        each: runs of each unit.
        level: what a unit is: `run`, `start` or `load`; starts and loads are shared by all points of a
            cluster.
        disturbed: chance of a trial to be disturbed from outside, which makes its figures three times as
            high.
        failed: chance of a trial at the strong level to fail through the system.
    """

    units: int = 6
    each: int = 1
    level: str = "run"
    disturbed: float = 0.0
    failed: float = 0.0


LAYOUTS = {
    "6 runs": Layout(),
    "6 starts of 2 runs": Layout(6, 2, "start"),
    "6 loads of 2 runs": Layout(6, 2, "load"),
    "10 runs": Layout(10),
    "9 runs, 1 in 10 disturbed": Layout(9, disturbed=0.1),
    "6 runs, 1 in 30 failed": Layout(failed=1 / 30),
}


def truth(effect: bool, clients: int, strong: bool) -> dict[str, float]:
    """The figures of a cell; without effect all cells are alike."""
    above = 1.2 if effect and strong else 1.0
    step = math.log2(clients) if effect else 0.0
    read = above * 1.2 ** (step / 4)
    return {
        "ok_per_s": 1000 * (1 + 0.15 * (2 - abs(step - 2)) if effect else 1.0),
        "READ": 1e6 * read,
        "SCAN": 4e6 * 1.125**step,
        "UPDATE": 1e6 * (min(clients, 4) * (1.3 if strong else 1.0) if effect else 1.0),
        "INSERT": 1e6 * (1 + 0.5 * clients if effect else 1.0),
        "DELETE": 1e6,
        "TOTAL": 1e6 * (0.8 if effect else 1.0),
        "READ-MODIFY-WRITE": 2e6 * 1.1 ** (step * strong),
        "FLUSH": 1e6 * (0.95 * clients if effect else 1.0),
        "requests_waiting": 8.0 if strong or not effect else 0.0,
    }


TRUE_RATIOS = {"ratio": 1.2, "ratio of p99": 1.2, "trend": 1.2, "trend of p99": 1.2}
"""What the estimates of these claims are where there is an effect; elsewhere 1."""


@dataclass(frozen=True)
class Outcome:
    """What became of a study's claims.

    Attributes:
        directions: claim -> verdict.
        held: claim -> whether its interval held the truth, of those that have one.
    """

    directions: dict[str, str]
    held: dict[str, bool]

    @property
    def false(self) -> list[str]:
        """Claims of which something was said although nothing is to be found; of a study without effects."""
        wrong = dict.fromkeys(CLAIMS, ("confirmed", "refuted"))
        wrong |= dict.fromkeys(MODELS, ("confirmed",)) | dict.fromkeys(HOLD_ANYWAY, ("refuted",))
        return [name for name, word in self.directions.items() if word in wrong[name]]

    @property
    def found(self) -> dict[str, bool]:
        """Claim -> whether it was confirmed; of a study with effects."""
        return {name: word == "confirmed" for name, word in self.directions.items()}


def outcome(layout: Layout, effect: bool, seed: int, folder: Path) -> Outcome:
    """Judge a made-up study from its files; `folder` is where they are written."""
    verdicts = judged(written(layout, effect, seed, folder))
    estimates = {name: estimate for name in TRUE_RATIOS if (estimate := verdicts[name].estimate)}
    held = {
        name: not estimate.excludes(TRUE_RATIOS[name] if effect else 1.0)
        for name, estimate in estimates.items()
    }
    return Outcome({name: verdict.direction for name, verdict in verdicts.items()}, held)


@cache
def planned(layout: Layout, folder: Path) -> tuple[dict[str, Any], str]:
    """run.json, with what each trial's manifest is to say of it as `trial`, and study.toml of a layout."""
    asked = "".join(_claim(name, *said) for name, said in CLAIMS.items())
    file = folder / "truth.toml"
    file.write_text(STUDY.replace("= 6", f"= {layout.units * layout.each}", 1) + asked)
    study = read_study(file)
    asked_for = trials(study)
    run = RunFolder.create(study, asked_for, folder / "plan")
    run.close()
    told = json.loads((run.path / "run.json").read_text()), (run.path / "study.toml").read_text()
    for row, trial in zip(told[0]["trials"], asked_for, strict=True):
        row["trial"] = trial.model_dump(mode="json", exclude_none=True)
    shutil.rmtree(run.path)
    return told


def _claim(name: str, metric: str, check: str) -> str:
    id_ = name.replace(" ", "-")
    return f'[[claims]]\nid = "{id_}"\nstatement = "{name}"\nmetric = "{metric}"\ncheck = {{ {check} }}\n'


def written(layout: Layout, effect: bool, seed: int, folder: Path) -> Path:
    """The folder of a study's run, written below a folder."""
    rng = np.random.default_rng((seed, effect))
    run, toml = planned(layout, folder)
    path = folder / f"{seed}-{effect}"
    path.mkdir()
    (path / "study.toml").write_text(toml)
    source = Source(layout, effect, rng)
    rows = [source.trial(path, row) for row in run["trials"]]
    (path / "run.json").write_text(json.dumps({**run, "trials": rows}))
    return path


def judged(run: Path) -> dict[str, Verdict]:
    """Claim -> verdict, as a report comes to it."""
    found = answers(build(run))
    assert found is not None
    return dict(zip(CLAIMS, (one.verdict for one in found.claims), strict=True))


@dataclass
class Source:
    """Draws the trials of one study."""

    layout: Layout
    effect: bool
    rng: np.random.Generator
    shifts: dict[int, float] = field(default_factory=dict)
    """Unit -> what its runs have in common."""

    def trial(self, run: Path, planned: dict[str, Any]) -> dict[str, Any]:
        """Write one trial's folder; returns its line in run.json."""
        layout, strong = self.layout, planned["levels"]["consistency"] == "ALL"
        unit = self.unit(planned)
        row = {**planned, "group": planned["number"], "data": planned["number"]}
        row |= {"start": {"group": unit}, "load": {"data": unit}}.get(layout.level, {})
        disturbed = self.rng.random() < layout.disturbed
        row["status"] = "failed" if strong and self.rng.random() < layout.failed else "done"
        figures = self._figures(truth(self.effect, row["levels"]["clients"], strong), unit, disturbed)
        write_trial(run / "trials" / f"{row['number']:03}", row, figures, self.rng)
        return {**row, "tainted": "steal: 9 %" if disturbed else None}

    def unit(self, planned: dict[str, Any]) -> int:
        """The start or load of a trial. All points of one cluster share it, as studies lay them out; the
        two levels of consistency stand for two clusters. Runs that are units share nothing."""
        number = (planned["repetition"] - 1) // self.layout.each
        strong = planned["levels"]["consistency"] == "ALL"
        apart = planned["point"] if self.layout.level == "run" else int(strong)
        return 1000 * apart + number

    def _figures(self, true: dict[str, float], unit: int, disturbed: bool) -> dict[str, float]:
        shared = self.rng.normal(0, SCATTER) if self.layout.each > 1 else 0.0
        level = self.shifts.setdefault(unit, shared) + (math.log(3) if disturbed else 0.0)
        figures = {
            name: value * math.exp(level + self.rng.normal(0, SCATTER)) for name, value in true.items()
        }
        if not self.effect and self.rng.random() < 1 / 3:
            figures["requests_waiting"] = 0.0
        return figures


QUANTILES = np.exp(0.4 * np.linspace(-2.4, 2.4, 25))
"""Service times of a run over their middle."""


def write_trial(
    folder: Path, row: dict[str, Any], figures: dict[str, float], rng: np.random.Generator
) -> None:
    """The files of one trial: manifest, series of a steady closed loop, histogram of reads, servers' figures.

    Args:
        folder: made here.
        row: its line in run.json.
        figures: `ok_per_s`, the mean service time of each operation in ns, `requests_waiting`.
        rng: for the series.
    """
    engine = folder / "engine"
    engine.mkdir(parents=True)
    histogram = HdrHistogram(1, 3600 * NS, 3)
    for value in figures["READ"] * QUANTILES:
        histogram.record_value(int(value), 50)
    text = histogram.encode().decode()
    head = '#[Histogram log format version 1.3]\n"StartTimestamp","Interval_Length","Interval_Max"\n'
    (engine / "run.totals.hdr").write_text(f"{head}Tag=READ.service,0.000,{SECONDS}.000,1.000,{text}\n")
    tenths = rng.poisson(100, (SECONDS, 10))
    pl.DataFrame(
        {
            "phase": ["run"] * SECONDS, "op": ["TOTAL"] * SECONDS, "second": range(SECONDS),
            "t_ns": np.arange(SECONDS) * NS, "due": tenths.sum(axis=1), "started": tenths.sum(axis=1),
            "done": tenths.sum(axis=1), "tenths": tenths.tolist(),
        }
    ).write_parquet(folder / "intervals.parquet")  # fmt: skip
    pl.DataFrame(
        {"t_ns": [0, SECONDS * NS], "source": ["node1"] * 2, "metric": ["server_native_pending"] * 2,
         "value": [figures["requests_waiting"]] * 2}
    ).write_parquet(folder / "system.parquet")  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(_manifest(row, figures, histogram)))


def _manifest(row: dict[str, Any], figures: dict[str, float], histogram: HdrHistogram) -> dict[str, Any]:
    ops = {
        op: {"count": 1000, "ok": 1000, "service": {"count": 1000, "mean_ns": mean}}
        for op, mean in figures.items() if op.isupper()
    }  # fmt: skip
    reads: dict[str, Any] = ops["READ"]["service"]  # type: ignore[assignment]
    reads |= dict(zip(("p50_ns", "p99_ns"), percentiles(histogram, [50.0, 99.0]), strict=True))
    ok = round(figures["ok_per_s"] * SECONDS)
    summary = {
        "phase": "run", "kind": "run", "start_ns": 0, "end_ns": SECONDS * NS, "seconds": float(SECONDS),
        "operations": ok, "ok": ok, "within": {"ok": ok}, "failed": {}, "arrivals": {"kind": "closed"},
        "in_flight_cap": row["levels"]["clients"], "ops": ops,
    }  # fmt: skip
    phase = {"name": "run", "start_ns": 0, "end_ns": SECONDS * NS, "reason": "time", "summary": summary}
    trial = {**row["trial"], "group": row["group"], "data": row["data"]}
    return {"format": 1, "status": row["status"], "trial": trial, "phases": [phase]}
