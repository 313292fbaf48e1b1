"""A study's points: trials of equal settings together, with what repetition says of their figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from steelyard.analysis.evidence import POINT, Cell, Histograms, Sample, Series
from steelyard.analysis.evidence.cells import standing
from steelyard.analysis.stats.runs import FEW, Interval
from steelyard.report.figures import histograms_of, series_of, trial_frame
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
        trials: those that count.
        cell: all of them, but those that do not count and were run again: the cell of claims.
    """

    system: str
    variant: str
    levels: Mapping[str, Any]
    trials: tuple[TrialReport, ...]
    cell: Cell

    @property
    def series(self) -> str:
        """`cassandra matched`: what a line of a chart stands for."""
        return " ".join(filter(None, (self.system, self.variant))) or "all"

    @property
    def label(self) -> str:
        """`cassandra matched, target 500, workload a`."""
        levels = (f"{name} {plain(level)}" for name, level in self.levels.items())
        return ", ".join(filter(None, (" ".join(filter(None, (self.system, self.variant))), *levels)))

    @property
    def acted(self) -> bool:
        """Whether anything was done to the cluster in its trials."""
        return any(trial.acted and trial.acted.whole for trial in self.trials)

    @property
    def planned(self) -> int:
        """How many trials there should be."""
        return len(self.cell.rows)

    def sample(self, figure: Figure) -> Sample | None:
        """A figure over the trials that count, unscaled; None when none has it."""
        return self.cell.sample(figure.column)

    def interval(self, figure: Figure) -> Interval | None:
        """The same with its interval, scaled."""
        sample = self.sample(figure)
        if sample is None:
            return None
        found = sample.interval
        ends = {name: getattr(found, name) * figure.scale for name in ("estimate", "low", "high")}
        return replace(found, **ends)


def points(model: ReportModel) -> tuple[PointReport, ...]:
    """The points of a study in the order of the file; none when it has only one."""
    found: dict[int, list[TrialReport]] = {}
    for trial in model.trials:
        found.setdefault(int(part(trial.manifest, "trial").get("point") or 1), []).append(trial)
    if len(found) < 2:
        return ()
    rows = {int(row["trial"]): row for row in trial_frame(model.path, model).iter_rows(named=True)}
    merged, series = histograms_of(model), series_of(model)
    return tuple(_point(found[number], rows, merged, series) for number in sorted(found))


def _point(
    trials: Sequence[TrialReport], rows: Mapping[int, Mapping[str, Any]], histograms: Histograms,
    series: Series,
) -> PointReport:  # fmt: skip
    """Starts and loads are those of the plan, as for claims: running a trial again makes no units."""
    said = part(trials[0].manifest, "trial")
    levels = {clean(name): level for name, level in part(said, "levels").items()}
    system, variant = clean(said.get("system_name") or ""), clean(said.get("variant") or "")
    names = zip(POINT, (system, variant), strict=True)
    key = (*((column, name) for column, name in names if name), *levels.items())
    cell = Cell(key, tuple(standing([rows[trial.number] for trial in trials], ())), histograms, series)
    counting = {row["trial"] for row in cell.counting}
    return PointReport(
        system=system,
        variant=variant,
        levels=levels,
        trials=tuple(trial for trial in trials if trial.number in counting and trial.measured),
        cell=cell,
    )


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
            *(
                spread(point.sample(figure), figure.scale, brackets=name in BRACKETS)
                for name, figure in figures.items()
            ),
        )
        for point in found
    ]
    breaks = frozenset(n for n in range(1, len(found)) if found[n].series != found[n - 1].series)
    return Table("Points", ("point", "trials", *figures), rows, words=2, note=_note(found), breaks=breaks)


def _note(found: Sequence[PointReport]) -> str:
    most = max(len(point.trials) for point in found)
    note = (
        "Geometric means over trials, of percentiles the median trial or, from ten on, the merged one; a "
        "trial that failed, was disturbed or saturated its client, or in which a server died, does not count."
    )
    if most < 2:
        return f"{note} With one trial of each point nothing can be said of chance."
    if most < FEW:
        return f"{note} In brackets the least and the most: fewer than {FEW} trials bound nothing."
    return f"{note} ± is half of the 95 % interval; in brackets the least and the most."


def spread(sample: Sample | None, scale: float = 1.0, *, brackets: bool = True) -> str:
    """`1,234 ±5 %`; of few units, or of a median, `1,234 (1,100 to 1,400)`, or without brackets, or of one
    unit, the figure alone."""
    if sample is None:
        return NONE
    found, units = sample.interval, sample.units * scale
    bounded = sample.way != "ordered" and sample.count >= FEW and math.isfinite(found.high)
    middle = digits(found.estimate * scale)
    if bounded:
        half = (math.sqrt(found.high / found.low) - 1) * 100
        return f"{middle} ±{digits(half, 2)} %"
    if sample.count == 1 or not brackets:
        return middle
    return f"{middle} ({digits(float(units.min()))} to {digits(float(units.max()))})"
