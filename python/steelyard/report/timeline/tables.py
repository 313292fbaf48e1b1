"""What was done to the cluster in a trial and what was felt of it, as tables of words."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.analysis.windows.effect import TOTAL, Effect
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.report.acted import Acted, OneAction
from steelyard.report.formatting import NONE, clean, digits, milliseconds, plain, share, size, whole
from steelyard.report.in_effect import coordinator_name
from steelyard.report.model import TrialReport
from steelyard.report.tables.base import Table

ALL = "all"
"""The row of all actions together, where there are several."""


def timeline_tables(trial: TrialReport) -> list[Table]:
    """Actions, milestones, windows, what was felt, failed attempts, hints; none where nothing was done."""
    if trial.acted is None:
        return []
    found = (
        _actions(trial.acted),
        _milestones(trial.acted),
        _windows(trial),
        _felt(trial),
        _failures(trial),
        _hints(trial.acted),
    )
    return [table for table in found if table and table.rows]


def elapsed(found: Elapsed | None) -> str:
    """Seconds; `> 120` of what was waited for in vain."""
    if found is None:
        return NONE
    return digits(found.seconds) if found.reached else f"> {digits(found.seconds)}"


def _actions(acted: Acted) -> Table:
    rows = [
        (
            clean(one.id),
            clean(one.do) + (", back" if one.undo else ""),
            plain(one.nodes),
            clean(one.how) + (f": {clean(one.reason)}" if one.reason else ""),
            digits(one.start_s),
            elapsed(one.took),
            elapsed(one.effect.again) if one.effect else NONE,
            size(one.bytes),
            size(one.least_bytes),
        )
        for one in acted.actions
    ]
    columns = ("action", "does", "nodes", "ended", "at, s", "took, s", "steady again, s", "moved", "least")
    note = (
        "back: it takes back what another did. at: since the phase began. steady again: since its start, "
        "from where on median and p99 of every thousand operations stay at the level of the end. > : not "
        "within what was measured; -: too little came after to tell, ten thousand operations in its last "
        "half. least: what had to move in a balanced cluster."
    )
    return Table("Actions", columns, rows, words=4, note=note)


def _milestones(acted: Acted) -> Table:
    rows = [
        (clean(one.id), clean(passed.node) or NONE, clean(passed.what), digits(passed.seconds))
        for one in acted.actions
        for passed in one.passed
    ]
    breaks, seen = set(), 0
    for one in acted.actions:
        breaks.add(seen := seen + len(one.passed))
    return Table(
        "Milestones",
        ("action", "node", "milestone", "after, s"),
        rows,
        words=3,
        note="after: since the action started.",
        breaks=frozenset(breaks - {0, len(rows)}),
    )


def _effects(acted: Acted) -> Iterator[tuple[str, OneAction | None, Effect]]:
    """(name, the action, what was felt around it), and first all together where there are several."""
    began = [one for one in acted.actions if one.effect is not None]
    if len(began) != 1 and acted.whole:
        yield ALL, None, acted.whole
    for one in began:
        if one.effect:
            yield one.id, one, one.effect


def _windows(trial: TrialReport) -> Table | None:
    """Before, during and after, of all operations and of each kind, with the control beside them."""
    if trial.acted is None or trial.acted.whole is None:
        return None
    control = trial.paired.effect if trial.paired else None
    rows: list[tuple[str, ...]] = []
    breaks = set()
    for name, _, found in _effects(trial.acted):
        breaks.add(len(rows))
        beside = control if found is trial.acted.whole else None
        for done in found.done:
            for operation in dict.fromkeys(t.operation for t in found.times):
                times, other = found.of(done.window, operation), beside and beside.of(done.window, operation)
                of_all = operation == TOTAL
                counts = (
                    whole(done.seconds), digits(done.ok_per_s, 4), share(done.failed_share),
                    whole(done.stale), whole(done.lost), whole(done.not_yet),
                ) if of_all else ("",) * 6  # fmt: skip
                figures = (times.p50_ns, times.p99_ns) if times else (None, None)
                rows.append((
                    clean(name) if of_all else "", done.window if of_all else "",
                    "all" if of_all else clean(operation), *counts, *map(milliseconds, figures),
                    *((milliseconds(other.p99_ns if other else None),) if control else ()),
                ))  # fmt: skip
    columns = (
        "action", "window", "operations", "seconds", "ok/s", "failed", "stale", "lost", "not yet",
        "p50, ms", "p99, ms", *(("control's p99",) if control else ()),
    )  # fmt: skip
    note = (
        "Response of all attempts, a failure counted as at least its timeout, from merged histograms; p99 of "
        "at least 1,000 operations."
    )
    if control and trial.paired:
        note += f" control: trial {trial.paired.control}, the same load in the same seconds without actions."
    return Table("Before, during and after", columns, rows, 3, note, frozenset(breaks - {0}))


def _felt(trial: TrialReport) -> Table | None:
    if trial.acted is None or trial.acted.whole is None:
        return None
    rows = [_measures(name, found) for name, _, found in _effects(trial.acted)]
    note = (
        "From the action's start on: recovered, until as much succeeds as before it, within a tenth; felt, "
        "until the run is steady again."
    )
    if trial.paired:
        rows += [_measures(f"control (trial {trial.paired.control})", trial.paired.effect)]
        against = trial.paired.compared
        note += (
            f" Less the control's own, the impact is {digits(against.impact_s)} response seconds, and "
            f"{share(against.impact_share)} of the operations above the control's p99 "
            f"({share(against.above)} less {share(against.control_above)})."
        )
    bound = trial.acted.whole.bound_ns
    note += (
        " excess: response seconds beyond the mean before, summed over operations; worst and spread "
        "(coefficient of variation): p99 of every thousand operations from its start on; outside: "
        f"seconds whose p99 was above {milliseconds(bound)} ms; behind: operations due and not "
        "done in their second; busy, stolen: seconds with the host over 95 % busy, or over 1 % stolen: "
        "there it may be to blame."
    )
    columns = (
        "action", "recovered, s", "felt, s", "excess, s", "worst p99, ms", "spread", "outside, s", "behind",
        "busy, s", "stolen, s",
    )  # fmt: skip
    return Table("What was felt", columns, rows, 1, note)


def _measures(name: str, found: Effect) -> tuple[str, ...]:
    host = found.host
    return (
        clean(name),
        elapsed(found.recovered),
        whole(len(found.felt)),
        digits(found.excess_s),
        milliseconds(found.worst.p99_ns if found.worst else None),
        digits(found.spread),
        digits(found.outside_s),
        whole(found.lost_operations),
        digits(host.busy_s if host else None),
        digits(host.stolen_s if host else None),
    )


def _failures(trial: TrialReport) -> Table | None:
    if trial.acted is None or trial.acted.whole is None:
        return None
    rows = [
        (
            one.window,
            clean(coordinator_name(trial.manifest, one.coordinator)),
            clean(one.kind),
            whole(one.attempts),
        )
        for one in trial.acted.whole.failures
    ]
    return Table("Failed attempts", ("window", "coordinator", "kind", "attempts"), rows, words=3)


def _hints(acted: Acted) -> Table | None:
    """Only where some were kept or handed over: most actions need none."""
    found = acted.hints
    if found is None or not (found.stored or found.replayed):
        return None
    rows = [("kept", whole(found.stored)), ("handed over", whole(found.replayed))]
    note = (
        "Writes kept for nodes that did not take them, from the first action's start to the end of the phase."
    )
    return Table("Hints", ("hints", "writes"), rows, note=note)
