"""What a report reads: the shape of the readers in the room `results`, and opening a folder politely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.errors import InputError
from steelyard.results.actions import Actions


class TrialSource(Protocol):
    """One trial's folder."""

    @property
    def path(self) -> Path:
        """The folder."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """manifest.json; empty when it was never written."""

    @property
    def partial(self) -> bool:
        """Whether the trial was cut short."""

    def summary(self, phase: str) -> Mapping[str, Any] | None:
        """The phase's summary; None when it never ended."""

    def intervals(self) -> pl.DataFrame:
        """Rows of intervals.parquet."""

    def system(self) -> pl.DataFrame:
        """Rows of system.parquet."""

    def histograms(self, phase: str, only: str | None = None) -> Mapping[str, HdrHistogram]:
        """Tag -> histogram over the whole phase; of one tag, if `only` names it."""

    def histogram_log(
        self, phase: str, ending: str | None = None
    ) -> Iterator[tuple[str, float, HdrHistogram]]:
        """(tag, second since the phase began, histogram), for each due second and tag; of tags with that
        ending, if one is given."""

    def coordinators(self) -> pl.DataFrame:
        """Rows of coordinators.parquet; without any where no driver named one."""

    def actions(self) -> Actions:
        """What was done to the cluster meanwhile."""


class RunSource(Protocol):
    """A run's folder."""

    @property
    def path(self) -> Path:
        """The folder."""

    @property
    def run(self) -> Mapping[str, Any]:
        """run.json."""

    @property
    def trials(self) -> Sequence[TrialSource]:
        """Its trials, in their order."""


def open_source(folder: Path) -> RunSource:
    """Open a run's folder, or one trial's.

    Raises:
        InputError: there is no result in the folder, with the way to one if it is near.
    """
    from steelyard.results.read import open_run

    folder = _numbered(folder)
    if not any((folder / name).exists() for name in ("run.json", "manifest.json", "engine")):
        raise InputError(_no_result(folder), hint="give the folder that holds run.json, e.g. results/RUN")
    return open_run(folder)


def _numbered(folder: Path) -> Path:
    """A trial's folder by its number as tables tell it: `trials/7` is `trials/007`."""
    if folder.exists() or folder.parent.name != "trials" or not folder.name.isdigit():
        return folder
    beside = (one for one in folder.parent.glob("*") if one.name.isdigit())
    return next((one for one in beside if int(one.name) == int(folder.name)), folder)


def _no_result(folder: Path) -> str:
    if not folder.exists():
        return f"there is no folder {folder}"
    above = next((p for p in folder.resolve().parents if (p / "run.json").is_file()), None)
    if above:
        return f"{folder} lies inside a result, and is none itself; the result is {above}"
    inside = sorted(p.parent.name for p in folder.glob("*/run.json"))
    more = f"; results in it: {', '.join(inside[-5:])}" if inside else ""
    return f"{folder} is no result: it holds no run.json{more}"
