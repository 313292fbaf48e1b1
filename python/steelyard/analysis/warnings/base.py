"""What a check sees, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from steelyard.analysis.cost import Cost
from steelyard.analysis.inside import Inside
from steelyard.analysis.steady import Steady
from steelyard.analysis.summary import Phase
from steelyard.results.certificates import Certificate

Level = Literal["fault", "warning", "note"]
"""fault: the result is not what was asked for; warning: read the figures with care; note: good to know."""


@dataclass(frozen=True)
class Warned:
    """One warning: its kind (a fixed word), and a text with the figure and what to do."""

    kind: str
    text: str
    level: Level = "warning"


@dataclass(frozen=True)
class Context:
    """Everything the checks look at; a figure that is unknown is None, and then nothing is said about it.

    Attributes:
        phase: the measured phase.
        steady: its steadiness.
        completed_per_s: completions per second while operations were falling due.
        costs: CPU of every party in it.
        inside: what the servers told of themselves in it.
        status, reason: how the trial ended.
        partial: the trial's folder was cut short.
        timeline: the manifest's events.
        verify: the workload's `verify` setting; `values` its kind of values.
        cores: of this host.
        quota_cores: sum of the CPU quotas of all parties that have one; None when nothing is limited.
        local: the servers run on this host.
        nodes: names of the servers that should be watched.
        watched: those of them with samples; `agents` those with figures from inside the server.
        untold: why those without are without, as far as it was said.
        lacking: what others did not tell, with the reason -> the servers that did not.
        steal_share, iowait_share, busy_share: of all cores, over the phase.
        others_cores: cores that processes used which are neither client nor server.
        calibration: the newest certificate of this host and driver, if there is one.
        starved: name of an engine -> the seconds in which it was starved; of the only one here nothing.
    """

    phase: Phase
    steady: Steady | None = None
    completed_per_s: float | None = None
    costs: tuple[Cost, ...] = ()
    inside: tuple[Inside, ...] = ()
    status: str = "done"
    reason: str = ""
    partial: bool = False
    timeline: Sequence[Mapping[str, Any]] = ()
    verify: str = "all"
    values: str = "checked"
    cores: int | None = None
    quota_cores: float | None = None
    local: bool = False
    nodes: tuple[str, ...] = ()
    watched: frozenset[str] = frozenset()
    agents: frozenset[str] = field(default_factory=frozenset)
    untold: Mapping[str, str] = field(default_factory=dict)
    lacking: Mapping[str, Sequence[str]] = field(default_factory=dict)
    steal_share: float | None = None
    iowait_share: float | None = None
    busy_share: float | None = None
    others_cores: float | None = None
    calibration: Certificate | None = None
    starved: Mapping[str, int] = field(default_factory=dict)


Check = Callable[[Context], Warned | None]


def percent(share: float) -> str:
    """A share as text: two digits that count, e.g. `0.75 %`, `12 %`."""
    return f"{share * 100:.2g} %" if share < 0.995 else f"{share * 100:.0f} %"


def kinds(failures: Mapping[str, int]) -> str:
    """Failures by kind, most first: `1,900 timeout, 113 unavailable`."""
    order = sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{n:,} {kind}" for kind, n in order if n)
