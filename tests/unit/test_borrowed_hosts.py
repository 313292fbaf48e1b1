"""Workers that others run, as hosts: how they are named, chosen, refused, and what ends beside them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_remote_hosts import OURS
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.fleet import fleet_of
from steelyard.cli.load_hosts import machines_of, workers
from steelyard.cli.server_hosts import roles_of
from steelyard.cli.sources import source_of, source_of_fleet
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.remote.candidates import Worker, check_worker, names_of, notes_of, one_each
from steelyard.hosts.remote.host import lost_hint
from steelyard.hosts.remote.scheduler import Borrowed, ClusterClass, Scheduler, Tls, scheduler_of
from steelyard.spec.fleet import Fleet, source_words
from steelyard.spec.load import Load
from steelyard.spec.models import Study
from steelyard.spec.system import NullSystem
from steelyard.spec.workload import CORE

TLS_ADDRESS = "tls://10.0.0.1:8786"
FAR = Scheduler(TLS_ADDRESS)


# --- how they are said ---


@pytest.mark.parametrize(
    "address",
    [TLS_ADDRESS, "tls://lab.example:1", "tcp://127.0.0.1:8786", "tcp://localhost:8786", "tcp://[::1]:8786"],
)
def test_a_scheduler_as_users_name_it(address: str) -> None:
    assert scheduler_of(address, Tls()) == Scheduler(address)
    assert scheduler_of(f"{address}/", Tls()) == Scheduler(address)


@pytest.mark.parametrize(
    "text", ["", "10.0.0.1:8786", "tls://10.0.0.1", "tls://:8786", "ws://a:1", "tls://a:0", "tls://a:70000"]
)
def test_what_is_no_scheduler(text: str) -> None:
    with pytest.raises(InputError, match="is no scheduler's address") as caught:
        scheduler_of(text, Tls())
    assert "tls://HOST:PORT" in str(caught.value.hint)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tcp://lab.example:8786", "tcp://[fe80::1]:8786"])
def test_without_tls_only_loopback_is_talked_to(address: str) -> None:
    with pytest.raises(InputError, match="without TLS whoever is on the network") as caught:
        scheduler_of(address, Tls())
    assert "--tls-ca-file" in str(caught.value.hint)


def test_files_of_tls_go_together_and_can_be_read(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    with pytest.raises(InputError, match="--scheduler-ca: No such file"):
        scheduler_of(TLS_ADDRESS, Tls(ca, ca, ca))
    ca.touch()
    with pytest.raises(InputError, match="--scheduler-cert is missing"):
        scheduler_of(TLS_ADDRESS, Tls(ca))
    with pytest.raises(InputError, match="go with tls://"):
        scheduler_of("tcp://127.0.0.1:8786", Tls(ca, ca, ca))
    with pytest.raises(InputError, match="go with --scheduler"):
        source_of("a", None, ca)


def test_flags_that_exclude_each_other() -> None:
    with pytest.raises(InputError, match="--ssh and --scheduler exclude each other"):
        source_of("a", TLS_ADDRESS)
    with pytest.raises(InputError, match="--key and --python go with --ssh"):
        workers(machines_of(FAR, 1), Path("k"), None).__enter__()


def test_so_many_workers_are_asked_for() -> None:
    found = roles_of(FAR, 1, 2)
    assert [*found.load, *found.servers] == [Borrowed(FAR, place) for place in range(3)]
    assert str(found.load[0]) == f"worker 1 of {TLS_ADDRESS}"
    assert roles_of(FAR, 2, None).words({}) == {"engines": 2}
    for load in (None, 0):
        with pytest.raises(InputError, match="how many of its workers are hosts is not said") as caught:
            roles_of(FAR, load, None)
        assert "--load-hosts N" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench", "null", "--scheduler", "tcp://10.0.0.1:1", "--load-hosts", "1"], "without TLS"),
        (["bench", "null", "--scheduler", TLS_ADDRESS], "how many of its workers"),
        (["bench", "null", "--scheduler-ca", "x"], "go with --scheduler"),
        (["run", "noise-floor", "--scheduler", TLS_ADDRESS], "how many of its workers"),
        (["run", "noise-floor", "--scheduler", TLS_ADDRESS, "--ssh", "a"], "exclude each other"),
        (["hosts", "check", "--scheduler", "x"], "is no scheduler's address"),
        (["hosts", "check"], "--ssh or --scheduler"),
    ],
)
def test_commands_refuse_what_cannot_be(words: list[str], said: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2, done.output
    assert said in done.output


# --- in a study ---


def study(**fleet: Any) -> Study:
    return Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load(), fleet=Fleet(**fleet))


def test_a_flag_takes_the_place_of_what_the_study_says() -> None:
    one = fleet_of(study(ssh=("a",), key="k", benches=2), {"scheduler": TLS_ADDRESS, "load_hosts": 3})
    assert (one.ssh, one.key, one.scheduler, one.load_hosts, one.benches) == ((), None, TLS_ADDRESS, 3, None)
    assert source_of_fleet(one) == FAR
    other = fleet_of(study(cluster="m:C", arguments={"n": 1}, benches=2), {"ssh": ("b",)})
    assert (other.cluster, other.arguments, other.ssh, other.benches) == (None, {}, ("b",), 2)
    with pytest.raises(InputError, match="--key goes with --ssh"):
        fleet_of(study(scheduler=TLS_ADDRESS), {"key": "k"})
    with pytest.raises(InputError, match="--scheduler-ca goes with --scheduler"):
        fleet_of(study(ssh=("a",)), {"scheduler_ca": "f"})
    made = source_of_fleet(Fleet(cluster="m:C", arguments={"n": 1}))
    assert made == ClusterClass("m:C", {"n": 1})
    assert source_of_fleet(Fleet()) is None


@pytest.mark.parametrize(
    ("fleet", "fault"),
    [
        ({"ssh": ("a",), "scheduler": TLS_ADDRESS}, "ssh and scheduler exclude each other"),
        ({"cluster": "no-colon"}, "pattern"),
        ({"arguments": {"a": 1}}, "arguments go with cluster"),
        ({"ssh": ("a",), "scheduler_ca": "f"}, "go with scheduler"),
        ({"cluster": "m:C", "key": "k"}, "go with ssh, not with cluster"),
    ],
)
def test_a_fleet_of_others_that_cannot_be(fleet: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Fleet(**fleet)


# --- which they are, and what they are called ---


def worker(ip: str, name: str, machine: str) -> Worker:
    return Worker(f"tls://{ip}:4000{len(name)}", name, (machine, "pid:[1]"))


def test_of_each_machine_one_worker_is_a_host() -> None:
    found = one_each([
        worker("10.0.0.10", "b", "m2"), worker("10.0.0.9", "d", "m1"), worker("10.0.0.9", "c", "m1"),
    ])  # fmt: skip
    assert [one.name for one in found] == ["c", "b"]
    assert names_of(FAR, found) == [f"{TLS_ADDRESS}/10.0.0.9", f"{TLS_ADDRESS}/10.0.0.10"]
    assert notes_of(found) == []


def test_containers_of_one_machine_are_hosts_and_are_said() -> None:
    pods = [replace(worker("10.0.0.9", name, "m"), machine=("m", f"pid:[{name}]")) for name in ("p", "q")]
    assert one_each(pods) == pods
    assert names_of(FAR, pods) == [f"{TLS_ADDRESS}/p", f"{TLS_ADDRESS}/q"]
    assert names_of(ClusterClass("m:Cluster"), pods) == ["Cluster/1", "Cluster/2"]
    open_ = [replace(one, address=one.address.replace("tls", "tcp")) for one in pods]
    assert [note.split(" ")[0:2] for note in notes_of(open_)] == [["p,", "q"], ["the", "workers"]]


def test_the_way_on_names_where_they_come_from() -> None:
    assert source_words([]) == ""
    assert source_words(["root@a", "b:22"]) == "--ssh root@a,b:22"
    assert source_words([f"{TLS_ADDRESS}/10.0.0.9"] * 2) == f"--scheduler {TLS_ADDRESS} --load-hosts 2"
    assert source_words(["Cluster/1"]) == ""  # the study says it
    for name, said in ((f"{TLS_ADDRESS}/10.0.0.9", "RESULT --scheduler ...`"), ("a", "RESULT --ssh ...`"),
                       ("Cluster/1", "RESULT`")):  # fmt: skip
        assert said in lost_hint(name)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("", "has no Steelyard at /v/python: No module named steelyard"),
        (
            '{"version": "0.8.0", "source_hash": "x", "python": "3.11.7", "distributed": "1"}',
            "has Steelyard 0.8.0",
        ),
    ],
)
def test_a_worker_with_another_installation_is_refused(printed: str, said: str) -> None:
    done = subprocess.CompletedProcess[str]([], 0, printed, "Traceback\nNo module named steelyard\n")
    with pytest.raises(InfrastructureError, match=f"the worker w {said}") as caught:
        check_worker(worker("10.0.0.9", "w", "m"), "/v/python", OURS, done)
    assert "'steelyard[fleet]==0.9.0' distributed==2026.8.0" in str(caught.value.hint)


# --- a cluster that is made ---


class Cluster:
    """A class that could be one of a cluster."""

    scheduler_address, scale, close = "", None, None


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("no_such_package:Cluster", "no_such_package cannot be imported"),
        (f"{__name__}:Nothing", "has no Nothing"),
        (f"{__name__}:Study", "is no Dask cluster: it has no scale"),
    ],
)
def test_what_is_no_cluster(path: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        ClusterClass(path).make()


def test_arguments_that_a_cluster_does_not_take() -> None:
    with pytest.raises(InfrastructureError, match=r"cannot be made with \[fleet.arguments\]: Cluster"):
        ClusterClass(f"{__name__}:Cluster", {"colour": 1}).make()
