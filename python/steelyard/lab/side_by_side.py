"""Trials on several benches at once: a thread waits for each, and the first one for signals."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from steelyard.errors import Interrupted, SteelyardError
from steelyard.hosts.host import HostLostError
from steelyard.lab.blocks import Blocks, Given
from steelyard.lab.hopeless import HOPELESS
from steelyard.lab.remote_bench import RemoteBench
from steelyard.lab.signals import Interrupts

SIGNAL_S = 0.25
"""Python handles a signal in its first thread only, which looks so often whether one has come."""

Run = Callable[[RemoteBench, Given], SteelyardError | None]
"""Runs a trial on a bench, and says what went wrong the last time; raises HostLostError."""


class SideBySide:
    """Runs trials on benches until there are none left.

    Args:
        benches: where; one that is lost runs nothing more.
        blocks: which.
        run: how.
    """

    def __init__(self, benches: Sequence[RemoteBench], blocks: Blocks, run: Run) -> None:
        self._benches, self._blocks, self._run = benches, blocks, run
        self._faults: list[BaseException] = []
        self.failed: list[SteelyardError] = []
        """Errors of trials."""
        self.lost: list[SteelyardError] = []
        """Errors of hosts that were lost; what they ran, others have run, if any was left."""

    def until_done(self, interrupts: Interrupts) -> bool:
        """Run all; at each signal every bench is told. Returns whether nothing is left.

        Raises:
            Exception: a fault in a thread.
        """
        threads = [
            threading.Thread(target=self._work, args=(bench,), name=f"bench-{bench.name}", daemon=True)
            for bench in self._benches
        ]
        for thread in threads:
            thread.start()
        told = 0
        while running := [thread for thread in threads if thread.is_alive()]:
            running[0].join(SIGNAL_S)
            if interrupts.count > told:
                told = interrupts.count
                self._stop()
        if self._faults:
            raise self._faults[0]
        return not self._blocks.left()

    def _stop(self) -> None:
        self._blocks.stop()
        for bench in self._benches:
            bench.stop()

    def _work(self, bench: RemoteBench) -> None:
        """Run what this bench is given; a thread of its own."""
        try:
            while given := self._blocks.take(bench.name):
                if error := self._run(bench, given):
                    self.failed.append(error)
                if isinstance(error, (*HOPELESS, Interrupted)):
                    self._blocks.stop()
            bench.release()
        except HostLostError as lost:
            self.lost.append(lost)
            self._blocks.lost(bench.name)
        except BaseException as fault:  # it is raised where the benches were started
            self._faults.append(fault)
            self._blocks.lost(bench.name)
            self._stop()
