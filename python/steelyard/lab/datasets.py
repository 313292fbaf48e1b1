"""The data sets of a study whose trials begin with kept data: each is loaded once, on a cluster of its own.

What is found from an earlier run is not loaded at all. A load is a trial without a run: it leaves a folder
like one, `loads/NNN` of the run in which it was made.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.path import Engine
from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.hosts.host import Host
from steelyard.hosts.snapshots import Snapshot
from steelyard.lab.lease import Lease
from steelyard.lab.progress import Show
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.results.clock import now_text
from steelyard.results.disk import writing
from steelyard.spec.dataset import data_set, key
from steelyard.spec.estimate import SPARE
from steelyard.spec.models import Trial
from steelyard.spec.trials import data_bytes
from steelyard.systems import create
from steelyard.systems.base import Testbed
from steelyard.systems.capabilities import snapshots


class DataSets:
    """Gives each trial the snapshot it begins with.

    Args:
        run: the run's folder.
        name: names the clusters on which data are loaded.
        host: where the data are kept, and the servers run.
        engine: the binary; what it stores is part of what a data set is.
        show: receives progress.
        interrupts: the signals, installed.
    """

    def __init__(  # noqa: PLR0917
        self, run: Path, name: str, host: Host, engine: Engine, show: Show, interrupts: Interrupts
    ) -> None:
        self.run, self.name, self.host, self.engine = run, name, host, engine
        self.show, self.interrupts = show, interrupts

    def provide(self, trial: Trial, testbed: Testbed) -> Snapshot | SteelyardError:
        """The snapshot of a trial's data set, loaded now if there is none yet; or why there is none.

        Args:
            trial: what is to be measured.
            testbed: its system, not up; tells what of it shapes the data.
        """
        shape = {
            **data_set(trial, trial.seed),
            "result": snapshots(testbed).shaped_by(),
            "engine": self.engine.source_hash,
        }
        name = key(shape)
        try:
            if found := self.host.snapshot(name):
                self.show.say(f"data set {name} is kept since {found.load['created']}: nothing is loaded")
                return found
            return self._load(trial, name, shape)
        except SteelyardError as error:
            return error

    def _load(self, trial: Trial, name: str, shape: Mapping[str, Any]) -> Snapshot:
        """Load a data set on a cluster of its own, and keep it.

        Raises:
            SteelyardError: what went wrong; the load's folder tells more.
        """
        self._check_room(trial)
        self.show.say(f"data set {name} is loaded once, and kept for all trials that need it")
        root, folder = self.run / "work" / "load", self._folder(trial)
        cluster = f"{self.name[:18]}-load{trial.number}-{os.getpid()}"
        testbed = create(trial.system, name=cluster, root=root, host=self.host)
        run = TrialRun(
            trial=_loading(trial),
            folder=folder,
            testbed=testbed,
            host=self.host,
            engine=self.engine,
            show=self.show,
            interrupts=self.interrupts,
            since_ns=time.monotonic_ns(),
            several=True,
        )
        kept: list[Snapshot] = []

        def keep(stored: int) -> None:
            if stored < trial.workload.records:
                raise InfrastructureError(
                    f"only {stored} of {trial.workload.records} records were stored: that is not kept"
                )
            load = {
                "id": run.lease.load_id,
                "created": now_text(),
                "records": stored,
                "seconds": round(run.manifest.timing["load"], 3),
                "run": str(self.run),
            }
            kept.append(snapshots(testbed).keep(name, load, shape, self.show.say))

        run.lease = Lease(after_load=keep)
        run.run()
        if run.written:
            with writing(self.run):
                folder.rename(folder.with_suffix(""))
        with suppress(OSError):
            root.rmdir()
            root.parent.rmdir()
        if not kept:
            raise run.error or InfrastructureError(f"data set {name} was not kept")
        return kept[0]

    def _check_room(self, trial: Trial) -> None:
        """See, before hours are spent, that there is room for what is loaded and kept."""
        loaded = data_bytes(trial)
        self.host.check_room(self.run, round(loaded * SPARE), loaded)

    def _folder(self, trial: Trial) -> Path:
        """A new folder for a load: of trial 3 it is `loads/003.partial`, or `003-2` if that has been."""
        loads = self.run / "loads"
        names = (f"{trial.number:03d}", *(f"{trial.number:03d}-{n}" for n in range(2, 1000)))
        name = next(n for n in names if not (loads / n).exists() and not (loads / f"{n}.partial").exists())
        with writing(self.run):
            (loads / f"{name}.partial").mkdir(parents=True)
        return loads / f"{name}.partial"


def _loading(trial: Trial) -> Trial:
    """The trial that only loads what another one needs, with a load's clients."""
    return trial.model_copy(update={"load": trial.load.loading(), "timeline": ()})
