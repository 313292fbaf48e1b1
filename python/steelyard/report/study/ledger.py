"""A ledger of what differs in meaning between a study's systems: one word can promise different things.

Every line is read from what was in effect: the testbed's facts, the plan, what the driver found on servers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.analysis.counters import Window, nodes
from steelyard.report.formatting import NONE, digits, plain
from steelyard.report.in_effect import master_names, quota_cores, side_name, system_kind
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.tables.base import Table
from steelyard.results.in_effect import InEffect, part
from steelyard.spec.kind import declared
from steelyard.systems import ledger as words
from steelyard.systems.kind import SystemKind

Answer = Callable[["Side"], str | None]
PARTS = (words.AGAIN, words.HEAP)
"""What a record says as a part of a line."""


class Side:
    """One trial, asked about one line of the ledger after the other.

    Args:
        trial: any trial of the system and variant: what is asked is the same in all of them.
    """

    def __init__(self, trial: TrialReport) -> None:
        self.trial = trial
        masters = trial.master_cpu_us
        self.found = InEffect(trial.manifest, "" if masters is None else f"{digits(masters)} us")
        record = declared(str(self.found.system.get("kind") or system_kind(trial.manifest)))
        self.own = record.ledger() if isinstance(record, SystemKind) else {}

    def told(self, line: str) -> Any:
        """What the record of its kind says to a line; None where it says nothing."""
        return self.own[line](self.found) if line in self.own else None


def _acknowledged(side: Side) -> str | None:
    return side.found.system.get("durability")


def _retries(side: Side) -> str | None:
    plan = side.found.plan
    retry = plan.get("retry")
    if retry is None:
        return None
    attempt, whole = plan.get("attempt_timeout_ms"), plan.get("timeout_ms")
    where = side.told(words.AGAIN)
    until = f"until the deadline; {where} after a failure" if where else "until the deadline"
    again = "none" if retry == "none" else until
    return f"{again}; {attempt} ms an attempt, {whole} ms in all" if attempt else again


def _scans(side: Side) -> str | None:
    order = side.found.ready.get("scan_order")
    told = {"token": "by token (a hash of the key): neighbours in a scan are no neighbours by key",
            "key": "by key: a scan reads neighbours"}  # fmt: skip
    return told.get(str(order), order)


def _memory(side: Side) -> str | None:
    limit = part(side.found.asked, "limits").get("memory_mib")
    said = [side.told(words.HEAP), f"at most {limit} MiB a node in all" if limit else None]
    return "; ".join(filter(None, said)) or None


def _cpu(side: Side) -> str | None:
    """Masters are charged where they have their share of the same sum."""
    total = quota_cores(side.trial.manifest)
    if total is None:
        return "no limit"
    in_effect = part(side.found.system, "limits", "cpu_cores")
    charged = [float(in_effect[name]) for name in master_names(side.trial.manifest) if name in in_effect]
    masters = f", {digits(sum(charged))} of them the masters'" if charged else ""
    return f"{digits(total)} cores in all{masters}"


def _debt(side: Side) -> str | None:
    """Compactions pending when the measured phase began."""
    if side.trial.measured is None or not side.trial.system.height:
        return None
    start = side.trial.measured.phase.start_ns
    window = Window(side.trial.system, start - 2_000_000_000, start + 1_000_000_000)
    metric = "server_compactions_pending"
    found = [v for name in nodes(side.trial.system) if (v := window.highest(name, metric)) is not None]
    return f"{digits(sum(found))} pending" if found else None


def _clocks(side: Side) -> str | None:
    told = {"socket": "at the socket: when the request was written, when its answer was read",
            "call": "around the driver's call"}  # fmt: skip
    return told.get(str(side.found.ready.get("clocks")))


def _own(line: str) -> Answer:
    return lambda side: side.told(line)


LINES: Mapping[str, Answer] = {
    "Version": lambda side: side.found.system.get("version") or side.found.ready.get("version"),
    "A write is": _acknowledged,
    words.WRITTEN: _own(words.WRITTEN),
    words.READ: _own(words.READ),
    "Retries": _retries,
    words.BUFFERING: _own(words.BUFFERING),
    "Scan order": _scans,
    words.TIMESTAMPS: _own(words.TIMESTAMPS),
    words.SPREAD: _own(words.SPREAD),
    words.CACHES: _own(words.CACHES),
    words.COMPRESSION: _own(words.COMPRESSION),
    "CPU": _cpu,
    "Memory": _memory,
    words.ROLES: _own(words.ROLES),
    "Compaction debt at the start": _debt,
    "Latency is measured": _clocks,
}
"""What is asked -> how a side answers; None where it does not know. A kind's own lines come after them."""


def ledger(model: ReportModel) -> Table | None:
    """What each system and variant of a study means; None when there is only one."""
    sides: dict[str, Side] = {}
    for trial in sorted(model.trials, key=lambda t: int(part(t.manifest, "trial").get("point") or 1)):
        name = side_name(trial.manifest)
        if trial.measured is not None and name not in sides:
            sides[name] = Side(trial)
    if len(sides) < 2:
        return None
    own = (line for side in sides.values() for line in side.own if line not in (*LINES, *PARTS))
    lines = {**LINES, **{line: _own(line) for line in own}}
    rows = [(what, *(_told(line(side)) for side in sides.values())) for what, line in lines.items()]
    rows = [row for row in rows if set(row[1:]) != {NONE}]
    return Table(
        "What differs in meaning",
        ("", *sides),
        rows,
        words=1 + len(sides),
        note="Read from what was in effect: the servers' settings, the plan, and what the driver found.",
    )


def _told(answer: Any) -> str:
    return NONE if answer is None else plain(answer)
