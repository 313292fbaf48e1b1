"""What a report wrote down of a study's claims (claims.json, report.json), read again without its trials."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from steelyard.analysis.claims import Verdict
from steelyard.analysis.claims.verdict import Answer as Word
from steelyard.analysis.stats.runs import Interval
from steelyard.errors import InputError
from steelyard.report.machine import FORMAT
from steelyard.report.study.answers import Answer, asked_of
from steelyard.spec.asked import Asked

HINT = "give a run's folder, or what `steelyard report RUN --format claims` wrote of it"


@dataclass(frozen=True)
class Kept:
    """A study's claims as a report judged them.

    Attributes:
        name: of the study, as a run has it.
        created: when the run began.
        partial: some of its trials were missing then.
        study: its values, as the run has them.
    """

    name: str
    asked: Asked
    answers: tuple[Answer, ...]
    created: str
    partial: bool
    study: Mapping[str, Any]


class _Estimate(BaseModel):
    """JSON has no word for an end that is not bounded: it is null."""

    estimate: float | None
    low: float | None
    high: float | None
    count: int
    given: str

    def interval(self) -> Interval:
        ends = zip((self.estimate, self.low, self.high), (math.nan, -math.inf, math.inf), strict=True)
        estimate, low, high = (unbounded if end is None else end for end, unbounded in ends)
        return Interval(estimate, low, high, self.count, self.given)


class _Judged(BaseModel):
    id: str
    direction: Word
    size: Word
    words: str
    estimate: _Estimate | None
    estimate_metric: str
    cells: tuple[float, float] | None = None

    def verdict(self) -> Verdict:
        estimate = self.estimate.interval() if self.estimate else None
        return Verdict(
            self.id, self.direction, self.size, self.words, estimate,
            metric=self.estimate_metric, cells=self.cells,
        )  # fmt: skip


class _Report(BaseModel):
    study: dict[str, Any]
    claims: list[_Judged]
    checks: list[_Judged]
    created: str
    partial: bool


def read_claims(path: Path) -> Kept:
    """What the file says.

    Raises:
        InputError: it is no such report, or of another version of its format.
    """
    told = _read(path)
    asked = asked_of(told.study, str(path))
    known = {claim.id: claim for claim in (*asked.claims, *asked.checks)}
    judged = [*told.claims, *told.checks]
    if unknown := [one.id for one in judged if one.id not in known]:
        raise InputError(f"{path}: its study has no claim '{unknown[0]}'", hint=HINT)
    found = tuple(Answer(known[one.id], one.verdict()) for one in judged)
    return Kept(str(told.study.get("name", "")), asked, found, told.created, told.partial, told.study)


def _read(path: Path) -> _Report:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise InputError(f"{path}: it is no report of format {FORMAT}", hint=HINT)
    try:
        return _Report.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {where}: {first['msg']}: no claims of this release", hint=HINT) from None
