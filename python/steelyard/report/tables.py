"""Tables as words, made once from the model; text, Markdown and HTML only lay them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from steelyard.analysis.cost import Cost
from steelyard.analysis.distribution import Distribution
from steelyard.analysis.summary import Operation, Phase
from steelyard.report.facts import consistency, part
from steelyard.report.model import FIGURES, PhaseReport, ReportModel, TrialReport
from steelyard.report.words import (
    NONE,
    clean,
    digits,
    milliseconds,
    plain,
    share,
    size,
    whole,
)  # fmt: skip

CLOCK_WORDS = {"response": "response", "service": "service", "wait": "wait", "all": "all attempts"}
CLOCK_NOTE = (
    "response = due to done, what a user waits; service = sent to answered, what the server takes; wait = due to sent, "
    "what the client's queue takes (successes). all attempts = response with every failure counted as at least its "
    "timeout."
)
CLOSED_NOTE = (
    " Closed loop without a rate: an operation is due when it is sent, so response = service and wait = 0."
)

MOST_NODES = 6
"""More columns than this do not fit beside each other at 100 columns."""


@dataclass(frozen=True)
class Table:
    """A table of words.

    Attributes:
        title: above it.
        columns: headings; the first `words` columns are text, the others numbers, which stand right.
        rows: cells.
        note: a sentence below it.
        breaks: rows before which a new group begins.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    note: str = ""
    breaks: frozenset[int] = field(default_factory=frozenset)


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


def resources(report: PhaseReport) -> Table:
    """CPU per operation and more, of client, lab, servers and machine."""
    throttled = any(c.throttled_share is not None for c in report.costs)
    network = any(c.network_per_s is not None for c in report.costs)
    columns = ["party", "CPU us/op", "cores", "memory", "disk r/s", "disk w/s"]
    columns += ["network/s"] if network else []
    columns += ["GC"] + (["throttled"] if throttled else [])
    rows = [_cost(c, network, throttled) for c in report.costs]
    note = (
        "CPU us/op = CPU time of the phase over completed operations; cores = mean in use; memory = highest resident. "
        "'watching and lab' is Steelyard's own Python process with what samples the servers: part of the client's cost."
    )
    return Table("CPU per operation and resources", columns, rows, note=note)


def _cost(cost: Cost, network: bool, throttled: bool) -> list[str]:
    row = [clean(cost.party), digits(cost.cpu_us_per_op), digits(cost.cores), size(cost.memory_max_bytes)]
    row += [size(cost.disk_read_per_s), size(cost.disk_write_per_s)]
    row += [size(cost.network_per_s)] if network else []
    return row + [share(cost.gc_share)] + ([share(cost.throttled_share)] if throttled else [])


def balance(report: PhaseReport) -> Table | None:
    """Per node requests, bytes and CPU, with max/mean and the coefficient of variation."""
    if not report.balance:
        return None
    nodes = sorted({n for b in report.balance for n in b.by_node})
    columns = ("measure", *(clean(n) for n in nodes), "max/mean", "CoV")
    if len(nodes) > MOST_NODES:
        return _balance_of_many(report)
    rows = []
    for b in report.balance:
        form = size if b.unit == "B/s" else digits
        unit = "per s" if b.unit in ("B/s", "/s") else b.unit
        apart = (f"{b.spread.max_over_mean:.2f}", f"{b.spread.coefficient_of_variation:.3f}")
        rows.append((f"{b.measure}, {unit}", *(form(b.by_node.get(n)) for n in nodes), *apart))
    note = "max/mean = 1 and a coefficient of variation of 0 mean that all nodes do the same."
    return Table("Balance of the nodes", columns, rows, note=note)


