"""What a trial's manifest says of the system, the host and the settings, found politely: any field may be
missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.report.formatting import clean
from steelyard.results.in_effect import part
from steelyard.spec.kind import declared

Facts = Mapping[str, Any]
CURVE_SHOWN = 6
"""Points of a curve that fit into a line."""
SERVING = {"regionserver", "standalone"}
"""Roles of servers that clients read and write at; Cassandra's nodes are all the same and have no roles."""

INSIDE = "server_*"
"""What a server tells of itself, as `manifest.host.missing` names it; of one of several servers of a node, or
of one of its tables, with the name in brackets."""


def node_names(manifest: Facts) -> tuple[str, ...]:
    """Names of the system's nodes."""
    nodes = part(manifest, "system").get("nodes")
    if isinstance(nodes, Mapping):
        return tuple(str(name) for name in nodes)
    if not isinstance(nodes, (list, tuple)):
        return ()
    return tuple(str(n.get("name", "?") if isinstance(n, Mapping) else n) for n in nodes)


def untold(manifest: Facts) -> dict[str, str]:
    """Nodes whose servers told nothing, or not always -> the reason, as far as it is known."""
    missing = part(manifest, "host", "missing")
    found: dict[str, str] = {}
    for name in node_names(manifest):
        own = {
            what.removeprefix(f"{name}."): why for what, why in missing.items() if what.startswith(f"{name}.")
        }
        whole = own.get(INSIDE) or next((own[what] for what in own if what.startswith(f"{INSIDE} (")), None)
        if whole is not None:
            found[name] = str(whole)
    return found


def lacking(manifest: Facts) -> dict[str, list[str]]:
    """What servers that tell something never told, with the reason -> the nodes of which it is missing."""
    found: dict[str, list[str]] = {}
    missing = part(manifest, "host", "missing")
    for name in node_names(manifest):
        begins = f"{name}.{INSIDE} ("
        for what, why in missing.items():
            if what.startswith(begins) and not str(why).startswith("no answer to"):
                found.setdefault(f"{what.removeprefix(begins)[:-1]} ({why})", []).append(name)
    return found


def coordinator_name(manifest: Facts, coordinator: str) -> str:
    """The name of the node at an `address:port`, those that join later among them; else as it is.

    Several nodes may share an address: then the port tells them apart, or nothing does.
    """
    system, (address, _, port) = part(manifest, "system"), coordinator.rpartition(":")
    parts = [system.get(name) for name in ("nodes", "spares")]
    listed = [
        n
        for nodes in parts
        if isinstance(nodes, (list, tuple))
        for n in nodes
        if isinstance(n, Mapping) and n.get("name")
    ]
    if any(n["name"] == coordinator for n in listed):
        return coordinator
    there = {str(n["name"]): part(n, "ports").values() for n in listed if n.get("address") == address}
    found = [name for name, ports in there.items() if port in map(str, ports)] or [*there]
    return found[0] if len(found) == 1 else coordinator


def master_names(manifest: Facts) -> tuple[str, ...]:
    """Names of the nodes that serve no data: those with roles among which none does."""
    nodes = part(manifest, "system").get("nodes")
    listed = [n for n in nodes if isinstance(n, Mapping)] if isinstance(nodes, (list, tuple)) else []
    return tuple(str(n.get("name")) for n in listed if n.get("roles") and not {*n["roles"]} & SERVING)


def system_kind(manifest: Facts) -> str:
    """`cassandra`, `hbase`, `hosts`, `embedded`, `null`, ...; empty when unknown."""
    return str(part(manifest, "trial", "system").get("kind") or part(manifest, "system").get("kind") or "")


def side_name(manifest: Facts) -> str:
    """`cassandra as-shipped`: a study's system and variant, printable; empty where it has one."""
    said = part(manifest, "trial")
    return clean(" ".join(str(said[key]) for key in ("system_name", "variant") if said.get(key)))


def is_local(manifest: Facts) -> bool:
    """Whether client and servers are on one host."""
    apart = any(host.get("role") == "server" for host in manifest.get("hosts") or ())
    return declared(system_kind(manifest)).local and not apart


def is_given(manifest: Facts) -> bool:
    """Whether the cluster is one that others operate."""
    return bool(declared(system_kind(manifest)).given_by)


def takes_part(manifest: Facts) -> bool:
    """Whether an engine or nodes ran on the laboratory's own machine."""
    driven_there = any(host.get("role") == "load" for host in manifest.get("hosts") or ())
    return not driven_there or is_local(manifest)


def quota_cores(manifest: Facts) -> float | None:
    """Sum of the CPU quotas of all nodes, masters and those in reserve included; None when one has none."""
    each = quotas(manifest).values()
    known = [cores for cores in each if cores is not None]
    return sum(known) if known and len(known) == len(each) else None


def quotas(manifest: Facts) -> dict[str, float | None]:
    """Cores that each node may use, masters and those in reserve included; None of one without a limit."""
    limits = part(manifest, "system", "limits")
    if in_effect := {**part(limits, "cpu_cores"), **part(limits, "spare_cpu_cores")}:
        return {name: None if cores is None else float(cores) for name, cores in in_effect.items()}
    cpu = part(manifest, "trial", "system", "limits").get("cpu")
    return dict.fromkeys(node_names(manifest), None if cpu is None else float(cpu))


