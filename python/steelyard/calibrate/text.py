"""The certificate for people: a table of errors, then lateness, cost, and how fast the client can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from steelyard.analysis.warnings.host import STEAL
from steelyard.calibrate.truth import PERCENTILES

LATE_ALLOWED_US = {"p50": 50.0, "p99": 500.0}
"""What a start may be late beside a busy server at 10,000 operations/s."""


def show(certificate: Mapping[str, Any], console: Console) -> None:
    """Print it."""
    host = certificate["host"]
    allowed = certificate["allowed"]
    console.print(
        f"Calibration of the {certificate['driver']} driver on {host.get('hostname')}, "
        f"{host.get('cpu_model')}, {host.get('cores')} cores, kernel {host.get('kernel')}; "
        f"{certificate['created']}, {certificate['status']}",
        soft_wrap=True,
    )
    if cells := certificate["cells"]:
        console.print(_errors(cells) if any(c["errors"] for c in cells) else _lateness(cells))
    if coarse := certificate["coarse_pacing"]:
        console.print(_merged(coarse))
    for line in _conclusions(certificate, allowed):
        console.print(line, soft_wrap=True)


def _errors(cells: Iterable[Mapping[str, Any]]) -> Table:
    head = ["law, loop", *(f"{p}: true, off" for p in PERCENTILES), "late p50/p99", "CPU/op", "MiB", ""]
    table = Table(*head, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for cell in cells:
        late = cell["late_us"]
        table.add_row(
            cell["cell"],
            *(_error(cell["errors"].get(name)) for name in PERCENTILES),
            f"{us(late['p50'])}/{us(late['p99'])}" if late else "",
            f"{cell['cpu_us']:.1f} us",
            f"{cell['rss_mib']:.0f}",
            _word(cell),
        )
    return table


def _word(cell: Mapping[str, Any]) -> str:
    stolen = f"steal {cell['steal_share']:.1%}" if cell["disturbed"] else ""
    return ", ".join(filter(None, ("" if cell["within"] else "off", stolen)))


def _error(error: Mapping[str, Any] | None) -> str:
    if error is None:
        return "-"
    return f"{us(error['truth'])}, {error['error_us']:+,.0f} us{'' if error['within'] else ' !'}"


def _lateness(cells: Iterable[Mapping[str, Any]]) -> Table:
    table = Table("loop", "late p50", "late p99", "late p99.9", "CPU/op", "MiB", box=box.SIMPLE_HEAD)
    for cell in cells:
        late = [us(cell["late_us"].get(name)) for name in ("p50", "p99", "p99.9")]
        table.add_row(cell["cell"], *late, f"{cell['cpu_us']:.2f} us", f"{cell['rss_mib']:.0f}")
    return table


def _merged(cells: Iterable[Mapping[str, Any]]) -> Table:
    """What the stamp that merged answers share makes of response times."""
    head = ["pacing of 'open Poisson'", "answers merged", "mean: off", "p50: true, off", "p99: true, off"]
    table = Table(*head, "CPU/op", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for cell in cells:
        merged, mean = cell["merged_share"], cell["mean_error_us"]
        table.add_row(
            cell["cell"].replace(", open Poisson", ""),
            "-" if merged is None else f"{merged:.1%}",
            "-" if mean is None else f"{mean:+,.0f} us",
            *(_error(cell["errors"].get(name)) for name in ("p50", "p99")),
            f"{cell['cpu_us']:.1f} us",
        )
    return table


def us(value: float | None) -> str:
    """A time in us, or in ms from 10 ms on."""
    if value is None:
        return "-"
    return f"{value:,.0f} us" if value < 10_000 else f"{value / 1e3:,.1f} ms"


def _conclusions(certificate: Mapping[str, Any], allowed: Mapping[str, float]) -> Iterable[str]:
    cells = certificate["cells"]
    judged = [c for c in cells if c["errors"]]
    if judged:
        right = sum(c["within"] for c in judged)
        tolerance = f"{allowed['relative'] * 100:g} % + {allowed['absolute_us']:.0f} us"
        yield f"Percentiles within {tolerance} of the truth: {right} of {len(judged)} cells{_calm(judged)}"
        yield from _models(judged)
    for cell in certificate["busy_server"]:
        late = cell["late_us"]
        if late:
            words = [f"{p} {us(late[p])} (allowed {us(most)})" for p, most in LATE_ALLOWED_US.items()]
            yield f"Late beside a busy server at {cell['rate_per_s']:,.0f}/s: {', '.join(words)}"
    rates = certificate["rates"]
    missed = rates["missed_rate_per_s"]
    end = f"; at {missed:,.0f}/s {rates['missed_because']}" if missed else ""
    if rates["highest_rate_per_s"]:
        yield f"Highest rate without being late: {rates['highest_rate_per_s']:,.0f}/s{end}"
    elif missed:
        yield f"No rate was kept without being late{end}"
    elif rates["tried"]:
        yield "The host stole too much of the CPU to say which rates the client keeps"


def _calm(judged: Sequence[Mapping[str, Any]]) -> str:
    calm = [c for c in judged if not c["disturbed"]]
    if len(calm) == len(judged):
        return ""
    right = sum(c["within"] for c in calm)
    return f"; {right} of the {len(calm)} with steal of at most {STEAL:.0%}"


def _models(judged: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    small = [c for c in judged if c["loop"] == "target, small cap"]
    if small:
        right = sum(c["follows_model"] for c in small)
        more = [c["errors"]["p50"]["reported"] - c["errors"]["p50"]["model"] for c in small]
        yield (
            f"Small caps as the simulated queue has it, within the same: {right} of {len(small)} cells;"
            f" it counts no way and no wake-up, which take {min(more):.0f} to {max(more):.0f} us at p50 here"
        )
