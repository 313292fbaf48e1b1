"""From one trial's files to its phases, its steadiness and its warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from steelyard.analysis.cost import CPU, costs
from steelyard.analysis.counters import Window, nodes
from steelyard.analysis.cut_short import phase_from_series
from steelyard.analysis.inside import inside
from steelyard.analysis.offered import completed_while_due
from steelyard.analysis.steady import TENTH_S, Steady, steady, throughput
from steelyard.analysis.summary import TOTAL, Phase, phase_from_summary
from steelyard.analysis.warnings import SIDE_CHECKS, Context, Warned, derive
from steelyard.analysis.warnings.outcome import not_done, partial
from steelyard.analysis.windows.spans import Seconds, Windows, around_all
from steelyard.analysis.windows.steadiness import LEAST_S, of_windows
from steelyard.report.in_effect import (
    is_local,
    lacking,
    master_names,
    node_names,
    quota_cores,
    takes_part,
    untold,
)
from steelyard.report.source import TrialSource
from steelyard.results.actions import Actions
from steelyard.results.certificates import Certificate, newest
from steelyard.results.clients import starved_seconds
from steelyard.results.in_effect import part
from steelyard.results.intervals import TENTHS

MEASURED = "run"
"""The phase a trial is made for; else the last one that runs the mix and is no warm-up."""

ALMOST_S = 0.05
"""A phase ends with its last completion, so 60 seconds of load end a little before or after."""


OF_EACH_HOST = {"steal"}
"""Warnings that a trial tells of other machines, in the same words as what is derived of this one."""


@dataclass(frozen=True)
class Read:
    """What was read of a trial, and its folder, where each engine's own files are; None = they are not."""

    manifest: Mapping[str, Any]
    intervals: pl.DataFrame
    system: pl.DataFrame
    actions: Actions = field(default_factory=Actions)
    folder: Path | None = None

    def windows(self, phase: Phase) -> Windows | None:
        """Around all that was done to the cluster in a phase; None when nothing was."""
        return around_all(self.actions.each(), phase.start_ns, phase.seconds)


@dataclass(frozen=True)
class Judged:
    """What the measured phase is, whether it was steady, and what there is to warn about."""

    measured: Phase | None
    steady: Steady | None
    warnings: tuple[Warned, ...]


Histograms = dict[str, Mapping[str, HdrHistogram]]


def read_phases(source: TrialSource, read: Read) -> tuple[tuple[Phase, ...], Histograms]:
    """All phases in order, with their histograms: ended ones from the summary, others from the series."""
    ended = {str(p.get("name")): p for p in read.manifest.get("phases") or ()}
    begun = read.intervals["phase"].unique(maintain_order=True).to_list() if read.intervals.height else []
    phases: list[Phase] = []
    histograms: Histograms = {}
    for name in dict.fromkeys([*ended, *begun]):
        histograms[name] = source.histograms(name)
        if summary := source.summary(name):
            reason = str((ended.get(name) or {}).get("reason") or "")
            phases.append(phase_from_summary(summary, histograms[name], reason))
        else:
            plan = _plan(read.manifest, name)
            phases.append(phase_from_series(read.intervals, name, histograms[name], plan))
    return tuple(sorted(phases, key=lambda p: p.start_ns)), histograms


