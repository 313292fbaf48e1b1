"""`--fail-on-claims`: an exit code from the claims of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import GateError, InputError

if TYPE_CHECKING:
    from steelyard.report.study.answers import Answer


def require_claims(run: Path) -> None:
    """End with 1 unless every claim of a result is confirmed; one that cannot be judged is not.

    Raises:
        GateError: naming the claims. InputError: the result has none.
    """
    from steelyard.report.model import build
    from steelyard.report.study.answers import answers

    found = answers(build(run))
    if found is None or not found.claims:
        raise InputError(f"--fail-on-claims: {run} is no run of a study with claims")
    if found.failed:
        raise GateError("claims not confirmed: " + "; ".join(_said(answer) for answer in found.failed))


def _said(answer: Answer) -> str:
    """`C1 refuted`, or what is wrong with its size."""
    verdict = answer.verdict
    if verdict.direction != "confirmed":
        return f"{verdict.id} {verdict.direction}"
    return f"{verdict.id} size {verdict.size}"
