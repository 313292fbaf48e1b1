"""Clusters that trials with actions share: what is taken back, and what is looked at afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_spec_timeline import STUDY, fault, read, said
from trial_fixtures import Bed, trial_run, with_timeline

from steelyard.errors import InfrastructureError
from steelyard.lab.intact import Shape, changed
from steelyard.spec.estimate import each
from steelyard.spec.restored import unrestored
from steelyard.spec.system import CassandraSystem
from steelyard.spec.trials import trials
from steelyard.systems.base import Death

SYSTEM = CassandraSystem.model_validate({"kind": "cassandra", "nodes": 3, "limits": {"cpu": 0.5}})
SHARED = STUDY.replace("restore", "truncate").replace("add-1", "kill")
KILL = '\n[[timelines.kill]]\nid = "dies"\nat = "1s"\ndo = "kill"\nnode = "node2"\n'
BACK = '\n[[timelines.kill]]\nid = "back"\nafter = "dies"\ndo = "restart"\nnode = "node2"\n'


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (["1s kill node=node2", "2s restart node=node2"], ""),
        (["1s kill node=node2", "2s kill node=node1", "3s restart rolling=true"], ""),
        (["1s kill node=node2", "2s restart node=node1"], "kill node=node2"),
        (["1s restart node=node2", "2s kill node=node2"], "kill node=node2"),
        (["1s freeze node=node2", "2s thaw node=node2"], ""),
        (["1s freeze node=node2/datanode", "2s restart node=node2"], ""),
        (["1s freeze node=node2", "2s heal node=node2"], "freeze node=node2"),
        (["1s kill node=node2", "2s restart node=node2/datanode"], "kill node=node2"),
        (["1s kill node=node2", "2s thaw node=node2"], "kill node=node2"),
        (["1s partition node=node1", "2s heal node=node1"], ""),
        (["1s throttle node=node1 read_mib=1", "2s throttle node=node1"], ""),
        (["1s throttle node=node1 read_mib=1"], "throttle node=node1 read_mib=1.0"),
        (["1s resize node=node1 cpu=0.1", "2s resize node=node1 cpu=0.5"], ""),
        (["1s resize cpu=0.1", "2s resize node=node1 cpu=0.5"], "resize cpu=0.1"),
        (["1s resize node=node1 cpu=0.1", "2s resize cpu=0.5"], ""),
        (["1s add", "after:add remove"], "add"),
        (["1s power-loss"], "power-loss"),
        (["1s stream-limit mbit=40"], "stream-limit mbit=40.0"),
        (["1s flush", "2s run -- true"], ""),
    ],
)
def test_what_a_timeline_does_not_take_back_is_named(texts: list[str], left: str) -> None:
    assert unrestored(said(*texts), SYSTEM) == left


def test_limits_of_disks_are_not_those_that_lifting_leaves() -> None:
    limited = CassandraSystem.model_validate({"kind": "cassandra", "limits": {"disk_read_mib_per_s": 5.0}})
    assert unrestored(said("1s throttle node=node1"), limited) == "throttle node=node1"


def test_a_timeline_that_takes_all_back_may_share_a_cluster(tmp_path: Path) -> None:
    planned = trials(read(tmp_path, SHARED + KILL + BACK))
    assert {trial.group for trial in planned} == {1}
    assert len({trial.data for trial in planned}) == len(planned)
    assert [t.seed for t in planned if t.repetition == 1] == [planned[0].seed] * 2
    alone = trials(read(tmp_path, SHARED + KILL + BACK, "reset=fresh"))
    starts = [sum(each(these).values()) for these in (planned, alone)]
    assert starts[1] - starts[0] == pytest.approx(3 * (25 + 2 * 10))


@pytest.mark.parametrize(("reset", "rest"), [("truncate", ""), ("none", BACK)])
def test_what_is_not_taken_back_is_refused(tmp_path: Path, reset: str, rest: str) -> None:
    told = fault(tmp_path, SHARED + KILL + rest, f"reset={reset}", "workload.mix={read=1}")
    assert f"reset = '{reset}' shares a cluster" in told
    assert "changes it: kill node=node2" in told


class Nodes(Bed):
    """A cluster that may come to be another by an action."""

    capabilities = frozenset({"restart", "detect"})

    def __init__(self, **after: Any) -> None:
        super().__init__()
        self.after, self.cpu = after, {"node1": 0.5}
        self.names: tuple[str, ...] = ("node1", "node2")
        self.misses: list[bool | Exception] = []
        self.gone: list[Death] = []

    def members(self) -> Sequence[str]:
        return self.names

    def missed(self, _node: str) -> bool:
        said = self.misses.pop(0) if self.misses else False
        if isinstance(said, Exception):
            raise said
        return said

    def dead(self) -> Sequence[Death]:
        return self.gone

    def restart(self, _name: str, _say: Any) -> None:
        if "fails" in self.after:
            raise InfrastructureError("no")
        for name, value in self.after.items():
            setattr(self, name, value)


AFTER: Mapping[str, tuple[dict[str, Any], str]] = {
    "nodes": ({"names": ("node1",)}, "its nodes are node1"),
    "quotas": ({"cpu": {"node1": 0.1}}, "CPU quotas are others"),
    "a death": ({"gone": [Death("node2", "signal 9", None)]}, "node2 is dead: signal 9"),
    "an action": ({"fails": True}, "restart not done"),
}


@pytest.mark.parametrize("case", AFTER)
@pytest.mark.usefixtures("fake_engine")
def test_a_cluster_that_is_another_is_not_kept(tmp_path: Path, case: str) -> None:
    after, why = AFTER[case]
    run = shared_run(tmp_path, Nodes(**after))
    assert (run.manifest.status, run.lease.up) == ("done", False)
    assert [entry["detail"] for entry in run.manifest.timeline if entry["event"] == "not kept"] == [
        f"the next trial has a new cluster: {why}"
    ]


@pytest.mark.usefixtures("fake_engine")
def test_a_cluster_that_is_as_it_was_is_kept(tmp_path: Path) -> None:
    run = shared_run(tmp_path, Nodes())
    assert (run.manifest.status, run.lease.up) == ("done", True)
    assert "not kept" not in [entry["event"] for entry in run.manifest.timeline]


def shared_run(folder: Path, bed: Nodes) -> Any:
    run = with_timeline(trial_run(folder, bed, duration_s=0.5), "0 restart node=node2")
    run.lease.keep = True
    run.run()
    return run


def test_a_node_that_others_miss_for_a_moment_is_waited_for() -> None:
    bed = Nodes()
    bed.misses = [False, True, False, False]
    assert changed(bed, Shape.of(bed)) == ""
    bed.misses = [False, True]
    assert changed(bed, Shape.of(bed), limit_s=0) == "the others miss node2"
    bed.misses = [InfrastructureError("nobody answers")]
    assert changed(bed, Shape.of(bed), limit_s=0) == "whether nodes are missed cannot be told: nobody answers"
