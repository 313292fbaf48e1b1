"""What a loaded data set is: every setting that shaped the files which hold it, so that equal ones are loaded
once.

Whatever is not known to leave the files alone counts: a needless load costs time, a wrong restore a result.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from steelyard.spec.models import Point

SHAPELESS = frozenset({"limits", "master_limits", "watch", "java"})
"""Settings of a system that leave its files alone: how fast it may be, who looks on, what runs it."""
SHAPELESS_ACCESS = frozenset(
    {"read_consistency", "connections", "local_datacenter", "token_aware", "durability", "scan_caching",
     "client_buffering_bytes", "fresh"}
)  # fmt: skip
"""Of its client. The consistency of writes counts: replicas may miss what a weaker level did not wait for."""
RECORDS = {"records", "table", "key", "fields", "values"}
"""Settings of a workload that say which records there are, and what is in them."""


def data_set(point: Point, seed: int) -> dict[str, Any]:
    """All settings that shape the loaded data, as plain values.

    Args:
        point: whose system and workload.
        seed: the seed the records are made from.
    """
    system = point.system.model_dump(mode="json", exclude=set(SHAPELESS))
    system["access"] = {k: v for k, v in system.get("access", {}).items() if k not in SHAPELESS_ACCESS}
    return {
        "system": system,
        "records": point.workload.model_dump(mode="json", include=RECORDS),
        "seed": seed,
    }


def key(shape: dict[str, Any]) -> str:
    """16 hex digits that tell one data set from another."""
    text = json.dumps(shape, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
