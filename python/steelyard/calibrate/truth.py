"""What is true of a run: due times from the plan, answers from the servers' stamps, percentiles by sorting.

All times are CLOCK_MONOTONIC ns unless said otherwise; arrays are in the order of the operation numbers.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.calibrate.draws import ARRIVAL, engine_unit
from steelyard.calibrate.laws import Law

Times = NDArray[np.int64]

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
RECORD = np.dtype([("number", "<u8"), ("arrived", "<u8"), ("left", "<u8"), ("fate", "<u8")])
ANSWERED, ERROR, OVERLOADED, DROPPED, SILENT, LOST = range(6)
"""Fates of a request, as crates/fakes/src/fault.rs numbers them."""


def due_times(seed: int, arrivals: Mapping[str, Any], start_ns: int, count: int) -> Times:
    """When operations 0 to count - 1 are due (crates/engine/src/schedule.rs); `arrivals` as in the plan."""
    numbers = np.arange(count, dtype=np.uint64)
    if arrivals["kind"] == "poisson":
        position = np.cumsum(-np.log(1.0 - engine_unit(seed, ARRIVAL, numbers)))
    else:
        position = numbers.astype(np.float64)
    per_ns = arrivals["rate"] / 1e9
    due: Times = start_ns + np.floor(position / per_ns + 0.5).astype(np.int64)
    return due


@dataclass(frozen=True)
class Stamps:
    """What the server wrote down, one row a request.

    Attributes:
        number: the operation.
        arrived, left: when its request came and its answer left; left is 0 if there was none.
        fate: how it ended.
    """

    number: Times
    arrived: Times
    left: Times
    fate: Times

    @classmethod
    def read(cls, path: Path) -> Stamps:
        """From the file that the fakes wrote."""
        rows = np.fromfile(path, dtype=RECORD)
        return cls(*(rows[name].astype(np.int64) for name in ("number", "arrived", "left", "fate")))

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which rows were answered as asked."""
        return np.equal(self.fate, ANSWERED)

    def count(self, fate: int) -> int:
        """Rows of a fate."""
        return int(np.count_nonzero(self.fate == fate))

    def responses(self, due: Times) -> Times:
        """Due time to answer of what was answered, ns."""
        rows = self.answered
        return self.left[rows] - due[self.number[rows]]

    def services(self) -> Times:
        """Request to answer of what was answered, ns: the truth where due = started."""
        rows = self.answered
        return self.left[rows] - self.arrived[rows]

    def lateness(self, due: Times) -> Times:
        """Due time to arrival, ns."""
        return self.arrived - due[self.number]

    def tardiness(self, law: Law, seed: int, epoch_ns: int) -> Times:
        """How much later than its law asked the server answered, ns: what the machine did to the server."""
        rows = self.answered
        work = law.work(seed, self.number[rows].astype(np.uint64)).tolist()
        came = np.maximum(self.arrived[rows] - epoch_ns, 0).tolist()
        asked = [law.done(at, needed) - at for at, needed in zip(came, work, strict=True)]
        return self.left[rows] - self.arrived[rows] - np.array(asked, dtype=np.int64)


def queue(due: Times, law: Law, seed: int, epoch_ns: int, cap: int) -> Times:
    """Responses, ns, of the queue that law and plan describe: at most `cap` at a time, in order.

    No client, no network and no clock is in it: this is what would be if all of them took no time.
    """
    work = law.work(seed, np.arange(len(due), dtype=np.uint64)).tolist()
    busy: list[int] = []
    responses = np.empty(len(due), dtype=np.int64)
    for number, (at, needed) in enumerate(zip((due - epoch_ns).tolist(), work, strict=True)):
        begun = at if len(busy) < cap else max(at, heapq.heappop(busy))
        done = law.done(begun, needed)
        heapq.heappush(busy, done)
        responses[number] = done - at
    return responses


def percentiles(values: Times) -> dict[str, float]:
    """Exact percentiles, us: the least value that so many are not above; none of nothing."""
    if not len(values):
        return {}
    ordered = np.sort(values)
    rank = {name: max(1, math.ceil(q * len(ordered))) for name, q in PERCENTILES.items()}
    return {name: float(ordered[r - 1]) / 1e3 for name, r in rank.items()}
