"""The command line of each server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from getpass import getuser
from pathlib import Path

from steelyard.hosts import archive
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.java import Java
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import profile
from steelyard.systems.hbase.layout import (
    DATANODE,
    MASTER,
    NAMENODE,
    ON_HDFS,
    REGIONSERVER,
    STANDALONE,
    ZOOKEEPER,
    HBaseSpec,
)
from steelyard.systems.server import ServerSpec

MAIN = {
    ZOOKEEPER: ["org.apache.zookeeper.server.ZooKeeperServerMain"],
    NAMENODE: ["org.apache.hadoop.hdfs.server.namenode.NameNode"],
    DATANODE: ["org.apache.hadoop.hdfs.server.datanode.DataNode"],
    MASTER: ["org.apache.hadoop.hbase.master.HMaster", "start"],
    REGIONSERVER: ["org.apache.hadoop.hbase.regionserver.HRegionServer", "start"],
    STANDALONE: ["org.apache.hadoop.hbase.master.HMaster", "start"],
}
ENSEMBLE = ["org.apache.zookeeper.server.quorum.QuorumPeerMain"]
MODULES = (
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    "--add-modules=jdk.unsupported",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            "java.nio",
            "sun.nio.ch",
            "java.lang",
            "jdk.internal.ref",
            "java.lang.reflect",
            "java.util",
            "java.util.concurrent",
        )
    ),
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
)
"""What HBase's own scripts open on Java 11 and later."""


USER = "HADOOP_USER_NAME"
"""As whom servers know each other; on several machines they may run as several, and we ask as this one's."""
FIRST_NODES = ("node1", "master1")
"""Between them they have every role."""


@dataclass(frozen=True)
class Parts:
    """What one side's servers are made of.

    Attributes:
        jars: they.
        classes: their class archive, once there is one.
        defaults: setting -> upstream's default.
    """

    jars: Jars
    classes: Path | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Launch:
    """What all servers of a cluster on one machine have in common.

    Attributes:
        system: what the cluster is.
        java: the runtime.
        hbase: HBase's jars, which have ZooKeeper's server, too.
        hdfs: HDFS's jars; None without HDFS. Apart, since each wants its own version of netty.
        cores: what `-XX:ActiveProcessorCount` says: pools have one size whatever the limits of the day.
        listed: the nodes whose servers list their classes while there is no archive.
    """

    system: HBaseSystem
    java: Java
    hbase: Parts
    hdfs: Parts | None
    cores: int
    listed: Sequence[str] = FIRST_NODES

    def jvm_options(self) -> list[str]:
        """The options that depend neither on node nor role."""
        return [
            *profile.jvm_options(self.system.profile, self.java.major),
            *(MODULES if self.java.major > 8 else []),
            "-XX:+CrashOnOutOfMemoryError",
            *(["-XX:-CreateCoredumpOnCrash"] if self.java.major > 8 else []),
            f"-XX:ActiveProcessorCount={self.cores}",
            "-Djava.net.preferIPv4Stack=true",
            *self.system.jvm_options,
        ]

    def jar_files(self, role: str) -> list[Path]:
        """The jars of a role's servers, in the order of the class path."""
        parts = self._parts(role)
        return parts.jars.paths if parts else []

    def _parts(self, role: str) -> Parts | None:
        return self.hdfs if role in ON_HDFS else self.hbase

    def server(self, node: HBaseSpec, role: str) -> ServerSpec:
        """One server of a node."""
        return ServerSpec(
            name=f"{node.name}/{role}",
            folder=node.folder,
            command=lambda: self.command(node, role),
            log=f"{role}.log",
            printed=f"{role}.out",
            crash=f"{role}.crash",
            words=f"{role}.command",
            scratch=f"tmp/{role}",
            namespace=node.namespace,
            host=node.host,
        )

    def command(self, node: HBaseSpec, role: str) -> list[str]:
        """The words that start one server."""
        conf, logs = node.folder / "conf", node.folder / "logs"
        heap = profile.heap_mib(self.system.profile, self.system.heaps, role)
        return [
            *self.java_words(role, heap),
            *([f"-D{USER}={getuser()}"] if node.host else []),
            f"-XX:ErrorFile={logs / f'{role}.crash'}",
            *self._classes(node, role),
            f"-Dlog4j.configuration={(conf / 'log4j.properties').as_uri()}",
            f"-Dsteelyard.log={logs / f'{role}.log'}",
            f"-Djava.io.tmpdir={node.folder / 'tmp' / role}",
            "-cp",
            ":".join(map(str, [*self.jar_files(role), conf])),
            *self._main(conf, role),
        ]

    def java_words(self, role: str, heap: int) -> list[str]:
        """Java and its options for a role."""
        return [str(self.java.binary), f"-Xms{heap}m", f"-Xmx{heap}m", f"-Dproc_{role}", *self.jvm_options()]

    def _main(self, conf: Path, role: str) -> list[str]:
        if role != ZOOKEEPER:
            return MAIN[role]
        main = ENSEMBLE if self.system.zookeepers > 1 else MAIN[ZOOKEEPER]
        return [*main, str(conf / "zoo.cfg")]

    @property
    def archived(self) -> bool:
        """Whether servers start from class archives, once there are."""
        return archive.usable(self.system.profile, self.java)

    def class_list(self, node: HBaseSpec, role: str) -> Path:
        """Where a server lists its classes while there is no archive."""
        return node.folder / "tmp" / role / "classes.lst"

    def _classes(self, node: HBaseSpec, role: str) -> Sequence[str]:
        if not self.archived:
            return []
        classes = self.class_list(node, role) if node.name in self.listed else None
        parts = self._parts(role)
        return archive.options(parts.classes if parts else None, classes)
