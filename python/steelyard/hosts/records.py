"""What this tool has started, on disk: one folder per cluster, written before anything it names is used.

A cluster with an owner (a `run` or `bench` process) is a leftover as soon as that process is gone; one
without was made by `cluster up` and stays until `cluster down`.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.folders import state_folder
from steelyard.hosts import cgroup, namespaces
from steelyard.hosts.process import Identity, end
from steelyard.hosts.say import Say

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
GRACE_S = 20.0


@dataclass
class Record:
    """One cluster as `cluster.json` keeps it.

    Attributes:
        name: the cluster's name.
        kind: which system, e.g. "cassandra".
        root: the folder with one folder per node; removed with the cluster.
        block: its address block, e.g. "127.10.3"; node i has BLOCK.i.
        owner: the process it belongs to; None = it stays until `cluster down`.
        system: the settings it was made with.
        nodes: a dict per node: name, address, namespace, folder, logs and what its system adds.
        processes: server -> its process; a server is named as its node, or "NODE/ROLE" if that has several.
        cgroups: folders of control groups, made by us.
        namespaces: network namespaces, made by us.
        grace_s: how long its servers may take to end.
    """

    name: str
    kind: str
    root: str
    block: str
    owner: Identity | None = None
    system: dict[str, Any] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    processes: dict[str, Identity] = field(default_factory=dict)
    cgroups: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    grace_s: float = GRACE_S

    def processes_of(self, node: str) -> dict[str, Identity]:
        """The processes of one node, by role; its only one has the empty role."""
        found = ((name.partition("/"), process) for name, process in self.processes.items())
        return {role: process for (owner, _, role), process in found if owner == node}

    def save(self) -> None:
        """Write the record; it is either the old or the new one, never half."""
        folder = clusters_folder() / self.name
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".cluster.json.{os.getpid()}"
        new.write_text(json.dumps({"format": 1, **asdict(self)}, indent=2) + "\n")
        new.replace(folder / "cluster.json")

    @property
    def abandoned(self) -> bool:
        """Whether its owner is gone."""
        return self.owner is not None and not self.owner.alive()

    def release(self) -> None:
        """End every process; remove control groups, namespaces and the record, but not the root."""
        end(list(self.processes.values()), grace_s=0.0 if self.abandoned else self.grace_s)
        for group in reversed(self.cgroups):
            cgroup.remove(Path(group))
        for namespace in self.namespaces:
            namespaces.remove(namespace)
        shutil.rmtree(clusters_folder() / self.name, ignore_errors=True)


def clusters_folder() -> Path:
    """Where the records are."""
    return state_folder() / "clusters"


def checked_name(name: str) -> str:
    """`name` if it can name a folder, a control group and a namespace; raises InputError."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a cluster", hint="letters, digits, '_', '.' and '-', at most 41"
        )
    return name


@contextmanager
def locked() -> Iterator[None]:
    """Only one tool at a time looks for a free block, or ends leftovers."""
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise InfrastructureError(
            f"cannot write the state folder {folder}: {error.strerror}",
            hint="set STEELYARD_STATE to another folder",
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def records() -> list[Record]:
    """Every cluster that is recorded, by name."""
    return [load(path.parent.name) for path in sorted(clusters_folder().glob("*/cluster.json"))]


def load(name: str) -> Record:
    """The record of one cluster; raises InputError if there is none."""
    try:
        raw = json.loads((clusters_folder() / name / "cluster.json").read_text())
    except FileNotFoundError:
        raise InputError(f"there is no cluster named {name!r}", hint="steelyard cluster list") from None
    except (OSError, ValueError) as error:
        raise InfrastructureError(f"{clusters_folder() / name / 'cluster.json'}: {error}") from error
    raw.pop("format", None)
    raw["owner"] = Identity(**raw["owner"]) if raw["owner"] else None
    raw["processes"] = {node: Identity(**found) for node, found in raw["processes"].items()}
    return Record(**raw)


def take_down(record: Record) -> None:
    """End a recorded cluster, whoever made it, and remove all it stored."""
    with locked():
        record.release()
    shutil.rmtree(record.root, ignore_errors=True)


def end_leftovers(say: Say) -> list[str]:
    """End every cluster whose owner is gone; returns their names. None is found by a program's name."""
    with locked():
        gone = [record for record in records() if record.abandoned]
        for record in gone:
            say(f"ending {record.name}, left over by process {record.owner.pid if record.owner else '?'}")
            record.release()
            shutil.rmtree(record.root, ignore_errors=True)
    return [record.name for record in gone]
