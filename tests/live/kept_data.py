"""Loading, changing and reading a local cluster's data as trials do, for tests of what is kept of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.console import Console

from steelyard.engine.path import find_engine
from steelyard.hosts.local import LocalHost
from steelyard.hosts.snapshots import Snapshot
from steelyard.lab.datasets import DataSets
from steelyard.lab.lease import Lease
from steelyard.lab.progress import make_show
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.results.read import TrialResult
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.load import Load
from steelyard.spec.models import Trial
from steelyard.spec.system import CassandraSystem
from steelyard.spec.workload import CORE, ConstantLength, Fields, Mix, Sequential, Workload
from steelyard.systems import create

RECORDS = 3000
FIELDS = Fields(count=4, length=ConstantLength(length=100))
READ_ALL = Workload(
    name="read-all", records=RECORDS, fields=FIELDS, mix=Mix(read=1), request=Sequential(), verify="full"
)
CHANGE = CORE["a"].model_copy(
    update={"records": RECORDS, "fields": FIELDS, "mix": Mix(update=0.6, insert=0.2, delete=0.2)}
)


def spoil(path: Path) -> None:
    """Make a file's last byte another one, whatever it was."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


class Bench:
    """One system's data, kept in the state folder of the tests.

    Args:
        system: what it is.
        folder: for all files but the snapshots.
    """

    def __init__(self, system: CassandraSystem | HBaseSystem, folder: Path) -> None:
        self.system, self.folder = system, folder
        self.engine, self.show = find_engine(), make_show(Console(stderr=True))
        self.made: list[Any] = []

    def testbed(self, origin: Snapshot | None = None) -> Any:
        """A cluster of the system, not up; with `origin` it begins with that."""
        name = f"kept-{self.system.kind}-{len(self.made)}"
        testbed: Any = create(self.system, name=name, root=self.folder)
        testbed.origin = origin
        self.made.append(testbed)
        return testbed

    def restored(self, origin: Snapshot) -> Any:
        """A cluster that is up with the kept data."""
        testbed = self.testbed(origin)
        testbed.up(self.show.say)
        return testbed

    def load(self) -> Snapshot:
        """Load the records on a cluster of their own, and keep them."""
        with Interrupts() as interrupts:
            sets = DataSets(self.folder, "kept", LocalHost(), self.engine, self.show, interrupts)
            kept = sets.provide(self.trial(READ_ALL, 1), self.testbed())
        if not isinstance(kept, Snapshot):
            raise kept
        return kept

    def trial(self, workload: Workload, operations: int) -> Trial:
        """A trial of so many operations."""
        return Trial(
            number=1,
            repetition=1,
            seed=5,
            system=self.system,
            workload=workload,
            load=Load(operations=operations),
        )

    def drive(self, testbed: Any, workload: Workload, operations: int) -> dict[str, Any]:
        """Drive a cluster that is up, and leave it up; returns the summary of the run."""
        folder = self.folder / f"{workload.name}-{time.monotonic_ns()}"
        folder.mkdir()
        with Interrupts() as interrupts:
            run = TrialRun(
                trial=self.trial(workload, operations),
                folder=folder,
                testbed=testbed,
                host=LocalHost(),
                engine=self.engine,
                show=self.show,
                interrupts=interrupts,
                since_ns=time.monotonic_ns(),
                lease=Lease(up=True, loaded=True, keep=True),
            )
            run.run()
        if run.error:
            raise run.error
        summary = TrialResult(folder).summary("run")
        assert summary is not None
        return summary

    def change(self, testbed: Any) -> None:
        """Update, insert and delete; write it to files and compact them."""
        assert self.drive(testbed, CHANGE, 1500)["failed"] == {}
        for node in testbed.nodes:
            if node.name.startswith("node"):
                testbed.flush(node.name)
                testbed.compact(node.name)

    def read_all(self, testbed: Any) -> dict[str, Any]:
        """Read every record once, every value judged; returns what was found."""
        summary = self.drive(testbed, READ_ALL, RECORDS)
        faults = ("corrupt", "foreign", "stale", "lost", "not_yet")
        found = {name: summary["verify"][name] for name in faults}
        return {"ok": summary["ok"], "checked": summary["verify"]["checked"], **found}

    def down(self) -> None:
        """Take down whatever is up."""
        for testbed in self.made:
            testbed.down(self.show.say)


EVERY_RECORD = {
    "ok": RECORDS, "checked": RECORDS * FIELDS.count,
    "corrupt": 0, "foreign": 0, "stale": 0, "lost": 0, "not_yet": 0,
}  # fmt: skip
