"""From claims and trials to verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from steelyard.analysis.claims.cases import Case, case
from steelyard.analysis.claims.covered import left_out, uncovered
from steelyard.analysis.claims.looks import ONE_TEST, Looks
from steelyard.analysis.claims.objections import against, few, not_counted, one_start, only_restless
from steelyard.analysis.claims.restless import corners_tell, moved, restless, same_cells, words
from steelyard.analysis.claims.verdict import NOTHING, UNCOVERED, Answer, Finding, Source, Verdict, sign, size
from steelyard.analysis.evidence import Histograms, Seconds, Series, Trials
from steelyard.analysis.evidence.cells import no_histograms, no_seconds, no_series
from steelyard.analysis.stats.runs import FEW
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Ratio, Speedup, Trend
from steelyard.spec.sides import upwards


def judge(
    claims: Iterable[Claim], trials: pl.DataFrame, factors: Sequence[str], *, small: bool = False,
    histograms: Histograms = no_histograms, looks: Looks = ONE_TEST, series: Series = no_series,
    seconds: Seconds = no_seconds,
) -> list[Verdict]:  # fmt: skip
    """A verdict for every claim, all of them being judged as one family.

    Args:
        claims: in the order in which they are to be shown.
        trials: one row per trial (see `analysis.evidence`).
        factors: the columns that are factors of the study.
        small: the small form, which may claim direction only.
        histograms: where percentiles are merged from; without them they go by order statistics of the runs.
        looks: those that were taken at the study, this one the last; none when its plan was kept.
        series: what each trial's steadiness was judged by; without them each trial's own word counts.
        seconds: how far a trial wanders; without them none that came to no steady state decides anything.

    Raises:
        InputError: a claim names a metric, factor or column that the trials do not have.
    """
    found = Trials(trials, tuple(factors), histograms, series, seconds)
    claims = list(claims)
    verdicts = [_one(claim, found, small) for claim in claims]
    return _as_family(verdicts, _originals(claims, verdicts), looks)


def _originals(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[int]:
    """For each claim the place of the first that rests on the same contrast of the same trials."""
    first: dict[Any, int] = {}
    found = []
    for place, (claim, verdict) in enumerate(zip(claims, verdicts, strict=True)):
        contrast = claim.check.model_dump_json(exclude={"direction", "paper", "papers"})
        alike = (contrast, verdict.evidence, verdict.chance)  # one that is not judged takes nobody's place
        found.append(first.setdefault(alike, place) if verdict.evidence else place)
    return found


def _as_family(verdicts: list[Verdict], originals: Sequence[int], looks: Looks) -> list[Verdict]:
    """By Holm's correction, of chances over all looks: what is no more than one of so many claims at one of
    so many looks comes to by chance decides nothing.

    Claims that rest on the same contrast are one member of the family, and say so.
    """
    members = [p for p, of in enumerate(originals) if p == of and verdicts[p].chance is not None]
    chances = [_over_looks(verdicts[p], looks) for p in members]
    for member, chance in zip(members, chances, strict=True):
        verdicts[member] = replace(verdicts[member], alone=verdicts[member].direction, over_looks=chance)
    corrected = dict(zip(members, holm(chances), strict=True))
    for place, of in enumerate(originals):
        one = replace(verdicts[place], same_as=verdicts[of].id if of != place else "")
        p = corrected.get(of)
        if one.direction in ("confirmed", "refuted") and p is not None and p >= LEVEL:
            reason = (
                f"{one.direction} if it stood alone (p = {verdicts[of].chance:.2g}), but "
                f"{_sharers(len(members), looks)} one error rate"
            )
            one = _undecided(one, reason)
        verdicts[place] = one
    return verdicts


def _over_looks(one: Verdict, looks: Looks) -> float:
    """What an earlier look had shown counts for nothing where runs wander: it had not seen how far."""
    return looks.chance(
        one.points, one.chance or 0.0, one.least, "" if one.wanders else one.id, one.direction
    )


def _sharers(claims: int, looks: Looks) -> str:
    """`9 claims share`, `9 claims and all looks share`: what has one error rate together."""
    of_claims = f"{claims} claims" if claims > 1 else ""
    of_looks = "all looks" if looks else ""
    return " and ".join(filter(None, (of_claims, of_looks))) + " share"


def _undecided(one: Verdict, reason: str) -> Verdict:
    """Without a direction, of other sources too: theirs rests on the same test. Sizes go by the plain
    interval, whether it holds 1 or not, and stay."""
    sources = tuple(replace(s, direction=_if_claimed(s.direction, "inconclusive")) for s in one.sources)
    return replace(one, direction="inconclusive", sources=sources, reasons=(*one.reasons, reason))


def _not_covered(one: Verdict, left: str) -> Verdict:
    """Nothing of it is judged, nor of other sources."""
    sources = tuple(
        replace(s, direction=_if_claimed(s.direction, UNCOVERED), size=_if_claimed(s.size, UNCOVERED))
        for s in one.sources
    )
    of_size, reasons = _if_claimed(one.size, UNCOVERED), (left, *one.reasons)
    return replace(one, direction=UNCOVERED, size=of_size, sources=sources, chance=None, reasons=reasons)


def _if_claimed(answer: Answer, instead: Answer) -> Answer:
    """What is not claimed stays so."""
    return answer if answer == "not claimed" else instead


def _one(claim: Claim, trials: Trials, small: bool) -> Verdict:
    try:
        made = case(claim, trials)
    except ValueError as error:
        if small and (
            left := left_out(claim, [*trials.frame.iter_rows(named=True)])
        ):  # the full form has all
            return _not_covered(nothing(claim, small), left)
        return nothing(claim, small, str(error))
    others = one_start(made.beside) + ((f"not measured: {made.missing}",) if made.missing else ())
    reasons = against(made.judged, unsteady=bool(claim.unsteady), names=made.names) + others
    verdict = _verdict(claim, made, reasons, small)
    if reasons and not others and only_restless(made.judged):
        verdict = _restless(claim, trials, made, small) or verdict
    left = uncovered(claim, made.judged) if claim.covers else ""
    return _not_covered(verdict, left) if left else verdict


def _restless(claim: Claim, trials: Trials, made: Case, small: bool) -> Verdict | None:
    """The verdict on runs that did not come to rest, if it does not hang on how far they wander."""
    figures = restless(made.judged)
    at_rest = _verdict(claim, made, (), small)
    if not figures or at_rest.direction not in ("confirmed", "refuted"):
        return None
    try:
        cases = [case(claim, other) for other in moved(trials, figures)]
    except ValueError:  # what is chosen by throughput is gone
        return None
    others = [_verdict(claim, one, (), small) for one in cases]
    if (
        not corners_tell(claim.check, at_rest.direction)
        or not all(same_cells(one.judged, made.judged) for one in cases)
        or any(one.direction != at_rest.direction for one in others)
    ):
        return None
    chances = [one.chance for one in (at_rest, *others) if one.chance is not None]
    alike = all((one.size, one.sources) == (at_rest.size, at_rest.sources) for one in others)
    said = (*at_rest.left_out, words(figures, alike))
    stands = replace(at_rest, chance=max(chances, default=None), left_out=said, wanders=True)
    return stands if alike else _of_no_size(stands)


def _of_no_size(one: Verdict) -> Verdict:
    """Its direction alone is decided, and nothing about other sources."""
    sources = tuple(
        replace(
            s, direction=_if_claimed(s.direction, "inconclusive"), size=_if_claimed(s.size, "inconclusive")
        )
        for s in one.sources
    )
    return replace(one, size=_if_claimed(one.size, "inconclusive"), sources=sources)


def _verdict(claim: Claim, made: Case, reasons: tuple[str, ...], small: bool) -> Verdict:
    """The finding is shown also where it decides nothing, if it can be computed at all.

    Args:
        reasons: what speaks against judging, however many repetitions there are.
    """
    curable = not reasons and all(cell.mostly_counts for cell, _ in made.judged)
    reasons = (*reasons, *few(made.judged))
    return replace(
        _of_finding(claim, made, reasons, small),
        left_out=not_counted(made.judged, made.names),
        points=frozenset[int]().union(*(cell.points for cell, _ in made.judged)),
        lacking=max(cell.lacking(metric) for cell, metric in made.judged),
        least=0 if any(len(cell.points) > 1 for cell, _ in made.judged) else FEW,
        curable=curable,
    )


def _of_finding(claim: Claim, made: Case, reasons: tuple[str, ...], small: bool) -> Verdict:
    try:
        found = made.find()
    except (ValueError, ZeroDivisionError) as error:
        return nothing(claim, small, *reasons, f"cannot be computed: {error}")
    direction = found.direction
    if reasons and direction != "not claimed":
        direction = "inconclusive"
    sizes = [_source(claim, name, found, reasons, small) for name in claim.sources]
    own = next((one.size for one in sizes if not one.name), None)
    return Verdict(
        id=claim.id,
        direction=direction,
        size=own or "not claimed",
        words=found.words,
        estimate=found.estimate,
        paper=claim.paper,
        evidence=found.evidence,
        reasons=reasons,
        chance=found.chance,
        printed=claim.printed.words if claim.printed else "",
        sources=tuple(one for one in sizes if one.name),
        metric=found.metric,
        cells=found.cells,
    )


def _source(claim: Claim, name: str, found: Finding, reasons: Sequence[str], small: bool) -> Source:
    printed = claim.sources[name]
    agrees: Answer = "inconclusive" if reasons else size(found.estimate, claim.in_metric(printed))
    side: Answer = "not claimed"
    if isinstance(claim.check, (Ratio, Speedup, Trend)) and found.estimate:
        up = upwards(printed)
        side = "inconclusive" if reasons or up is None else sign(found.estimate, up)
    return Source(name, printed.words, side, "not claimed" if small else agrees)


def nothing(claim: Claim, small: bool, *reasons: str) -> Verdict:
    """A claim on which nothing was measured."""
    return Verdict(
        id=claim.id,
        direction="inconclusive",
        size="not claimed" if small or claim.printed is None else "inconclusive",
        words=NOTHING,
        paper=claim.paper,
        reasons=reasons,
        printed=claim.printed.words if claim.printed else "",
    )
