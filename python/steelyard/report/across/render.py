"""What papers and our results say of one question each, as a page of tables, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from steelyard.report.across.model import NOT_RUN, Across, Asked, Given, Ours, Said
from steelyard.report.formatting import NONE, clean, digits
from steelyard.report.machine import jsonable
from steelyard.report.page import Page
from steelyard.report.tables import Table
from steelyard.spec.printed import Printed

FORMAT = 1
COLUMNS = ("source", "says", "answer", "judged by", "verdict", "paper", "ours")


def page(model: Across) -> Page:
    """A table for each question; below it who contradicts whom, and what ours bears out."""
    subject = [f"{one.path}: {one.study}, {one.form} form{_kept(one)}" for one in model.given]
    return Page(
        "Across papers",
        headline(model),
        [*METHOD, *(subject or ["No result was given: what papers say stands alone."])],
        [question_table(asked) for asked in model.questions],
        [*_unasked(model)],
    )


def _kept(one: Given) -> str:
    return f" ({one.kept})" if one.kept else ""


METHOD = (
    "Each paper answers for its own set-up, ours for that of a result that was given, whose own report says "
    "in what it differs.",
    "A claim of ours says what the paper says: confirmed, it bears its answer out; refuted, the other one.",
)


def headline(model: Across) -> str:
    """`12 questions: sources contradict each other in 4; ours bears out an answer in 3`."""
    apart = sum(asked.contradictory for asked in model.questions)
    borne = sum(any(ours.bears_out for ours in asked.ours) for asked in model.questions)
    count = len(model.questions)
    told = f"{count} question{'s' * (count != 1)}: sources contradict each other in {apart}"
    return f"{told}; ours bears out an answer in {borne}" if model.given else told


def question_table(asked: Asked) -> Table:
    """A row for each answer of a source and each claim of ours that judges it."""
    rows: list[tuple[str, ...]] = []
    breaks = []
    for said in asked.said:
        breaks.append(len(rows))
        rows += _rows(said)
    question = asked.question
    ratio = f" ({question.ratio})" if question.ratio else ""
    note = f"{_papers(asked)} {_borne_out(asked)}"
    return Table(clean(question.asks + ratio), COLUMNS, rows, 5, clean(note), frozenset(breaks[1:]))


def _rows(said: Said) -> Iterator[tuple[str, ...]]:
    """The source's words once, then a line for each of ours."""
    source = said.source if said.source == said.paper else f"{said.source} (in {said.paper})"
    words = tuple(clean(word) for word in (source, said.says, said.side))
    figure = _figure(said.figure)
    for place, ours in enumerate(said.ours or [None]):
        first = (*words, figure) if place == 0 else ("", "", "", "")
        yield (*first[:3], *_judged(said, ours), first[3], ours.found if ours else NONE)


def _judged(said: Said, ours: Ours | None) -> tuple[str, str]:
    """The claim, of a study without the paper's folder, and its verdict."""
    if ours is None:
        return NONE, "not judged"
    return clean(f"{ours.study.removeprefix(f'{said.paper}/')}: {ours.claim}"), ours.direction


def _figure(figure: Printed | None) -> str:
    """Without its label, which stands in what the paper says."""
    if figure is None:
        return NONE
    plain = figure.low if figure.low == figure.high else None
    return digits(plain) if plain else figure.model_copy(update={"label": ""}).words


def _papers(asked: Asked) -> str:
    """Who says what."""
    told = "; ".join(f"{side} ({', '.join(sources)})" for side, sources in asked.sides.items())
    return f"{'Contradictory' if asked.contradictory else 'All say the same'}: {told}."


def _borne_out(asked: Asked) -> str:
    """What our results say to it."""
    told: dict[str, list[str]] = {}
    for ours in asked.ours:
        word = f"bears out {ours.bears_out}" if ours.bears_out else f"speaks against {ours.against}"
        if ours.bears_out or ours.against:
            told.setdefault(word, []).append(f"{ours.study}: {ours.claim}")
    if told:
        return "Ours " + "; ".join(f"{word} ({', '.join(by)})" for word, by in told.items()) + "."
    ran = any(ours.direction != NOT_RUN for ours in asked.ours)
    return "Ours decides nothing." if ran else "Ours: not run."


def _unasked(model: Across) -> Iterator[str]:
    """Results that answer none of the questions."""
    used = {ours.study for asked in model.questions for ours in asked.ours}
    for one in model.given:
        if one.study not in used:
            yield f"{one.path}: no question is answered by {one.study}."


def render_json(model: Across) -> str:
    """Every answer and figure, unrounded; what is not known is null."""
    found = {
        "format": FORMAT,
        "results": [
            {"path": str(g.path), "study": g.study, "form": g.form, "kept": g.kept} for g in model.given
        ],
        "questions": [
            {
                "question": asked.name,
                **asked.question.model_dump(),
                "contradictory": asked.contradictory,
                "said": [_said(said) for said in asked.said],
            }
            for asked in model.questions
        ],
    }
    return json.dumps(jsonable(found), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _said(said: Said) -> dict[str, object]:
    figure = said.figure.model_dump() if said.figure else None
    ours = [asdict(one) for one in said.ours]
    return {
        **{name: getattr(said, name) for name in ("source", "paper", "entry", "says", "side")},
        "figure": figure,
        "ours": ours,
    }
