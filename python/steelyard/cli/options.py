"""The flags of `bench` as one table: what each is called, what it sets, what its help says.

From this table come the command's signature, its help, and the settings of the study that the flags describe.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

LOAD, WORKLOAD, CLUSTER, ACCESS, STORE = "Load", "Workload", "Local cluster", "Access", "Embedded store"


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes:
        name: as typed, perhaps with its opposite: `--read-all/--read-one`.
        setting: the study's setting it stands for, or "" when the command itself deals with it.
        kind: the type of its word.
        help: one line.
        panel: the heading in the help under which it stands.
        convert: turns the word into the setting's value; its ValueError names the flag.
    """

    name: str
    setting: str
    kind: Any
    help: str
    panel: str
    convert: Callable[[Any], Any] | None = None

    @property
    def parameter(self) -> str:
        """The name of the function's parameter."""
        return self.name.split("/")[0].split()[0].removeprefix("--").replace("-", "_")

    @property
    def long(self) -> str:
        """The name that an error shows."""
        return self.name.split("/")[0].split()[0]


def _seconds(text: str) -> float:
    from steelyard.spec.units import seconds

    return seconds(text)


def _milliseconds(text: str) -> int:
    from steelyard.spec.units import milliseconds

    return milliseconds(text)


def _mebibytes(text: str) -> int:
    from steelyard.spec.units import mebibytes

    return mebibytes(text)


def _constant_length(length: int) -> dict[str, Any]:
    return {"kind": "constant", "length": length}


def _hosts(text: str) -> list[str]:
    hosts = [host.strip() for host in text.split(",")]
    if not all(hosts):
        raise ValueError("expected addresses with commas between them, e.g. 10.0.0.1,10.0.0.2")
    return hosts


def _datacenters(text: str) -> list[dict[str, Any]]:
    found = []
    for part in text.split(","):
        name, _, size = part.partition("=")
        nodes, _, racks = size.partition(":")
        if not (name.strip() and nodes.isdigit() and (racks or "1").isdigit()):
            raise ValueError(
                "expected NAME=NODES or NAME=NODES:RACKS with commas between, e.g. dc1=2,dc2=3:2"
            )
        found.append({"name": name.strip(), "nodes": int(nodes), "racks": int(racks or 1)})
    return found


def _compat(word: str) -> str | None:
    return None if word == "none" else word


