"""The command line of one server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.hosts import archive
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.java import Java
from steelyard.systems.cassandra import profile, shipped
from steelyard.systems.cassandra.config import AGENT_PORT, CassandraSpec
from steelyard.systems.cassandra.versions import Line

MAIN = "org.apache.cassandra.service.CassandraDaemon"


@dataclass(frozen=True)
class Launch:
    """What all servers of a cluster on one machine have in common.

    Attributes:
        java: the runtime.
        line: the line of Cassandra.
        jars: its jars.
        classes: their class archive, once there is one.
        profile: "default" or "quick".
        heap_mib: heap of a node.
        cores: what `-XX:ActiveProcessorCount` says, so that pools have one size whatever the limits of the
            day.
        agent: the metrics agent's jar, if it is loaded.
        extra: the user's JVM options.
        listed: the number of the node that lists its classes while there is no archive.
    """

    java: Java
    line: Line
    jars: Jars
    classes: Path | None
    profile: str
    heap_mib: int
    cores: int
    agent: Path | None
    extra: Sequence[str]
    listed: int = 1

    def jvm_options(self) -> list[str]:
        """The options that do not depend on the node."""
        chosen = profile.jvm_options(self.profile, self.line.name, self.heap_mib, self.cores)
        out_of_memory = ["-XX:+CrashOnOutOfMemoryError", "-XX:-CreateCoredumpOnCrash"]
        return [
            *chosen,
            *shipped.module_options(self.java.major, self.line.name),
            *(out_of_memory if self.java.major > 8 else ["-XX:+CrashOnOutOfMemoryError"]),
            f"-XX:ActiveProcessorCount={self.cores}",
            *self.extra,
        ]

    def command(self, node: CassandraSpec, *more: str) -> list[str]:
        """The words that start one node, with `more` options of the JVM for it alone."""
        jars = self.jars.paths
        agents = [f"-javaagent:{jar}" for jar in jars if jar.name.startswith("jamm-")]
        if self.agent:
            agents.append(f"-javaagent:{self.agent}=port={AGENT_PORT},host={node.agent_address}")
        folder = node.folder
        places = {
            "cassandra.config": (folder / "conf" / "cassandra.yaml").as_uri(),
            "cassandra.storagedir": folder,
            "cassandra.logdir": folder / "logs",
            "logback.configurationFile": folder / "conf" / "logback.xml",
            "jna.tmpdir": folder / "tmp",
            "java.io.tmpdir": folder / "tmp",
        }
        return [
            str(self.java.binary),
            *agents,
            *self.jvm_options(),
            *more,
            *self._classes(node),
            *self._logs(folder / "logs"),
            *(f"-D{name}={value}" for name, value in places.items()),
            "-cp",
            ":".join(map(str, [*jars, folder / "conf"])),
            MAIN,
        ]

    @property
    def archived(self) -> bool:
        """Whether servers start from a class archive, once there is one."""
        return archive.usable(self.profile, self.java)

    def class_list(self, node: CassandraSpec) -> Path:
        """Where a node lists its classes while there is no archive."""
        return node.folder / "tmp" / "classes.lst"

    def _classes(self, node: CassandraSpec) -> list[str]:
        if not self.archived:
            return []
        listed = self.class_list(node) if node.number == self.listed else None
        return archive.options(self.classes, listed)

    def _logs(self, logs: Path) -> list[str]:
        words = [f"-XX:ErrorFile={logs / 'hs_err.log'}"]
        if self.java.major > 8 and self.profile == "default":
            # As upstream's cassandra-env.sh does.
            what = "gc=info,heap*=debug,age*=debug,safepoint=info,promotion*=debug"
            how = "time,uptime,pid,tid,level:filecount=10,filesize=10485760"
            words.append(f"-Xlog:{what}:file={logs / 'gc.log'}:{how}")
        return words
