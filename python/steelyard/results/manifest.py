"""One trial's manifest: it grows while the trial goes on, and is written whatever becomes of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.results.clock import clock_pair, now_text
from steelyard.results.disk import write_json
from steelyard.spec.models import Trial

FORMAT = 1


@dataclass
class Manifest:
    """What is known of a trial (docs/format.md, manifest.json).

    Attributes:
        trial: what was asked.
        since_ns: the command's start, CLOCK_MONOTONIC.
    """

    trial: Trial
    since_ns: int
    status: str = "running"
    reason: str | None = None
    plan: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    hosts: list[dict[str, Any]] = field(default_factory=list)
    """Other machines that took part."""
    system: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    phases: list[dict[str, Any]] = field(default_factory=list)
    rates: dict[str, float] = field(default_factory=dict)
    """Phase -> the rate it was offered, where a search has set it."""
    rate: dict[str, Any] = field(default_factory=dict)
    """Of which shared highest rate the load's target is which share."""
    search: dict[str, Any] | None = None
    """What a search for the highest rate tried and found."""
    search_after: dict[str, Any] | None = None
    """The same after the run."""
    timeline: list[dict[str, Any]] = field(default_factory=list)
    timing: dict[str, float] = field(default_factory=dict)
    warnings: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = now_text()
        self.clock = {"start": clock_pair()}
        self.event("command", t_ns=self.since_ns)

    def event(self, name: str, detail: str = "", *, t_ns: int | None = None) -> None:
        """Add to the timeline."""
        self.timeline.append({"t_ns": t_ns or time.monotonic_ns(), "event": name, "detail": detail})

    def warn(self, kind: str, text: str) -> None:
        """Add a warning, once."""
        warning = {"kind": kind, "text": text}
        if warning not in self.warnings:
            self.warnings.append(warning)

    def phase_began(self, at_ns: int) -> None:
        """A phase begins at that time; the first one ends the wait for the first operation."""
        self.timing.setdefault("command_to_first_operation", (at_ns - self.since_ns) / 1e9)

    def phase(self, ends: list[dict[str, Any]], rate: float | None = None) -> None:
        """Add a phase from each engine's `phase_end`; of several engines the merge gives the summary.

        Args:
            ends: the events.
            rate: what was offered, if that is not what the plan says.
        """
        if rate is not None:
            self.rates[ends[0]["phase"]] = rate
        self.phases.append(
            {
                "name": ends[0]["phase"],
                "start_ns": min(end["start_ns"] for end in ends),
                "end_ns": max(end["end_ns"] for end in ends),
                "reason": ends[0]["reason"],
                "summary": ends[0]["summary"] if len(ends) == 1 else None,
            }
        )
        self._offered(self.phases[-1])

    def _offered(self, phase: dict[str, Any]) -> None:
        """The engine sums up the plan's rate; a search has set another."""
        rate, summary = self.rates.get(phase["name"]), phase["summary"]
        if rate is not None and summary:
            summary["arrivals"] = {**(summary.get("arrivals") or {}), "rate": rate}

    def merged(self, events: list[dict[str, Any]]) -> None:
        """Take over the summaries of a merge's events."""
        for event in events:
            if event.get("event") == "phase_end" and event.get("merged"):
                for phase in self.phases:
                    if phase["name"] == event["phase"]:
                        phase["summary"] = event["summary"]
                        self._offered(phase)

    def write(self, folder: Path) -> None:
        """Write manifest.json."""
        self.clock["end"] = clock_pair()
        trial = self.trial.model_dump(mode="json")
        content = {
            "format": FORMAT,
            "trial": trial,
            "status": self.status,
            "reason": self.reason,
            "started": self.started,
            "ended": now_text(),
            "clock": self.clock,
            "plan": self.plan,
            "engine": self.engine,
            "host": self.host,
            **({"hosts": self.hosts} if self.hosts else {}),
            "system": self.system,
            "data": self.data,
            **({"rate": self.rate} if self.rate else {}),
            **({"search": self.search} if self.search else {}),
            **({"search_after": self.search_after} if self.search_after else {}),
            "phases": self.phases,
            "timeline": self.timeline,
            "timing": {name: round(seconds, 6) for name, seconds in self.timing.items()},
            "warnings": self.warnings,
        }
        write_json(folder / "manifest.json", content)
