"""Tables as words, made once from the model; text, Markdown and HTML only lay them out."""

from __future__ import annotations

from steelyard.report.model import PhaseReport
from steelyard.report.tables.base import Table
from steelyard.report.tables.nodes import balance, engines, inside, resources
from steelyard.report.tables.operations import latency, outcomes, verification
from steelyard.report.tables.overview import audits, deviations, effect, phases, search, trials

__all__ = ["Table", "audits", "deviations", "effect", "for_phase", "phases", "search", "trials"]


def for_phase(report: PhaseReport) -> list[Table]:
    """Everything about one phase."""
    found = [latency(report.phase), outcomes(report.phase), verification(report.phase), resources(report),
             balance(report), inside(report), engines(report)]  # fmt: skip
    return [t for t in found if t is not None]
