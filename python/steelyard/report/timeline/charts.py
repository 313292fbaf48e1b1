"""Pictures of what actions did in a trial: latency, throughput, states of nodes and their CPU, one above the
other on one axis of seconds, with windows shaded and milestones as rules.
"""

from __future__ import annotations

import polars as pl

from steelyard.analysis.cost import CPU
from steelyard.analysis.counters import nodes, rates, samples
from steelyard.analysis.summary import TOTAL, Phase
from steelyard.report.acted import Acted
from steelyard.report.chart import Chart, Rows
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.events import rounded_s
from steelyard.report.charts.phase import SECONDS
from steelyard.report.charts.thin import bin_seconds, highest, means, rounded
from steelyard.report.formatting import clean
from steelyard.report.in_effect import is_given, master_names, node_names
from steelyard.report.model import TrialReport
from steelyard.report.timeline.coordinators import coordinator_charts
from steelyard.report.timeline.lanes import MEMBER, SERVES, lanes
from steelyard.report.timeline.lanes_chart import lane_chart
from steelyard.report.timeline.progress import progress_charts
from steelyard.report.timeline.provision_chart import provision_charts

GROUP = "timeline"
COUNTS = {
    "due": "due",
    "done": "done",
    "failed": "failed",
    "stale": "stale",
    "lost": "lost",
    "not yet": "not_yet",
}
QUANTILES = {"p50": "all_p50_ns", "p99": "all_p99_ns"}
NOTE = "Shaded: from an action's start to its end. Dotted: milestones; point at a rule to read it."


def timeline_charts(trial: TrialReport) -> list[Chart]:
    """Demand and supply where they are known; latency, throughput, states of nodes, what clients saw of
    each, what they received and serve, and their CPU, where something was done in the measured phase."""
    known = provision_charts(trial)
    if trial.acted is None or trial.acted.whole is None or trial.measured is None:
        return known
    phase = trial.measured.phase
    origin = phase.start_ns / 1e9 - trial.cut_s
    seconds = phase.seconds + trial.cut_s
    shades, rules = shaded(trial.acted), milestones(trial.acted)
    rows = trial.intervals.filter((pl.col("phase") == phase.name) & (pl.col("op") == TOTAL))
    found = [
        _latency(rows, shades, rules),
        _throughput(rows, phase, shades, rules),
        _states(trial, trial.acted, seconds, shades),
        *coordinator_charts(trial, shades, rules),
        *progress_charts(trial, origin, seconds, shades, rules),
        _cpu(trial, origin, seconds, shades, rules),
    ]
    return [*known, *(chart for chart in found if chart)]


def shaded(acted: Acted, shift_s: float = 0.0) -> Rows:
    """What of the seconds is shaded, a row for each action that started; `shift_s` is taken off."""
    return [
        {
            "x": rounded_s(one.effect.windows.start_s - shift_s),
            "x2": rounded_s(one.effect.windows.end_s - shift_s),
            "event": clean(f"{one.id}: {one.do} ({one.how})"),
        }
        for one in acted.actions
        if one.effect
    ]


def milestones(acted: Acted, shift_s: float = 0.0) -> Rows:
    """Starts, milestones and ends, in seconds since the phase began less `shift_s`."""
    found: Rows = []
    for one in acted.actions:
        if one.start_s is None or one.effect is None:
            continue
        told = [(0.0, "started"), *((p.seconds, f"{p.node} {p.what}".strip()) for p in one.passed)]
        if one.took and one.took.reached:
            told.append((one.took.seconds, "ended"))
        again = one.effect.again
        if again and again.reached and again.seconds:
            told.append((again.seconds, "steady again"))
        start = one.start_s - shift_s
        found += [{"x": rounded_s(start + s), "event": clean(f"{one.id}: {what}")} for s, what in told]
    return found


def latency_rows(rows: pl.DataFrame, every: int) -> pl.DataFrame:
    """`second` and the percentiles of each second, thinned to the highest."""
    return highest(rows, list(QUANTILES.values()), every)


def _latency(rows: pl.DataFrame, shades: Rows, rules: Rows) -> Chart | None:
    if rows.height < 2:
        return None
    every = bin_seconds(rows.height)
    lines: Rows = [
        {"x": row["second"], "series": word, "y": rounded(value / 1e6)}
        for row in latency_rows(rows, every).to_dicts()
        for word, name in QUANTILES.items()
        if (value := row[name])
    ]
    drawn = Lines(lines, SECONDS, "milliseconds", list(QUANTILES), log=True, events=rules, shades=shades)
    note = "Response of all attempts due in each second; a failure counts as at least its timeout. " + NOTE
    return Chart("timeline-latency", "Latency around the actions", note, GROUP, lambda: line_chart(drawn))


def _throughput(rows: pl.DataFrame, phase: Phase, shades: Rows, rules: Rows) -> Chart | None:
    if rows.height < 2:
        return None
    columns = dict(COUNTS)
    if phase.closed:
        del columns["due"]
    binned = means(rows, list(columns.values()), bin_seconds(rows.height)).to_dicts()
    kept = {w: c for w, c in columns.items() if w in ("due", "done") or any(row[c] for row in binned)}
    lines: Rows = [
        {"x": row["second"], "series": word, "y": rounded(row[name])}
        for row in binned
        for word, name in kept.items()
        if row[name] is not None
    ]
    drawn = Lines(
        lines, SECONDS, "operations per second", list(kept), list(columns), events=rules, shades=shades
    )
    note = "Operations due, done and failed, and reads that came back wrong, in each second. " + NOTE
    return Chart(
        "timeline-throughput", "Throughput around the actions", note, GROUP, lambda: line_chart(drawn)
    )


def _states(trial: TrialReport, acted: Acted, seconds: float, shades: Rows) -> Chart:
    there = [*dict.fromkeys([*node_names(trial.manifest), *nodes(trial.system)])]
    masters, rest = master_names(trial.manifest), MEMBER if is_given(trial.manifest) else SERVES
    rows: Rows = [
        {"node": clean(s.node), "x": rounded_s(s.first_s), "x2": rounded_s(s.end_s), "state": clean(s.state)}
        for s in lanes(acted, [n for n in there if n not in masters], seconds, rest)
    ]
    note = "What each node was, by the actions and their milestones."
    return Chart("timeline-nodes", "Nodes", note, GROUP, lambda: lane_chart(rows, SECONDS, shades))


def _cpu(trial: TrialReport, origin: float, seconds: float, shades: Rows, rules: Rows) -> Chart | None:
    rows: Rows = []
    for node in nodes(trial.system):
        at, used = rates(*samples(trial.system, node, CPU))
        inside = (at >= origin) & (at <= origin + seconds)
        every = bin_seconds(int(inside.sum()))
        whole = int(inside.sum()) // every * every
        ends, mean = (
            at[inside][:whole][every - 1 :: every],
            used[inside][:whole].reshape(-1, every).mean(axis=1),
        )
        rows += [
            {"x": rounded_s(t - origin), "series": clean(node), "y": rounded(v)}
            for t, v in zip(ends, mean, strict=True)
        ]
    order = list(dict.fromkeys(row["series"] for row in rows))
    if not order:
        return None
    drawn = Lines(rows, SECONDS, "cores", order, events=rules, shades=shades)
    return Chart("timeline-cpu", "CPU of the nodes", NOTE, GROUP, lambda: line_chart(drawn))