def _plan(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What the engine was told of a phase; from the settings when the manifest was never written."""
    for plan in part(manifest, "plan").get("phases") or ():
        if plan.get("name") == name:
            return dict(plan)
    load = part(manifest, "trial", "load")
    if name == "load":
        return {"kind": "load", "in_flight": load.get("load_clients")}
    target, curve = load.get("target"), load.get("curve")
    if target or curve:
        # a share of a rate that the study finds while it runs: what that came to stands in the manifest alone
        rate = None if isinstance(target, Mapping) or load.get("curve_of") else curve or target
        arrivals = {"kind": load.get("arrivals", "constant"), "rate": rate}
        return {
            "kind": "run",
            "in_flight": load.get("in_flight") or load.get("clients"),
            "arrivals": arrivals,
        }
    return {"kind": "run", "in_flight": load.get("clients")}


def measured_phase(phases: Sequence[Phase]) -> Phase | None:
    """The phase the trial was made for; a load when nothing else was run."""
    runs = [p for p in phases if p.kind == "run" and not p.name.startswith("warm")]
    named = [p for p in runs if p.name == MEASURED]
    return next(iter(named or runs[-1:] or phases[-1:]), None)


def _seconds(intervals: pl.DataFrame, phase: Phase) -> pl.DataFrame:
    """The rows over all operations of a phase, one a second."""
    return intervals.filter((pl.col("phase") == phase.name) & (pl.col("op") == TOTAL)).sort("second")


def _column(rows: pl.DataFrame, name: str) -> NDArray[np.float64]:
    return rows[name].drop_nulls().cast(pl.Float64).to_numpy()


def steadiness(intervals: pl.DataFrame, phase: Phase, within: Seconds | None = None) -> Steady:
    """Throughput of a closed loop, by tenths of a second where they were counted; else the median response of
    each second, as with a rate the throughput is given.

    An interval that is not whole is left out at the end.

    Args:
        intervals: rows of intervals.parquet.
        phase: the phase.
        within: the seconds of it that are asked; left out, all.
    """
    rows = _seconds(intervals, phase)
    if within is not None:
        rows = rows.filter(pl.col("second").is_between(within.first, within.end - 1))
    if phase.closed and rows.height and not rows[TENTHS].has_nulls():
        tenths = _column(rows.explode(TENTHS), TENTHS)
        return throughput(tenths[: int(phase.seconds / TENTH_S)])
    rows = rows.filter(pl.col("second") < int(phase.seconds + ALMOST_S))
    column, words = ("done", "throughput") if phase.closed else ("response_p50_ns", "median response time")
    return steady(_column(rows, column), words)


def _of_windows(intervals: pl.DataFrame, phase: Phase, windows: Windows) -> Steady | None:
    """Steadiness of what came before actions and of what came after them."""
    both = (windows.before, windows.after)
    return of_windows(*(steadiness(intervals, phase, w) if len(w) >= LEAST_S else None for w in both))


def judge(read: Read, phases: Sequence[Phase], *, partial: bool) -> Judged:
    """Find the measured phase and everything there is to warn about."""
    measured = measured_phase(phases)
    if measured is None:
        return Judged(None, None, _nothing(read, partial))
    may_settle = measured.kind == "run" and not measured.curve  # along a curve nothing is meant to be steady
    windows = read.windows(measured)
    found = None
    if may_settle and windows:
        found = _of_windows(read.intervals, measured, windows)
    elif may_settle:
        found = steadiness(read.intervals, measured)
    derived = derive(_context(read, measured, found, partial))
    side = [w for p in phases if p is not measured for w in derive(Context(p), SIDE_CHECKS)]
    known = {w.kind for w in derived} - OF_EACH_HOST
    told = [w for w in _told(read.manifest) if w.kind not in known]
    return Judged(measured, found, (*derived, *side, *told))


def _nothing(read: Read, cut: bool) -> tuple[Warned, ...]:
    empty = Context(
        Phase("", "run", 0, 0, 0.0, total=phase_from_summary({}, {}).total),
        partial=cut,
        status=str(read.manifest.get("status") or "unknown"),
        reason=str(read.manifest.get("reason") or ""),
    )
    return derive(empty, (partial, not_done))


def _told(manifest: Mapping[str, Any]) -> list[Warned]:
    told = manifest.get("warnings") or ()
    return [Warned(str(w.get("kind", "")).replace(" ", "_"), str(w.get("text", ""))) for w in told]


def _context(read: Read, phase: Phase, found: Steady | None, cut: bool) -> Context:
    manifest, system = read.manifest, read.system
    cores = part(manifest, "host").get("cores")
    window = Window(system, phase.start_ns, phase.end_ns)
    workload = part(manifest, "trial", "workload")
    seconds = _seconds(read.intervals, phase)
    told = system.filter(pl.col("metric").str.starts_with("server_"))
    took_part = takes_part(manifest)

    def machine(metric: str) -> float | None:
        rate = window.rate("machine", metric)
        return None if rate is None or not cores else rate / cores

    return Context(
        phase=phase,
        steady=found,
        completed_per_s=None if phase.curve else _completed(seconds, phase, read.windows(phase)),
        costs=costs(system, phase, master_names(manifest)),
        inside=inside(system, phase),
        status=str(manifest.get("status") or "unknown"),
        reason=str(manifest.get("reason") or ""),
        partial=cut,
        timeline=manifest.get("timeline") or (),
        verify=str(workload.get("verify", "")),
        values=str(workload.get("values", "")),
        cores=cores,
        quota_cores=quota_cores(manifest),
        local=is_local(manifest),
        nodes=node_names(manifest),
        watched=frozenset(nodes(system)),
        agents=frozenset(told["source"].unique().to_list()),
        untold=untold(manifest),
        lacking=lacking(manifest),
        steal_share=machine("cpu_steal_seconds_total") if took_part else None,
        iowait_share=machine("cpu_iowait_seconds_total") if took_part else None,
        busy_share=machine("cpu_seconds_total"),
        others_cores=window.rate("others", CPU) if took_part else None,
        calibration=certificate(manifest),
        starved=_starved(read, phase),
    )


def _starved(read: Read, phase: Phase) -> dict[str, int]:
    """Name of an engine -> seconds in which it was starved; of several engines, or on load hosts."""
    if read.folder is None or not phase.saturation.seconds_starved:
        return {}
    return starved_seconds(read.folder, read.manifest, phase.name)


def _completed(seconds: pl.DataFrame, phase: Phase, windows: Windows | None) -> float | None:
    """Completions per second while some were due; around actions the lesser of before and after: what they
    cost in between is a measure, and no fault of the load."""
    due, done = _column(seconds, "due"), _column(seconds, "done")
    parts = [w for w in (windows.before, windows.after) if len(w) >= LEAST_S] if windows else []
    found = [completed_while_due(due[w.first : w.end], done[w.first : w.end], len(w)) for w in parts]
    known = [rate for rate in found if rate is not None]
    return min(known) if known else completed_while_due(due, done, phase.seconds)


def certificate(manifest: Mapping[str, Any]) -> Certificate | None:
    """The newest certificate of calibration of the engine's host and the trial's driver.

    Of several load hosts there is none: it would say what one engine can, and the rate is that of all.
    """
    load = [host for host in manifest.get("hosts") or () if host.get("role") == "load"]
    if len(load) > 1:
        return None
    facts = part(load[0], "facts") if load else part(manifest, "host")
    return newest(facts, str(part(manifest, "plan", "driver").get("kind", "")))