def _balance_of_many(report: PhaseReport) -> Table:
    """The same without a column for each node, which no page is wide enough for."""
    rows = []
    for b in report.balance:
        form = size if b.unit == "B/s" else digits
        low, high = min(b.by_node, key=b.by_node.__getitem__), max(b.by_node, key=b.by_node.__getitem__)
        rows.append(
            (f"{b.measure}, {b.unit}", f"{form(b.by_node[low])} ({clean(low)})", f"{form(b.by_node[high])} ({clean(high)})",
             f"{b.spread.max_over_mean:.2f}", f"{b.spread.coefficient_of_variation:.3f}")
        )  # fmt: skip
    return Table("Balance of the nodes", ("measure", "least (node)", "most (node)", "max/mean", "CoV"), rows)


def engines(report: PhaseReport) -> Table | None:
    """Response percentiles per engine, when there were several."""
    if not report.engines:
        return None
    count = max(len(e.by_engine_ns) for e in report.engines)
    shown = min(count, MOST_NODES)
    columns = ("operation", "percentile", *(f"engine {n}" for n in range(shown)), "CoV")
    rows = [
        (
            e.operation,
            e.percentile,
            *(milliseconds(v) for v in e.by_engine_ns),
            f"{e.coefficient_of_variation:.3f}",
        )
        for e in report.engines
    ]
    note = "Side by side and not averaged: the figures of the whole come from the merged histograms."
    if count > shown:
        note += f" Shown are {shown} of {count} engines; the coefficient of variation is over all."
    return Table("Response time per engine, ms", columns, rows, words=2, note=note)


def trials(model: ReportModel) -> Table | None:
    """One row per trial, and mean, least and most over repetitions; None for a single trial."""
    if len(model.trials) < 2:
        return None
    rows = [_trial_row(t) for t in model.trials]
    for word in ("mean", "min", "max"):
        spread = [model.over_trials.get(name) for name in FIGURES]
        if any(spread):
            rows.append((word, "", *(digits(getattr(s, word)) if s else NONE for s in spread)))
    if model.over_trials:
        varies = [
            s.coefficient_of_variation if (s := model.over_trials.get(name)) else None for name in FIGURES
        ]
        rows.append(("CoV", "", *(NONE if v is None else f"{v:.3f}" for v in varies)))
    note = "Percentiles are each trial's own; mean, min and max are over the trials that were done."
    breaks = frozenset({len(model.trials)}) if model.over_trials else frozenset()
    return Table("Trials", ("trial", "status", *FIGURES), rows, words=2, note=note, breaks=breaks)


def _trial_row(trial: TrialReport) -> tuple[str, ...]:
    status = "half-written" if trial.partial else clean(trial.status)
    return (str(trial.number), status, *(digits(figure(trial) or None, 4) for figure in FIGURES.values()))


def phases(trial: TrialReport) -> Table:
    """The phases of a trial in one row each."""
    rows = [
        (clean(p.name), clean(p.kind), p.arrivals if p.closed else f"{p.arrivals} {digits(p.target_per_s, 4)}/s",
         digits(p.seconds, 4), whole(p.total.count), digits(p.total.rate_per_s, 4), whole(p.total.failed),
         clean(p.reason))
        for p in (r.phase for r in trial.phases)
    ]  # fmt: skip
    return Table(
        "Phases",
        ("phase", "kind", "arrivals", "seconds", "completed", "per s", "failed", "ended by"),
        rows,
        3,
    )


def effect(trial: TrialReport) -> Table:
    """Durability and consistency in effect."""
    rows = [(word, plain(value)) for word, value in consistency(trial.manifest)]
    return Table("Durability and consistency in effect", ("what", "in effect"), rows, words=2)


def deviations(trial: TrialReport) -> Table | None:
    """What differs from upstream's defaults, and why."""
    found = part(trial.manifest, "system").get("deviations") or ()
    if not found:
        return None
    names = ("setting", "value", "default", "reason")
    rows = [tuple(plain(d.get(n)) for n in names) for d in found if isinstance(d, dict)]
    return Table("Deviations from upstream's defaults", names, rows, words=4)


def for_phase(report: PhaseReport) -> list[Table]:
    """Everything about one phase."""
    found = [latency(report.phase), outcomes(report.phase), verification(report.phase), resources(report),
             balance(report), engines(report)]  # fmt: skip
    return [t for t in found if t is not None]
