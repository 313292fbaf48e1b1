"""What a keyspace can promise here: the replication map, and consistency levels that cannot be met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from steelyard.errors import InputError, nearest
from steelyard.spec.system import CassandraSystem, CqlAccess
from steelyard.systems.cassandra.config import CassandraSpec

FIXED = {"ANY": 1, "ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3}


def replication_map(access: CqlAccess, datacenters: list[str]) -> dict[str, str]:
    """The CQL replication map, e.g. {"class": "SimpleStrategy", "replication_factor": "3"}."""
    replication = access.replication
    if replication.strategy == "SimpleStrategy":
        return {"class": "SimpleStrategy", "replication_factor": str(replication.factor)}
    factors = {name: replication.datacenters.get(name, replication.factor) for name in datacenters}
    return {"class": "NetworkTopologyStrategy", **{name: str(n) for name, n in (factors or {}).items()}}


def sizes(system: CassandraSystem) -> dict[str, int]:
    """Nodes by datacenter."""
    return {dc.name: dc.nodes for dc in system.datacenters} or {"datacenter1": system.nodes}


def check(system: CassandraSystem) -> list[str]:
    """Warnings about replication; raises InputError where a consistency level can never be met."""
    access, nodes = system.access, sizes(system)
    for name in (*access.replication.datacenters, *filter(None, [access.local_datacenter])):
        if name not in nodes:
            raise InputError(
                f"there is no datacenter {name!r}{nearest(name, nodes)}",
                hint=f"there are: {', '.join(nodes)}",
            )
    if access.read_consistency == "ANY":
        raise InputError("consistency ANY is for writes only", hint="read_consistency = ONE")
    factors = _factors(access, nodes)
    levels = {
        "read": access.read_consistency, "write": access.write_consistency, "load": access.load_consistency,
    }  # fmt: skip
    for what, level in levels.items():
        if level:
            _check_level(what, level, factors, access.local_datacenter or next(iter(nodes)))
    return [
        f"replication factor {factor} is above the {count} nodes{f' of {name}' if name else ''}: "
        f"only {count} replicas exist"
        for name, (factor, count) in factors.items()
        if factor > count
    ]


def check_left(access: CqlAccess, staying: Sequence[CassandraSpec]) -> None:
    """See that nodes that stay can hold all copies that are promised; raises InputError."""
    nodes = dict(Counter(spec.datacenter for spec in staying))
    for name, (factor, count) in _factors(access, nodes or {"": 0}).items():
        if factor > count:
            raise InputError(
                f"{count} node{'s' * (count != 1)}{f' of {name}' if name else ''} would be left, too few for "
                f"replication factor {factor}",
                hint="fewer nodes to remove, or a smaller replication factor",
            )


def _factors(access: CqlAccess, nodes: dict[str, int]) -> dict[str, tuple[int, int]]:
    replication = access.replication
    if replication.strategy == "SimpleStrategy":
        return {"": (replication.factor, sum(nodes.values()))}
    return {
        name: (replication.datacenters.get(name, replication.factor), count) for name, count in nodes.items()
    }


def _check_level(what: str, level: str, factors: dict[str, tuple[int, int]], local: str) -> None:
    groups = _groups(level, factors, local)
    for factor, available in groups:
        needed = FIXED.get(level) or (factor if level == "ALL" else factor // 2 + 1)
        if needed > available:
            raise InputError(
                f"{what} consistency {level} needs {needed} replicas, but of replication factor {factor} "
                f"only {available} can exist",
                hint="more nodes, a smaller replication factor, or a weaker level",
            )


def _groups(level: str, factors: dict[str, tuple[int, int]], local: str) -> list[tuple[int, int]]:
    """(replication factor, replicas that can exist) of each group of replicas that must answer by itself."""
    real = {name: (factor, min(factor, count)) for name, (factor, count) in factors.items()}
    if level == "EACH_QUORUM":
        return list(real.values())
    if level.startswith("LOCAL_") and local in real:
        return [real[local]]
    return [(sum(factor for factor, _ in real.values()), sum(count for _, count in real.values()))]
