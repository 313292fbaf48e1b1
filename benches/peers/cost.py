"""What one run of a client costs, and what ours costs in terms of another's.

Every client runs once in each round, so that a ratio is taken within a round, and the interval is that of the
geometric mean of the rounds' ratios (Student's t on logarithms).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression
from typing import Any

from steelyard.analysis.stats.runs import Interval, Runs, mean

OURS = "ours"
FLOOR = "floor"
"""With more or less in flight it has further words behind this one."""


@dataclass(frozen=True)
class Cost:
    """What one run measured."""

    rate_per_s: float
    cpu_us: float
    """User and system time of the client process for one operation."""
    resident_mib: float
    p99_us: float
    per_read: float = math.nan
    """Operations answered by one read() of the socket; NaN where nobody counted."""
    per_write: float = math.nan
    """Operations sent by one write()."""


FIGURES = {"cpu_us": "CPU us/op", "rate_per_s": "op/s", "resident_mib": "memory MiB", "p99_us": "p99 us"}
PER_CALL = {"per_read": "op per read()", "per_write": "op per write()"}
Round = dict[str, Cost]


def show(who: str, cost: Cost) -> str:
    """One run in a few words."""
    calls = "" if math.isnan(cost.per_read) else f" {cost.per_read:.1f} and {cost.per_write:.1f} op a call"
    return (
        f"{who}: {cost.rate_per_s:,.0f}/s, {cost.cpu_us:.2f} us of CPU, p99 {cost.p99_us:,.0f} us, "
        f"{cost.resident_mib:.1f} MiB{calls}"
    )


def ratio(rounds: Sequence[Mapping[str, Any]], peer: str, figure: str) -> Interval:
    """Ours divided by a peer's."""
    return mean(Runs([getattr(one[OURS], figure) / getattr(one[peer], figure) for one in rounds]))


def table(rounds: Sequence[Round]) -> Iterator[str]:
    """The figures of each client, then ours in terms of each other's, as lines of Markdown."""
    clients = list(rounds[0])
    yield from _head("", [*FIGURES.values(), *PER_CALL.values()])
    for who in clients:
        yield _row(who, [_middle(rounds, who, figure) for figure in (*FIGURES, *PER_CALL)])
    yield ""
    yield from _head("", list(FIGURES.values()))
    for peer in clients:
        if peer == FLOOR or not peer.startswith((OURS, FLOOR)):
            yield _row(f"{OURS} / {peer}", [text(ratio(rounds, peer, figure)) for figure in FIGURES])
    if sum(who.startswith(FLOOR) for who in clients) > 1:
        ratios = [one[OURS].cpu_us / floor_at(one, one[OURS].per_read) for one in rounds]
        yield _row(f"{OURS} / {FLOOR} at our op per read()", [text(mean(Runs(ratios))), "", "", ""])


def floor_at(one: Round, per_read: float) -> float:
    """What an operation would cost the floor at so many operations per read(), us.

    That is on a line through the floor's runs of a round: an operation costs what it costs by itself, and its
    share of a read() and a write(). How many share them is the server's doing, and differs from run to run.
    """
    runs = [cost for who, cost in one.items() if who.startswith(FLOOR)]
    line = linear_regression([1 / cost.per_read for cost in runs], [cost.cpu_us for cost in runs])
    return line.slope / per_read + line.intercept


def text(interval: Interval) -> str:
    """`0.264 (0.251 to 0.277)`."""
    if not math.isfinite(interval.high):
        return f"{interval.estimate:.3f}"
    return f"{interval.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _middle(rounds: Sequence[Round], who: str, figure: str) -> str:
    """The geometric mean over the rounds."""
    values = [getattr(one[who], figure) for one in rounds]
    if any(map(math.isnan, values)):
        return "-"
    middle = mean(Runs(values)).estimate
    return f"{middle:,.0f}" if middle >= 100 else f"{middle:.2f}"


def _head(first: str, names: Sequence[str]) -> Iterator[str]:
    yield _row(first, names)
    yield _row("---", ["---:" for _ in names])


def _row(first: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join([first, *cells])} |"
