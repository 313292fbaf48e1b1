"""HBase as a system under test: a local cluster, or one given by its addresses; how the client uses it."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from steelyard.spec.base import Model, SystemSettings
from steelyard.spec.local import LocalSystem, NodeLimits
from steelyard.spec.units import byte_count, bytes_text

DURABILITY = ("USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL")
HDFS = "dfs."
"""Keys of HDFS begin with it."""
BLOCK_MIB = 128
"""Of HDFS, as shipped (dfs.blocksize)."""
OPEN_BLOCKS = 32
"""Room for 16 files at once: logs of a few servers, and the files that regions make while they open."""
BLOOM = ("NONE", "ROW", "ROWCOL")
Port = Annotated[int, Field(gt=0, lt=65536)]


def _one_of(value: str, known: tuple[str, ...], what: str) -> str:
    word = value.upper().replace("-", "_")
    if word not in known:
        from steelyard.errors import nearest

        raise ValueError(f"unknown {what} {value!r}{nearest(word, known)}; known: {', '.join(known)}")
    return word


def _bytes(size: Any) -> int:
    """As HDFS takes a size: bytes, or with a unit."""
    text = str(size)
    return int(text) if text.isdecimal() else byte_count(text)


class HBaseAccess(Model):
    """How the client uses an HBase system; the same for local and given clusters."""

    table: Annotated[str, Field(pattern=r"^([A-Za-z0-9_]+:)?[A-Za-z0-9_][A-Za-z0-9_.-]*$")] = "usertable"
    """A table of the default namespace, or "namespace:table"."""
    family: Annotated[str, Field(pattern=r"^[^:/.\x00-\x1f][^:/\x00-\x1f]*$")] = "family"
    durability: str = "USE_DEFAULT"
    """USE_DEFAULT | SKIP_WAL | ASYNC_WAL | SYNC_WAL | FSYNC_WAL, of every write."""
    scan_caching: PositiveInt = 100
    """Rows asked for by one call of a scan."""
    block_cache: bool = True
    """Reads may fill the servers' block cache."""
    bloom: str = "ROW"
    """Bloom filter of the family when the table is made: NONE | ROW | ROWCOL."""
    versions: PositiveInt = 1
    """Versions of a cell that the family keeps, when the table is made."""
    compression: str = "NONE"
    """Of the family when the table is made: NONE, GZ, SNAPPY, LZ4, ZSTD ..., if the servers have it."""
    regions: PositiveInt | None = None
    """Regions of a new table; None = 3 a region server (1 if a given cluster does not tell of any), but no
    more than records."""
    client_buffering_bytes: NonNegativeInt = 0
    """Bytes of puts collected before they are sent; 0 = every put is sent alone."""
    connections: PositiveInt = 1
    """Connections to each server."""
    fresh: bool = False
    """Drop the table first."""

    @field_validator("durability")
    @classmethod
    def _known_durability(cls, value: str) -> str:
        return _one_of(value, DURABILITY, "durability")

    @field_validator("bloom")
    @classmethod
    def _known_bloom(cls, value: str) -> str:
        return _one_of(value, BLOOM, "bloom filter")


class HBaseHeaps(Model):
    """Heap of each kind of server, in MiB; None = the profile's."""

    region_server_mib: PositiveInt | None = None
    master_mib: PositiveInt | None = None
    data_node_mib: PositiveInt | None = None
    name_node_mib: PositiveInt | None = None
    zookeeper_mib: PositiveInt | None = None


