"""Tables of what client, lab, servers and engines used in a phase, and how evenly."""

from __future__ import annotations

from steelyard.analysis.cost import Cost
from steelyard.report.model import PhaseReport
from steelyard.report.tables.base import Table
from steelyard.report.words import clean, digits, milliseconds, share, size

MOST_NODES = 6
"""More columns than this do not fit beside each other at 100 columns."""


def resources(report: PhaseReport) -> Table:
    """CPU per operation and more, of client, lab, servers and machine."""
    throttled = any(c.throttled_share is not None for c in report.costs)
    network = any(c.network_per_s is not None for c in report.costs)
    columns = ["party", "CPU us/op", "cores", "memory", "disk r/s", "disk w/s"]
    columns += ["network/s"] if network else []
    columns += ["GC"] + (["throttled"] if throttled else [])
    rows = [_cost(c, network, throttled) for c in report.costs]
    note = (
        "CPU us/op = CPU time of the phase over completed operations; cores = mean in use; memory = "
        "highest resident. 'watching and lab' is Steelyard's own Python process with what samples the "
        "servers: part of the client's cost."
    )
    return Table("CPU per operation and resources", columns, rows, note=note)


def _cost(cost: Cost, network: bool, throttled: bool) -> list[str]:
    row = [clean(cost.party), digits(cost.cpu_us_per_op), digits(cost.cores), size(cost.memory_max_bytes)]
    row += [size(cost.disk_read_per_s), size(cost.disk_write_per_s)]
    row += [size(cost.network_per_s)] if network else []
    return row + [share(cost.gc_share)] + ([share(cost.throttled_share)] if throttled else [])


def balance(report: PhaseReport) -> Table | None:
    """Per node requests, bytes and CPU, with max/mean and the coefficient of variation."""
    if not report.balance:
        return None
    nodes = sorted({n for b in report.balance for n in b.by_node})
    columns = ("measure", *(clean(n) for n in nodes), "max/mean", "CoV")
    if len(nodes) > MOST_NODES:
        return _balance_of_many(report)
    rows = []
    for b in report.balance:
        form = size if b.unit == "B/s" else digits
        unit = "per s" if b.unit in ("B/s", "/s") else b.unit
        apart = (f"{b.spread.max_over_mean:.2f}", f"{b.spread.coefficient_of_variation:.3f}")
        rows.append((f"{b.measure}, {unit}", *(form(b.by_node.get(n)) for n in nodes), *apart))
    note = "max/mean = 1 and a coefficient of variation of 0 mean that all nodes do the same."
    return Table("Balance of the nodes", columns, rows, note=note)


def _balance_of_many(report: PhaseReport) -> Table:
    """The same without a column for each node, which no page is wide enough for."""
    rows = []
    for b in report.balance:
        form = size if b.unit == "B/s" else digits
        low, high = min(b.by_node, key=b.by_node.__getitem__), max(b.by_node, key=b.by_node.__getitem__)
        rows.append(
            (f"{b.measure}, {b.unit}", f"{form(b.by_node[low])} ({clean(low)})",
             f"{form(b.by_node[high])} ({clean(high)})", f"{b.spread.max_over_mean:.2f}",
             f"{b.spread.coefficient_of_variation:.3f}")
        )  # fmt: skip
    return Table("Balance of the nodes", ("measure", "least (node)", "most (node)", "max/mean", "CoV"), rows)


def engines(report: PhaseReport) -> Table | None:
    """Response percentiles per engine, when there were several."""
    if not report.engines:
        return None
    count = max(len(e.by_engine_ns) for e in report.engines)
    shown = min(count, MOST_NODES)
    columns = ("operation", "percentile", *(f"engine {n}" for n in range(shown)), "CoV")
    rows = [
        (
            e.operation,
            e.percentile,
            *(milliseconds(v) for v in e.by_engine_ns[:shown]),
            f"{e.coefficient_of_variation:.3f}",
        )
        for e in report.engines
    ]
    note = "Side by side and not averaged: the figures of the whole come from the merged histograms."
    if count > shown:
        note += f" Shown are {shown} of {count} engines; the coefficient of variation is over all."
    return Table("Response time per engine, ms", columns, rows, words=2, note=note)
