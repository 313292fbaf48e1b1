"""One trial: the only place that knows the order of phases.

up, engines, load, settle, then the stages of what is measured (warm-up, search, run with its timeline,
audit, search again), collect, down. Whatever goes wrong, everything that was started is ended, and what was
measured is written, with the status and the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.engine.fleet import Fleet
from steelyard.engine.path import Engine
from steelyard.engine.session import Event
from steelyard.errors import InfrastructureError, Interrupted, LeftChangedError, SteelyardError
from steelyard.hosts.host import Host, Watch
from steelyard.hosts.server_hosts import ServerHosts
from steelyard.hosts.snapshots import Snapshot
from steelyard.lab.intact import Shape, changed
from steelyard.lab.lease import Lease
from steelyard.lab.machines import read_ahead
from steelyard.lab.observer import Observer
from steelyard.lab.phase import PhaseRunner
from steelyard.lab.progress import Show
from steelyard.lab.sampled_edges import SampledEdges
from steelyard.lab.search.probes import forget
from steelyard.lab.server_hosts import ServerMachines
from steelyard.lab.signals import Interrupts
from steelyard.lab.stages import Stages
from steelyard.lab.timeline.director import Director
from steelyard.results.disk import writing
from steelyard.results.intervals import write_intervals
from steelyard.results.manifest import Manifest
from steelyard.results.read import TrialResult
from steelyard.results.store import RESERVE
from steelyard.results.tables import SPOOL
from steelyard.spec.models import Trial
from steelyard.spec.plan import LOAD, RUN, engine_plan
from steelyard.systems.base import Testbed
from steelyard.systems.capabilities import Upgrades, snapshots

if TYPE_CHECKING:  # it is not needed where engines run here
    from steelyard.lab.load_hosts import LoadHosts

ACTIONS_GRACE_S, ACTIONS_LIMIT_S = 5.0, 30.0
"""How long actions that the run's end cut short are waited for: before servers are taken down, and after."""


