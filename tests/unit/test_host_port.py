"""A host is a port: nothing but hosts/ and watch/ touches a machine, and a cluster's life goes through it."""

from __future__ import annotations

import ast
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.cluster import _show_logs
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import process, records
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import Host
from steelyard.hosts.local import LocalHost
from steelyard.hosts.network import Endpoint
from steelyard.hosts.process import Identity
from steelyard.hosts.say import Say
from steelyard.hosts.snapshots import Rules
from steelyard.spec.local import LocalSystem
from steelyard.systems.base import Settled
from steelyard.systems.capabilities import AddOptions, Note
from steelyard.systems.cluster import LocalCluster
from steelyard.systems.node import Node, NodeSpec, stop
from steelyard.systems.server import ServerSpec
from steelyard.watch.target import WatchTarget

SOURCE = Path(__file__).parents[2] / "python" / "steelyard"
MODULES = {"shutil", "subprocess", "fcntl", "psutil", "tempfile", "zipfile", "ctypes"}
"""With these one gets at files and processes."""
METHODS = {
    "read_text", "write_text", "read_bytes", "write_bytes", "open", "mkdir", "rmdir", "unlink", "touch",
    "glob", "rglob", "iterdir", "exists", "is_file", "is_dir", "stat", "lstat", "symlink_to", "hardlink_to",
}  # fmt: skip
"""Of a `Path` those that look at a disk."""
OWN_FILES = {
    "systems/embedded.py", "systems/inventory.py", "systems/cassandra/login.py",
    "systems/cassandra/ycsb.py", "systems/hbase/site_file.py",
}  # fmt: skip
"""The engine's store, which lives where the engine does; `doctor`, which looks at this machine; the user's
files of passwords, certificates and addresses, which are the client's."""
OWN_MACHINE = {
    "engine/pipes.py", "lab/bench_program.py", "calibrate/drive.py", "results/clock.py",
    "lab/timeline/commands.py",
}  # fmt: skip
"""The engine's own process; a bench's program, which signals itself; the processors and the clock of the
machine that measures; what a user has it run."""


def touches(source: str) -> Iterator[str]:
    """What of a module's source signals processes, or reads /proc or /sys."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name("os"), attr=name) if name.startswith(("kill", "pidfd_")):
                yield f"os.{name}"
            case ast.Constant(value=str(text)) if text.startswith(("/proc/", "/sys/")):
                yield text


def opens(source: str) -> Iterator[str]:
    """What of a module's source opens files or starts processes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (found.name for found in names if found.name in MODULES)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in MODULES:
                yield module
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
                yield f".{name}()"
            case ast.Call(func=ast.Name("open")):
                yield "open()"


def sources(*rooms: str) -> Iterator[tuple[str, str]]:
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            yield path.relative_to(SOURCE).as_posix(), path.read_text()


def test_only_hosts_and_watch_touch_a_machine() -> None:
    rooms = [path.name for path in SOURCE.iterdir() if path.is_dir() and path.name not in {"hosts", "watch"}]
    found = {path: [*touches(text)] for path, text in sources(*rooms) if path not in OWN_MACHINE}
    assert {path: what for path, what in found.items() if what} == {}


def test_systems_and_commands_on_clusters_open_no_file() -> None:
    rooms = [*sources("systems"), ("cli/cluster.py", (SOURCE / "cli" / "cluster.py").read_text())]
    found = {path: [*opens(text)] for path, text in rooms if path not in OWN_FILES}
    assert {path: what for path, what in found.items() if what} == {}


def test_the_scan_sees_what_it_is_for() -> None:
    assert {*touches("import os\nos.kill(1, 9)\nx = '/proc/1/stat'")} == {"os.kill", "/proc/1/stat"}
    seen = "import shutil\nfrom subprocess import run\nfolder.mkdir()\nopen('x')\n'a'.replace('a', 'b')"
    assert [*opens(seen)] == ["shutil", "subprocess", ".mkdir()", "open()"]


