"""`steelyard compare`: two results beside each other, with verdicts, and gates for scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.output import Format, Out, put_out, require_format
from steelyard.errors import GateError

if TYPE_CHECKING:
    from steelyard.analysis.compare import GateResult

EXAMPLE = "Example: steelyard compare results/BEFORE results/AFTER --fail-if 'p99 worse than 5%'"


def compare(
    a: Annotated[str, typer.Argument(help="The result to compare with: RUN, or RUN@FACTOR=LEVEL,... of it.")],
    b: Annotated[str, typer.Argument(help="The result that is judged, in the same form.")],
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare this metric, e.g. 'READ service p99'; may be repeated; 'all' for every one."
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help="End with 1 if B is so: METRIC [surely|possibly] worse|better|different than PERCENT."
        ),
    ] = None,
    margin: Annotated[str, typer.Option(help="Differences up to this do not matter.")] = "3%",
    noise: Annotated[
        Path | None, typer.Option(help="Result of A/A trials: the margin is at least what they scatter by.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Compare unlike hosts or plans, too.")] = False,
    format_: Format = "text",
    out: Out = None,
) -> None:
    """Compare two results: ratio, interval and verdict for each metric of each common point."""
    from steelyard.spec.gate import parse_gate, parse_share

    gates = tuple(parse_gate(text) for text in fail_if or ())
    share = parse_share(margin, "--margin")
    require_format(format_)

    from steelyard.report.compare.model import Asked, build_comparison
    from steelyard.report.compare.render import page, render_json

    asked = Asked(tuple(metric or ()), gates, share, str(noise) if noise else None, force)
    model = build_comparison(a, b, asked)
    put_out(page(model), lambda: render_json(model), format_, out, "compare")
    if model.failed:
        raise GateError("gate failed: " + "; ".join(_said(gate) for gate in model.failed))


def _said(result: GateResult) -> str:
    """The gate, where it failed, and why when the figures do not say it."""
    where = f" at {result.row.cell}" if result.row.cell else ""
    return f"'{result.gate.text}'{where}{': ' if result.reason else ''}{result.reason}"