class TrialRun:
    """Runs one trial into its folder.

    Args:
        trial: what to measure.
        folder: its folder, made and empty.
        testbed: the system, not yet up.
        host: what is sampled: where the engines run, and the system's servers; `ServerHosts` where those are
            on other machines.
        engine: the binary.
        show: receives progress.
        interrupts: the signals, installed.
        since_ns: when the wait for the first operation began, CLOCK_MONOTONIC.
        lease: what the system is like before, and whether it stays up; None = it comes and goes.
        cold: drop the page cache where the nodes are before what is measured.
        load_hosts: where the engines run; None = here.
        several: it is one of several, which must not differ by a machine that was lost.
    """

    def __init__(
        self,
        *,
        trial: Trial,
        folder: Path,
        testbed: Testbed,
        host: Host,
        engine: Engine,
        show: Show,
        interrupts: Interrupts,
        since_ns: int,
        lease: Lease | None = None,
        cold: bool = False,
        load_hosts: LoadHosts | None = None,
        several: bool = False,
    ) -> None:
        self.trial, self.folder, self.testbed, self.engine = trial, folder, testbed, engine
        self.host, self.server_machines = host, ServerMachines(host)
        self.show, self.interrupts = show, interrupts
        self.lease, self.cold = lease or Lease(), cold
        self.load_hosts = load_hosts and load_hosts.first(trial.load.engines)
        self.several = several
        self.manifest = Manifest(trial, since_ns)
        self.error: SteelyardError | None = None
        self.fleet: Fleet | None = None
        self.sampler: Watch | None = None
        self.director: Director | None = None
        self.shape: Shape | None = None
        self.written = False

    def run(self) -> Manifest:
        """Run the trial; its manifest tells how it ended, and `error` why it failed."""
        try:
            with self.interrupts.raising():
                self._measure()
            self.manifest.status = "done"
        except Interrupted as error:
            self._ended("interrupted", error)
        except SteelyardError as error:
            self._ended("failed", error)
        except OSError as error:
            self._ended("failed", InfrastructureError(f"{self.folder}: {error}"))
        except Exception as error:
            self._ended("failed", InfrastructureError(f"a fault in Steelyard: {error!r}"))
            raise
        finally:
            self._close()
        return self.manifest

    def _ended(self, status: str, error: SteelyardError) -> None:
        self.error = error
        self.manifest.status, self.manifest.reason = status, error.message
        self.manifest.event(status, error.message)

    def _measure(self) -> None:
        load = self.trial.load
        self.manifest.host = self.host.facts([self.folder])
        if self.load_hosts:
            self.load_hosts.note_facts(self.manifest)
        self.server_machines.note_facts(self.manifest)
        if self.cold:
            self._note_read_ahead()
        self._bring_up()
        self.manifest.system = self.testbed.facts()
        for text in self.manifest.system.get("warnings", ()):
            self.manifest.warn("system", text)
        self.interrupts.check()
        with self._timed("engines"):
            fleet = self._start_engines()
        self._apart_schema(fleet)
        self._watch(fleet)
        runner = PhaseRunner(fleet, self.testbed, self.manifest, self.show, self.interrupts)
        how, stored = self._how_there(), 0
        if LOAD in load.phases and not self.lease.loaded:
            with self._timed("load"):
                stored = self._check_load(runner.phase(LOAD, counts=False, endless=True))
            self.lease.has_loaded()
        self._note_data(how)
        if RUN in load.phases:
            self._prepare_run(fleet)
            Stages(load, runner, self._timed, self._observers).drive()
        runner.look_after_servers()
        fleet.finish()
        if self.several:
            self.server_machines.check()
        if self.lease.after_load:
            with self._timed("snapshot"):
                self.lease.after_load(stored)

    def _note_read_ahead(self) -> None:
        there = [one["facts"] for one in self.manifest.hosts if one["role"] == ServerHosts.role]
        if text := read_ahead(there or [self.manifest.host]):
            self.show.say(text)
            self.manifest.warn("read ahead", text)

    def _bring_up(self) -> None:
        if self.lease.up:
            self.manifest.event("up", "the cluster of the trial before")
            return
        origin = self.lease.origin
        if isinstance(origin, SteelyardError):
            raise origin
        if origin:
            self.manifest.event("restore", f"snapshot {origin.key}, {origin.load['records']:,} records")
            snapshots(self.testbed).origin = origin
        with self._timed("up"):
            self.testbed.up(self.show.say)
        self.lease.started()

    def _how_there(self) -> str:
        """How the data come to be there."""
        if self.lease.origin:
            return "restored"
        if self.lease.loaded:
            return "kept"
        return "loaded" if LOAD in self.trial.load.phases else "found"

    def _note_data(self, how: str) -> None:
        """Say where the data are from, and which load and which start of the servers this is."""
        lease, said = self.lease, self.manifest.data
        said |= {"how": how, "load": lease.load_id or None, "start": lease.start_id or None}
        if isinstance(lease.origin, Snapshot):
            said |= {"snapshot": lease.origin.key, "loading": dict(lease.origin.load)}
            said |= {"bytes": lease.origin.bytes, "files": lease.origin.files}
            spent = snapshots(self.testbed).restored
            if spent:
                self.manifest.timing["restore"] = spent.seconds
                said |= {"copied_bytes": spent.copied_bytes, "shared_bytes": spent.shared_bytes}

    def _prepare_run(self, fleet: Fleet) -> None:
        """The system as it is to be when it is measured."""
        if LOAD in self.trial.load.phases:
            with self._timed("settle"):
                self._settle()
        if self.cold:
            self.host.drop_page_cache()
            self.manifest.event(
                "cold", "the page cache of the nodes' host was dropped; servers keep their own"
            )
        fleet.begin_at(self.trial.first_operation)

    def _observers(self) -> Sequence[Observer]:
        """Who is told what the run does: the watch, and who carries the timeline out, if there is one."""
        assert self.sampler is not None  # noqa: S101 - the run comes after the watch
        sampled = SampledEdges(self.sampler)
        return (sampled, self._direct(self.sampler)) if self.trial.timeline else (sampled,)

    def _direct(self, watch: Watch) -> Director:
        """Who carries the timeline out."""
        if any(action.changes for action in self.trial.timeline) and not self.trial.system.given:
            self.shape = Shape.of(self.testbed)
        self.director = Director(
            self.trial.timeline,
            testbed=self.testbed,
            folder=self.folder,
            manifest=self.manifest,
            show=self.show,
            watch=watch,
            paced=self.trial.load.paced,
            rest_s=self.trial.load.after_timeline_s,
        )
        return self.director

    def _start_engines(self) -> Fleet:
        load, driver = self.trial.load, self.lease.driver(self.testbed.driver())
        fleet = self.fleet = Fleet(
            self.engine.path,
            load.engines,
            self.folder,
            lambda out, k: engine_plan(self.trial, driver, out, index=k, count=load.engines),
            self.testbed.engine_prefix(),
            self.load_hosts.launch if self.load_hosts else None,
        )
        try:
            ready = fleet.start()
        finally:
            self.manifest.plan = fleet.plans[0] if fleet.plans else {}
        self.manifest.engine = {
            "version": self.engine.version,
            "source_hash": self.engine.source_hash,
            "ready": ready[0].get("driver", {}),
        }
        return fleet

    def _apart_schema(self, fleet: Fleet) -> None:
        """Having the table is no part of connecting, which YCSB counts as run time: it finds one."""
        spent = float(fleet.ready[0].get("schema_s", 0))
        self.manifest.timing["schema"] = spent
        self.manifest.timing["engines"] -= spent

    def _watch(self, fleet: Fleet) -> None:
        self.sampler = self.host.watch(self.testbed.targets(), fleet.pids(), spool=self.folder / SPOOL)
        if self.load_hosts:
            self.load_hosts.watch(fleet)

    def _check_load(self, ends: list[Event]) -> int:
        """A data set that is not whole is said; an empty one ends the trial. Returns the records stored."""
        wanted = self.trial.workload.records - self.trial.load.first_record
        stored = sum(int(end["summary"]["ok"]) for end in ends)
        if stored == 0:
            raise InfrastructureError(f"load: none of {wanted} records could be stored")
        if stored < wanted:
            self.manifest.warn("load", f"{wanted - stored} of {wanted} records were not stored")
        return stored

    def _settle(self) -> None:
        limit = self.trial.load.settle_limit_s
        if not limit:
            return
        settled = self.testbed.settle(limit, self.show.say)
        if settled.quiet and settled.how:
            self.manifest.event("at rest", f"by {settled.how}, after {settled.seconds:.1f} s")
        if not settled.quiet:
            self.manifest.warn("unsettled", f"not at rest after {settled.seconds:.0f} s: {settled.detail}")

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        if name not in (LOAD, RUN):  # those stand in the timeline with the time of their first operation
            self.manifest.event(name)
        try:
            yield
        finally:
            self.manifest.timing[name] = time.monotonic() - began

    def _close(self) -> None:
        """End everything, write everything; one failing step keeps no other from being taken."""
        if self.director:
            self._try("actions", self._end_actions)
            if self.trial.system.given:
                self._try("cluster", partial(self._check_put_back, self.director))
        if self.fleet:
            self._try("engines", self.fleet.kill)
            self._try("engine", self.fleet.collect)
            self._try("engine", self._merge)
        if self.load_hosts:
            self._try("clocks", partial(self.load_hosts.note_clocks, self.manifest), spoils=False)
        if self.sampler:
            self._try("system", self._keep_samples)
            if self.load_hosts:
                self._try("system", partial(self.load_hosts.keep_samples, self.manifest, self.folder))
            there = partial(self.server_machines.keep_samples, self.sampler)
            self._try("system", partial(there, self.manifest, self.folder))
        self._try("clocks", partial(self.server_machines.note_clocks, self.manifest), spoils=False)
        if (self.folder / "engine").is_dir():
            self._try("intervals", self._keep_intervals)
        if self.interrupts.aborted:
            self._try("servers", self.testbed.kill_servers, spoils=False)
        else:
            self._try("servers", self._collect, spoils=False)
        if self.lease.keep and self.shape and self.manifest.status == "done":
            self._try("shared", partial(self._look_at_cluster, self.shape), spoils=False)
        if not (self.lease.keep and self.manifest.status == "done"):
            self._take_down()
        with suppress(OSError):
            (self.folder / "work").rmdir()  # the testbed's root; what it has left there stays
        self._try("manifest", self._write)

    def _take_down(self) -> None:
        with self._timed("down"):
            self._try("down", lambda: self.testbed.down(self.show.say))
            if self.director:
                self._try("actions", partial(self._down_again, self.director))
        self.lease.ended()

    def _end_actions(self) -> None:
        """Give actions that were cut short a moment; those that wait for servers end when these are gone."""
        assert self.director is not None  # noqa: S101 - called when there is one
        left = self.director.join(0 if self.interrupts.aborted else ACTIONS_GRACE_S)
        if left and self.lease.keep:
            self.lease.keep = False  # they would go on in the next trial
            self.manifest.warn("action", f"still under way, so that no cluster is kept: {', '.join(left)}")
        if isinstance(self.testbed, Upgrades) and any(a.what == "upgrade" for a in self.trial.timeline):
            self.manifest.system["upgraded"] = dict(self.testbed.versions())

    def _check_put_back(self, director: Director) -> None:
        """Who operates a given cluster has to know that it is not as it was, before more is run on it."""
        if left := director.left:
            what = f"the cluster was left changed: {', '.join(left)} was to take that back, and was not done"
            self.show.say(f"warning: {what}: put it back yourself")  # an interruption is told before this
            raise LeftChangedError(what, hint="put it back yourself; a study then goes on with --resume")

    def _look_at_cluster(self, before: Shape) -> None:
        """Keep the cluster for the next trial only if this one's actions have left it as it was."""
        assert self.director is not None  # noqa: S101 - there are actions
        undone, self.lease.keep = self.director.undone, False  # also if the look itself fails
        why = f"{', '.join(undone)} not done" if undone else changed(self.testbed, before)
        if why:
            self.manifest.event("not kept", f"the next trial has a new cluster: {why}")
            self.show.say(f"the cluster is not kept for the next trial: {why}")
        self.lease.keep = not why

    def _down_again(self, director: Director) -> None:
        """What an action may have started while the system was being taken down goes down, too."""
        if not director.join(0):
            return
        left = director.join(ACTIONS_LIMIT_S)
        self.testbed.down(self.show.say)
        if left:
            self.manifest.warn("action", f"still under way when all servers were down: {', '.join(left)}")

    def _try(self, what: str, step: Callable[[], object], *, spoils: bool = True) -> None:
        """Take a step of closing; when it fails, the trial has failed if that spoils it."""
        try:
            step()
        except Exception as error:  # the remaining steps end servers and keep results
            self.manifest.warn(what, str(error))
            if self.error is None and spoils:
                wrapped = (
                    error if isinstance(error, SteelyardError) else InfrastructureError(f"{what}: {error!r}")
                )
                self._ended("failed", wrapped)

    def _merge(self) -> None:
        assert self.fleet is not None  # noqa: S101 - called when there is one
        if len(self.fleet.folders) > 1 and self.manifest.phases:
            self.fleet.merge()
            self.manifest.merged(TrialResult(self.folder).events())

    def _keep_samples(self) -> None:
        assert self.sampler is not None  # noqa: S101 - called when there is one
        self.sampler.stop()
        self.manifest.host.setdefault("missing", {}).update(self.sampler.missing)
        self.manifest.host["watching"] = self.sampler.cost()
        with writing(self.folder):
            self.sampler.write(self.folder / "system.parquet")

    def _keep_intervals(self) -> None:
        forget(self.folder / "engine")
        write_intervals(self.folder / "engine", self.folder / "intervals.parquet")

    def _write(self) -> None:
        (self.folder / RESERVE).unlink(missing_ok=True)
        self.manifest.write(self.folder)
        self.written = True

    def _collect(self) -> None:
        with writing(self.folder):
            self.testbed.collect(self.folder / "servers")
