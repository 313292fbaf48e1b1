"""What was in effect in a trial, as its manifest tells it; any field may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def part(facts: Any, *path: str) -> dict[str, Any]:
    """The table at a path; empty where there is none."""
    for name in path:
        facts = facts.get(name) if isinstance(facts, Mapping) else None
    return dict(facts) if isinstance(facts, Mapping) else {}


class InEffect:
    """A trial's settings as they were in effect: the testbed's facts, the plan, what the driver found.

    Args:
        manifest: the trial's.
        master_cpu: for people, the CPU that masters used for an operation; empty = not known.

    Attributes:
        system: what the testbed said.
        asked, access: the system's settings, and those of its client.
        plan: the engine's.
        ready, table: what the driver found, and of the table.
    """

    def __init__(self, manifest: Mapping[str, Any], master_cpu: str = "") -> None:
        self.system = part(manifest, "system")
        self.asked = part(manifest, "trial", "system")
        self.access = part(self.asked, "access")
        self.plan = part(manifest, "plan")
        self.ready = part(manifest, "engine", "ready")
        self.table = part(self.ready, "table")
        self.master_cpu = master_cpu

    def setting(self, name: str) -> Any:
        """A server's setting as it was started with; None when it is not known."""
        for table in part(self.system, "configuration").values():
            if isinstance(table, Mapping) and name in table:
                return table[name]
        return None
