"""The sampler: one thread, once a second on an absolute schedule, that nothing it watches can hold up."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

import polars as pl

from steelyard.watch.asker import Askers
from steelyard.watch.dialogue import AgentDialogue, Dialogue
from steelyard.watch.jmx import jmx_dialogues
from steelyard.watch.link import ANSWER_WITHIN_S, Link
from steelyard.watch.schedule import next_due
from steelyard.watch.sources import Sources
from steelyard.watch.table import Table
from steelyard.watch.target import WatchTarget

SPOOL_EVERY_S = 10.0


class Sampler:
    """Samples the machine, the engines, the lab and every node, until stopped.

    The kernel's figures of one tick share one `t_ns`, taken when their reading begins; a server's own carry
    the time its answer arrived. A tick that cannot be kept is left out, not caught up with.

    Args:
        targets: the nodes.
        engines: the engines' names (`engine`, or `engine-0`, ...) and process ids; asked at every tick.
        lab_pid: Steelyard's own process; its descendants other than engines and nodes count with it.
        pids: finds a node's processes; asked at every tick.
        period_s: seconds between samples.
        spool: a file that gets what is new every 10 s, so that a crash loses little; `write` removes it.
    """

    def __init__(
        self,
        targets: Sequence[WatchTarget],
        engines: Callable[[], Mapping[str, int]],
        lab_pid: int,
        pids: Callable[[WatchTarget], Sequence[int]],
        period_s: float = 1.0,
        *,
        spool: Path | None = None,
    ) -> None:
        self._sources = Sources(targets, engines, lab_pid, pids)
        self._table = Table(spool)
        self._period_ns = round(period_s * 1e9)
        self._selector = selectors.DefaultSelector()
        self._links: list[Link] = []
        self._links_before: list[Link] = []
        self._told: SimpleQueue[tuple[int, str, dict[str, float]]] = SimpleQueue()
        self._askers = Askers(lambda *told: self._told.put(told), self._period_ns)
        self._wanted: Sequence[WatchTarget] | None = targets
        self._due_ns = 0
        self._from_ns: int | None = None
        self._thread = threading.Thread(target=self._run, name="steelyard-watch", daemon=True)
        self._stopping = False
        self._spool_failure: str | None = None
        self._wake, self._waker = socket.socketpair()
        self._spooled_ns = self._started_ns = time.monotonic_ns()
        self._cpu_s = self._seconds = 0.0

    def start(self) -> None:
        """Begin; the first sample is taken at once."""
        self._started_ns = self._spooled_ns = time.monotonic_ns()
        self._thread.start()

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        """Watch these nodes from the next sample on, without a gap for those that are watched already.

        What could not be had of the others stays in `missing`. Any thread may call it.
        """
        self._wanted = targets

    def sample_from(self, t_ns: int) -> None:
        """Sample at this time (CLOCK_MONOTONIC ns; at once, if it is over), and every period from then on.

        So that counters are read where a phase begins, and where it ends. Any thread may call it.
        """
        self._from_ns = t_ns
        self._waker.send(b"x")

    def stop(self) -> None:
        """Take a last sample and end; safe to call twice, or when never started."""
        if self._stopping:
            return
        self._stopping = True
        if self._thread.is_alive():
            self._waker.send(b"x")
            self._thread.join()
        for link in self._links:
            link.close()
        self._sources.close()
        self._selector.close()
        self._wake.close()
        self._waker.close()

    def frame(self, start: int = 0) -> pl.DataFrame:
        """All samples so far, from the `start`-th row on: `t_ns`, `source`, `metric`, `value`."""
        return self._table.frame(start)

    def write(self, path: Path) -> None:
        """Write `system.parquet` and remove the spool. Raises OSError."""
        self._table.write(path)

    def latest(self, source: str, metric: str) -> float | None:
        """The newest value of a metric, or None if there is none yet."""
        return self._table.latest(source, metric)

    def cost(self) -> dict[str, float]:
        """What watching has cost in this process: `cpu_seconds` of its threads, over `seconds`."""
        return {"cpu_seconds": self._cpu_s, "seconds": self._seconds}

    @property
    def missing(self) -> dict[str, str]:
        """`SOURCE.WHAT` -> why it could not be had, or not at every sample."""
        missing = self._sources.missing | self._askers.missing
        if self._spool_failure is not None:
            missing["lab.spool"] = self._spool_failure
        for link in [*self._links_before, *self._links]:
            if gaps := link.asked - link.answered:
                share = f"no answer to {gaps} of {link.asked} samples" if link.answered else "never answered"
                missing[f"{link.target.name}.{link.dialogue.what}"] = f"{share}: {link.reason}"
        return missing

    def _take_on(self, targets: Sequence[WatchTarget]) -> None:
        """Links to targets that stay are kept as they are."""
        self._askers.retarget(targets)
        kept = [link for link in self._links if link.target in targets]
        gone = [link for link in self._links if link.target not in targets]
        known = [link.target for link in kept]
        for link in gone:
            link.close()
        self._links_before = [*self._links_before, *gone]
        self._links = [
            *kept, *(link for target in targets if target not in known for link in self._links_of(target))
        ]  # fmt: skip

    def _links_of(self, target: WatchTarget) -> list[Link]:
        asked: list[tuple[tuple[str, int], Dialogue]] = list(jmx_dialogues(target.jmx))
        if target.agent is not None:
            asked.append((target.agent, AgentDialogue()))

        def deliver(t_ns: int, values: dict[str, float]) -> None:
            self._table.add(t_ns, target.name, values)

        return [Link(target, address, dialogue, self._selector, deliver) for address, dialogue in asked]

    def _run(self) -> None:
        self._selector.register(self._wake, selectors.EVENT_READ, lambda _events: self._wake.recv(64))
        self._due_ns = time.monotonic_ns()
        while not self._stopping:
            self._tick()
            self._due_ns = next_due(self._due_ns, self._period_ns, time.monotonic_ns())
            self._serve(self._due, lambda: not self._stopping)
        self._tick()
        deadline_ns = time.monotonic_ns() + round(ANSWER_WITHIN_S * 1e9)
        self._selector.unregister(self._wake)
        self._serve(lambda: deadline_ns, lambda: any(link.waiting for link in self._links))
        self._askers.stop()
        self._take_answers()
        self._spool()
        self._account()

    def _due(self) -> int:
        """When the next sample is due; that may just have been said anew."""
        from_ns, self._from_ns = self._from_ns, None
        if from_ns is not None:
            self._due_ns = from_ns
        return self._due_ns

    def _tick(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._take_on(wanted)
            self._sources.retarget(wanted)
        for link in self._links:
            link.tick()
        self._take_answers()
        t_ns = time.monotonic_ns()
        for source, values in self._sources.read().items():
            self._table.add(t_ns, source, values)
        self._account()
        self._table.add(t_ns, "lab", {"watch_cpu_seconds_total": self._cpu_s})
        if t_ns - self._spooled_ns >= SPOOL_EVERY_S * 1e9:
            self._spooled_ns = t_ns
            self._spool()

    def _take_answers(self) -> None:
        """What servers that are asked by threads of their own have told."""
        with suppress(Empty):
            while True:
                self._table.add(*self._told.get_nowait())

    def _serve(self, until: Callable[[], int], going_on: Callable[[], bool]) -> None:
        """Take the servers' answers until a time, or until there is no reason to go on."""
        while going_on() and (left_ns := until() - time.monotonic_ns()) > 0:
            for key, events in self._selector.select(left_ns / 1e9):
                key.data(events)

    def _spool(self) -> None:
        try:
            self._table.flush()
        except OSError as error:
            self._spool_failure = str(error)

    def _account(self) -> None:
        with suppress(OSError):
            self._cpu_s = time.thread_time() + self._askers.cpu_s
        self._seconds = (time.monotonic_ns() - self._started_ns) / 1e9
