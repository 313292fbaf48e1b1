"""From which version to which a system can be brought while it serves: never back, no major one skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.kind import Fault

Resolve = Callable[[str], tuple[str, Any]]
"""From what is said to the full version and its line; raises InputError."""


def no_step(title: str, resolve: Resolve, lines: list[str], version: str, to: str) -> Fault | None:
    """Why a system that runs a version cannot be brought to another; None when it can.

    Args:
        title: the system's name for people.
        resolve: makes full versions of what is said.
        lines: its lines that can be run.
        version: it runs, as it was said.
        to: where it is to be brought.
    """
    try:
        (here, _), (there, _) = resolve(version), resolve(to)
    except InputError as error:
        return error.message, error.hint or "another version"
    now, then = _parts(here), _parts(there)
    what = f"{title} {here} to {there}"
    if now == then:
        return f"{what}: it runs that already", "another version, or leave the action out"
    if then < now:
        why = "a version does not read what a later one has written"
        return f"{what}: {why}", f'begin with version = "{to}", and upgrade to "{version}"'
    if then[0] > now[0] + 1:
        between = [line for line in lines if now[0] < _parts(line)[0] < then[0]]
        way = " then ".join(f'"{line}"' for line in [*sorted(between, key=_parts), to])
        return f"{what}: a major version cannot be skipped", f"an upgrade each to {way}"
    return None


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
