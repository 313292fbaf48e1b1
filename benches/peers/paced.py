"""Reads at a given rate: what an operation costs, how late it was sent, and how long its response took.

Ours runs with every way of pacing, latte beside it with one thread and one connection. Ours tells its
response (from the due time to the answer) and its service time (from the start). latte tells its cycle
latency, which begins when it starts a cycle: that is a service time. Its timer is tokio's, which fires at
whole milliseconds, so that it starts together what is due within one; what it is more than 5 ms late with it
leaves out (`interval_stream` in latte's src/exec/mod.rs). How late it was it does not say.
"""

from __future__ import annotations

import json
import math
import resource
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers.cost import text
from peers.cql import HERE, LATTE_P99
from peers.ours import Task, run_plan
from peers.process import run
from steelyard.analysis.stats.runs import Runs, mean

IN_FLIGHT = 128
PACINGS: dict[str, str | int] = {"ours": "auto", "ours at exact": "exact", "ours at 1 ms": 1000}
"""Client -> the plan's `pacing.quantum_us`."""
RATES = (1_000, 5_000, 10_000)
"""Operations per second."""
LATTE_MEDIAN = 6
"""Place of the median among the percentiles of latte's report (its src/stats/percentiles.rs)."""


@dataclass(frozen=True)
class Paced:
    """One run, all in microseconds. CPU is for an operation, of the whole process in its window."""

    cpu_us: float
    user_us: float
    system_us: float
    rate_per_s: float
    service_p50_us: float
    service_p99_us: float
    response_p50_us: float = math.nan
    response_p99_us: float = math.nan
    late_p50_us: float = math.nan
    late_p99_us: float = math.nan
    per_read: float = math.nan


FIGURES = {
    "cpu_us": "CPU us/op",
    "user_us": "user",
    "system_us": "system",
    "rate_per_s": "op/s",
    "service_p50_us": "service p50 us",
    "service_p99_us": "p99 us",
    "response_p50_us": "response p50 us",
    "response_p99_us": "p99 us",
    "late_p50_us": "late p50 us",
    "late_p99_us": "p99 us",
    "per_read": "op per read()",
}
AGAINST = {
    "CPU / latte's": ("cpu_us", "cpu_us"),
    "service p50 / its": ("service_p50_us", "service_p50_us"),
    "response p50 / its service p50": ("response_p50_us", "service_p50_us"),
}
"""Heading -> our figure, and latte's beneath it."""


def ours(task: Task, rate: int, quantum_us: str | int) -> Paced:
    """One run of the engine."""
    paced = {
        "kind": "run",
        "in_flight": IN_FLIGHT,
        "arrivals": {"kind": "constant", "rate": float(rate)},
    }
    limits = {"warmup": task.warm_up_s, "run": task.seconds}
    phases = [{"name": name, **paced, "limit": {"seconds": s}} for name, s in limits.items() if s]
    summary, _ = run_plan(task, "read", phases, pacing={"quantum_us": quantum_us})
    if summary["failed"]:
        raise SystemExit(f"ours: failed {summary['failed']}")
    count, read = summary["ok"], summary["ops"]["READ"]
    user_us, system_us = (summary[f"cpu_{mode}_ns"] / 1e3 / count for mode in ("user", "system"))
    views = {"service": "service", "response": "response", "late": "wait"}
    found = {
        f"{figure}_{share}_us": read[view][f"{share}_ns"] / 1e3
        for figure, view in views.items()
        for share in ("p50", "p99")
    }
    found["per_read"] = summary["traffic"]["answers"] / summary["traffic"]["reads"]
    return Paced(user_us + system_us, user_us, system_us, count / summary["seconds"], **found)


def latte(binary: Path, task: Task, rate: int) -> Paced:
    """One run of latte. How its CPU divides into user and system time is of the process's whole life."""
    host, port = task.node
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        times = ["--warmup", f"{task.warm_up_s:g}s", "--duration", f"{task.seconds:g}s"]
        shape = ["-P", f"rows={task.rows}", "-P", f"value_bytes={task.value_bytes}"]
        load = ["--functions", "read", "--concurrency", str(IN_FLIGHT), "--consistency", "ONE"]
        words = [*load, "--rate", str(rate), *shape, *times, "--quiet", "--output", str(report)]
        run([binary, "--log-dir", folder, "run", *words, str(HERE / "latte.rn"), f"{host}:{port}"])
        found = json.loads(report.read_text())["result"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    cpu_us = found["cpu_time_s"] * 1e6 / found["request_count"]
    user_us = cpu_us * user / (user + system)
    percentiles = found["cycle_latency"]["percentiles"]
    p50_us, p99_us = (percentiles[place]["value"] * 1000 for place in (LATTE_MEDIAN, LATTE_P99))
    rate_per_s = found["request_count"] / found["elapsed_time_s"]
    return Paced(cpu_us, user_us, cpu_us - user_us, rate_per_s, p50_us, p99_us)


def one_round(binary: Path, task: Task, rate: int, first: int) -> dict[str, Paced]:
    """Every client once, beginning with another one each time."""
    names = [*PACINGS, "latte"]
    turned = names[first % len(names) :] + names[: first % len(names)]
    found = {
        who: latte(binary, task, rate) if who == "latte" else ours(task, rate, PACINGS[who]) for who in turned
    }
    return {who: found[who] for who in names}


def table(rounds: Sequence[dict[str, Paced]]) -> Iterator[str]:
    """Medians of each client, then ours in terms of latte's within rounds, as lines of Markdown."""
    heads = [*FIGURES.values(), *AGAINST]
    yield f"| | {' | '.join(heads)} |"
    yield f"|---|{'---:|' * len(heads)}"
    for who in rounds[0]:
        cells = [_median([getattr(one[who], figure) for one in rounds]) for figure in FIGURES]
        against = ["" for _ in AGAINST]
        if who != "latte":
            against = [
                text(mean(Runs([getattr(one[who], own) / getattr(one["latte"], its) for one in rounds])))
                for own, its in AGAINST.values()
            ]
        yield f"| {' | '.join([who, *cells, *against])} |"


def _median(values: Sequence[float]) -> str:
    middle = sorted(values)[len(values) // 2]
    if math.isnan(middle):
        return "-"
    return f"{middle:,.0f}" if middle >= 100 else f"{middle:.1f}"