class FarHost:
    """A host behind a wire: what goes there and back is pickled, and what is asked for is noted."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._there = LocalHost()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **words: Any) -> Any:
            self.asked.append(name)
            there, named = pickle.loads(pickle.dumps((given, words)))  # noqa: S301 - our own bytes
            try:
                done = getattr(self._there, name)(*there, **named)
            except Exception as error:
                raise pickle.loads(pickle.dumps(error)) from None  # noqa: S301 - our own bytes
            return done if name == "watch" else pickle.loads(pickle.dumps(done))  # noqa: S301 - our own bytes

        return call


SERVER = "import sys, time; print('serving', flush=True); time.sleep(600)"


class StandIn(LocalCluster[Node]):
    """A cluster whose servers say that they serve, and sleep."""

    kind = "stand-in"
    rules = Rules(("data",), lambda _: False)

    def _fetch(self, say: Say) -> None:
        pass

    def _specs(self, block: str, _spaces: Sequence[str]) -> Sequence[NodeSpec]:
        return self._numbered(block, range(1, self.system.size + 1))

    def _reserved(self, block: str, _spaces: Sequence[str]) -> Sequence[NodeSpec]:
        return self._numbered(block, range(self.system.size + 1, self.system.size + self.system.spare + 1))

    def _numbered(self, block: str, numbers: range) -> Sequence[NodeSpec]:
        return [NodeSpec(n, f"node{n}", f"{block}.{n}", self.folder / f"node{n}") for n in numbers]

    def _listening(self, spec: NodeSpec) -> Mapping[Endpoint, str]:
        return {(spec.address, 7199): ""}

    def _recorded(self, spec: NodeSpec) -> dict[str, Any]:
        return {"name": spec.name, "folder": str(spec.folder)}

    def _make_node(self, spec: NodeSpec, group: Group) -> Node:
        self.host.put(spec.folder / "conf" / "settings", "quick")
        server = ServerSpec(spec.name, spec.folder, lambda: [sys.executable, "-c", SERVER])
        return Node(spec, group, [self._server(server, group)])

    def _start(self, say: Say) -> None:
        for found in self.nodes:
            found.start()
            self._wait_serves(found, say)

    def _wait_serves(self, found: Node, say: Say) -> None:
        while b"serving" not in self.host.get(found.spec.folder / "logs" / "stdout.log"):
            assert found.alive
        say(f"{found.name} serves")

    def shaped_by(self) -> dict[str, Any]:
        return {}

    def flush_all(self) -> None:
        pass

    def settle(self, _limit_s: float, _say: Say) -> Settled:
        return Settled(True, 0.0)

    def holding(self) -> dict[str, Any]:
        return {}

    def leave(self, say: Say) -> None:
        pass

    def targets(self) -> Sequence[WatchTarget]:
        return [WatchTarget(found.name, self.name, found.group.folders) for found in self.nodes]

    def add(self, names: Sequence[str], options: AddOptions, note: Note, say: Say) -> None:
        for found in self._grow(names, self._make_node, limited=options.limited):
            found.start()
            self._wait_serves(found, say)
            note(found.name, "joined")

    def remove(self, names: Sequence[str], note: Note, _say: Say) -> None:
        gone = [self.node(name) for name in names]
        stop([server for found in gone for server in found.servers])
        self._shrink(gone)
        for name in names:
            note(name, "stopped")

    def driver(self) -> dict[str, Any]:
        return {}

    def facts(self) -> dict[str, Any]:
        return {"nodes": [self.running_facts(found) for found in self.nodes]}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


@pytest.fixture
def far() -> FarHost:
    return FarHost()


@pytest.fixture
def cluster(tmp_path: Path, far: FarHost) -> Iterator[StandIn]:
    host: Host = far  # type: ignore[assignment] - it answers to every name
    made = StandIn(LocalSystem(kind="stand-in", nodes=2), name="stand-in", root=tmp_path / "work", host=host)
    made.up(lambda _: None)
    yield made
    made.down(lambda _: None)


def identity(cluster: StandIn, node: int) -> Identity:
    found = cluster.servers[node].identity
    assert found is not None
    return found


def test_a_cluster_lives_on_a_host_behind_a_wire(cluster: StandIn, far: FarHost, tmp_path: Path) -> None:
    first = identity(cluster, 0)
    assert cluster.dead() == []
    far.signal(first, signal.SIGKILL)
    far.wait([first], 10.0)
    (death,) = cluster.dead()
    assert (death.server, death.why, death.life) == ("node1", "killed by SIGKILL", first)
    assert cluster.serves()
    cluster.restart("node1")
    assert cluster.dead() == []
    assert identity(cluster, 0) != first
    cluster.freeze("node2")
    while not far.look(identity(cluster, 1)).frozen:
        assert cluster.nodes[1].alive
    cluster.thaw("node2")
    cluster.kill("node2")
    assert cluster.dead() == []  # it was asked for
    cluster.collect(tmp_path / "kept")
    assert (tmp_path / "kept" / "node2" / "conf" / "settings").read_text() == "quick"
    assert "serving" in (tmp_path / "kept" / "node1" / "logs" / "stdout.log").read_text()
    cluster.kill_servers()
    far.wait([identity(cluster, 0)], 10.0)
    assert not cluster.serves()
    cluster.down(lambda _: None)
    assert records.records() == []
    assert not (tmp_path / "work").exists()  # made for the cluster, and gone with it
    wanted = {"claim", "start", "signal", "look", "wait", "put", "get", "fetch", "make_group", "take_down"}
    assert wanted <= {*far.asked}


def test_a_name_is_taken_by_one(cluster: StandIn, tmp_path: Path) -> None:
    other = StandIn(
        LocalSystem(kind="stand-in", nodes=1), name="stand-in", root=tmp_path / "other", host=cluster.host
    )
    with pytest.raises(InputError, match="a cluster named 'stand-in' is up"):
        other.up(lambda _: None)
    assert all(server.alive for server in cluster.servers)


def test_nodes_are_sampled_by_their_records(cluster: StandIn, far: FarHost) -> None:
    watch = far.watch(cluster.targets(), {})
    cluster.restart("node1")
    watch.stop()
    told = set(watch.frame().filter(metric="memory_bytes")["source"])
    assert {"node1", "node2"} <= told
    assert far.pids(cluster.targets()[0]) == [identity(cluster, 0).pid]


def test_a_failed_start_leaves_nothing_but_its_logs(
    cluster: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StandIn, "_wait_serves", lambda *_: 1 / 0)
    other = StandIn(
        LocalSystem(kind="stand-in", nodes=2), name="other", root=tmp_path / "other", host=cluster.host
    )
    with pytest.raises(ZeroDivisionError):
        other.up(lambda _: None)
    assert not process.alive(identity(other, 0))
    assert [record.name for record in records.records()] == ["stand-in"]
    assert not (tmp_path / "other").exists()
    assert (tmp_path / "state" / "failed" / "other" / "node1" / "conf" / "settings").exists()


def test_what_fails_after_a_failed_start_keeps_nothing_from_being_taken_down(
    cluster: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine tells faults of its system as an InfrastructureError."""

    def full(*_: object) -> None:
        raise InfrastructureError("the host a: No space left on device")

    for step in ("collect", "kill_servers"):
        monkeypatch.setattr(StandIn, step, full)
    monkeypatch.setattr(StandIn, "_wait_serves", lambda *_: 1 / 0)
    other = StandIn(
        LocalSystem(kind="stand-in", nodes=1), name="other", root=tmp_path / "other", host=cluster.host
    )
    with pytest.raises(ZeroDivisionError):
        other.up(lambda _: None)
    assert not process.alive(identity(other, 0))
    assert [record.name for record in records.records()] == ["stand-in"]


