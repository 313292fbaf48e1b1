"""What was measured as YCSB names it: (section, measurement, value) in the order in which it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hdrh.histogram import HdrHistogram

from steelyard.results.read import TrialResult
from steelyard.ycsb.choices import Choices
from steelyard.ycsb.kinds import Row, Section, bucketed, percentiled, series

STATUSES = {"not_found": "NOT_FOUND"}
"""Kind of failure -> YCSB's status; its bindings say ERROR of every other."""
NO_GC = (("TOTAL_GCs", "Count", 0), ("TOTAL_GC_TIME", "Time(ms)", 0), ("TOTAL_GC_TIME_%", "Time(%)", 0.0))
"""Scripts look for these; the engine collects no garbage."""
OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE", "FLUSH")
"""FLUSH is ours: with `clientbuffering` the latency of a write is an append, and this is what sends them."""
COMPOSED = "READ-MODIFY-WRITE"
"""It has no status of its own: its parts have theirs."""


@dataclass(frozen=True)
class Overall:
    """The run as a whole: successes over the window in which operations were offered, or as YCSB counts."""

    runtime_ms: int
    throughput: float


def overall(trial: TrialResult, phase: str, *, as_ycsb: bool) -> Overall:
    """Run time and throughput; as YCSB's with failed operations, connecting and closing in them."""
    summary = trial.summary(phase) or {}
    seconds = float(summary.get("seconds", 0))
    operations = int((summary.get("within") or summary).get("ok", 0))
    if as_ycsb:  # to the last answer, however late
        seconds = (int(summary.get("end_ns", 0)) - int(summary.get("start_ns", 0))) / 1e9
        seconds += float(trial.manifest["timing"].get("engines", 0))
        operations = int(summary.get("operations", 0))
    return Overall(round(seconds * 1000), operations / seconds if seconds else 0.0)


def rows(trial: TrialResult, phase: str, choices: Choices, whole: Overall) -> Iterator[Row]:
    """Every line of YCSB's output."""
    yield "OVERALL", "RunTime(ms)", whole.runtime_ms
    yield "OVERALL", "Throughput(ops/sec)", whole.throughput
    yield from NO_GC
    summary = trial.summary(phase) or {}
    found = trial.histograms(phase)
    for section in sections(summary, found, choices):
        match choices.kind:
            case "histogram":
                yield from bucketed(section, choices)
            case "hdrhistogram+histogram":
                yield from percentiled(replace(section, name=f"Hdr{section.name}"), choices)
                yield from bucketed(replace(section, name=f"Bucket{section.name}", returns={}), choices)
            case "timeseries":
                yield from series(section, trial.histogram_log(phase), choices)
            case _:
                yield from percentiled(section, choices)
    yield from _verified(summary)


def sections(
    summary: Mapping[str, Any], found: Mapping[str, HdrHistogram], choices: Choices
) -> Iterator[Section]:
    """The sections of each operation that was done: its own, `Intended-` if asked for, its failures."""
    for operation in OPERATIONS:
        if counts := summary.get("ops", {}).get(operation):
            returns = {} if operation == COMPOSED else statuses(counts)
            for name, tag in tags(operation, choices).items():
                yield Section(name, tag, found.get(tag), returns if name == operation else {})
            if failed := found.get(f"{operation}.failed"):
                yield Section(failed_section(operation, returns, choices), f"{operation}.failed", failed)


def tags(operation: str, choices: Choices) -> dict[str, str]:
    """Name of a section -> the engine's tag of its successes; `.response` counts from the due time."""
    plain = "response" if choices.interval == "intended" else "service"
    found = {operation: f"{operation}.{plain}"}
    return found | ({f"Intended-{operation}": f"{operation}.response"} if choices.interval == "both" else {})


def statuses(counts: Mapping[str, Any]) -> dict[str, int]:
    """How many operations ended with which of YCSB's statuses."""
    found = {"OK": int(counts.get("ok", 0))}
    for kind, number in counts.get("failures", {}).items():
        status = STATUSES.get(kind, "ERROR")
        found[status] = found.get(status, 0) + int(number)
    return {status: number for status, number in found.items() if number}


def failed_section(name: str, returns: Mapping[str, int], choices: Choices) -> str:
    """`READ-FAILED`, or `READ-ERROR` when that is asked for and the only failed status.

    Failures of several statuses share one histogram, and so one section.
    """
    bad = [status for status in returns if status != "OK"]
    if len(bad) == 1 and (choices.separate is None or bad[0] in choices.separate):
        return f"{name}-{bad[0]}"
    return f"{name}-FAILED"


def _verified(summary: Mapping[str, Any]) -> Iterator[Row]:
    """`dataintegrity`: every read that found its record was judged."""
    verdicts = summary.get("verify") or {}
    reads = int(summary.get("ops", {}).get("READ", {}).get("ok", 0))
    if verdicts.get("mode", "off") == "off" or not verdicts.get("checked"):
        return
    wrong = min(reads, int(verdicts.get("corrupt", 0)) + int(verdicts.get("foreign", 0)))
    yield "VERIFY", "Operations", reads
    if reads > wrong:
        yield "VERIFY", "Return=OK", reads - wrong
    if wrong:
        yield "VERIFY", "Return=UNEXPECTED_STATE", wrong
