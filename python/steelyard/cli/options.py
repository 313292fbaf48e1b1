"""The flags of `bench` as one table: what each is called, what it sets, what its help says.

From this table come the command's signature, its help, and the settings of the study that the flags describe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.cli.flag import (
    Flag,
    compat,
    constant_length,
    datacenters,
    hosts,
    mebibytes,
    milliseconds,
    seconds,
    with_flags,
)
from steelyard.cli.hbase_options import HBASE_CLUSTER, HBASE_FLAGS

__all__ = ["CLUSTER", "CLUSTER_PANELS", "FLAGS", "said", "with_flags"]

LOAD, WORKLOAD, CLUSTER, ACCESS, STORE = "Load", "Workload", "Local cluster", "Access", "Embedded store"
CLUSTER_PANELS = (CLUSTER, HBASE_CLUSTER)
"""What `cluster up` takes, too."""

FLAGS: tuple[Flag, ...] = (
    Flag("--workload -w", "", str,
         "a-f of YCSB's core, a YCSB property file, or a TOML file.  [default: a]", WORKLOAD),
    Flag("--records", "workload.records", int, "Records loaded before the run.  [default: 100000]", WORKLOAD),
    Flag("--fields", "workload.fields.count", int, "Fields of a record.", WORKLOAD),
    Flag("--field-length", "workload.fields.length", int, "Bytes in a field.", WORKLOAD, constant_length),
    Flag("--request", "workload.request.kind", str,
         "Which records: uniform, zipfian, latest, hotspot, sequential, exponential.", WORKLOAD),
    Flag("--theta", "workload.request.theta", float,
         "Skew of zipfian and latest.  [default: 0.99]", WORKLOAD),
    Flag("--compat", "workload.request.compat", str,
         "ycsb: draw records exactly as YCSB 0.17 does; none: do not.", WORKLOAD, compat),
    Flag("--read-all/--read-one", "workload.read_all_fields", bool,
         "Reads ask for every field, or for one.", WORKLOAD),
    Flag("--write-all/--write-one", "workload.write_all_fields", bool,
         "Updates write every field, or one.", WORKLOAD),
    Flag("--verify", "workload.verify", str,
         "Judge returned values: off, sample, all (corrupt, foreign), full (also stale, lost).", WORKLOAD),
    Flag("--operations", "load.operations", int,
         "Operations of the run.  [default: 100000, without --duration]", LOAD),
    Flag("--duration", "load.duration_s", str, "Length of the run, e.g. 60s, 5m.", LOAD, seconds),
    Flag("--warmup", "load.warmup_s", str, "Run this long before measuring, e.g. 10s.", LOAD, seconds),
    Flag("--clients", "load.clients", int,
         "Clients of a closed loop: each waits for its answer.  [default: 32]", LOAD),
    Flag("--target", "load.target", float, "Operations per second that are due, answered or not.", LOAD),
    Flag("--arrivals", "load.arrivals", str, "With --target: constant or poisson.", LOAD),
    Flag("--in-flight", "load.in_flight", int,
         "With --target: most operations in flight.  [default: 1024]", LOAD),
    Flag("--pacing", "load.pacing", str,
         "With --target: wake for what is due at once (exact), or at multiples of a time, e.g. 250us: "
         "less CPU, so much late.  [default: auto: late by less than 5% of a response]", LOAD),
    Flag("--engines", "load.engines", int, "Engine processes that share the load.", LOAD),
    Flag("--retry", "load.retry", str, "until-deadline or none.", LOAD),
    Flag("--timeout", "load.timeout_ms", str,
         "An operation's deadline over all attempts.  [default: 10s]", LOAD, milliseconds),
    Flag("--realtime/--no-realtime", "load.realtime", bool,
         "Run the engine under SCHED_FIFO: paces to 50 us at p99.", LOAD),
    Flag("--seed", "seed", int, "Every random draw follows from it.  [default: 42]", LOAD),
    Flag("--nodes", "system.nodes", int, "Nodes of the local cluster.", CLUSTER),
    Flag("--version", "system.version", str,
         "Version of the database, e.g. 5.0, 4.1, 3.11; HBase 2.6, 2.4.", CLUSTER),
    Flag("--profile", "system.profile", str,
         "default: upstream's settings except sizes; quick: starts fast.", CLUSTER),
    Flag("--heap", "system.heap_mib", str, "Heap of a node, or of a region server, e.g. 512m, 2g.",
         CLUSTER, mebibytes, {"hbase": "system.heaps.region_server_mib"}),
    Flag("--cpu", "system.limits.cpu", float, "Cores a node may use.", CLUSTER),
    Flag("--memory", "system.limits.memory_mib", str, "Memory a node may use, e.g. 2g.", CLUSTER, mebibytes),
    Flag("--disk-read", "system.limits.disk_read_mib_per_s", float, "MiB/s a node may read.", CLUSTER),
    Flag("--disk-write", "system.limits.disk_write_mib_per_s", float,
         "MiB/s a node may write.", CLUSTER),
    Flag("--snitch", "system.snitch", str, "endpoint_snitch of every node.", CLUSTER),
    Flag("--datacenters", "system.datacenters", str,
         "Nodes (and racks) of each datacenter: dc1=2,dc2=3:2; instead of --nodes.", CLUSTER, datacenters),
    Flag("--network", "system.network", str, "loopback, or namespaces: each node has its own.", CLUSTER),
    Flag("--tokens", "system.tokens", int, "num_tokens of a node.", CLUSTER),
    Flag("--partitioner", "system.partitioner", str,
         "Murmur3Partitioner, RandomPartitioner or ByteOrderedPartitioner.", CLUSTER),
    Flag("--commitlog-sync", "system.commitlog_sync", str, "periodic, batch or group.", CLUSTER),
    Flag("--java", "system.java", str, "A Java home, or 11, 17, 21.", CLUSTER),
    Flag("--hosts", "system.hosts", str, "Use this running cluster: addresses with commas.", ACCESS, hosts),
    Flag("--port", "system.port", int, "Its port.  [default: 9042; HBase 16000]", ACCESS),
    Flag("--user", "system.user", str, "User name.", ACCESS),
    Flag("--password-file", "system.password_file", str, "File whose first line is the password.", ACCESS),
    Flag("--tls-ca", "system.tls_ca", str, "Certificate authority (PEM): speak TLS.", ACCESS),
    Flag("--tls-cert", "system.tls_cert", str, "Client certificate (PEM).", ACCESS),
    Flag("--tls-key", "system.tls_key", str, "Client key (PEM).", ACCESS),
    Flag("--keyspace", "system.access.keyspace", str, "Keyspace, made if missing.  [default: ycsb]", ACCESS),
    Flag("--rf", "system.access.replication.factor", int,
         "Replication factor.  [default: 1; of a local HBase's HDFS: 3, or as many as nodes]", ACCESS,
         elsewhere={"hbase": "system.replication"}),
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
    *HBASE_FLAGS,
    Flag("--path", "system.path", str,
         "Directory of the store, kept afterwards.  [default: a temporary one]", STORE),
    Flag("--sync/--no-sync", "system.sync", bool, "fsync after every write.", STORE),
)  # fmt: skip


def said(words: Mapping[str, Any]) -> list[tuple[Flag, Any]]:
    """The flags that were given, with their words."""
    return [(flag, words[flag.parameter]) for flag in FLAGS if words.get(flag.parameter) is not None]
