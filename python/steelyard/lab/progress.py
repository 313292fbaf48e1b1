"""What a person sees while a trial runs: bars on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from steelyard.spec.units import about

LINE_EVERY_S = 5.0
REFRESH_PER_S = 4
CLIENT = {
    "kept": "",
    "cap_reached": "  server behind: in-flight cap reached",
    "saturated": "  client too slow",
    "starved": "  client starved of CPU",
}
"""What a second says of its client, the worst last -> words."""


@dataclass(frozen=True)
class Live:
    """The newest second of a phase, over all engines.

    Attributes:
        share: how much of the phase is done, 0..1; None when it has no known end.
        rate: operations answered in that second.
        p99_ns: of answers in that second; with several engines the worst engine's.
        failed: failures since the phase began.
        done: operations answered since the phase began.
        client: whether the load was kept in that second, else why not; with several engines the worst.
        doing: what else is going on, e.g. `join: streaming 12 s`.
    """

    share: float | None
    rate: int
    p99_ns: int
    failed: int
    done: int = 0
    client: str = "kept"
    doing: str = ""

    @classmethod
    def of(cls, intervals: Iterable[Mapping[str, Any]], doing: str = "") -> Live:
        """From the newest `interval` event of each engine, and what else is going on."""
        seen = list(intervals)
        newest = max(seen, key=lambda e: int(e.get("second", 0)))
        done = sum(int(e.get("total_done", 0)) for e in seen)
        shares = []
        if operations := newest.get("limit_operations"):
            shares.append(done / operations)
        if seconds := newest.get("limit_seconds"):
            shares.append(float(newest.get("seconds_since_start", 0)) / seconds)
        return cls(
            share=min(1.0, max(shares)) if shares else None,
            done=done,
            rate=sum(int(e.get("done", 0)) for e in seen),
            p99_ns=max(int(e.get("response_p99_ns") or 0) for e in seen),
            failed=sum(int(e.get("total_failed", 0)) for e in seen),
            client=max((str(e.get("client", "kept")) for e in seen), key=list(CLIENT).index),
            doing=doing,
        )

    def text(self) -> str:
        """`45 %  12,345/s  p99 3.21 ms`, the failures if there are any, and why the load is not kept."""
        share = "" if self.share is None else f"{self.share:4.0%}  "
        failed = f"  {self.failed:,} failed" if self.failed else ""
        doing = f"  {self.doing}" if self.doing else ""
        return f"{share}{self.rate:,}/s  p99 {latency(self.p99_ns)}{failed}{CLIENT[self.client]}{doing}"


def latency(ns: float) -> str:
    """A time for people: three digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


class Show(Protocol):
    """Where progress goes."""

    def say(self, line: str) -> None:
        """A line that stays."""

    def trial(self, number: int, total: int, label: str, done: int, left_s: float) -> None:
        """A trial of several begins: `done` of `total` are finished, the others take about `left_s`."""

    def begin(self, phase: str) -> None:
        """A phase begins."""

    def update(self, live: Live) -> None:
        """A second of the phase has passed."""

    def end(self, line: str) -> None:
        """The phase is over; the line stays."""

    def close(self) -> None:
        """The phase shows nothing any more."""

    def finish(self) -> None:
        """Nothing follows."""


class Lines:
    """Plain lines, each with the seconds since the start: for logs and pipes."""

    def __init__(self, console: Console, since_s: float | None = None) -> None:
        self._console = console
        self._since_s = time.monotonic() if since_s is None else since_s
        self._phase = ""
        self._shown_s = 0.0

    def say(self, line: str) -> None:
        """Print a line."""
        elapsed = time.monotonic() - self._since_s
        self._console.print(Text(f"{elapsed:7.1f} s  {line}"), soft_wrap=True)

    def trial(self, number: int, total: int, label: str, done: int, left_s: float) -> None:  # noqa: ARG002
        """Say which trial begins, and how long the rest will take."""
        self.say(f"trial {number} of {total}: {label} ({about(left_s)} left)")

    def begin(self, phase: str) -> None:
        """Say which phase begins."""
        self._phase = phase
        self._shown_s = time.monotonic()
        self.say(phase)

    def update(self, live: Live) -> None:
        """Print a line if the last one is old enough."""
        if time.monotonic() - self._shown_s >= LINE_EVERY_S:
            self._shown_s = time.monotonic()
            self.say(f"{self._phase}  {live.text()}")

    def end(self, line: str) -> None:
        """Say how the phase ended."""
        self.say(line)

    def close(self) -> None:
        """Nothing is open."""

    def finish(self) -> None:
        """Nothing is open."""


class Bars(Lines):
    """A bar for all trials and one for the running phase, lines above them."""

    def __init__(self, console: Console, since_s: float | None = None) -> None:
        super().__init__(console, since_s)
        columns = (
            TextColumn("{task.description:>8}"),
            BarColumn(),
            TextColumn("{task.fields[live]}"),
            TimeElapsedColumn(),
        )
        self._bars = Progress(*columns, console=console, refresh_per_second=REFRESH_PER_S, transient=True)
        self._task: TaskID | None = None
        self._all: TaskID | None = None

    def trial(self, number: int, total: int, label: str, done: int, left_s: float) -> None:
        """Move the bar over all trials."""
        super().trial(number, total, label, done, left_s)
        if self._all is None:
            self._all = self._bars.add_task("study", total=total, live="")
            self._bars.start()
        live = f"trial {number} of {total}, {about(left_s)} left"
        self._bars.update(self._all, total=total, completed=done, live=live)

    def begin(self, phase: str) -> None:
        """Show a bar."""
        self._phase = phase
        self._task = self._bars.add_task(phase, total=None, live="")
        self._bars.start()

    def update(self, live: Live) -> None:
        """Move the bar."""
        if self._task is not None:
            total = None if live.share is None else 1.0
            self._bars.update(self._task, total=total, completed=live.share or 0, live=live.text())

    def end(self, line: str) -> None:
        """Replace the bar by a line."""
        self.close()
        self.say(line)

    def close(self) -> None:
        """Take the phase's bar away."""
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
        if self._all is None:
            self._bars.stop()

    def finish(self) -> None:
        """Take all bars away."""
        self._all = None
        self.close()


def make_show(console: Console) -> Lines:
    """Bars on a terminal, else lines."""
    return Bars(console) if console.is_terminal else Lines(console)
