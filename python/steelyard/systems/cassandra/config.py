"""A node's files: cassandra.yaml (as JSON, which is YAML), datacenter and rack, and logging."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.system import CassandraSystem, Datacenter
from steelyard.systems.cassandra import old_names, profile, shipped
from steelyard.systems.cassandra.tokens import initial_tokens
from steelyard.systems.cassandra.versions import Line
from steelyard.systems.node import NodeSpec

AGENT_PORT = 7300
LOOPBACK = "127.0.0.1"
GROUP_WINDOW = "10ms"
LOGBACK = """<configuration scan="false">
  <appender name="FILE" class="ch.qos.logback.core.FileAppender">
    <file>${cassandra.logdir}/system.log</file>
    <encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="FILE"/></root>
</configuration>
"""


@dataclass(frozen=True)
class CassandraSpec(NodeSpec):
    """Where one node is; every node has the same ports.

    Attributes:
        datacenter: its datacenter.
        rack: its rack.
    """

    datacenter: str = "datacenter1"
    rack: str = "rack1"

    @property
    def agent_address(self) -> str:
        """Where its agent listens, which does what it is told: on another machine for that machine alone."""
        return LOOPBACK if self.host else self.address


def node_specs(
    system: CassandraSystem, block: str, folder: Path, namespaces: Sequence[str]
) -> list[CassandraSpec]:
    """The nodes of a cluster, those in reserve last; datacenters take turns, so that neighbours on the ring
    differ in theirs.
    """
    places = _places(system) + _spare_places(system)
    return [
        CassandraSpec(
            number,
            f"node{number}",
            f"{block}.{number}",
            folder / f"node{number}",
            namespaces[number - 1] if namespaces else None,
            datacenter,
            rack,
        )
        for number, (datacenter, rack) in enumerate(places, 1)
    ]


def _places(system: CassandraSystem) -> list[tuple[str, str]]:
    if not system.datacenters:
        return [("datacenter1", "rack1")] * system.nodes
    rounds = range(max(dc.nodes for dc in system.datacenters))
    return [
        (dc.name, f"rack{turn % dc.racks + 1}")
        for turn in rounds
        for dc in system.datacenters
        if turn < dc.nodes
    ]


def _spare_places(system: CassandraSystem) -> list[tuple[str, str]]:
    """Datacenters go on taking turns, and each its racks."""
    here = system.datacenters or (Datacenter(name="datacenter1", nodes=system.nodes),)
    turns = [(dc, turn) for turn in range(system.spare) for dc in here]
    return [(dc.name, f"rack{(dc.nodes + turn) % dc.racks + 1}") for dc, turn in turns[: system.spare]]


def settings(system: CassandraSystem, line: Line) -> dict[str, Any]:
    """The settings that all nodes share, in the line's own names; the user's lie over everything."""
    found = dict(shipped.SETTINGS[line.name])
    if system.profile == "quick":
        quick = {name: value for name, (value, _) in profile.QUICK.items()}
        found |= old_names.to_old(quick) if line.old_names else quick
    if system.partitioner != "Murmur3Partitioner":
        found |= {
            "partitioner": f"org.apache.cassandra.dht.{system.partitioner}",
            "allocate_tokens_for_local_replication_factor": None,  # upstream's allocation knows Murmur3 only
        }
    if system.tokens:
        found["num_tokens"] = system.tokens
    if system.snitch or system.datacenters:
        found["endpoint_snitch"] = system.snitch or "GossipingPropertyFileSnitch"
    found |= _commitlog(system, line)
    found |= _given(system, line)
    return {name: value for name, value in found.items() if value is not None}


def _given(system: CassandraSystem, line: Line) -> dict[str, Any]:
    """The user's settings; by the names of 4.1 and later they may be given for older lines, too. Whether a
    line has one at all its servers say.

    Raises:
        InputError: one is given by both names, or in a unit that the older one cannot be said in.
    """
    given = {name: value for name, value in system.settings.items() if name != "initial_token"}
    for old, new in old_names.NEW_NAMES.items():
        if old in given and new in given:
            raise InputError(f"settings: {new} and {old} are one setting", hint="leave one of them out")
    if not line.old_names:
        return given
    kept = {name: value for name, value in given.items() if old_names.OLD_NAMES.get(name, name) is None}
    found = old_names.to_old({name: value for name, value in given.items() if name not in kept})
    for new, value in given.items():
        before = old_names.OLD_NAMES.get(new)
        if before and value is not None and not str(found[before]).isdigit():
            raise InputError(
                f"settings: {new} = {value!r} cannot be said to Cassandra {line.name}",
                hint=f"a whole number of {', '.join(old_names.units_of(before))}",
            )
    return found | kept


def _commitlog(system: CassandraSystem, line: Line) -> dict[str, Any]:
    sync = system.commitlog_sync
    if sync == "periodic":
        return {}
    period = "commitlog_sync_period_in_ms" if line.old_names else "commitlog_sync_period"
    if sync == "group" and line.old_names:
        raise InputError(f"Cassandra {line.name} has no commitlog_sync group", hint="periodic or batch")
    window: dict[str, Any] = {"commitlog_sync_group_window": GROUP_WINDOW} if sync == "group" else {}
    if line.old_names:
        window = {"commitlog_sync_batch_window_in_ms": 2}
    return {"commitlog_sync": sync, period: None, **window}


def at_once(shared: Mapping[str, Any]) -> bool:
    """Whether the nodes may start together: they stream nothing, and each is given its tokens."""
    return shared.get("auto_bootstrap") is False


def tokens_of(system: CassandraSystem, shared: Mapping[str, Any]) -> list[str | None]:
    """Each node's initial_token: the user's list, evenly spaced ones, or None where upstream allocates."""
    if listed := given_tokens(system):
        return [*listed[: system.size]]
    if not at_once(shared):
        return [None] * system.size
    return [*initial_tokens(system.partitioner, system.size, int(shared.get("num_tokens", 1)))]


def given_tokens(system: CassandraSystem) -> list[str]:
    """The user's `initial_token` of every node, or of those in reserve, too; empty if there are none.

    Raises:
        InputError: another number of them.
    """
    given = system.settings.get("initial_token")
    if given is None:
        return []
    listed = [str(token) for token in given] if isinstance(given, list | tuple) else [str(given)]
    if len(listed) not in (system.size, system.size + system.spare):
        raise InputError(
            f"initial_token: {len(listed)} values for {system.size} nodes", hint="a list, one a node"
        )
    return listed


def seeds(first: str, address: str) -> str:
    """The seeds of a node of a new ring: the first node, and itself.

    There is no data to stream in a new ring, and a seed neither waits twice 30 s to bootstrap nor gives up
    ("Unable to gossip with any peers") when it is up before the first on a busy machine. A node that joins
    later must not be its own seed: it would take its part of the ring without the data.
    """
    return first if address == first else f"{first},{address}"


def node_settings(
    shared: Mapping[str, Any], node: CassandraSpec, cluster: str, seeds: str, token: str | None
) -> dict[str, Any]:
    """The whole cassandra.yaml of one node."""
    folder = node.folder
    own: dict[str, Any] = {
        "cluster_name": cluster,
        "listen_address": node.address,
        "rpc_address": node.address,
        "data_file_directories": [str(folder / "data")],
        "commitlog_directory": str(folder / "commitlog"),
        "hints_directory": str(folder / "hints"),
        "saved_caches_directory": str(folder / "saved_caches"),
        "cdc_raw_directory": str(folder / "cdc_raw"),
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": seeds}],
            }
        ],
    }
    if token is not None:
        own["initial_token"] = token
    return {**own, **shared}


def files(node: CassandraSpec, yaml: Mapping[str, Any], nodes: Sequence[CassandraSpec]) -> dict[str, str]:
    """A node's configuration: path below its folder -> text."""
    found = {
        "conf/cassandra.yaml": "".join(f"{key}: {json.dumps(value)}\n" for key, value in yaml.items()),
        "conf/logback.xml": LOGBACK,
        "conf/cassandra-rackdc.properties": f"dc={node.datacenter}\nrack={node.rack}\n",
    }
    snitch = str(yaml.get("endpoint_snitch", ""))
    if snitch.endswith("PropertyFileSnitch") and "Gossiping" not in snitch:
        lines = [f"{other.address}={other.datacenter}:{other.rack}\n" for other in nodes]
        found["conf/cassandra-topology.properties"] = "".join(lines)
    return found
