"""A made-up study of two timelines, `none` and `add-1`, whose truth is known: as folders, without a server.

A node joins from second 60.5 to second 90 of the run: reads and updates take three times as long meanwhile,
1.5 times for 20 s more, and 0.8 times afterwards. node4 is watched from second 62 on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from made import maker

from steelyard.report.acted import OneAction
from steelyard.results.actions import ActionLog, ActionRow, MilestoneRow

NS = 1_000_000_000
SECONDS, LOAD_SECONDS = 180, 1
START_S, END_S, AGAIN_S = 60.5, 90.0, 110
MOVED = 2_000_000_000
TIMELINES = ("none", "add-1")


def slow(timeline: str, second: int) -> float:
    """By how much operations due in a second of the run take longer."""
    if timeline == "none" or second < int(START_S):
        return 1.0
    return 3.0 if second < END_S else 1.5 if second < AGAIN_S else 0.8


def make_acted(root: Path, repetitions: int = 1, how: str = "done", hostile: str = "") -> Path:
    """Write the folder of a run, every trial done; returns it.

    Args:
        root: where.
        repetitions: of each timeline.
        how: the action's end.
        hostile: put wherever an action can say something.
    """
    folder = root / "acted"
    lines = []
    for number in range(1, 2 * repetitions + 1):
        timeline, repetition = TIMELINES[(number - 1) % 2], (number + 1) // 2
        path = folder / "trials" / f"{number:03}"
        _trial(path, number, repetition, timeline)
        if timeline != "none":
            _actions(path, how, hostile)
        lines.append(_line(number, repetition, timeline))
    run = {
        "format": 1, "name": "acted", "created": "2025-10-09T08:53:20Z", "steelyard": "0.1.0",
        "trials": lines,
        "factors": {"timeline": list(TIMELINES)}, "design": {},
        "study": {"name": "acted", "question": "What does a joiner cost?", "factors": {"timeline": []}},
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(run, indent=1))
    return folder


def _line(number: int, repetition: int, timeline: str) -> dict[str, Any]:
    return {
        "number": number, "point": 1 + TIMELINES.index(timeline), "repetition": repetition,
        "seed": repetition, "system": "cassandra", "variant": None, "levels": {"timeline": timeline},
        "status": "done",
        "reason": None, "group": number, "data": number,
    }  # fmt: skip


def _trial(path: Path, number: int, repetition: int, timeline: str) -> None:
    made = maker("make_results")
    sample = made.Sample(seconds=SECONDS, load_seconds=LOAD_SECONDS, pause_second=None)

    class Slowed(made.PhaseMaker):  # type: ignore[name-defined, misc]
        def _draw(self, second: int, op: str) -> dict[str, np.ndarray]:
            times: dict[str, np.ndarray] = super()._draw(second, op)
            factor = slow(timeline, second) if self.name == "run" else 1.0
            return {name: _rounded(values * factor) for name, values in times.items()}

        def logs(self) -> tuple[str, str]:
            tags = [
                (f"{op}.{clock}", op, clock) for op in (*self.ops, "TOTAL") for clock in ("response", "all")
            ]
            seconds: Sequence[int] = range(self.seconds)
            each = [
                (t, float(s), 1.0, self.values(o, c, s)) for s in seconds for t, o, c in tags if c == "all"
            ]
            whole = [(t, 0.0, float(self.seconds), self.values(o, c)) for t, o, c in tags]
            return made._log(each), made._log(whole)

    real = made.PhaseMaker, made._rounded
    made.PhaseMaker, made._rounded = Slowed, _rounded
    try:
        made._trial(path, sample, repetition, partial=False)
    finally:
        made.PhaseMaker, made._rounded = real
    _joining(path, timeline)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["trial"] |= _line(number, repetition, timeline)
    (path / "manifest.json").write_text(json.dumps(manifest))


def _rounded(values: np.ndarray) -> np.ndarray:
    """To two percent: finer than the changes that are to be found."""
    step = 10 ** np.maximum(np.floor(np.log10(np.maximum(values, 1))) - 2, 0) * 2
    return np.asarray((np.ceil(values / step) * step).astype(np.int64))


def run_start_ns(path: Path) -> int:
    """When the run phase of a trial began."""
    phases = json.loads((path / "manifest.json").read_text())["phases"]
    return int(next(p["start_ns"] for p in phases if p["name"] == "run"))


STORED = {"live_disk_bytes": 6e8, "memtable_data_bytes": 4e8, "memtable_bytes": 9e8}
"""What each node tells of its data: 1 GB, of which memory takes twice its size."""


def _joining(path: Path, timeline: str) -> None:
    """What three nodes store, and the samples of a fourth."""
    system = pl.read_parquet(path / "system.parquet")
    at = system.filter((pl.col("source") == "node1") & (pl.col("metric") == "memory_bytes"))["t_ns"]
    stored = [
        {"t_ns": t, "source": f"node{n}", "metric": f"server_{metric}", "value": value}
        for metric, value in STORED.items()
        for n in (1, 2, 3)
        for t in at
    ]
    start = run_start_ns(path)
    late = [t for t in at if timeline != "none" and t >= start + 62 * NS]
    joined = [
        {"t_ns": t, "source": "node4", "metric": "cpu_seconds_total", "value": 0.5 * (t - start) / NS}
        for t in late
    ]
    pl.concat([system, pl.DataFrame([*stored, *joined])]).write_parquet(path / "system.parquet")


def _actions(path: Path, how: str, hostile: str) -> None:
    log, start = ActionLog(path), run_start_ns(path)

    def at(second: float) -> int:
        return start + round(second * NS)

    node = "node4" + hostile
    asked = {"nodes": 1}
    log.action(ActionRow("join", "add", "requested", at(START_S - 0.2), parameters=asked))
    log.action(ActionRow("join", "add", "started", at(START_S), (node,), asked))
    for what, second in (("up", 65), ("announced", 70), ("streaming", 71)):
        log.milestone(MilestoneRow("join", node, what + hostile, at(second)))
    if how == "done":
        log.milestone(MilestoneRow("join", node, "joined", at(END_S - 0.5)))
    end = END_S if how == "done" else SECONDS - 1
    log.action(
        ActionRow("join", "add", "ended", at(end), (node,), asked, how, hostile, MOVED)  # type: ignore[arg-type]
    )


def one(**more: object) -> OneAction:
    """An action of a trial: a node was killed, unless something else is said."""
    said = {
        "id": "a",
        "do": "kill",
        "nodes": ("node2",),
        "parameters": {},
        "how": "done",
        "reason": "",
        "bytes": None,
    }
    return OneAction(**{**said, **more})  # type: ignore[arg-type]
