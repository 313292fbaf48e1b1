"""From a trial to the plan of each engine: the words of crates/engine/src/plan.rs, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.spec.load import Load
from steelyard.spec.models import Trial
from steelyard.spec.units import quantum

PLAN_FORMAT = 2
LOAD, WARMUP, PROBE, RUN, AUDIT = "load", "warmup", "probe", "run", "audit"


def engine_plan(
    trial: Trial, driver: dict[str, Any], out: Path, *, index: int = 0, count: int = 1
) -> dict[str, Any]:
    """The plan of engine `index` of `count`; rates, limits and in-flight caps are totals over all engines.

    Args:
        trial: what to measure.
        driver: the plan's `driver` section, from the testbed.
        out: the folder that receives this engine's files.
    """
    load, part = trial.load, trial.load.part
    workload = trial.workload.model_dump(mode="json", exclude={"name"}, exclude_none=True)
    return {
        "plan_format": PLAN_FORMAT,
        "seed": trial.seed,
        "engine": {"index": part.index * count + index, "count": part.count * count},
        "out": str(out.absolute()),
        # engines start one after the other: only the first may empty what the others will find
        "driver": {**driver, "fresh": False} if index and driver.get("fresh") else driver,
        # a read at n knows the inserts numbered <= n - W; W covers all that can be in flight at once
        "workload": {**workload, "insert_lag": load.cap * part.count},
        "pacing": {"quantum_us": quantum(load.pacing), "realtime": load.realtime},
        "retry": load.retry,
        "timeout_ms": load.timeout_ms,
        "attempt_timeout_ms": load.attempt_timeout_ms,
        "phases": phases(load),
    }


def phases(load: Load) -> list[dict[str, Any]]:
    """Load, warm-up and probes of a search if there are any, run; those that are asked for. What is a total
    goes over all parts."""
    paced = {"in_flight": load.cap * load.part.count, "arrivals": arrivals(load)}
    limit = {"operations": _total(load.operations, load), "seconds": load.duration_s}
    warming = {"name": WARMUP, "kind": "run", **paced, "limit": {"seconds": load.warmup_s}}
    if load.curve:  # the warm-up offers what the run begins with
        warming["arrivals"] = {"kind": load.arrivals, "rate": (load.rate or 0) * load.part.count}
    measuring = {"name": RUN, "kind": "run", **paced, "limit": limit}
    auditing = {"name": AUDIT, "kind": "audit", "in_flight": load.load_clients, "limit": {}}
    running = [*([warming] if load.warmup_s else []), *_probing(load, paced), measuring]
    running += [auditing] if load.audit else []
    return [
        *([_loading(load, paced)] if LOAD in load.phases else []),
        *(running if RUN in load.phases else []),
    ]


def _probing(load: Load, paced: dict[str, Any]) -> list[dict[str, Any]]:
    """The phase that is run again and again, each time at another rate."""
    limit = {"seconds": load.search.probe_s} if load.search else {}
    return [{"name": PROBE, "kind": "run", **paced, "limit": limit}] if load.search else []


def _loading(load: Load, paced: dict[str, Any]) -> dict[str, Any]:
    """The load, ended by its records. Alone it is what is measured, and paced and limited as a run is."""
    phase: dict[str, Any] = {"name": LOAD, "kind": "load", "in_flight": load.load_clients, "limit": {}}
    if RUN not in load.phases:
        phase |= {**paced, "limit": {"seconds": load.duration_s}}
    if load.first_record:
        phase["first"] = load.first_record
    return phase


def _total(each: int | None, load: Load) -> int | None:
    return None if each is None else each * load.part.count


def arrivals(load: Load) -> dict[str, Any]:
    """When operations are due."""
    rate = load.rate
    if rate is None:
        return {"kind": "closed"}
    if load.curve:
        points = [[at_s, rate * load.part.count] for at_s, rate in load.curve]
        return {"kind": load.arrivals, "rate": points}
    return {"kind": load.arrivals, "rate": rate * load.part.count}
