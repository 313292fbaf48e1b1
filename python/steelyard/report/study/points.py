"""A study's points: trials of equal settings together, with what repetition says of their figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.analysis.stats.runs import FEW, Interval, Runs, mean
from steelyard.report.formatting import NONE, clean, digits, plain
from steelyard.report.model import FIGURES, Figure, ReportModel, TrialReport
from steelyard.report.tables.base import Table
from steelyard.results.in_effect import part

BRACKETS = ("ok/s", "p99, ms")
"""Figures of few trials that are shown with the least and the most: with all of them it were too wide."""


@dataclass(frozen=True)
class PointReport:
    """One point of a study.

    Attributes:
        system, variant: their names in the study; empty when it has only one.
        levels: factor -> level.
        trials: those that count: done, and neither tainted nor half-written.
        planned: how many there should be.
    """

    system: str
    variant: str
    levels: Mapping[str, Any]
    trials: tuple[TrialReport, ...]
    planned: int

    @property
    def series(self) -> str:
        """`cassandra matched`: what a line of a chart stands for."""
        return " ".join(filter(None, (self.system, self.variant))) or "all"

    @property
    def label(self) -> str:
        """`cassandra matched, target 500, workload a`."""
        levels = (f"{name} {plain(level)}" for name, level in self.levels.items())
        return ", ".join(filter(None, (" ".join(filter(None, (self.system, self.variant))), *levels)))

    def runs(self, figure: Figure) -> Runs | None:
        """A figure of each of its trials; None when none has it, or one has it as zero."""
        values = [value for trial in self.trials if (value := figure(trial)) is not None]
        if not values or min(values) <= 0:
            return None
        counted = [part(trial.manifest, "trial") for trial in self.trials if figure(trial) is not None]
        return Runs(values, [t.get("group") for t in counted], [t.get("data") for t in counted])

    def interval(self, figure: Figure) -> Interval | None:
        """Its mean over the trials."""
        runs = self.runs(figure)
        return None if runs is None else mean(runs)


def points(model: ReportModel) -> tuple[PointReport, ...]:
    """The points of a study in the order of the file; none when it has only one."""
    found: dict[int, list[TrialReport]] = {}
    for trial in model.trials:
        found.setdefault(int(part(trial.manifest, "trial").get("point") or 1), []).append(trial)
    if len(found) < 2:
        return ()
    return tuple(_point(found[number]) for number in sorted(found))


def _point(trials: Sequence[TrialReport]) -> PointReport:
    said = part(trials[0].manifest, "trial")
    return PointReport(
        system=clean(said.get("system_name") or ""),
        variant=clean(said.get("variant") or ""),
        levels={clean(name): level for name, level in part(said, "levels").items()},
        trials=tuple(t for t in trials if _counts(t)),
        planned=len(trials),
    )


def _counts(trial: TrialReport) -> bool:
    whole = trial.status == "done" and not trial.partial
    return whole and trial.measured is not None and not trial.tainted


def factors(found: Iterable[PointReport]) -> list[str]:
    """Every factor of these points, in their order."""
    return list(dict.fromkeys(name for point in found for name in point.levels))


def points_table(found: Sequence[PointReport]) -> Table | None:
    """One row a point: what it is, how many trials count, and its figures; None without points."""
    if not found:
        return None
    figures = {n: f for n, f in FIGURES.items() if any(p.interval(f) for p in found)}
    rows = [
        (
            point.label,
            f"{len(point.trials)} of {point.planned}",
            *(spread(point.runs(figure), brackets=name in BRACKETS) for name, figure in figures.items()),
        )
        for point in found
    ]
    breaks = frozenset(n for n in range(1, len(found)) if found[n].series != found[n - 1].series)
    return Table("Points", ("point", "trials", *figures), rows, words=2, note=_note(found), breaks=breaks)


def _note(found: Sequence[PointReport]) -> str:
    most = max(len(point.trials) for point in found)
    note = "Geometric means over trials; a trial that failed or was disturbed does not count."
    if most < 2:
        return f"{note} With one trial of each point nothing can be said of chance."
    if most < FEW:
        return f"{note} In brackets the least and the most: fewer than {FEW} trials bound nothing."
    return f"{note} ± is half of the 95 % interval."


def spread(runs: Runs | None, *, brackets: bool = True) -> str:
    """`1,234 ±5 %`; of few trials `1,234 (1,100 to 1,400)`, or without brackets; of one the figure alone."""
    if runs is None:
        return NONE
    found = mean(runs)
    few = len(runs.values) < FEW or not math.isfinite(found.high)
    if len(runs.values) == 1 or (few and not brackets):
        return digits(found.estimate)
    if few:
        return f"{digits(found.estimate)} ({digits(min(runs.values))} to {digits(max(runs.values))})"
    half = (math.sqrt(found.high / found.low) - 1) * 100
    return f"{digits(found.estimate)} ±{digits(half, 2)} %"
