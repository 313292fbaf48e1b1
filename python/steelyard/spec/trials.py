"""From a study to its ordered list of trials: seeds, groups and order are fixed here, before all else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from steelyard.spec.dataset import RECORDS, data_set, key, without
from steelyard.spec.kind import declared
from steelyard.spec.models import Point, Study, Trial
from steelyard.spec.workload import ConstantLength, HistogramLength, Workload

KEY_BYTES = 23
"""`user` and 19 digits: the usual length of a key."""
STRIDE = 1 << 32
"""Operation numbers set aside for one trial on a shared data set: no run comes near so many."""

APART = ("fresh", "restore")
"""Resets that start a cluster for each trial."""

Cell = tuple[Point, int]
"""A point and a repetition of it."""


def trials(study: Study) -> list[Trial]:
    """Every trial of a study, in the order in which they run.

    Trials that share a start of a cluster (`reset`, `starts`) follow each other; groups, and trials within
    each, are ordered as the study asks. Those that share a data set have the seed it was loaded with, by
    which values are judged.
    """
    found: list[Trial] = []
    one_load = study.reset in ("none", "restore")
    data_sets: dict[str, int] = {}
    for group, cells in enumerate(_groups(study), start=1):
        for point, repetition in cells:
            number, seed = len(found) + 1, trial_seed(study.seed, 1 if one_load else repetition)
            data = {"none": group, "restore": data_sets.setdefault(key(data_set(point, seed)), number)}
            found.append(
                Trial(
                    **{name: getattr(point, name) for name in Point.model_fields if name != "number"},
                    number=number,
                    point=point.number,
                    repetition=repetition,
                    seed=seed,
                    group=number if study.reset in APART else group,
                    data=data.get(study.reset, number),
                    first_operation=_first_operation(point, repetition) if one_load else 0,
                )
            )
    return found


def _first_operation(point: Point, repetition: int) -> int:
    """Where a repetition on one load begins to draw, to draw what others have not. What inserts or deletes
    begins at 0, where the loaded records end: all its repetitions ask for the same."""
    mix = point.workload.mix
    return 0 if mix.insert or mix.delete else (repetition - 1) * STRIDE


def trial_seed(seed: int, repetition: int) -> int:
    """The seed of one repetition, from the study's: a study can be repeated draw for draw."""
    return _digest(seed, repetition) >> 1  # 63 bits: fits the signed integers of TOML and Parquet


def plan_hash(planned: Iterable[Trial]) -> str:
    """What tells two plans apart: every setting of every trial, in order."""
    text = json.dumps([trial.model_dump(mode="json") for trial in planned], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _digest(*words: object) -> int:
    text = "/".join(map(str, words))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


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
    """The clusters in the order of this start; a random one is drawn anew for each."""
    if study.order != "random":
        return clusters
    return sorted(clusters, key=lambda points: _digest(study.seed, "group", start, points[0].number))


def _start(repetition: int, study: Study) -> int:
    """Which start of its cluster a repetition belongs to, from 0."""
    return (repetition - 1) * study.starts // study.repetitions


def _shared_key(point: Point, *, data: bool) -> str:
    """Text that is equal for points which can share a cluster."""
    said = [point.system_name, without(point.system, declared(point.system.kind).client_side)]
    if data:
        said.append(point.workload.model_dump(mode="json", include=RECORDS))
    return json.dumps(said, sort_keys=True)


def _ordered(points: Sequence[Point], study: Study) -> list[Cell]:
    repetitions = range(1, study.repetitions + 1)
    if study.order == "listed":
        return [(point, repetition) for point in points for repetition in repetitions]
    blocks = [(point, repetition) for repetition in repetitions for point in points]
    if study.order == "random":
        # by a hash, not a shuffle: it stays the same in every version of Python
        blocks.sort(key=lambda cell: (cell[1], _digest(study.seed, "order", cell[1], cell[0].number)))
    return blocks


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
    memory = float(limits.memory_mib) * int(getattr(point.system, "size", 1)) * 2**20
    return data_bytes(point) / memory
