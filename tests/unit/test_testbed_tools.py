"""Java, Maven, control groups and the CQL probe, against what stands in for them."""

from __future__ import annotations

import socket
import struct
import threading
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError, InputError, MissingToolError
from steelyard.hosts import artifacts, cgroup, java
from steelyard.spec.local import NodeLimits
from steelyard.spec.system import EmbeddedSystem, HostsSystem, NullSystem
from steelyard.systems import create
from steelyard.systems.cassandra import cql_probe
from steelyard.systems.cassandra.login import CqlPlace


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "JVM_FOLDER", tmp_path / "jvm")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(java.shutil, "which", lambda _: None)
    java.probe.cache_clear()


def fake_java(home: Path, version: str) -> Path:
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    binary.chmod(0o755)
    return binary


def test_java_prefers_the_first_supported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "jvm" / "eleven", "11.0.13")
    fake_java(tmp_path / "jvm" / "seventeen", "17.0.9")
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "1.8.0_392").parents[1]))
    assert java.find_java(None, (17, 11), "x").major == 17
    assert java.find_java("11", (17, 11), "x").binary == tmp_path / "jvm" / "eleven" / "bin" / "java"
    assert java.find_java(None, (8, 11), "x").major == 8
    assert java.find_java(str(tmp_path / "old"), (8,), "x").major == 8


def test_a_missing_java_says_what_to_do(tmp_path: Path) -> None:
    fake_java(tmp_path / "jvm" / "new", "25.0.1")
    with pytest.raises(MissingToolError, match=r"Cassandra 4.1 needs Java 11 or 8; found: 25 ") as caught:
        java.find_java(None, (11, 8), "Cassandra 4.1")
    assert "steelyard doctor --fetch-java 11" in (caught.value.hint or "")
    with pytest.raises(InputError, match=r"runs on Java 17 or 11, but .* is Java 25"):
        java.find_java(str(tmp_path / "jvm" / "new"), (17, 11), "Cassandra 5.0")
    with pytest.raises(InputError, match="is no Java that runs"):
        java.find_java(str(tmp_path / "nothing"), (17,), "Cassandra 5.0")
    with pytest.raises(InputError, match="runs on Java 17, not on 21"):
        java.find_java("21", (17,), "Cassandra 5.0")


def test_fetched_java_is_found_in_the_cache() -> None:
    home = java.fetched_binary(java.PINNED[11]).parents[1]
    fake_java(home, "11.0.13")
    assert java.find_java(None, (11,), "x").binary == home / "bin" / "java"


def test_no_maven_is_a_clear_error() -> None:
    with pytest.raises(MissingToolError, match=r"no Maven \(mvn\), which fetches cassandra-9") as caught:
        artifacts.fetch("cassandra-9", ["g:a:9"])
    assert "install maven" in (caught.value.hint or "")


@pytest.mark.parametrize(("said", "error", "hint"), [
    ("[ERROR] Could not find artifact g:a:jar:9 in central", InputError, "spelt right"),
    ("[ERROR] Unknown host mirror", InfrastructureError, "network"),
    ("[ERROR] No space left on device", InfrastructureError, "disk"),
])  # fmt: skip
def test_mavens_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, error: type[Exception], hint: str
) -> None:
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(f"#!/bin/sh\necho '{said}'\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:/usr/bin:/bin")
    monkeypatch.setattr(artifacts.shutil, "which", lambda _: str(maven))
    with pytest.raises(error) as caught:
        artifacts.fetch("a-9", ["g:a:9"])
    assert hint in (caught.value.hint or "")  # type: ignore[attr-defined]
    assert not [path for path in (tmp_path / "cache" / "servers").iterdir() if path.is_dir()]


