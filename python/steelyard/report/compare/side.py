"""One side of a comparison: a run's folder, or those of its trials that a selection names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.analysis.compare import Sample
from steelyard.analysis.metrics import Metric
from steelyard.analysis.stats.percentiles import LEAST_RUNS, merged
from steelyard.analysis.stats.runs import Runs
from steelyard.errors import InputError, nearest
from steelyard.report.figures import trial_frame
from steelyard.report.model import ReportModel, TrialReport, build
from steelyard.results.frames import Results
from steelyard.results.histograms import held

POINT = ("system", "variant")

Key = tuple[tuple[str, str], ...]
"""A cell's point: (column, value as text) for every column that tells points apart."""


@dataclass(frozen=True)
class PointTrials:
    """The usable trials of one point."""

    rows: pl.DataFrame
    reports: Mapping[int, TrialReport]

    @property
    def manifests(self) -> list[Mapping[str, Any]]:
        """Of its trials."""
        return [self.reports[number].manifest for number in self.rows["trial"]]

    def sample(self, metric: Metric) -> Sample | None:
        """The figure over its trials; None unless every one of them has it, above zero."""
        if metric.column not in self.rows.columns:
            return None
        values = [value for value in self.rows[metric.column] if value is not None and value > 0]
        if len(values) < max(self.rows.height, 1):
            return None
        nested = {"starts": self._nested("group"), "loads": self._nested("data")}
        together = None
        if metric.quantile is not None and len(values) >= LEAST_RUNS:
            histograms = [self._histogram(number, metric.tag) for number in self.rows["trial"]]
            together = merged(histograms, **nested)
        return Sample(Runs(values, **nested), together)

    def _nested(self, column: str) -> Sequence[Any]:
        """Nothing when it was not written down: then every trial had its own."""
        known = column in self.rows.columns and self.rows[column].null_count() == 0
        return self.rows[column].to_list() if known else ()

    def _histogram(self, number: int, tag: str) -> tuple[np.ndarray, np.ndarray]:
        """(values in ns, counts) of one tag of a trial's measured phase."""
        report = self.reports[number]
        assert report.measured is not None  # noqa: S101 - its figures were found
        return held(report.histograms[report.measured.phase.name][tag])


class Side:
    """A or B.

    Args:
        words: `RUN` or `RUN@clients=4,system=cassandra`: a folder, and the trials of it that are meant.
    """

    def __init__(self, words: str) -> None:
        folder, _, selection = words.partition("@")
        self.words, self.path = words, Path(folder)
        self.model: ReportModel = build(self.path)
        self.frame = trial_frame(self.path, self.model)
        self.factors = [*POINT, *Results(self.path).factors]
        self.selected = _selection(selection, self.factors, words)
        for column, value in self.selected.items():
            self.frame = self.frame.filter(pl.col(column).cast(pl.String) == value)
        if not self.frame.height:
            raise InputError(f"{words}: no trial of {folder} is selected")
        usable = (pl.col("status") == "done") & pl.col("trial").is_in([t.number for t in self._measured()])
        if "tainted" in self.frame.columns:
            usable &= pl.col("tainted").is_null()
        self.usable = self.frame.filter(usable)
        if not self.usable.height:
            raise InputError(
                f"{words}: no trial of it was completed undisturbed, so there is nothing to compare"
            )

    def _measured(self) -> list[TrialReport]:
        return [trial for trial in self.model.trials if trial.measured]

    @property
    def left_out(self) -> int:
        """Trials that failed, were disturbed, or never ran."""
        return self.frame.height - self.usable.height

    @property
    def unsteady(self) -> int:
        """Usable trials that found no steady state."""
        return int((self.usable["steady"] == "no steady state").sum())

    def cells(self) -> dict[Key, PointTrials]:
        """Point -> its trials."""
        columns = [c for c in self.factors if c in self.frame.columns and c not in self.selected]
        reports = {trial.number: trial for trial in self._measured()}
        found: dict[Key, list[dict[str, Any]]] = {}
        for row in self.usable.iter_rows(named=True):
            key = tuple((column, str(row[column])) for column in columns if row[column] is not None)
            found.setdefault(key, []).append(row)
        return {
            key: PointTrials(pl.DataFrame(rows, infer_schema_length=None), reports)
            for key, rows in found.items()
        }


def _selection(text: str, known: Sequence[str], words: str) -> dict[str, str]:
    found = {}
    for pair in filter(None, text.split(",")):
        column, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or column not in known:
            raise InputError(
                f"{words}: '{pair}' selects nothing{nearest(column, known)}",
                hint=f"write RUN@FACTOR=LEVEL with one of {', '.join(known)}",
            )
        found[column] = value
    return found
