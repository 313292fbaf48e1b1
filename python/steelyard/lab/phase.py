"""One phase from its command to its last answer: events taken, servers looked after, a stop passed on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from steelyard.engine.fleet import Fleet
from steelyard.engine.session import Event
from steelyard.errors import EngineError, InfrastructureError, SteelyardError
from steelyard.lab.observer import Observer
from steelyard.lab.progress import Live, Show, latency
from steelyard.lab.signals import Interrupts
from steelyard.results.manifest import Manifest
from steelyard.systems.base import Death, Testbed

POLL_S = 0.25
LOOK_EVERY_S = 1.0
SILENCE_LIMIT_S = 60.0
STALL_LIMIT_S = 60.0
ALL_DEAD_LIMIT_S = 10.0
STOP_GRACE_S = 15.0
"""Beyond an operation's deadline: what is in flight when a stop comes may take that long."""


class PhaseRunner:
    """Runs phases of one trial.

    Args:
        fleet: the engines, ready.
        testbed: the system, up.
        manifest: receives phases, warnings and the deaths of servers.
        show: receives progress.
        interrupts: asked whether to stop.
    """

    def __init__(
        self, fleet: Fleet, testbed: Testbed, manifest: Manifest, show: Show, interrupts: Interrupts
    ) -> None:
        self.fleet, self.testbed, self.manifest, self.show = fleet, testbed, manifest, show
        self.interrupts = interrupts
        self.stop_limit_s = manifest.trial.load.timeout_ms / 1000 + STOP_GRACE_S
        self.told: set[tuple[str, object]] = set()
        self.dead: list[Death] = []

    def phase(
        self,
        name: str,
        *,
        counts: bool,
        endless: bool,
        rate: float | None = None,
        marks: Sequence[tuple[float, str]] = (),
        noted: bool = True,
        needed: bool = True,
        observers: Sequence[Observer] = (),
    ) -> list[Event]:
        """Run one phase; returns each engine's `phase_end`.

        Args:
            name: the phase.
            counts: whether it uses operation numbers up (all but the load).
            endless: it ends by counting operations, so that dead servers would hold it up without end.
            rate: operations a second from its start on, instead of the plan's.
            marks: (seconds since its start, label) that the engines note when their time has come.
            noted: the manifest gets its summary; probes of a search have none there.
            needed: the trial has failed if nothing is answered any more. What was measured before an audit
                stands: that nobody can read it back is what the audit then finds.
            observers: told of it while it goes on.

        Raises:
            Interrupted: the user asked to stop; what was measured is in the manifest.
            InfrastructureError: nothing was answered any more, or an engine died.
        """
        with self.interrupts.noting():
            at_ns = self.fleet.phase(name, rate)
            self.manifest.phase_began(at_ns)
            self.manifest.event(name, t_ns=at_ns)
            self.show.begin(name)
            due = [(at_ns / 1e9 + at_s, label) for at_s, label in sorted(marks)]
            state = _Phase(name, len(self.fleet.processes), endless, due, observers)
            try:
                for observer in observers:
                    observer.begin(at_ns, state.engines)
                self._until_ended(state)
            finally:
                self.show.close()
                for observer in observers:
                    observer.end(time.monotonic_ns())
            ends = [state.ends[index] for index in sorted(state.ends)]
            self.fleet.ended_phase(ends, counts=counts)
            if noted:
                self.manifest.phase(ends, rate)
            self.show.end(_line(ends))
        self.interrupts.check()
        for lost in state.lost.values():
            raise lost
        if state.stalled and needed:
            raise InfrastructureError(f"{name} was stopped: {state.stalled}")
        if state.stalled:
            self.manifest.warn("unanswered", f"{name} was stopped: {state.stalled}")
        return ends

    def _until_ended(self, state: _Phase) -> None:
        while state.open:
            found = self.fleet.poll(state.wait_s(POLL_S))
            self.interrupts.check_aborted()
            now = time.monotonic()
            self._mark(state, now)
            self._tell_observers(state)
            if found is not None:
                state.heard_s = now
                self._take(state, *found)
            elif now - state.heard_s > SILENCE_LIMIT_S:
                raise EngineError(f"the engine has said nothing for {SILENCE_LIMIT_S:.0f} s")
            if now - state.looked_s >= LOOK_EVERY_S:
                state.looked_s = now
                self._look(state, now)
            if self.interrupts.requested:
                self._stop(state, "stopping; what was measured is kept (Ctrl-C again: at once)")
            if state.stopped_s is not None and now - state.stopped_s > self.stop_limit_s:
                raise EngineError(f"the engine has not stopped within {self.stop_limit_s:.0f} s")

    def _take(self, state: _Phase, index: int, event: Event) -> None:
        match event["event"]:
            case "interval" if event.get("phase") == state.name:
                state.take(index, event)
                self.show.update(Live.of(state.newest.values(), state.doing()))
            case "phase_end" if event.get("phase") == state.name:
                state.ends[index] = event
            case "warning":
                self.manifest.warn(str(event.get("kind")), str(event.get("text")))
                self.show.say(f"warning: {event.get('text')}")
            case "exit" if index not in state.ends:
                self._lose(state, index)

    def _lose(self, state: _Phase, index: int) -> None:
        """An engine has gone without an end. If its machine is lost, the others go on to theirs."""
        process = self.fleet.processes[index]
        state.lost[index] = process.failure()
        if process.lost is None or not (state.open or state.ends):
            raise state.lost[index]
        text = f"{process.lost.message}; what engine {index} did in {state.name} is missing from then on"
        self.manifest.event("host lost", text)
        self.manifest.warn("host lost", text)
        self.show.say(f"warning: {text}")

    def _mark(self, state: _Phase, now: float) -> None:
        """Note what has fallen due, until the phase is stopped or an engine has ended it."""
        while state.marks and state.marks[0][0] <= now and not state.ends and state.stopped_s is None:
            _, label = state.marks.pop(0)
            self.manifest.event("mark", label, t_ns=self.fleet.mark(label))

    def _tell_observers(self, state: _Phase) -> None:
        """Let them look, and mark what they want, until the phase is stopped or an engine has ended it."""
        for observer in state.observers:
            if state.ends or state.stopped_s is not None or self.interrupts.requested:
                return  # nothing new is begun
            for label in observer.tick(time.monotonic_ns(), state.newest):
                self.fleet.mark(label)
            if not state.enough and observer.enough(time.monotonic_ns()):
                state.enough = True
                self.manifest.event("enough", f"{state.name} ends: nothing more is to happen in it")
                self.fleet.end_phase()

    def _look(self, state: _Phase, now: float) -> None:
        self.look_after_servers()
        limit = STALL_LIMIT_S if self.testbed.serves() else ALL_DEAD_LIMIT_S
        if state.endless and now - state.answered_s > limit:
            deaths = "; ".join(f"{death.server}: {death.why}" for death in self.dead)
            state.stalled = f"nothing was answered for {limit:.0f} s" + (f" ({deaths})" if deaths else "")
            self._stop(state, state.stalled)

    def look_after_servers(self) -> None:
        """Note servers that have died since the last look; one that came back and died again, once more."""
        self.dead = list(self.testbed.dead())
        for death in self.dead:
            if (death.server, death.life) not in self.told:
                self.told.add((death.server, death.life))
                self.manifest.event("server died", f"{death.server}: {death.why}")
                self.manifest.warn("server died", f"{death.server}: {death.why}")
                self.show.say(f"server {death.server} died: {death.why}")

    def _stop(self, state: _Phase, why: str) -> None:
        if state.stopped_s is None:
            state.stopped_s = time.monotonic()
            self.show.say(why)
            self.manifest.event("stop", why)
            self.fleet.stop()


