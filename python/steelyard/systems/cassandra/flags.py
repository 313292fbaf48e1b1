"""The flags of a local Cassandra cluster, of a given CQL cluster, and of both."""

from __future__ import annotations

from steelyard.spec.flag import Flag, datacenters, hosts
from steelyard.systems.local_flags import (
    ACCESS,
    CLUSTER,
    CONNECTIONS,
    FRESH,
    HOSTS_HELP,
    LOCAL_FLAGS,
    PORT_HELP,
    RF_HELP,
    WATCH,
    heap,
)

CLIENT = (
    Flag("--keyspace", "system.access.keyspace", str, "Keyspace, made if missing.  [default: ycsb]", ACCESS),
    Flag("--rf", "system.access.replication.factor", int, RF_HELP, ACCESS),
    Flag("--replication-strategy", "system.access.replication.strategy", str,
         "SimpleStrategy or NetworkTopologyStrategy.", ACCESS),
    Flag("--read-consistency", "system.access.read_consistency", str,
         "ONE, QUORUM, ALL, ...  [default: ONE]", ACCESS),
    Flag("--write-consistency", "system.access.write_consistency", str,
         "ONE, QUORUM, ALL, ...  [default: ONE]", ACCESS),
    Flag("--load-consistency", "system.access.load_consistency", str,
         "Of records that are loaded; ALL: every replica holds them.  [default: as writes]", ACCESS),
    CONNECTIONS,
    Flag("--local-dc", "system.access.local_datacenter", str,
         "Only this datacenter's nodes coordinate.", ACCESS),
    FRESH,
)  # fmt: skip

CASSANDRA = (
    *LOCAL_FLAGS,
    heap("system.heap_mib"),
    Flag("--snitch", "system.snitch", str, "endpoint_snitch of every node.", CLUSTER),
    Flag("--datacenters", "system.datacenters", str,
         "Nodes (and racks) of each datacenter: dc1=2,dc2=3:2; instead of --nodes.", CLUSTER, datacenters),
    Flag("--tokens", "system.tokens", int, "num_tokens of a node.", CLUSTER),
    Flag("--partitioner", "system.partitioner", str,
         "Murmur3Partitioner, RandomPartitioner or ByteOrderedPartitioner.", CLUSTER),
    Flag("--commitlog-sync", "system.commitlog_sync", str, "periodic, batch or group.", CLUSTER),
    Flag("--secure/--no-secure", "system.secure", bool,
         "Passwords and TLS (also between nodes), with a user and certificates made for it.", CLUSTER),
    Flag("--mutual-tls/--no-mutual-tls", "system.mutual_tls", bool,
         "With --secure: clients show a certificate, too.", CLUSTER),
    *CLIENT,
)  # fmt: skip

GIVEN = (
    Flag("--hosts", "system.hosts", str, HOSTS_HELP, ACCESS, hosts),
    Flag("--port", "system.port", int, PORT_HELP, ACCESS),
    Flag("--user", "system.user", str, "User name.", ACCESS),
    Flag("--password-file", "system.password_file", str, "File whose first line is the password.", ACCESS),
    Flag("--tls-ca", "system.tls_ca", str, "Certificate authority (PEM): speak TLS.", ACCESS),
    Flag("--tls-cert", "system.tls_cert", str, "Client certificate (PEM).", ACCESS),
    Flag("--tls-key", "system.tls_key", str, "Client key (PEM).", ACCESS),
    WATCH,
    *CLIENT,
)