class HBaseSystem(LocalSystem):
    """A local cluster of real servers, HBase on HDFS; a node is a region server with its DataNode."""

    kind: Literal["hbase"] = "hbase"
    version: str = "2.6.4"
    """`2.6`, `2.4` mean the newest tried of that line."""
    masters: PositiveInt = 1
    """HMasters: one is active, the others stand by."""
    zookeepers: PositiveInt = 1
    """Servers of the ZooKeeper ensemble."""
    roles: Literal["dedicated", "colocated"] = "dedicated"
    """HMaster, NameNode and ZooKeeper on nodes of their own (master1 ...), or on node1 ..."""
    replication: PositiveInt | None = None
    """Replicas of a block in HDFS; None = 3, or as many as there are nodes."""
    heaps: HBaseHeaps = HBaseHeaps()
    wal_provider: Literal["asyncfs", "filesystem", "multiwal"] = "asyncfs"
    wal_hsync: bool = False
    """A write of the default durability, and of HBase's own tables, reaches the DataNodes' disks (hsync), not
    only their memory (hflush); one that asks for SYNC_WAL itself does not (`HRegion.DEFAULT_DURABILITY`)."""
    master_limits: NodeLimits | None = None
    """Limits of the nodes that have masters alone; None = `limits`, like every other node."""
    balancer_period_s: PositiveInt | None = None
    """Seconds between runs of the balancer; None = regions move only when that is asked for."""
    standalone: bool = False
    """All in one JVM on the local file system, without HDFS: for a quick look, not for measuring."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Any key of hbase-site.xml, or of hdfs-site.xml (dfs....), laid over everything else."""
    access: HBaseAccess = HBaseAccess()

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, data: Any) -> Any:
        for old in ("hbase_site", "hdfs_site"):
            if isinstance(data, dict) and old in data:
                raise ValueError(f"{old} is called settings now: {{ 'hbase...' = ..., 'dfs...' = ... }}")
        return data

    @model_validator(mode="after")
    def _fits(self) -> HBaseSystem:
        if self.standalone and (self.nodes, self.masters, self.zookeepers) != (1, 1, 1):
            raise ValueError("standalone is one JVM: leave nodes, masters and zookeepers at 1")
        if self.standalone and self.network == "namespaces":
            raise ValueError("standalone has one address: leave network at loopback")
        if self.standalone and self.hdfs_site:
            raise ValueError(f"standalone has no HDFS: leave {', '.join(self.hdfs_site)} out")
        if self.roles == "colocated" and self._seats > self.nodes:
            raise ValueError(f"{self._seats} masters or zookeepers need as many nodes when colocated")
        if self.master_limits and (self.standalone or self.roles == "colocated"):
            raise ValueError("master_limits needs masters on nodes of their own: roles = 'dedicated'")
        if self.copies > self.nodes:
            raise ValueError(f"replication = {self.copies}, but there are only {self.nodes} DataNodes")
        self._has_room()
        return self

    def _has_room(self) -> None:
        """HDFS counts a file that is being written as a whole block, at the DataNode and at the NameNode."""
        if self.standalone or self.disk_mib is None:
            return
        block = _bytes(self.settings.get("dfs.blocksize", BLOCK_MIB << 20))
        least = ceil(OPEN_BLOCKS * block / (1 << 20))
        if self.disk_mib < least:
            raise ValueError(
                f"disk_mib = {self.disk_mib} is too small for HDFS, which counts each open file as up to two "
                f"blocks of {bytes_text(block)}: give {least} or more (a sparse file, it takes what is "
                "written), or set a smaller dfs.blocksize in settings"
            )

    @property
    def hbase_site(self) -> dict[str, Any]:
        """What of the settings belongs into hbase-site.xml."""
        return {key: value for key, value in self.settings.items() if not key.startswith(HDFS)}

    @property
    def hdfs_site(self) -> dict[str, Any]:
        """What of the settings belongs into hdfs-site.xml; HBase's servers read it, too."""
        return {key: value for key, value in self.settings.items() if key.startswith(HDFS)}

    @property
    def _seats(self) -> int:
        return max(self.masters, self.zookeepers)

    @property
    def master_nodes(self) -> int:
        """Nodes on which masters have their place: of their own, or the first nodes."""
        return 0 if self.standalone else self._seats

    @property
    def size(self) -> int:
        """All nodes, those of dedicated masters included."""
        return self.nodes + (self.master_nodes if self.roles == "dedicated" else 0)

    @property
    def data_nodes(self) -> int:
        """Nodes with a region server and a DataNode, or the one that is all."""
        return self.nodes

    @property
    def node_names(self) -> tuple[str, ...]:
        """Masters of their own, then the nodes; those in reserve last."""
        masters = tuple(f"master{n}" for n in range(1, self.size - self.nodes + 1))
        return (*masters, *(f"node{n}" for n in range(1, self.nodes + self.spare + 1)))

    def limits_of(self, node: str) -> NodeLimits:
        """A node of masters alone may have limits of its own."""
        return self.master_limits if self.master_limits and node.startswith("master") else self.limits

    @property
    def copies(self) -> int:
        """Replicas of a block in HDFS."""
        return self.replication or min(3, self.nodes)


class HBaseHostsSystem(SystemSettings):
    """A running HBase cluster, given by addresses; nothing is started or stopped on it."""

    kind: Literal["hbase-hosts"] = "hbase-hosts"
    hosts: tuple[str, ...] = ()
    """Masters or, from 2.6 on, also region servers, as host or host:port: they tell where the regions are."""
    port: Port = 16000
    """Where a port is not given."""
    zookeeper: tuple[str, ...] = ()
    """host or host:port of the ensemble; used instead of `hosts`, for versions whose servers do not tell."""
    zookeeper_parent: str = "/hbase"
    watch: bool = True
    """Ask its servers for their figures each second (/jmx)."""
    master_info_port: Port | None = None
    """Where masters have their pages; None = where the active one says."""
    region_server_info_port: Port | None = None
    """The same of region servers."""
    user: str | None = None
    """Effective user (SIMPLE); None = this process's."""
    access: HBaseAccess = HBaseAccess()

    @model_validator(mode="after")
    def _one_way_in(self) -> HBaseHostsSystem:
        if bool(self.hosts) == bool(self.zookeeper):
            raise ValueError("give either hosts or zookeeper")
        return self

    @property
    def given(self) -> bool:
        """It is somebody else's."""
        return True
