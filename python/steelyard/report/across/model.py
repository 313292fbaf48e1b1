"""Questions that several papers answer: each one's answer and figure, ours beside them, who contradicts whom.

An entry of a paper (`spec.papers`) names the claims of studies that judge it. Such a claim says what the
paper says: confirmed, it bears the paper's side out; refuted, the other one. Where a
question asks for more than a trend tells, a trend bears nothing out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.analysis.claims.verdict import NOTHING
from steelyard.analysis.stats.runs import Interval
from steelyard.errors import InputError, nearest
from steelyard.report.across.form import changed
from steelyard.report.across.kept import Kept, read_claims
from steelyard.report.formatting import NONE, clean
from steelyard.report.model import build
from steelyard.report.study.amounts import of_cells, told, words_of
from steelyard.report.study.answers import Answer, answers
from steelyard.spec.checks import Equality, Ratio, Trend
from steelyard.spec.papers import Entry, Paper, Question
from steelyard.spec.printed import Printed
from steelyard.spec.shipped import shipped
from steelyard.spec.workloads import parse_toml, read_text

NOT_GIVEN = "not given"


@dataclass(frozen=True)
class Given:
    """A result that was given: its folder or what a report of it says, and the shipped study it is a run of.

    Attributes:
        answers: claim or check -> what became of it.
        kept: of a report's file, what it is of; empty of a folder, which is judged now.
        changed: settings that the study's shipped form has otherwise now.
    """

    path: Path
    study: str
    form: str
    answers: Mapping[str, Answer]
    kept: str = ""
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ours:
    """What one claim of ours says of a paper's answer.

    Attributes:
        study, claim: which; of which result is in `run`.
        run: the result's folder and form; empty where none was given.
        direction: the verdict, or `not given`: no result of this study was.
        ratio: in the question's terms; None where the claim is of something else.
        found: the same, or what else was found, in words.
        bears_out: the side that it speaks for; empty where it decides nothing.
        against: the side that it speaks against without speaking for another.
        other_form: the result is of another form than the study is shipped with now.
    """

    study: str
    claim: str
    run: str = ""
    direction: str = NOT_GIVEN
    ratio: Interval | None = None
    found: str = NONE
    bears_out: str = ""
    against: str = ""
    other_form: bool = False


@dataclass(frozen=True)
class Said:
    """What one entry of a paper answers.

    Attributes:
        source: the paper, or whom it quotes.
        paper, entry: where that stands.
        says: in words.
        side, figure: the answer.
        ours: what each claim of ours that judges it found.
    """

    source: str
    paper: str
    entry: str
    says: str
    side: str
    figure: Printed | None
    ours: tuple[Ours, ...]


@dataclass(frozen=True)
class Asked:
    """One question with all answers."""

    name: str
    question: Question
    said: tuple[Said, ...]

    @property
    def sides(self) -> dict[str, list[str]]:
        """Side -> the sources that take it, each once."""
        found: dict[str, list[str]] = {}
        for one in self.said:
            of = found.setdefault(one.side, [])
            of += [one.source] if one.source not in of else []
        return found

    @property
    def contradictory(self) -> bool:
        """Whether sources take different sides."""
        return len(self.sides) > 1

    @property
    def ours(self) -> tuple[Ours, ...]:
        """Each of our verdicts once: one claim may judge several papers' answers."""
        return tuple(dict.fromkeys(ours for one in self.said for ours in one.ours))


@dataclass(frozen=True)
class Across:
    """All questions, and the results that were given."""

    questions: tuple[Asked, ...]
    given: tuple[Given, ...]


def build_across(
    results: Sequence[Path], papers: Mapping[str, Paper], questions: Mapping[str, Question]
) -> Across:
    """What papers and these results say of every question.

    Raises:
        InputError: a path is no result, or not of a shipped study with claims.
    """
    given = tuple(sorted(map(_given, results), key=lambda one: one.study))  # shells differ in their order
    found = (_asked(name, question, papers, given) for name, question in questions.items())
    return Across(tuple(one for one in found if one.said), given)


def _given(path: Path) -> Given:
    kept = read_claims(path) if path.is_file() else _judged_now(path)
    study = _study(path, kept.name.removesuffix("-small"), kept.asked.paper)
    found = {answer.claim.id: answer for answer in kept.answers}
    told, form = _provenance(kept) if path.is_file() else "", kept.asked.form
    return Given(path, study, form, found, told, changed(kept.study, shipped()[study], form))


