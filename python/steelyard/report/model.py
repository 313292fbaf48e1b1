"""The one model of a report, built from a result folder; every format renders it and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.analysis.cost import client_cpu_us, master_cpu_us, node_cpu_us, server_cpu_us
from steelyard.analysis.evidence import lost
from steelyard.analysis.metrics import metric_of
from steelyard.analysis.spread import Repeated, repeated
from steelyard.analysis.stats.percentiles import merged
from steelyard.analysis.warnings import Warned
from steelyard.report.acted import Acted
from steelyard.report.cut import without_warm_up
from steelyard.report.derived import Derived, derived
from steelyard.report.paired import Half, Paired, paired
from steelyard.report.source import TrialSource, open_source
from steelyard.report.trial_row import PhaseReport, Row
from steelyard.results.histograms import held

__all__ = ["FIGURES", "Figure", "PhaseReport", "ReportModel", "TrialReport", "build"]


@dataclass(frozen=True)
class TrialReport:
    """One trial: its phases, warnings and facts; its series and histograms are read when they are asked
    for."""

    number: int
    repetition: int
    status: str
    source: TrialSource
    manifest: Mapping[str, Any]
    derived: Derived
    tainted: str = ""
    """What outside the study disturbed it; empty when nothing did."""
    attempts: str = ""
    """What became of earlier attempts at it; empty when there were none."""
    earlier: tuple[Mapping[str, Any], ...] = ()
    """The same as run.json tells it (docs/format.md)."""
    paired: Paired | None = None
    """Itself beside its control; None where nothing was done to the cluster, or nothing is its control."""

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.source.path

    @property
    def partial(self) -> bool:
        """Whether it was cut short."""
        return self.source.partial

    @property
    def phases(self) -> tuple[PhaseReport, ...]:
        """In the order of time."""
        return self.derived.phases

    @property
    def measured(self) -> PhaseReport | None:
        """The phase the trial was made for; None when it never came to one."""
        place = self.derived.measured
        return None if place is None else self.derived.phases[place]

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The gravest first."""
        return self.derived.warnings

    @property
    def figures(self) -> Row:
        """Its row in a frame of trials."""
        return self.derived.figures | (self.paired.figures if self.paired else {})

    @property
    def acted(self) -> Acted | None:
        """What was done to the cluster meanwhile; None where nothing was."""
        return self.derived.acted

    @property
    def cut_s(self) -> float:
        """Seconds at the start of the measured phase that were left out as warm-up."""
        return self.derived.cut_s

    @cached_property
    def intervals(self) -> pl.DataFrame:
        """Rows of intervals.parquet."""
        return self.source.intervals()

    @cached_property
    def system(self) -> pl.DataFrame:
        """Rows of system.parquet."""
        return self.source.system()

    @cached_property
    def histograms(self) -> Mapping[str, Mapping[str, HdrHistogram]]:
        """Phase -> tag -> histogram, the measured one's without its warm-up."""
        found = {report.phase.name: self.source.histograms(report.phase.name) for report in self.phases}
        if self.measured and self.cut_s:
            phase = self.measured.phase
            found[phase.name] = without_warm_up(self.source, self.intervals, phase, self.cut_s)[1]
        return found

    def histogram(self, phase: str, tag: str) -> HdrHistogram | None:
        """One of them, without reading the others; None where there is none, or it is empty."""
        cut = self.measured and self.cut_s and self.measured.phase.name == phase
        of_phase = self.histograms.get(phase, {}) if cut else self.source.histograms(phase, tag)
        found = of_phase.get(tag)
        return found if found is not None and found.get_total_count() else None

    @property
    def client_cpu_us(self) -> float | None:
        """CPU of the client per operation, the lab included."""
        return client_cpu_us(self.measured.costs) if self.measured else None

    @property
    def server_cpu_us(self) -> float | None:
        """CPU of all servers per operation, masters included."""
        return server_cpu_us(self.measured.costs) if self.measured else None

    @property
    def node_cpu_us(self) -> float | None:
        """CPU of the servers per operation, without masters on nodes of their own."""
        return node_cpu_us(self.measured.costs) if self.measured else None

    @property
    def master_cpu_us(self) -> float | None:
        """CPU per operation of masters on nodes of their own; None where there are none."""
        return master_cpu_us(self.measured.costs) if self.measured else None


@dataclass(frozen=True)
class ReportModel:
    """A whole report."""

    name: str
    path: Path
    created: str
    version: str
    study: Mapping[str, Any]
    study_toml: str
    planned: int
    """Trials the study asks for."""
    trials: tuple[TrialReport, ...]
    over_trials: Mapping[str, Repeated] = field(default_factory=dict)
    """Figure -> its spread over repetitions, when there are several."""
    warnings: tuple[Warned, ...] = ()
    """About the run as a whole."""

    @property
    def partial(self) -> bool:
        """Whether the result is half-written."""
        return any(t.partial for t in self.trials) or len(self.trials) < self.planned


@dataclass(frozen=True)
class Figure:
    """One figure of a trial that is shown over trials.

    Attributes:
        column: its name in the frame of trials (`report.figures`).
        scale: what its value is multiplied by.
        read: it, of one trial and unscaled; None when it has none.
    """

    column: str
    read: Callable[[TrialReport], float | None]
    scale: float = 1.0

    def __call__(self, trial: TrialReport) -> float | None:
        """Of one trial, scaled."""
        value = self.read(trial)
        return None if value is None else float(value) * self.scale


