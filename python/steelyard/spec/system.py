"""Settings of systems: nothing, an embedded store, a local Cassandra cluster, a CQL cluster that is given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, field_validator, model_validator

from steelyard.spec.base import Model, SystemSettings
from steelyard.spec.local import LocalSystem

CONSISTENCY = (
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE",
)  # fmt: skip
PARTITIONERS = ("Murmur3Partitioner", "RandomPartitioner", "ByteOrderedPartitioner")


class NullSystem(SystemSettings):
    """Nothing: operations answer at once, so that what is measured is the engine itself."""

    kind: Literal["null"] = "null"


class EmbeddedSystem(SystemSettings):
    """A store inside the engine's own process (fjall), on a directory of this host."""

    kind: Literal["embedded"] = "embedded"
    path: Path | None = None
    """The store's directory; a temporary one, removed afterwards, if not given."""
    sync: bool = False
    """fsync after every write."""
    fresh: bool = False
    """Empty the store first."""

    @property
    def given(self) -> bool:
        """A store of a path stays, and was perhaps there before."""
        return self.path is not None


class Replication(Model):
    """Replication of the keyspace."""

    strategy: Literal["SimpleStrategy", "NetworkTopologyStrategy"] = "SimpleStrategy"
    factor: PositiveInt = 1
    """Replicas; with NetworkTopologyStrategy in each datacenter that `datacenters` does not name."""
    datacenters: dict[str, PositiveInt] = Field(default_factory=dict)
    """Replicas by datacenter (NetworkTopologyStrategy)."""

    def copies(self, datacenters: int) -> int:
        """Replicas of a row in a cluster of so many datacenters; 0 = it is not known how many."""
        if self.datacenters:
            return sum(self.datacenters.values())
        return self.factor * (max(1, datacenters) if self.strategy == "NetworkTopologyStrategy" else 1)


class CqlAccess(Model):
    """How the client uses a CQL system; the same for local and given clusters."""

    keyspace: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,47}$")] = "ycsb"
    read_consistency: str = "ONE"
    write_consistency: str = "ONE"
    load_consistency: str | None = None
    """Of the load phase's writes; None = `write_consistency`. ALL has every replica hold what was loaded."""
    connections: PositiveInt = 1
    """Connections to each node."""
    replication: Replication = Replication()
    durable_writes: bool = True
    table_options: tuple[str, ...] = ()
    """Table options as CQL after WITH, e.g. "compression = {'enabled': false}"."""
    local_datacenter: str | None = None
    token_aware: bool = True
    """A replica of the key coordinates (Murmur3Partitioner only); false: nodes take turns."""
    fresh: bool = False
    """Drop the table first."""

    @field_validator("read_consistency", "write_consistency", "load_consistency")
    @classmethod
    def _known_level(cls, value: str | None) -> str | None:
        if value is None:
            return None
        level = value.upper()
        if level not in CONSISTENCY:
            from steelyard.errors import nearest

            raise ValueError(f"unknown consistency level {value!r}{nearest(level, CONSISTENCY)}")
        return level


class Datacenter(Model):
    """Nodes of one datacenter, spread over its racks in turn."""

    name: str
    nodes: PositiveInt
    racks: PositiveInt = 1


class CassandraSystem(LocalSystem):
    """A local cluster of real Apache Cassandra nodes."""

    kind: Literal["cassandra"] = "cassandra"
    version: str = "5.0.7"
    """`5.0`, `4.1`, `3.11` mean the newest tried of that line."""
    heap_mib: PositiveInt | None = None
    """Heap of a node; None = the profile's."""
    partitioner: Literal["Murmur3Partitioner", "RandomPartitioner", "ByteOrderedPartitioner"] = (
        "Murmur3Partitioner"
    )
    tokens: PositiveInt | None = None
    """num_tokens; None = the profile's."""
    snitch: str | None = None
    """endpoint_snitch; None = SimpleSnitch, or GossipingPropertyFileSnitch when datacenters are given."""
    datacenters: tuple[Datacenter, ...] = ()
    """If given, their nodes make the cluster and `nodes` must be left out or equal their sum."""
    commitlog_sync: Literal["periodic", "batch", "group"] = "periodic"
    secure: bool = False
    """Passwords, and TLS to clients and between nodes, with a user and certificates made for this cluster."""
    mutual_tls: bool = False
    """With `secure`: clients show a certificate, too."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Any cassandra.yaml key, laid over everything else; by its name of 4.1 and later for older ones, too."""
    access: CqlAccess = CqlAccess()

    @model_validator(mode="after")
    def _sum_of_datacenters(self) -> CassandraSystem:
        total = sum(dc.nodes for dc in self.datacenters)
        if self.datacenters and "nodes" in self.model_fields_set and self.nodes != total:
            raise ValueError(f"nodes = {self.nodes}, but the datacenters have {total} together")
        return self

    @model_validator(mode="after")
    def _tls(self) -> CassandraSystem:
        if self.mutual_tls and not self.secure:
            raise ValueError("mutual_tls needs secure = true")
        return self

    @property
    def size(self) -> int:
        """Nodes of the cluster."""
        return sum(dc.nodes for dc in self.datacenters) or self.nodes

    @property
    def copies(self) -> int:
        """Replicas of a row."""
        return self.access.replication.copies(len(self.datacenters))


class HostsSystem(SystemSettings):
    """A running CQL cluster, given by addresses; nothing is started or stopped on it."""

    kind: Literal["hosts"] = "hosts"
    hosts: Annotated[tuple[str, ...], Field(min_length=1)]
    port: Annotated[int, Field(gt=0, lt=65536)] = 9042
    watch: bool = True
    """Ask its nodes for their figures each second (virtual tables)."""
    user: str | None = None
    password_file: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    access: CqlAccess = CqlAccess()

    @model_validator(mode="after")
    def _pairs(self) -> HostsSystem:
        if (self.user is None) != (self.password_file is None):
            raise ValueError("user and password_file belong together")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key belong together")
        if self.tls_cert is not None and self.tls_ca is None:
            raise ValueError("tls_cert needs tls_ca")
        return self

    @property
    def copies(self) -> int:
        """Replicas of a row, as far as it is told."""
        return self.access.replication.copies(0)

    @property
    def given(self) -> bool:
        """It is somebody else's."""
        return True
