"""Charts of one phase: rates over time, latency over time by due second, and the percentile spectrum."""

from __future__ import annotations

import altair as alt
import polars as pl

from steelyard.analysis.distribution import spectrum
from steelyard.analysis.summary import TOTAL, Phase
from steelyard.report.chart import Chart, Rows
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.events import EVENTS_NOTE, events
from steelyard.report.charts.thin import bin_seconds, highest, means, rounded
from steelyard.report.model import TrialReport

SECONDS = "seconds since the phase began"
PERCENTILES = {"p50": "p50", "p99": "p99", "p99.9": "p999"}
SPECTRUM_CLOCKS = {"response": "response", "service": "service", "all attempts": "all"}
DECADES = {1: "0 %", 10: "90 %", 100: "99 %", 1000: "99.9 %", 10000: "99.99 %", 100000: "99.999 %"}
LABELS = "".join(f"datum.value == {n} ? '{told}' : " for n, told in DECADES.items()) + "'99.9999 %'"
"""Vega expression: 1/(1-q) as a percentile."""


def phase_charts(trial: TrialReport, phase: Phase) -> list[Chart]:
    """The charts of a phase, as far as there is data for them."""
    frame = (
        trial.intervals.filter(pl.col("phase") == phase.name) if trial.intervals.height else trial.intervals
    )
    told = _events(trial, phase)
    found = [_rates(frame, phase, told)]
    found += [_latency(frame, phase, op.name, told) for op in phase.operations]
    found += [_spectrum(trial, phase, op.name) for op in phase.operations]
    return [chart for chart in found if chart is not None]


def _events(trial: TrialReport, phase: Phase) -> Rows:
    """What happened while it ran: marks, servers that died; not its own beginning."""
    begun = phase.start_ns / 1e9
    return events(trial, begun, (begun + 1e-3, begun + phase.seconds))


def _key(phase: Phase, *words: str) -> str:
    text = "-".join((phase.name, *words)).lower()
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in text)


def _every(phase: Phase) -> tuple[int, str]:
    every = bin_seconds(int(phase.seconds) + 1)
    return every, "" if every == 1 else f" Each point stands for {every} s"


def _rates(frame: pl.DataFrame, phase: Phase, told: Rows) -> Chart | None:
    every, thinned = _every(phase)
    columns = {"due": "due", "sent": "started", "done": "done", "failed": "failed"}
    if phase.closed:
        del columns["due"], columns["sent"]
    totals = frame.filter(pl.col("op") == TOTAL) if frame.height else frame
    if totals.height < 2:
        return None
    binned = means(totals, list(columns.values()), every)
    rows: Rows = [
        {"x": row["second"], "series": word, "y": rounded(row[name])}
        for row in binned.to_dicts()
        for word, name in columns.items()
        if row[name] is not None
    ]
    note = "Operations per second, each counted in the second it happened." + (
        f"{thinned} (mean)." if thinned else ""
    )
    note += f" {EVENTS_NOTE}" if told else ""
    lines = Lines(rows, SECONDS, "operations per second", list(columns), events=told)
    return Chart(_key(phase, "throughput"), "Throughput", note, phase.name, lambda: line_chart(lines))


def _latency(frame: pl.DataFrame, phase: Phase, op: str, told: Rows) -> Chart | None:
    every, thinned = _every(phase)
    clocks = ["response"] if phase.closed else ["response", "service"]
    rows_of = frame.filter(pl.col("op") == op) if frame.height else frame
    if rows_of.height < 2:
        return None
    names = [f"{clock}_{p}_ns" for clock in clocks for p in PERCENTILES.values()]
    rows: Rows = [
        {"x": row["second"], "series": word, "style": clock, "y": rounded(value / 1e6)}
        for row in highest(rows_of, names, every).to_dicts()
        for clock in clocks
        for word, p in PERCENTILES.items()
        if (value := row[f"{clock}_{p}_ns"])
    ]
    note = "Of the operations due in each second, so that a pause shows where it was felt."
    note += f"{thinned} (the highest of them)." if thinned else ""
    note += f" {EVENTS_NOTE}" if told else ""
    lines = Lines(rows, SECONDS, "milliseconds", list(PERCENTILES), styles=clocks, log=True, events=told)
    return Chart(
        _key(phase, "latency", op), f"{op}: latency over time", note, phase.name, lambda: line_chart(lines)
    )


def _spectrum(trial: TrialReport, phase: Phase, op: str) -> Chart | None:
    rows: Rows = []
    for word, clock in SPECTRUM_CLOCKS.items():
        histogram = trial.histograms[phase.name].get(f"{op}.{clock}")
        if histogram is None or not histogram.get_total_count() or (phase.closed and clock == "service"):
            continue
        quantiles, values = spectrum(histogram)
        for q, value in zip(quantiles, values, strict=True):
            told = f"{q * 100:.6g} %"
            rows.append(
                {"x": rounded(1 / (1 - q)), "series": word, "y": rounded(max(value, 1) / 1e6), "told": told}
            )
    if not rows:
        return None
    order = [word for word in SPECTRUM_CLOCKS if any(r["series"] == word for r in rows)]
    axis = alt.Axis(values=[10.0**n for n in range(7)], labelExpr=LABELS, grid=True)
    x = alt.X("x:Q", title="percentile", scale=alt.Scale(type="log", nice=False), axis=axis)
    lines = Lines(rows, "percentile", "milliseconds", order, log=True, x=x, tooltip={"told": "percentile"})
    note = "From the histogram of the whole phase. Each step to the right is a tenth of the operations."
    return Chart(
        _key(phase, "spectrum", op), f"{op}: percentile spectrum", note, phase.name, lambda: line_chart(lines)
    )