FLAGS: tuple[Flag, ...] = (
    Flag("--workload -w", "", str,
         "a-f of YCSB's core, a YCSB property file, or a TOML file.  [default: a]", WORKLOAD),
    Flag("--records", "workload.records", int, "Records loaded before the run.  [default: 100000]", WORKLOAD),
    Flag("--fields", "workload.fields.count", int, "Fields of a record.", WORKLOAD),
    Flag("--field-length", "workload.fields.length", int, "Bytes in a field.", WORKLOAD, _constant_length),
    Flag("--request", "workload.request.kind", str,
         "Which records: uniform, zipfian, latest, hotspot, sequential, exponential.", WORKLOAD),
    Flag("--theta", "workload.request.theta", float,
         "Skew of zipfian and latest.  [default: 0.99]", WORKLOAD),
    Flag("--compat", "workload.request.compat", str,
         "ycsb: draw records exactly as YCSB 0.17 does; none: do not.", WORKLOAD, _compat),
    Flag("--read-all/--read-one", "workload.read_all_fields", bool,
         "Reads ask for every field, or for one.", WORKLOAD),
    Flag("--write-all/--write-one", "workload.write_all_fields", bool,
         "Updates write every field, or one.", WORKLOAD),
    Flag("--verify", "workload.verify", str,
         "Judge returned values: off, sample, all (corrupt, foreign), full (also stale, lost).", WORKLOAD),
    Flag("--operations", "load.operations", int,
         "Operations of the run.  [default: 100000, without --duration]", LOAD),
    Flag("--duration", "load.duration_s", str, "Length of the run, e.g. 60s, 5m.", LOAD, _seconds),
    Flag("--warmup", "load.warmup_s", str, "Run this long before measuring, e.g. 10s.", LOAD, _seconds),
    Flag("--clients", "load.clients", int,
         "Clients of a closed loop: each waits for its answer.  [default: 32]", LOAD),
    Flag("--target", "load.target", float, "Operations per second that are due, answered or not.", LOAD),
    Flag("--arrivals", "load.arrivals", str, "With --target: constant or poisson.", LOAD),
    Flag("--in-flight", "load.in_flight", int,
         "With --target: most operations in flight.  [default: 1024]", LOAD),
    Flag("--engines", "load.engines", int, "Engine processes that share the load.", LOAD),
    Flag("--retry", "load.retry", str, "until-deadline or none.", LOAD),
    Flag("--timeout", "load.timeout_ms", str,
         "An operation's deadline over all attempts.  [default: 10s]", LOAD, _milliseconds),
    Flag("--realtime/--no-realtime", "load.realtime", bool,
         "Run the engine under SCHED_FIFO: paces to 50 us at p99.", LOAD),
    Flag("--seed", "seed", int, "Every random draw follows from it.  [default: 42]", LOAD),
    Flag("--nodes", "system.nodes", int, "Nodes of the local cluster.", CLUSTER),
    Flag("--version", "system.version", str, "Version of the database, e.g. 5.0, 4.1, 3.11.", CLUSTER),
    Flag("--profile", "system.profile", str,
         "default: upstream's settings except sizes; quick: starts fast.", CLUSTER),
    Flag("--heap", "system.heap_mib", str, "Heap of a node, e.g. 512m, 2g.", CLUSTER, _mebibytes),
    Flag("--cpu", "system.limits.cpu", float, "Cores a node may use.", CLUSTER),
    Flag("--memory", "system.limits.memory_mib", str, "Memory a node may use, e.g. 2g.", CLUSTER, _mebibytes),
    Flag("--disk-read", "system.limits.disk_read_mib_per_s", float, "MiB/s a node may read.", CLUSTER),
    Flag("--disk-write", "system.limits.disk_write_mib_per_s", float,
         "MiB/s a node may write.", CLUSTER),
    Flag("--snitch", "system.snitch", str, "endpoint_snitch of every node.", CLUSTER),
    Flag("--datacenters", "system.datacenters", str,
         "Nodes (and racks) of each datacenter: dc1=2,dc2=3:2; instead of --nodes.", CLUSTER, _datacenters),
    Flag("--network", "system.network", str, "loopback, or namespaces: each node has its own.", CLUSTER),
    Flag("--tokens", "system.tokens", int, "num_tokens of a node.", CLUSTER),
    Flag("--partitioner", "system.partitioner", str,
         "Murmur3Partitioner, RandomPartitioner or ByteOrderedPartitioner.", CLUSTER),
    Flag("--commitlog-sync", "system.commitlog_sync", str, "periodic, batch or group.", CLUSTER),
    Flag("--java", "system.java", str, "A Java home, or 11, 17, 21.", CLUSTER),
    Flag("--hosts", "system.hosts", str, "Use this running cluster: addresses with commas.", ACCESS, _hosts),
    Flag("--port", "system.port", int, "Its CQL port.  [default: 9042]", ACCESS),
    Flag("--user", "system.user", str, "User name.", ACCESS),
    Flag("--password-file", "system.password_file", str, "File whose first line is the password.", ACCESS),
    Flag("--tls-ca", "system.tls_ca", str, "Certificate authority (PEM): speak TLS.", ACCESS),
    Flag("--tls-cert", "system.tls_cert", str, "Client certificate (PEM).", ACCESS),
    Flag("--tls-key", "system.tls_key", str, "Client key (PEM).", ACCESS),
    Flag("--keyspace", "system.access.keyspace", str, "Keyspace, made if missing.  [default: ycsb]", ACCESS),
    Flag("--rf", "system.access.replication.factor", int, "Replication factor.  [default: 1]", ACCESS),
    Flag("--replication-strategy", "system.access.replication.strategy", str,
         "SimpleStrategy or NetworkTopologyStrategy.", ACCESS),
    Flag("--read-consistency", "system.access.read_consistency", str,
         "ONE, QUORUM, ALL, ...  [default: ONE]", ACCESS),
    Flag("--write-consistency", "system.access.write_consistency", str,
         "ONE, QUORUM, ALL, ...  [default: ONE]", ACCESS),
    Flag("--connections", "system.access.connections", int,
         "Connections to each node.  [default: 1]", ACCESS),
    Flag("--local-dc", "system.access.local_datacenter", str,
         "Only this datacenter's nodes coordinate.", ACCESS),
    Flag("--fresh/--no-fresh", "", bool, "Drop the table, or empty the store, first.", ACCESS),
    Flag("--path", "system.path", str,
         "Directory of the store, kept afterwards.  [default: a temporary one]", STORE),
    Flag("--sync/--no-sync", "system.sync", bool, "fsync after every write.", STORE),
)  # fmt: skip


def with_flags(
    flags: Sequence[Flag],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a parameter for each flag; its function receives them as `words`, absent ones None."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        kept = [p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD]
        command.__signature__ = inspect.Signature(kept + [_parameter(f) for f in flags])  # type: ignore[attr-defined]
        return command

    return decorate


def _parameter(flag: Flag) -> inspect.Parameter:
    option = typer.Option(
        *flag.name.split(" "), help=flag.help, rich_help_panel=flag.panel, show_default=False
    )
    return inspect.Parameter(
        flag.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[flag.kind | None, option],
    )


def said(words: Mapping[str, Any]) -> list[tuple[Flag, Any]]:
    """The flags that were given, with their words."""
    return [(flag, words[flag.parameter]) for flag in FLAGS if words.get(flag.parameter) is not None]
