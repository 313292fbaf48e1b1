"""A phase in typed rows: counts, rates and distributions per operation (docs/format.md, phase summary)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

from hdrh.histogram import HdrHistogram

from steelyard.analysis.distribution import EMPTY, Distribution, from_histogram, from_summary

TOTAL = "TOTAL"
CLOCKS = ("response", "service", "wait", "all")
"""Distributions of every operation. response = due to done, service = started to done, wait = due to
started (successes); all = response of all attempts, a failure counted as at least its timeout."""

Histograms = Mapping[str, HdrHistogram]
"""Tag such as READ.response -> histogram of nanoseconds over the whole phase."""


@dataclass(frozen=True)
class Operation:
    """One kind of operation in one phase."""

    name: str
    count: int
    ok: int
    not_yet: int
    failures: Mapping[str, int]
    rate_per_s: float
    """Completed within the offered window per second of it, failures included."""
    rows: int | None = None
    bytes: int | None = None
    response: Distribution = EMPTY
    service: Distribution = EMPTY
    wait: Distribution = EMPTY
    all: Distribution = EMPTY

    @property
    def failed(self) -> int:
        """Failures of all kinds."""
        return sum(self.failures.values())


@dataclass(frozen=True)
class Saturation:
    """Seconds in which due operations could not be sent, by the reason."""

    seconds_saturated: float = 0
    """Operations waited although more were allowed to be in flight: the client was too slow."""
    seconds_cap_reached: float = 0
    """Operations waited with as many on the wire as allowed: the server was too slow."""
    max_backlog: int = 0
    seconds_starved: float = 0
    """The client had no processor, and operations were late by that: nothing is said about the server."""


@dataclass(frozen=True)
class Traffic:
    """System calls and messages on the client's sockets in a phase: they decide what an operation costs."""

    reads: int
    writes: int
    requests: int
    answers: int

    @property
    def requests_per_write(self) -> float | None:
        """Requests that left with one write() on average."""
        return self.requests / self.writes if self.writes else None

    @property
    def answers_per_read(self) -> float | None:
        """Answers that one read() brought on average."""
        return self.answers / self.reads if self.reads else None


