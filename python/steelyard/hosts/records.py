"""What this tool has started on a machine, on disk: one folder per cluster, written before it is used.

A cluster with an owner (a `run` or `bench` process) is a leftover as soon as that process is gone; one
without was made by `cluster up` and stays until `cluster down`. On a home that machines share, each judges
its own: pids mean nothing elsewhere.
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
from typing import Any, Literal

from steelyard.errors import InfrastructureError, InputError
from steelyard.folders import state_folder
from steelyard.hosts.machine import Machine, this_machine
from steelyard.hosts.process import Identity, alive

FORMAT = 3
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
FILE = "cluster.json"
BLOCK_DOTS = 2
"""In an address block; an address has one more."""
State = Literal["owned", "stays", "abandoned", "elsewhere"]


class DamagedRecordError(InfrastructureError):
    """A record that cannot be read."""


class OtherFormatError(InfrastructureError):
    """A record of another version of this tool, whose servers may well run."""


@dataclass
class Record:
    """One cluster as `cluster.json` keeps it.

    Attributes:
        name: the cluster's name.
        kind: which system, e.g. "cassandra".
        root: the folder with one folder per node; removed with the cluster.
        made: the uppermost folder that was made for `root`.
        block: its address block, e.g. "127.10.3"; node i has BLOCK.i. Of a cluster over several machines,
            this one's address.
        owner: the process it belongs to; None = it stays until `cluster down`.
        machine: where it is.
        system: the settings it was made with.
        nodes: a dict per node: name, address, namespace, folder, logs and what its system adds.
        processes: server -> its process; a server is named as its node, or "NODE/ROLE" if that has several.
        cgroups: folders of control groups, made by us.
        namespaces: network namespaces, made by us.
        mounts: folders on which file systems are mounted, made by us.
    """

    name: str
    kind: str
    root: str
    made: str
    block: str
    owner: Identity | None = None
    machine: Machine = field(default_factory=this_machine)
    system: dict[str, Any] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    processes: dict[str, Identity] = field(default_factory=dict)
    cgroups: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    mounts: list[str] = field(default_factory=list)

    @property
    def addresses(self) -> str:
        """Those of its nodes, for people."""
        return self.block if self.block.count(".") > BLOCK_DOTS else f"{self.block}.*"

    def processes_of(self, node: str) -> dict[str, Identity]:
        """The processes of one node, by role; its only one has the empty role."""
        now = tuple(self.processes.items())  # others may start one meanwhile
        found = ((name.partition("/"), process) for name, process in now)
        return {role: process for (owner, _, role), process in found if owner == node}

    def save(self) -> None:
        """Write the record; it is either the old or the new one, never half, also after a power cut."""
        folder = clusters_folder() / self.name
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".{FILE}.{os.getpid()}"
        with new.open("w") as file:
            file.write(json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(folder / FILE)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def state(self) -> State:
        """Who must end it: its owner, the user, the next start here, or the machine it is on."""
        if not (self.machine.is_here() or self.machine.has_rebooted()):
            return "elsewhere"
        if self.owner is None:
            return "stays"
        return "owned" if alive(self.owner) else "abandoned"


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
    """Only one tool at a time looks for a free block, or ends what is another's."""
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
    """Every cluster that is recorded and can be read, by name; one may be removed while we look."""
    found = []
    for path in sorted(clusters_folder().glob(f"*/{FILE}")):
        try:
            found.append(load(path.parent.name))
        except (InputError, DamagedRecordError, OtherFormatError):
            continue
    return found


def load(name: str) -> Record:
    """The record of one cluster.

    Raises:
        InputError: there is none. DamagedRecordError: it cannot be read. OtherFormatError: not by us.
    """
    path = clusters_folder() / checked_name(name) / FILE
    try:
        raw = json.loads(path.read_text())
        if (format_ := raw.pop("format")) != FORMAT:
            raise OtherFormatError(
                f"the record of cluster {name!r} has format {format_}, this Steelyard reads {FORMAT}",
                hint=f"take it down with the Steelyard that made it, or remove {path.parent}",
            )
        raw["owner"] = Identity(**raw["owner"]) if raw["owner"] else None
        raw["machine"] = Machine(**raw["machine"])
        raw["processes"] = {node: Identity(**found) for node, found in raw["processes"].items()}
        return Record(**raw)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no cluster named {name!r}", hint="steelyard cluster list") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedRecordError(
            f"the record of cluster {name!r} cannot be read: {error}",
            hint=f"the next start sets {path.parent} aside",
        ) from error


def set_damaged_aside() -> list[str]:
    """Under the lock: move records that cannot be read out of the way, and remove folders without one.

    Returns:
        A sentence for each that was moved, or is of another version.
    """
    said: list[str] = []
    for folder in sorted(path for path in clusters_folder().glob("*") if path.is_dir()):
        if not (folder / FILE).exists():
            shutil.rmtree(folder, ignore_errors=True)  # one that was killed while it removed it
            continue
        try:
            load(folder.name)
        except InputError:
            continue
        except OtherFormatError as error:
            said.append(f"{error.message}; it is left alone")
        except DamagedRecordError as error:
            aside = _free(state_folder() / "damaged" / folder.name)
            aside.parent.mkdir(parents=True, exist_ok=True)
            folder.replace(aside)
            said.append(f"{error.message}; it is set aside as {aside}, and what it names may still run")
    return said


def _free(path: Path) -> Path:
    names = (path, *(path.with_name(f"{path.name}-{number}") for number in range(2, 1000)))
    return next(name for name in names if not name.exists())
