"""Other machines: how they are named, entered and told, and what stands in the way."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.load_hosts import one_engine_each
from steelyard.cli.server_hosts import Roles, using
from steelyard.engine.clock import Exchange
from steelyard.errors import InfrastructureError, InputError, MissingToolError
from steelyard.hosts.host import HostLostError
from steelyard.hosts.remote import extra
from steelyard.hosts.remote.addresses import Address, addresses, chosen
from steelyard.hosts.remote.extra import require_fleet
from steelyard.hosts.remote.hello import Hello, check_alike, read_hello, unlike
from steelyard.hosts.remote.host import CALLS, RemoteHost
from steelyard.hosts.remote.launch import OPTIONS, QUIET, Order, command
from steelyard.hosts.remote.numbered import Numbered, unread
from steelyard.lab.load_hosts import LoadHosts, check_far, stolen
from steelyard.results.manifest import Manifest
from steelyard.spec.load import Load
from steelyard.spec.models import Settings, Study
from steelyard.spec.system import NullSystem
from steelyard.spec.trials import trials
from steelyard.spec.workload import CORE

OURS = Hello("0.9.0", "0a1b2c3d4e5f6071", "3.11.7", "2026.8.0")
HOUR_NS = 3600 * 10**9


def test_machines_as_users_name_them() -> None:
    found = addresses("a, root@b,c:2222,me@[fe80::1]:22,10.0.0.1")
    assert found == (
        Address("a"), Address("b", "root"), Address("c", port=2222), Address("fe80::1", "me", 22),
        Address("10.0.0.1"),
    )  # fmt: skip
    assert addresses(",".join(map(str, found))) == found


@pytest.mark.parametrize("text", ["", "a,,b", "a b", "a:port", "a:70000", "@a", "fe80::1"])
def test_what_is_no_machine(text: str) -> None:
    with pytest.raises(InputError, match="is no machine") as caught:
        addresses(text)
    assert "[USER@]HOST" in str(caught.value.hint)


def test_one_machine_is_one_host() -> None:
    with pytest.raises(InputError, match="b stands there twice"):
        addresses("a,b,root@b:2222")


def test_load_hosts_are_the_first_machines() -> None:
    machines = addresses("a,b,c")
    assert chosen(machines, None) == machines
    assert chosen(machines, 2) == machines[:2]
    for count in (0, 4):
        with pytest.raises(InputError, match=f"--load-hosts {count}: --ssh names 3 machines"):
            chosen(machines, count)


def test_keys_are_in_the_order_and_not_in_the_command() -> None:
    order = Order("tls://10.0.0.1:5", "root@a", {"tls_worker_key": "SECRET"})
    assert Order.read(order.line()) == order
    assert (order.config, order.options) == (QUIET, OPTIONS)
    assert "SECRET" not in command("/opt/my python/bin/python", "steelyard.hosts.remote.worker")
    assert command("/opt/my python/bin/python", "m") == "exec '/opt/my python/bin/python' -m m"


@given(st.lists(st.integers(0, 4)), st.lists(st.booleans()))
def test_every_line_is_read_once_and_in_order(pushes: list[int], lost: list[bool]) -> None:
    """Also where an answer is lost on the way, so that the same number is asked for again."""
    kept, sent, got, number = Numbered(), 0, [], 0
    answers = iter(lost)
    for count in [*pushes, 0]:
        for _ in range(count):
            kept.push(str(sent).encode())
            sent += 1
        first, lines = kept.since(number)
        if not next(answers, False):
            got += unread(number, first, lines)
            number = first + len(lines)
    first, lines = kept.since(number)
    got += unread(number, first, lines)
    assert got == [str(n).encode() for n in range(sent)]


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        (OURS, ""),
        (replace(OURS, python="3.11.2"), ""),
        (replace(OURS, version="0.8.0"), "has Steelyard 0.8.0, this is 0.9.0"),
        (replace(OURS, source_hash="ff"), "has the engine ff, this is 0a1b2c3d4e5f6071"),
        (
            replace(OURS, source_hash="", engine_fault="stale"),
            "has no engine (stale), this is 0a1b2c3d4e5f6071",
        ),
        (replace(OURS, distributed=""), "has distributed not, this is 2026.8.0"),
        (replace(OURS, python="3.12.1"), "has Python 3.12.1, this is 3.11.7"),
    ],
)
def test_another_installation_is_said(theirs: Hello, said: str) -> None:
    assert unlike(OURS, theirs) == said
    if said:
        with pytest.raises(InfrastructureError, match="root@a:2222 has ") as caught:
            check_alike(Address("a", "root", 2222), "/v/python", OURS, theirs)
        installs = (
            "ssh -p 2222 root@a \"/v/python -m pip install 'steelyard[fleet]==0.9.0' distributed==2026.8.0\""
        )
        assert str(caught.value.hint).startswith(installs)


def test_what_a_login_shell_prints_before_is_no_matter() -> None:
    assert read_hello(f"Welcome!\n{json.dumps(OURS.__dict__)}\n") == OURS
    for text in ("", "Welcome!", '{"version": "1"}', "[]"):
        assert read_hello(text) is None


def test_without_the_extra_the_flag_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra, "find_spec", lambda _name: None)
    with pytest.raises(
        MissingToolError, match="--ssh needs the Python packages distributed and asyncssh"
    ) as caught:
        require_fleet("--ssh")
    assert "pip install 'steelyard[fleet]'" in str(caught.value.hint)


def test_the_plain_command_does_not_load_the_extra() -> None:
    code = (
        "import sys; import steelyard.cli, steelyard.cli.hosts, steelyard.cli.conduct; "
        "print(sorted({'distributed', 'dask', 'asyncssh'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


class Answer:
    """What Dask gives for a question to an actor."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def result(self, _timeout: float | None = None) -> Any:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found

    def done(self) -> bool:
        return True


