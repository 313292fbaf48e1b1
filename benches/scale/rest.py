"""What engines cost the laboratory that has them: started, at rest, and at an event a second each."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from words import study_of

from steelyard.engine.fleet import Fleet, Launch
from steelyard.engine.path import find_engine
from steelyard.lab.load_hosts import LoadHosts
from steelyard.spec.plan import RUN, engine_plan
from steelyard.spec.trials import trials

MIB = 1024 * 1024
KINDS = ("hosts", "engines")
"""Each engine on a host of its own; all on this machine, without Dask."""
BEGIN_LIMIT_S, READY_LIMIT_S, ENDING_S = 60.0, 300.0, 30.0


@dataclass
class Found:
    """Figures of so many engines.

    Attributes:
        kind, count: of what, and how many.
        up_s, ready_s: until workers were up, and engines ready after that.
        rest, events: share of a core that the laboratory took at rest, and at an event a second each.
        memory_mib: of its process, at the end.
        worker_rest, worker_mib: of each worker, share of a core at rest and memory of its own (USS).
        rate: events a second that came from each engine.
        skew_us: how far apart engines began, by the laboratory's clock.
        bound_us: to what that clock was known.
    """

    kind: str
    count: int
    up_s: float = 0.0
    ready_s: float = 0.0
    rest: float = 0.0
    events: float = 0.0
    memory_mib: float = 0.0
    worker_rest: float = 0.0
    worker_mib: float = 0.0
    rate: float = 0.0
    skew_us: float = 0.0
    bound_us: float = 0.0


def measure(kind: str, count: int, seconds: float) -> Found:
    """Have so many engines, and measure for so long each at rest and at an event a second."""
    found, began = Found(kind, count), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:  # removed when all have ended
        launch: Launch | None = None
        workers: list[int] = []
        clocks: Callable[[], float] = lambda: 0.0  # noqa: E731 - one of two
        if kind == "hosts":
            from scale.hosts import hosts_here

            hosts, workers = stack.enter_context(hosts_here(count))
            launch = LoadHosts(hosts).launch
            clocks = lambda: max(host.clock.bound_ns for host in hosts) / 1e3  # noqa: E731
        found.up_s = time.monotonic() - began
        fleet = _fleet(count, Path(folder), launch)
        stack.callback(fleet.kill)
        began = time.monotonic()
        fleet.start(READY_LIMIT_S)
        found.ready_s = time.monotonic() - began
        _at_rest(found, workers, seconds)
        _at_events(found, fleet, seconds)
        found.bound_us = clocks()
        found.memory_mib = psutil.Process().memory_info().rss / MIB
    return found


def _fleet(count: int, folder: Path, launch: Launch | None) -> Fleet:
    words = ["null", "-w", "c", "--records", "1000", "--target", str(count), "--duration", "3600s"]
    words += ["--set", f"load.load_clients={count}"]  # one for each engine, as of the run's
    study = study_of([*words, "--engines", str(count)])
    trial, driver = trials(study)[0], {"kind": "null"}
    return Fleet(
        find_engine().path, count, folder,
        lambda out, k: engine_plan(trial, driver, out, index=k, count=count), launch=launch,
    )  # fmt: skip


def _at_rest(found: Found, workers: Sequence[int], seconds: float) -> None:
    processes = [psutil.Process(pid) for pid in workers]
    theirs, ours, began = _cpu_s(processes), time.process_time(), time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - began
    found.rest = (time.process_time() - ours) / elapsed
    if processes:
        found.worker_rest = (_cpu_s(processes) - theirs) / elapsed / len(processes)
        found.worker_mib = processes[0].memory_full_info().uss / MIB


def _cpu_s(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _at_events(found: Found, fleet: Fleet, seconds: float) -> None:
    fleet.phase(RUN)
    starts: list[int] = []
    end = time.monotonic() + BEGIN_LIMIT_S + found.count
    while len(starts) < found.count and time.monotonic() < end:
        starts += [event["t_ns"] for event in _events(fleet, 0.5) if event["event"] == "phase_start"]
    found.skew_us = (max(starts) - min(starts)) / 1e3
    count, ours, began = 0, time.process_time(), time.monotonic()
    while (left := seconds - (time.monotonic() - began)) > 0:
        count += sum(event["event"] == "interval" for event in _events(fleet, left))
    elapsed = time.monotonic() - began
    found.events, found.rate = (time.process_time() - ours) / elapsed, count / elapsed / found.count
    fleet.stop()


def _events(fleet: Fleet, wait_s: float) -> list[dict[str, Any]]:
    came = fleet.poll(wait_s)
    return [came[1]] if came else []
