"""Highest rates that points share: each is found once, on a cluster of its own, before any trial needs it.

A search is a trial whose run offers, for as long as a probe, the rate that was found; it leaves a folder like
one, `rates/NNN`. Found in an earlier part of the run, a rate is not searched again.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.engine.path import Engine
from steelyard.errors import InfrastructureError, Interrupted, SteelyardError
from steelyard.hosts.host import Host
from steelyard.lab.datasets import DataSets
from steelyard.lab.hopeless import HOPELESS
from steelyard.lab.lease import Lease
from steelyard.lab.progress import Show
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.results.clock import now_text
from steelyard.results.disk import writing
from steelyard.results.store import RunFolder
from steelyard.spec.models import DROPS_CACHE, Study, Trial
from steelyard.spec.rates import first_of_each, of_size, rate_key, share_of, sizes_of
from steelyard.systems import create

if TYPE_CHECKING:  # it is not needed where engines run here
    from steelyard.lab.load_hosts import LoadHosts

TRIES = 2
"""A search that failed is made once more, as a trial is; unless it would fail again."""


class RateNotFoundError(InfrastructureError):
    """A trial is not run, since the rate of which it offers a share was not found.

    Args:
        rate: its name.
        why: what went wrong when it was searched; the exit code is that one's.
    """

    def __init__(self, rate: str, why: SteelyardError) -> None:
        super().__init__(f"not run, as rate {rate} was not found: {why.message}", hint=why.hint)
        self.exit_code = why.exit_code


class SharedRates:
    """Finds the rates of a study, and gives each trial its share.

    Args:
        folder: the run; holds what was found.
        study: says how they are found.
        data_sets: with `reset = "restore"`, the data that a search begins with.
        host, engine, show, interrupts, load_hosts: as of `TrialRun`.
    """

    def __init__(  # noqa: PLR0917
        self, folder: RunFolder, study: Study, data_sets: DataSets, host: Host, engine: Engine, show: Show,
        interrupts: Interrupts, load_hosts: LoadHosts | None = None,
    ) -> None:  # fmt: skip
        self.load_hosts = load_hosts
        self.folder, self.study, self.data_sets = folder, study, data_sets
        self.host, self.engine, self.show, self.interrupts = host, engine, show, interrupts
        self.errors: dict[tuple[str, str], SteelyardError] = {}

    def find(self, pending: list[Trial]) -> None:
        """Find the rates that these trials need and that are not known.

        Raises:
            Interrupted: the user stopped it. What else goes wrong, `offering` raises for each trial.
        """
        for (name, key), trial in first_of_each(self.study, pending).items():
            for more in reversed(range(TRIES)):
                self.interrupts.check()
                error = self.errors.get((name, key))
                if self._row(name, key) is None and not isinstance(error, HOPELESS):
                    self._find(name, key, trial, more=more > 0)
            if self._row(name, key) is None:
                without = ", ".join(str(t.number) for t in pending if (name, key) in self._needs(t))
                self.show.say(f"not run, as rate {name} was not found: trial {without}")

    def offering(self, trial: Trial) -> tuple[Trial, dict[str, Any]]:
        """The trial with its share as a rate, and what its manifest says of that; of another trial nothing.

        Raises:
            RateNotFoundError: its rate was not found.
        """
        share = share_of(trial)
        if share is None:
            return trial, {}
        key = rate_key(trial, self.study.rates[share.of])
        row = self._row(share.of, key)
        if row is None:
            raise RateNotFoundError(share.of, self.errors[share.of, key])
        load = trial.load.offering(share.share * row["found_per_s"])
        said = {"of": share.of, "share": share.share, **{n: row[n] for n in ("found_per_s", "folder")}}
        return trial.model_copy(update={"load": load}), said | self._capacity(share.of, trial)

    def _capacity(self, rate: str, trial: Trial) -> dict[str, Any]:
        """[nodes, rate] of each number of nodes that a controller may choose, for the manifest."""
        found = []
        for nodes in sizes_of(self.study, trial):
            key = rate_key(of_size(trial, nodes), self.study.rates[rate])
            row = self._row(rate, key)
            if row is None:
                raise RateNotFoundError(rate, self.errors[rate, key])
            found.append([nodes, row["found_per_s"]])
        return {"capacity": found} if found else {}

    def _needs(self, trial: Trial) -> set[tuple[str, str]]:
        """The names and keys of the rates without which a trial is not run."""
        return {*first_of_each(self.study, [trial])}

    def _row(self, name: str, key: str) -> dict[str, Any] | None:
        return next((r for r in self.folder.rates if (r["rate"], r["key"]) == (name, key)), None)

    def _find(self, name: str, key: str, trial: Trial, *, more: bool) -> None:
        where = trial.label or trial.system.kind
        if sizes_of(self.study, trial):
            where += f", on {getattr(trial.system, 'nodes', 1)} nodes"
        self.show.say(f"rate {name} is found once for all trials like {where}")
        try:
            search, folder = self._search(name, trial)
            self.folder.note_rate(
                {
                    "rate": name,
                    "key": key,
                    "point": trial.point,
                    "found_per_s": search["found_per_s"],
                    "reason": search.get("reason"),
                    "probes": len(search.get("probes", ())),
                    "folder": folder,
                    "time": now_text(),
                }
            )
        except Interrupted:
            raise
        except SteelyardError as error:
            self.errors[name, key] = error
            again = "; it is searched once more" if more and not isinstance(error, HOPELESS) else ""
            self.show.say(f"rate {name} was not found: {error.message}{again}")

    def _search(self, name: str, trial: Trial) -> tuple[dict[str, Any], str]:
        """What a search has found, and its folder."""
        path = self.folder.open_rate()
        run = self._run(
            trial.model_copy(update={"load": trial.load.searching(self.study.rates[name]), "timeline": ()}),
            path,
        )
        if run.written:
            with writing(self.folder.path):
                path = path.rename(path.with_suffix(""))
        search = run.manifest.search or {}
        if run.error or search.get("found_per_s") is None:
            raise run.error or InfrastructureError("the search ended without one")
        return search, f"{path.parent.name}/{path.name}"

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
            cold=self.study.cache in DROPS_CACHE,
            load_hosts=self.load_hosts, several=True,
        )  # fmt: skip
        run.run()
        with suppress(OSError):
            root.rmdir()
            root.parent.rmdir()
        return run
