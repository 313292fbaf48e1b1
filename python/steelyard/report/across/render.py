"""What papers and our results say of one question each, as a page of tables, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from steelyard.report.across.model import NOT_GIVEN, Across, Asked, Ours, Said
from steelyard.report.across.picture import ratios_chart
from steelyard.report.formatting import NONE, clean, digits
from steelyard.report.machine import jsonable
from steelyard.report.page import Page
from steelyard.report.tables import Table
from steelyard.spec.printed import Printed

FORMAT = 1
BEARS_OUT, AGAINST = "bears out", "speaks against"
AT_A_GLANCE = {BEARS_OUT: "", AGAINST: "against "}
OTHER_FORM = "another form"
MOST_SETTINGS = 3
COLUMNS = ("source", "says", "answer", "judged by", "verdict", "paper", "ours")


def page(model: Across) -> Page:
    """The answers at a glance, ratios as a picture, then a table for each question; below it who contradicts
    whom, and what ours bears out."""
    chart = ratios_chart(model)
    tables = [answers_table(model), *map(question_table, model.questions), _given(model)]
    return Page(
        "Across papers",
        headline(model),
        METHOD if model.given else [*METHOD, "No result was given: what papers say stands alone."],
        [table for table in tables if table.rows],
        charts=[chart] if chart else [],
    )


METHOD = (
    "Each paper answers for its own set-up, ours for that of a result that was given, whose own report says "
    "in what it differs.",
    "A claim of ours says what the paper says: confirmed, it bears its answer out; refuted, the other one of "
    "two, while of more answers it speaks against its own. Not given: no result of that study was. Another "
    "form: the study is shipped with other settings than those of its result, which Results names.",
)


def headline(model: Across) -> str:
    """`12 questions: sources contradict each other in 4; ours bears out one answer in 3`."""
    apart = sum(asked.contradictory for asked in model.questions)
    borne = sum(len({o.bears_out for o in asked.ours if o.bears_out}) == 1 for asked in model.questions)
    count = len(model.questions)
    told = f"{count} question{'s' * (count != 1)}: sources contradict each other in {apart}"
    return f"{told}; ours bears out one answer in {borne}" if model.given else told


def answers_table(model: Across) -> Table:
    """A row a question: how many sources give which answer, and how many verdicts of ours speak for which."""
    rows = [(clean(asked.question.asks), _sides(asked), _ours(asked)) for asked in model.questions]
    note = "In brackets how many sources, and how many verdicts of ours; open: those that decide nothing."
    return Table("Answers", ("question", "papers", "ours"), rows, 3, note)


def _sides(asked: Asked) -> str:
    return clean(" against ".join(f"{side} ({len(by)})" for side, by in asked.sides.items()))


def _ours(asked: Asked) -> str:
    decided = _decided(asked)
    told = [f"{AT_A_GLANCE[how]}{side} ({len(by)})" for (how, side), by in decided.items()]
    given = sum(ours.direction != NOT_GIVEN for ours in asked.ours)
    undecided = given - sum(map(len, decided.values()))
    told += [f"open ({undecided})"] if undecided else []
    return clean("; ".join(told) or _undecided(asked))


def question_table(asked: Asked) -> Table:
    """A row for each answer of a source and each claim of ours that judges it."""
    rows: list[tuple[str, ...]] = []
    breaks = []
    for said in asked.said:
        breaks.append(len(rows))
        rows += _rows(said)
    question = asked.question
    ratio = f" ({question.ratio})" if question.ratio else ""
    note = " ".join(filter(None, (_papers(asked), _borne_out(asked), question.note)))
    words = 5 if question.ratio else len(COLUMNS)
    return Table(clean(question.asks + ratio), COLUMNS, rows, words, clean(note), frozenset(breaks[1:]))


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
    verdict = f"{ours.direction}, {OTHER_FORM}" if ours.other_form else ours.direction
    return clean(f"{ours.study.removeprefix(f'{said.paper}/')}: {ours.claim}"), verdict


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
    """What our results say to it, and by which claims."""
    if told := _decided(asked):
        each = (f"{how} {side} ({', '.join(by)})" for (how, side), by in told.items())
        return f"Ours {'; '.join(each)}."
    return f"Ours is {_undecided(asked)}."


def _decided(asked: Asked) -> dict[tuple[str, str], list[str]]:
    """What becomes of an answer, and the answer -> our claims that say so."""
    told: dict[tuple[str, str], list[str]] = {}
    for ours in asked.ours:
        if side := ours.bears_out or ours.against:
            how = BEARS_OUT if ours.bears_out else AGAINST
            told.setdefault((how, side), []).append(f"{ours.study}: {ours.claim}")
    return told


def _undecided(asked: Asked) -> str:
    """`open: 4 inconclusive, 2 range not covered`, or that there is nothing of ours."""
    counts = Counter(_stands(ours.direction) for ours in asked.ours)
    if not counts.keys() - {NOT_GIVEN}:
        return NOT_GIVEN if counts else "not judged"
    return "open: " + ", ".join(f"{count} {word}" for word, count in counts.items())


def _stands(direction: str) -> str:
    """A verdict that decides nothing: one that holds is of a trend, which several of the answers have."""
    return f"{direction} of a trend that several answers have" if direction == "confirmed" else direction


def _given(model: Across) -> Table:
    """The results, and how many of the questions each answers."""
    used = Counter(study for asked in model.questions for study in {ours.study for ours in asked.ours})
    rows = [
        (
            clean(one.study),
            one.form,
            _settings(one.changed),
            one.kept or NONE,
            clean(str(one.path)),
            str(used[one.study] or "none of these"),
        )
        for one in model.given
    ]
    columns = ("study", "form", "shipped with other settings", "judged", "read from", "questions")
    return Table("Results", columns, rows, 6)


def _settings(changed: tuple[str, ...]) -> str:
    """`load.warmup_s, systems.cassandra.tokens and 7 more`; a dash where there are none."""
    more = len(changed) - MOST_SETTINGS
    named = ", ".join(changed[:MOST_SETTINGS]) + (f" and {more} more" if more > 0 else "")
    return clean(named) or NONE


def render_json(model: Across) -> str:
    """Every answer and figure, unrounded; what is not known is null."""
    found = {
        "format": FORMAT,
        "results": [
            {
                "path": str(g.path),
                "study": g.study,
                "form": g.form,
                "kept": g.kept,
                "changed": list(g.changed),
            }
            for g in model.given
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
