"""A run's trials as one frame with everything that comparisons and claims go by."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from steelyard.analysis.reasons import READ, reasons
from steelyard.analysis.summary import Phase
from steelyard.report.in_effect import master_names, quota_cores
from steelyard.report.model import ReportModel, TrialReport, build
from steelyard.results.frames import CLOCKS, FIGURES, LOAD, Results
from steelyard.results.in_effect import part
from steelyard.spec.metrics import LOAD as LOADING


def trial_frame(folder: Path, model: ReportModel | None = None) -> pl.DataFrame:
    """`steelyard.open(folder).trials()` with what only the analysis knows.

    Added columns: `steady` (`steady`, `too short`, `no steady state`, or null), `steady_per_s` (mean of the
    steady part in a closed loop), `client_cpu_us` and `server_cpu_us` per operation, `client_cpu_cores`,
    `ok_share`; what servers and machine did meanwhile (`spec.metrics.INSIDE`); the figures of the load phase
    as `load_...`. Where the study cuts the warm-up off (`warmup = "cut"`), all figures are of the rest.

    Args:
        folder: a run's folder, or one trial's.
        model: its report's model, when it was built already.
    """
    results = Results(folder)
    frame = results.trials()
    model = model or build(folder)
    rows = [{"trial": trial.number, **_analysed(trial)} for trial in model.trials]
    schema = {"trial": pl.Int64, "steady": pl.String, **dict.fromkeys(ADDED, pl.Float64)}
    added = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.with_columns(pl.col("trial").cast(pl.Int64)).join(added, on="trial", how="left")
    cut = [{"trial": t.number, **_cut(t.measured.phase)} for t in model.trials if t.measured and t.cut_s]
    if cut:
        found = pl.DataFrame(cut, infer_schema_length=None).with_columns(pl.col("trial").cast(pl.Int64))
        frame = frame.update(found, on="trial", how="left")
    return frame.join(_loads(results), on="trial", how="left")


def _cut(phase: Phase) -> dict[str, float | None]:
    """The figures of `Results.trials` again, of a phase whose warm-up was left out."""
    found: dict[str, float | None] = {"seconds": phase.seconds, "ok_per_s": phase.ok_per_s}
    for operation in (phase.total, *phase.operations):
        name = operation.name.lower().replace("-", "_")
        for clock in CLOCKS:
            times = getattr(operation, clock)
            found |= {f"{name}_{clock}_{f}_ns": getattr(times, f"{f}_ns") for f in FIGURES}
    return found


ADDED = ("steady_per_s", "client_cpu_us", "client_cpu_cores", "server_cpu_us", "ok_share", *READ)


def _loads(results: Results) -> pl.DataFrame:
    """`trial`, and the figures of the load phase by other names."""
    found = results.figures(LOAD).with_columns(pl.col("trial").cast(pl.Int64))
    return found.rename({column: f"{LOADING}{column}" for column in found.columns if column != "trial"})


def _analysed(trial: TrialReport) -> dict[str, float | str | None]:
    if trial.measured is None:
        return {}
    phase, steady = trial.measured.phase, trial.measured.steady
    manifest = trial.manifest
    cores = part(manifest, "host").get("cores")
    inside = reasons(trial.system, phase, master_names(manifest), cores, quota_cores(manifest))
    client = [cost.cores for cost in trial.measured.costs if cost.role == "client"]
    return inside | {
        "steady": steady.word if steady else None,
        "steady_per_s": steady.mean if steady and phase.closed else None,
        "client_cpu_us": trial.client_cpu_us,
        "client_cpu_cores": client[-1] if client else None,
        "server_cpu_us": trial.server_cpu_us,
        "ok_share": phase.total.ok / phase.total.count if phase.total.count else None,
    }
