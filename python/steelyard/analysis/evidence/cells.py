"""Trials, their cells, and what speaks against judging a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from steelyard.analysis.evidence.counting import Lost, failed_before, lost, lost_before, told
from steelyard.analysis.evidence.samples import Sample
from steelyard.analysis.evidence.timelines import censored, host_to_blame, undone, unread
from steelyard.analysis.metrics import metric_of
from steelyard.analysis.stats.percentiles import LEAST_UNITS, Merged, merged
from steelyard.analysis.stats.runs import FEW, Runs
from steelyard.analysis.steady import FALSE_ALARMS, level_together
from steelyard.errors import InputError, nearest
from steelyard.spec.levels import level_text, level_value
from steelyard.spec.metrics import LOAD, is_of_timeline, needs_rest
from steelyard.spec.sides import Where

POINT = ("system", "variant")
BY_CHANCE = 0.01
"""More unsteady trials than false alarms bring with this chance are no accident."""
SHORTEST = FALSE_ALARMS[-1][1]
"""Of trials of which only the figures are known."""
NO_REST = "no steady state"
Key = tuple[tuple[str, Any], ...]
"""(column, level) of every column that tells a cell from others."""
Row = Mapping[str, Any]
Counts = tuple[NDArray[np.float64], NDArray[np.float64]]
Histograms = Callable[[int, str, str], Counts | None]
"""(trial, phase, tag) -> (values in ns, counts) of that phase; None where there is no such histogram."""
Series = Callable[[int], Sequence[float]]
"""Trial -> what its steadiness was judged by, over its mean (`Steady.batches`); empty where that was not
kept."""


Seconds = Callable[[int, str], Sequence[float]]
"""(trial, metric) -> successes in each second of its run, or the mean of a latency in it; empty where that
was not kept."""


def no_seconds(_trial: int, _metric: str) -> Sequence[float]:
    """Of trials of which only the figures are known."""
    return ()


def no_series(_trial: int) -> Sequence[float]:
    """Of trials of which only the figures are known."""
    return ()


def no_histograms(_trial: int, _phase: str, _tag: str) -> None:
    """Of trials of which only the figures are known."""


@dataclass(frozen=True)
class Trials:
    """Trials, which of their columns are factors, and where their histograms, series and seconds are."""

    frame: pl.DataFrame
    factors: tuple[str, ...]
    histograms: Histograms = field(default=no_histograms, compare=False)
    series: Series = field(default=no_series, compare=False)
    seconds: Seconds = field(default=no_seconds, compare=False)

    @property
    def columns(self) -> list[str]:
        """All that tells points apart: the system and the variant only where there are several."""
        several = [c for c in POINT if c in self.frame.columns and self.frame[c].n_unique() > 1]
        return [*several, *(c for c in self.factors if c in self.frame.columns)]

    def where(self, *conditions: Where) -> Trials:
        """Those that meet all conditions.

        Raises:
            InputError: a condition names no column.
        """
        frame = self.frame
        for column, value in ((c, v) for condition in conditions for c, v in condition.items()):
            known(column, frame.columns, "where")
            wanted = {level_text(level) for level in (value if isinstance(value, tuple) else (value,))}
            frame = frame.filter(
                [level is not None and level_text(level) in wanted for level in frame[column]]
            )
        return replace(self, frame=frame)

    def moved(self, numbers: Iterable[int], metric: str, factor: float) -> Trials:
        """The same with a metric of these trials multiplied."""
        mine = pl.col("trial").is_in(list(numbers))
        column = pl.when(mine).then(pl.col(metric) * factor).otherwise(pl.col(metric))
        return replace(self, frame=self.frame.with_columns(column.alias(metric)))

    def cells(self, apart: Iterable[str] = ()) -> dict[Key, Cell]:
        """Point -> its trials; the columns `apart` do not count as part of the point."""
        columns = [c for c in self.columns if c not in set(apart)]
        found: dict[Key, list[Row]] = {}
        for row in self.frame.iter_rows(named=True):
            key = tuple((c, level_value(row[c])) for c in columns if row[c] is not None)
            found.setdefault(key, []).append(row)
        return {
            key: Cell(key, tuple(standing(rows, self.columns)), self.histograms, self.series, self.seconds)
            for key, rows in found.items()
        }


def known(column: str, columns: Sequence[str], what: str) -> None:
    """Raise InputError, with the nearest name, unless there is such a column."""
    if column not in columns:
        raise InputError(
            f"claim: {what} names '{column}', which is no column of the trials{nearest(column, columns)}"
        )


def standing(rows: Sequence[Row], columns: Sequence[str]) -> list[Row]:
    """Without trials that do not count and whose repetition was run again; the system's losses stay. Columns
    tell points apart."""
    good = {_place(row, columns) for row in rows if not lost(row)}
    return [
        row
        for row in rows
        if not (why := lost(row)) or why.by == "system" or _place(row, columns) not in good
    ]


def _place(row: Row, columns: Sequence[str]) -> tuple[Any, ...]:
    return (*(row[c] for c in columns), row.get("repetition"))


@dataclass(frozen=True)
class Cell:
    """The trials of one cell, those that do not count included."""

    key: Key
    rows: tuple[Row, ...]
    histograms: Histograms = field(default=no_histograms, compare=False)
    series: Series = field(default=no_series, compare=False)
    seconds: Seconds = field(default=no_seconds, compare=False)

    @property
    def name(self) -> str:
        """Its point in words."""
        return ", ".join(f"{column} {value}" for column, value in self.key) or "all trials"

    @cached_property
    def counting(self) -> tuple[Row, ...]:
        """The trials that count."""
        return tuple(row for row in self.rows if not lost(row))

    @cached_property
    def losses(self) -> tuple[Lost, ...]:
        """Why the others do not."""
        return tuple(why for row in self.rows if (why := lost(row)))

    @property
    def system_losses(self) -> list[str]:
        """What the system itself lost, in words: trials, and attempts at trials that were run again."""
        final = [one for one in self.losses if one.by == "system"]
        before = [one for row in self.rows if (one := failed_before(row))]
        return [*told(final, len(self.rows)), *told(before, len(self.rows), "were run again")]

    def sample(self, metric: str) -> Sample | None:
        """The metric over the trials that count and have it; None when there is none."""
        rows = [row for row in self.counting if row.get(metric) is not None]
        if not rows:
            return None
        runs = Runs([float(row[metric]) for row in rows], *nest(rows))
        found = metric_of(metric.removeprefix(LOAD))
        if found is None or found.quantile is None:
            return Sample(metric, runs)
        units = len(runs.units()[0])
        together = None
        if units < len(rows) or units >= LEAST_UNITS:  # else each run's own percentile says all
            together = self._merged(rows, metric, found.tag)
        return Sample(metric, runs, together, found.quantile)

    def distribution(self, metric: str) -> Merged | None:
        """The histograms of a latency's operations over the trials that count; None unless all have one."""
        found = metric_of(metric.removeprefix(LOAD))
        rows = [row for row in self.counting if row.get(metric) is not None]
        return self._merged(rows, metric, found.tag) if found and found.tag and rows else None

    def _merged(self, rows: Sequence[Row], metric: str, tag: str) -> Merged | None:
        phase = "load" if metric.startswith(LOAD) else "run"
        counts = [self.histograms(int(row.get("trial") or 0), phase, tag) for row in rows]
        whole = [one for one in counts if one is not None]
        if len(whole) < len(rows):
            return None
        return merged(whole, *nest(rows))

    def starts(self) -> frozenset[Any]:
        """The starts of servers that its counting trials had; empty when not written down."""
        return frozenset(nested(self.counting, "group"))

    @property
    def points(self) -> frozenset[int]:
        """Numbers of the study's points that its trials are of."""
        return frozenset(int(row["point"]) for row in self.rows if row.get("point"))

    @property
    def mostly_counts(self) -> bool:
        """Whether most of its trials count: else more of them would hardly, either (a client that is always
        saturated, a host that is too small)."""
        return 2 * len(self.counting) > len(self.rows)

    def lacking(self, metric: str) -> int:
        """How many units it has too few to be judged."""
        sample = self.sample(metric)
        return max(FEW - (sample.count if sample else 0), 0)

    def few(self, metric: str) -> list[str]:
        """What is said of it when it has too few."""
        sample, lacking = self.sample(metric), self.lacking(metric)
        return [f"{FEW - lacking} of {FEW} {_units(sample)} needed have {metric}"] if lacking else []

    def against(self, metric: str, unsteady: bool) -> list[str]:
        """What speaks against judging it, however many units it has: losses through the system, actions that
        were not done, times that never came, no steady state."""
        found = [f"{words}; those that are left say nothing of it" for words in self.system_losses]
        found += undone(self.counting, metric) + unread(self.counting, metric)
        found += censored(self.counting, metric)
        if unsteady or not needs_rest(metric):
            return found
        if not by_accident([self]):
            found.append(f"{self.unsteady} of {len(self.counting)} trials: no steady state")
        if self.short and not is_of_timeline(metric):  # they stand beside the same seconds of a control
            found.append(f"{self.short} of {len(self.counting)} trials: too short")
        return found

    def remarks(self, metric: str) -> list[str]:
        """What is said beside a verdict on one metric, and keeps it from nothing: `left_out`, and of what
        actions cost how many trials were not at rest around them, and the seconds in which the host may have
        been to blame."""
        restless = []
        if is_of_timeline(metric) and not needs_rest(metric) and not by_accident([self]):
            restless = [f"{self.unsteady} of {len(self.counting)} trials: no steady state around the action"]
        return [*self.left_out, *restless, *host_to_blame(self.counting, metric)]

    @property
    def _states(self) -> list[str | None]:
        return [row.get("steady") for row in self.counting]

    @property
    def unsteady(self) -> int:
        """Trials that count and came to no steady state."""
        return self._states.count(NO_REST)

    @property
    def short(self) -> int:
        """Trials that count and were too short to be judged."""
        return self._states.count("too short")

    @property
    def false_alarms(self) -> float:
        """Share of level trials like these that are called unsteady, at most."""
        told = [row.get("false_alarms") for row in self.counting]
        return max((SHORTEST if one is None else float(one) for one in told), default=SHORTEST)

    @cached_property
    def level_together(self) -> bool:
        """Whether the mean over its trials is level where single ones are not: then these scatter, and have
        no warm-up in common. Never where a warm-up was to be cut off from each."""
        if not self.unsteady or not self.false_alarms:
            return False
        return level_together([self.series(int(row.get("trial") or 0)) for row in self.counting])

    @property
    def restless(self) -> int:
        """Trials without a steady state that speak against judging it."""
        return 0 if self.level_together else self.unsteady

    @property
    def left_out(self) -> list[str]:
        """What does not count although it is not the system's doing, and what went before trials that
        count."""
        found = told([one for one in self.losses if one.by != "system"], len(self.rows))
        before = [one for row in self.counting if (one := lost_before(row))]
        found += told(before, len(self.rows), "were run again")
        if self.unsteady and by_accident([self]):
            why = "the mean over all did" if self.level_together else "no more than false alarms are"
            found.append(f"{self.unsteady} of {len(self.counting)} trials came to no steady state, {why}")
        return found


