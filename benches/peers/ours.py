"""The engine as a client of its peers' tasks: plans of one kind of operation, run in a process of its own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.cost import Cost
from peers.process import run
from steelyard.engine.path import PLAN_FORMAT, find_engine
from steelyard.spec.workload import ConstantLength, Fields, Key, Mix, Uniform, Workload

KINDS = {"read": "READ", "write": "UPDATE"}
"""Kind -> the engine's name of the operation."""
Client = Callable[[str], Cost]


@dataclass(frozen=True)
class Task:
    """What every run does.

    Attributes:
        driver: the `driver` section of the engine's plan.
    """

    driver: dict[str, Any]
    rows: int
    value_bytes: int
    in_flight: int
    warm_up_s: float
    seconds: float

    @property
    def node(self) -> tuple[str, int]:
        """Host and port of the one node of Cassandra."""
        return self.driver["hosts"][0], self.driver["port"]

    @property
    def words(self) -> list[str]:
        """As the programs take it, after the kind."""
        numbers = (self.rows, self.value_bytes, self.in_flight, self.warm_up_s, self.seconds)
        return [f"{number:g}" if isinstance(number, float) else str(number) for number in numbers]


def run_ours(task: Task, kind: str) -> Cost:
    """One run of the engine, as a plan's."""
    limits = {"warmup": task.warm_up_s, "run": task.seconds}
    paced = {"kind": "run", "in_flight": task.in_flight}
    phases = [{"name": name, **paced, "limit": {"seconds": s}} for name, s in limits.items() if s]
    summary, peak = run_plan(task, kind, phases)
    if summary["failed"] or any(summary["verify"][wrong] for wrong in ("corrupt", "foreign")):
        raise SystemExit(f"ours: failed {summary['failed']}, values {summary['verify']}")
    ok = summary["ok"]
    traffic = summary["traffic"]
    return Cost(
        ok / summary["seconds"],
        (summary["cpu_user_ns"] + summary["cpu_system_ns"]) / 1e3 / ok,
        peak,
        summary["ops"][KINDS[kind]]["service"]["p99_ns"] / 1e3,
        traffic["answers"] / traffic["reads"],
        traffic["requests"] / traffic["writes"],
    )


def load(task: Task) -> None:
    """Make the table and store every record, with the engine."""
    run_plan(task, "read", [{"name": "load", "kind": "load", "in_flight": 64, "limit": {}}], fresh=True)


def run_plan(
    task: Task,
    kind: str,
    phases: list[dict[str, Any]],
    *,
    fresh: bool = False,
    pacing: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], float]:
    """The summary of the last of these phases, and the engine's peak memory in MiB."""
    workload = Workload(
        records=task.rows,
        key=Key(order="ordered"),
        fields=Fields(count=1, length=ConstantLength(length=task.value_bytes)),
        mix=Mix(read=1) if kind == "read" else Mix(update=1),
        request=Uniform(),
    )
    with tempfile.TemporaryDirectory() as folder:
        plan = {
            "plan_format": PLAN_FORMAT,
            "seed": 42,  # values are judged by the seed they were loaded with
            "out": folder,
            "driver": {**task.driver, "fresh": fresh},
            "workload": workload.model_dump(mode="json", exclude={"name"}, exclude_none=True),
            "pacing": pacing or {},
            "phases": phases,
            "autostart": True,
        }
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan))
        said, peak = run([find_engine().path, "run", path], open_input=True)
    events = [json.loads(line) for line in said.splitlines()]
    return next(e for e in reversed(events) if e["event"] == "phase_end")["summary"], peak
