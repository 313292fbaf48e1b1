"""Writes that go on beside a test, on a thread of their own, until it has done what it wanted to."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class BackgroundWriter(ABC):
    """Writes inside a `with`.

    Attributes:
        _stop: set when it is enough.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()

    @contextmanager
    def writing(self) -> Iterator[Self]:
        """It goes on for as long as the `with` lasts."""
        thread = threading.Thread(target=self._write)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    @abstractmethod
    def _write(self) -> None:
        """Write until `_stop` is set."""
