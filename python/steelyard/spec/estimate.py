"""How long a study may take and how much disk it needs, before anything is measured: by stated assumptions.

Once trials have run, what they took replaces these guesses (see `lab.time_left`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.spec.highest import ShareOf
from steelyard.spec.kind import Assumed, declared
from steelyard.spec.models import Point, Study, Trial
from steelyard.spec.rates import first_of_each
from steelyard.spec.trials import KEY_BYTES, data_bytes, mean_field_length

SPARE = 3.0
"""Disk over data: commit log, memtables being flushed, SSTables before and after a compaction."""
PROBES = 20
"""Of a search: six doublings, five halvings, three to confirm, and some once more."""
RESULT_BYTES = 2_000_000
"""A trial's own folder, servers' logs included."""


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes a study may take."""

    seconds: float
    disk_bytes: float
    results_bytes: float


def assumed(point: Point) -> Assumed:
    """What is assumed of a point's system."""
    record = declared(point.system.kind)
    quick = getattr(point.system, "profile", "") == "quick"
    return record.assumed_quick if quick and record.assumed_quick else record.assumed


def assumptions(study: Study) -> list[str]:
    """The assumptions behind the estimate, a line for each kind of system."""
    told = dict.fromkeys((point.system.kind, assumed(point)) for point in study.cells)
    lines = []
    for kind, a in told:
        lines.append(
            f"{kind}: serves after {a.start_s:g} s and {a.node_s:g} s for each further node, answers in "
            f"{a.operation_ms:g} ms when idle, at most {a.peak_per_s:,.0f} operations/s of 1 KB"
            f"{_of_quotas(study, kind, a)}; {a.around_s:g} s around each trial, "
            f"{a.between_s:g} s where it begins with neither a start nor a load"
        )
    return [*lines, f"disk: {SPARE:g} times the data with replicas"]


def _of_quotas(study: Study, kind: str, a: Assumed) -> str:
    """What is assumed of loads where nodes have quotas."""
    some = any(_quota(point) for point in study.cells if point.system.kind == kind)
    return f", loads {a.core_copies_per_s:,.0f} copies/s for each core of its nodes' quotas" if some else ""


def _quota(point: Point) -> float | None:
    """Cores of a system whose nodes all have a quota."""
    return getattr(point.system, "quota_cores", None)


def trial_seconds(trial: Trial, *, starts: bool = True, loads: bool = True) -> float:
    """About how long one trial takes.

    Args:
        trial: the trial.
        starts: its cluster is brought up for it.
        loads: the data are loaded for it.
    """
    a = assumed(trial)
    around_s = a.around_s if starts or loads else a.between_s
    seconds = around_s + trial.load.warmup_s + run_seconds(trial)
    if trial.load.search:
        seconds += PROBES * trial.load.search.probe_s * (2 if trial.load.search.again else 1)
    if starts:
        nodes = trial.system.size
        seconds += a.start_s + a.node_s * (nodes - 1)
    if loads:
        seconds += trial.workload.records / _load_rate(trial)
    return seconds


def run_seconds(trial: Trial) -> float:
    """The measured phase: the limit that is reached first."""
    load, target = trial.load, trial.load.target
    borne = _rate(trial, load.cap)
    rate = target.share * borne if isinstance(target, ShareOf) else target or borne
    limits = [load.operations / rate if load.operations else None, load.duration_s]
    return min(limit for limit in limits if limit is not None)


def _rate(trial: Trial, clients: int) -> float:
    """Operations per second of a closed loop; larger records are slower in proportion."""
    a = assumed(trial)
    record = KEY_BYTES + trial.workload.fields.count * mean_field_length(trial.workload)
    return min(clients * 1000 / a.operation_ms, a.peak_per_s * min(1.0, 1024 / record))


def _load_rate(trial: Trial) -> float:
    """Records per second of a load: quotas of a fraction of a core decide it on new servers."""
    rate, quota = _rate(trial, trial.load.load_clients), _quota(trial)
    if quota is None:
        return rate
    return min(rate, quota * assumed(trial).core_copies_per_s / trial.system.copies)


def each(planned: Sequence[Trial]) -> dict[int, float]:
    """Trial -> seconds, with clusters and loads that are shared counted where they first occur."""
    groups: set[int] = set()
    loads: set[int] = set()
    found = {}
    for trial in planned:
        found[trial.number] = trial_seconds(
            trial, starts=trial.group not in groups, loads=trial.data not in loads
        )
        groups.add(trial.group)
        loads.add(trial.data)
    return found


def searches_seconds(study: Study, planned: Sequence[Trial]) -> float:
    """The searches for rates that trials share, each on a cluster of its own."""
    found = first_of_each(study, planned)
    asked = [(trial, study.rates[name]) for (name, _), trial in found.items()]
    return sum(
        trial_seconds(trial.model_copy(update={"load": trial.load.searching(rate), "timeline": ()}))
        for trial, rate in asked
    )


def estimate(planned: Sequence[Trial]) -> Estimate:
    """All trials; disk is that of its largest data set, since they come one after the other, and of all
    that are kept for several starts."""
    groups: dict[int, set[int]] = {}
    for trial in planned:
        groups.setdefault(trial.data, set()).add(trial.group)
    kept = {trial.data: data_bytes(trial) for trial in planned if len(groups[trial.data]) > 1}
    return Estimate(
        seconds=sum(each(planned).values()),
        disk_bytes=max(data_bytes(trial) for trial in planned) * SPARE + sum(kept.values()),
        results_bytes=len(planned) * RESULT_BYTES,
    )
