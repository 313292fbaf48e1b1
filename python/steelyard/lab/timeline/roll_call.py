"""Who belongs to a cluster that others operate, asked again and again while it is changed."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.analysis.windows.milestones import LEFT
from steelyard.systems.changes import CountsMembers, Listed

EVERY_S, LONGEST_S = 2.0, 10.0
"""Between two questions; what is told of a node's coming is as exact."""
AT_MOST = 0.05
"""Of the time answers may take, up to the longest pause: a master of thousands of regions tells of each."""
GONE_S = 15.0
"""A node has left that no answer of so long names: a master that has just begun knows few."""


@dataclass(frozen=True)
class News:
    """Something that was not so before.

    Attributes:
        node: of which.
        what: it has passed: a milestone, or `left`.
        t_ns: when it was first seen so, CLOCK_MONOTONIC.
        new: what is known of it, where it was never seen before.
    """

    node: str
    what: str
    t_ns: int
    new: Listed | None = None


class Members:
    """Who is there, as answers tell: a pure state machine. Nodes of the first answer are no news."""

    def __init__(self) -> None:
        self._there: dict[str, Listed] = {}
        self._passed: dict[str, set[str]] = {}
        self._seen: set[str] = set()
        self._absent_ns: dict[str, int] = {}

    def told(self, listed: Sequence[Listed], t_ns: int) -> Iterator[News]:
        """What an answer at a time brings."""
        if not self._seen:
            self._there = {one.key: one for one in listed}
            self._passed = {one.key: {*one.passed} for one in listed}
            self._seen = {*self._there}
            return
        for one in listed:
            yield from self._here(one, t_ns)
        yield from self._gone({*self._there} - {one.key for one in listed}, t_ns)

    def _here(self, one: Listed, t_ns: int) -> Iterator[News]:
        before = self._passed.setdefault(one.key, set())
        for what in (what for what in one.passed if what not in before):
            new = None if one.key in self._seen else one
            self._seen.add(one.key)
            before.add(what)
            yield News(one.name, what, t_ns, new)
        self._there[one.key] = one
        self._absent_ns.pop(one.key, None)

    def _gone(self, keys: set[str], t_ns: int) -> Iterator[News]:
        for key in sorted(keys):
            since_ns = self._absent_ns.setdefault(key, t_ns)
            if t_ns - since_ns >= GONE_S * 1e9:
                del self._passed[key], self._absent_ns[key]
                yield News(self._there.pop(key).name, LEFT, since_ns)


class RollCall:
    """Asks on a thread of its own, since a server may keep one waiting.

    Args:
        testbed: is asked.
    """

    def __init__(self, testbed: CountsMembers) -> None:
        self._testbed, self._members = testbed, Members()
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="steelyard-roll-call", daemon=True)
        self._told = False
        self.never = ""
        """Why it was never told who is there; empty once it was."""

    def begin(self) -> None:
        """Ask from now on."""
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._over.set()

    def join(self, most_s: float) -> None:
        """Wait until nothing is asked any more."""
        if self._thread.is_alive():
            self._thread.join(most_s)

    def news(self) -> list[News]:
        """What was told since the last time."""
        found: list[News] = []
        while not self._news.empty():
            found.append(self._news.get())
        return found

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                self._over.wait(self._ask())
        finally:
            self._testbed.end_roll()

    def _ask(self) -> float:
        """Returns the seconds until it is to be asked again."""
        asked_ns = time.monotonic_ns()
        try:
            listed = self._testbed.roll()
        except Exception as error:  # whatever a server does, the run goes on, and it is asked again
            if not self._told:
                self.never = str(error) or type(error).__name__
            return EVERY_S
        came_ns, self._told, self.never = time.monotonic_ns(), True, ""
        for one in self._members.told(listed, came_ns):
            self._news.put(one)
        return min(max(EVERY_S, (came_ns - asked_ns) / 1e9 / AT_MOST), LONGEST_S)
