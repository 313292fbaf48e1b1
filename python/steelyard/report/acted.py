"""From a trial's files to what its actions did: windows, measures, and the figures that claims name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from steelyard.analysis.counters import Window, nodes
from steelyard.analysis.reasons import HELD
from steelyard.analysis.summary import TOTAL, Phase
from steelyard.analysis.windows.effect import Effect, Measured, effect
from steelyard.analysis.windows.hints import Hints, hints
from steelyard.analysis.windows.losses import series
from steelyard.analysis.windows.milestones import (
    LEFT,
    Elapsed,
    Passed,
    joined,
    newcomers,
    passed,
    took,
    took_all,
    until,
)
from steelyard.analysis.windows.moved import gain, least_bytes
from steelyard.analysis.windows.slices import BySecond, by_second
from steelyard.analysis.windows.spans import acted, around_all, around_each
from steelyard.report.in_effect import master_names, node_names
from steelyard.report.source import TrialSource
from steelyard.results.actions import COMMAND, ActionTimes
from steelyard.results.histograms import highest
from steelyard.results.in_effect import part

ALL = "all"
"""The clock of what is felt: response of all attempts, a failure counted as at least its timeout."""
RAW = ("response", "not_yet", "failed")
"""The clocks that together have all operations that were answered, as long as each took, right or not."""
RESIZING = {"add": 1, "remove": -1}
LATELY_NS = 10_000_000_000
"""How far before an action, or the end, what is stored is looked at."""
LOCAL = "server_local_files_share"


@dataclass(frozen=True)
class OneAction:
    """One action of a trial.

    Attributes:
        id, do, nodes, parameters, how, reason, bytes, undo, by: as of actions.ndjson.
        start_s: since the phase began; None of one that never started.
        took: from its start to its end.
        passed: its milestones.
        least_bytes: what had to move at least; None where it changes no size, or nobody told what is stored.
        effect: what was felt around it; None of one that did not start in the measured phase.
    """

    id: str
    do: str
    nodes: tuple[str, ...]
    parameters: Mapping[str, Any]
    how: str
    reason: str
    bytes: int | None
    undo: bool = False
    by: str = ""
    start_s: float | None = None
    took: Elapsed | None = None
    passed: tuple[Passed, ...] = ()
    least_bytes: float | None = None
    effect: Effect | None = None


@dataclass(frozen=True)
class Acted:
    """What was done to the cluster in a trial.

    Attributes:
        actions: in the order of their requests.
        whole: what was felt around all of them; None where none started in the measured phase.
        took, joined, until: of all of them, as of `analysis.windows.milestones`.
        capacity: (ratio, share of the ideal) where the highest rate was searched before and after.
        hints: from the first action's start to the end of the phase; None where no server tells.
        remote: of the bytes of files that added nodes read, the share that lay on others alone in the end;
            None where nothing was added, or nobody tells.
    """

    actions: tuple[OneAction, ...]
    whole: Effect | None = None
    took: Elapsed | None = None
    joined: Elapsed | None = None
    until: Mapping[str, float] = field(default_factory=dict)
    capacity: tuple[float, float] | None = None
    hints: Hints | None = None
    remote: float | None = None


def latencies(
    source: TrialSource, phase: Phase, clocks: Sequence[str] = (ALL,), only: str = ""
) -> dict[str, BySecond]:
    """Operation -> response times by second of a phase, of these clocks together; TOTAL is all operations. Of
    one operation, if `only` names it."""
    found: dict[str, list[Any]] = {TOTAL: []}
    for clock in clocks:
        for tag, second, histogram in source.histogram_log(phase.name, f"{only}.{clock}"):
            found.setdefault(tag.partition(".")[0], []).append((second, *highest(histogram)))
    return {operation: by_second(rows, int(phase.seconds)) for operation, rows in found.items()}


def measured_of(source: TrialSource, phase: Phase, intervals: pl.DataFrame, system: pl.DataFrame) -> Measured:
    """A phase as the measures need it."""
    asked = part(source.manifest, "trial", "load", "search")
    bound_ms = asked.get("bound_ms")
    return Measured(
        name=phase.name,
        start_ns=phase.start_ns,
        closed=phase.closed,
        latencies=latencies(source, phase),
        raw=latencies(source, phase, RAW),
        counts=series(intervals, phase.name, int(phase.seconds)),
        coordinators=source.coordinators(),
        system=system,
        cores=part(source.manifest, "host").get("cores"),
        bound_ns=bound_ms * 1e6 if bound_ms else None,
    )


def read_acted(
    source: TrialSource, phase: Phase, intervals: pl.DataFrame, system: pl.DataFrame, first: int
) -> Acted | None:
    """What was done in a trial and felt in its measured phase; None where there are no actions.

    Args:
        source: the trial's folder.
        phase: the measured one, warm-up included.
        intervals, system: rows of the trial's tables.
        first: seconds of warm-up that were left out.
    """
    actions = source.actions().each()
    if not actions:
        return None
    begun = acted(actions, phase.start_ns, phase.seconds)
    if not begun:
        return Acted(tuple(map(_told, actions)))
    shape = measured_of(source, phase, intervals, system)
    windows = around_all(actions, phase.start_ns, phase.seconds, first)
    assert windows is not None  # noqa: S101 - some began
    whole = effect(shape, windows)
    alone = {a.id: w for a, w in around_each(actions, phase.start_ns, phase.seconds, first)}
    least = _least(source.manifest, begun, system)
    effects = {id: whole if len(alone) == 1 else effect(shape, w) for id, w in alone.items()}
    listed = tuple(_one(a, phase, effects.get(a.id), least.get(a.id)) for a in actions)
    return Acted(
        listed,
        whole,
        took_all(begun, phase.end_ns, actions),
        joined(begun, phase.end_ns),
        until(begun, phase.end_ns),
        _capacity(source.manifest, begun),
        hints(system, begun[0].started_ns or phase.start_ns, phase.end_ns),
        _remote([name for action in begun if action.do == "add" for name in action.nodes], phase, system),
    )


def _told(action: ActionTimes) -> OneAction:
    how = action.how or ("cut short" if action.started_ns else "never started")
    said = (action.parameters, how, action.reason, action.bytes, action.undo, action.by)
    return OneAction(action.id, action.do, action.nodes, *said)


def _one(action: ActionTimes, phase: Phase, felt: Effect | None, least: float | None) -> OneAction:
    told = _told(action)
    if action.started_ns is None:
        return told
    return replace(
        told,
        start_s=(action.started_ns - phase.start_ns) / 1e9,
        took=took(action, phase.end_ns),
        passed=passed(action),
        least_bytes=least,
        effect=felt,
    )


def _sizes(manifest: Mapping[str, Any], actions: Sequence[ActionTimes]) -> dict[str, tuple[int, int]]:
    """Action -> how many nodes held data before it and after it, of those that change that."""
    asked = part(manifest, "trial", "system").get("nodes")
    size = asked if isinstance(asked, int) else len({*node_names(manifest)} - {*master_names(manifest)})
    found = {}
    for action in actions:
        if size and (more := _more(action)):
            before, size = size, max(size + more, 0)
            found[action.id] = before, size
    return found


def _more(action: ActionTimes) -> int:
    """How many nodes more there are after an action; of a command what the cluster told."""
    if action.do == COMMAND:
        return len(newcomers(action)) - len({m.node for m in action.milestones if m.what == LEFT})
    return RESIZING.get(action.do, 0) * len(action.nodes)


def _copies(manifest: Mapping[str, Any]) -> int:
    """Of each record: the keyspace's replication factor, or HDFS' replication."""
    system = part(manifest, "trial", "system")
    told = part(system, "access", "replication").get("factor") or system.get("replication")
    return told if isinstance(told, int) and told > 0 else 1


def _least(
    manifest: Mapping[str, Any], actions: Sequence[ActionTimes], system: pl.DataFrame
) -> dict[str, float]:
    """Action -> the bytes that had to move at least."""
    found = {}
    for action in actions:
        before, after = _sizes(manifest, actions).get(action.id, (0, 0))
        if before and after and (stored := _stored(manifest, system, action.started_ns or 0)):
            found[action.id] = least_bytes(stored, before, after, _copies(manifest))
    return found


def _stored(manifest: Mapping[str, Any], system: pl.DataFrame, at_ns: int) -> float:
    """Bytes of data on all nodes just before a time; 0 where one tells a part of what it holds alone."""
    window = Window(system, at_ns - LATELY_NS, at_ns)
    serving = [name for name in nodes(system) if name not in master_names(manifest)]
    told = [[window.mean(name, metric) for metric in HELD] for name in serving]
    there = [sizes for sizes in told if any(size is not None for size in sizes)]
    if any(None in sizes for sizes in there):
        return 0.0
    return sum(size or 0.0 for sizes in there for size in sizes)


def _remote(added: Sequence[str], phase: Phase, system: pl.DataFrame) -> float | None:
    """Of the bytes of these nodes' files just before the phase's end, the share that lay on others."""
    window = Window(system, phase.end_ns - LATELY_NS, phase.end_ns)
    told = [(window.mean(name, HELD[0]), window.mean(name, LOCAL)) for name in added]
    held = [(size, share) for size, share in told if size and share is not None]
    files = sum(size for size, _ in held)
    return sum(size * (1 - share) for size, share in held) / files if files else None


def _capacity(manifest: Mapping[str, Any], actions: Sequence[ActionTimes]) -> tuple[float, float] | None:
    sizes = list(_sizes(manifest, actions).values())
    rates = [part(manifest, name).get("found_per_s") for name in ("search", "search_after")]
    found = gain(rates[0], rates[1], sizes[0][0], sizes[-1][1]) if sizes else None
    return None if found is None else (found.ratio, found.share)
