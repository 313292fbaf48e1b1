"""A run's trials as one frame with everything that comparisons and claims go by."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from steelyard.report.model import ReportModel, TrialReport, build
from steelyard.results.frames import Results


def trial_frame(folder: Path, model: ReportModel | None = None) -> pl.DataFrame:
    """`steelyard.open(folder).trials()` with what only the analysis knows.

    Added columns: `steady` (`steady`, `too short`, `no steady state`, or null), `steady_per_s` (mean of the
    steady part in a closed loop), `client_cpu_us` and `server_cpu_us` per operation, `ok_share`.

    Args:
        folder: a run's folder, or one trial's.
        model: its report's model, when it was built already.
    """
    frame = Results(folder).trials()
    model = model or build(folder)
    rows = [{"trial": trial.number, **_analysed(trial)} for trial in model.trials]
    schema = {"trial": pl.Int64, "steady": pl.String, **dict.fromkeys(ADDED, pl.Float64)}
    added = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(pl.col("trial").cast(pl.Int64)).join(added, on="trial", how="left")


ADDED = ("steady_per_s", "client_cpu_us", "server_cpu_us", "ok_share")


def _analysed(trial: TrialReport) -> dict[str, float | str | None]:
    if trial.measured is None:
        return {}
    phase, steady = trial.measured.phase, trial.measured.steady
    return {
        "steady": steady.word if steady else None,
        "steady_per_s": steady.mean if steady and phase.closed else None,
        "client_cpu_us": trial.client_cpu_us,
        "server_cpu_us": trial.server_cpu_us,
        "ok_share": phase.total.ok / phase.total.count if phase.total.count else None,
    }
