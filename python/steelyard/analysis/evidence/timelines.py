"""What is said of a cell whose trials have figures of actions: actions that were not done, records that could
not be read back, times that never came, a host that was to blame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.spec.metrics import BEYOND, CENSORED, LOAD, UNDONE, is_of_timeline, is_until

Rows = Sequence[Mapping[str, Any]]
FOUND = ("audit_lost", "audit_fields_lost", "audit_stale", "audit_wrong")
"""Figures of the records that an audit could read."""
HOST = {"host_busy_s": "over 95 % busy", "host_stolen_s": "over 1 % stolen"}


def undone(rows: Rows, metric: str) -> list[str]:
    """What speaks against judging trials with actions that were not done. Times are censored or
    missing instead: a node was noticed, although its restart did not end. The load went before."""
    if metric in CENSORED or is_until(metric) or metric.startswith(LOAD):
        return []
    told = [str(words) for row in rows if (words := row.get(UNDONE))]
    if not told:
        return []
    return [f"{len(told)} of {len(rows)} trials: {told[0]}: what was to be judged did not happen"]


def unread(rows: Rows, metric: str) -> list[str]:
    """What speaks against judging what was found of acknowledged writes: records that nobody could read."""
    bad = sum(bool(row.get("audit_unread")) for row in rows) if metric in FOUND else 0
    why = "records could not be read back, and may be lost"
    return [f"{bad} of {len(rows)} trials: {why}"] if bad else []


def censored(rows: Rows, metric: str) -> list[str]:
    """What speaks against judging a time that was waited for in vain in some trial, or is not known of it:
    those in which it came are the quicker ones."""
    if metric not in CENSORED and not is_until(metric):
        return []
    vain = [float(at) for row in rows if (at := row.get(f"{metric}{BEYOND}")) is not None]
    have = sum(row.get(metric) is not None for row in rows)
    found = []
    if vain:
        found.append(f"{len(vain)} of {len(rows)} trials: {metric} is censored, above {min(vain):.3g} s")
    if have and (without := len(rows) - have - len(vain)):
        why = f"{metric} did not come, or could not be told; those that have it are the quicker ones"
        found.append(f"{without} of {len(rows)} trials: {why}")
    return found


def host_to_blame(rows: Rows, metric: str) -> list[str]:
    """Of figures of actions the seconds in which the host, and not the action, may have been felt."""
    if not is_of_timeline(metric):
        return []
    sums = {words: sum(float(row.get(name) or 0.0) for row in rows) for name, words in HOST.items()}
    told = " and ".join(f"{words} in {seconds:.0f} s" for words, seconds in sums.items() if seconds)
    return [f"while actions were felt, the host was {told} of its {len(rows)} trials"] if told else []
