"""Whether a trial counts: one rule, which says why one does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

By = Literal["system", "client", "outside"]

SATURATED = 0.01
"""Share of the seconds in which the client was too slow: with more, it is in the p99."""
NEVER_ENDED = {
    "planned": "not run",
    "running": "not ended",
    "cut short": "cut short",
    "interrupted": "interrupted",
    "unknown": "cut short",
}
"""Statuses that say nothing of the system."""


@dataclass(frozen=True)
class Lost:
    """Why a trial does not count.

    Attributes:
        kind: in a word or two, equal for equal causes.
        detail: the figure or the error, without advice; may be empty.
        by: what lost it. Of the system's own losses the trials that are left say nothing, since those that
            went badly are missing; the others are missing by chance.
    """

    kind: str
    detail: str
    by: By


def lost(row: Mapping[str, Any]) -> Lost | None:
    """Why the trial of a row (see the package) does not count; None when it does.

    What came from outside is looked at first: a trial that was disturbed says nothing of why it failed.
    """
    status = str(row.get("status") or "unknown")
    if tainted := row.get("tainted"):
        kind, _, detail = str(tainted).partition(": ")
        return Lost(f"disturbed by {kind}", detail.partition(". ")[0], "outside")
    if status in NEVER_ENDED:
        return Lost(NEVER_ENDED[status], "", "outside")
    return _of_system(status, row) or _of_client(row)


def _of_system(status: str, row: Mapping[str, Any]) -> Lost | None:
    if died := row.get("server_died"):
        return Lost("a server died", str(died), "system")
    if status != "done":
        return Lost(status, str(row.get("reason") or ""), "system")
    if wrong := row.get("wrong_values"):
        return Lost("corrupt values", f"{wrong:,.0f} of those that came back", "system")
    return None


def _of_client(row: Mapping[str, Any]) -> Lost | None:
    if (share := row.get("saturated_share") or 0.0) > SATURATED:
        return Lost("the client was saturated", f"in {share * 100:.0f} % of the time", "client")
    return None


def failed_before(row: Mapping[str, Any]) -> Lost | None:
    """How the system lost the first of the attempts that it lost before this one; None where it lost none.

    A trial that was run again until it went well would hide that half of them fail: the survivors decide.
    """
    return next((one for one in _earlier(row) if one.by == "system"), None)


def lost_before(row: Mapping[str, Any]) -> Lost | None:
    """How the first of the attempts before this one was lost, whoever lost it; None where there was none."""
    return next(_earlier(row), None)


def _earlier(row: Mapping[str, Any]) -> Iterator[Lost]:
    return (one for earlier in row.get("earlier") or () if (one := lost(earlier)))


def told(found: Sequence[Lost], of: int, what: str = "do not count") -> list[str]:
    """Why trials of a cell do not count, in words: `2 of 12 trials do not count: failed (no route to
    host)`."""
    kinds: dict[str, list[Lost]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    return [
        f"{len(ones)} of {of} trials {what}: {kind}" + (f" ({ones[0].detail})" if ones[0].detail else "")
        for kind, ones in kinds.items()
    ]