class Actor:
    """A worker's actor that answers from a list, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), []

    def __getattr__(self, name: str) -> Any:
        def ask(*given: Any) -> Answer:
            self.asked.append((name, *pickle.loads(pickle.dumps(given))))  # noqa: S301 - our own bytes
            return Answer(self.answers.pop(0))

        return ask


def test_a_method_of_the_port_is_asked_of_the_actor() -> None:
    actor = Actor((True, b"text"), (False, FileNotFoundError("none")))
    host = RemoteHost("a", "10.0.0.1", actor, None)
    assert host.as_host().get(Path("/x"), start=3) == b"text"
    assert actor.asked == [("call", "get", (Path("/x"),), {"start": 3})]
    with pytest.raises(FileNotFoundError, match="none"):
        host.as_host().get(Path("/y"))
    assert {"start", "signal", "claim", "take_down", "partition", "restore", "java"} <= CALLS
    with pytest.raises(AttributeError):
        host.as_host().nothing_of_the_port  # type: ignore[attr-defined]  # noqa: B018 - the look is the test


def test_a_lost_host_is_said_with_its_time_and_not_asked_again() -> None:
    actor = Actor(OSError("Unable to contact Actor's worker"))
    host = RemoteHost("a", "10.0.0.1", actor, None)
    for _ in range(2):
        with pytest.raises(HostLostError, match="the host a is lost"):
            host.as_host().records()
    assert host.lost_ns is not None
    assert len(actor.asked) == 1


def settings(**system: Any) -> Settings:
    workload = {"name": "a", "records": 10, "mix": {"read": 1}}
    return Settings.model_validate({"system": system, "workload": workload})


def test_load_hosts_need_a_system_that_they_reach(tmp_path: Path) -> None:
    check_far(settings(kind="null"))
    check_far(settings(kind="hosts", hosts=["10.0.0.1"]))
    with pytest.raises(InputError, match="answer on this machine alone") as caught:
        check_far(settings(kind="cassandra"))
    assert "--hosts" in str(caught.value.hint)
    with pytest.raises(InputError, match="lives in the engine's own process"):
        check_far(settings(kind="embedded"))
    with pytest.raises(InputError, match="tls_ca names a file of this machine"):
        check_far(settings(kind="hosts", hosts=["10.0.0.1"], tls_ca=tmp_path / "ca.pem"))


def test_each_load_host_runs_one_engine() -> None:
    machines = addresses("a,b")
    study = Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load(engines=3))
    with pytest.raises(InputError, match="is 3, and each of the 2 load hosts runs one") as caught:
        using(study, Roles(machines, ()), None, None).__enter__()
    assert caught.value.hint == "--set load.engines=2, or --load-hosts 3"
    assert one_engine_each({"clients": 4}, machines) == {"clients": 4, "engines": 2}
    with pytest.raises(InputError, match="--engines 3: each of the 2 load hosts runs one engine"):
        one_engine_each({"engines": 3}, machines)


@pytest.mark.parametrize("command", [["bench", "null"], ["run", "noise-floor"]])
def test_flags_of_load_hosts_go_with_ssh(command: list[str]) -> None:
    done = CliRunner().invoke(app, [*command, "--load-hosts", "2"])
    assert done.exit_code == 2
    assert "go with --ssh" in done.output


class Client:
    """Dask's client of a machine whose answers take so long, and whose clock is an hour ahead."""

    def __init__(self, round_trip_ns: int) -> None:
        self.round_trip_ns = round_trip_ns

    def sync(self, _exchanges: Any, callback_timeout: float | None = None) -> list[Exchange]:  # noqa: ARG002
        now = time.monotonic_ns()
        return [Exchange(now - self.round_trip_ns, now - self.round_trip_ns // 2 + HOUR_NS, now)]


def manifest(since_ns: int = 0) -> Manifest:
    study = Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load())
    return Manifest(trials(study)[0], since_ns)


@pytest.mark.parametrize(("bound_ms", "warned"), [(0.9, False), (1.1, True), (9.9, True)])
def test_how_well_clocks_were_known_is_in_the_manifest(bound_ms: float, warned: bool) -> None:
    host = RemoteHost("a", "10.0.0.1", Actor((True, {"cores": 2})), Client(round(2e6 * bound_ms)))
    before = host.measure_clock().measured[-1]
    told, hosts = manifest(since_ns=before.at_ns + 1), LoadHosts([host])
    hosts.note_facts(told)
    host.measure_clock()
    hosts.note_clocks(told)
    [said] = told.hosts
    [measured] = said.pop("clock")["measured"]
    assert measured["offset_ns"] == pytest.approx(HOUR_NS, abs=1)
    assert measured["bound_ns"] == pytest.approx(bound_ms * 1e6)
    assert said == {
        "name": "a", "address": "10.0.0.1", "role": "load", "engine": 0, "facts": {"cores": 2},
        "lost_ns": None,
    }  # fmt: skip
    assert [warning["kind"] for warning in told.warnings] == ["clock"] * warned


def test_a_clock_that_is_hardly_known_is_refused() -> None:
    host = RemoteHost("a", "10.0.0.1", Actor(), Client(20_200_000))
    with pytest.raises(InfrastructureError, match=r"the clock of a is known to 10\.1 ms only"):
        host.measure_clock()
    assert host.clock.measured == ()


def test_what_other_guests_took_of_a_load_host() -> None:
    told = manifest()
    rows = [
        {"t_ns": t * 10**9, "source": "machine", "metric": metric, "value": float(each * t)}
        for t in range(11)
        for metric, each in (
            ("cpu_seconds_total", 60),
            ("cpu_idle_seconds_total", 35),
            ("cpu_steal_seconds_total", 5),
        )
    ]
    system = pl.DataFrame(rows)
    assert stolen(system, told) is None
    told.phases.append({"name": "run", "start_ns": 2 * 10**9, "end_ns": 9 * 10**9})
    assert stolen(system, told) == pytest.approx(0.05)
