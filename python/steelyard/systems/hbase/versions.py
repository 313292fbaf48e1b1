"""The lines of HBase that can be run, the newest tried of each, their artifacts and their Java."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import InputError, nearest

HDFS = "3.4.2"
"""HDFS's servers are of this version, whatever HBase's; its clients are those that HBase brings."""
HADOOP = "org.apache.hadoop:hadoop-"
HDFS_COORDINATES = tuple(f"{HADOOP}{part}:{HDFS}" for part in ("common", "hdfs", "hdfs-client"))


@dataclass(frozen=True)
class Line:
    """One line of releases.

    Attributes:
        name: e.g. "2.6".
        newest: the newest release tried.
        javas: Java majors it runs on, the best first.
        suffix: what its artifacts' version ends with. Without "-hadoop3" 2.6 is compiled against Hadoop 2,
            and its write-ahead log fails on HDFS 3.
        without: artifacts that it names and that break it: an old servlet interface hides the one it needs.
        registry: region servers, too, tell clients where the regions are.
    """

    name: str
    newest: str
    javas: tuple[int, ...]
    suffix: str = ""
    without: tuple[str, ...] = ()
    registry: bool = True


LINES = {
    "2.6": Line("2.6", "2.6.4", (17, 21, 11), suffix="-hadoop3"),
    "2.4": Line("2.4", "2.4.16", (17, 11, 8), without=("javax.servlet:servlet-api",), registry=False),
}


def resolve(version: str) -> tuple[str, Line]:
    """The full version and its line; raises InputError for a line that cannot be run."""
    if version in LINES:
        return LINES[version].newest, LINES[version]
    for line in LINES.values():
        if version.startswith(line.name + "."):
            return version, line
    raise InputError(
        f"HBase {version} cannot be run{nearest(version, LINES)}",
        hint=f"newest tried: {', '.join(line.newest for line in LINES.values())}",
    )


def coordinates(version: str, line: Line) -> list[str]:
    """The Maven artifacts of a release."""
    return [f"org.apache.hbase:hbase-{part}:{version}{line.suffix}" for part in ("server", "client")]
