"""What flags say of server hosts, and clusters that stay on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from server_machines import Spread, hosts, make, state
from test_host_port import StandIn
from test_remote_hosts import Actor
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.found_clusters import Files, end, nodes_of, parts, parts_of
from steelyard.cli.load_hosts import check_points
from steelyard.cli.server_hosts import Roles, one_node_each, roles_of, server_hosts, using
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import process
from steelyard.hosts.host import Host
from steelyard.hosts.local import LocalHost
from steelyard.hosts.remote.addresses import addresses
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.server_hosts import ServerHosts
from steelyard.spec.load import Load
from steelyard.spec.local import LocalSystem
from steelyard.spec.models import Study
from steelyard.spec.system import CassandraSystem, NullSystem
from steelyard.spec.workload import CORE

__all__ = ["hosts", "make", "state"]
"""Fixtures."""

# --- words ---


def test_the_first_machines_drive_and_the_next_ones_serve() -> None:
    a, b, c = addresses("a,b,c")
    assert roles_of("a,b,c", 1, 2) == Roles((a,), (b, c))
    assert roles_of("a,b,c", None, 2) == Roles((a,), (b, c))
    assert roles_of("a,b,c", None, 3) == Roles((), (a, b, c))
    assert roles_of("a,b,c", 0, 2) == Roles((), (a, b))
    assert roles_of("a,b,c", 2, None) == Roles((a, b), ())
    for load, servers in ((2, 2), (None, 4), (None, 0), (-1, 2)):
        with pytest.raises(InputError, match="--ssh names 3 machines"):
            roles_of("a,b,c", load, servers)
    with pytest.raises(InputError, match="go with --ssh"):
        roles_of(None, None, 2)


def test_each_server_host_has_a_node_unless_it_is_said_how_many() -> None:
    machines = addresses("a,b,c")
    assert one_node_each({"clients": 4}, machines) == {"clients": 4, "nodes": 3}
    assert one_node_each({"nodes": 2}, machines) == {"nodes": 2}
    assert one_node_each({"datacenters": "dc1=2"}, machines) == {"datacenters": "dc1=2"}
    assert Roles(machines[:2], machines[2:]).words({}) == {"engines": 2, "nodes": 1}
    assert Roles((), machines).words({"engines": 4}) == {"engines": 4, "nodes": 3}


def test_only_nodes_of_ours_are_laid_over_machines() -> None:
    study = Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load())
    with pytest.raises(InputError, match="--server-hosts: null starts no nodes"):
        using(study, Roles((), addresses("a")), None, None).__enter__()
    local = Study(name="x", system=CassandraSystem(), workload=CORE["a"], load=Load(), cache="cold")
    with pytest.raises(InputError, match='cache = "cold" drops the page cache of this host'):
        using(local, Roles((), addresses("a")), None, None).__enter__()
    with pytest.raises(InputError, match="answer on this machine alone") as no:
        check_points(local, addresses("a"))
    assert "--server-hosts" in str(no.value.hint)
    check_points(local, addresses("a"), apart=True)


def test_a_machine_that_others_do_not_reach_is_refused() -> None:
    far = [RemoteHost(name, address, Actor((True, Path("/s")), (True, Path("/s"))), None)
           for name, address in (("a", "10.0.0.1"), ("localhost", "127.0.0.1"))]  # fmt: skip
    with pytest.raises(
        InputError, match=r"localhost is reached at 127\.0\.0\.1, where other machines do not"
    ):
        server_hosts(far)
    assert [machine.address for machine in server_hosts(far[1:]).machines] == ["127.0.0.1"]


def test_flags_of_server_hosts_go_with_ssh() -> None:
    for command in (["bench", "cassandra", "--server-hosts", "2"], ["cluster", "status", "--key", "k"]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2
        assert "go with --ssh" in done.output


# --- clusters that stay ---


def test_a_cluster_that_stays_is_found_again_by_the_records_there(
    make: Callable[..., Spread], hosts: ServerHosts
) -> None:
    make("lab", stays=True).up(lambda _: None)
    assert [(part.machine, part.record.name) for part in parts(hosts)] == [("a", "lab"), ("b", "lab")]
    found = [
        (part.machine, node["name"], len(part.record.nodes))
        for part, node in nodes_of(parts_of("lab", hosts))
    ]
    assert found == [("a", "node1", 2), ("b", "node2", 2)]
    assert [part.record.addresses for part in parts(hosts)] == ["127.0.0.2", "127.0.0.3"]
    log = Path("logs", "stdout.log")
    where = {Path(node["folder"]) / log: part.host for part, node in nodes_of(parts_of("lab", hosts))}
    assert [Files(where).get(path, -8) for path in where] == [b"serving\n", b"serving\n"]
    with pytest.raises(InputError, match="no cluster named 'other' on a, b, c"):
        parts_of("other", hosts)
    servers = [one for part in parts(hosts) for one in part.record.processes.values()]
    end("lab", hosts)
    assert not any(map(process.alive, servers))
    assert parts(hosts) == []


def test_a_cluster_here_is_found_by_its_record(tmp_path: Path) -> None:
    host: Host = LocalHost()
    made = StandIn(LocalSystem(kind="stand-in"), name="lab", root=tmp_path / "w", host=host, stays=True)
    made.up(lambda _: None)
    [part] = parts_of("lab", LocalHost())
    assert (part.machine, part.record.addresses) == ("", f"{made.block}.*")
    end("lab", LocalHost())
    with pytest.raises(InputError, match="no cluster named 'lab'"):
        parts_of("lab", LocalHost())


def test_a_machine_is_named_where_it_refuses(tmp_path: Path) -> None:
    """Every error of the port that comes from another machine begins with its name."""
    refused = RemoteHost("b", "10.0.0.2", Actor((False, InfrastructureError("no Java", hint="get it"))), None)
    with pytest.raises(InfrastructureError, match=r"^b: no Java$") as caught:
        refused.as_host().list(tmp_path)
    assert caught.value.hint == "get it"
