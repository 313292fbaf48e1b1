"""The agent in a real Java process that is no database: its protocol, alone."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from watching import HEAP, SENT_NS, await_missing, await_samples, times

from steelyard.errors import InfrastructureError
from steelyard.watch import AgentClient, Sampler, agent_jar, ask
from steelyard.watch.target import WatchTarget

pytestmark = pytest.mark.live

HOST = "127.0.0.29"
SLEEPER = (
    "public class Sleeper { public static void main(String[] a) throws Exception { Thread.sleep(120000); } }"
)
NAMESPACE = "steelyard-watch-test"


@contextmanager
def java(
    folder: Path, host: str, prefix: tuple[str, ...] = ()
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A sleeping Java process with the agent; yields it and the agent's port, when the agent answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "Sleeper.java").write_text(SLEEPER)
    load = f"-javaagent:{agent_jar()}=port={port},host={host}"
    process = subprocess.Popen(
        [*prefix, "java", "-XX:TieredStopAtLevel=1", load, str(folder / "Sleeper.java")]
    )
    try:
        wait_for((host, port), NAMESPACE if prefix else None)
        yield process, port
    finally:
        process.kill()
        process.wait()


def wait_for(address: tuple[str, int], namespace: str | None) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            ask(address, "ping", namespace=namespace)
        except InfrastructureError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def test_the_protocol(tmp_path: Path) -> None:
    with java(tmp_path, HOST) as (process, port), AgentClient((HOST, port)) as client:
        assert client.ask("ping")["runtime"].startswith(f"{process.pid}@")
        metrics = client.ask("metrics")["metrics"]
        assert 0 < metrics["server_heap_used_bytes"] < metrics["server_heap_max_bytes"]
        assert {"server_gc_seconds_total", "server_gc_count_total"} <= set(metrics)
        assert not [name for name in metrics if "compaction" in name]  # there is no such bean here
        assert client.ask("read java.lang:type=Runtime SpecName")["value"].startswith("Java")
        usage = client.ask("read java.lang:type=Memory HeapMemoryUsage")["value"]
        assert {"init", "used", "committed", "max"} <= set(usage)
        assert "java.lang:type=Memory" in client.ask("names java.lang:type=*")["names"]
        properties = client.ask("read java.lang:type=Runtime SystemProperties")
        assert properties["value"] is not None
        for wrong, why in {
            "dance": "unknown command 'dance'",
            "read": "too few words",
            "read java.lang:type=Nothing X": "InstanceNotFoundException",
            "operation dance": "unknown operation 'dance'",
            'operation "q\\u0001ü\t"': "unknown operation",
            "operation flush": "InstanceNotFoundException",
        }.items():
            with pytest.raises(InfrastructureError, match=why):
                client.ask(wrong)
        assert client.ask("ping")["seconds"] < 1


def test_it_listens_on_its_host_only(tmp_path: Path) -> None:
    with java(tmp_path, HOST) as (_, port), pytest.raises(InfrastructureError, match="refused"):
        ask(("127.0.0.28", port), "ping")


def test_a_stopped_process_does_not_stop_the_sampling(tmp_path: Path) -> None:
    with java(tmp_path, HOST) as (process, port):
        target = WatchTarget("node1", agent=(HOST, port))
        sampler = Sampler([target], dict, os.getpid(), lambda _: [process.pid], 0.1)
        sampler.start()
        await_samples(sampler, "node1", HEAP, 4)
        process.send_signal(signal.SIGSTOP)
        stopped_ns = time.monotonic_ns()
        await_samples(sampler, "node1", "cpu_seconds_total", 12, stopped_ns)  # though its agent says nothing
        await_missing(sampler, "node1.server_*", "samples: no answer for")
        process.send_signal(signal.SIGCONT)
        resumed_ns = time.monotonic_ns()
        await_samples(sampler, "node1", HEAP, 4, resumed_ns)
        sampler.stop()
    assert not times(sampler, "node1", HEAP).is_between(stopped_ns + SENT_NS, resumed_ns).any()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip(8)")
def test_inside_a_network_namespace(tmp_path: Path) -> None:
    subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
    try:
        subprocess.run(["ip", "-n", NAMESPACE, "link", "set", "lo", "up"], check=True)
        prefix = ("ip", "netns", "exec", NAMESPACE)
        with java(tmp_path, "127.0.0.1", prefix) as (process, port):
            address = ("127.0.0.1", port)
            assert ask(address, "ping", namespace=NAMESPACE)["runtime"].startswith(f"{process.pid}@")
            with pytest.raises(InfrastructureError, match="refused"):
                ask(address, "ping")
            target = WatchTarget("node1", namespace=NAMESPACE, agent=address)
            sampler = Sampler([target], dict, os.getpid(), lambda _: [process.pid], 0.1)
            sampler.start()
            await_samples(sampler, "node1", HEAP, 1)
            sampler.stop()
        assert sampler.latest("node1", "server_heap_used_bytes")
        assert sampler.latest("node1", "network_send_bytes_total") == 0  # loopback is not the network
        assert sampler.latest("machine", "network_send_bytes_total")
    finally:
        subprocess.run(["ip", "netns", "delete", NAMESPACE], check=True)
