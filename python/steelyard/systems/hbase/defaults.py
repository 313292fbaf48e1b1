"""Upstream's defaults, read from the jars: what a setting departs from, and which names there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from xml.etree import ElementTree

from steelyard.errors import nearest
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.host import Host

HBASE, HDFS = ("hbase-common-*.jar", "hbase-default.xml"), ("hadoop-hdfs-[0-9]*.jar", "hdfs-default.xml")
OWN = {
    "hbase.master.wait.on.regionservers.maxtostart": "2147483647",
    "hbase.master.wait.on.regionservers.timeout": "4500",
    "hbase.master.wait.on.regionservers.interval": "1500",
    "hbase.regionserver.periodicmemstoreflusher.rangeofdelayseconds": "300",
    "hbase.wal.provider": "asyncfs",
    "hbase.wal.hsync": "false",
}
"""Defaults that stand in the code only."""


def shipped(host: Host, jars: Jars, kind: tuple[str, str]) -> Mapping[str, str]:
    """Setting -> default of `hbase-default.xml` or `hdfs-default.xml`; empty where the file is not found."""
    pattern, name = kind
    for jar in jars.paths:
        if fnmatch(jar.name, pattern) and (xml := host.get_member(jar, name)):
            return OWN | _read(xml)
    return {}


def _read(xml: bytes) -> dict[str, str]:
    root = ElementTree.fromstring(xml)  # noqa: S314 - it comes out of a published jar
    found = ((one.findtext("name", "").strip(), one.findtext("value") or "") for one in root.iter("property"))
    return {name: value.strip() for name, value in found if name}


def unknown(names: Iterable[str], known: Mapping[str, str], where: str) -> list[str]:
    """Warnings for names that are not in upstream's file; its servers accept any, and know more."""
    return [
        f"{where}: {name!r} is not among upstream's documented settings{nearest(name, known)}"
        for name in names
        if known and name not in known
    ]
