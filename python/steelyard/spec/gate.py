"""A gate of `--fail-if`, from words: `p99 worse than 5%`.

    gate    = METRIC [SURENESS] WAY "than" PERCENT
    METRIC  = throughput | client CPU | failures | [OP] [service|response] mean|p50|p95|p99|p99.9|max
    SURENESS= surely | possibly
    WAY     = worse | better | different

Without a sureness the gate fails when the estimate lies beyond the bound and the difference is no chance;
`surely` when the whole interval lies beyond the bound; `possibly` when any of it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from steelyard.errors import InputError, nearest

GRAMMAR = (
    "METRIC [surely|possibly] worse|better|different than PERCENT, e.g. 'READ service p99 worse than 5%'"
)
_GATE = re.compile(
    r"(?P<metric>.+?)(?: (?P<sure>surely|possibly))? (?P<way>\w+) than (?P<bound>\d+(?:\.\d+)?) ?%"
)

Way = Literal["worse", "better", "different"]
WAYS: tuple[Way, ...] = ("worse", "better", "different")


@dataclass(frozen=True)
class Gate:
    """One gate.

    Attributes:
        text: as it was said.
        metric: the words that name the metric, not yet looked up.
        way: in which direction it fails.
        bound: relative difference, e.g. 0.05.
        sure: `surely`, `possibly` or empty.
    """

    text: str
    metric: str
    way: Way
    bound: float
    sure: str = ""


def parse_gate(text: str, flag: str = "--fail-if") -> Gate:
    """The gate that words say.

    Raises:
        InputError: they say none; with the grammar.
    """
    words = " ".join(text.split())
    match = _GATE.fullmatch(words)
    if match is None:
        raise InputError(f"{flag} '{text}' is no gate", hint=f"a gate is {GRAMMAR}")
    for way in WAYS:
        if match["way"].lower() == way:
            return Gate(words, match["metric"], way, float(match["bound"]) / 100, match["sure"] or "")
    said = match["way"]
    raise InputError(f"{flag} '{text}': '{said}' is no way{nearest(said, WAYS)}", hint=f"a gate is {GRAMMAR}")


def parse_share(text: str, flag: str) -> float:
    """The share that a percentage says: `3%` or `3` is 0.03.

    Raises:
        InputError: it is no percentage above 0.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?%?", text.strip())
    if match is None or not float(match[1]):
        raise InputError(f"{flag} {text}: expected a percentage above 0, e.g. {flag} 3%")
    return float(match[1]) / 100
