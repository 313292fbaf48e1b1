"""What flags say of server hosts, and clusters that stay on them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from server_machines import Spread, hosts, make, state, there
from test_host_port import StandIn
from test_remote_hosts import Actor
from typer.testing import CliRunner

from steelyard.cli import app, fleet
from steelyard.cli.fleet import fleet_of
from steelyard.cli.found_clusters import Files, end, nodes_of, parts, parts_of
from steelyard.cli.load_hosts import check_points
from steelyard.cli.server_hosts import Roles, one_node_each, roles_of, server_hosts, using
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import page_cache, process
from steelyard.hosts.host import Host, HostLostError
from steelyard.hosts.local import LocalHost
from steelyard.hosts.remote.addresses import addresses
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.server_hosts import ServerHosts
from steelyard.lab.load_hosts import LoadHosts
from steelyard.lab.server_hosts import ServerMachines
from steelyard.results.elsewhere import Elsewhere
from steelyard.results.store import RunFolder
from steelyard.spec.load import Load
from steelyard.spec.local import LocalSystem
from steelyard.spec.models import Study
from steelyard.spec.read import read_study
from steelyard.spec.system import CassandraSystem, NullSystem
from steelyard.spec.trials import trials
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
    local = Study(name="x", system=CassandraSystem(), workload=CORE["a"], load=Load())
    with pytest.raises(InputError, match="answer on this machine alone") as no:
        check_points(local, addresses("a"))
    assert "--server-hosts" in str(no.value.hint)
    check_points(local, addresses("a"), apart=True)


def test_the_page_cache_is_dropped_where_nodes_are(
    hosts: ServerHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[str] = []
    monkeypatch.setattr(page_cache, "drop", lambda: dropped.append("one"))
    hosts.drop_page_cache()
    assert [there(machine).asked for machine in hosts.machines] == [["drop_page_cache"]] * 3
    assert len(dropped) == 3, "and not on the laboratory's own machine"


def test_who_may_not_drop_the_page_cache_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "DROP_CACHES", tmp_path / "none" / "drop_caches")
    with pytest.raises(InfrastructureError, match="the page cache cannot be dropped") as no:
        page_cache.drop()
    assert "leave cache out" in str(no.value.hint)


def test_points_may_have_fewer_engines_than_there_are_load_hosts(tmp_path: Path) -> None:
    text = """
    question = "Which?"
    reset = "none"
    workload = "c"
    system = { kind = "hosts", hosts = ["10.0.0.1"] }
    load = { clients = 8, load_clients = 8 }
    factors = { engines = [1, 2, 3] }
    """
    (tmp_path / "x.toml").write_text(text)
    study = read_study(tmp_path / "x.toml")
    check_points(study, addresses("a,b,c"))
    with pytest.raises(InputError, match=r"load\.engines is 3 at most, and each of the 2 load hosts") as no:
        check_points(study, addresses("a,b"))
    assert no.value.hint == "name 3 of them, or --load-hosts 3 of more", "what varies is not to be set"
    with pytest.raises(InputError, match=r"load\.engines is 3 at most, and each of the 4 load hosts"):
        check_points(study, addresses("a,b,c,d"))
    far = LoadHosts([RemoteHost(name, "10.0.0.1", None, None) for name in "abc"])
    assert far.first(2).names == ["a", "b"]


def test_a_machine_that_others_do_not_reach_is_refused() -> None:
    far = [RemoteHost(name, address, Actor((True, Path("/s")), (True, Path("/s"))), None)
           for name, address in (("a", "10.0.0.1"), ("localhost", "127.0.0.1"))]  # fmt: skip
    with pytest.raises(
        InputError, match=r"localhost is reached at 127\.0\.0\.1, where other machines do not"
    ):
        server_hosts(far)
    assert [machine.address for machine in server_hosts(far[1:]).machines] == ["127.0.0.1"]


def test_a_machine_may_be_reached_by_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of others tell the contact address that they were started with."""

    def known(name: str, *_: object) -> list[Any]:
        if name != "node-7":
            raise OSError("Name or service not known")
        return [(2, 1, 6, "", ("10.0.0.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", known)
    far = [RemoteHost(name, name, Actor(*[(True, Path("/s"))] * 2), None) for name in ("node-7", "10.0.0.8")]
    assert [machine.address for machine in server_hosts(far).machines] == ["10.0.0.7", "10.0.0.8"]
    with pytest.raises(InputError, match="'node-9', of which no address is known here"):
        server_hosts([RemoteHost("x", "node-9", Actor(), None)])


def test_flags_of_server_hosts_go_with_ssh() -> None:
    for command in (
        ["bench", "cassandra", "--server-hosts", "2"],
        ["run", "noise-floor", "--server-hosts", "2"],
        ["cluster", "status", "--key", "k"],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2
        assert "go with --ssh" in done.output


# --- studies ---

LAID = """
workload = "c"
system = { kind = "cassandra", nodes = 2 }
[fleet]
ssh = ["a", "b", "c"]
"""


def laid(folder: Path, *overrides: str) -> Study:
    path = folder / "study.toml"
    path.write_text(LAID)
    return read_study(path, overrides)


def test_a_study_says_its_server_hosts_and_flags_go_before(tmp_path: Path) -> None:
    asked = laid(tmp_path, "fleet.server_hosts=2")
    assert fleet_of(asked, {"server_hosts": None}) == asked.fleet
    said = fleet_of(asked, {"server_hosts": 1, "load_hosts": 2})
    assert (said.load_hosts, said.server_hosts, said.benches) == (2, 1, None)
    assert fleet_of(asked, {"benches": 2}).server_hosts is None
    assert fleet_of(laid(tmp_path, "fleet.benches=2"), {"server_hosts": 3}).benches is None
    with pytest.raises(InputError, match="--benches and --server-hosts exclude each other"):
        fleet_of(asked, {"benches": 2, "server_hosts": 1})
    with pytest.raises(InputError, match="benches and server_hosts exclude each other"):
        laid(tmp_path, "fleet.server_hosts=2", "fleet.benches=2")


def test_a_study_has_a_role_for_each_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Roles] = []

    @contextmanager
    def use(_study: Study, roles: Roles, _key: Path | None, _python: str | None) -> Iterator[Any]:
        seen.append(roles)
        yield "load", "host"

    monkeypatch.setattr(fleet, "using", use)
    a, b, c = addresses("a,b,c")
    asked = laid(tmp_path, "fleet.server_hosts=2")
    with fleet.taking_part(asked, asked.fleet) as machines:
        assert (machines.load_hosts, machines.host, machines.bench_hosts) == ("load", "host", ())
    assert seen == [Roles((a,), (b, c))]
    with (
        pytest.raises(InputError, match="--server-hosts 4: --ssh names 3 machines"),
        fleet.taking_part(asked, asked.fleet.model_copy(update={"server_hosts": 4})),
    ):
        pass


def test_a_study_goes_on_with_the_machines_that_have_its_nodes(tmp_path: Path) -> None:
    study, path = laid(tmp_path), tmp_path / "run"
    laid_over = Elsewhere(("a",), ("b", "c"))
    RunFolder.create(study, trials(study), path, laid_over).close()
    with pytest.raises(
        InputError, match=r"the nodes of .*run are on b, c, and would go on on c, b"
    ) as caught:
        RunFolder.resume(study, trials(study), path, Elsewhere(("a",), ("c", "b")))
    assert f"steelyard run --resume {path} --ssh a,b,c --server-hosts 2" in str(caught.value.hint)
    RunFolder.resume(study, trials(study), path, laid_over).close()


def test_a_trial_of_several_that_lost_a_machine_has_failed(hosts: ServerHosts) -> None:
    """What its points are compared by must not differ by it."""
    far = [RemoteHost(name, "10.0.0.1", Actor(), None) for name in ("a", "b")]
    found = ServerMachines(
        ServerHosts(
            [replace(one, host=host.as_host()) for one, host in zip(hosts.machines, far, strict=False)]
        )
    )
    assert found.names == ("a", "b")
    found.check()
    far[1].lost_ns = 7
    with pytest.raises(HostLostError, match="the host b was lost, and its nodes with it"):
        found.check()


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
