"""Ctrl-C, SIGTERM and SIGHUP, with a meaning that depends on what is going on.

While bringing up: stop at once. While measuring: the first asks for an orderly stop, the second stops at
once. While taking down: nothing is cut short, or a server would stay behind.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal

from steelyard.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Mode = Literal["raise", "note", "shield"]


class Interrupts:
    """Handlers of the signals, installed inside a `with`; unless told otherwise they only count.

    Attributes:
        count: signals received.
        aborted: whether work was cut short at once.
    """

    def __init__(self) -> None:
        self.count = 0
        self.aborted = False
        self._mode: Mode = "shield"
        self._before: dict[signal.Signals, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether anyone asked to stop."""
        return self.count > 0

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                    continue  # under nohup
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Inside, a signal raises Interrupted at once."""
        with self._in("raise"):
            self.check()
            yield

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Inside, the first signal is only noted."""
        with self._in("note"):
            yield

    @contextmanager
    def _in(self, mode: Mode) -> Iterator[None]:
        before, self._mode = self._mode, mode
        try:
            yield
        finally:
            self._mode = before

    def check(self) -> None:
        """Raise Interrupted when anyone has asked to stop."""
        if self.requested:
            raise Interrupted("interrupted")

    def check_aborted(self) -> None:
        """Raise Interrupted when the second signal has come, also where what it raised was swallowed."""
        if self.aborted:
            raise Interrupted("interrupted")

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self._mode == "raise" or (self._mode == "note" and self.count > 1):
            self.aborted = self._mode == "note"
            self._mode = "shield"  # what is taken down on the way out must not be cut short
            raise Interrupted("interrupted")
