"""What a report wrote down of a study's claims (claims.json, report.json), read again without its trials."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.analysis.claims import Verdict
from steelyard.analysis.stats.runs import Interval
from steelyard.errors import InputError
from steelyard.report.machine import FORMAT
from steelyard.report.study.answers import Answer, asked_of
from steelyard.spec.asked import Asked
from steelyard.spec.checks import Claim


@dataclass(frozen=True)
class Kept:
    """A study's claims as a report judged them.

    Attributes:
        name: of the study, as a run has it.
        created: when the run began.
        partial: some of its trials were missing then.
    """

    name: str
    asked: Asked
    answers: tuple[Answer, ...]
    created: str
    partial: bool


def read_claims(path: Path) -> Kept:
    """What the file says.

    Raises:
        InputError: it is no such report, or of another version of its format.
    """
    told = _read(path)
    try:
        asked = asked_of(told["study"], str(path))
        known = {claim.id: claim for claim in (*asked.claims, *asked.checks)}
        found = tuple(_answers(known, [*told["claims"], *told["checks"]]))
        return Kept(str(told["study"]["name"]), asked, found, str(told["created"]), bool(told["partial"]))
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: it is no report of a study with claims, or of an earlier release: {error} is missing",
            hint="`steelyard report RUN --format claims` writes it anew",
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise InputError(
            f"{path}: it is no report of format {FORMAT}",
            hint="give a run's folder, or what `steelyard report RUN --format claims` wrote",
        )
    return told


def _answers(known: Mapping[str, Claim], told: Sequence[Mapping[str, Any]]) -> list[Answer]:
    return [
        Answer(
            known[one["id"]],
            Verdict(
                one["id"],
                one["direction"],
                one["size"],
                one["words"],
                _interval(one["estimate"]),
                metric=one["estimate_metric"],
            ),
        )
        for one in told
    ]


def _interval(told: Mapping[str, Any] | None) -> Interval | None:
    """JSON has no word for an end that is not bounded: it is null."""
    if told is None:
        return None
    unbounded = {"estimate": math.nan, "low": -math.inf, "high": math.inf}
    estimate, low, high = (end if told[name] is None else told[name] for name, end in unbounded.items())
    return Interval(estimate, low, high, told["count"], told["given"])
