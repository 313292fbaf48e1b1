"""Whether something outside a study disturbed a trial, so that its figures are not to be averaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.analysis.cost import CPU
from steelyard.analysis.counters import Window
from steelyard.analysis.summary import Phase
from steelyard.report.assessment import Read, judge, measured_phase, read_phases
from steelyard.report.in_effect import takes_part
from steelyard.report.source import open_source
from steelyard.results.disturbance import Disturbance
from steelyard.results.in_effect import part

CROWD = 0.15
"""Share of the cores: a shell and an editor stay below it; a build or another benchmark does not."""
LEAST_S = 5.0
"""In a shorter phase the samples, one a second, hold more of what was before and after it than of itself."""
JUDGED = {"load", "server"}
"""Roles of machines whose engines or nodes are ours; of a watched one the servers are others', too."""


def taint(folder: Path, *, steal: bool = True) -> Disturbance | None:
    """What disturbed the trial in that folder; None when nothing did, or nothing was sampled.

    Args:
        folder: of the trial.
        steal: count what other guests took. It moves latencies, and makes no acknowledged record be lost;
            where servers sync each write the host's own work for them may count as steal in every trial.
    """
    [source] = open_source(folder).trials
    read = Read(source.manifest, source.intervals(), source.system())
    phases, _ = read_phases(source, read)
    measured = measured_phase(phases)
    if measured is None:
        return None
    warnings = judge(read, phases, partial=source.partial).warnings
    if steal and (text := " ".join(w.text for w in warnings if w.kind == "steal")):
        return Disturbance(f"steal: {text}", passing=True)
    if measured.seconds >= LEAST_S and (text := crowds(source.path, source.manifest, read.system, measured)):
        return Disturbance(text, passing=True)
    if text := next((w.text for w in warnings if w.kind == "oversubscribed"), ""):
        return Disturbance(f"oversubscribed: {text}", passing=False)
    return None


def crowds(trial: Path, manifest: Mapping[str, Any], system: pl.DataFrame, phase: Phase) -> str:
    """What `crowd` says of the first machine that had an engine or nodes and was crowded, else nothing.

    Args:
        trial: the trial's folder, with the samples of other machines.
        manifest: of it.
        system: the samples of this one.
        phase: the measured one.
    """
    if takes_part(manifest) and (text := crowd(part(manifest, "host"), system, phase)):
        return text
    for index, host in enumerate(manifest.get("hosts") or ()):
        samples = trial / "hosts" / f"{index}.parquet"
        if host.get("role") not in JUDGED or not samples.is_file():
            continue
        if text := crowd(part(host, "facts"), pl.read_parquet(samples), phase):
            return f"{text} of {host.get('name')}"
    return ""


def crowd(facts: Mapping[str, Any], system: pl.DataFrame, phase: Phase) -> str:
    """What is said when others used more than their share of a machine's cores in the phase, else nothing."""
    cores = facts.get("cores")
    others = Window(system, phase.start_ns, phase.end_ns).rate("others", CPU)
    if not cores or others is None or others <= CROWD * cores:
        return ""
    return f"crowded: processes that are neither client nor server used {others:.2f} of {cores} cores"
