"""Reading results: a run's folder, or one trial's, also one that was cut short."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.errors import InputError
from steelyard.results import tables
from steelyard.results.actions import Actions, read_actions
from steelyard.results.disk import read_json
from steelyard.results.histograms import read_log, read_totals

FORMAT = 1


class TrialResult:
    """One trial's folder.

    Args:
        path: the folder, `NNN` or `NNN.partial`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def number(self) -> int:
        """Its place in the run."""
        digits = self.path.name.removesuffix(".partial")
        return int(digits) if digits.isdigit() else 1

    @property
    def partial(self) -> bool:
        """Whether it was cut short: its manifest never became complete."""
        return self.path.name.endswith(".partial")

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """manifest.json; empty when it was never written."""
        path = self.path / "manifest.json"
        if not path.is_file():
            return {}
        try:
            found: dict[str, Any] = read_json(path)
        except InputError:
            if self.partial:
                return {}
            raise
        return found

    @property
    def status(self) -> str:
        """`done`, `failed`, `interrupted`, or `cut short` when it never got as far as to say."""
        return str(self.manifest.get("status", "cut short"))

    @property
    def phases(self) -> list[str]:
        """The names of the phases that have left a series, in the order of time."""
        if known := self.manifest.get("phases"):
            return [str(phase["name"]) for phase in known]
        return self.intervals()["phase"].unique(maintain_order=True).to_list()

    def summary(self, phase: str) -> dict[str, Any] | None:
        """The phase's summary (docs/format.md), or None when it never ended."""
        for row in self.manifest.get("phases", ()):
            if row.get("name") == phase:
                summary: dict[str, Any] | None = row.get("summary")
                return summary
        ends = [e for e in self.events() if e.get("event") == "phase_end" and e.get("phase") == phase]
        return ends[-1].get("summary") if ends else None

    def intervals(self) -> pl.DataFrame:
        """Rows of intervals.parquet; made from the engine's series when it is missing."""
        return tables.intervals(self.path)

    def coordinators(self) -> pl.DataFrame:
        """Attempts of each coordinator in each second (docs/format.md: coordinators.parquet)."""
        return tables.coordinators(self.path)

    def marks(self) -> list[dict[str, Any]]:
        """What commands marked, in the order of time: `id`, `label`, `phase`, `t_ns`."""
        path = self.path / "engine" / "marks.ndjson"
        return list(_events(path)) if path.is_file() else []

    def actions(self) -> Actions:
        """What was done to the cluster meanwhile, and what its nodes passed on the way."""
        return read_actions(self.path)

    def system(self) -> pl.DataFrame:
        """Rows of system.parquet; what was spooled of it when it is missing."""
        return tables.system(self.path)

    def histograms(self, phase: str, only: str | None = None) -> dict[str, HdrHistogram]:
        """Tag such as `READ.response` -> histogram of ns over the whole phase; of one tag, if `only` names
        it."""
        return read_totals(self.path / "engine", phase, only)

    def histogram_log(
        self, phase: str, ending: str | None = None
    ) -> Iterator[tuple[str, float, HdrHistogram]]:
        """(tag, second since the phase's start, histogram of ns), one for each due second and tag; of tags
        with that ending, if one is given."""
        path = self.path / "engine" / f"{phase}.hdr"
        return read_log(path, ending=ending) if path.is_file() else iter(())

    def events(self) -> list[dict[str, Any]]:
        """The engine's events; a last line cut short is left out."""
        path = self.path / "engine" / "events.ndjson"
        return list(_events(path)) if path.is_file() else []


class Run:
    """A run's folder.

    Args:
        path: the folder that holds run.json, or None when only a trial's folder is known.
        trials: its trials' folders, in their order.
    """

    def __init__(self, path: Path, trials: list[TrialResult]) -> None:
        self.path = path
        self.trials = trials

    @cached_property
    def run(self) -> dict[str, Any]:
        """run.json; empty when only a trial's folder was given."""
        path = self.path / "run.json"
        found: dict[str, Any] = read_json(path) if path.is_file() else {}
        return found


def open_run(path: Path) -> Run:
    """Open a run's folder, or a trial's as a run of one.

    Raises:
        InputError: there is no result in it, or one of another format.
    """
    if (path / "run.json").is_file():
        run = Run(path, [TrialResult(folder) for folder in _trial_folders(path / "trials")])
        _check_format(run.run.get("format"), path / "run.json")
        return run
    if (path / "manifest.json").is_file() or (path / "engine").is_dir():
        return Run(path, [TrialResult(path)])
    what = (
        "is no folder" if not path.is_dir() else "is no result: it holds neither run.json nor manifest.json"
    )
    raise InputError(f"{path} {what}", hint="results are folders such as results/20260102-030405-embedded-a")


def _trial_folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.is_dir() and p.name.removesuffix(".partial").isdigit())


def _check_format(found: Any, path: Path) -> None:
    if found != FORMAT:
        raise InputError(f"{path}: results format {found}, this Steelyard reads {FORMAT}")


def _events(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            return
        if isinstance(event, dict):
            yield event
