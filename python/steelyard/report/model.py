"""The one model of a report, built from a result folder; every format renders it and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.analysis.balance import Balance, balance
from steelyard.analysis.cost import Cost, client_cpu_us, costs, master_cpu_us, node_cpu_us, server_cpu_us
from steelyard.analysis.inside import Inside, inside
from steelyard.analysis.spread import EngineSpread, Repeated, engine_spread, repeated
from steelyard.analysis.steady import Steady
from steelyard.analysis.summary import Phase
from steelyard.analysis.warnings import Warned
from steelyard.report.assessment import Read, judge, read_phases
from steelyard.report.cut import warm_up_s, without_warm_up
from steelyard.report.in_effect import master_names
from steelyard.report.source import TrialSource, open_source


@dataclass(frozen=True)
class PhaseReport:
    """One phase with what was derived from it.

    Attributes:
        phase: counts and distributions.
        steady: steadiness (of run phases).
        costs: CPU and more of every party in this phase.
        balance: how evenly the nodes shared it.
        inside: what the servers told of themselves.
        engines: percentiles per engine, when there were several.
    """

    phase: Phase
    steady: Steady | None = None
    costs: tuple[Cost, ...] = ()
    balance: tuple[Balance, ...] = ()
    inside: tuple[Inside, ...] = ()
    engines: tuple[EngineSpread, ...] = ()


@dataclass(frozen=True)
class TrialReport:
    """One trial: its phases, warnings and facts, and the frames its charts are drawn from."""

    number: int
    repetition: int
    status: str
    partial: bool
    path: Path
    manifest: Mapping[str, Any]
    phases: tuple[PhaseReport, ...]
    measured: PhaseReport | None
    """The phase the trial was made for; None when it never came to one."""
    warnings: tuple[Warned, ...]
    intervals: pl.DataFrame
    system: pl.DataFrame
    histograms: Mapping[str, Mapping[str, HdrHistogram]]
    """Phase -> tag -> histogram."""
    tainted: str = ""
    """What outside the study disturbed it; empty when nothing did."""
    cut_s: float = 0.0
    """Seconds at the start of the measured phase that were left out as warm-up."""

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


Figure = Callable[[TrialReport], float | None]
"""Reads one figure of a trial; None when it has none."""


def _time(name: str) -> Figure:
    """Reads a percentile of the response time over all operations, in milliseconds."""

    def read(trial: TrialReport) -> float | None:
        ns = getattr(trial.measured.phase.total.response, name) if trial.measured else None
        return None if ns is None else float(ns) / 1e6

    return read


FIGURES: dict[str, Figure] = {
    "ok/s": lambda trial: trial.measured.phase.ok_per_s if trial.measured else None,
    "p50, ms": _time("p50_ns"),
    "p99, ms": _time("p99_ns"),
    "p99.9, ms": _time("p999_ns"),
    "client us/op": lambda trial: trial.client_cpu_us,
    "servers us/op": lambda trial: trial.server_cpu_us,
    "masters us/op": lambda trial: trial.master_cpu_us,
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


def _over_trials(trials: Sequence[TrialReport]) -> dict[str, Repeated]:
    whole = [t for t in trials if t.measured and not t.partial and t.status == "done"]
    if len(whole) < 2:
        return {}
    found = {name: repeated([figure(t) for t in whole]) for name, figure in FIGURES.items()}
    return {name: spread for name, spread in found.items() if spread}


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
    read = Read(manifest, source.intervals(), source.system())
    phases, histograms = read_phases(source, read)
    masters = master_names(manifest)
    judged = judge(read, phases, partial=source.partial)
    measured, cut_s = judged.measured, 0.0
    if measured and (cut_s := warm_up_s(measured, judged.steady, design)):
        rest, histograms[measured.name] = without_warm_up(source, read.intervals, measured, cut_s)
        phases = tuple(rest if phase is measured else phase for phase in phases)
        measured = rest
    reports = tuple(
        PhaseReport(
            phase=phase,
            steady=judged.steady if phase is measured else None,
            costs=costs(read.system, phase, masters),
            balance=balance(read.system, phase, masters),
            inside=inside(read.system, phase),
            engines=engine_spread(phase),
        )
        for phase in phases
    )
    return TrialReport(
        number=number,
        repetition=int(entry.get("repetition") or number),
        status=str(manifest.get("status") or entry.get("status") or "unknown"),
        partial=source.partial,
        path=source.path,
        manifest=manifest,
        phases=reports,
        measured=next((r for r in reports if r.phase is measured), None),
        warnings=judged.warnings,
        intervals=read.intervals,
        system=read.system,
        histograms=histograms,
        tainted=str(entry.get("tainted") or ""),
        cut_s=cut_s,
    )
