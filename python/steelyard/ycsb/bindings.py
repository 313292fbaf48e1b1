"""YCSB's databases by their names, as the records of the kinds of systems have them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from steelyard.errors import InputError, nearest
from steelyard.spec.kind import declarations
from steelyard.spec.ycsb_binding import Binding
from steelyard.systems.kind import SystemKind


@cache
def bindings() -> Mapping[str, Binding]:
    """Every name of a database -> its binding."""
    kinds = [kind for kind in declarations().values() if isinstance(kind, SystemKind)]
    every = [binding for kind in kinds for binding in kind.bindings()]
    return {name: binding for binding in every for name in binding.names}


def binding_of(database: str) -> Binding:
    """The binding of a database.

    Raises:
        InputError: there is none of that name.
    """
    known = bindings()
    if database not in known:
        raise InputError(f"no database '{database}'{nearest(database, known)}; known: {', '.join(known)}")
    return known[database]