TOOL = """
import sys, threading, time
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_host_port import LocalHost, LocalSystem, StandIn
system = LocalSystem(kind="stand-in", nodes=1)
made = StandIn(system, name="threads", root=Path(sys.argv[1]), host=LocalHost())
starter = threading.Thread(target=made.up, args=(lambda _: None,))
starter.start()
starter.join()
print(made.servers[0].identity.pid, flush=True)
time.sleep(600)
"""


def test_a_server_started_by_a_thread_lives_and_dies_with_the_tool(tmp_path: Path) -> None:
    words = [sys.executable, "-c", TOOL, str(tmp_path / "work"), str(Path(__file__).parent)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as tool:
        try:
            assert tool.stdout is not None
            server = process.identity(int(tool.stdout.readline()))
            assert server is not None
            assert not process.wait_gone([server], 0.5)  # though the thread that started it has ended
        finally:
            tool.kill()
    assert process.wait_gone([server], 10.0)
    assert LocalHost().end_leftovers() == [f"ended threads, left over by process {tool.pid}"]
    assert not (tmp_path / "work").exists()


def test_the_ends_of_logs_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = [tmp_path / name for name in ("a.log", "b.log", "none.log")]
    with pytest.raises(InfrastructureError, match="nothing has been logged"):
        _show_logs(LocalHost(), logs, 2, follow=False)
    logs[0].write_text("one\ntwo\nthree\n")
    logs[1].write_text("four\n")
    _show_logs(LocalHost(), logs, 2, follow=False)
    assert capsys.readouterr().out == f"==> {logs[0]} <==\ntwo\nthree\n==> {logs[1]} <==\nfour\n"
    _show_logs(LocalHost(), logs[:1], 1, follow=False)
    assert capsys.readouterr().out == "three\n"
