"""What actions did in a study, over its trials: how long each took, what its nodes passed, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import median_low

from steelyard.analysis.windows.effect import Effect
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.report.acted import OneAction
from steelyard.report.formatting import NONE, clean, digits, size, whole
from steelyard.report.in_effect import coordinator_name
from steelyard.report.model import TrialReport
from steelyard.report.study.points import PointReport
from steelyard.report.tables.base import Table
from steelyard.spec.metrics import WINDOWS

Rows = list[tuple[str, ...]]
MEDIAN = "The median trial of those that count; in brackets the least and the greatest."


def acted_tables(found: Sequence[PointReport]) -> list[Table]:
    """Actions, what was felt of each, milestones and failed attempts of every point with actions; none where
    nothing was done."""
    acted = [point for point in found if point.acted]
    tables = (_actions(acted), _each_felt(acted), _milestones(acted), _failures(acted))
    return [table for table in tables if table.rows]


def _actions(acted: Sequence[PointReport]) -> Table:
    rows: Rows = []
    for point in acted:
        for name, all_ in _by_action(point).items():
            times = [one.took for one in all_ if one.took and one.how != "failed"]
            again = [one.effect.again for one in all_ if one.effect and one.effect.again]
            moved = [one.bytes for one in all_ if one.bytes is not None]
            least = [one.least_bytes for one in all_ if one.least_bytes is not None]
            done = sum(one.how == "done" for one in all_)
            rows.append((
                point.label, clean(name), clean(all_[0].do) + (", back" if all_[0].undo else ""),
                f"{done} of {len(all_)}", elapsed_over(times), elapsed_over(again),
                _sizes(moved), _sizes(least),
            ))  # fmt: skip
    note = (
        f"{MEDIAN} done: of the trials in which it was asked for; how long one took that failed is left out. "
        "> : a trial in which it did not come within what was measured. steady again: level with what "
        "follows, which may be worse than before. least: what had to move in a balanced cluster. back: it "
        "takes back what another did. Bytes are those of the median trial."
    )
    columns = ("point", "action", "does", "done", "took, s", "steady again, s", "moved", "least")
    return _table("Actions over trials", columns, rows, 3, note)


def _each_felt(acted: Sequence[PointReport]) -> Table:
    """Of points with several actions each for itself; of one alone `acted_points` tells the same."""
    rows: Rows = []
    for point in acted:
        each = {name: [one.effect for one in all_ if one.effect] for name, all_ in _by_action(point).items()}
        felt = {name: effects for name, effects in each.items() if effects}
        for name, effects in felt.items() if len(felt) > 1 else ():
            during = [done for effect in effects for done in effect.done if done.window == "during"]
            rows.append((
                point.label, clean(name), over([done.seconds for done in during]),
                over([done.failed_share * 100 for done in during if done.failed_share is not None]),
                over(_times(effects, "during", "p50_ns")),
                *(over(_times(effects, window, "p99_ns")) for window in WINDOWS),
            ))  # fmt: skip
    note = (
        f"{MEDIAN} Of all operations, a failure counted as at least its timeout. seconds: from the action's "
        "start to its end; failed, p50: in these. before, after: from the action before, and until the next "
        "one, or the ends of what was measured; p99 of at least 1,000 operations."
    )
    columns = ("point", "action", "seconds", "failed, %", "p50, ms", "p99 before, ms", "during", "after")
    return _table("What was felt of each action", columns, rows, 2, note)


def _times(effects: Iterable[Effect], window: str, what: str) -> list[float]:
    """A percentile of all operations in a window, ms, of each trial that has it."""
    found = [getattr(times, what) for effect in effects if (times := effect.of(window))]
    return [ns / 1e6 for ns in found if ns is not None]


def _by_action(point: PointReport) -> dict[str, list[OneAction]]:
    """Action -> it in every trial, in the order in which they first began."""
    found: dict[str, list[OneAction]] = {}
    for trial in point.trials:
        for one in trial.acted.actions if trial.acted else ():
            found.setdefault(one.id, []).append(one)
    return found


def _milestones(acted: Sequence[PointReport]) -> Table:
    rows: Rows = []
    for point in acted:
        for name, all_ in _by_action(point).items():
            passed: dict[tuple[str, str], list[float]] = {}
            for one in all_:
                last = {(milestone.node, milestone.what): milestone.seconds for milestone in one.passed}
                for which, seconds in last.items():
                    passed.setdefault(which, []).append(seconds)
            ranked = sorted(passed.items(), key=lambda item: median_low(item[1]))
            rows += [
                (
                    point.label,
                    clean(name),
                    clean(node) or NONE,
                    clean(what),
                    over(at),
                    f"{len(at)} of {len(all_)}",
                )
                for (node, what), at in ranked
            ]
    note = f"{MEDIAN} after: since the action started; of what a node passed several times, the "
    note += "last. trials: in which the node passed it."
    columns = ("point", "action", "node", "milestone", "after, s", "trials")
    return _table("Milestones over trials", columns, rows, 4, note)


def _failures(acted: Sequence[PointReport]) -> Table:
    rows: Rows = []
    for point in acted:
        failed = [_failed_in(trial) for trial in point.trials]
        rows += [
            (
                point.label,
                window,
                clean(node) or NONE,
                clean(kind),
                over([of.get((window, node, kind), 0) for of in failed], whole),
            )
            for window, node, kind in dict.fromkeys(key for of in failed for key in of)
        ]
    columns = ("point", "window", "coordinator", "kind", "attempts")
    note = f"{MEDIAN} Attempts, not operations: one that failed may have been made again."
    return _table("Failed attempts over trials", columns, rows, 4, note)


def _failed_in(trial: TrialReport) -> Counter[tuple[str, str, str]]:
    """Window, node, and kind of failure -> attempts in one trial; coordinators may be of one node."""
    found: Counter[tuple[str, str, str]] = Counter()
    for one in trial.acted.whole.failures if trial.acted and trial.acted.whole else ():
        found[one.window, coordinator_name(trial.manifest, one.coordinator), one.kind] += one.attempts
    return found


def _table(title: str, columns: Sequence[str], rows: Rows, words: int, note: str) -> Table:
    """Points, which stand in the first column, are told apart."""
    breaks = frozenset(n for n in range(1, len(rows)) if rows[n][0] != rows[n - 1][0])
    return Table(title, columns, rows, words, note, breaks)


def over(values: Sequence[float], words: Callable[[float], str] = digits) -> str:
    """`26 (20 to 31)`: the median trial, the least and the greatest; of one trial its own."""
    ranked = sorted(values)
    return _within([words(value) for value in ranked])


def elapsed_over(times: Iterable[Elapsed]) -> str:
    """The same of times that may be censored: those count as longer than all that came."""
    ranked = sorted(times, key=lambda one: (not one.reached, one.seconds))
    return _within([digits(one.seconds) if one.reached else f"> {digits(one.seconds)}" for one in ranked])


def _within(told: Sequence[str]) -> str:
    """The lower median of what is in order, which is a trial's own, within its ends; those only where they
    differ."""
    if not told:
        return NONE
    middle = told[(len(told) - 1) // 2]
    return middle if told[0] == told[-1] else f"{middle} ({told[0]} to {told[-1]})"


def _sizes(values: Sequence[float]) -> str:
    """The median trial alone: bytes are long words, and differ little."""
    return size(median_low(values)) if values else NONE