def _provenance(kept: Kept) -> str:
    """`run of 2026-11-26, as it was judged then`, and whether all of it was there."""
    part = ", half-written" if kept.partial else ""
    return clean(f"run of {kept.created[:10]}{part}, as it was judged then")


def _judged_now(path: Path) -> Kept:
    """As `read_claims`, of a result's folder."""
    model = build(path)
    found = answers(model)
    if found is None or not (found.claims or found.checks):
        raise InputError(f"{path}: it is no run of a study with claims")
    name = str(model.study.get("name") or model.name)
    judged = (*found.checks, *found.claims)
    return Kept(name, found.asked, judged, model.created, model.partial, model.study)


def _study(path: Path, name: str, paper: str) -> str:
    """The shipped study of this name and paper."""
    named = (one for one in shipped() if one.rpartition("/")[2] == name)
    alike = [one for one in named if _paper(one) == paper]
    if len(alike) != 1:
        known = {one.rpartition("/")[2] for one in shipped()}
        raise InputError(
            f"{path}: a run of '{name}', which is no shipped study{nearest(name, known)}",
            hint="entries of papers name shipped studies: `steelyard studies list`",
        )
    return alike[0]


def _paper(study: str) -> str:
    path = shipped()[study]
    return str(parse_toml(path, read_text(path))[0].get("paper", ""))


def _asked(name: str, question: Question, papers: Mapping[str, Paper], given: Sequence[Given]) -> Asked:
    said = [
        _said(paper, place, entry, question, given)
        for paper, its in papers.items()
        for place, entry in its.entries
        if entry.question == name and question.side(entry)
    ]
    return Asked(name, question, tuple(said))


def _said(paper: str, place: str, entry: Entry, question: Question, given: Sequence[Given]) -> Said:
    ours = tuple(_ours(entry, question, given))
    return Said(entry.by or paper, paper, place, entry.says, question.side(entry), entry.figure, ours)


def _ours(entry: Entry, question: Question, given: Sequence[Given]) -> Iterator[Ours]:
    for study, ids in entry.claims.items():
        runs = [one for one in given if one.study == study]
        for claim in ids:
            yield from (_judged(claim, run, entry, question) for run in runs)
            if not runs:
                yield Ours(study, claim)


def _judged(claim: str, run: Given, entry: Entry, question: Question) -> Ours:
    words = f"{run.path}, {run.form} form"
    if claim not in run.answers:
        return Ours(run.study, claim, words, "not in this run")
    answer, side = run.answers[claim], question.side(entry)
    # what is not alike may lie on either side
    other = "" if isinstance(answer.claim.check, Equality) else question.other(side)
    direction = answer.verdict.direction
    told_apart = not (question.beyond_trend and isinstance(answer.claim.check, Trend))
    ratio, turned = _ratio(answer, side, question)
    refuted = direction == "refuted"
    return Ours(
        run.study,
        claim,
        words,
        direction,
        ratio,
        _words(answer) if ratio is None else told(ratio) + _cells(answer, turned=turned),
        bears_out=side if direction == "confirmed" and told_apart else other if refuted else "",
        against=side if refuted and not other else "",
        other_form=bool(run.changed),
    )


def _ratio(answer: Answer, side: str, question: Question) -> tuple[Interval | None, bool]:
    """A ratio of ours as the question has it, and whether it was turned over for that: the claim says of it
    what the paper says, so that a claim that lies on the other side of 1 is the ratio turned over."""
    check, estimate = answer.claim.check, answer.verdict.estimate
    if not question.ratio or estimate is None or not isinstance(check, Ratio):
        return None, False
    if side not in question.sides[:2]:
        return None, False
    turned = check.upwards != bool(question.sides.index(side))
    return (_over(estimate) if turned else estimate), turned


def _words(answer: Answer) -> str:
    """What was found of what, in words; a dash where nothing was."""
    verdict = answer.verdict
    return NONE if verdict.words == NOTHING else clean(f"{words_of(answer.claim.metric)}: {verdict.words}")


def _cells(answer: Answer, *, turned: bool) -> str:
    """Of a mean of unlike cells the least and the greatest."""
    cells = answer.verdict.cells
    return of_cells((1 / cells[1], 1 / cells[0]) if cells and turned else cells)


def _over(one: Interval) -> Interval:
    """1 over it."""
    low, high = (1 / end if end else float("inf") for end in (one.high, one.low))
    return Interval(1 / one.estimate, low, high, one.count, one.given)
