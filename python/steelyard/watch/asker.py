"""Servers that are asked in a protocol of their own: each has a thread, so that none waits for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from steelyard.watch.inquiry import LATE_S, Answer, Inquiry, NothingToldError, Session
from steelyard.watch.link import LONGEST_PAUSE_S
from steelyard.watch.schedule import next_due
from steelyard.watch.target import WatchTarget

END_WITHIN_S = 0.5
"""How long the end of the sampling waits for answers under way, for all of them together."""
NEVER_NS = 2**63

Deliver = Callable[[int, str, dict[str, float]], None]
"""Told when an answer came (CLOCK_MONOTONIC ns), of whom, and the metrics; by any thread."""


class Asker:
    """One server, asked once a period; broken connections are tried again after 1, 2, 4, 5, 5 ... seconds.

    Args:
        target: the node.
        inquiry: what is asked of it.
        deliver: takes the answers.
        period_ns: between two questions.
    """

    def __init__(self, target: WatchTarget, inquiry: Inquiry, deliver: Deliver, period_ns: int) -> None:
        self.target, self.inquiry = target, inquiry
        self.asked = self.answered = 0
        self.reason = "not asked yet"
        self.cpu_s = 0.0
        self.lacking: Mapping[str, str] = {}
        self.late: dict[str, int] = {}
        self._deliver, self._period_ns = deliver, period_ns
        self._pause_s, self._retry_ns = 1.0, 0
        self._session: Session | None = None
        self._under_way_ns: int | None = None
        self._ended, self._ended_ns = threading.Event(), NEVER_NS
        name = f"steelyard-ask-{target.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin; the first question is asked at once."""
        self._thread.start()

    def end(self) -> None:
        """Ask no more; of what is under way the answer is taken if it comes."""
        self._ended_ns = min(self._ended_ns, time.monotonic_ns())
        self._ended.set()

    def join(self, most_s: float) -> None:
        """Wait a moment for an answer under way; a thread that waits for longer ends by itself."""
        if self._thread.is_alive():
            self._thread.join(most_s)

    @property
    def gaps(self) -> tuple[int, int, str]:
        """How many samples have no answer, of how many, and why; one that is still awaited counts only when
        the next is due, or if there was no answer at all."""
        asked, why, since_ns = self.asked, self.reason, self._under_way_ns
        if since_ns is not None and (waits := max(self._missed(since_ns), not self.answered)):
            asked, why = asked + waits, f"no answer for {(time.monotonic_ns() - since_ns) / 1e9:.1f} s"
        return max(asked - self.answered, 0), asked, why

    def _run(self) -> None:
        due_ns = time.monotonic_ns()
        while not self._ended.wait(max(0, due_ns - time.monotonic_ns()) / 1e9):
            answered, self._under_way_ns = self.answered, due_ns
            going_on = time.monotonic_ns() < self._retry_ns or self._ask()
            following_ns = next_due(due_ns, self._period_ns, time.monotonic_ns())
            samples = (following_ns - due_ns) // self._period_ns
            if self._ended.is_set():
                samples = max(self._missed(due_ns), self.answered - answered, not self.answered)
            self.asked, self._under_way_ns = self.asked + samples, None
            if not going_on:
                break
            due_ns = following_ns
        self._close()

    def _missed(self, since_ns: int) -> int:
        """How many samples from one on were over before the next, now or when nobody asked any more."""
        return (min(time.monotonic_ns(), self._ended_ns) - since_ns) // self._period_ns

    def _ask(self) -> bool:
        """Ask once; returns whether there is any sense in asking again."""
        try:
            if self._session is None:
                self._session = self.inquiry.open()
            self.answered += self._take_all(self._session)
            self.lacking = dict(self._session.lacking)
        except NothingToldError as untold:
            self.reason = str(untold)
            return False
        except Exception as error:  # whatever a server says or does, sampling and the trial go on
            self._fail(str(error) or type(error).__name__)
            return True
        finally:
            with suppress(OSError):
                self.cpu_s = time.thread_time()
        return True

    def _take_all(self, session: Session) -> bool:
        """Pass answers on as they come, until nobody asks any more; whether any came in time."""
        in_time = False
        for answer in session.ask():
            in_time |= self._take(answer)
            if self._ended.is_set():
                break
        return in_time

    def _take(self, answer: Answer) -> bool:
        self._pause_s = 1.0
        if answer.late:
            self.reason = f"an answer took {answer.took_s:.1f} s"
            self.late[answer.what] = self.late.get(answer.what, 0) + 1
        else:
            self._deliver(answer.came_ns, self.target.name, dict(answer.values))
        return not answer.late

    def _fail(self, reason: str) -> None:
        self.reason = reason
        self._close()
        # a little less than the pause, so that the tick at its end is not missed
        self._retry_ns = time.monotonic_ns() + round((self._pause_s - 0.05) * 1e9)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    def _close(self) -> None:
        if self._session is not None:
            with suppress(OSError):
                self._session.close()
        self._session = None


class Askers:
    """All servers that are asked by threads.

    Args:
        deliver: takes the answers.
        period_ns: between two questions to one server.
    """

    def __init__(self, deliver: Deliver, period_ns: int) -> None:
        self._deliver, self._period_ns = deliver, period_ns
        self._now: list[Asker] = []
        self._before: list[Asker] = []

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        """Ask these nodes, and no others; those that are asked already go on without a gap."""
        gone = [asker for asker in self._now if asker.target not in targets]
        kept = [asker for asker in self._now if asker.target in targets]
        known = [asker.target for asker in kept]
        new = [
            Asker(target, inquiry, self._deliver, self._period_ns)
            for target in targets
            if target not in known
            for inquiry in target.inquiries
        ]
        for asker in gone:
            asker.end()
        for asker in new:
            asker.start()
        self._before, self._now = [*self._before, *gone], [*kept, *new]

    def stop(self) -> None:
        """Ask nobody any more."""
        for asker in self._now:
            asker.end()
        until_s = time.monotonic() + END_WITHIN_S
        for asker in self._now:
            asker.join(max(0.0, until_s - time.monotonic()))

    @property
    def cpu_s(self) -> float:
        """CPU that their threads have used."""
        return sum(asker.cpu_s for asker in [*self._before, *self._now])

    @property
    def missing(self) -> dict[str, str]:
        """`SOURCE.WHAT` -> why it could not be had, or not at every question."""
        found: dict[str, str] = {}
        for asker in [*self._before, *self._now]:
            name = f"{asker.target.name}.{asker.inquiry.what}"
            late = {
                what: f"no answer to questions within {LATE_S:g} s: {count}"
                for what, count in dict(asker.late).items()
                if what not in asker.lacking
            }
            found |= {f"{name} ({what})": why for what, why in {**asker.lacking, **late}.items()}
            gaps, asked, why = asker.gaps
            if gaps:
                share = f"no answer to {gaps} of {asked} samples" if asker.answered else "never answered"
                found[name] = f"{share}: {why}"
        return found
