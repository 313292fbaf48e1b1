"""A database as YCSB names it: which of its properties we know, and the system of ours they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.spec.properties import Properties


def _silent(_: Properties, _class_path: Sequence[Path]) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class Binding:
    """One database of YCSB.

    Attributes:
        names: by which it is called, the first in the help.
        help: how it is said where the database is.
        system: from all properties, the class path (`-cp`), and a folder that only this user can read, to the
            `system` of a study; raises InputError for a property that is missing or cannot be honoured.
        properties: those it knows.
        ignored: property -> why it changes nothing.
        attempt_ms: the property with the deadline of one attempt, if there is one.
        remarks: what is to be said before anything starts.
        may_fail: whether there are servers, so that retries make a difference.
    """

    names: tuple[str, ...]
    help: str
    system: Callable[[Properties, Sequence[Path], Path], dict[str, Any]]
    properties: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    attempt_ms: str = ""
    remarks: Callable[[Properties, Sequence[Path]], Iterator[str]] = _silent
    may_fail: bool = True
