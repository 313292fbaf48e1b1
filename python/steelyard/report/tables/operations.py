"""Tables of what the operations of a phase did: latency, outcomes, values judged."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.distribution import Distribution
from steelyard.analysis.summary import Operation, Phase
from steelyard.report.formatting import NONE, digits, milliseconds, plain, whole
from steelyard.report.tables.base import Table

CLOCK_WORDS = {"response": "response", "service": "service", "wait": "wait", "all": "all attempts"}
CLOCK_NOTE = (
    "response = due to done, what a user waits; service = sent to answered, what the server takes; wait = "
    "due to sent, what the client's queue takes (successes). all attempts = response with every failure "
    "counted as at least its timeout."
)
CLOSED_NOTE = (
    " Closed loop without a rate: an operation is due when it is sent, so response = service and wait = 0."
)


def latency(phase: Phase) -> Table:
    """Per operation: count, rate, and the distributions of all clocks, in milliseconds."""
    rows: list[tuple[str, ...]] = []
    breaks = set()
    for op in (*phase.operations, phase.total):
        breaks.add(len(rows))
        for clock, word in CLOCK_WORDS.items():
            times: Distribution = getattr(op, clock)
            first = clock == "response"
            head = (op.name, word, whole(op.count), digits(op.rate_per_s, 4)) if first else ("", word, "", "")
            figures = (times.mean_ns, times.p50_ns, times.p95_ns, times.p99_ns, times.p999_ns, times.max_ns)
            rows.append((*head, *(milliseconds(v) for v in figures)))
    note = CLOCK_NOTE + (CLOSED_NOTE if phase.closed else "")
    columns = ("operation", "time, ms", "count", "per s", "mean", "p50", "p95", "p99", "p99.9", "max")
    return Table("Operations and latency", columns, rows, words=2, note=note, breaks=frozenset(breaks - {0}))


def outcomes(phase: Phase) -> Table:
    """Per operation: how many were fine, and failures by kind."""
    ops = (*phase.operations, phase.total)
    kinds = sorted({kind for op in ops for kind in op.failures})
    not_yet = any(op.not_yet for op in ops)
    columns = (
        "operation",
        "completed",
        "ok",
        *(("not yet",) if not_yet else ()),
        *kinds,
        "failed",
        "failed %",
    )
    rows = [_outcome(op, kinds, not_yet) for op in ops]
    notes = ["" if kinds else "No operation failed.", _attempts(phase)]
    if not_yet:
        notes.append(
            "not yet = a read of a record whose insert had not been acknowledged; counted as answered."
        )
    return Table("Outcomes", columns, rows, note=" ".join(n for n in notes if n))


def _outcome(op: Operation, kinds: Sequence[str], not_yet: bool) -> tuple[str, ...]:
    waiting = (whole(op.not_yet),) if not_yet else ()
    failed = tuple(whole(op.failures.get(kind, 0)) for kind in kinds)
    return (op.name, whole(op.count), whole(op.ok), *waiting, *failed, whole(op.failed),
            digits(100 * op.failed / max(op.count, 1), 2))  # fmt: skip


def _attempts(phase: Phase) -> str:
    more = {k: n for k, n in phase.attempts.items() if k != "1" and n}
    if not more:
        return ""
    listed = ", ".join(f"{n:,} took {k}" for k, n in sorted(more.items(), key=lambda item: int(item[0])))
    return f"Attempts: {listed}; the clock runs on over all attempts of an operation."


def verification(phase: Phase) -> Table | None:
    """What was found in the values that came back; None when nothing was judged."""
    facts = phase.verify
    if not facts or facts.get("mode") == "off" or not facts.get("checked"):
        return None
    names = ("mode", "checked", "corrupt", "foreign", "stale", "lost", "not_yet")
    full = facts.get("mode") == "full"
    row = [plain(facts.get(n)) if n == "mode" else whole(facts.get(n) or 0) for n in names]
    if not full:
        row[names.index("stale")] = row[names.index("lost")] = NONE
    note = "" if full else "Stale and lost values are only looked for with verify = full."
    return Table("Values judged", [n.replace("_", " ") for n in names], [row], note=note)
