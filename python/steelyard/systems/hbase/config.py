"""A node's files: core-site.xml, hdfs-site.xml, hbase-site.xml, zoo.cfg, logging and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import hdfs, profile
from steelyard.systems.hbase.layout import (
    CLIENT_PORT,
    DATANODE,
    MASTER,
    NAMENODE,
    OF_ROLE,
    PORTS,
    REGIONSERVER,
    ZOOKEEPER,
    HBaseSpec,
    having,
)

LOG4J = """log4j.rootLogger=INFO,file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File=${steelyard.log}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%-5p [%t] %d{ISO8601} %c{2}: %m%n
log4j.logger.org.apache.zookeeper=WARN
log4j.logger.org.apache.hadoop.hbase.http.requests=WARN
log4j.logger.org.apache.hadoop.metrics2=WARN
log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=WARN
log4j.logger.http.requests=WARN
"""
METRICS_PERIOD_MS = 500
METRICS = f"*.periodMillis={METRICS_PERIOD_MS}\n"
"""How long an answer of /jmx may be kept: upstream's 10 s would make ten samples of one."""
METRICS_FILES = ("hadoop-metrics2.properties", "hadoop-metrics2-hbase.properties")
WEBAPPS = (
    *(f"hbase-webapps/{part}" for part in ("master", "regionserver", "static")),
    *(f"webapps/{part}" for part in ("hdfs", "datanode", "static", "secondary")),
)
"""Servers look for their web pages, which the jars do not have; empty folders will do, and /jmx is there."""
ZOO_CFG = {
    "tickTime": 2000,
    "initLimit": 10,
    "syncLimit": 5,
    "minSessionTimeout": 2000,
    "maxSessionTimeout": 90_000,
    "maxClientCnxns": 300,
    "admin.enableServer": "false",
}


def moved_ports(system: HBaseSystem) -> dict[str, int]:
    """The ports that the user's settings move."""
    return {name: int(value) for name, value in system.hbase_site.items() if name in PORTS}


def hbase_site(
    system: HBaseSystem, specs: Sequence[HBaseSpec], own: HBaseSpec, *, restored: bool = False
) -> dict[str, Any]:
    """The whole hbase-site.xml of one node; the user's keys lie over everything."""
    zookeepers = having(specs, ZOOKEEPER)
    root = own.folder / "data"
    shared: dict[str, Any] = {
        "hbase.rootdir": root.as_uri() if system.standalone else f"{default_fs(specs)}/hbase",
        "hbase.tmp.dir": own.folder / "hbase",
        "hbase.zookeeper.quorum": ",".join(spec.place(ZOOKEEPER).address for spec in zookeepers),
        CLIENT_PORT: own.ports[CLIENT_PORT],
        **{name: own.ports[name] for role in (MASTER, REGIONSERVER) for name in OF_ROLE[role]},
    }
    if system.standalone:
        shared["hbase.zookeeper.property.dataDir"] = own.folder / "zookeeper"
    for role in ("master", "regionserver"):
        for what in ("ipc.address", "info.bindAddress"):
            shared[f"hbase.{role}.{what}"] = own.address
    # Else it is known by the name of 127.0.0.1, where the master sees its connections come from.
    shared |= dict.fromkeys(("hbase.master.hostname", "hbase.unsafe.regionserver.hostname"), own.address)
    chosen = {name: value for name, (value, _) in profile.hbase_settings(system, restored=restored).items()}
    return {**shared, **chosen, **system.hbase_site}


def hdfs_site(
    system: HBaseSystem, specs: Sequence[HBaseSpec], own: HBaseSpec, *, restored: bool = False
) -> dict[str, Any]:
    """The whole hdfs-site.xml of one node."""
    (names,) = having(specs, NAMENODE)
    shared: dict[str, Any] = {
        "dfs.namenode.name.dir": (names.folder / "namenode").as_uri(),
        "dfs.namenode.http-address": names.web(NAMENODE),
    }
    if own == names:
        shared["dfs.hosts.exclude"] = hdfs.excluded_file(names)
    if DATANODE in own.roles:
        shared |= {name: f"{own.address}:{own.ports[name]}" for name in OF_ROLE[DATANODE]}
        shared["dfs.datanode.hostname"] = own.address
        shared["dfs.datanode.data.dir"] = (own.folder / "data").as_uri()
    chosen = {name: value for name, (value, _) in profile.hdfs_settings(system, restored=restored).items()}
    return {**shared, **chosen, **system.hdfs_site}


def default_fs(specs: Sequence[HBaseSpec]) -> str:
    """Where the NameNode answers."""
    (names,) = having(specs, NAMENODE)
    return f"hdfs://{names.place(NAMENODE)}"


def zoo_cfg(specs: Sequence[HBaseSpec], own: HBaseSpec) -> dict[str, Any]:
    """The zoo.cfg of one server of the ensemble."""
    found = {
        **ZOO_CFG,
        "dataDir": own.folder / "zookeeper",
        "clientPort": own.ports[CLIENT_PORT],
        "clientPortAddress": own.address,
    }
    ensemble = having(specs, ZOOKEEPER)
    if len(ensemble) > 1:
        for spec in ensemble:
            found[f"server.{spec.number}"] = f"{spec.address}:{spec.ports['peer']}:{spec.ports['election']}"
    return found


def files(
    system: HBaseSystem, specs: Sequence[HBaseSpec], own: HBaseSpec, *, restored: bool = False
) -> dict[str, str]:
    """A node's configuration: path below its folder -> text. Its `WEBAPPS` are empty folders beside."""
    found = {
        "conf/hbase-site.xml": xml(hbase_site(system, specs, own, restored=restored)),
        "conf/log4j.properties": LOG4J,
        **{f"conf/{name}": METRICS for name in METRICS_FILES},
    }
    if system.standalone:
        return found
    core = {"fs.defaultFS": default_fs(specs), "hadoop.tmp.dir": own.folder / "hadoop"}
    found["conf/core-site.xml"] = xml(core)
    found["conf/hdfs-site.xml"] = xml(hdfs_site(system, specs, own, restored=restored))
    if ZOOKEEPER in own.roles:
        found["conf/zoo.cfg"] = "".join(f"{name}={value}\n" for name, value in zoo_cfg(specs, own).items())
        found["zookeeper/myid"] = f"{own.number}\n"
    if NAMENODE in own.roles:
        found[hdfs.EXCLUDED] = ""
    return found


def xml(settings: Mapping[str, Any]) -> str:
    """A configuration file of Hadoop's kind."""
    lines = [
        f"  <property><name>{escape(name)}</name><value>{escape(text(value))}</value></property>\n"
        for name, value in settings.items()
    ]
    return f"<configuration>\n{''.join(lines)}</configuration>\n"


def text(value: Any) -> str:
    """A value as Hadoop writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
