"""A small reader of result folders with the shape of `steelyard.results.read`, for tests of analysis and report alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram

CLOCKS = ("response", "service", "wait", "all")
FIGURES = ("mean_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")


@dataclass(frozen=True)
class TrialResult:
    path: Path

    @property
    def partial(self) -> bool:
        return self.path.suffix == ".partial"

    @property
    def manifest(self) -> dict[str, Any]:
        file = self.path / "manifest.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def intervals(self) -> pl.DataFrame:
        file = self.path / "intervals.parquet"
        if file.exists():
            return pl.read_parquet(file)
        rows = [row for f in sorted((self.path / "engine").glob("*.series.ndjson")) for row in _rows(f)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def system(self) -> pl.DataFrame:
        file = self.path / "system.parquet"
        schema = {"t_ns": pl.Int64, "source": pl.String, "metric": pl.String, "value": pl.Float64}
        return pl.read_parquet(file) if file.exists() else pl.DataFrame(schema=schema)

    def histograms(self, phase: str) -> dict[str, HdrHistogram]:
        found: dict[str, HdrHistogram] = {}
        file = self.path / "engine" / f"{phase}.totals.hdr"
        if not file.exists():
            file = self.path / "engine" / f"{phase}.hdr"
        for line in file.read_text().splitlines() if file.exists() else ():
            if line.startswith("Tag="):
                tag, _, _, _, code = line[4:].split(",")
                found.setdefault(tag, HdrHistogram(1, 3600 * 10**9, 3)).add(HdrHistogram.decode(code.encode()))
        return found


def _rows(file: Path) -> list[dict[str, Any]]:
    rows = []
    for line in file.read_text().splitlines():
        facts = json.loads(line)
        base = {"phase": file.name.split(".")[0], "second": facts["second"], "t_ns": facts["t_ns"]}
        counts = {k: facts[k] for k in ("due", "started", "done", "ok", "in_flight", "backlog")}
        failed = sum(facts["failed"].values())
        count = sum(o["count"] for o in facts["ops"].values())
        nothing = {f"{c}_{f}": None for c in CLOCKS for f in FIGURES}
        rows.append(base | {"op": "TOTAL", "failed": failed, "count": count} | counts | nothing)
        for op, told in facts["ops"].items():
            times = {f"{c}_{f}": told[c][f] for c in CLOCKS for f in FIGURES}
            rows.append(base | {"op": op, "failed": None, "count": told["count"]} | dict.fromkeys(counts) | times)
    return rows


@dataclass(frozen=True)
class Run:
    path: Path
    run: dict[str, Any]
    trials: list[TrialResult]


def open_run(path: Path) -> Run:
    trials = [TrialResult(p) for p in sorted((path / "trials").iterdir()) if p.is_dir()]
    return Run(path, json.loads((path / "run.json").read_text()), trials)
