"""What a trial finds of its system, and what it leaves of it: trials of one group share a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.hosts.snapshots import Snapshot


@dataclass
class Lease:
    """The state of a system between trials.

    Attributes:
        up: it is up already.
        loaded: it holds the records already.
        empties: its table is dropped before the load.
        keep: it stays up for the next trial, if this one goes well.
        origin: the snapshot of the data it begins with, or why there is none; None = it begins with no data.
        after_load: keeps the loaded data, and stops the system; given how many records are stored.
        load_id, start_id: which load and which start of the servers this is, unlike any other; empty = ours
            is none.
    """

    up: bool = False
    loaded: bool = False
    empties: bool = False
    keep: bool = False
    origin: Snapshot | SteelyardError | None = None
    after_load: Callable[[int], None] | None = None
    load_id: str = ""
    start_id: str = ""

    def driver(self, driver: dict[str, Any]) -> dict[str, Any]:
        """The plan's `driver` section, with `fresh` as this trial needs it."""
        if "fresh" not in driver:
            return driver
        return {**driver, "fresh": not self.loaded and (self.empties or driver["fresh"])}

    def started(self) -> None:
        """The servers were started; with what data, `origin` says."""
        self.up, self.start_id = True, token_hex(6)
        if isinstance(self.origin, Snapshot):
            self.loaded, self.load_id = True, str(self.origin.load["id"])

    def has_loaded(self) -> None:
        """The records were stored."""
        self.loaded, self.load_id = True, token_hex(6)

    def ended(self) -> None:
        """The system is down, and its data with it."""
        self.up = self.loaded = False
        self.load_id = self.start_id = ""
