"""A run's trials as one frame with everything that comparisons and claims go by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from steelyard.analysis.cost import client_cpu_us, master_cpu_us, server_cpu_us
from steelyard.analysis.evidence.cells import Counts, Histograms
from steelyard.analysis.reasons import READ, reasons
from steelyard.analysis.summary import Phase
from steelyard.analysis.warnings import Warned
from steelyard.report.assessment import Read
from steelyard.report.in_effect import master_names, quota_cores
from steelyard.report.source import TrialSource
from steelyard.results.frames import CLOCKS, FIGURES, LOAD, RUN, Results, frame_of_rows, phase_figures
from steelyard.results.histograms import held
from steelyard.results.in_effect import part
from steelyard.results.read import TrialResult
from steelyard.spec.metrics import LOAD as LOADING

if TYPE_CHECKING:
    from steelyard.report.derived import PhaseReport
    from steelyard.report.model import ReportModel

Row = dict[str, float | int | str | None]
"""Column -> figure of one trial."""
WORDS = ("steady", "server_died", "attempts", "tainted", "reason")
ADDED = (
    "wrong_values", "saturated_share", "steady_per_s", "client_cpu_us", "client_cpu_cores", "server_cpu_us",
    "master_cpu_us", "ok_share", *READ,
)  # fmt: skip


def trial_frame(folder: Path, model: ReportModel | None = None) -> pl.DataFrame:
    """`steelyard.open(folder).trials()` with what only the analysis knows.

    Added columns: `steady` (`steady`, `too short`, `no steady state`, or null), `server_died` (in words),
    `attempts` (what went before, in words), `wrong_values`, `saturated_share` (of the seconds);
    `steady_per_s` (mean of the steady part in a closed loop), `client_cpu_us`, `server_cpu_us` and
    `master_cpu_us` per operation, `client_cpu_cores`, `ok_share`; what servers and machine did meanwhile
    (`spec.metrics.INSIDE`); the figures of the load phase as `load_...`. Where the study cuts the warm-up off
    (`warmup = "cut"`), all figures are of the rest.

    Args:
        folder: a run's folder, or one trial's.
        model: its report's model, when it was built already.
    """
    from steelyard.report.model import build

    model = model or build(folder)
    trials = {trial.number: trial for trial in model.trials}
    rows: list[dict[str, Any]] = []
    for said in Results(folder).planned():
        if (trial := trials.get(int(said["trial"]))) is not None:
            status = "cut short" if trial.partial else trial.status
            said |= {"status": status, **trial.figures, "attempts": trial.attempts or None}
        rows.append(said)
    frame = frame_of_rows(rows)
    schema = dict.fromkeys(WORDS, pl.String) | dict.fromkeys(ADDED, pl.Float64)
    missing = [pl.lit(None, dtype=of).alias(name) for name, of in schema.items() if name not in frame.columns]
    return frame.with_columns(missing).cast(dict(schema))  # type: ignore[arg-type]


def figures_of(
    source: TrialSource, read: Read, measured: PhaseReport | None, warnings: Sequence[Warned], *, cut: bool
) -> Row:
    """A trial's row in the frame, but what the run's own list says of it.

    Args:
        source, read: the trial's folder, and what was read of it.
        measured: the phase it was made for.
        warnings: of the trial.
        cut: whether warm-up was left out of that phase.
    """
    assert isinstance(source, TrialResult)  # noqa: S101 - the one reader there is
    load = phase_figures(source, LOAD)
    found = phase_figures(source, RUN) | {f"{LOADING}{column}": value for column, value in load.items()}
    if measured and cut:
        found |= _of_rest(measured.phase)
    died = next((warned.text for warned in warnings if warned.kind == "server_died"), None)
    return found | {"server_died": died} | (_analysed(read, measured) if measured else {})


def _of_rest(phase: Phase) -> Row:
    """The figures of `Results.trials` again, of a phase whose warm-up was left out."""
    found: Row = {"seconds": phase.seconds, "ok_per_s": phase.ok_per_s}
    for operation in (phase.total, *phase.operations):
        name = operation.name.lower().replace("-", "_")
        for clock in CLOCKS:
            times = getattr(operation, clock)
            found |= {f"{name}_{clock}_{f}_ns": getattr(times, f"{f}_ns") for f in FIGURES}
    return found


def _analysed(read: Read, measured: PhaseReport) -> Row:
    phase, steady, manifest = measured.phase, measured.steady, read.manifest
    cores = part(manifest, "host").get("cores")
    client = [cost.cores for cost in measured.costs if cost.role == "client"]
    return {
        **reasons(read.system, phase, master_names(manifest), cores, quota_cores(manifest)),
        "wrong_values": float(sum(int(phase.verify.get(kind) or 0) for kind in ("corrupt", "foreign"))),
        "saturated_share": phase.saturation.seconds_saturated / phase.seconds if phase.seconds else None,
        "steady": steady.word if steady else None,
        "steady_per_s": steady.mean if steady and phase.closed else None,
        "client_cpu_us": client_cpu_us(measured.costs),
        "client_cpu_cores": client[-1] if client else None,
        "server_cpu_us": server_cpu_us(measured.costs),
        "master_cpu_us": master_cpu_us(measured.costs),
        "ok_share": phase.total.ok / phase.total.count if phase.total.count else None,
    }


def histograms_of(model: ReportModel) -> Histograms:
    """Where the percentiles of a report's trials are merged from."""
    trials = {trial.number: trial for trial in model.trials}

    @cache
    def read(number: int, phase: str, tag: str) -> Counts | None:
        trial = trials.get(number)
        if trial is None or trial.measured is None:
            return None
        name = trial.measured.phase.name if phase == RUN else phase
        found = trial.histogram(name, tag)
        return held(found) if found is not None else None

    return read
