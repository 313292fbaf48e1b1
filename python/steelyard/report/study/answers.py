"""What a study was asked, answered from its trials: claims with verdicts and reasons, the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import ValidationError

from steelyard.analysis.claims import Verdict, judge
from steelyard.analysis.claims.looks import Looks
from steelyard.analysis.claims.verdict import SIZE
from steelyard.analysis.claims.why import bear_out
from steelyard.analysis.evidence import Trials
from steelyard.errors import InputError
from steelyard.report.figures import histograms_of, levels_of, seconds_of, series_of, trial_frame
from steelyard.report.formatting import NONE, clean, digits
from steelyard.report.model import ReportModel
from steelyard.report.study.amounts import NS_PER, of_cells, told
from steelyard.report.study.looks import looks_of, looks_table
from steelyard.report.study.phases import phases_of
from steelyard.report.study.plots import Drawn, draw
from steelyard.report.study.ratios import ratios_table
from steelyard.report.tables.base import Table
from steelyard.results.frames import Results
from steelyard.results.in_effect import part
from steelyard.spec.asked import Asked
from steelyard.spec.checks import Claim, Ratio, Sided, Why


@dataclass(frozen=True)
class Answer:
    """One claim, what became of it, and what became of the paper's reasons for it."""

    claim: Claim
    verdict: Verdict
    why: tuple[tuple[Why, Verdict], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether what is claimed of direction and size is confirmed; what cannot be judged does not."""
        return {self.verdict.direction, self.verdict.size} <= {"confirmed", "not claimed"}

    @property
    def found(self) -> str:
        """What was found in the unit in which it is claimed, or a dash; of a mean of unlike cells with the
        least and the greatest of them."""
        unit, verdict = self.claim.unit, self.verdict
        if verdict.estimate is None:
            return NONE
        found = told(verdict.estimate, verdict.metric, unit if unit in NS_PER else "ms")
        return found + of_cells(verdict.cells)

    @property
    def printed(self) -> str:
        """What the paper prints: a plain value in our digits, anything else in its own."""
        paper = self.claim.printed
        if paper is None:
            return NONE
        plain = paper.low == paper.high and not paper.unit and not paper.label
        return digits(paper.low) if plain else clean(paper.words)

    @property
    def band(self) -> tuple[float, float] | None:
        """Sizes that agree with the paper's figure, in the unit of the verdict's; None where none is
        claimed."""
        paper = self.claim.printed
        if paper is None or self.verdict.size == "not claimed":
            return None
        low, high = self.claim.in_metric(paper).band
        return low / SIZE, high * SIZE


@dataclass(frozen=True)
class Answers:
    """All answers of a study.

    Attributes:
        asked: what its file asks.
        claims: the paper's, in the order of the file.
        checks: ours, in that order.
        figures: the paper's, drawn from our trials.
        trials: one row a trial, from which all of this was made.
        design: how its trials are laid out (run.json).
        looks: those that were taken, and what was added after each; None when its plan was kept.
        ratios: the proportions of this form beside the paper's.
    """

    asked: Asked
    claims: tuple[Answer, ...]
    figures: tuple[Drawn, ...]
    trials: pl.DataFrame
    design: Mapping[str, Any]
    checks: tuple[Answer, ...] = ()
    looks: Table | None = None
    ratios: Table | None = None

    @property
    def failed(self) -> tuple[Answer, ...]:
        """Claims that do not hold, or that could not be judged."""
        return tuple(answer for answer in self.claims if not answer.holds)

    def claims_frame(self) -> pl.DataFrame:
        """One row a claim, then one a check of ours: `claim`, `statement`, `direction`, `size`, `holds`,
        `found`, `low`, `high` (what was found, with its interval), `paper`, `words`, `ours`, `same_as` (the
        claim with which it is one finding)."""
        rows = [(*_row(answer), False, answer.verdict.same_as) for answer in self.claims]
        rows += [(*_row(answer), True, answer.verdict.same_as) for answer in self.checks]
        return pl.DataFrame(rows, schema=ROW, orient="row")


ROW = {
    "claim": pl.String, "statement": pl.String, "direction": pl.String, "size": pl.String,
    "holds": pl.Boolean, "found": pl.Float64, "low": pl.Float64, "high": pl.Float64, "paper": pl.Float64,
    "words": pl.String, "ours": pl.Boolean, "same_as": pl.String,
}  # fmt: skip


def _row(answer: Answer) -> tuple[Any, ...]:
    verdict = answer.verdict
    estimate = verdict.estimate
    figures = (estimate.estimate, estimate.low, estimate.high) if estimate else (None,) * 3
    said = (verdict.id, answer.claim.statement, verdict.direction, verdict.size, answer.holds)
    return (*said, *figures, verdict.paper, verdict.words)


def asked_of(study: Mapping[str, Any], where: str = "run.json") -> Asked:
    """What a resolved study, of this file, asks; nothing for one that has no claims or figures."""
    try:
        return Asked.model_validate({name: study[name] for name in Asked.model_fields if name in study})
    except ValidationError as error:
        raise InputError(f"{where}: its claims cannot be read by this Steelyard: {error}") from None


def answers(model: ReportModel) -> Answers | None:
    """The answers of a study; None when nothing was asked of it.

    Raises:
        InputError: its claims are of another version of Steelyard.
    """
    asked = asked_of(model.study)
    if asked == Asked(form=asked.form):
        return None
    info = Results(model.path).info
    factors = tuple(info.get("factors") or ())
    measured = trial_frame(model.path, model).sort("point", "repetition")
    frame = _with_all(measured, set(_metrics(asked)), factors)
    trials = Trials(frame, factors, histograms_of(model), series_of(model), levels_of(model))
    small = asked.form == "small"
    looks = looks_of(info)
    return Answers(
        asked=asked,
        claims=_judged(asked.claims, trials, small, looks),
        figures=tuple(d for p in asked.figures for d in draw(p, trials, seconds_of(model), phases_of(model))),
        trials=trials.frame,
        design=part(info, "design"),
        checks=_judged(asked.checks, trials, small, looks),
        ratios=ratios_table(asked.ratios, model, trials),
        looks=looks_table(info),
    )


def _judged(claims: Sequence[Claim], trials: Trials, small: bool, looks: Looks) -> tuple[Answer, ...]:
    """One family of claims, each with its reasons."""
    frame, factors = trials.frame, trials.factors
    known: dict[str, Any] = {"small": small, "looks": looks}
    known |= {"histograms": trials.histograms, "series": trials.series}
    verdicts = judge(claims, frame, factors, seconds=trials.seconds, **known)
    return tuple(
        Answer(claim, verdict, tuple(zip(claim.why, bear_out(claim, frame, factors, **known), strict=True)))
        for claim, verdict in zip(claims, verdicts, strict=True)
    )


def _metrics(asked: Asked) -> Iterator[str]:
    for claim in (*asked.claims, *asked.checks):
        yield claim.metric
        yield from (why.metric for why in claim.why if why.metric)
        if isinstance(claim.check, Sided):
            sides = (claim.check.numerator, claim.check.denominator)
            yield from (side.metric for side in sides if side.metric)
        if isinstance(claim.check, Ratio):
            yield claim.check.throughput
    for plot in asked.figures:
        yield from plot.y


def _with_all(frame: pl.DataFrame, metrics: set[str], factors: Sequence[str]) -> pl.DataFrame:
    """A metric that no trial came to measure is a column without values: then a claim is inconclusive."""
    missing = sorted(metrics - {*frame.columns, *factors})
    return frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in missing)
