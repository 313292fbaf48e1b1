"""Machines of a given cluster: what they use is their nodes'; what cannot be had is said, and no more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from server_machines import Machine, hosts, state, there
from test_remote_hosts import manifest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.fleet import fleet_of
from steelyard.cli.server_hosts import Roles, check_given, roles_of
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.remote.addresses import addresses
from steelyard.hosts.server_hosts import ServerHosts, WatchedHosts
from steelyard.lab.server_hosts import ServerMachines
from steelyard.lab.watched_nodes import node_at
from steelyard.spec.fleet import Fleet
from steelyard.spec.load import Load
from steelyard.spec.models import Study
from steelyard.spec.system import CassandraSystem, HostsSystem
from steelyard.spec.workload import CORE
from steelyard.systems import create
from steelyard.watch.target import WatchTarget

__all__ = ["hosts", "state"]
"""Fixtures."""
MACHINE = "cpu, memory, disk, network"


@pytest.fixture
def watched(hosts: ServerHosts) -> WatchedHosts:
    """Three machines: a, b and c."""
    return WatchedHosts(hosts.machines)


def sampled(watched: WatchedHosts, tmp_path: Path) -> Any:
    """The manifest of a trial with a node on machine a, and one on a machine of which nobody knows."""
    told, machines = manifest(), ServerMachines(watched)
    machines.note_facts(told)
    nodes = {"127.0.0.2": "127.0.0.2", "10.9.9.9": "10.9.9.9"}
    told.system = {"nodes": [{"name": name, "address": address} for name, address in nodes.items()]}
    watch = watched.watch([WatchTarget(name, outside=True) for name in nodes], {"engine": os.getpid()})
    watch.stop()
    told.host["missing"] = dict(watch.missing)
    watch.write(tmp_path / "system.parquet")
    machines.keep_samples(watch, told, tmp_path)
    machines.note_clocks(told)
    return told


def test_what_a_machine_used_is_its_nodes(watched: WatchedHosts, tmp_path: Path) -> None:
    told = sampled(watched, tmp_path)
    rows = pl.read_parquet(tmp_path / "system.parquet")
    assert {"machine", "engine", "lab", "127.0.0.2", "b", "c"} <= set(rows["source"])
    assert "10.9.9.9" not in set(rows["source"])
    figures = set(rows.filter(source="127.0.0.2")["metric"])
    assert {"cpu_seconds_total", "memory_bytes", "network_send_bytes_total"} <= figures
    assert [(host["role"], host["node"]) for host in told.hosts] == [
        ("watched", "127.0.0.2"), ("watched", "b"), ("watched", "c")
    ]  # fmt: skip
    assert {node["name"]: node.get("roles") for node in told.system["nodes"]} == {
        "127.0.0.2": None, "10.9.9.9": None, "b": ["other"], "c": ["other"]
    }  # fmt: skip
    assert f"127.0.0.2.{MACHINE}" not in told.host["missing"]
    assert "--watch-hosts" in told.host["missing"][f"10.9.9.9.{MACHINE}"]
    assert pl.read_parquet(tmp_path / "hosts" / "0.parquet")["source"].is_in(["machine"]).any()


def test_a_machine_that_is_lost_is_said_and_the_trial_goes_on(watched: WatchedHosts, tmp_path: Path) -> None:
    there(watched.machines[1]).lost = True
    told = sampled(watched, tmp_path)
    assert [host["name"] for host in told.hosts] == ["a", "c"]
    assert told.warnings == [{"kind": "watched", "text": "b is not watched: the host b is lost"}]


def test_one_that_has_no_worker_any_more_is_left_out(
    watched: WatchedHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Machine.__getattr__

    def asked(self: Machine, name: str) -> Any:
        if name == "watch" and self.folder.name == "c":
            raise InfrastructureError("its worker has ended")
        return ask(self, name)

    monkeypatch.setattr(Machine, "__getattr__", asked)
    told = sampled(watched, tmp_path)
    assert [warning["text"] for warning in told.warnings] == ["c was not watched: its worker was lost"]


def test_a_given_cluster_goes_with_machines_that_are_watched(watched: WatchedHosts, tmp_path: Path) -> None:
    system = HostsSystem(hosts=("10.0.0.1",))
    assert create(system, name="x", root=tmp_path, host=watched).capabilities == {"watch"}


def test_a_node_is_known_by_its_address() -> None:
    nodes = [{"name": "n1", "address": "127.0.0.5"}, {"name": "n2", "address": "127.0.0.6"}]
    assert node_at({"name": "root@x.invalid", "address": "127.0.0.6"}, nodes) == "n2"
    assert node_at({"name": "root@127.0.0.5:22", "address": "10.0.0.1"}, nodes) == "n1"
    assert node_at({"name": "root@127.0.0.7", "address": "10.0.0.1"}, nodes) is None
    both = [{**node, "address": "127.0.0.5"} for node in nodes]
    assert node_at({"name": "127.0.0.5", "address": "127.0.0.5"}, both) is None


# --- words ---


def test_watched_machines_stand_beside_load_hosts_or_alone() -> None:
    a, b, c = addresses("a,b,c")
    assert roles_of(None, None, None, "a,b") == Roles((), (), (a, b))
    assert roles_of("a", None, None, "b,c") == Roles((a,), (), (b, c))
    assert roles_of("a,b", 1, None, "c") == Roles((a,), (), (c,))
    for words, told in (
        ((None, 1, None, "a"), "go with --ssh"),
        (("a", None, 1, "b"), "machines of --server-hosts are sampled as they are"),
        (("a,b", None, None, "b"), "--ssh and --watch-hosts: b stands there twice"),
        ((None, None, None, "a b"), "--watch-hosts: 'a b' is no machine"),
    ):
        with pytest.raises(InputError, match=told):
            roles_of(*words)


def test_only_given_clusters_have_machines_to_watch() -> None:
    def study(system: Any) -> Study:
        return Study(name="x", system=system, workload=CORE["a"], load=Load())

    check_given(study(HostsSystem(hosts=("10.0.0.1",))))
    with pytest.raises(InputError, match="this cassandra is none") as no:
        check_given(study(CassandraSystem()))
    assert "sampled anyway" in str(no.value.hint)
    done = CliRunner().invoke(app, ["bench", "cassandra", "--watch-hosts", "a"])
    assert (done.exit_code, "this cassandra is none" in done.output) == (2, True)


def test_a_study_says_it_too() -> None:
    study = Study(
        name="x",
        system=HostsSystem(hosts=("10.0.0.1",)),
        workload=CORE["a"],
        load=Load(),
        fleet=Fleet(watch=("a",), ssh=("b",)),
    )
    assert fleet_of(study, {}) == study.fleet
    assert fleet_of(study, {"watch": ("c",)}).watch == ("c",)
    alone = study.model_copy(update={"fleet": Fleet()})
    assert fleet_of(alone, {"watch": ("c",), "key": "k"}).ssh == ()
    with pytest.raises(InputError, match="go with --ssh"):
        fleet_of(alone, {"watch": ("c",), "load_hosts": 1})
    for said in ({"benches": 2}, {"benches": 0}, {"benches": 1001}):  # with the study's machines to watch
        with pytest.raises(InputError, match=r"--benches|no bench uses a given cluster"):
            fleet_of(study, said)
    with pytest.raises(ValueError, match="no bench uses a given cluster"):
        Fleet(ssh=("a",), benches=1, watch=("b",))
