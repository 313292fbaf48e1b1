"""One side of a comparison: a run's folder, or those of its trials that a selection names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.analysis.evidence import POINT, Cell, Trials
from steelyard.analysis.evidence import Key as EvidenceKey
from steelyard.errors import InputError, nearest
from steelyard.report.figures import histograms_of, trial_frame
from steelyard.report.model import ReportModel, build
from steelyard.results.frames import Results
from steelyard.spec.levels import level_text

Key = tuple[tuple[str, str], ...]
"""A cell's point: (column, value as text) for every column that tells points apart."""


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
        trials = Trials(self.frame, tuple(self.factors), histograms_of(self.model)).where(dict(self.selected))
        if not trials.frame.height:
            raise InputError(f"{words}: no trial of {folder} is selected")
        self.frame, self.trials = trials.frame, trials
        self.cells = self._cells()
        if not any(cell.counting for cell in self.cells.values()):
            raise InputError(
                f"{words}: no trial of it was completed undisturbed, so there is nothing to compare",
                hint="; ".join(self.left_out) or None,
            )

    def _cells(self) -> dict[Key, Cell]:
        """Point -> its trials."""
        every = [c for c in self.factors if c in self.frame.columns and c not in self.selected]
        single = {c for c in self.trials.columns if c in self.selected}
        found = self.trials.cells(single)
        names = [c for c in POINT if c in every]
        return {_text(key, cell, names): cell for key, cell in found.items()}

    @property
    def left_out(self) -> list[str]:
        """Why trials do not count, cell by cell."""
        told = [(key, reason) for key, cell in self.cells.items() for reason in told_of(cell)]
        several = len(self.cells) > 1
        return [f"{label(key)}: {reason}" if several and key else reason for key, reason in told]

    @property
    def counting(self) -> set[int]:
        """The trials that count."""
        return {row["trial"] for cell in self.cells.values() for row in cell.counting}

    @property
    def unsteady(self) -> int:
        """Trials that count and found no steady state."""
        rows = [row for cell in self.cells.values() for row in cell.counting]
        return sum(row.get("steady") == "no steady state" for row in rows)

    def manifests(self, cell: Cell) -> list[Mapping[str, Any]]:
        """Of a cell's trials that count."""
        reports = {trial.number: trial for trial in self.model.trials}
        return [reports[row["trial"]].manifest for row in cell.counting]


def told_of(cell: Cell) -> list[str]:
    """Why trials of a cell do not count, and what was run again."""
    return [*cell.system_losses, *cell.left_out]


def label(key: Key) -> str:
    """A point in words."""
    return ", ".join(f"{column} {value}" for column, value in key)


def _text(key: EvidenceKey, cell: Cell, names: Sequence[str]) -> Key:
    """A point as text, so that points of two results are compared by value; the system is always in it."""
    said = {name: cell.rows[0].get(name) for name in names}
    every = [*((name, value) for name, value in said.items() if value is not None),
             *((column, level) for column, level in key if column not in said)]  # fmt: skip
    return tuple((column, level_text(level)) for column, level in every)


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
