"""What a result must say of a cluster: release, nodes, roles, settings, deviations, durability."""

from __future__ import annotations

from collections.abc import Mapping
from getpass import getuser
from pathlib import Path
from typing import Any

from steelyard.spec.hbase import HBaseAccess, HBaseSystem
from steelyard.systems.deviation import Deviation, slack
from steelyard.systems.hbase import config, profile
from steelyard.systems.hbase.launch import USER, Launch
from steelyard.systems.hbase.layout import DATANODE_PORT_STEP, OF_ROLE, HBaseSpec
from steelyard.systems.hbase.versions import HDFS

REGIONS_PER_SERVER = 3
"""Of a new table: several, so that some can move to a server that comes."""

MACHINE, APART = "several nodes share one machine", "nodes are on several machines"


def access_plan(access: HBaseAccess, servers: int) -> dict[str, Any]:
    """The part of the driver's plan that follows from how the client uses the system.

    Args:
        access: as asked for.
        servers: region servers, as far as they are known: a new table has regions for each, unless its
            records are fewer.
    """
    regions = access.regions or REGIONS_PER_SERVER * servers or 1
    fit = access.regions is None
    plan = access.model_dump(mode="json", exclude={"client_buffering_bytes"})
    return {**plan, "client_buffering": access.client_buffering_bytes, "regions": regions, "regions_fit": fit}


def node_facts(spec: HBaseSpec) -> dict[str, Any]:
    """One node, as its cluster's record and the manifest keep it."""
    return {
        "name": spec.name,
        "number": spec.number,
        "address": spec.address,
        "roles": list(spec.roles),
        "ports": {name: spec.ports[name] for part in spec.parts for name in OF_ROLE[part]},
        "namespace": spec.namespace,
        "folder": str(spec.folder),
        "logs": [f"{role}.log" for role in spec.roles],
    }


def spec_of(recorded: Mapping[str, Any]) -> HBaseSpec:
    """A node again, from its record."""
    return HBaseSpec(
        recorded["number"],
        recorded["name"],
        recorded["address"],
        Path(recorded["folder"]),
        recorded["namespace"],
        tuple(recorded["roles"]),
        recorded["ports"],
        host=recorded.get("host", ""),
    )


def cluster_facts(
    system: HBaseSystem, version: str, launch: Launch, roles: tuple[str, ...], *, restored: bool,
    apart: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What is the same for all nodes."""
    chosen = {name: value for name, (value, _) in profile.hbase_settings(system, restored=restored).items()}
    hdfs = (
        {}
        if system.standalone
        else {n: v for n, (v, _) in profile.hdfs_settings(system, restored=restored).items()}
    )
    return {
        "kind": "hbase",
        "version": version,
        "versions": {"hbase": version} | ({} if system.standalone else {"hdfs": HDFS}),
        "profile": system.profile,
        "java": {"version": launch.java.full, "binary": str(launch.java.binary)},
        "artifacts": sorted({jar.name for role in roles for jar in launch.jar_files(role)}),
        "network": "hosts" if apart else system.network,
        "roles": "one process" if system.standalone else system.roles,
        "configuration": {
            "hbase_site": {**chosen, **system.hbase_site},
            "hdfs_site": {**hdfs, **system.hdfs_site},
            "jvm_options": launch.jvm_options(),
        },
        "deviations": [
            found.as_dict() for found in deviations(system, launch, roles, restored=restored, apart=apart)
        ],
        "durability": durability(system),
        "replication": {"hdfs": 0 if system.standalone else system.copies},
        "wal": {"provider": None if system.standalone else system.wal_provider, "hsync": system.wal_hsync},
        "balancer": balancer(system),
    }


def deviations(
    system: HBaseSystem, launch: Launch, roles: tuple[str, ...], *, restored: bool = False,
    apart: bool = False,
) -> list[Deviation]:  # fmt: skip
    """Every departure from what upstream ships, with its reason."""
    found = [
        Deviation("addresses, directories", "one of each per node", "one node", APART if apart else MACHINE),
        Deviation("-XX:ActiveProcessorCount", launch.cores, None, "pools keep one size under any CPU quota"),
        *slack(system.timer_slack_us),
        Deviation(
            "log", "INFO, a file for each server", "DEBUG for HBase", "what is not read is not written"
        ),
        Deviation(
            "*.periodMillis of metrics", config.METRICS_PERIOD_MS, 10_000, "figures are sampled every second"
        ),
        *([Deviation(USER, getuser(), None, APART)] if apart else []),
        *profile.jvm_deviations(system, roles, launch.java.major),
        *_changed(
            profile.hbase_settings(system, restored=restored), system.hbase_site, launch.hbase.defaults
        ),
    ]
    if launch.hdfs:
        hdfs = profile.hdfs_settings(system, restored=restored)
        found += _changed(hdfs, system.hdfs_site, launch.hdfs.defaults)
        if system.network == "loopback" and not apart:
            found.append(
                Deviation(
                    "ports of DataNodes", f"{DATANODE_PORT_STEP} apart", "equal", "loopback: see addresses"
                )
            )
    if launch.archived:
        found.append(Deviation("JVM class archive", "-XX:SharedArchiveFile", "the JDK's own", "faster start"))
    if launch.system.jvm_options:
        found.append(Deviation("JVM options", " ".join(system.jvm_options), None, "given by the user"))
    return found


def _changed(chosen: profile.Settings, given: Mapping[str, Any], known: Mapping[str, str]) -> list[Deviation]:
    wanted = {**chosen, **{name: (value, "given by the user") for name, value in given.items()}}
    return [
        Deviation(name, value, known.get(name), why)
        for name, (value, why) in sorted(wanted.items())
        if config.text(value) != known.get(name)
    ]


def durability(system: HBaseSystem) -> str:
    """When an acknowledged write is safe, in words."""
    durable = system.access.durability
    if durable == "SKIP_WAL":
        return "acknowledged from memory, without a log: a server that dies loses what it has not flushed"
    if durable == "ASYNC_WAL":
        return "acknowledged before it is in the log: a server that dies loses the latest"
    if system.standalone:
        return "acknowledged when the log is written to the local file system, which is not synced to disk"
    copies = f"{system.copies} DataNode{'s' if system.copies > 1 else ''}"
    # hbase.wal.hsync says what a write of the default durability is (HRegion.DEFAULT_DURABILITY); one that
    # asks for SYNC_WAL itself is not synced.
    if durable == "FSYNC_WAL" or (durable == "USE_DEFAULT" and system.wal_hsync):
        return f"acknowledged after the log was synced to the disks of {copies} (hsync)"
    return f"acknowledged when the log is in the memory of {copies} (hflush): it is not synced to disk"


def balancer(system: HBaseSystem) -> str:
    """When regions move, in words."""
    seconds = system.balancer_period_s
    return f"runs every {seconds} s" if seconds else "runs only when asked"
