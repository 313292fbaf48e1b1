"""Highest rates that points share: each is found once, on a cluster of its own, before any trial needs it.

A search is a trial whose run offers, for as long as a probe, the rate that was found; it leaves a folder like
one, `rates/NNN`. Found in an earlier part of the run, a rate is not searched again.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.path import Engine
from steelyard.errors import InfrastructureError, Interrupted, SteelyardError
from steelyard.hosts.host import Host
from steelyard.lab.datasets import DataSets
from steelyard.lab.lease import Lease
from steelyard.lab.progress import Show
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.results.clock import now_text
from steelyard.results.disk import writing
from steelyard.results.store import RunFolder
from steelyard.spec.models import Study, Trial
from steelyard.spec.rates import first_of_each, rate_key, share_of
from steelyard.systems import create

TRIES = 2
"""A search that failed is made once more, as a trial is."""


class SharedRates:
    """Finds the rates of a study, and gives each trial its share.

    Args:
        folder: the run; holds what was found.
        study: says how they are found.
        data_sets: with `reset = "restore"`, the data that a search begins with.
        host, engine, show, interrupts: as of `TrialRun`.
    """

    def __init__(  # noqa: PLR0917
        self, folder: RunFolder, study: Study, data_sets: DataSets, host: Host, engine: Engine, show: Show,
        interrupts: Interrupts,
    ) -> None:  # fmt: skip
        self.folder, self.study, self.data_sets = folder, study, data_sets
        self.host, self.engine, self.show, self.interrupts = host, engine, show, interrupts
        self.errors: dict[tuple[str, str], SteelyardError] = {}

    def find(self, pending: list[Trial]) -> None:
        """Find the rates that these trials need and that are not known.

        Raises:
            Interrupted: the user stopped it. What else goes wrong, `offering` raises for each trial.
        """
        for (name, key), trial in first_of_each(self.study, pending).items():
            for _ in range(TRIES):
                self.interrupts.check()
                if self._row(name, key) is None:
                    self._find(name, key, trial)

    def offering(self, trial: Trial) -> tuple[Trial, dict[str, Any]]:
        """The trial with its share as a rate, and what its manifest says of that; of another trial nothing.

        Raises:
            SteelyardError: why its rate was not found.
        """
        share = share_of(trial)
        if share is None:
            return trial, {}
        key = rate_key(trial, self.study.rates[share.of])
        row = self._row(share.of, key)
        if row is None:
            raise self.errors[share.of, key]
        load = trial.load.offering(share.share * row["found_per_s"])
        said = {"of": share.of, "share": share.share, **{n: row[n] for n in ("found_per_s", "folder")}}
        return trial.model_copy(update={"load": load}), said

    def _row(self, name: str, key: str) -> dict[str, Any] | None:
        return next((r for r in self.folder.rates if (r["rate"], r["key"]) == (name, key)), None)

    def _find(self, name: str, key: str, trial: Trial) -> None:
        where = trial.label or trial.system.kind
        self.show.say(f"rate {name} is found once for all trials like {where}")
        path = self.folder.open_rate()
        run = self._run(
            trial.model_copy(update={"load": trial.load.searching(self.study.rates[name]), "timeline": ()}),
            path,
        )
        if run.written:
            with writing(self.folder.path):
                path = path.rename(path.with_suffix(""))
        found = (run.manifest.search or {}).get("found_per_s")
        if isinstance(run.error, Interrupted):
            raise run.error
        if found is None or run.error:
            self.errors[name, key] = run.error or InfrastructureError(f"rate {name} was not found")
            self.show.say(f"rate {name} was not found: {self.errors[name, key].message}")
            return
        self.folder.note_rate(
            {
                "rate": name,
                "key": key,
                "point": trial.point,
                "found_per_s": found,
                "reason": (run.manifest.search or {}).get("reason"),
                "probes": len((run.manifest.search or {}).get("probes", ())),
                "folder": f"{path.parent.name}/{path.name}",
                "time": now_text(),
            }
        )

    def _run(self, trial: Trial, path: Path) -> TrialRun:
        root = self.folder.path / "work" / "rate"
        name = f"{self.study.name[:18]}-rate{trial.number}-{os.getpid()}"
        testbed = create(trial.system, name=name, root=root, host=self.host)
        lease = Lease(empties=self.study.reset == "truncate")
        if self.study.reset == "restore":
            lease.origin = self.data_sets.provide(trial, testbed)
        run = TrialRun(
            trial=trial, folder=path, testbed=testbed, host=self.host, engine=self.engine, show=self.show,
            interrupts=self.interrupts, since_ns=time.monotonic_ns(), lease=lease,
            cold=self.study.cache == "cold",
        )  # fmt: skip
        run.run()
        with suppress(OSError):
            root.rmdir()
            root.parent.rmdir()
        return run
