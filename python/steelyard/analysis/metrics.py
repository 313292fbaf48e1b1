"""The figures of a trial by name: their columns (`results.frames`), their words, and which way is better."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steelyard.analysis.stats.verdicts import Better
from steelyard.errors import InputError, nearest
from steelyard.spec.metrics import LOAD, WINDOWS

FIGURES = {"mean": None, "min": None, "p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": None}
"""Figure of a latency -> its quantile."""
_LATENCY = re.compile(rf"(?P<op>.+)_(?P<clock>response|service|all)_(?P<figure>{'|'.join(FIGURES)})_ns")


@dataclass(frozen=True)
class Metric:
    """One figure of a trial.

    Attributes:
        column: its name in a frame of trials.
        words: its name for people; a gate may say either.
        better: which way it is better.
        unit: `/s`, `ns`, `us`, `s`, `share`, or none of a count.
        quantile: of a percentile, as a share; None for everything else.
        tag: of the histogram a percentile comes from, such as `READ.service`.
    """

    column: str
    words: str
    better: Better
    unit: str
    quantile: float | None = None
    tag: str = ""


PLAIN = (
    Metric("ok_per_s", "throughput", "higher", "/s"),
    Metric("steady_per_s", "steady throughput", "higher", "/s"),
    Metric("run_per_s", "run throughput", "higher", "/s"),
    Metric("client_cpu_us", "client CPU", "lower", "us"),
    Metric("server_cpu_us", "server CPU", "lower", "us"),
    Metric("ok_share", "success share", "higher", "share"),
    Metric("scaling_s", "scaling time", "lower", "s"),
    Metric("join_s", "joining time", "lower", "s"),
    Metric("recovered_s", "time to recovered throughput", "lower", "s"),
    Metric("steady_again_s", "time to steady again", "lower", "s"),
    Metric("stabilise_s", "time to stabilise", "lower", "s"),
    Metric("excess_s", "excess response time", "lower", "s"),
    Metric("impact_s", "impact", "lower", "s"),
    Metric("impact_share", "impact share", "lower", "share"),
    Metric("worst_window_p99_ns", "worst p99", "lower", "ns"),
    Metric("window_spread", "spread of p99", "lower", ""),
    Metric("outside_bound_s", "time outside the bound", "lower", "s"),
    Metric("lost_operations", "lost operations", "lower", ""),
    Metric("moved_over_least", "moved over least", "lower", ""),
    Metric("capacity_gain", "gain in capacity", "higher", ""),
    *(Metric(f"total_{w}_p99_ns", f"p99 {w}", "lower", "ns") for w in WINDOWS),
    *(Metric(f"{w}_ok_per_s", f"throughput {w}", "higher", "/s") for w in WINDOWS),
)
SYNONYMS = {"failures": "success share", "client cpu per op": "client CPU", "server cpu per op": "server CPU"}
"""Other words; failures are compared as the share of successes, which has a logarithm when nothing failed."""

USUAL = (
    "throughput",
    *(f"{clock} {figure}" for clock in ("service", "response") for figure in ("p50", "p99", "p99.9")),
    "client CPU",
    "server CPU",
    "success share",
)
"""Compared when nothing was asked for: percentiles over all operations."""


def metric_of(column: str) -> Metric | None:
    """The metric that a column holds; None when it holds none."""
    for metric in PLAIN:
        if metric.column == column:
            return metric
    if column.startswith(LOAD):  # the load phase's are claimed, not compared
        return None
    match = _LATENCY.fullmatch(column)
    return _latency(match["op"], match["clock"], match["figure"]) if match else None


def _latency(op: str, clock: str, figure: str) -> Metric:
    name = op.upper() if op != "read_modify_write" else "READ-MODIFY-WRITE"
    words = [] if op == "total" else [name]
    words += [{"all": "all-attempts"}.get(clock, clock), "p99.9" if figure == "p999" else figure]
    return Metric(
        f"{op}_{clock}_{figure}_ns", " ".join(words), "lower", "ns", FIGURES[figure], f"{name}.{clock}"
    )


def metrics_in(columns: Iterable[str]) -> list[Metric]:
    """All metrics among columns, in their order."""
    return [metric for column in columns if (metric := metric_of(column))]


def find(name: str, known: Sequence[Metric], flag: str) -> Metric:
    """The metric that a name means: its words in any case, its column, or its words without `response`.

    Raises:
        InputError: none; with the nearest one.
    """
    plain = " ".join(name.split()).lower()
    plain = SYNONYMS.get(plain, plain).lower()
    names: dict[str, Metric] = {}
    for metric in known:
        words = metric.words.lower()
        for said in (words, metric.column, words.replace("response ", ""), words.replace("p99.9", "p999")):
            names.setdefault(said, metric)
    if plain in names:
        return names[plain]
    raise InputError(
        f"{flag}: no metric '{name}' in these results{nearest(plain, names)}",
        hint="there are: " + ", ".join(metric.words for metric in known),
    )


def chosen(names: Sequence[str], known: Sequence[Metric], flag: str = "--metric") -> list[Metric]:
    """The metrics asked for, `all` of them, or the usual ones among those known."""
    if not names:
        return [metric for words in USUAL for metric in known if metric.words == words]
    if list(names) == ["all"]:
        return list(known)
    return list(dict.fromkeys(find(name, known, flag) for name in names))
