"""What a study was asked, answered from its trials: claims with verdicts and reasons, the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import ValidationError

from steelyard.analysis.claims import Verdict, judge
from steelyard.analysis.claims.why import bear_out
from steelyard.analysis.evidence import Trials
from steelyard.errors import InputError
from steelyard.report.figures import histograms_of, trial_frame
from steelyard.report.model import ReportModel
from steelyard.report.study.looks import looks_of, looks_table
from steelyard.report.study.plots import Drawn, draw
from steelyard.report.tables.base import Table
from steelyard.results.frames import Results
from steelyard.results.in_effect import part
from steelyard.spec.asked import Asked
from steelyard.spec.checks import Claim, Equality, Ratio, Why


@dataclass(frozen=True)
class Answer:
    """One claim, what became of it, and what became of the paper's reasons for it."""

    claim: Claim
    verdict: Verdict
    why: tuple[tuple[Why, Verdict], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether direction and, where one is claimed, size are confirmed; what cannot be judged does not."""
        return self.verdict.direction == "confirmed" and self.verdict.size in ("confirmed", "not claimed")


@dataclass(frozen=True)
class Answers:
    """All answers of a study.

    Attributes:
        asked: what its file asks.
        claims: in the order of the file.
        figures: the paper's, drawn from our trials.
        trials: one row a trial, from which all of this was made.
        design: how its trials are laid out (run.json).
        looks: those that were taken, and what was added after each; None when its plan was kept.
    """

    asked: Asked
    claims: tuple[Answer, ...]
    figures: tuple[Drawn, ...]
    trials: pl.DataFrame
    design: Mapping[str, Any]
    looks: Table | None = None

    @property
    def failed(self) -> tuple[Answer, ...]:
        """Claims that do not hold, or that could not be judged."""
        return tuple(answer for answer in self.claims if not answer.holds)

    def claims_frame(self) -> pl.DataFrame:
        """One row a claim: `claim`, `statement`, `direction`, `size`, `holds`, `found`, `low`, `high` (what
        was found, with its interval), `paper`, `words`."""
        return pl.DataFrame([_row(answer) for answer in self.claims], schema=ROW, orient="row")


ROW = {
    "claim": pl.String, "statement": pl.String, "direction": pl.String, "size": pl.String,
    "holds": pl.Boolean, "found": pl.Float64, "low": pl.Float64, "high": pl.Float64, "paper": pl.Float64,
    "words": pl.String,
}  # fmt: skip


def _row(answer: Answer) -> tuple[Any, ...]:
    verdict = answer.verdict
    estimate = verdict.estimate
    figures = (estimate.estimate, estimate.low, estimate.high) if estimate else (None,) * 3
    said = (verdict.id, answer.claim.statement, verdict.direction, verdict.size, answer.holds)
    return (*said, *figures, verdict.paper, verdict.words)


def asked_of(study: Mapping[str, Any]) -> Asked:
    """What a resolved study asks; nothing for a study that has no claims or figures."""
    try:
        return Asked.model_validate({name: study[name] for name in Asked.model_fields if name in study})
    except ValidationError as error:
        raise InputError(f"run.json: its claims cannot be read by this Steelyard: {error}") from None


def answers(model: ReportModel) -> Answers | None:
    """The answers of a study; None when nothing was asked of it.

    Raises:
        InputError: its claims are of another version of Steelyard.
    """
    asked = asked_of(model.study)
    if asked == Asked(form=asked.form):
        return None
    info = Results(model.path).info
    factors = list(info.get("factors") or ())
    measured = trial_frame(model.path, model).sort("point", "repetition")
    frame = _with_all(measured, set(_metrics(asked)), factors)
    small = asked.form == "small"
    merged = histograms_of(model)
    verdicts = judge(asked.claims, frame, factors, small=small, histograms=merged, looks=looks_of(info))
    return Answers(
        asked,
        tuple(
            Answer(
                claim, verdict, tuple(zip(claim.why, bear_out(claim, frame, factors, merged), strict=True))
            )
            for claim, verdict in zip(asked.claims, verdicts, strict=True)
        ),
        tuple(drawn for plot in asked.figures for drawn in draw(plot, Trials(frame, tuple(factors), merged))),
        frame,
        part(info, "design"),
        looks_table(info),
    )


def _metrics(asked: Asked) -> Iterator[str]:
    for claim in asked.claims:
        yield claim.metric
        yield from (why.metric for why in claim.why)
        if isinstance(claim.check, (Ratio, Equality)):
            sides = (claim.check.numerator, claim.check.denominator)
            yield from (side.metric for side in sides if side.metric)
    for plot in asked.figures:
        yield from plot.y


def _with_all(frame: pl.DataFrame, metrics: set[str], factors: Sequence[str]) -> pl.DataFrame:
    """A metric that no trial came to measure is a column without values: then a claim is inconclusive."""
    missing = sorted(metrics - {*frame.columns, *factors})
    return frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in missing)
