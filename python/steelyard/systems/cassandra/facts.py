"""What a result must say of a cluster: release, nodes, configuration, deviations, durability, limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.spec.system import CassandraSystem, CqlAccess
from steelyard.systems.cassandra import profile
from steelyard.systems.cassandra.config import GROUP_WINDOW, CassandraSpec, at_once
from steelyard.systems.cassandra.launch import Launch
from steelyard.systems.cassandra.login import Login
from steelyard.systems.cassandra.versions import Line
from steelyard.systems.deviation import Deviation, slack

MACHINE = "several nodes share one machine"
APART = "nodes are on several machines"
ASKED = "asked for: secure"


def access_plan(access: CqlAccess) -> dict[str, Any]:
    """The part of the CQL driver's plan that follows from how the client uses the system."""
    plan: dict[str, Any] = {
        "keyspace": access.keyspace,
        "durable_writes": access.durable_writes,
        "table_options": list(access.table_options),
        "read_consistency": access.read_consistency.upper(),
        "write_consistency": access.write_consistency.upper(),
        "connections": access.connections,
        "token_aware": access.token_aware,
        "fresh": access.fresh,
    }
    if access.load_consistency:
        plan["load_consistency"] = access.load_consistency.upper()
    if access.local_datacenter:
        plan["local_datacenter"] = access.local_datacenter
    return plan


def node_facts(spec: CassandraSpec, agent_port: int | None, port: int, login: Login) -> dict[str, Any]:
    """One node, as its cluster's record and the manifest keep it; of passwords and keys where they are."""
    return {
        "name": spec.name,
        "address": spec.address,
        "port": port,
        "datacenter": spec.datacenter,
        "rack": spec.rack,
        "namespace": spec.namespace,
        "agent_port": agent_port,
        "login": login.plan(),
        "folder": str(spec.folder),
        "logs": ["system.log"],
    }


def cluster_facts(
    system: CassandraSystem, version: str, line: Line, launch: Launch, shared: Mapping[str, Any], *,
    apart: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What is the same for all nodes."""
    return {
        "kind": "cassandra",
        "version": version,
        "profile": system.profile,
        "java": {"version": launch.java.full, "binary": str(launch.java.binary)},
        "artifacts": list(launch.jars.names),
        "network": "hosts" if apart else system.network,
        "tls": system.secure,
        "configuration": {"cassandra_yaml": dict(shared), "jvm_options": launch.jvm_options()},
        "deviations": [found.as_dict() for found in deviations(system, line, launch, shared, apart)],
        "durability": durability(system, shared),
        "replication": system.access.replication.model_dump(),
    }


def deviations(
    system: CassandraSystem, line: Line, launch: Launch, shared: Mapping[str, Any], apart: bool = False
) -> list[Deviation]:
    """Every departure from what upstream ships, with its reason."""
    found = [
        Deviation(
            "addresses, directories, cluster_name",
            "one of each per node",
            "localhost, one node",
            APART if apart else MACHINE,
        ),
        Deviation(
            "seeds",
            "the first node" if at_once(shared) else "the first node and itself",
            "127.0.0.1:7000",
            "a new ring: there is nothing to stream",
        ),
        Deviation("-XX:ActiveProcessorCount", launch.cores, None, "pools keep one size under any CPU quota"),
        *slack(system.timer_slack_us),
        *profile.jvm_deviations(system.profile, line.name, launch.heap_mib, launch.java.major),
        *profile.setting_deviations(line, shared, system),
    ]
    if system.secure:
        found.append(
            Deviation("TLS", f"to clients{' (mutual)' * system.mutual_tls} and between nodes", "off", ASKED)
        )
    if at_once(shared):
        found.append(
            Deviation("initial_token", "evenly spaced", None, "all nodes start at once, and the ring is even")
        )
    if system.spare:
        found.append(Deviation("a node that joins later", *_joining(shared)))
    if launch.archived:
        found.append(Deviation("JVM class archive", "-XX:SharedArchiveFile", "the JDK's own", "faster start"))
    if launch.agent:
        found.append(Deviation("JVM agent", launch.agent.name, None, "gives the server's own metrics"))
    if launch.extra:
        found.append(Deviation("JVM options", " ".join(launch.extra), None, "given by the user"))
    return found


def _joining(shared: Mapping[str, Any]) -> tuple[str, str, str]:
    """What a joiner is given, what upstream would, and why."""
    tokens = (
        "initial_token out of the largest ranges" if at_once(shared) else "tokens as upstream's, if alone"
    )
    return (
        f"one member as seed, auto_bootstrap as the action says, {tokens}",
        "auto_bootstrap true, tokens by allocation",
        "the same ring grows the same way in every trial",
    )


def durability(system: CassandraSystem, shared: Mapping[str, Any]) -> str:
    """When an acknowledged write is safe, in words."""
    if not system.access.durable_writes:
        return "durable_writes = false: writes are acknowledged from memory and are lost when the server dies"
    sync = shared.get("commitlog_sync")
    if sync == "batch":
        return "acknowledged after the commit log was synced to disk (fsync), per batch of waiting writes"
    if sync == "group":
        window = shared.get("commitlog_sync_group_window", GROUP_WINDOW)
        return f"acknowledged after the commit log was synced to disk (fsync), once every {window}"
    period = shared.get("commitlog_sync_period") or f"{shared.get('commitlog_sync_period_in_ms')}ms"
    return (
        f"acknowledged before it is on disk: the commit log is synced every {period}, which a crash can cost"
    )
