"""This machine as a `Host`."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts import (
    archive,
    artifacts,
    cgroup,
    clusters,
    java,
    lacking,
    mounts,
    namespaces,
    network,
    page_cache,
    process,
    recipes,
    records,
)
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.cgroup import DiskRates, Group
from steelyard.hosts.clusters import Claim
from steelyard.hosts.files import LocalFiles
from steelyard.hosts.host import Abilities, Command, Watch
from steelyard.hosts.java import Java
from steelyard.hosts.network import Endpoint
from steelyard.hosts.process import Identity, Seen
from steelyard.hosts.recipes import Recipe
from steelyard.hosts.records import Record
from steelyard.spec.local import NodeLimits
from steelyard.watch import agent
from steelyard.watch.host import host_facts
from steelyard.watch.jar import agent_jar
from steelyard.watch.sampler import Sampler
from steelyard.watch.target import WatchTarget


class LocalHost(LocalFiles):
    """This machine; for what each method does see `Host`. Safe to use from several threads."""

    def __init__(self) -> None:
        self._claimed: dict[str, Record] = {}
        self._ending: dict[str, Record] = {}  # an interrupted end can be taken up again
        self._children: dict[Identity, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()  # around every change of a record, and what it records

    # --- the record of what was started here ---

    def end_leftovers(self) -> list[str]:
        """See `Host`."""
        return clusters.end_leftovers()

    def claim(self, asked: Claim) -> Record:
        """See `Host`."""
        record = clusters.claim(asked)
        with self._lock:
            self._claimed[asked.name] = record
        return record

    def note_nodes(self, cluster: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        """See `Host`."""
        with self._lock:
            record = self._record(cluster)
            record.nodes = [dict(node) for node in nodes]
            record.save()

    def records(self) -> list[Record]:
        """See `Host`."""
        return records.records()

    def take_down(self, cluster: str) -> None:
        """See `Host`."""
        with self._lock:  # nothing is added to it from here on
            if cluster in self._claimed:
                self._ending[cluster] = self._claimed.pop(cluster)
        record = self._ending.get(cluster)
        if record is None:
            return
        clusters.take_down(record)
        self._ending.pop(cluster, None)
        for found in record.processes.values():
            self.exit_status(found)

    def end_cluster(self, name: str) -> None:
        """See `Host`."""
        clusters.take_down_by_name(name)

    def _record(self, cluster: str) -> Record:
        record = self._claimed.get(cluster)
        if record is None:
            raise InfrastructureError(f"cluster {cluster} is not up")
        return record

    # --- processes ---

    def start(self, command: Command) -> Identity:
        """See `Host`."""

        def before(found: Identity) -> None:
            record.processes[command.server] = found
            record.save()
            cgroup.add(command.group, found.pid)

        with self._lock:
            record = self._record(command.cluster)
            found, child = process.start(
                command.words,
                log=command.log,
                cwd=command.folder,
                before=before,
                die_with_us=record.owner is not None,
                prefix=namespaces.entered(command.namespace) if command.namespace else [],
                environment=command.environment,
                timer_slack_us=command.timer_slack_us,
            )
            self._children[found] = child
        return found

    def look(self, process_: Identity) -> Seen | None:
        """See `Host`."""
        return process.look(process_)

    def signal(self, process_: Identity, number: signal.Signals) -> bool:
        """See `Host`."""
        return process.send(process_, number)

    def wait(self, processes: Sequence[Identity], limit_s: float) -> bool:
        """See `Host`."""
        return process.wait_gone(processes, limit_s)

    def exit_status(self, process_: Identity) -> int | None:
        """See `Host`."""
        child = self._children.get(process_)
        return child.poll() if child else None

    # --- addresses, control groups, namespaces, mounts ---

    def abilities(self) -> Abilities:
        """See `Host`."""
        return Abilities(os.cpu_count() or 1, cgroup.version())

    def check_ports(self, endpoints: Mapping[Endpoint, str]) -> None:
        """See `Host`."""
        network.check_ports(endpoints)

    def make_namespaces(self, cluster: str) -> None:
        """See `Host`."""
        record = self._record(cluster)
        if record.namespaces:
            namespaces.make(cluster, record.block, len(record.namespaces) - 1)

    def make_group(self, cluster: str, node: str) -> Group:
        """See `Host`."""
        with self._lock:
            record = self._record(cluster)
            record.cgroups += [str(folder) for folder in cgroup.folders(cluster, node)]
            record.save()
            return cgroup.make(cluster, node)

    def limit_cpu(self, group: Group, cores: float | None) -> None:
        """See `Host`."""
        cgroup.limit_cpu(group, cores)

    def limit(self, group: Group, limits: NodeLimits, folder: Path) -> None:
        """See `Host`."""
        cgroup.limit(group, limits, folder)

    def mount(self, cluster: str, folder: Path, mib: int) -> None:
        """See `Host`."""
        with self._lock:
            record = self._record(cluster)
            if str(folder) not in record.mounts:
                record.mounts.append(str(folder))
                record.save()
            elif folder.is_mount():
                return
            mounts.make(folder, mib)

    def unmount(self, cluster: str, folder: Path) -> None:
        """See `Host`."""
        mounts.remove(folder)
        with self._lock:
            record = self._record(cluster)
            record.mounts.remove(str(folder))
            record.save()

    def sync(self, folder: Path) -> None:
        """See `Host`."""
        mounts.sync(folder)

    def drop_page_cache(self) -> None:
        """See `Host`."""
        page_cache.drop()

    # --- what fails as machines do ---

    def lacking(self, folder: Path) -> dict[str, str]:
        """See `Host`."""
        return lacking.lacking(folder)

    def partition(self, cluster: str, namespace: str) -> None:
        """See `Host`."""
        namespaces.cut(cluster, namespace)

    def heal(self, cluster: str, namespace: str) -> None:
        """See `Host`."""
        namespaces.join(cluster, namespace)

    def throttle(self, group: Group, rates: DiskRates, folder: Path) -> None:
        """See `Host`."""
        cgroup.throttle(group, rates, folder)

    def stop_disk(self, folder: Path) -> None:
        """See `Host`."""
        mounts.stop(folder)

    def start_disk(self, folder: Path) -> None:
        """See `Host`."""
        with self._lock:
            if not any(str(folder) in record.mounts for record in tuple(self._claimed.values())):
                raise InfrastructureError(f"{folder} is no disk of a cluster that is up")
            mounts.start(folder)

    # --- what servers are made of ---

    def java(self, asked: str | None, supported: Sequence[int], what: str) -> Java:
        """See `Host`."""
        return java.find_java(asked, supported, what)

    def jars(self, name: str) -> Jars | None:
        """See `Host`."""
        return artifacts.cached(name)

    def fetch_jars(self, name: str, coordinates: Sequence[str], without: Sequence[str] = ()) -> Jars:
        """See `Host`."""
        return artifacts.fetch(name, coordinates, without)

    def class_archive(self, java_: Java, jars: Sequence[Path]) -> Path | None:
        """See `Host`."""
        return archive.find(java_, jars)

    def make_class_archive(self, java_: Java, jars: Sequence[Path], lists: Sequence[Path]) -> bool:
        """See `Host`."""
        return archive.make(java_, jars, lists)

    def agent_jar(self) -> Path:
        """See `Host`."""
        return agent_jar()

    def copy_made(self, recipe: Recipe, into: Path) -> None:
        """See `Host`."""
        recipes.copy_made(recipe, into)

    # --- facts and figures ---

    def facts(self, paths: Sequence[Path]) -> dict[str, Any]:
        """See `Host`."""
        return host_facts(paths)

    def clock_ns(self) -> int:
        """See `Host`."""
        return time.monotonic_ns()

    def ask_agent(
        self, address: Endpoint, command: str, timeout_s: float = 10.0, namespace: str | None = None
    ) -> dict[str, Any]:
        """See `Host`."""
        return agent.ask(address, command, timeout_s, namespace)

    def watch(
        self,
        targets: Sequence[WatchTarget],
        engines: Mapping[str, int],
        *,
        spool: Path | None = None,
    ) -> Watch:
        """See `Host`."""
        sampler = Sampler(targets, lambda: engines, os.getpid(), self.pids, spool=spool)
        sampler.start()
        return sampler

    def pids(self, target: WatchTarget) -> list[int]:
        """A node's processes now, by the record of its cluster; waits for nobody who changes it."""
        record = self._claimed.get(target.cluster)
        found = record.processes_of(target.name).values() if record else ()
        return [one.pid for one in found if process.alive(one)]