@dataclass(frozen=True)
class Phase:
    """One phase of a trial."""

    name: str
    kind: str
    start_ns: int
    end_ns: int
    seconds: float
    total: Operation
    operations: tuple[Operation, ...] = ()
    in_flight_cap: int | None = None
    target_per_s: float | None = None
    """Offered rate, of a curve its mean; None in a closed loop, or where it is a share of an unknown rate."""
    curve: bool = False
    """Whether the offered rate changed along a curve."""
    arrivals: str = "closed"
    verify: Mapping[str, Any] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    unsent: int = 0
    unanswered: int = 0
    saturation: Saturation = Saturation()
    pacing: Mapping[str, Any] = field(default_factory=dict)
    engine_cpu_s: float | None = None
    engine_rss_max_bytes: int | None = None
    traffic: Traffic | None = None
    """None where operations travel over no sockets of the engine's drivers, or nobody counted."""
    engines: tuple[tuple[Operation, ...], ...] = ()
    """Each engine's own rows, when there were several."""
    complete: bool = True
    """False when the phase was cut short and its figures come from the series."""
    reason: str = ""
    ok_within: int | None = None
    """Successes within the offered window; None where nobody counted them apart."""
    audit: Mapping[str, Any] | None = None
    """What an audit has found."""

    @property
    def closed(self) -> bool:
        """Whether the loop was closed and unthrottled, so that due = started."""
        return self.arrivals == "closed" and self.target_per_s is None

    @property
    def elapsed_s(self) -> float:
        """From its start to its last answer: `seconds`, in which operations were offered, and what it took to
        send and to answer those that were late."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def ok_per_s(self) -> float:
        """Successful operations per second of the window in which operations were offered."""
        ok = self.total.ok if self.ok_within is None else self.ok_within
        return ok / self.seconds if self.seconds else 0.0


def _operation(name: str, facts: Mapping[str, Any], seconds: float) -> Operation:
    failures = {kind: int(n) for kind, n in (facts.get("failures") or {}).items() if n}
    count = int(facts.get("count") or 0)
    within = facts.get("within")
    return Operation(
        name=name,
        count=count,
        ok=int(facts.get("ok") or 0),
        not_yet=_not_yet(facts),
        failures=failures,
        rate_per_s=(count if within is None else int(within)) / seconds if seconds else 0.0,
        rows=facts.get("rows"),
        bytes=facts.get("bytes"),
        **{clock: from_summary(facts.get(clock)) for clock in CLOCKS},
    )


def _not_yet(facts: Mapping[str, Any]) -> int:
    """A count; where earlier engines were merged its times stand in its place."""
    told = facts.get("not_yet") or 0
    return int(told["count"] if isinstance(told, Mapping) else told)


def _operations(facts: Mapping[str, Any], seconds: float) -> tuple[Operation, ...]:
    ops = facts.get("ops") or {}
    return tuple(_operation(name, ops[name], seconds) for name in sorted(ops) if name != TOTAL)


def _total(facts: Mapping[str, Any], seconds: float, histograms: Histograms) -> Operation:
    given = (facts.get("ops") or {}).get(TOTAL) or {}
    distributions = {
        clock: given.get(clock) or vars(from_histogram(histograms.get(f"{TOTAL}.{clock}")))
        for clock in CLOCKS
    }
    counts = {"count": facts.get("operations"), "ok": facts.get("ok"), "failures": facts.get("failed")}
    counts |= {"within": (facts.get("within") or {}).get("operations")}
    counts |= {"not_yet": sum(map(_not_yet, (facts.get("ops") or {}).values()))}
    return _operation(TOTAL, counts | distributions, seconds)


def _target(facts: Mapping[str, Any], seconds: float) -> tuple[str, float | None]:
    arrivals = facts.get("arrivals") or {"kind": "closed"}
    if isinstance(arrivals, str):
        arrivals = {"kind": arrivals}
    return str(arrivals.get("kind", "closed")), mean_offered(arrivals.get("rate"), seconds)


def is_curve(arrivals: Any) -> bool:
    """Whether arrivals, as the plan has them, follow the points of a curve."""
    return isinstance(arrivals, Mapping) and isinstance(arrivals.get("rate"), Sequence)


def mean_offered(rate: float | Sequence[Sequence[float]] | None, seconds: float) -> float | None:
    """The mean offered rate over the first `seconds` of a phase.

    Args:
        rate: operations per second, or the points [seconds, operations per second] of a curve: straight lines
            between them, the last rate stays; None in a closed loop.
    """
    if rate is None or isinstance(rate, int | float):
        return rate
    if not seconds:
        return float(rate[0][1])
    points = [(float(at), float(value)) for at, value in rate]
    points.append((max(seconds, points[-1][0]), points[-1][1]))
    offered = sum(_below(a, b, seconds) for a, b in pairwise(points))
    return offered / seconds


def _below(a: tuple[float, float], b: tuple[float, float], until_s: float) -> float:
    """Operations between two points of a curve, as far as they lie before `until_s`."""
    end = min(b[0], until_s)
    if end <= a[0]:
        return 0.0
    at_end = a[1] + (b[1] - a[1]) * (end - a[0]) / (b[0] - a[0])
    return (end - a[0]) * (a[1] + at_end) / 2


def _saturation(facts: Mapping[str, Any], seconds: float) -> Saturation:
    """A merge sums the seconds over its engines; no more than all can be said of the phase."""
    return Saturation(
        seconds_saturated=min(float(facts.get("seconds_saturated") or 0), seconds),
        seconds_cap_reached=min(float(facts.get("seconds_cap_reached") or 0), seconds),
        max_backlog=int(facts.get("max_backlog") or 0),
        seconds_starved=min(float(facts.get("seconds_starved") or 0), seconds),
    )


def _traffic(facts: Mapping[str, int] | None) -> Traffic | None:
    return Traffic(**{f.name: int(facts[f.name]) for f in fields(Traffic)}) if facts else None


def phase_from_summary(facts: Mapping[str, Any], histograms: Histograms, reason: str = "") -> Phase:
    """A completed phase.

    Args:
        facts: the phase summary of the engine.
        histograms: histograms over the whole phase; the distributions of TOTAL come from them.
        reason: why the phase ended (`operations`, `time`, `stop`).
    """
    seconds = float(facts.get("seconds") or 0)
    kind, rate = _target(facts, seconds)
    censored = facts.get("censored") or {}
    cpu = [facts.get("cpu_user_ns"), facts.get("cpu_system_ns")]
    return Phase(
        name=str(facts.get("phase", "")),
        kind=str(facts.get("kind", "run")),
        start_ns=int(facts.get("start_ns") or 0),
        end_ns=int(facts.get("end_ns") or 0),
        seconds=seconds,
        total=_total(facts, seconds, histograms),
        operations=_operations(facts, seconds),
        in_flight_cap=facts.get("in_flight_cap"),
        target_per_s=rate,
        curve=is_curve(facts.get("arrivals")),
        arrivals=kind,
        verify=facts.get("verify") or {},
        attempts=facts.get("attempts") or {},
        unsent=int(censored.get("unsent") or 0),
        unanswered=int(censored.get("unanswered") or 0),
        saturation=_saturation(facts.get("saturation") or {}, seconds),
        pacing=facts.get("pacing") or {},
        engine_cpu_s=None if None in cpu else sum(cpu) / 1e9,  # type: ignore[arg-type]
        engine_rss_max_bytes=facts.get("rss_max_bytes"),
        traffic=_traffic(facts.get("traffic")),
        engines=tuple(_operations(e, float(e.get("seconds") or 0)) for e in facts.get("engines") or ()),
        reason=reason,
        ok_within=(facts.get("within") or {}).get("ok"),
        audit=facts.get("audit"),
    )
