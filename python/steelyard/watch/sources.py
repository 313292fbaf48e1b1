"""The sources of `system.parquet` that are read from the kernel: machine, engines, lab, others, each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.watch.cgroup import Values, read_group
from steelyard.watch.files import OpenFiles
from steelyard.watch.machine import network, read_machine, whole_disks
from steelyard.watch.others import Others
from steelyard.watch.processes import Processes, family
from steelyard.watch.target import WatchTarget

NO_OPERATIONS = "the kernel counts disk operations for control groups only, and there is none"
NO_NETWORK = "no network namespace of its own"
NO_GROUP = "no control group"
NO_METRICS = "no agent loaded, and no /jmx known"
MACHINE = "cpu, memory, disk, network"
OUTSIDE = "it is somebody else's: a worker on its machine tells these (--watch-hosts)"
"""Of a given cluster's server; CPU, memory, disk and network are its machine's to tell."""
NO_PRESSURE = "no control group of version 2"


@dataclass
class Failures:
    """How often something could not be read, and why at last."""

    count: int = 0
    reason: str = ""


class Sources:
    """Reads every source that needs no server's help.

    Args:
        targets: the nodes.
        engines: the engines' names and process ids at this moment.
        lab_pid: Steelyard's own process.
        pids: finds a node's processes at this moment.
    """

    def __init__(
        self,
        targets: Sequence[WatchTarget],
        engines: Callable[[], Mapping[str, int]],
        lab_pid: int,
        pids: Callable[[WatchTarget], Sequence[int]],
    ) -> None:
        self._never: dict[str, str] = {}
        self._failures: dict[str, Failures] = {}
        self._samples = 0
        self._targets: Sequence[WatchTarget] = ()
        self._engines = engines
        self._lab_pid = lab_pid
        self._find = pids
        self._files = OpenFiles()
        self._disks = whole_disks()
        self._nodes: dict[str, Processes] = {}
        self._engine_processes: dict[str, Processes] = {}
        self._lab = Processes(self._files, disk=False)
        self._others = Others()
        self._driven: set[int] = set()
        self._never["lab.disk"] = "not asked for: the results it writes are not part of what is measured"
        self.retarget(targets)

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        """These are the nodes from the next sample on; one that comes back goes on with its counts."""
        for target in targets:
            if target.name not in self._nodes:
                self._nodes[target.name] = Processes(self._files)
                self._note_missing(target)
        self._targets = targets

    def read(self) -> dict[str, Values]:
        """One sample: source -> metric -> value."""
        self._samples += 1
        ours = [target for target in self._targets if not target.outside]
        pids = {target.name: self._pids(target) for target in ours}
        engines = self._engines_now()
        found = {"machine": read_machine(self._disks, self._files.read, self._failure("machine"))}
        for target in ours:
            found[target.name] = self._node(target, pids[target.name])
        for name, pid in engines.items():
            if name not in self._engine_processes:
                self._engine_processes[name] = Processes(self._files)
                self._never[f"{name}.disk operations"] = NO_OPERATIONS
            found[name] = self._engine_processes[name].sample([pid])
        # For good: a server that was killed is a child of the laboratory until it has been waited for.
        self._driven |= {pid for some in pids.values() for pid in some} | set(engines.values())
        lab = family(self._lab_pid, self._driven)
        found["lab"] = self._lab.sample(lab, disown=self._driven)
        found["others"] = self._others.sample(lambda: self._driven | set(lab))
        return found

    @property
    def missing(self) -> dict[str, str]:
        """`SOURCE.WHAT` -> why it cannot be had, or could not at every sample."""
        failed = {
            what: f"{failures.reason} (at {failures.count} of {self._samples} samples)"
            for what, failures in list(self._failures.items())
        }
        return failed | self._never

    def close(self) -> None:
        """Close every kernel file."""
        self._files.close_all()

    def _node(self, target: WatchTarget, pids: Sequence[int]) -> Values:
        processes = self._nodes[target.name]
        values = processes.sample(pids)
        fail = self._failure(target.name)
        if target.cgroups:
            values |= read_group(target.cgroups, self._files.read, fail)
        if target.namespace is not None and (alive := processes.alive()):
            try:
                values |= network(self._files.read(f"/proc/{alive[0]}/net/dev"), loopback=False)
            except (OSError, ValueError) as error:
                fail("network", error)
        return values

    def _failure(self, source: str) -> Callable[[str, Exception], None]:
        def fail(what: str, error: Exception) -> None:
            failures = self._failures.setdefault(f"{source}.{what}", Failures())
            failures.count += 1
            failures.reason = str(error) or type(error).__name__

        return fail

    def _pids(self, target: WatchTarget) -> list[int]:
        try:
            return list(self._find(target))
        except Exception as error:  # the testbed may be taking it down at this very moment: sampling goes on
            self._failure(target.name)("processes", error)
            return []

    def _engines_now(self) -> dict[str, int]:
        try:
            return dict(self._engines())
        except Exception as error:  # as above
            self._failure("engine")("processes", error)
            return {}

    def _note_missing(self, target: WatchTarget) -> None:
        told = target.agent is not None or target.jmx or target.inquiries
        if target.outside:
            self._never[f"{target.name}.{MACHINE}"] = OUTSIDE
            self._never |= {} if told else {f"{target.name}.server_*": NO_METRICS}
            return
        groups = target.cgroups
        for what, there, why in (
            ("disk operations", "blkio" in groups or "unified" in groups, NO_OPERATIONS),
            ("throttling", "cpu" in groups or "unified" in groups, NO_GROUP),
            ("pressure", "unified" in groups, NO_PRESSURE),
            ("network", target.namespace is not None, NO_NETWORK),
            ("server_*", told, NO_METRICS),
        ):
            if not there:
                self._never[f"{target.name}.{what}"] = why
