"""What was not done, what failed, and what came back wrong, by window and second."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.analysis.windows.spans import Seconds, Windows
from steelyard.results.intervals import TOTAL

Floats = NDArray[np.float64]

COLUMNS = ("due", "done", "ok", "failed")
WRONG = ("stale", "lost", "not_yet")


@dataclass(frozen=True)
class Failed:
    """Attempts that failed in one window: `coordinator` is empty where none is known."""

    window: str
    coordinator: str
    kind: str
    attempts: int


def series(intervals: pl.DataFrame, phase: str, seconds: int) -> dict[str, Floats]:
    """Counts in each whole second of a phase: due, done, ok, failed, stale, lost, not_yet.

    Args:
        intervals: rows of intervals.parquet (docs/format.md).
        phase: its name.
        seconds: whole ones; a second without a row has zeros.
    """
    rows = intervals.filter(
        (pl.col("phase") == phase) & (pl.col("op") == TOTAL) & pl.col("second").is_between(0, seconds - 1)
    )
    found = {name: np.zeros(seconds) for name in (*COLUMNS, *WRONG)}
    for name, values in found.items():
        values[rows["second"].to_numpy()] = rows[name].fill_null(0).to_numpy()
    return found


def lost_operations(counts: Mapping[str, Floats], within: Seconds) -> float:
    """The integral of max(0, due - done) over seconds: operations due and not yet done,
    in the second in which they were due. In a closed loop, where operations are due when they are sent, what
    is lost does not show."""
    due, done = (counts[name][within.first : within.end] for name in ("due", "done"))
    return float(np.maximum(due - done, 0.0).sum())


def per_s(counts: Mapping[str, Floats], name: str, within: Seconds) -> float | None:
    """Mean of a count over a window; None of an empty one."""
    found = counts[name][within.first : within.end]
    return float(found.mean()) if found.size else None


def failed_share(counts: Mapping[str, Floats], within: Seconds) -> float | None:
    """Of the operations done in a window, those that failed; None where none was done."""
    failed, done = (float(counts[name][within.first : within.end].sum()) for name in ("failed", "done"))
    return failed / done if done else None


def wrong(counts: Mapping[str, Floats], within: Seconds) -> dict[str, int]:
    """Reads of a window by what was wrong with them: `stale`, `lost`, `not_yet`."""
    return {name: int(counts[name][within.first : within.end].sum()) for name in WRONG}


def failures(coordinators: pl.DataFrame, phase: str, windows: Windows) -> tuple[Failed, ...]:
    """Failed attempts by window, coordinator and kind, in that order.

    Args:
        coordinators: rows of coordinators.parquet (docs/format.md); empty where no driver named any.
        phase: its name.
        windows: around the action.
    """
    rows = coordinators.filter((pl.col("phase") == phase) & (pl.col("failed") > 0))
    found: dict[tuple[str, str, str], int] = {}
    for second, node, told in rows.select("second", "coordinator", "failures").iter_rows():
        if window := windows.of(int(second)):
            for kind, attempts in json.loads(told or "{}").items():
                key = (window, str(node), str(kind))
                found[key] = found.get(key, 0) + int(attempts)
    order = [name for name, _ in windows.each()]
    ranked = sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1:]))
    return tuple(Failed(*key, attempts) for key, attempts in ranked)
