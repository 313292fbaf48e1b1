"""Which bench runs which trials: all points of a repetition on one, so that they are compared within a host.

A block is what stays together: a repetition, or where trials share clusters all that one start of them has.
Benches take blocks as they become free, and keep what they have begun, also when a study goes on later; only
when a bench is lost do others go on with its blocks. Nothing is run here.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steelyard.errors import InputError
from steelyard.spec.models import Study, Trial
from steelyard.spec.trials import block_of


class Given(NamedTuple):
    """What a bench is to run next, and whether the trial after it has the same cluster."""

    trial: Trial
    keep: bool


class Blocks:
    """Gives trials to benches; safe to use from several threads.

    Args:
        study: says what a block is.
        pending: the trials that are to be run, in their order.
        benches: their names.
        homes: block -> the bench that has run a part of it before; one that is not there any more counts for
            nothing.
    """

    def __init__(
        self, study: Study, pending: Sequence[Trial], benches: Sequence[str], homes: Mapping[int, str]
    ) -> None:
        self._study = study
        self._left: dict[int, list[Trial]] = {}
        for trial in pending:
            self._left.setdefault(block_of(study, trial), []).append(trial)
        self._home = {block: name for block, name in homes.items() if name in benches}
        self._at: dict[str, int] = {}
        self._running: dict[str, Trial] = {}
        self._stopped = False
        self._changed = threading.Condition()

    def take(self, bench: str) -> Given | None:
        """What it runs next; waits where another one that is lost may leave something. None = no more."""
        with self._changed:
            self._running.pop(bench, None)
            self._changed.notify_all()
            while not self._stopped:
                if (block := self._next(bench)) is not None:
                    return self._give(bench, block)
                if not self._running:
                    break
                self._changed.wait()
            self._changed.notify_all()
            return None

    def lost(self, bench: str) -> None:
        """A bench is lost: what it ran, and what is left of its blocks, is for others."""
        with self._changed:
            trial = self._running.pop(bench, None)
            if trial is not None:
                self._left.setdefault(block_of(self._study, trial), []).insert(0, trial)
            self._home = {block: name for block, name in self._home.items() if name != bench}
            self._changed.notify_all()

    def stop(self) -> None:
        """Nothing more is given."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def left(self) -> list[int]:
        """Numbers of the trials that are not done."""
        with self._changed:
            waiting = [trial for trials in self._left.values() for trial in trials]
            return [trial.number for trial in (*self._running.values(), *waiting)]

    def _next(self, bench: str) -> int | None:
        """The block to go on with: its own, one of its own that was begun, or one that nobody has begun."""
        mine = [block for block in self._left if self._home.get(block) == bench]
        mine.sort(key=lambda block: block != self._at.get(bench))
        free = [block for block in self._left if block not in self._home]
        return next(iter((*mine, *free)), None)

    def _give(self, bench: str, block: int) -> Given:
        trials = self._left[block]
        trial = trials.pop(0)
        keep = bool(trials) and trials[0].group == trial.group
        if not trials:
            del self._left[block]
        self._home[block], self._at[bench], self._running[bench] = bench, block, trial
        return Given(trial, keep)


def check_blocks(study: Study, planned: Sequence[Trial], benches: int) -> None:
    """See that every bench has something to do.

    Raises:
        InputError: there are fewer blocks.
    """
    count = len({block_of(study, trial) for trial in planned})
    if count < benches:
        shared = study.reset in ("truncate", "none")
        unit = f"start{'s' * (count > 1)} of its clusters" if shared else f"repetition{'s' * (count > 1)}"
        raise InputError(
            f"--benches {benches}: the study has {count} {unit}, and each stays whole on one bench",
            hint=f"--benches {count}" if count > 1 else f"--set {'starts' if shared else 'repetitions'}=6",
        )
