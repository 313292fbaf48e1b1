"""What papers show and claim, entry by entry, and where a shipped study answers it: `papers/NAME.toml`.

    title = "A. Author: A paper (2023)"

    [figures."4.1"]
    says = "Read latency over threads, a line for each consistency level."
    figures = { threads = ["4.1"] }

    [claims.read-a]
    says = "Under A Cassandra's read latency is 0.4 of HBase's."
    claims = { systems = ["read-a"] }
    question = "read-a"
    figure = 0.4

    [tables.1]
    says = "The machines."
    omitted = "a description; nothing was measured"

`papers/questions.toml` holds what several papers answer, perhaps each in its own way. A paper's figures are
data with a source: they are compared with, and never become a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from steelyard.errors import InputError
from steelyard.spec.base import LISTED, Model
from steelyard.spec.printed import Paper as PaperFigure
from steelyard.spec.shipped import shipped_folder
from steelyard.spec.sides import upwards
from steelyard.spec.workloads import parse_toml, read_text

KINDS = {
    "figures": "figure", "tables": "table", "claims": "claim", "reasons": "reason", "quoted": "quoted",
    "proposed": "proposed",
}  # fmt: skip
"""Section of a paper's file -> what one of its entries is called. `quoted`: what it reports of others;
`proposed`: what it leaves to be done."""
QUESTIONS = "questions"

Ids = Annotated[tuple[str, ...], LISTED]
T = TypeVar("T")


class Entry(Model):
    """One figure, table (or row of it), claim, reason or proposal of a paper."""

    says: str
    """What it shows or claims, in our words."""
    figures: dict[str, Ids] = Field(default_factory=dict)
    """Study -> its figures that show it. A study without a folder is in that of the paper's name."""
    claims: dict[str, Ids] = Field(default_factory=dict)
    """Study -> its claims, or checks of ours, that judge it: each says the same."""
    by: str = ""
    """Who found it, where the paper quotes others."""
    omitted: str = ""
    """Why no study answers it; beside figures or claims, what of it they leave out."""
    question: str = ""
    """The question, of several papers, that it answers."""
    side: str = ""
    """How it answers that; left out, the side on which its figure lies."""
    figure: PaperFigure = None
    """What it prints in answer: the question's ratio."""

    @model_validator(mode="after")
    def _is_answered_or_says_why_not(self) -> Entry:
        if not (self.figures or self.claims or self.omitted):
            raise ValueError("say where it is answered (figures, claims), or why it is not (omitted)")
        if (self.side or self.figure) and not self.question:
            raise ValueError("a side or a figure answers a question: say which")
        return self

    @property
    def studies(self) -> set[str]:
        """The studies it names."""
        return {*self.figures, *self.claims}


class Paper(Model):
    """What one paper shows and claims: sections of entries by their numbers or names."""

    title: str
    figures: dict[str, Entry] = Field(default_factory=dict)
    tables: dict[str, Entry] = Field(default_factory=dict)
    claims: dict[str, Entry] = Field(default_factory=dict)
    reasons: dict[str, Entry] = Field(default_factory=dict)
    quoted: dict[str, Entry] = Field(default_factory=dict)
    proposed: dict[str, Entry] = Field(default_factory=dict)
    ours: dict[str, str] = Field(default_factory=dict)
    """`STUDY: CHECK` or `STUDY: figure FIGURE` that no entry need name, though it stands with the paper's ->
    why it is ours."""

    @model_validator(mode="after")
    def _quotes_somebody(self) -> Paper:
        for name, entry in self.quoted.items():
            if not entry.by:
                raise ValueError(f"quoted {name}: say who found it (by)")
        return self

    @property
    def entries(self) -> Iterator[tuple[str, Entry]]:
        """(`figure 4.1`, the entry), in the order of the file's sections."""
        for section, kind in KINDS.items():
            for name, entry in getattr(self, section).items():
                yield f"{kind} {name}", entry


class Question(Model):
    """A question that several papers answer."""

    asks: str
    ratio: str = ""
    """The ratio in which papers print their answers; empty where they print none."""
    sides: Annotated[tuple[str, ...], LISTED, Field(min_length=2)]
    """The answers: where that ratio lies below 1, where above; further ones have no ratio."""
    beyond_trend: bool = False
    """Whether several of the sides go the same way: a trend that is confirmed bears none of them out."""
    note: str = ""
    """What must be known to read the answers: of a contradiction within a paper, of what holds anyway."""

    def side(self, entry: Entry) -> str:
        """How an entry answers; empty where it does not say."""
        if entry.side or entry.figure is None:
            return entry.side
        up = upwards(entry.figure)
        return "" if up is None else self.sides[up]

    def other(self, side: str) -> str:
        """The side that holds where one of two is refuted, or where a ratio lies on the other side of 1;
        empty where there is no telling."""
        first_two = self.sides[:2]
        known = side in first_two and (self.ratio or len(self.sides) == 2)
        return first_two[1 - first_two.index(side)] if known else ""


def read_papers(folder: Path | None = None) -> dict[str, Paper]:
    """Name -> paper, of a folder; left out, of those that come with Steelyard.

    Raises:
        InputError: with file and place of what is wrong in one.
    """
    folder = folder or shipped_folder("papers")
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}
    return {
        name: _with_folders(name, _read(path, PAPER)) for name, path in files.items() if name != QUESTIONS
    }


def read_questions(folder: Path | None = None) -> dict[str, Question]:
    """Name -> question, of the same folder.

    Raises:
        InputError: as `read_papers`.
    """
    folder = folder or shipped_folder("papers")
    path = folder / f"{QUESTIONS}.toml" if folder else None
    return _read(path, ASKED) if path and path.is_file() else {}


PAPER: TypeAdapter[Paper] = TypeAdapter(Paper)
ASKED: TypeAdapter[dict[str, Question]] = TypeAdapter(dict[str, Question])


def _read(path: Path, form: TypeAdapter[T]) -> T:
    values, origins = parse_toml(path, read_text(path))
    try:
        return form.validate_python(values)
    except ValidationError as error:
        told = []
        for fault in error.errors(include_url=False):
            place = fault["loc"]
            at = next((origins[place[:n]] for n in range(len(place), 0, -1) if place[:n] in origins), path)
            told.append(f"{at}: {'.'.join(map(str, place))}: {fault['msg'].removeprefix('Value error, ')}")
        raise InputError("\n".join(told)) from None


def _with_folders(name: str, paper: Paper) -> Paper:
    """Studies by their whole names, as `shipped` has them."""

    def whole(named: Mapping[str, Ids]) -> dict[str, Ids]:
        return {study if "/" in study else f"{name}/{study}": ids for study, ids in named.items()}

    def entries(section: Mapping[str, Entry]) -> dict[str, Entry]:
        return {
            place: entry.model_copy(update={"figures": whole(entry.figures), "claims": whole(entry.claims)})
            for place, entry in section.items()
        }

    return paper.model_copy(update={section: entries(getattr(paper, section)) for section in KINDS})
