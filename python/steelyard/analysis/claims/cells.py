"""The trials a claim speaks of, by cell, and what speaks against judging them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from steelyard.analysis.stats.percentiles import LEAST_RUNS, Extremes, least_and_greatest
from steelyard.analysis.stats.runs import FEW, Contrast, Interval, Runs, contrast, mean
from steelyard.errors import InputError, nearest
from steelyard.spec.checks import Where

POINT = ("system", "variant")
_PERCENTILE = re.compile(r"_(p\d+|max)_ns$")

Key = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Trials:
    """Trials, and which of their columns tell points apart."""

    frame: pl.DataFrame
    factors: tuple[str, ...]

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
            levels = value if isinstance(value, tuple) else (value,)
            frame = frame.filter(pl.col(column).cast(pl.String).is_in([_text(level) for level in levels]))
        return Trials(frame, self.factors)

    def cells(self, apart: Iterable[str] = ()) -> dict[Key, Cell]:
        """Point -> its trials; the columns `apart` do not count as part of the point."""
        columns = [c for c in self.columns if c not in set(apart)]
        found: dict[Key, list[dict[str, Any]]] = {}
        for row in self.frame.iter_rows(named=True):
            key = tuple((c, row[c]) for c in columns if row[c] is not None)
            found.setdefault(key, []).append(row)
        return {key: Cell(key, tuple(_rerun(rows, self.columns))) for key, rows in found.items()}


def known(column: str, columns: Sequence[str], what: str) -> None:
    """Raise InputError, with the nearest name, unless there is such a column."""
    if column not in columns:
        raise InputError(
            f"claim: {what} names '{column}', which is no column of the trials{nearest(column, columns)}"
        )


def _text(level: Any) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


def _rerun(rows: list[dict[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Without disturbed or failed trials whose repetition was run again."""
    good = {_place(row, columns) for row in rows if _clean(row)}
    return [row for row in rows if _clean(row) or _place(row, columns) not in good]


def _place(row: Mapping[str, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    return (*(row[c] for c in columns), row.get("repetition"))


def _clean(row: Mapping[str, Any]) -> bool:
    return row.get("status") == "done" and not row.get("tainted")


@dataclass(frozen=True)
class Cell:
    """The trials of one cell."""

    key: Key
    rows: tuple[Mapping[str, Any], ...]

    @property
    def name(self) -> str:
        """Its point in words."""
        return ", ".join(f"{column} {value}" for column, value in self.key) or "all trials"

    def runs(self, metric: str) -> Runs:
        """The metric over its completed, undisturbed trials; empty values when it has none above zero."""
        rows = [row for row in self.rows if _clean(row) and (row.get(metric) or 0) > 0]
        values = [float(row[metric]) for row in rows]
        return Runs(values, _nested(rows, "group"), _nested(rows, "data"))

    def starts(self) -> frozenset[Any]:
        """The starts of servers that its completed, undisturbed trials had; empty when not written down."""
        return frozenset(_nested([row for row in self.rows if _clean(row)], "group"))

    def against(self, metric: str, unsteady: bool) -> list[str]:
        """What speaks against judging it: too few repetitions, a disturbed trial, no steady state."""
        found = []
        count = len(self.runs(metric).values)
        clean = [row for row in self.rows if _clean(row)]
        zeros = sum(row.get(metric) == 0 for row in clean)
        if count < FEW and zeros:
            found.append(f"{metric} is 0 in {zeros} of {len(clean)} trials, of which there is no ratio")
        elif count < FEW:
            found.append(f"{count} of {FEW} repetitions needed have {metric}")
        if disturbed := [str(row["tainted"]) for row in self.rows if row.get("tainted")]:
            causes = ", ".join(sorted({text.partition(":")[0] for text in disturbed}))
            found.append(f"{len(disturbed)} of {len(self.rows)} trials disturbed ({causes})")
        states = [r.get("steady") for r in self.rows if _clean(r)]
        for state in ("no steady state", "too short"):
            if not unsteady and (bad := states.count(state)):
                found.append(f"{bad} of {len(states)} trials: {state}")
        return found


def _nested(rows: Sequence[Mapping[str, Any]], column: str) -> Sequence[Any]:
    """Nothing where it was not written down: then every trial had its own."""
    keys = [row.get(column) for row in rows]
    return () if None in keys else keys


def is_percentile(metric: str) -> bool:
    """Whether a metric is a percentile, whose mean over runs says nothing."""
    return _PERCENTILE.search(metric) is not None


def interval(runs: Runs, metric: str) -> Interval:
    """A cell's figure; a percentile as the median run between the least and the greatest."""
    return least_and_greatest(runs.values) if is_percentile(metric) else mean(runs)


def versus(a: Runs, b: Runs, metric: str) -> Contrast | Extremes:
    """B over A; percentiles of fewer than ten runs by their extremes."""
    if is_percentile(metric) and min(len(a.values), len(b.values)) < LEAST_RUNS:
        return Extremes(np.asarray(a.values), np.asarray(b.values), a.units()[1] or b.units()[1])
    return contrast(a, b)
