"""Several engines as one run: one start, one event queue, one merged result."""

from __future__ import annotations

import queue
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from steelyard.engine.process import EngineProcess
from steelyard.engine.session import EngineSession, Event, Queue
from steelyard.errors import EngineError, InfrastructureError, InputError

T = TypeVar("T")
PlanOf = Callable[[Path, int], dict[str, Any]]
"""(out folder, engine index) -> plan."""
Launch = Callable[[dict[str, Any], Path, Queue, int], EngineSession]
"""(plan, folder of its files, receiver of events, engine index) -> a running engine elsewhere."""

READY_LIMIT_S = 180.0
FINISH_LIMIT_S = 30.0
MERGE_LIMIT_S = 600.0
MERGE_LIMIT_S_PER_S = 0.002
"""For each second of each engine beside that; a merge needs a fifth of it (docs/performance.md)."""
LEAD_NS = 100_000_000
"""Time between the command of a phase and its start: several engines must have it before."""
LEAD_ALONE_NS = 10_000_000


class Fleet:
    """K engines that share one run.

    Args:
        engine: the binary.
        count: how many.
        folder: the trial's folder; `engine/` receives the result, `engines/K/` each one's own when there are
            several.
        plan_of: the plan of each.
        prefix: words before each command.
        launch: starts an engine on another machine; None = here.
    """

    def __init__(  # noqa: PLR0917 - a fleet is made in one place
        self, engine: Path, count: int, folder: Path, plan_of: PlanOf, prefix: Sequence[str] = (),
        launch: Launch | None = None,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.out = folder / "engine"
        self.out.mkdir()
        self.folders = [self.out] if count == 1 else [folder / "engines" / str(k) for k in range(count)]
        self.plans: list[dict[str, Any]] = []
        self.ready: list[Event] = []
        self.processes: list[EngineSession] = []
        self._queue: Queue = queue.Queue()
        self._plan_of = plan_of
        self._launch = launch or self._here
        self._prefix = prefix
        self._next: int | None = None
        self._made_s = time.monotonic()

    def start(self, limit_s: float = READY_LIMIT_S) -> list[Event]:
        """Start every engine and wait until each has opened its database; returns their `ready` events.

        Raises:
            InputError: a plan was refused.
            InfrastructureError: the database cannot be reached.
            EngineError: one died, or did not become ready in time.
        """
        for index, folder in enumerate(self.folders):
            folder.mkdir(parents=True, exist_ok=True)
            self.plans.append(self._plan_of(folder, index))
            # one after the other: the first makes the schema, the rest find it
            self.processes.append(self._launch(self.plans[-1], folder, self._queue, index))
            self.ready.append(self._await_ready(time.monotonic() + limit_s))
        return self.ready

    def _here(self, plan: dict[str, Any], folder: Path, events: Queue, index: int) -> EngineSession:
        return EngineProcess(self.engine, plan, folder, events, index=index, prefix=self._prefix)

    def _await_ready(self, deadline: float) -> Event:
        while (left := deadline - time.monotonic()) > 0:
            found = self.poll(min(left, 0.5))
            if found and found[1]["event"] == "ready":
                return found[1]
        raise EngineError("the engine has not become ready in time", hint="does the database answer?")

    def pids(self) -> dict[str, int]:
        """Name and process id of each running engine of this machine."""
        alone = len(self.folders) == 1
        running = [p for p in self.processes if p.local and not p.ended]
        ready = {p.index: self.ready[p.index].get("pid", p.pid) for p in running if p.index < len(self.ready)}
        return {"engine" if alone else f"engine-{index}": int(pid) for index, pid in ready.items()}

    def phase(self, name: str, rate: float | None = None) -> int:
        """Start a phase on every engine at one time; returns that time (CLOCK_MONOTONIC ns).

        Args:
            name: the phase.
            rate: operations per second over all engines from its start on, instead of the plan's.
        """
        more_ns = [process.prepare() for process in self.processes]
        lead = (LEAD_NS if len(self.processes) > 1 else LEAD_ALONE_NS) + sum(more_ns)
        at_ns = time.monotonic_ns() + lead
        self._command("phase", name=name, at_ns=at_ns, first=self._next, rate=rate)
        return at_ns

    def begin_at(self, number: int) -> None:
        """The next run phase takes operation numbers from there on."""
        self._next = number or None

    def mark(self, label: str) -> int:
        """Put a mark into the event streams; returns its time, CLOCK_MONOTONIC ns, by the first engine.

        An engine whose machine is found to be lost has none.

        Raises:
            InfrastructureError: no engine is left.
        """
        sent = [(one, _unless_lost(one, partial(one.post, "mark", label=label))) for one in self.processes]
        found = [_unless_lost(one, partial(one.acknowledged, number)) for one, number in sent if number]
        marks = [int(ack["at_ns"]) for ack in found if ack]
        if not marks:
            raise self.processes[0].failure()
        return marks[0]

    def end_phase(self) -> None:
        """Have the running phase's time over, at one moment on every engine that hears of it in time.

        One that has just come to its own end refuses, which is as good: nobody asks.
        """
        alone = len(self.processes) == 1 and self.processes[0].local
        at_ns = time.monotonic_ns() + (LEAD_ALONE_NS if alone else LEAD_NS)
        for process in self.processes:
            _unless_lost(process, partial(process.post, "end", at_ns=at_ns))

    def stop(self) -> None:
        """End the running phase gracefully, then the processes; one that has ended already is left alone."""
        self._last_command("stop")

    def _last_command(self, cmd: str) -> None:
        """Send it to every engine that has not ended; to one that it does not reach, the end of its input."""
        for process in (one for one in self.processes if not one.ended):
            try:
                process.post(cmd)
            except (InputError, InfrastructureError):  # not Interrupted: a second Ctrl-C may come here
                process.close_input()

    def _command(self, cmd: str, **fields: Any) -> list[Event]:
        """The same command to every engine: sent to all before any answer is waited for."""
        sent = [(one, one.post(cmd, **fields)) for one in self.processes if not one.lost]
        return [process.acknowledged(number) for process, number in sent]

    def poll(self, timeout_s: float) -> tuple[int, Event] | None:
        """The next (engine, event), or None after the timeout; `exit`: in order, or its machine is lost.

        Raises:
            SteelyardError: an engine ended without having said `end`, or wrote what is no event.
        """
        try:
            index, event = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            return None
        process = self.processes[index]
        if event["event"] == "garbage":
            raise EngineError(f"the engine wrote a line that is no event: {event['text']!r}")
        if event["event"] == "exit" and process.lost:
            return index, event
        if event["event"] == "error" or (event["event"] == "exit" and process.wait(FINISH_LIMIT_S) != 0):
            raise process.failure()
        return index, event

    def ended_phase(self, ends: Sequence[Event], *, counts: bool) -> None:
        """Note where a phase has ended; the next run phase begins there on every engine.

        Args:
            ends: the `phase_end` event of each engine.
            counts: whether its operation numbers are used up (run phases; a load counts records).
        """
        if counts:
            self._next = max(int(end["next"]) for end in ends)

    def finish(self) -> None:
        """No further phase: wait until every engine has ended.

        Raises:
            EngineError: one does not end, or not in order.
            InfrastructureError: a machine is lost, be it after its last phase: what it has cannot be had.
        """
        self._last_command("finish")
        for process in (one for one in self.processes if not one.lost):
            process.wait(FINISH_LIMIT_S)
        for process in self.processes:
            if process.lost or process.wait(0) != 0:
                raise process.failure()

    def collect(self) -> None:
        """Have every engine's files in its folder here; one that cannot be had keeps no other from coming.

        Raises:
            InfrastructureError, OSError: what went wrong first.
        """
        errors: list[Exception] = []
        for process in self.processes:
            try:
                process.collect()
            except (InfrastructureError, OSError) as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def merge(self) -> None:
        """Several engines' files become one result in `engine/`; with one there is nothing to do.

        Raises:
            EngineError: they cannot be merged, or not in time.
        """
        if len(self.folders) == 1:
            return
        command = [str(self.engine), "merge", str(self.out), *map(str, self.folders)]
        limit_s = merge_limit_s(len(self.folders), time.monotonic() - self._made_s)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            raise EngineError(f"the engines' results were not merged within {limit_s:.0f} s") from None
        if done.returncode != 0:
            raise EngineError(
                f"the engines' results cannot be merged: {done.stderr.strip() or done.returncode}"
            )

    def kill(self) -> None:
        """End every engine now."""
        for process in self.processes:
            process.kill()


def merge_limit_s(engines: int, seconds: float) -> float:
    """Seconds that a merge may take: of that many engines, which ran for no more than so many seconds."""
    return MERGE_LIMIT_S + engines * seconds * MERGE_LIMIT_S_PER_S


def _unless_lost(process: EngineSession, step: Callable[[], T]) -> T | None:
    """What a step with an engine gives; None when its machine is lost, or is found to be so by it."""
    if process.lost:
        return None
    try:
        return step()
    except InfrastructureError:
        if not process.lost:
            raise
        return None
