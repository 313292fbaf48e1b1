"""A run's trials as one frame with everything that comparisons and claims go by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.analysis.evidence.cells import Counts, Histograms, Seconds, Series
from steelyard.analysis.metrics import metric_of
from steelyard.analysis.reasons import READ, by_second
from steelyard.analysis.spread import APART
from steelyard.analysis.summary import TOTAL, Phase
from steelyard.report.in_effect import master_names, quotas
from steelyard.report.model import ReportModel, TrialReport, build
from steelyard.results.frames import RUN, Results, frame_of_rows
from steelyard.results.histograms import held
from steelyard.results.in_effect import part
from steelyard.spec.metrics import LEVELS

WORDS = ("steady", "server_died", "attempts", "tainted", "reason")
EARLIER = ("status", "reason", "tainted")
"""What is known of an attempt that came before."""
ADDED = (
    "wrong_values", "saturated_share", "false_alarms", "steady_per_s", "client_cpu_us", "client_cpu_cores",
    "server_cpu_us", "master_cpu_us", "ok_share", "engines_throughput_spread", *APART, *READ,
)  # fmt: skip


def trial_frame(folder: Path, model: ReportModel | None = None) -> pl.DataFrame:
    """`steelyard.open(folder).trials()` with what only the analysis knows.

    Added columns: `steady` (`steady`, `too short`, `no steady state`, or null), `server_died` (in words),
    `attempts` (what went before, in words), `earlier` (the same as data), `wrong_values`,
    `saturated_share` (of the seconds),
    `false_alarms` (share of level trials as long as it that are called unsteady, at most);
    `steady_per_s` (mean of the steady part in a closed loop), `client_cpu_us`, `server_cpu_us` and
    `master_cpu_us` per operation, `client_cpu_cores`, `ok_share`; how far engines lie apart
    (`engines_..._spread`); what servers and machine did meanwhile (`spec.metrics.INSIDE`); the figures of the
    load phase as `load_...`. Where the study cuts the warm-up off (`warmup = "cut"`), all figures are of the
    rest.

    Args:
        folder: a run's folder, or one trial's.
        model: its report's model, when it was built already.
    """
    model = model or build(folder)
    trials = {trial.number: trial for trial in model.trials}
    rows: list[dict[str, Any]] = []
    for said in Results(folder).planned():
        if (trial := trials.get(int(said["trial"]))) is not None:
            status = "cut short" if trial.partial else trial.status
            earlier = [{name: one.get(name) for name in EARLIER} for one in trial.earlier]
            said |= {"status": status, **trial.figures, "attempts": trial.attempts or None}
            said |= {"earlier": earlier or None}
        rows.append(said)
    frame = frame_of_rows(rows)
    attempts = pl.List(pl.Struct(dict.fromkeys(EARLIER, pl.String)))
    schema = dict.fromkeys(WORDS, pl.String) | dict.fromkeys(ADDED, pl.Float64) | {"earlier": attempts}
    missing = [pl.lit(None, dtype=of).alias(name) for name, of in schema.items() if name not in frame.columns]
    return frame.with_columns(missing).cast(dict(schema))  # type: ignore[arg-type]


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


def series_of(model: ReportModel) -> Series:
    """What the steadiness of a report's trials was judged by."""
    trials = {trial.number: trial for trial in model.trials}

    def read(number: int) -> Sequence[float]:
        trial = trials.get(number)
        steady = trial.measured.steady if trial and trial.measured else None
        return steady.batches if steady else ()

    return read


def levels_of(model: ReportModel) -> Seconds:
    """How `ok_per_s` or the mean of a latency went on over the seconds of each trial."""
    read = seconds_of(model)

    def levels(number: int, metric: str) -> Sequence[float]:
        found = read(number, metric)
        return () if found is None else found.sort("second")["y"].to_list()

    return levels


def seconds_of(model: ReportModel) -> Callable[[int, str], pl.DataFrame | None]:
    """(trial, metric) -> `second` and `y` of its measured phase: successes in each second for `ok_per_s`,
    a latency of the operations that were due in it, or what servers and machine did in it; seconds without
    any are left out."""
    trials = {trial.number: trial for trial in model.trials}

    def read(number: int, metric: str) -> pl.DataFrame | None:
        trial, latency = trials.get(number), metric_of(metric)
        if trial is None or trial.measured is None:
            return None
        if metric in LEVELS:
            return _inside(trial, trial.measured.phase, metric)
        if not trial.intervals.height or latency is None:
            return None
        op, clock = latency.tag.split(".") if latency.tag else (TOTAL, "")
        column = f"{clock}_{latency.column.rsplit('_', 2)[1]}_ns" if clock else "ok"
        phase = pl.col("phase") == trial.measured.phase.name
        whole = pl.col("second").is_between(
            int(trial.cut_s), int(trial.measured.phase.seconds + trial.cut_s) - 1
        )
        rows = trial.intervals.filter(phase & (pl.col("op") == op) & whole)
        return rows.select("second", pl.col(column).cast(pl.Float64).alias("y")).drop_nulls()

    return read


def _inside(trial: TrialReport, phase: Phase, metric: str) -> pl.DataFrame:
    manifest, cut = trial.manifest, int(trial.cut_s)
    cores = part(manifest, "host").get("cores")
    found = by_second(metric, trial.system, phase, master_names(manifest), cores, quotas=quotas(manifest))
    return found.with_columns(pl.col("second") + cut)