def _time(name: str) -> Figure:
    """A percentile of the response time over all operations, in milliseconds."""

    def read(trial: TrialReport) -> float | None:
        ns: float | None = (
            getattr(trial.measured.phase.total.response, f"{name}_ns") if trial.measured else None
        )
        return ns

    return Figure(f"total_response_{name}_ns", read, 1e-6)


FIGURES: dict[str, Figure] = {
    "ok/s": Figure("ok_per_s", lambda trial: trial.measured.phase.ok_per_s if trial.measured else None),
    "p50, ms": _time("p50"),
    "p99, ms": _time("p99"),
    "p99.9, ms": _time("p999"),
    "client us/op": Figure("client_cpu_us", lambda trial: trial.client_cpu_us),
    "servers us/op": Figure("server_cpu_us", lambda trial: trial.server_cpu_us),
    "masters us/op": Figure("master_cpu_us", lambda trial: trial.master_cpu_us),
}
"""What is compared over trials: throughput, response time, CPU per operation; `servers` include `masters`."""


def build(folder: Path) -> ReportModel:
    """Derive a report from a result folder.

    Raises:
        InputError: the folder is no result.
    """
    source = open_source(folder)
    run = source.run
    listed = {int(t.get("number", 0)): t for t in run.get("trials") or ()}
    study = run.get("study") or {}
    design = run.get("design") or {}
    trials = tuple(_trial(t, place, listed, study, design) for place, t in enumerate(source.trials, start=1))
    trials = _with_controls(trials, listed, design)
    toml = folder / "study.toml"
    return ReportModel(
        name=str(run.get("name") or folder.name),
        path=folder,
        created=str(run.get("created", "")),
        version=str(run.get("steelyard", "")),
        study=study,
        study_toml=toml.read_text(encoding="utf-8", errors="replace") if toml.is_file() else "",
        planned=len(listed),
        trials=trials,
        over_trials=_over_trials(trials) if len(run.get("points") or ()) <= 1 else {},
        warnings=_of_run(trials, len(listed)),
    )


def _with_controls(
    trials: Sequence[TrialReport], listed: Mapping[int, Mapping[str, Any]], design: Mapping[str, Any]
) -> tuple[TrialReport, ...]:
    halves = [Half(t.number, t.source, listed.get(t.number, {}), t.derived) for t in trials]
    return tuple(
        replace(trial, paired=found) if (found := paired(half, halves, design)) else trial
        for trial, half in zip(trials, halves, strict=True)
    )


def _attempt(said: Mapping[str, Any]) -> str:
    """`failed: no route to host`, `disturbed: steal: 5 %`."""
    why = f"disturbed: {said['tainted']}" if said.get("tainted") else said.get("reason")
    status = str(said.get("status") or "cut short")
    return str(why) if said.get("tainted") else f"{status}: {why}" if why else status


def _over_trials(trials: Sequence[TrialReport]) -> dict[str, Repeated]:
    whole = [
        t for t in trials if t.measured and not lost({**t.figures, "status": t.status, "tainted": t.tainted})
    ]
    if len(whole) < 2:
        return {}
    found = {
        name: repeated([figure(t) for t in whole], _merged(whole, figure)) for name, figure in FIGURES.items()
    }
    return {name: spread for name, spread in found.items() if spread}


def _merged(trials: Sequence[TrialReport], figure: Figure) -> float | None:
    """A percentile of all these trials together; None for other figures."""
    metric = metric_of(figure.column)
    if metric is None or metric.quantile is None:
        return None
    found = [t.histogram(t.measured.phase.name, metric.tag) for t in trials if t.measured]
    counts = [held(one) for one in found if one is not None]
    return merged(counts).quantile(metric.quantile) * figure.scale if counts else None


def _of_run(trials: Sequence[TrialReport], planned: int) -> tuple[Warned, ...]:
    if not trials:
        return (Warned("partial", "Half-written result: no trial has left a folder yet.", "fault"),)
    missing = planned - len(trials)
    if missing <= 0:
        return ()
    text = f"Half-written result: {missing} of {planned} planned trials have no results."
    return (Warned("partial", text, "fault"),)


def _trial(
    source: TrialSource,
    place: int,
    listed: Mapping[int, Mapping[str, Any]],
    study: Mapping[str, Any],
    design: Mapping[str, Any],
) -> TrialReport:
    digits = source.path.name.removesuffix(".partial")
    number = int(digits) if digits.isdigit() else place
    entry = listed.get(number, {})
    asked = {name: study[name] for name in ("system", "workload", "load") if name in study}
    manifest = {"trial": asked, **source.manifest}
    return TrialReport(
        number=number,
        repetition=int(entry.get("repetition") or number),
        status=str(manifest.get("status") or entry.get("status") or "unknown"),
        source=source,
        manifest=manifest,
        derived=derived(source, manifest, design),
        tainted=str(entry.get("tainted") or ""),
        attempts="; ".join(map(_attempt, entry.get("attempts") or ())),
        earlier=tuple(entry.get("attempts") or ()),
    )