def by_accident(cells: Sequence[Cell]) -> bool:
    """Whether so many unsteady trials of these cells are no more than false alarms bring; of cells whose
    mean over all trials is level none is counted.

    Each may be one; to leave them out would choose among trials by their figures, and to refuse a claim for
    one of them would leave nearly none about many trials decided.
    """
    bad, trials = sum(cell.restless for cell in cells), sum(len(cell.counting) for cell in cells)
    if not bad:
        return True
    share = max(cell.false_alarms for cell in cells)
    return float(special.bdtrc(bad - 1, trials, share)) > BY_CHANCE


def _units(sample: Sample | None) -> str:
    """What its units are: repetitions, unless those shared loads or starts."""
    if sample is None or sample.count == len(sample.runs.values):
        return "repetitions"
    return "loads" if len(set(sample.runs.loads)) == sample.count else "starts"


def nest(rows: Sequence[Row]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Starts, loads and hosts of trials."""
    return nested(rows, "group"), nested(rows, "data"), nested(rows, "host")


def nested(rows: Sequence[Row], column: str) -> Sequence[Any]:
    """Which start (`group`), load (`data`) or host each trial had. Nothing where it was not written down:
    then every trial had its own start and load, and all had one host."""
    keys = [row.get(column) for row in rows]
    return () if None in keys else keys
