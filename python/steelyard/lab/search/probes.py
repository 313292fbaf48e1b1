"""A search for the highest rate on engines that are warm: probes driven, read and judged."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram

from steelyard.errors import InfrastructureError
from steelyard.lab.phase import PhaseRunner
from steelyard.lab.search.answered import Answered, answered
from steelyard.lab.search.rates import Limits, Search, staggered
from steelyard.results.histograms import mean, percentiles, read_totals
from steelyard.results.intervals import TOTAL, read_series
from steelyard.spec.highest import RateSearch
from steelyard.spec.plan import PROBE

PERCENT = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}


def find_rate(runner: PhaseRunner, asked: RateSearch, *, after: bool = False) -> float:
    """Search, note all of it in the manifest, and return the highest rate (operations a second).

    Args:
        runner: runs the probes.
        asked: how it is searched.
        after: it is the search after the run, noted beside the one before it.

    Raises:
        InfrastructureError: there is none, with what was tried.
        SteelyardError: as a phase does.
    """
    bound_ns = asked.bound_ms * 1e6 if asked.bound_ms else None
    start = staggered(asked.start, asked.precision, runner.manifest.trial.seed)
    limits = Limits(start, asked.least, asked.most, asked.precision, asked.confirm, bound_ns)
    search = Search(limits)
    while search.reason is None:
        runner.phase(PROBE, counts=True, endless=False, rate=search.rate, noted=False)
        runner.fleet.collect()
        folders = runner.fleet.folders
        probe = limits.judge(search.rate, _answered(folders, asked.probe_s), _latency(folders, asked))
        search.tell(probe)
        told = f"{probe.rate_per_s:,.0f}/s offered: {'borne' if probe.borne else 'too much'}"
        runner.manifest.event(PROBE, told)
        if after:
            runner.manifest.search_after = _noted(search, asked)
        else:
            runner.manifest.search = _noted(search, asked)
    if search.found is None:
        raise InfrastructureError(
            f"no rate was found that the system bears: {search.reason} after {len(search.probes)} probes",
            hint="a lower load.search.least, a wider bound_ms, or longer probes (probe_s) may help",
        )
    runner.show.say(f"highest rate: {search.found:,.0f}/s after {len(search.probes)} probes")
    return search.found


def forget(folder: Path) -> None:
    """Remove the last probe's files: they are of one of many, and no part of what was measured."""
    for file in folder.glob(f"{PROBE}.*"):
        file.unlink()


def _noted(search: Search, asked: RateSearch) -> dict[str, Any]:
    return {
        "found_per_s": search.found,
        "reason": search.reason,
        "asked": asked.model_dump(mode="json", exclude_none=True),
        "probes": [asdict(probe) for probe in search.probes],
    }


def _answered(folders: list[Path], probe_s: float) -> Answered:
    """Of all engines together, second by second."""
    rows = pl.concat(read_series(folder, [PROBE]) for folder in folders)
    counts = rows.filter(pl.col("op") == TOTAL).group_by("second").agg(pl.col("due", "done", "ok").sum())
    every = pl.DataFrame({"second": range(max(math.ceil(probe_s), 1))}, schema={"second": pl.Int64})
    told = every.join(counts, on="second", how="left").fill_null(0)
    due, done, ok = (told[name].cast(pl.Float64).to_numpy() for name in ("due", "done", "ok"))
    return answered(due, done, ok, probe_s)


def _latency(folders: list[Path], asked: RateSearch) -> float | None:
    """The figure over all attempts of all engines, a failure counted as at least its timeout."""
    tag = f"{asked.operation.upper().replace('_', '-')}.all"
    found: HdrHistogram | None = None
    for folder in folders:
        histogram = read_totals(folder, PROBE).get(tag)
        if histogram is not None and found is not None:
            found.add(histogram)
        found = found or histogram
    if found is None or not found.get_total_count():
        return None
    return mean(found) if asked.figure == "mean" else percentiles(found, [PERCENT[asked.figure]])[0]
