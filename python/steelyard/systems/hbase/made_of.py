"""What servers of one machine are made of: its Java, jars and class archives."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.hosts.artifacts import Jars
from steelyard.hosts.host import Host, said_jars
from steelyard.hosts.java import Java
from steelyard.hosts.say import Say
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import defaults, versions
from steelyard.systems.hbase.launch import Launch, Parts
from steelyard.systems.hbase.layout import ON_HDFS, HBaseSpec
from steelyard.systems.hbase.versions import Line


def launch_on(
    host: Host, system: HBaseSystem, version: str, line: Line, *, cores: int, listed: Sequence[str], say: Say
) -> Launch:
    """What servers of a machine have in common; jars are fetched where they are not there yet.

    Args:
        host: the machine.
        system: what the cluster is.
        version: of HBase.
        line: it belongs to.
        cores: see `Launch`.
        listed: see `Launch`.
        say: told of what takes a while.

    Raises:
        InputError, MissingToolError, InfrastructureError: Java or jars cannot be had.
    """
    java = host.java(system.java, line.javas, f"HBase {line.name}")
    wanted = versions.coordinates(version, line)
    jars = said_jars(host, f"hbase-{version}", wanted, say, line.without)
    hbase, hdfs = _parts(host, jars, java, defaults.HBASE), None
    if not system.standalone:
        jars = said_jars(host, f"hdfs-{versions.HDFS}", versions.HDFS_COORDINATES, say)
        hdfs = _parts(host, jars, java, defaults.HDFS)
    return Launch(system, java, hbase, hdfs, cores, listed)


def _parts(host: Host, jars: Jars, java: Java, kind: tuple[str, str]) -> Parts:
    return Parts(jars, host.class_archive(java, jars.paths), defaults.shipped(host, jars, kind))


def make_archives(host: Host, launch: Launch, specs: Sequence[HBaseSpec], say: Say) -> None:
    """Make a machine's class archives for the next start, once its nodes have listed their classes."""
    for on_hdfs in (True, False):
        seats = [(spec, role) for spec in specs for role in spec.roles if (role in ON_HDFS) == on_hdfs]
        paths = [launch.class_list(*seat) for seat in seats]
        lists = [path for path in paths if host.list(path.parent, path.name)]
        if lists:
            say("making a class archive for the next starts (once)")
            if not host.make_class_archive(launch.java, launch.jar_files(seats[0][1]), lists):
                say("no class archive could be made; starts stay as they are")
