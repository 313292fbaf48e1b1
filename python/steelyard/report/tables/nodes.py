"""Tables of what client, lab, servers and engines used in a phase, and how evenly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from steelyard.analysis.cost import Cost
from steelyard.analysis.spread import EngineSpread
from steelyard.analysis.summary import Traffic
from steelyard.report.formatting import clean, digits, milliseconds, share, size
from steelyard.report.model import PhaseReport
from steelyard.report.tables.base import Table

FORMS: Mapping[str, tuple[Callable[[float | None], str], str]] = {
    "B": (size, ""),
    "B/s": (size, "per s"),
    "/s": (digits, "per s"),
    "share": (share, ""),
}
"""Unit -> how its figures are written, and the word that goes with the measure; others stand as they are."""
MOST_NODES = 6
"""More columns than this do not fit beside each other at 100 columns."""


def resources(report: PhaseReport) -> Table:
    """CPU per operation and more, of client, lab, servers and machine."""
    throttled = any(c.throttled_share is not None for c in report.costs)
    network = any(c.network_per_s is not None for c in report.costs)
    columns = ["party", "CPU us/op", "cores", "memory", "disk r/s", "disk w/s"]
    columns += ["network/s"] if network else []
    columns += ["GC"] + (["throttled"] if throttled else [])
    rows = [_cost(c, network, throttled) for c in report.costs if c.known]
    note = (
        "CPU us/op = CPU time of the phase over completed operations; cores = mean in use; memory = "
        "highest resident. 'watching and lab' is Steelyard's own Python process with what samples the "
        "servers: part of the client's cost."
    )
    return Table("CPU per operation and resources", columns, rows, note=note + _traffic(report.phase.traffic))


def _traffic(traffic: Traffic | None) -> str:
    if traffic is None:
        return ""
    return (
        f" The engine sent {digits(traffic.requests_per_write)} operations with each write() and received "
        f"{digits(traffic.answers_per_read)} with each read(): what an operation costs it depends on both."
    )


def _cost(cost: Cost, network: bool, throttled: bool) -> list[str]:
    row = [clean(cost.party), digits(cost.cpu_us_per_op), digits(cost.cores), size(cost.memory_max_bytes)]
    row += [size(cost.disk_read_per_s), size(cost.disk_write_per_s)]
    row += [size(cost.network_per_s)] if network else []
    return row + [share(cost.gc_share)] + ([share(cost.throttled_share)] if throttled else [])


def balance(report: PhaseReport) -> Table | None:
    """Per node requests, data, bytes and CPU, with max/mean and the coefficient of variation."""
    if not report.balance:
        return None
    apart = [
        (f"{b.spread.max_over_mean:.2f}", f"{b.spread.coefficient_of_variation:.3f}") for b in report.balance
    ]
    note = "max/mean = 1 and a coefficient of variation of 0 mean that all nodes do the same."
    rows = [(b.measure, b.unit, b.by_node) for b in report.balance]
    return _by_source(report, "Balance of the nodes", rows, note, apart)


def inside(report: PhaseReport) -> Table | None:
    """What the servers told of themselves; None when none told anything."""
    if not report.inside:
        return None
    note = "As the servers tell it: most, least and slowest are of single samples, the others means."
    rows = [(i.measure, i.unit, i.by_source) for i in report.inside]
    return _by_source(report, "Inside the servers", rows, note)


Row = tuple[str, str, Mapping[str, float]]
"""A measure, its unit, and source -> figure."""


def _by_source(
    report: PhaseReport, title: str, rows: Sequence[Row], note: str, apart: Sequence[tuple[str, str]] = ()
) -> Table:
    """Measures in rows, a column for each source, masters last; of many sources the least and the most."""
    told = {source for _, _, values in rows for source in values}
    sources = [cost.party for cost in report.costs if cost.party in told]
    many = len(sources) > MOST_NODES
    columns = ["measure", *(("least (node)", "most (node)") if many else map(clean, sources))]
    cells = []
    for place, (measure, unit, values) in enumerate(rows):
        form, word = FORMS.get(unit, (digits, unit))
        shown = _ends(values, form) if many else [form(values.get(source)) for source in sources]
        cells.append([f"{measure}, {word}" if word else measure, *shown, *(apart[place] if apart else ())])
    return Table(title, [*columns, *(("max/mean", "CoV") if apart else ())], cells, note=note)


def _ends(values: Mapping[str, float], form: Callable[[float | None], str]) -> list[str]:
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return [f"{form(values[name])} ({clean(name)})" for name in (low, high)]


def engines(report: PhaseReport) -> Table | None:
    """Response percentiles per engine, under its load host's name if it ran on one, when there were
    several."""
    if not report.engines:
        return None
    names = list(dict.fromkeys(name for e in report.engines for name in e.engines))
    count, shown = len(names), names[:MOST_NODES]
    columns = ("operation", "percentile", *map(clean, shown), "CoV")
    rows = [
        (e.operation, e.percentile, *_of_engines(e, shown), f"{e.coefficient_of_variation:.3f}")
        for e in report.engines
    ]
    note = "Side by side and not averaged: the figures of the whole come from the merged histograms."
    if count > len(shown):
        note += f" Shown are {len(shown)} of {count} engines; the coefficient of variation is over all."
    return Table("Response time per engine, ms", columns, rows, words=2, note=note)


def _of_engines(spread: EngineSpread, names: Sequence[str]) -> list[str]:
    """A cell for each name; an engine without such an operation has an empty one."""
    by = dict(zip(spread.engines, spread.by_engine_ns, strict=True))
    return [milliseconds(by.get(name)) for name in names]
