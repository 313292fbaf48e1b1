"""From a study to its ordered list of trials: seeds and order are fixed here, before anything runs."""

from __future__ import annotations

import hashlib

from steelyard.spec.study import Study, Trial
from steelyard.spec.system import CassandraSystem, HostsSystem
from steelyard.spec.workload import ConstantLength, Workload

KEY_BYTES = 23
"""`user` and 19 digits: the usual length of a key."""


def trials(study: Study) -> list[Trial]:
    """Every trial of a study, in the order in which they run."""
    return [
        Trial(
            number=number,
            repetition=number,
            seed=trial_seed(study.seed, number),
            system=study.system,
            workload=study.workload,
            load=study.load,
        )
        for number in range(1, study.repetitions + 1)
    ]


def trial_seed(seed: int, repetition: int) -> int:
    """The seed of one repetition, from the study's: a study can be repeated draw for draw."""
    digest = hashlib.blake2b(f"{seed}/{repetition}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1  # 63 bits: fits the signed integers of TOML and Parquet


def mean_field_length(workload: Workload) -> float:
    """Mean bytes of a field's value; a zipfian length is taken at its middle, which is above its mean."""
    length = workload.fields.length
    return length.length if isinstance(length, ConstantLength) else (length.min + length.max) / 2


def data_bytes(trial: Trial) -> int:
    """About how many bytes the loaded records hold, over all replicas, before compression and overheads."""
    workload = trial.workload
    record = KEY_BYTES + workload.fields.count * mean_field_length(workload)
    return round(workload.records * record * _copies(trial))


def _copies(trial: Trial) -> int:
    system = trial.system
    if not isinstance(system, (CassandraSystem, HostsSystem)):
        return 1
    replication = system.access.replication
    if replication.datacenters:
        return sum(replication.datacenters.values())
    datacenters = len(system.datacenters) if isinstance(system, CassandraSystem) else 0
    per = max(1, datacenters) if replication.strategy == "NetworkTopologyStrategy" else 1
    return replication.factor * per
