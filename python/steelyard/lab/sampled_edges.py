"""Servers are read where a phase begins and where it ends: what an operation cost them rests on these two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from steelyard.engine.session import Event
from steelyard.hosts.host import Watch


class SampledEdges:
    """An `Observer` that has samples taken from a phase's first moment on, and once more at its end.

    Samples of every second would leave up to a second at either end to be guessed between two of them: of a
    phase of three seconds that is as much as a tenth of what servers did in it.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def begin(self, at_ns: int, engines: int) -> None:  # noqa: ARG002
        """See `Observer`."""
        self._watch.sample_from(at_ns)

    def tick(self, now_ns: int, newest: Mapping[int, Event]) -> Sequence[str]:  # noqa: ARG002
        """See `Observer`."""
        return ()

    def enough(self, now_ns: int) -> bool:  # noqa: ARG002
        """See `Observer`."""
        return False

    def wait_s(self, now_ns: int) -> float:  # noqa: ARG002
        """See `Observer`."""
        return math.inf

    def doing(self, now_ns: int) -> str:  # noqa: ARG002
        """See `Observer`."""
        return ""

    def end(self, now_ns: int) -> None:
        """See `Observer`."""
        self._watch.sample_from(now_ns)
