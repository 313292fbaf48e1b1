"""From a study to its ordered list of trials: seeds, groups and order are fixed here, before all else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence

from steelyard.spec.dataset import RECORDS, data_set, key, without
from steelyard.spec.kind import declared
from steelyard.spec.models import Point, Study, Trial
from steelyard.spec.order import balanced, digest
from steelyard.spec.workload import ConstantLength, HistogramLength, Workload

KEY_BYTES = 23
"""`user` and 19 digits: the usual length of a key."""
STRIDE = 1 << 32
"""Operation numbers set aside for one trial on a shared data set: no run comes near so many."""

APART = ("fresh", "restore")
"""Resets that start a cluster for each trial."""
ONE_LOAD = ("none", "restore")
"""Resets with which trials share a load."""

Cell = tuple[Point, int]
"""A point and a repetition of it."""


def trials(study: Study) -> list[Trial]:
    """Every trial of a study's plan, in the order in which they run.

    Trials that share a start of a cluster (`reset`, `starts`) follow each other; groups, and trials within
    each, are ordered as the study asks. Those that share a data set have the seed it was loaded with, by
    which values are judged.
    """
    found: list[Trial] = []
    data_sets: dict[str, int] = {}
    for group, cells in enumerate(_groups(study), start=1):
        for point, repetition in cells:
            found.append(_trial(study, point, repetition, len(found) + 1, group, data_sets))
    return found


def further_trials(study: Study, known: Sequence[Trial], wanted: Mapping[int, int]) -> list[Trial]:
    """Trials that follow those of the plan, numbered after them.

    Args:
        known: all trials up to now.
        wanted: point -> repetitions of it that there shall be, at least those of the plan.

    Repetitions of several points stay blocks, each in an order of its own. Where trials share clusters they
    belong to the start that was planned for all; with several `starts`, to further ones.
    """
    have = {(t.point, t.repetition) for t in known}
    cells = [(p, r) for p in study.cells for r in range(1, wanted.get(p.number, 0) + 1)]
    cells = [cell for cell in cells if (cell[0].number, cell[1]) not in have]
    number, groups = max(t.number for t in known), _known_groups(study, known)
    data_sets = {key(data_set(t, t.seed)): t.data for t in reversed(known)}
    starts: dict[tuple[str, int], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell[1]):
        start = _cluster(study, *cell)
        groups.setdefault(start, max(groups.values()) + 1)
        starts.setdefault(start, []).append(cell)
    cells = [c for start in sorted(starts, key=groups.__getitem__) for c in _in_blocks(starts[start], study)]
    return [
        _trial(
            study, point, repetition, number + n, groups.get(_cluster(study, point, repetition), 0), data_sets
        )
        for n, (point, repetition) in enumerate(cells, start=1)
    ]


def whole_starts(study: Study, repetitions: int) -> int:
    """So many repetitions or a few more, so that every start of a cluster has equally many."""
    each = study.repetitions // study.starts if study.starts > 1 else 1
    return math.ceil(repetitions / each) * each


def block_of(study: Study, trial: Trial) -> int:
    """What of a study stays on one host, so that points are compared within it: a trial's repetition, or
    where trials share clusters the start that it belongs to, from 0."""
    return trial.repetition if study.reset in APART else _start(trial.repetition, study)


def _trial(  # noqa: PLR0917
    study: Study, point: Point, repetition: int, number: int, group: int, data_sets: dict[str, int]
) -> Trial:
    """The next trial; `data_sets` holds which trial first used each data set that is restored."""
    data = number
    if study.reset == "none":
        data = group
    elif study.reset == "restore":
        data = data_sets.setdefault(key(data_set(point, _seed(study, repetition))), number)
    group = number if study.reset in APART else group
    return trial_at(study, point, repetition, number=number, group=group, data=data)


def trial_at(study: Study, point: Point, repetition: int, *, number: int, group: int, data: int) -> Trial:
    """One repetition of a point at its place among all trials."""
    return Trial(
        **{name: getattr(point, name) for name in Point.model_fields if name != "number"},
        number=number,
        point=point.number,
        repetition=repetition,
        seed=_seed(study, repetition),
        group=group,
        data=data,
        first_operation=_first_operation(study, point, repetition, number) if study.reset in ONE_LOAD else 0,
    )


def _seed(study: Study, repetition: int) -> int:
    return trial_seed(study.seed, 1 if study.reset in ONE_LOAD else repetition)


def _cluster(study: Study, point: Point, repetition: int) -> tuple[str, int]:
    """What cluster, and which start of it, a repetition runs on where clusters are shared."""
    if study.reset in APART:
        return "", 0
    return _shared_key(point, data=study.reset == "none"), _start(repetition, study)


def _known_groups(study: Study, known: Sequence[Trial]) -> dict[tuple[str, int], int]:
    return {_cluster(study, study.cells[t.point - 1], t.repetition): t.group for t in known}


def _first_operation(study: Study, point: Point, repetition: int, number: int) -> int:
    """Where a repetition on one load begins to draw, to draw what others have not. What inserts or deletes
    begins at 0, where the loaded records end: all its repetitions ask for the same. Where reads are judged on
    data that earlier trials wrote, each trial has numbers of its own: equal ones would pass for each other's.
    """
    mix = point.workload.mix
    own = study.reset == "none" and point.workload.verify == "full"
    return 0 if mix.insert or mix.delete else ((number if own else repetition) - 1) * STRIDE


def trial_seed(seed: int, repetition: int) -> int:
    """The seed of one repetition, from the study's: a study can be repeated draw for draw."""
    return digest(seed, repetition) >> 1  # 63 bits: fits the signed integers of TOML and Parquet


