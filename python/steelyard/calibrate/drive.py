"""One cell: fake servers of its law, one engine with its plan, and what both saw."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.calibrate.cells import CalibrationCell
from steelyard.calibrate.fakes import Fakes
from steelyard.calibrate.truth import Stamps
from steelyard.engine.process import EngineProcess
from steelyard.engine.session import Event, Queue
from steelyard.errors import EngineError
from steelyard.watch import machine
from steelyard.watch.cgroup import Values

PHASE = "run"
READY_LIMIT_S = 60.0
SPARE_S = 60.0
"""Beyond the time a cell should take, when the machine is slow."""
LEAD_NS = 100_000_000
"""From the command to the first due time: the servers are told the epoch meanwhile."""
Seen = Callable[[Event], None]


@dataclass(frozen=True)
class Observed:
    """What a cell brought.

    Attributes:
        summary: the engine's phase summary (docs/format.md).
        stamps: the servers'; None with the null driver.
        start_ns: the phase's start, from which due times count.
        steal_share: of all cores' time, what the host gave to other guests meanwhile.
    """

    summary: Mapping[str, Any]
    stamps: Stamps | None
    start_ns: int
    steal_share: float = 0.0


@dataclass(frozen=True)
class Lab:
    """Whom to try.

    Attributes:
        driver: `cql`, `hbase` or `null`.
        engine: the binary.
        fakes: the servers; None with the null driver.
    """

    driver: str
    engine: Path
    fakes: Fakes | None


def run(lab: Lab, cell: CalibrationCell, folder: Path, seen: Seen = lambda _: None) -> Observed:
    """Run a cell; `folder` receives the files, `seen` the engine's events as they come.

    Raises:
        EngineError: the engine or the servers did not do as they were told.
    """
    folder.mkdir(parents=True)
    fakes = lab.fakes
    events: Queue = queue.Queue()
    process = EngineProcess(lab.engine, _plan(lab, cell, folder), folder, events)
    try:
        _await(process, events, "ready", READY_LIMIT_S, seen)
        start_ns = time.monotonic_ns() + LEAD_NS
        if fakes is not None:
            fakes.case(cell.law, seed=cell.seed, epoch_ns=start_ns, faults=cell.faults, burn_us=cell.burn_us)
        before = _machine()
        process.acknowledged(process.post("phase", name=PHASE, at_ns=start_ns))
        ended = _await(process, events, "phase_end", _limit_s(cell), seen)
        stolen = _stolen(before, _machine())
        process.acknowledged(process.post("finish"))
        process.wait(SPARE_S)
    finally:
        process.kill()
    stamps = fakes.stamps(folder / "stamps.bin") if fakes is not None else None
    return Observed(ended["summary"], stamps, int(ended["start_ns"]), stolen)


def _machine() -> Values:
    return machine.cpu(Path("/proc/stat").read_text())


def _stolen(before: Values, after: Values) -> float:
    spent = {name: after[name] - before[name] for name in machine.WHOLE}
    return spent[machine.STEAL] / max(sum(spent.values()), 1e-9)


def _limit_s(cell: CalibrationCell) -> float:
    each = cell.law.typical_us() / 1e6
    planned = cell.operations / cell.rate if cell.rate else cell.operations * each / cell.in_flight
    return 3 * planned + cell.timeout_ms / 1e3 + SPARE_S


def _await(process: EngineProcess, events: Queue, wanted: str, limit_s: float, seen: Seen) -> Event:
    deadline = time.monotonic() + limit_s
    while (left := deadline - time.monotonic()) > 0:
        try:
            _, event = events.get(timeout=min(left, 0.5))
        except queue.Empty:
            continue
        if event["event"] in ("error", "exit", "garbage"):
            raise process.failure()
        seen(event)
        if event["event"] == wanted:
            return event
    raise EngineError(f"the engine has not come to {wanted} within {limit_s:.0f} s")


def _plan(lab: Lab, cell: CalibrationCell, folder: Path) -> dict[str, Any]:
    """The engine's plan: operation n reads record n, so that its number travels in the key."""
    return {
        "plan_format": 2,
        "seed": cell.seed,
        "out": str(folder.absolute()),
        "driver": _driver(lab),
        "workload": {
            "records": cell.operations,
            "key": {"order": "ordered"},
            "mix": {"read": 1},
            "request": {"kind": "sequential"},
            "verify": "off",
        },
        "pacing": {"quantum_us": cell.quantum_us},
        "retry": cell.retry,
        "timeout_ms": cell.timeout_ms,
        "attempt_timeout_ms": cell.timeout_ms,
        "phases": [
            {
                "name": PHASE,
                "kind": "run",
                "in_flight": cell.in_flight,
                "arrivals": cell.arrivals,
                "limit": {"operations": cell.operations},
            }
        ],
    }


def _driver(lab: Lab) -> dict[str, Any]:
    if lab.fakes is None:
        return {"kind": "null"}
    address = lab.fakes.addresses[lab.driver]
    if lab.driver == "hbase":
        return {"kind": "hbase", "registry": [address]}
    return {
        "kind": "cql",
        "hosts": [address],
        "replication": {"class": "SimpleStrategy", "replication_factor": "1"},
        "read_consistency": "ONE",
        "write_consistency": "ONE",
    }
