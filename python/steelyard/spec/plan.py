"""From a trial to the plan of each engine: the words of crates/engine/src/plan.rs, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.spec.load import Load
from steelyard.spec.study import Trial

PLAN_FORMAT = 1
LOAD, WARMUP, RUN = "load", "warmup", "run"


def engine_plan(
    trial: Trial, driver: dict[str, Any], out: Path, *, index: int = 0, count: int = 1
) -> dict[str, Any]:
    """The plan of engine `index` of `count`; rates, limits and in-flight caps are totals over all engines.

    Args:
        trial: what to measure.
        driver: the plan's `driver` section, from the testbed.
        out: the folder that receives this engine's files.
    """
    load = trial.load
    workload = trial.workload.model_dump(mode="json", exclude={"name"}, exclude_none=True)
    return {
        "plan_format": PLAN_FORMAT,
        "seed": trial.seed,
        "engine": {"index": index, "count": count},
        "out": str(out.absolute()),
        # engines start one after the other: only the first may empty what the others will find
        "driver": {**driver, "fresh": False} if index and driver.get("fresh") else driver,
        # a read at n knows the inserts numbered <= n - W; W covers all that can be in flight at once
        "workload": {**workload, "insert_lag": load.cap},
        "pacing": {"quantum_us": load.pacing_quantum_us, "realtime": load.realtime},
        "retry": load.retry,
        "timeout_ms": load.timeout_ms,
        "attempt_timeout_ms": load.attempt_timeout_ms,
        "phases": phases(load),
    }


def phases(load: Load) -> list[dict[str, Any]]:
    """Load, warm-up if there is one, run."""
    loading = {"name": LOAD, "kind": "load", "in_flight": load.load_clients, "limit": {}}
    running = {"kind": "run", "in_flight": load.cap, "arrivals": arrivals(load)}
    warming = {"name": WARMUP, **running, "limit": {"seconds": load.warmup_s}}
    limit = {"operations": load.operations, "seconds": load.duration_s}
    measuring = {"name": RUN, **running, "limit": limit}
    return [loading, *([warming] if load.warmup_s else []), measuring]


def arrivals(load: Load) -> dict[str, Any]:
    """When operations are due."""
    if load.target is None:
        return {"kind": "closed"}
    return {"kind": load.arrivals, "rate": load.target}
