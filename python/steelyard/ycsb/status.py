"""YCSB's status line on stderr, every `status.interval` seconds, from the engine's log as it grows."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import TextIO

from hdrh.histogram import HdrHistogram

from steelyard.lab.progress import Live
from steelyard.results.histograms import parse_line
from steelyard.ycsb.choices import Choices
from steelyard.ycsb.java import moment, remaining, rounded
from steelyard.ycsb.kinds import least_us, mean_us, most_us, percentile_us
from steelyard.ycsb.sections import OPERATIONS, tags

PERCENTILES = (("50", 50), ("90", 90), ("99", 99), ("99.9", 99.9), ("99.99", 99.99))


class LogTail:
    """The lines that a growing HdrHistogram log has won since the last look.

    Args:
        file: the log; it need not be there yet.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._at = file, 0

    def interval(self) -> dict[str, HdrHistogram]:
        """Tag -> histogram (ns) of all whole lines since the last call."""
        found: dict[str, HdrHistogram] = {}
        for line in self._lines():
            if parsed := parse_line(line):
                tag, _, histogram = parsed
                if tag in found:
                    found[tag].add(histogram)
                else:
                    found[tag] = histogram
        return found

    def _lines(self) -> list[str]:
        if not self._file.is_file():
            return []
        with self._file.open("rb") as file:
            file.seek(self._at)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._at += len(whole) + len(newline)
        return whole.decode(errors="replace").splitlines()


class Status:
    """Shows a phase as YCSB does; a `Show` of `steelyard.lab.progress`.

    Args:
        choices: label, interval and kind of measurement.
        log: the engine's log of the phase.
        operations: how many there will be; None = unlimited.
        out: where lines go; None = stderr.
    """

    def __init__(
        self, choices: Choices, log: Path, operations: int | None, out: TextIO | None = None
    ) -> None:
        self._choices, self._tail, self._operations = choices, LogTail(log), operations
        self._out = out
        self._live = Live(None, 0, 0, 0)
        self._began_s = self._shown_s = 0.0
        self._shown_done = 0

    def say(self, line: str) -> None:
        """A line that stays."""
        print(line, file=self._out or sys.stderr, flush=True)

    def trial(self, number: int, total: int, label: str, done: int, left_s: float) -> None:
        """There is one trial."""

    def begin(self, phase: str) -> None:  # noqa: ARG002 - there is one
        """The line at 0 s."""
        self._began_s = self._shown_s = time.monotonic()
        self._show()

    def update(self, live: Live) -> None:
        """A second has passed: show a line if it is time."""
        self._live = live
        every = self._choices.status_s
        due = every and time.monotonic() - self._shown_s >= every - 0.5  # events come a little early or late
        if due and live.share != 1.0:  # else the last line follows at once
            self._show()

    def end(self, line: str) -> None:  # noqa: ARG002 - it is said in numbers
        """The line of what is left."""
        self._show()

    def close(self) -> None:
        """Nothing is open."""

    def finish(self) -> None:
        """Nothing is open."""

    def _show(self) -> None:
        if self._choices.status_s is None:
            return
        now = time.monotonic()
        elapsed, interval, done = now - self._began_s, now - self._shown_s, self._live.done
        line = f"{self._choices.label}{moment(time.time())} {int(elapsed)} sec: {done} operations; "
        if done:
            line += f"{rounded((done - self._shown_done) / max(interval, 1e-3))} current ops/sec; "
        if left := (self._operations or done) - done:
            line += f"est completion in {remaining(left * elapsed / done if done else math.inf)}"
        self._shown_s, self._shown_done = now, done
        line += self._summary()
        self.say(line)
        if self._choices.kind == "timeseries":
            print(line, flush=True)

    def _summary(self) -> str:
        found = self._tail.interval()
        present = {tag.rpartition(".")[0] for tag in found}
        text = ""
        for operation in (name for name in OPERATIONS if name in present):
            for name, tag in tags(operation, self._choices).items():
                text += f"{self._section(name, found.get(tag))} "
            if failed := found.get(f"{operation}.failed"):
                text += f"{self._section(f'{operation}-FAILED', failed)} "
        return text

    def _section(self, name: str, histogram: HdrHistogram | None) -> str:
        if not self._choices.kind.startswith("hdrhistogram"):
            return f"[{name} AverageLatency(us)={rounded(mean_us(histogram))}]"
        count = histogram.get_total_count() if histogram else 0
        text = f"[{name}: Count={count}, Max={most_us(histogram)}, Min={least_us(histogram)}, "
        text += f"Avg={rounded(mean_us(histogram))}"
        for word, percent in PERCENTILES:
            text += f", {word}={percentile_us(histogram, percent)}"
        return f"{text}]"
