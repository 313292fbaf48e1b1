"""Servers that are asked in a protocol of their own: each has a thread, so that none waits for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from steelyard.watch.inquiry import Inquiry, NothingToldError, Session
from steelyard.watch.link import LONGEST_PAUSE_S
from steelyard.watch.schedule import next_due
from steelyard.watch.target import WatchTarget

LATE_S = 1.0
"""An answer that took longer is thrown away: nobody knows of which second it is."""
END_WITHIN_S = 0.5
"""How long the end of the sampling waits for an answer under way."""

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
        self._deliver, self._period_ns = deliver, period_ns
        self._pause_s, self._retry_ns = 1.0, 0
        self._session: Session | None = None
        self._ended = threading.Event()
        name = f"steelyard-ask-{target.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin; the first question is asked at once."""
        self._thread.start()

    def end(self) -> None:
        """Ask no more; what is under way is let go."""
        self._ended.set()

    def join(self) -> None:
        """Wait a moment for an answer under way; a thread that waits for longer ends by itself."""
        if self._thread.is_alive():
            self._thread.join(END_WITHIN_S)

    def _run(self) -> None:
        due_ns, samples = time.monotonic_ns(), 1
        while not self._ended.wait(max(0, due_ns - time.monotonic_ns()) / 1e9):
            self.asked += samples
            if time.monotonic_ns() >= self._retry_ns and not self._ask():
                break
            following_ns = next_due(due_ns, self._period_ns, time.monotonic_ns())
            samples = (following_ns - due_ns) // self._period_ns
            due_ns = following_ns
        self._close()

    def _ask(self) -> bool:
        """Ask once; returns whether there is any sense in asking again."""
        began_ns = time.monotonic_ns()
        try:
            if self._session is None:
                self._session = self.inquiry.open()
                began_ns = time.monotonic_ns()
            values = self._session.ask()
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
        self._take(began_ns, values)
        return True

    def _take(self, began_ns: int, values: dict[str, float]) -> None:
        self._pause_s, now_ns = 1.0, time.monotonic_ns()
        if self._ended.is_set():
            return
        if now_ns - began_ns > LATE_S * 1e9:
            self.reason = f"an answer took {(now_ns - began_ns) / 1e9:.1f} s"
            return
        self.answered += 1
        self._deliver(now_ns, self.target.name, values)

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
        for asker in self._now:
            asker.join()

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
            found |= {f"{name} ({what})": why for what, why in asker.lacking.items()}
            if gaps := asker.asked - asker.answered:
                share = (
                    f"no answer to {gaps} of {asker.asked} samples" if asker.answered else "never answered"
                )
                found[name] = f"{share}: {asker.reason}"
        return found
