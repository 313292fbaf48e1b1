"""A recorded cluster's beginning and end: name and addresses come first, and the record goes last."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import cgroup, mounts, namespaces, network, process, records
from steelyard.hosts.records import Record
from steelyard.hosts.snapshots import store


@dataclass(frozen=True)
class Claim:
    """What a cluster needs before anything of it is made.

    Attributes:
        name: its name, of its record, control groups and namespaces.
        kind: which system.
        root: the folder of its nodes' folders; removed with it.
        size: how many nodes.
        stays: until it is taken down by name; otherwise it ends with the process that claims it.
        namespaced: each node has a network namespace.
        block: the address block that it must have; None = any.
        system: the settings it is made with.
        address: the machine's own, where its nodes have no other; empty = they have a block of addresses.
    """

    name: str
    kind: str
    root: Path
    size: int
    stays: bool
    namespaced: bool = False
    block: str | None = None
    system: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""


def claim(asked: Claim) -> Record:
    """Take a name and an address block, and write both down.

    Raises:
        InputError: the name is taken. InfrastructureError: the block is, or all are.
    """
    with records.locked():
        if (records.clusters_folder() / asked.name / records.FILE).exists():
            raise InputError(
                f"a cluster named {asked.name!r} is up", hint=f"steelyard cluster down {asked.name}"
            )
        record = Record(
            asked.name,
            asked.kind,
            str(asked.root),
            str(_uppermost_missing(asked.root)),
            asked.address or _block(asked),
            owner=None if asked.stays else process.own_identity(),
            system=dict(asked.system),
            namespaces=namespaces.names(asked.name, asked.size) if asked.namespaced else [],
        )
        record.save()
    return record


def _block(asked: Claim) -> str:
    taken = {record.block: record.name for record in records.records()}
    if asked.block is None:
        return network.free_block(taken, namespaced=asked.namespaced, wanted=store.blocks())
    if asked.block in taken:
        raise InfrastructureError(
            f"{asked.name} needs the addresses {asked.block}.*, but cluster {taken[asked.block]} has them",
            hint=f"wait for it, or steelyard cluster down {taken[asked.block]}",
        )
    return asked.block


def _uppermost_missing(folder: Path) -> Path:
    return next((path for path in reversed((folder, *folder.parents)) if not path.exists()), folder)


def take_down(record: Record) -> None:
    """Kill every process, remove groups, namespaces, mounts and files; the record goes last.

    An orderly end would take seconds to save data that goes with the cluster.
    """
    process.kill_all(lambda: [*record.processes.values(), *_left_of(record)])
    for group in reversed(record.cgroups):
        cgroup.remove(Path(group))
    for namespace in record.namespaces:
        namespaces.remove(namespace)
    for folder in reversed(record.mounts):
        with suppress(InfrastructureError):
            mounts.remove(Path(folder))
    _remove_files(record)
    own = records.clusters_folder() / record.name
    if Path(record.root) == own or not Path(record.root).exists():  # else the next start tries again
        shutil.rmtree(own, ignore_errors=True)


def _left_of(record: Record) -> list[process.Identity]:
    """What servers started: members of their groups, and of their sessions where there are no groups."""
    grouped = [member for folder in record.cgroups for member in cgroup.members(Path(folder))]
    return grouped + process.in_sessions(record.processes.values())


def _remove_files(record: Record) -> None:
    root = Path(record.root)
    for path in root.iterdir() if root.is_dir() else ():
        if path.name == records.FILE:  # of `cluster up`, whose root is the record's folder
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    for folder in (root, *root.parents):
        with suppress(OSError):  # others have put something there
            folder.rmdir()
        if folder == Path(record.made):
            break


def end_leftovers() -> list[str]:
    """End every cluster here whose owner is gone; none is found by a program's name. Returns what to say."""
    with records.locked():
        said = records.set_damaged_aside()
        for record in records.records():
            if record.state() == "abandoned" and record.owner:
                take_down(record)
                said.append(f"ended {record.name}, left over by process {record.owner.pid}")
    return said


def take_down_by_name(name: str) -> None:
    """End a cluster that belongs to nobody who runs.

    Raises:
        InputError: there is none of that name, its owner runs, or it is on another machine.
    """
    with records.locked():
        record = records.load(name)
        state = record.state()
        if state == "owned" and record.owner:
            raise InputError(
                f"{name} belongs to process {record.owner.pid}, which runs", hint="stop that process"
            )
        if state == "elsewhere":
            where = f"{record.machine.hostname} (pid namespace {record.machine.pid_namespace})"
            raise InputError(
                f"{name} was started on {where}, not here",
                hint=f"take it down there; if that is gone for good, remove {record.root} and "
                f"{records.clusters_folder() / name}",
            )
        take_down(record)
