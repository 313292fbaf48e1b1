"""The stages that follow the load: warm-up, search, run with its timeline, audit, search again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from steelyard.lab.observer import Observer
from steelyard.lab.phase import PhaseRunner
from steelyard.lab.search.probes import find_rate
from steelyard.spec.load import Load
from steelyard.spec.plan import AUDIT, RUN, WARMUP

Timed = Callable[[str], AbstractContextManager[None]]
"""Notes how long what is inside takes, under a name."""


class Stages:
    """Drives them one after the other.

    Args:
        load: which there are.
        runner: runs phases.
        timed: notes how long a stage takes.
        observers: of the run, made when it is about to begin.
    """

    def __init__(
        self, load: Load, runner: PhaseRunner, timed: Timed, observers: Callable[[], Sequence[Observer]]
    ) -> None:
        self._load, self._runner, self._timed, self._observers = load, runner, timed, observers
        self._rate: float | None = None

    def drive(self) -> None:
        """All of them, in their order. Raises as a phase does."""
        load, search = self._load, self._load.search
        if load.warmup_s:
            self._runner.phase(WARMUP, counts=True, endless=False)
        if search:
            with self._timed("search"):
                self._rate = search.share * find_rate(self._runner, search)
        self._run()
        if load.audit:
            with self._timed("audit"):
                again = search is not None and search.again
                self._runner.phase(AUDIT, counts=False, endless=True, needed=again)
        if search and search.again:
            with self._timed("search_after"):
                find_rate(self._runner, search, after=True)

    def _run(self) -> None:
        load, observers = self._load, self._observers()
        with self._timed("run"):
            self._runner.phase(
                RUN, counts=True, endless=load.duration_s is None, rate=self._rate, marks=load.marks,
                observers=observers,
            )  # fmt: skip
