"""What this host has of what real clusters need, and what to do about the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.folders import cache_folder, state_folder
from steelyard.hosts import artifacts, cgroup, mounts, network
from steelyard.hosts.java import PINNED, installed
from steelyard.hosts.local import LocalHost
from steelyard.hosts.records import records
from steelyard.spec.kind import declarations
from steelyard.systems.kind import Needs, SystemKind
from steelyard.watch.jar import agent_jar

GIB = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One line: what was looked for, what was found, and, if that will not do, what to do."""

    what: str
    found: str
    todo: str = ""

    @property
    def good(self) -> bool:
        """Whether there is nothing to do."""
        return not self.todo


def look() -> Iterator[Finding]:
    """Everything, in the order in which a user needs it."""
    yield from _java()
    maven = shutil.which("mvn")
    yield Finding("Maven", maven or "none", "" if maven else "install maven, e.g. apt-get install maven")
    yield _cores()
    yield _memory()
    yield _disk("cache", cache_folder(), 1)
    yield _disk("state", state_folder(), 5)
    yield _ports()
    yield _control_groups()
    yield _namespaces()
    yield from _actions()
    yield _leftovers()


def _needs() -> list[Needs]:
    """What each kind of local cluster needs."""
    kinds = (kind for kind in declarations().values() if isinstance(kind, SystemKind))
    return [needs for kind in kinds if (needs := kind.needs()) is not None]


def _java() -> Iterator[Finding]:
    here = {java.major: java for java in reversed(list(installed()))}
    lines = [(kind.title, name, javas) for kind in _needs() for name, javas in kind.javas.items()]
    for what, name, javas in lines:
        usable = [here[major] for major in javas if major in here]
        fetchable = next((major for major in javas if major in PINNED), None)
        needs = " or ".join(map(str, javas))
        yield Finding(
            f"Java for {what} {name}",
            f"{usable[0].major} ({usable[0].binary})" if usable else f"none (needs {needs})",
            "" if usable else f"steelyard doctor --fetch-java {fetchable}, or set JAVA_HOME",
        )


def _cores() -> Finding:
    cores = len(os.sched_getaffinity(0))
    return Finding("cores", str(cores), "" if cores > 1 else "a cluster and its client need two")


def _memory() -> Finding:
    free = psutil.virtual_memory().available
    rooms = {
        kind.title: {name: kind.nodes_in(name, free >> 20) for name in kind.profiles} for kind in _needs()
    }
    room = "; ".join(
        f"{system}: " + ", ".join(f"{count} nodes {name}" for name, count in nodes.items())
        for system, nodes in rooms.items()
    )
    least = min(max(nodes.values()) for nodes in rooms.values())
    return Finding("memory", f"{free / GIB:.1f} GiB free ({room})", "" if least else "free some memory")


def _disk(what: str, folder: Path, least_gib: int) -> Finding:
    at = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(at).free / GIB
    variable = f"STEELYARD_{what.upper()}"
    todo = "" if free >= least_gib else f"less than {least_gib} GiB: free some, or set {variable}"
    if not os.access(at, os.W_OK):
        todo = f"not writable: set {variable}"
    return Finding(f"disk ({what})", f"{free:.1f} GiB free in {folder}", todo)


def _ports() -> Finding:
    try:
        block = network.free_block({record.block for record in records()}, namespaced=False)
        network.check_ports({(f"{block}.1", port): "" for kind in _needs() for port in kind.ports})
    except InfrastructureError as error:
        return Finding("ports", error.message, error.hint or "stop what uses them")
    titles = " and ".join(kind.title for kind in _needs())
    return Finding("ports", f"those of {titles} are free on {block}.*")


def _control_groups() -> Finding:
    found = cgroup.version()
    if found == "none":
        return Finding("control groups", "none", "limits per node cannot be set; mount /sys/fs/cgroup")
    if not cgroup.writable():
        return Finding("control groups", f"version {found}, not writable", "run as root to limit nodes")
    return Finding("control groups", f"version {found}")


def _namespaces() -> Finding:
    tool = shutil.which("ip")
    if tool is None:
        return Finding("network namespaces", "no ip program", "install iproute2, or stay with loopback")
    if os.geteuid() != 0:
        return Finding("network namespaces", "need root", "run as root, or stay with loopback")
    return Finding("network namespaces", tool)


ACTIONS = {
    "resize": "other CPU quotas",
    "throttle": "slow disks",
    "partition": "nodes cut off",
    "power_loss": "loss of power",
}
"""What a timeline can do to nodes by the names of capabilities, in words."""


def _actions() -> Iterator[Finding]:
    """Which actions this host cannot do, and why; the loss of power is tried out."""
    lacking = {**LocalHost().lacking(state_folder())}
    if "power_loss" not in lacking and (why := mounts.why_not_tried()):
        lacking["power_loss"] = why
    for what, words in ACTIONS.items():
        why = lacking.get(what, "")
        yield Finding(words, "cannot be had" if why else "can be had", why)
    yield _inside()
    for kind in _needs():
        yield _upgrades(kind)


def _inside() -> Finding:
    """What goes through the agent: nodes that join or leave, flushes, compactions, repairs, upgrades."""
    what = "actions inside Cassandra's nodes"
    try:
        agent_jar()
    except SteelyardError as error:
        return Finding(
            what, "cannot be had", f"{error.message}; {error.hint}" if error.hint else error.message
        )
    return Finding(what, "can be had")


def _upgrades(kind: Needs) -> Finding:
    """From which line to which a cluster can be brought: both need their Java, and their jars or Maven."""
    what = f"upgrades of {kind.title}"
    lacking = {line: why for line in kind.javas if (why := _why_not_run(kind, line))}
    steps = [f"{line} to {to}" for line in kind.javas for to in kind.javas if not kind.no_step(line, to)]
    able = [step for step in steps if not {*step.split(" to ")} & lacking.keys()]
    why = "; ".join(f"{line}: {words}" for line, words in lacking.items())
    return Finding(what, ", ".join(sorted(able)) or "cannot be had", why)


def _why_not_run(kind: Needs, line: str) -> str:
    if not {java.major for java in installed()} & {*kind.javas[line]}:
        return "no Java"
    if not shutil.which("mvn") and artifacts.cached(kind.jars[line]) is None:
        return "no Maven, and its jars are not there"
    return ""


def _leftovers() -> Finding:
    left = [record.name for record in records() if record.state() == "abandoned"]
    if not left:
        return Finding("leftovers", "none")
    return Finding("leftovers", ", ".join(left), "the next start ends them, or cluster down NAME")
