"""Which machines may be the benches of one study, and which studies may have benches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.remote.host import RemoteHost
from steelyard.lab.blocks import check_blocks
from steelyard.spec.kind import declared
from steelyard.spec.models import Study
from steelyard.spec.trials import trials
from steelyard.spec.units import bytes_text

ALIKE = {
    "cpu_model": "processor", "cores_usable": "cores", "memory_bytes": "memory", "kernel": "kernel",
    "machine": "architecture", "java": "Java",
}  # fmt: skip
"""Facts by which figures differ -> what they are called."""
MEMORY_SLACK = 0.02
"""Machines of one kind differ by what their kernels set aside."""


def check_whole(study: Study, benches: int) -> None:
    """See that a study's trials can run wholly, and side by side, on other machines.

    Raises:
        InputError: they cannot.
    """
    for point in study.cells:
        kind = declared(point.system.kind)
        if point.system.given:
            raise InputError(
                f"--benches: the given {kind.typed} cluster is one, and trials side by side share none"
            )
        if files := [name for name in kind.files if getattr(point.system, name, None) is not None]:
            raise InputError(f"--benches: {files[0]} names a file of this machine, which benches do not have")
    if study.rates:
        raise InputError(
            "--benches: a rate that points share ([rates]) is searched on the machine that runs all of them",
            hint="run this study on one machine, or give its points a load.target of their own",
        )
    check_blocks(study, trials(study), benches)


def check_alike(hosts: Sequence[RemoteHost]) -> None:
    """See that hosts are alike in what figures depend on.

    Raises:
        InfrastructureError: they are not; with all that differs.
    """
    facts = {host.name: host.as_host().facts([]) for host in hosts}
    if told := unlike(facts):
        raise InfrastructureError(
            f"the benches are unlike: {'; '.join(told)}",
            hint="--unlike-hosts runs the study all the same: points are compared within each host",
        )


def unlike(facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """In what each machine is not like the first, in words."""
    first, *others = facts
    return [
        f"{word} of {first} is {_text(name, facts[first].get(name))}, "
        f"of {other} {_text(name, facts[other].get(name))}"
        for other in others
        for name, word in ALIKE.items()
        if not _same(name, facts[first].get(name), facts[other].get(name))
    ]


def _same(name: str, one: Any, other: Any) -> bool:
    if name == "memory_bytes" and one and other:
        return bool(abs(one - other) <= MEMORY_SLACK * max(one, other))
    return bool(one == other)


def _text(name: str, value: Any) -> str:
    if value is None:
        return "not known"
    return bytes_text(value) if name == "memory_bytes" else str(value)
