"""Results as polars frames, for scripts: every row knows its trial, and every trial its point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.results.histograms import mean, percentiles
from steelyard.results.read import Run, TrialResult, open_run
from steelyard.spec.levels import level_text

CLOCKS = ("response", "service", "all")
FIGURES = ("mean", "min", "p50", "p95", "p99", "p999", "max")
PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
RUN, LOAD = "run", "load"


class Results:
    """A run's folder, or one trial's, as frames.

    Args:
        path: the folder.
    """

    def __init__(self, path: Path | str) -> None:
        self._run: Run = open_run(Path(path))
        self.path = self._run.path

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """run.json (docs/format.md); empty when only a trial's folder was opened."""
        return self._run.run

    @property
    def factors(self) -> list[str]:
        """The study's factors, each a column of `trials()`."""
        return list(self.info.get("factors") or ())

    def trials(self, phase: str = RUN) -> pl.DataFrame:
        """One row a trial, planned ones included: its point, how it ended, and the figures of one phase.

        Columns: `trial`, `point`, `system`, `variant`, `repetition`, `seed`, `group`, `data`, `host`,
        `status`, `tainted`, `reason`; one for each factor; `seconds`, `operations`, `ok`, `failed`,
        `ok_per_s` (successes within the offered window, over it), `around_s` (starting engines and
        connecting, which YCSB's run time holds), `run_s` (both together), `run_per_s` (operations over
        that), in a closed loop `outside_s` (`run_s` without what each client spent in operations) and
        `outside_share` (of `run_s`); then
        `OP_count`, `OP_ok` and `OP_CLOCK_FIGURE_ns` such as `read_service_p99_ns`, `total_response_mean_ns`.
        A factor whose levels are of several types is text.
        """
        found = {trial.number: trial for trial in self._run.trials}
        rows = [self._row(said, found.get(int(said["trial"])), phase) for said in self.planned()]
        return frame_of_rows(rows)

    def figures(self, phase: str) -> pl.DataFrame:
        """`trial` and the figures of one phase, of trials that have left a folder."""
        return frame_of_rows(
            [{"trial": trial.number, **phase_figures(trial, phase)} for trial in self._run.trials]
        )

    def intervals(self) -> pl.DataFrame:
        """intervals.parquet of all trials, with the column `trial` before."""
        return self._stacked([(t.number, t.intervals()) for t in self._run.trials])

    def system(self) -> pl.DataFrame:
        """system.parquet of all trials, with the column `trial` before."""
        return self._stacked([(t.number, t.system()) for t in self._run.trials])

    def trial(self, number: int) -> TrialResult:
        """One trial's reader: manifest, histograms, events; KeyError if it has left no folder."""
        return {trial.number: trial for trial in self._run.trials}[number]

    def planned(self) -> Iterator[dict[str, Any]]:
        """What is known of each trial before its own folder is read."""
        listed = self.info.get("trials") or [{"number": t.number} for t in self._run.trials]
        known = (
            "point",
            "system",
            "variant",
            "repetition",
            "seed",
            "group",
            "data",
            "host",
            "status",
            "tainted",
            "reason",
        )
        for row in listed:
            levels = row.get("levels") or {}
            said = {"trial": int(row["number"]), **{name: row.get(name) for name in known}}
            yield {**said, **{factor: levels.get(factor) for factor in self.factors}}

    def _row(self, said: dict[str, Any], trial: TrialResult | None, phase: str) -> dict[str, Any]:
        if trial is None:
            return said
        said["status"] = trial.status
        return {**said, **phase_figures(trial, phase)}

    @staticmethod
    def _stacked(frames: Sequence[tuple[int, pl.DataFrame]]) -> pl.DataFrame:
        told = [frame.select(pl.lit(number).alias("trial"), pl.all()) for number, frame in frames]
        return pl.concat(told, how="diagonal_relaxed") if told else pl.DataFrame()


def phase_figures(trial: TrialResult, phase: str) -> dict[str, Any]:
    """The figures of one phase of a trial, by column; none when it never ended."""
    summary = trial.summary(phase) or {}
    if not summary:
        return {}
    seconds, ok = float(summary.get("seconds") or 0), int(summary.get("ok") or 0)
    within = int((summary.get("within") or {}).get("ok", ok))
    operations = int(summary.get("operations") or 0)
    around = _around(trial, phase)
    whole = (int(summary.get("end_ns") or 0) - int(summary.get("start_ns") or 0)) / 1e9
    found: dict[str, Any] = {
        "seconds": seconds,
        "operations": operations,
        "ok": ok,
        "failed": sum((summary.get("failed") or {}).values()),
        "ok_per_s": within / seconds if seconds else None,
        "around_s": around,
        "run_s": whole + around,
        "run_per_s": operations / (whole + around) if whole > 0 else None,
    }
    for op, facts in (summary.get("ops") or {}).items():
        found |= {f"{_column(op)}_{what}": facts.get(what) for what in ("count", "ok")}
        for clock in CLOCKS:
            for figure in FIGURES:
                value = (facts.get(clock) or {}).get(f"{figure}_ns")
                found[f"{_column(op)}_{clock}_{figure}_ns"] = None if value is None else float(value)
    if rate := (trial.manifest.get("search") or {}).get("found_per_s"):
        found["search_per_s"] = float(rate)
    found |= _totals(trial, phase)
    outside = _outside(summary, found)
    share = None if outside is None or not found["run_s"] else outside / found["run_s"]
    return found | {"outside_s": outside, "outside_share": share}


def _around(trial: TrialResult, phase: str) -> float:
    """Seconds of starting the engines and opening the database: once for our two phases, which are two runs
    of YCSB's client, so that each is given it."""
    spent = (trial.manifest.get("timing") or {}).get("engines")
    return float(spent or 0) if phase in (RUN, LOAD) else 0.0


def _outside(summary: Mapping[str, Any], found: Mapping[str, Any]) -> float | None:
    """Run time in which a client of a closed loop had no operation under way."""
    arrivals, cap = summary.get("arrivals") or {}, summary.get("in_flight_cap")
    mean_ns = found.get("total_all_mean_ns")
    if (
        (arrivals.get("kind") if isinstance(arrivals, Mapping) else arrivals) != "closed"
        or not cap
        or not mean_ns
    ):
        return None
    return float(found["run_s"] - mean_ns * found["operations"] / 1e9 / cap)


def _totals(trial: TrialResult, phase: str) -> dict[str, Any]:
    """Over all operations, which only the histograms tell."""
    found: dict[str, Any] = {}
    histograms = trial.histograms(phase)
    for clock in CLOCKS:
        histogram = histograms.get(f"TOTAL.{clock}")
        if histogram is not None and histogram.get_total_count():
            found[f"total_{clock}_mean_ns"] = mean(histogram)
            found[f"total_{clock}_min_ns"] = float(histogram.get_min_value())
            at = percentiles(histogram, list(PERCENTILES.values()))
            found |= {f"total_{clock}_{n}_ns": value for n, value in zip(PERCENTILES, at, strict=True)}
            found[f"total_{clock}_max_ns"] = float(histogram.get_max_value())
    return found


def _column(op: str) -> str:
    return op.lower().replace("-", "_")


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame; a column of several types becomes text, its numbers as `1` and `0.8`."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: _series([row.get(name) for row in rows]) for name in names})


def _series(values: list[Any]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and kinds != {int, float}:
        return pl.Series([None if value is None else level_text(value) for value in values])
    return pl.Series(values, strict=False)