def consistency(manifest: Facts) -> list[tuple[str, Any]]:
    """Durability and consistency in effect, as (word, value)."""
    access, driver = part(manifest, "trial", "system", "access"), part(manifest, "plan", "driver")
    system, asked = part(manifest, "system"), part(manifest, "trial", "system")
    durable = access.get("durable_writes", driver.get("durable_writes"))
    found = [
        ("Durability", system.get("durability")),
        ("Read consistency", driver.get("read_consistency") or access.get("read_consistency")),
        ("Write consistency", driver.get("write_consistency") or access.get("write_consistency")),
        ("Load consistency", access.get("load_consistency")),
        ("Durability of a write", driver.get("durability")),
        ("Write-ahead log", system.get("wal")),
        ("Replication", driver.get("replication") or access.get("replication") or system.get("replication")),
        ("Durable writes", durable),
        ("Commit log sync", asked.get("commitlog_sync")),
        ("fsync after every write", asked.get("sync") if declared(system_kind(manifest)).in_engine else None),
    ]
    return [(word, value) for word, value in found if value is not None]


def system_words(manifest: Facts, study: Facts) -> str:
    """The system, its version and nodes."""
    system = part(manifest, "trial", "system") or part(study, "system")
    version = _versions(part(manifest, "system")) or system.get("version") or ""
    masters = len(master_names(manifest))
    nodes = len(node_names(manifest)) - masters
    words = [str(system.get("kind", "unknown system")), str(version)]
    words += [f"on {nodes} node{'s' if nodes != 1 else ''}"] if nodes else []
    words += [f"and {masters} master{'s' if masters != 1 else ''}"] if masters else []
    return " ".join(word for word in words if word)


def _versions(system: Facts) -> str:
    """The version that servers had at first, and that they were brought to: `4.1.10, then 5.0.7`."""
    before, after = str(system.get("version") or ""), list((system.get("upgraded") or {}).values())
    kept = after.count(before)
    then = ", ".join(sorted({*after} - {before}))
    if not then:
        return before
    return f"{before}, then {then}" + (f" (not {kept} of {len(after)} nodes)" if kept else "")


def workload_words(manifest: Facts, study: Facts) -> str:
    """The workload and its size; empty when unknown."""
    workload = part(manifest, "trial", "workload") or part(study, "workload")
    if not workload:
        return ""
    return f"workload {workload.get('name', '?')}, {int(workload.get('records') or 0):,} records"


def system_line(manifest: Facts, study: Facts) -> str:
    """The system and workload in one line."""
    return ", ".join(filter(None, (system_words(manifest, study), workload_words(manifest, study))))


def load_line(manifest: Facts, study: Facts) -> str:
    """The load in one line."""
    load = part(manifest, "trial", "load") or part(study, "load")
    if not load:
        return ""
    if load.get("search"):
        return f"at {load['search'].get('share', 1):g} of the highest rate, which was searched"
    if curve := load.get("curve"):
        whence = f" of {load['curve_from']}" if load.get("curve_from") else ""
        return f"{curve_words(curve)}{whence}, {load.get('arrivals', 'constant')} arrivals"
    if load.get("target"):
        cap = load.get("in_flight") or load.get("clients")
        line = (
            f"{_target(load['target'], part(manifest, 'rate'))}, {load.get('arrivals', 'constant')} arrivals"
        )
        return line + (f", at most {cap:,} in flight" if cap else "")
    return f"closed loop of {load.get('clients') or 'default'} clients"


def _target(target: Any, rate: Facts) -> str:
    """The rate; where it is a share of one that was found once, of which."""
    if isinstance(target, Mapping):  # of a study: each trial has its own
        return f"{target.get('share', 1):g} of rate {target.get('of')}"
    line = f"{target:,.0f} operations/s"
    if not rate:
        return line
    return f"{line} ({rate.get('share'):g} of rate {rate.get('of')}, {rate.get('found_per_s'):,.0f}/s)"


def curve_words(curve: Sequence[Sequence[float]]) -> str:
    """`1,000/s at 0 s, 4,000/s at 30 s`; of many points how many, and between which rates."""
    if len(curve) <= CURVE_SHOWN:
        return "a curve of " + ", ".join(f"{rate:,.0f}/s at {at_s:g} s" for at_s, rate in curve)
    rates = [rate for _, rate in curve]
    return f"a curve of {len(curve)} points, {min(rates):,.0f} to {max(rates):,.0f}/s"


def data_line(manifest: Facts) -> str:
    """Where the data are from, in one line; empty when the trial loaded them itself, or found them."""
    data = part(manifest, "data")
    if data.get("how") == "kept":
        return "data kept from the trial before"
    if data.get("how") != "restored":
        return ""
    return (
        f"data restored from snapshot {data.get('snapshot')}, loaded {part(data, 'loading').get('created')}"
    )
