"""Whether what papers say is answered: what entries name exists, and nothing that studies ask is left."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from steelyard.errors import InputError, nearest
from steelyard.spec.asked import Asked
from steelyard.spec.checks import Claim, Ratio, Speedup, Trend, Value
from steelyard.spec.papers import Entry, Paper, Question
from steelyard.spec.printed import Printed
from steelyard.spec.shipped import shipped
from steelyard.spec.sides import upwards
from steelyard.spec.workloads import parse_toml, read_text

Studies = Mapping[str, Asked]
Papers = Mapping[str, Paper]
Questions = Mapping[str, Question]


def asked_of_shipped() -> dict[str, Asked]:
    """Name -> what each shipped study asks in full; its settings are not looked at."""
    return {name: _asked(path) for name, path in shipped().items()}


def _asked(path: Path) -> Asked:
    values, _ = parse_toml(path, read_text(path))
    try:
        return Asked.model_validate({name: values[name] for name in Asked.model_fields if name in values})
    except ValidationError as error:
        raise InputError(f"{path}: {error}") from None


def not_shipped(papers: Papers, studies: Studies) -> set[str]:
    """Studies that papers' entries name and that do not come with Steelyard."""
    named = {study for paper in papers.values() for _, entry in paper.entries for study in entry.studies}
    return named - {*studies}


def faults(papers: Papers, questions: Questions, studies: Studies) -> list[str]:
    """What does not match, a line each; studies that are not shipped are `not_shipped`'s to tell."""
    found = []
    for name, paper in papers.items():
        for place, entry in paper.entries:
            told = (*_references(entry, studies), *_answer(entry, questions, studies))
            found += [f"{name}, {place}: {fault}" for fault in told]
        ours = {f"{name}/{one}" for one in paper.ours}
        all_left = [*unnamed(name, paper, studies)]
        left = (one for one in all_left if one not in ours)
        found += [f"{name}: no entry names {one}" for one in left]
        found += [f"{name}: {one} is not left over for [ours]" for one in sorted(ours - {*all_left})]
    return [*found, *_asked_once(papers, questions)]


def _references(entry: Entry, studies: Studies) -> Iterator[str]:
    """Names of figures and claims that their studies do not have."""
    for study, ids in entry.figures.items():
        if study in studies:
            yield from _unknown("figure", study, ids, {plot.id for plot in studies[study].figures})
    for study, ids in entry.claims.items():
        if study in studies:
            yield from _unknown("claim", study, ids, {*_claims(studies[study])})


def _claims(asked: Asked) -> dict[str, Claim]:
    """The paper's and ours: a check of ours may judge what a paper only implies."""
    return {claim.id: claim for claim in (*asked.checks, *asked.claims)}


def _unknown(what: str, study: str, ids: tuple[str, ...], known: set[str]) -> Iterator[str]:
    for one in ids:
        if one not in known:
            yield f"{study} has no {what} '{one}'{nearest(one, known)}"


def _answer(entry: Entry, questions: Questions, studies: Studies) -> Iterator[str]:
    """What is wrong with how an entry answers a question."""
    if not entry.question:
        return
    if entry.question not in questions:
        yield f"no question '{entry.question}'{nearest(entry.question, questions)}"
        return
    question = questions[entry.question]
    side, printed = question.side(entry), question.side(entry.model_copy(update={"side": ""}))
    if side not in question.sides:
        yield f"answers '{side}'{nearest(side, question.sides)}; the sides are {', '.join(question.sides)}"
    if entry.figure and printed not in ("", side):
        yield f"answers {side}, and its figure {entry.figure.words} lies on the side of {printed}"
    yield from _figures(entry, studies)
    yield from (f"{one} has no bounds, so that it decides nothing" for one in _undecided(entry, studies))


def _undecided(entry: Entry, studies: Studies) -> Iterator[str]:
    """Claims whose direction is never decided: of a value, without a bound."""
    for study, ids in entry.claims.items():
        known = _claims(studies[study]) if study in studies else {}
        for claim in (known[one] for one in ids if one in known):
            if isinstance(claim.check, Value) and claim.check.below is None and claim.check.above is None:
                yield f"{study}: {claim.id}"


def _figures(entry: Entry, studies: Studies) -> Iterator[str]:
    """Claims that print another figure than the entry does, or deny it; it may be the ratio turned over."""
    if entry.figure is None:
        return
    for study, ids in entry.claims.items():
        known = _claims(studies[study]) if study in studies else {}
        for claim in (known[one] for one in ids if one in known):
            if fault := _figure(entry.figure, entry.by, claim, f"{study}: {claim.id}"):
                yield f"prints {entry.figure.words}, {fault}"


def _figure(figure: Printed, by: str, claim: Claim, name: str) -> str:
    """What speaks against a source's figure as one of a claim: that of the source, or else of any; and that
    the claim says the opposite, so that what bears it out would deny the figure."""
    own = claim.sources.get(by)
    printed = [own] if own else [*claim.sources.values()]
    ours = (figure.band, _turned(figure.band))
    alike = [one for one in printed if any(_same(one.band, band) for band in ours)]
    if printed and not alike:
        return f"and {name} has {own.words} of {by or 'the paper'}" if own else f"and {name} does not"
    up = _claimed(claim)
    if up is not None and alike and all(upwards(one) is (not up) for one in alike):
        return f"on the other side of 1 than {name} claims"
    return ""


def _claimed(claim: Claim) -> bool | None:
    """Whether a claim's ratio is claimed to lie above 1; None where it says nothing of that."""
    check = claim.check
    if isinstance(check, Ratio):
        return check.upwards
    if isinstance(check, (Trend, Speedup)):
        return check.direction in ("up", "above")
    return None


Band = tuple[float, float]


def _turned(band: Band) -> Band:
    low, high = band
    return 1 / high, 1 / low if low else math.inf


def _same(one: Band, other: Band) -> bool:
    """To the digits in which figures are printed."""
    return all(math.isclose(a, b, rel_tol=0.01) for a, b in zip(one, other, strict=True))


def unnamed(name: str, paper: Paper, studies: Studies) -> Iterator[str]:
    """Claims, checks with a source, and figures of the paper's studies, those in its folder, that no entry of
    it names."""
    entries = [entry for _, entry in paper.entries]
    shown = {(study, one) for entry in entries for study, ids in entry.figures.items() for one in ids}
    judged = {(study, one) for entry in entries for study, ids in entry.claims.items() for one in ids}
    for study, asked in studies.items():
        if study.startswith(f"{name}/"):
            stated = (*asked.claims, *(check for check in asked.checks if check.source))
            yield from (f"{study}: {claim.id}" for claim in stated if (study, claim.id) not in judged)
            drawn = [plot.id for plot in asked.figures]
            yield from (f"{study}: figure {one}" for one in drawn if (study, one) not in shown)


def _asked_once(papers: Papers, questions: Questions) -> Iterator[str]:
    """Questions that fewer than two papers, or those whom they quote, answer."""
    answered = [entry.question for paper in papers.values() for _, entry in paper.entries]
    counts = {name: answered.count(name) for name in questions}
    yield from (f"question {name}: {count} of 2 answers" for name, count in counts.items() if count < 2)
