"""What a report reads: the shape of a result's readers (the room `results`), and opening a folder politely."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.errors import InputError


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

    def intervals(self) -> pl.DataFrame:
        """Rows of intervals.parquet."""

    def system(self) -> pl.DataFrame:
        """Rows of system.parquet."""

    def histograms(self, phase: str) -> Mapping[str, HdrHistogram]:
        """Tag -> histogram over the whole phase."""


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
    """Open a result folder.

    Raises:
        InputError: there is no result in the folder, with the way to one if it is near.
    """
    if not (folder / "run.json").is_file():
        raise InputError(_no_result(folder), hint="give the folder that holds run.json, e.g. results/RUN")
    from steelyard.results.read import open_run

    try:
        run: RunSource = open_run(folder)
    except (OSError, json.JSONDecodeError, KeyError) as error:
        raise InputError(f"{folder / 'run.json'} cannot be read: {error}") from error
    return run


def _no_result(folder: Path) -> str:
    if not folder.exists():
        return f"there is no folder {folder}"
    above = next((p for p in folder.resolve().parents if (p / "run.json").is_file()), None)
    if above:
        return f"{folder} lies inside a result, and is none itself; the result is {above}"
    inside = sorted(p.parent.name for p in folder.glob("*/run.json"))
    more = f"; results in it: {', '.join(inside[-5:])}" if inside else ""
    return f"{folder} is no result: it holds no run.json{more}"