class _Phase:
    """What is known of the running phase."""

    def __init__(
        self, name: str, engines: int, endless: bool, marks: list[tuple[float, str]],
        observers: Sequence[Observer],
    ) -> None:  # fmt: skip
        self.name, self.engines, self.endless, self.marks = name, engines, endless, marks
        self.observers = observers
        self.ends: dict[int, Event] = {}
        self.lost: dict[int, SteelyardError] = {}
        self.newest: dict[int, Event] = {}
        self.heard_s = self.looked_s = self.answered_s = time.monotonic()
        self.stopped_s: float | None = None
        self.enough = False
        self.stalled = ""

    @property
    def open(self) -> int:
        """How many engines have not ended it."""
        return self.engines - len(self.ends) - len(self.lost)

    def wait_s(self, most_s: float) -> float:
        """How long events may be waited for: no longer than until the next mark, or than observers like."""
        left_s = self.marks[0][0] - time.monotonic() if self.marks and not self.ends else most_s
        asked = [observer.wait_s(time.monotonic_ns()) for observer in self.observers]
        return max(min([left_s, most_s, *asked]), 0.0)

    def doing(self) -> str:
        """What observers say is going on."""
        said = (observer.doing(time.monotonic_ns()) for observer in self.observers)
        return "; ".join(word for word in said if word)

    def take(self, index: int, event: Event) -> None:
        """Keep an engine's newest second."""
        self.newest[index] = event
        if event.get("ok"):
            self.answered_s = time.monotonic()


def _line(ends: list[Event]) -> str:
    """`run: 100,000 operations in 12.3 s, 8,130/s, p99 3.2 ms`; several engines have no p99 in common."""
    summaries: list[dict[str, Any]] = [end.get("summary") or {} for end in ends]
    operations = sum(int(s.get("operations", 0)) for s in summaries)
    seconds = max((float(s.get("seconds", 0)) for s in summaries), default=0.0)
    within = sum(int((s.get("within") or s).get("operations", 0)) for s in summaries)
    failed = sum(sum(s.get("failed", {}).values()) for s in summaries)
    rate = within / max(seconds, 1e-9)
    text = f"{ends[0]['phase']}: {operations:,} operations in {seconds:.1f} s, {rate:,.0f}/s"
    p99 = summaries[0].get("ops", {}).get("TOTAL", {}).get("response", {}).get("p99_ns")
    if len(ends) == 1 and p99:
        text += f", p99 {latency(p99)}"
    return text + (f", {failed:,} failed" if failed else "")
