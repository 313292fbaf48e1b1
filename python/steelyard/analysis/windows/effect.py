"""All measures over the windows of one action, or of all actions of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from steelyard.analysis.windows import impact, losses
from steelyard.analysis.windows.again import steady_again
from steelyard.analysis.windows.host import Host, host
from steelyard.analysis.windows.losses import Failed, Floats
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.analysis.windows.recovery import recovered
from steelyard.analysis.windows.slices import BySecond
from steelyard.analysis.windows.spans import Seconds, Windows

TOTAL = "TOTAL"
BOUND = 5.0
"""Times the p99 before: the bound of those who named none, as of studies whose paper's bound is of its own
machines."""


@dataclass(frozen=True)
class Times:
    """Response times of one kind of operation in one window; None of too few operations."""

    window: str
    operation: str
    count: int
    mean_ns: float | None
    p50_ns: float | None
    p99_ns: float | None


@dataclass(frozen=True)
class Done:
    """What was done in one window.

    Attributes:
        seconds: of the window.
        ok_per_s: successes.
        failed_share: of what was done.
        stale, lost, not_yet: reads that came back so.
    """

    window: str
    seconds: int
    ok_per_s: float | None
    failed_share: float | None
    stale: int
    lost: int
    not_yet: int


@dataclass(frozen=True)
class Effect:
    """What was felt around an action.

    Attributes:
        windows: around it.
        again: until the run was steady again, since its start; None where too little comes after to tell.
        recovered: until as many operations succeeded as before, for good; see `recovery`.
        felt: the seconds until it was steady again.
        times: of each window, of all attempts, a failure counted as at least its timeout.
        raw: of each window, of what was answered, as long as it took, whatever the answer.
        done: of each window.
        excess_s, worst, spread: as of `impact`, from the action's start to the end of what comes after: as
            long in every trial of one timeline, while how long `felt` is was chosen by what came of it.
        bound_ns, outside_s: a bound, and the seconds of `felt` whose p99 was above it.
        lost_operations: as of `losses.lost_operations`, within `felt`; None in a closed loop.
        failures: attempts by window, coordinator and kind.
        host: seconds of `felt` in which the machine was busy or robbed.
    """

    windows: Windows
    again: Elapsed | None
    recovered: Elapsed | None
    felt: Seconds
    times: tuple[Times, ...]
    raw: tuple[Times, ...]
    done: tuple[Done, ...]
    excess_s: float | None
    worst: impact.Worst | None
    spread: float | None
    bound_ns: float | None
    outside_s: float | None
    lost_operations: float | None
    failures: tuple[Failed, ...]
    host: Host | None

    def of(self, window: str, operation: str = TOTAL) -> Times | None:
        """The times of a kind of operation in a window; None where there was none."""
        found = (t for t in self.times if (t.window, t.operation) == (window, operation))
        return next(found, None)


@dataclass(frozen=True)
class Measured:
    """One phase, as all measures need it.

    Attributes:
        name, start_ns: of the phase; CLOCK_MONOTONIC.
        closed: whether its loop is closed.
        latencies: operation -> response times of all attempts by second, a failure counted as at least its
            timeout; TOTAL is all of them.
        raw: likewise, of what was answered, as long as it took.
        counts: as of `losses.series`.
        coordinators: rows of coordinators.parquet.
        system: rows of system.parquet.
        cores: of the machine.
        bound_ns: of p99, where one was asked for.
    """

    name: str
    start_ns: int
    closed: bool
    latencies: Mapping[str, BySecond]
    raw: Mapping[str, BySecond]
    counts: Mapping[str, Floats]
    coordinators: pl.DataFrame
    system: pl.DataFrame
    cores: int | None = None
    bound_ns: float | None = None


def effect(phase: Measured, windows: Windows, within: Seconds | None = None) -> Effect:
    """All measures over windows of a phase.

    Args:
        phase: in which an action acted, or a control's.
        windows: around the action.
        within: of a control, the seconds in which the action is felt in the trial that it stands beside.
    """
    total = phase.latencies[TOTAL]
    again = None
    if within is None:
        again = steady_again(total, windows, phase.counts["done"] if phase.closed else None)
        within = impact.felt(windows, again)
    before = total.merged(windows.before).p99_ns
    bound_ns = phase.bound_ns if phase.bound_ns or before is None else BOUND * before
    return Effect(
        windows=windows,
        again=again,
        recovered=recovered(phase.counts, windows, closed=phase.closed),
        felt=within,
        times=_times(phase.latencies, windows),
        raw=_times(phase.raw, windows),
        done=tuple(_done(phase.counts, name, window) for name, window in windows.each()),
        excess_s=impact.excess_s(total, windows.before, windows.rest),
        worst=impact.worst(total, windows.rest),
        spread=impact.spread(total, windows.rest),
        bound_ns=bound_ns,
        outside_s=None if bound_ns is None else impact.outside_s(total, within, bound_ns),
        lost_operations=None if phase.closed else losses.lost_operations(phase.counts, within),
        failures=losses.failures(phase.coordinators, phase.name, windows),
        host=host(phase.system, phase.start_ns, within, phase.cores),
    )


def _times(latencies: Mapping[str, BySecond], windows: Windows) -> tuple[Times, ...]:
    found = []
    for name, window in windows.each():
        for operation, table in latencies.items():
            held = table.merged(window)
            found.append(Times(name, operation, held.count, held.mean_ns, held.quantile(0.5), held.p99_ns))
    return tuple(found)


def _done(counts: Mapping[str, Floats], name: str, window: Seconds) -> Done:
    return Done(
        name,
        len(window),
        losses.per_s(counts, "ok", window),
        losses.failed_share(counts, window),
        **losses.wrong(counts, window),
    )
