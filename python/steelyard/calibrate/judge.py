"""One cell's figures against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steelyard.analysis.warnings.host import STEAL
from steelyard.calibrate.cells import CalibrationCell
from steelyard.calibrate.drive import Observed
from steelyard.calibrate.truth import PERCENTILES, Stamps, Times, due_times, percentiles, queue

RELATIVE, ABSOLUTE_US = 0.03, 100.0
"""What a percentile may be off: 3 % of the truth and 100 us."""
READ = "READ"


@dataclass(frozen=True)
class Error:
    """A reported percentile of response time (closed loops: due = started) beside the truth, us.

    Attributes:
        reported: by the engine.
        truth: sorted from due times and the servers' stamps.
        model: of the queue that law and plan describe, with a client, network and servers that take no time.
    """

    reported: float
    truth: float
    model: float | None = None

    @property
    def error_us(self) -> float:
        """What the engine reports too much."""
        return self.reported - self.truth

    @property
    def within(self) -> bool:
        """Whether that is within what is allowed."""
        return close(self.reported, self.truth)


def close(reported: float, truth: float) -> bool:
    """Whether a percentile is within 3 % and 100 us of the truth."""
    return abs(reported - truth) <= RELATIVE * truth + ABSOLUTE_US


@dataclass(frozen=True)
class Verdict:
    """What a cell showed.

    Attributes:
        cell, law: in words.
        loop, rate_per_s, in_flight, operations: of the cell.
        errors: percentile -> error; empty with the null driver, where nothing is to be waited for.
        late_us: percentile -> start after due time, as the engine reports it; empty in a closed loop.
        arrival_late_us: percentile -> arrival at the server after due time, by its stamps.
        sent, completed, failed: operations; `completed_per_s` over the phase.
        backlog: most operations due and not started.
        saturated_s: seconds in which the client was the cause of that.
        cpu_us: of the engine for an operation. rss_mib: its memory at most.
        merged_share: of all answers, those that came with a later one in one read and share its stamp; None
            where the kernel stamps nothing.
        mean_error_us: reported mean less the true one; None where there is no truth.
        steal_share: of all cores' time, what other guests of the host took.
        tries: of this cell, until that was no more than `STEAL`; the calmest is kept.
    """

    cell: str
    law: str
    loop: str
    rate_per_s: float | None
    in_flight: int
    operations: int
    errors: dict[str, Error] = field(default_factory=dict)
    late_us: dict[str, float] = field(default_factory=dict)
    arrival_late_us: dict[str, float] = field(default_factory=dict)
    sent: int = 0
    completed: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    completed_per_s: float = 0.0
    backlog: int = 0
    saturated_s: float = 0.0
    cpu_us: float = 0.0
    rss_mib: float = 0.0
    merged_share: float | None = None
    mean_error_us: float | None = None
    steal_share: float = 0.0
    tries: int = 1

    @property
    def within(self) -> bool:
        """Whether every operation was done and every percentile is within what is allowed."""
        return self.completed == self.operations and all(e.within for e in self.errors.values())

    @property
    def disturbed(self) -> bool:
        """Whether the host took so much that the figures say little of the client."""
        return self.steal_share > STEAL

    @property
    def follows_model(self) -> bool:
        """Whether every percentile is also that of the ideal queue: for small caps this is the truth."""
        known = [e for e in self.errors.values() if e.model is not None]
        return all(close(e.reported, e.model) for e in known if e.model is not None)


def judge(cell: CalibrationCell, observed: Observed) -> Verdict:
    """Hold a cell's figures against the truth."""
    summary = observed.summary
    read = (summary.get("ops") or {}).get(READ) or {}
    operations = int(summary["operations"])
    censored = summary["censored"]
    saturation = summary["saturation"]
    cpu_ns = summary["cpu_user_ns"] + summary["cpu_system_ns"]
    due = _due(cell, observed)
    stamps = observed.stamps
    true = _true_times(stamps, due)
    response = read.get("response") or {}
    return Verdict(
        cell=cell.name,
        law=cell.law.text(),
        loop=cell.loop,
        rate_per_s=cell.rate,
        in_flight=cell.in_flight,
        operations=cell.operations,
        errors=_errors(cell, observed, response, due, true),
        late_us=reported(read.get("wait") or {}) if due is not None else {},
        arrival_late_us=percentiles(stamps.lateness(due)) if stamps is not None and due is not None else {},
        sent=operations + int(censored["unanswered"]),
        completed=operations,
        failed={kind: n for kind, n in (summary.get("failed") or {}).items() if n},
        completed_per_s=operations / summary["seconds"] if summary["seconds"] else 0.0,
        backlog=int(saturation["max_backlog"]),
        saturated_s=float(saturation["seconds_saturated"]),
        cpu_us=cpu_ns / 1e3 / max(operations, 1),
        rss_mib=summary["rss_max_bytes"] / 2**20,
        merged_share=_merged(summary),
        mean_error_us=(response["mean_ns"] - true.mean()) / 1e3 if len(true) and response else None,
        steal_share=observed.steal_share,
    )


def reported(distribution: Mapping[str, Any]) -> dict[str, float]:
    """The engine's percentiles, us."""
    keys = {name: f"{name.replace('.', '')}_ns" for name in PERCENTILES}
    return {name: distribution[key] / 1e3 for name, key in keys.items() if distribution.get(key) is not None}


def _due(cell: CalibrationCell, observed: Observed) -> Times | None:
    if cell.rate is None:
        return None
    return due_times(cell.seed, cell.arrivals, observed.start_ns, cell.operations)


def _true_times(stamps: Stamps | None, due: Times | None) -> Times:
    if stamps is None:
        return np.empty(0, dtype=np.int64)
    return stamps.services() if due is None else stamps.responses(due)


def _merged(summary: Mapping[str, Any]) -> float | None:
    """A read has one stamp: of the answers it brings all but the last have another's. None without stamps."""
    lag, traffic = (summary.get("pacing") or {}).get("lag"), summary.get("traffic")
    if not lag or not lag["reads"] or not traffic or not traffic["answers"]:
        return None
    return max(1 - float(lag["reads"]) / float(traffic["answers"]), 0.0)


def _errors(
    cell: CalibrationCell, observed: Observed, response: Mapping[str, Any], due: Times | None, true: Times
) -> dict[str, Error]:
    truth = percentiles(true)
    model = {} if cell.faults else percentiles(_model(cell, observed, due))
    said = reported(response)
    return {name: Error(said[name], truth[name], model.get(name)) for name in truth if name in said}


def _model(cell: CalibrationCell, observed: Observed, due: Times | None) -> Times:
    """Responses of the ideal queue; of a closed loop those of clients that all are free at the start."""
    if due is not None:
        return queue(due, cell.law, cell.seed, observed.start_ns, cell.in_flight)
    return np.empty(0, dtype=np.int64)