def test_limits_are_written_for_both_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "device_of", lambda _: "254:0")
    limits = NodeLimits(memory_mib=512, disk_write_mib_per_s=2, disk_read_iops=50)
    old = cgroup.Group({name: tmp_path / name for name in cgroup.CONTROLLERS})
    new = cgroup.Group({"unified": tmp_path / "unified"})
    for folder in (*old.folders.values(), *new.folders.values()):
        folder.mkdir()
    for group in (old, new):
        cgroup.limit_cpu(group, 0.25)
        cgroup.limit(group, limits, tmp_path)
    assert (tmp_path / "cpu" / "cpu.cfs_quota_us").read_text() == "25000"
    assert (tmp_path / "memory" / "memory.limit_in_bytes").read_text() == str(512 << 20)
    assert (tmp_path / "blkio" / "blkio.throttle.write_bps_device").read_text() == "254:0 2097152"
    assert (tmp_path / "unified" / "cpu.max").read_text() == "25000 100000"
    assert (tmp_path / "unified" / "memory.max").read_text() == str(512 << 20)
    cgroup.limit_cpu(new, None)
    assert (tmp_path / "unified" / "cpu.max").read_text() == "max 100000"


def test_a_limit_without_control_groups_is_refused() -> None:
    group = cgroup.Group({}, {"cpu": "not mounted"})
    cgroup.limit_cpu(group, None)
    with pytest.raises(InfrastructureError, match="controller 'cpu': not mounted"):
        cgroup.limit_cpu(group, 1.0)


def frame(opcode: int, body: bytes) -> bytes:
    return struct.pack(">BBhBI", 0x84, 0, 1, opcode, len(body)) + body


def serve(*answers: bytes) -> CqlPlace:
    """A server that gives these answers to the first connection, one a request."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listener, listener.accept()[0] as client:
            for answer in answers:
                client.recv(65536)
                client.sendall(answer)

    threading.Thread(target=run, daemon=True).start()
    return CqlPlace("127.0.0.1", listener.getsockname()[1])


def test_rows_of_a_query() -> None:
    cells = b"".join(struct.pack(">i", len(cell)) + cell for cell in (b"one", b"")) + struct.pack(">i", -1)
    body = struct.pack(">IIII", 2, 4, 3, 1) + cells
    place = serve(frame(2, b""), frame(8, body))
    assert cql_probe.ask(place, "SELECT a, b, c FROM t") == [[b"one", b"", None]]


def test_a_refused_query_says_why() -> None:
    place = serve(frame(2, b""), frame(0, struct.pack(">IH", 0x1000, 4) + b"oops"))
    with pytest.raises(cql_probe.CqlRefusedError, match="oops"):
        cql_probe.ask(place, "SELECT")


def test_whether_a_node_answers() -> None:
    assert cql_probe.answers(serve(frame(6, b"\x00\x00")))
    assert not cql_probe.answers(serve(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    assert not cql_probe.answers(CqlPlace("127.10.251.1", 9))


def test_embedded_store_is_removed_unless_it_was_given(tmp_path: Path) -> None:
    for system, kept in ((EmbeddedSystem(), False), (EmbeddedSystem(path=tmp_path / "mine"), True)):
        testbed = create(system, name="x", root=tmp_path / "root")
        testbed.up(lambda _: None)
        plan = testbed.driver()
        assert Path(plan["path"]).is_dir()
        testbed.down(lambda _: None)
        testbed.down(lambda _: None)
        assert Path(plan["path"]).exists() is kept


def test_hosts_plan_has_what_was_given_and_no_more() -> None:
    testbed = create(
        HostsSystem(hosts=("a", "b:9999"), user="u", password_file=Path("/p")), name="x", root=Path()
    )
    plan = testbed.driver()
    assert plan["hosts"] == ["a", "b:9999"]
    assert (plan["kind"], plan["user"], plan["password_file"]) == ("cql", "u", "/p")
    assert not {"tls_ca", "access", "local_datacenter"} & set(plan)


def test_hosts_that_do_not_answer_are_named() -> None:
    testbed = create(HostsSystem(hosts=("127.10.251.1:9",)), name="x", root=Path())
    with pytest.raises(
        InfrastructureError, match=r"none of the hosts answers CQL \(127.10.251.1:9: .*refused"
    ):
        testbed.up(lambda _: None)


def test_null_needs_nothing() -> None:
    testbed = create(NullSystem(), name="x", root=Path())
    assert testbed.driver() == {"kind": "null"}
    assert testbed.settle(1.0, lambda _: None).quiet
