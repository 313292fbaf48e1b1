"""What a loaded data set is: every setting that shaped the files which hold it, so that equal ones are loaded
once.

Whatever is not known to leave the files alone counts: a needless load costs time, a wrong restore a result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from steelyard.spec.base import SystemSettings
from steelyard.spec.kind import declared
from steelyard.spec.models import Point

RECORDS = {"records", "table", "key", "fields", "values"}
"""Settings of a workload that say which records there are, and what is in them."""


def data_set(point: Point, seed: int) -> dict[str, Any]:
    """All settings that shape the loaded data, as plain values.

    Args:
        point: whose system and workload.
        seed: the seed the records are made from.
    """
    return {
        "system": without(point.system, declared(point.system.kind).shapeless_in(point.system)),
        "records": point.workload.model_dump(mode="json", include=RECORDS),
        "seed": seed,
    }


def without(system: SystemSettings, settings: Iterable[str]) -> dict[str, Any]:
    """A system's settings as plain values, some left out: `watch`, or of a table `access.connections`."""
    values = system.model_dump(mode="json")
    for path in settings:
        *tables, name = path.split(".")
        inside: Any = values
        for table in tables:
            inside = inside.get(table) if isinstance(inside, dict) else None
        if isinstance(inside, dict):
            inside.pop(name, None)
    return values


def key(shape: dict[str, Any]) -> str:
    """16 hex digits that tell one data set from another."""
    text = json.dumps(shape, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
