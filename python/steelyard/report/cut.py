"""A measured phase without its warm-up: what was due from a second on, as if the phase had begun there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.analysis.cut_short import phase_from_series
from steelyard.analysis.steady import Steady
from steelyard.analysis.summary import TOTAL, Phase
from steelyard.report.source import TrialSource

CUT = "cut"
"""What `warmup` says in the design of a study that leaves the warm-up out by what was measured."""


def warm_up_s(phase: Phase, steady: Steady | None, design: Mapping[str, object]) -> float:
    """Whole seconds to leave out: none unless the study asks for it and a steady part was found.

    A steady part begins on a tenth of a second, what was counted is kept by whole ones: the second in
    which it begins is left out as a whole.
    """
    if design.get("warmup") != CUT or steady is None or not steady.reached:
        return 0.0
    whole = float(math.ceil(steady.warm_up_s))
    return whole if whole < phase.seconds else 0.0


def without_warm_up(
    source: TrialSource, intervals: pl.DataFrame, phase: Phase, cut_s: float
) -> tuple[Phase, dict[str, HdrHistogram]]:
    """The rest of a phase, and its histograms.

    Args:
        source: the trial's folder.
        intervals: rows of intervals.parquet.
        phase: the whole of it; what has no time (verification, attempts, pacing) stays as it was.
        cut_s: whole seconds at its start.
    """
    histograms: dict[str, HdrHistogram] = {}
    for tag, second, histogram in source.histogram_log(phase.name):
        if second >= cut_s:
            if tag in histograms:
                histograms[tag].add(histogram)
            else:
                histograms[tag] = histogram
    kept = intervals.filter(pl.col("second") >= cut_s)
    rest = phase_from_series(kept, phase.name, histograms)
    seconds = phase.seconds - cut_s
    within = _within(kept, phase)
    operations = tuple(replace(one, rate_per_s=one.count / seconds) for one in rest.operations)
    found = replace(
        phase,
        start_ns=phase.start_ns + int(cut_s * 1e9),
        seconds=seconds,
        total=replace(rest.total, rate_per_s=within["done"] / seconds),
        operations=operations,
        ok_within=within["ok"],
        saturation=rest.saturation,
        engine_cpu_s=None,  # known for the whole phase only; samples stand in for it
    )
    return found, histograms


def _within(kept: pl.DataFrame, phase: Phase) -> dict[str, int]:
    """Operations `done` and `ok` in the seconds of a phase in which operations were offered."""
    rows = kept.filter(
        (pl.col("phase") == phase.name) & (pl.col("op") == TOTAL) & (pl.col("second") < phase.seconds)
    )
    return {name: int(rows[name].fill_null(0).sum()) for name in ("done", "ok")}
