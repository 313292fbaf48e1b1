"""What an operation costs: CPU of the client, of the lab that watches, of each server, and what else they
used."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from steelyard.analysis.counters import Window, engines, nodes
from steelyard.analysis.summary import Phase

CPU = "cpu_seconds_total"
DISK_READ, DISK_WRITE = "disk_read_bytes_total", "disk_write_bytes_total"
NETWORK = ("network_receive_bytes_total", "network_send_bytes_total")
MICRO = 1e6


@dataclass(frozen=True)
class Cost:
    """What one party used during a phase; None where it was not sampled.

    Attributes:
        party: `client (engine)`, `watching and lab`, `client in all`, a node's name, `nodes in all`,
            `masters in all`, `servers in all`, `machine`.
        role: `client`, `server` (a node with data, and all of them), `master` (one without, and all of them),
            `servers` (nodes and masters together) or `machine`.
        cores: mean CPU use in cores.
        cpu_us_per_op: CPU time for each completed operation of the phase.
        memory_max_bytes: highest resident memory.
        disk_read_per_s, disk_write_per_s, network_per_s: bytes per second (network: both directions).
        throttled_share: share of the CPU quota's periods in which it held the node back.
        gc_share: share of the window spent in garbage collection.
    """

    party: str
    role: str
    cores: float | None
    cpu_us_per_op: float | None
    memory_max_bytes: float | None = None
    disk_read_per_s: float | None = None
    disk_write_per_s: float | None = None
    network_per_s: float | None = None
    throttled_share: float | None = None
    gc_share: float | None = None

    @property
    def known(self) -> bool:
        """Whether anything of it was sampled."""
        figures = (self.cores, self.memory_max_bytes, self.disk_read_per_s, self.network_per_s, self.gc_share)
        return any(figure is not None for figure in figures)


def _per_op(cores: float | None, phase: Phase) -> float | None:
    if cores is None or not phase.total.count:
        return None
    return cores * phase.elapsed_s * MICRO / phase.total.count


def _measured(window: Window, source: str, party: str, role: str, phase: Phase) -> Cost:
    cores = window.rate(source, CPU)
    return Cost(
        party=party,
        role=role,
        cores=cores,
        cpu_us_per_op=_per_op(cores, phase),
        memory_max_bytes=window.highest(source, "memory_bytes"),
        disk_read_per_s=window.rate(source, DISK_READ),
        disk_write_per_s=window.rate(source, DISK_WRITE),
        network_per_s=window.rate(source, *NETWORK),
        throttled_share=window.held_back(source),
        gc_share=window.rate(source, "server_gc_seconds_total"),
    )


def _engine(window: Window, names: list[str], phase: Phase) -> Cost:
    """The engine's own account of its CPU is exact for the phase; samples stand in when it was cut short."""
    if phase.engine_cpu_s is not None and phase.elapsed_s:
        cores: float | None = phase.engine_cpu_s / phase.elapsed_s
    else:
        cores = window.rate_of_all(names, CPU)
    memory = phase.engine_rss_max_bytes
    if memory is None and names:
        memory = _sum([window.highest(name, "memory_bytes") for name in names])  # type: ignore[assignment]
    return Cost(
        "client (engine)",
        "client",
        cores,
        _per_op(cores, phase),
        memory_max_bytes=memory,
        disk_read_per_s=window.rate_of_all(names, DISK_READ),
        disk_write_per_s=window.rate_of_all(names, DISK_WRITE),
    )


def _sum(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def _together(party: str, role: str, costs: list[Cost]) -> Cost:
    sums = {
        name: _sum([getattr(c, name) for c in costs])
        for name in (
            "cores",
            "cpu_us_per_op",
            "memory_max_bytes",
            "disk_read_per_s",
            "disk_write_per_s",
            "network_per_s",
        )
    }
    return Cost(party, role, **sums)


def costs(system: pl.DataFrame, phase: Phase, masters: Collection[str] = ()) -> tuple[Cost, ...]:
    """Cost of every party over the phase's window: client, lab, both, each server, all servers, the machine.

    Args:
        system: rows of system.parquet (docs/format.md); may be empty.
        phase: the phase, whose window and number of completed operations are used.
        masters: the nodes that serve no data; nodes and masters are then added up apart and together.
    """
    window = Window(system, phase.start_ns, phase.end_ns)
    engine = _engine(window, engines(system), phase)
    client = [engine]
    if (lab := _measured(window, "lab", "watching and lab", "client", phase)).cores is not None:
        client += [lab, _together("client in all", "client", [engine, lab])]
    machine = _measured(window, "machine", "machine", "machine", phase)
    found = [*client, *_servers(window, phase, masters)]
    return (*found, *([machine] if machine.cores is not None else []))


def _servers(window: Window, phase: Phase, masters: Collection[str]) -> list[Cost]:
    names = nodes(window.system)
    serving = [_measured(window, n, n, "server", phase) for n in names if n not in masters]
    leading = [_measured(window, n, n, "master", phase) for n in names if n in masters]
    if not leading:
        return serving + ([_together("servers in all", "server", serving)] if len(serving) > 1 else [])
    found = serving + ([_together("nodes in all", "server", serving)] if len(serving) > 1 else [])
    found += leading + ([_together("masters in all", "master", leading)] if len(leading) > 1 else [])
    return [*found, _together("servers in all", "servers", serving + leading)]


def client_cpu_us(found: tuple[Cost, ...]) -> float | None:
    """CPU of the client per operation, the lab's share included where it is known."""
    return _last(found, "client")


def server_cpu_us(found: tuple[Cost, ...]) -> float | None:
    """CPU of all servers per operation, masters included."""
    return _last(found, "server", "servers")


def node_cpu_us(found: tuple[Cost, ...]) -> float | None:
    """CPU of the servers per operation without that of masters on nodes of their own."""
    return _last(found, "server")


def master_cpu_us(found: tuple[Cost, ...]) -> float | None:
    """CPU per operation of masters on nodes of their own; None where there are none."""
    return _last(found, "master")


def _last(found: tuple[Cost, ...], *roles: str) -> float | None:
    """Of the roles, the row that adds up the others, which is the last."""
    rows = [cost for cost in found if cost.role in roles]
    return rows[-1].cpu_us_per_op if rows else None
