"""A machine with its whole testbed: runs one trial after the other, each into a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from steelyard.engine.path import Engine
from steelyard.errors import SteelyardError
from steelyard.hosts.host import Host
from steelyard.lab.datasets import DataSets
from steelyard.lab.lease import Lease
from steelyard.lab.progress import Show
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.spec.models import DROPS_CACHE, Study, Trial
from steelyard.spec.trials import APART
from steelyard.systems import create
from steelyard.systems.base import Testbed

if TYPE_CHECKING:  # it is not needed where engines run here
    from steelyard.lab.load_hosts import LoadHosts


@dataclass(frozen=True)
class Ran:
    """What became of a trial.

    Attributes:
        status, reason: as its manifest says.
        error: what went wrong.
        written: whether its manifest is complete.
    """

    status: str
    reason: str | None
    error: SteelyardError | None
    written: bool


class Bench(Protocol):
    """Where trials run."""

    @property
    def name(self) -> str | None:
        """Its machine's; None = the laboratory's own, which needs none."""

    def run(self, trial: Trial, folder: Path, rate: Mapping[str, Any], since_ns: int, *, keep: bool) -> Ran:
        """Run a trial.

        Args:
            trial: what to measure.
            folder: its folder, made.
            rate: what its manifest says of the shared rate that it offers; empty = nothing.
            since_ns: when the wait for its first operation began, CLOCK_MONOTONIC of this machine.
            keep: its cluster is kept for the next trial.
        """

    def release(self) -> None:
        """Take down the cluster that was kept for trials which do not come any more."""


@dataclass
class _Held:
    """The cluster of a group of trials."""

    group: int
    root: Path
    testbed: Testbed
    lease: Lease


class LocalBench:
    """This machine.

    Args:
        root: a folder for what trials share: clusters at work, and loads of data.
        study: says how trials follow each other.
        host, engine, show, interrupts, load_hosts: as of `TrialRun`.
    """

    name = None

    def __init__(  # noqa: PLR0917
        self, root: Path, study: Study, host: Host, engine: Engine, show: Show, interrupts: Interrupts,
        load_hosts: LoadHosts | None = None,
    ) -> None:  # fmt: skip
        self.root, self.study, self.host, self.engine = root, study, host, engine
        self.show, self.interrupts, self.load_hosts = show, interrupts, load_hosts
        self.data_sets = DataSets(root, study.name, host, engine, show, interrupts)
        self._held: _Held | None = None

    def run(self, trial: Trial, folder: Path, rate: Mapping[str, Any], since_ns: int, *, keep: bool) -> Ran:
        """See `Bench`."""
        held = self._hold(trial, folder)
        held.lease.keep = keep
        held.lease.loaded = held.lease.loaded and self.study.reset == "none"
        if self.study.reset == "restore":
            held.lease.origin = self.data_sets.provide(trial, held.testbed)
        run = TrialRun(
            trial=trial,
            folder=folder,
            testbed=held.testbed,
            host=self.host,
            engine=self.engine,
            show=self.show,
            interrupts=self.interrupts,
            since_ns=since_ns,
            lease=held.lease,
            cold=self.study.cache in DROPS_CACHE,
            load_hosts=self.load_hosts,
            several=len(self.study.cells) * self.study.repetitions > 1,
        )
        run.manifest.rate = dict(rate)
        manifest = run.run()
        return Ran(manifest.status, manifest.reason, run.error, run.written)

    def _hold(self, trial: Trial, folder: Path) -> _Held:
        """The cluster for a trial: that of its group, or a new one."""
        if self._held is None or self._held.group != trial.group:
            self.release()
            root = folder / "work" if self.study.reset in APART else self.root / "work" / str(trial.group)
            testbed = create(trial.system, name=cluster_name(self.study, trial), root=root, host=self.host)
            lease = Lease(empties=self.study.reset == "truncate")
            self._held = _Held(trial.group, root, testbed, lease)
        elif self.study.reset in APART:  # once more: the folder before was set aside
            name = cluster_name(self.study, trial)
            self._held.testbed = create(trial.system, name=name, root=folder / "work", host=self.host)
        else:
            self._held.testbed.next_client(trial.system)
        return self._held

    def release(self) -> None:
        """See `Bench`."""
        if self._held is None:
            return
        if self._held.lease.up:
            self._held.testbed.down(self.show.say)
        if self.study.reset not in APART:
            with suppress(OSError):
                self._held.root.rmdir()
                self._held.root.parent.rmdir()
        self._held = None


def cluster_name(study: Study, trial: Trial) -> str:
    """A name for the trial's system: short, and unlike any other on this host."""
    return f"{study.name[:24]}-{trial.number}-{os.getpid()}"