def plan_hash(planned: Iterable[Trial]) -> str:
    """What tells two plans apart: every setting of every trial, in order."""
    text = json.dumps([trial.model_dump(mode="json") for trial in planned], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _groups(study: Study) -> list[list[Cell]]:
    """What runs on one start of a cluster, in order; one group when no cluster is shared."""
    if study.reset in APART:
        return [_ordered(study.cells, study)]
    found: dict[str, list[Point]] = {}
    for point in study.cells:
        found.setdefault(_shared_key(point, data=study.reset == "none"), []).append(point)
    groups = [
        [(point, r) for point, r in _ordered(points, study) if _start(r, study) == start]
        for start in range(study.starts)
        for points in _sorted(list(found.values()), start, study)
    ]
    if study.order == "listed":  # all repetitions of a point, then the next point's
        groups.sort(key=lambda cells: cells[0][0].number)
    return groups


def _sorted(clusters: list[list[Point]], start: int, study: Study) -> list[list[Point]]:
    """The clusters in the order of this start."""
    return balanced(clusters, start, study.seed, "group") if study.order == "random" else clusters


def _start(repetition: int, study: Study) -> int:
    """Which start of its cluster a repetition belongs to, from 0; only one stays one."""
    return (repetition - 1) * study.starts // study.repetitions if study.starts > 1 else 0


def _shared_key(point: Point, *, data: bool) -> str:
    """Text that is equal for points which can share a cluster."""
    said = [point.system_name, without(point.system, declared(point.system.kind).client_side)]
    if data:
        said.append(point.workload.model_dump(mode="json", include=RECORDS))
    return json.dumps(said, sort_keys=True)


def _ordered(points: Sequence[Point], study: Study) -> list[Cell]:
    repetitions = range(1, study.repetitions + 1)
    cells = [(point, repetition) for point in points for repetition in repetitions]
    return cells if study.order == "listed" else _in_blocks(cells, study)


def _in_blocks(cells: Iterable[Cell], study: Study) -> list[Cell]:
    """Repetition by repetition; the points of each in the order of the file, or in one drawn for it."""
    blocks: dict[int, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell[1]):
        blocks.setdefault(cell[1], []).append(cell)
    if study.order == "random":
        blocks = {r: balanced(block, r - 1, study.seed, "order") for r, block in blocks.items()}
    return [cell for block in blocks.values() for cell in block]


def mean_field_length(workload: Workload) -> float:
    """Mean bytes of a field's value; a zipfian length is taken at its middle, which is above its mean."""
    length = workload.fields.length
    if isinstance(length, HistogramLength):
        return length.mean
    return length.length if isinstance(length, ConstantLength) else (length.min + length.max) / 2


def data_bytes(point: Point) -> int:
    """About how many bytes the loaded records hold, over all replicas, before compression and overheads."""
    workload = point.workload
    record = KEY_BYTES + workload.fields.count * mean_field_length(workload)
    return round(workload.records * record * point.system.copies)


def data_to_memory(points: Iterable[Point]) -> list[float]:
    """Of each point whose nodes have a limit of memory: the share of it that all copies of the data take."""
    return [share for point in points if (share := _share(point)) is not None]


def _share(point: Point) -> float | None:
    limits = getattr(point.system, "limits", None)
    if limits is None or limits.memory_mib is None:
        return None
    memory = float(limits.memory_mib) * 2**20 * point.system.data_nodes
    return data_bytes(point) / memory
