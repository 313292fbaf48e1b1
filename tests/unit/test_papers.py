"""What papers show and claim, against the shipped studies: every entry is answered, or says why it is not.

`tests/data/papers` has the transcript of the checklist of the papers: every figure, row, claim and reason by
name, with words and numbers as the checklist has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from made import DATA
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.errors import InputError
from steelyard.spec.asked import Asked
from steelyard.spec.checklist import asked_of_shipped, faults, not_shipped, unnamed
from steelyard.spec.checks import Claim
from steelyard.spec.papers import Entry, Paper, Question, read_papers, read_questions
from steelyard.spec.plots import PaperValues, Plot
from steelyard.spec.printed import Printed

Studies = Mapping[str, Asked]
TRANSCRIPTS = DATA / "papers"
NAMES = ("cs4224-2014", "kuhlenkamp-2014", "load-management", "seis630", "sheth-2023")


NUMBERED = re.compile(r"(?:figure|table) (\d+(?:\.\d+)?)(?: |$)")
ELSEWHERE = {"load-management": ["table 1"]}
"""Entries that only what is of other places of the paper answers: nodes, data and operations of each
cluster, of which there is a study each."""


class Row(NamedTuple):
    """One entry as the transcript has it: words of what it says, and what it and its studies print."""

    place: str
    words: list[str]
    printed: set[str]


def rows(name: str) -> list[Row]:
    """The transcript of a paper: `PLACE | WORDS | WORDS`, and indented below what is printed:
    `NAME: VALUE, VALUE; NAME: VALUE`."""
    found: list[Row] = []
    for line in (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            named = (one.partition(": ") for one in line.strip().split("; "))
            found[-1].printed.update(f"{name}: {one}" for name, _, all in named for one in all.split(", "))
        else:
            place, *words = line.split(" | ")
            found.append(Row(place, words, set()))
    return found


def printed(entry: Entry, studies: Studies) -> set[str]:
    """Every figure of the paper that an entry prints, and that the claims and figures do which it names."""
    found = {f"{entry.question}: {entry.figure.words}"} if entry.figure else set[str]()
    for study, ids in entry.claims.items():
        found |= of_claims(study, (one for one in claims_of(studies[study]) if one.id in ids))
    for study, ids in entry.figures.items():
        found |= of_figures(study, (one for one in studies[study].figures if one.id in ids))
    return found


def claims_of(asked: Asked) -> tuple[Claim, ...]:
    return (*asked.claims, *asked.checks)


def of_claims(study: str, claims: Iterable[Claim]) -> set[str]:
    """`workload-r hbase-read: 50 to 90 ms (E1)`."""
    return {
        f"{study.rpartition('/')[2]} {claim.id}: {figure.words}" + (f" ({source})" if source else "")
        for claim in claims
        for source, figure in claim.sources.items()
    }


def of_figures(study: str, plots: Iterable[Plot]) -> set[str]:
    """`workload-r 1c read_p95 hbase: 4 265`: the line, then a value of x and the paper's."""
    return {
        f"{study.rpartition('/')[2]} {line_of(plot, values)}: {x} {y.words}"
        for plot in plots
        for values in plot.paper
        for x, y in zip(values.x, values.y, strict=True)
    }


def sources_of(entry: Entry, studies: Studies) -> Iterable[str]:
    """Where in the paper the claims and figures are that an entry names."""
    for study, ids in entry.claims.items():
        yield from (one.source for one in claims_of(studies[study]) if one.id in ids)
    for study, ids in entry.figures.items():
        yield from (one.source for one in studies[study].figures if one.id in ids)


def line_of(plot: Plot, values: PaperValues) -> str:
    """A figure, a metric where it has several, and the levels of one of its lines."""
    metric = (values.metric or "").replace("_service", "").removesuffix("_ns")
    return " ".join(map(str, filter(None, [plot.id, metric, *values.at.values()])))


@pytest.fixture(scope="module")
def papers() -> dict[str, Paper]:
    return read_papers()


@pytest.fixture(scope="module")
def shipped() -> Studies:
    return asked_of_shipped()


def test_every_entry_is_answered_by_what_a_shipped_study_has(
    papers: dict[str, Paper], shipped: Studies
) -> None:
    assert faults(papers, read_questions(), shipped) == []
    assert not_shipped(papers, shipped) == set()


def test_the_transcript_is_of_all_papers(papers: dict[str, Paper]) -> None:
    assert tuple(papers) == NAMES
    assert sorted(path.stem for path in TRANSCRIPTS.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_papers_have_the_entries_of_the_transcript_and_no_others(papers: dict[str, Paper], name: str) -> None:
    transcript = [row.place for row in rows(name)]
    assert sorted(place for place, _ in papers[name].entries) == sorted(transcript)


@pytest.mark.parametrize("name", NAMES)
def test_entries_say_what_the_transcript_says(papers: dict[str, Paper], name: str) -> None:
    says = {place: f"{entry.by}: {entry.says}" for place, entry in papers[name].entries}
    transcript = rows(name)
    assert [row.place for row in transcript if not row.words] == []
    missing = [(row.place, one) for row in transcript for one in row.words if one not in says[row.place]]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_what_an_entry_names_prints_its_figures(
    papers: dict[str, Paper], shipped: Studies, name: str
) -> None:
    entries = dict(papers[name].entries)
    missing = [(row.place, figure) for row in rows(name)
               for figure in row.printed - printed(entries[row.place], shipped)]  # fmt: skip
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_no_figure_is_printed_that_the_transcript_has_not(
    papers: dict[str, Paper], shipped: Studies, name: str
) -> None:
    own = {study: asked for study, asked in shipped.items() if study.startswith(f"{name}/")}
    by_entries = [printed(entry, shipped) for _, entry in papers[name].entries]
    by_claims = [of_claims(study, claims_of(asked)) for study, asked in own.items()]
    by_figures = [of_figures(study, asked.figures) for study, asked in own.items()]
    transcript = set[str]().union(*(row.printed for row in rows(name)))
    assert set[str]().union(*by_entries, *by_claims, *by_figures) == transcript


@pytest.mark.parametrize("name", NAMES)
def test_what_an_entry_of_a_figure_names_is_of_that_figure(
    papers: dict[str, Paper], shipped: Studies, name: str
) -> None:
    """Of what an entry names at least one says that it is of this figure or table of the paper."""
    elsewhere = [
        place for place, entry in papers[name].entries
        if (of := NUMBERED.match(place)) and (sources := list(sources_of(entry, shipped)))
        and not any(re.search(rf"(?<![\d.]){re.escape(of[1])}(?!\d)", one) for one in sources)
    ]  # fmt: skip
    assert sorted(elsewhere) == sorted(ELSEWHERE.get(name, ()))


def test_what_is_ours_is_named_by_no_entry_and_has_a_reason(
    papers: dict[str, Paper], shipped: Studies
) -> None:
    for name, paper in papers.items():
        assert sorted(unnamed(name, paper, shipped)) == sorted(f"{name}/{one}" for one in paper.ours)
        assert [reason for reason in paper.ours.values() if len(reason.split()) < 5] == []


def test_omissions_have_a_reason(papers: dict[str, Paper]) -> None:
    reasons = [entry.omitted for paper in papers.values() for _, entry in paper.entries if entry.omitted]
    assert reasons
    assert [reason for reason in reasons if len(reason.split()) < 5] == []


ASKED = Asked.model_validate(
    {
        "claims": [
            {
                "id": "read",
                "statement": "Reads are faster.",
                "metric": "read_service_mean_ns",
                "check": {
                    "kind": "ratio",
                    "numerator": {},
                    "denominator": {},
                    "paper": 0.5,
                    "papers": {"B": 0.7},
                },
            },
            {
                "id": "other",
                "statement": "Nothing.",
                "metric": "ok_per_s",
                "check": {"kind": "trend", "factor": "clients", "direction": "up"},
            },
        ],
        "checks": [
            {
                "id": name,
                "statement": "Reads are fast.",
                "source": source,
                "metric": "read_service_mean_ns",
                "check": {"kind": "value", "below": 1, "unit": "ms"},
            }
            for name, source in (("stated", "5.1"), ("ours", ""))
        ],
        "figures": [{"id": "4.1", "title": "Reads", "x": "clients", "y": "ok_per_s"}],
    }
)
QUESTION = {"asks": "Which?", "ratio": "A over B", "sides": ["A", "B"]}


def found(read: dict[str, Any], **more: Any) -> list[str]:
    """The faults of a paper `p` with the study `p/s`, all of which is named, and a second answer."""
    sections = {
        "claims": {"read": {"says": "Reads.", "claims": {"p/s": ["read"]}, **read}},
        "tables": {"1": {"says": "All.", "claims": {"p/s": ["other", "stated"]}}},
        "figures": {"4.1": {"says": "Reads.", "figures": {"p/s": ["4.1"]}}},
        "quoted": {"b": {"by": "B", "says": "Reads.", "omitted": "quoted", "question": "q", "side": "A"}},
        **more,
    }
    paper = Paper.model_validate({"title": "P", **sections})
    return faults({"p": paper}, {"q": Question.model_validate(QUESTION)}, {"p/s": ASKED})


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ({"claims": {"p/s": ["read", "raed"]}},
         "p, claim read: p/s has no claim 'raed' (did you mean 'read'?)"),
        ({"figures": {"p/s": ["4.2"]}}, "p, claim read: p/s has no figure '4.2' (did you mean '4.1'?)"),
        ({"question": "r", "side": "A"}, "p, claim read: no question 'r'"),
        ({"question": "q", "side": "C"}, "p, claim read: answers 'C'; the sides are A, B"),
        ({"question": "q", "side": "B", "figure": 0.5},
         "p, claim read: answers B, and its figure 0.5 lies on the side of A"),
        ({"question": "q", "figure": 0.4}, "p, claim read: prints 0.4, and p/s: read has 0.5 of the paper"),
    ],
)  # fmt: skip
def test_what_does_not_match_is_told(read: dict[str, Any], told: str) -> None:
    assert told in found(read)


@pytest.mark.parametrize(("figure", "by"), [(0.5, ""), (0.7, "B"), (2.0, ""), (None, "")])
def test_what_matches_is_not(figure: float | None, by: str) -> None:
    """The paper's own figure, that of a source it quotes, the same ratio turned over, and none."""
    side = "B" if figure == 2.0 else "A"
    assert found({"question": "q", "side": side, "figure": figure, "by": by}) == []


def test_what_no_entry_names_and_questions_that_one_answers_are_told() -> None:
    """Claims, checks that say where the paper has them, and figures; a check of ours need not be named."""
    told = found({}, tables={}, figures={})
    assert told == [
        "p: no entry names p/s: other",
        "p: no entry names p/s: stated",
        "p: no entry names p/s: figure 4.1",
        "question q: 1 of 2 answers",
    ]


def test_a_study_that_is_not_shipped_is_told_apart() -> None:
    paper = Paper.model_validate({"title": "P", "claims": {"a": {"says": "A.", "claims": {"p/t": ["x"]}}}})
    assert not_shipped({"p": paper}, {"p/s": ASKED}) == {"p/t"}
    assert "p/t" not in "".join(faults({"p": paper}, {}, {}))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[claims.a]\nsays = "A."\n', "p.toml:2: claims.a: say where it is answered"),
        ('[claims.a]\nsays = "A."\nomitted = "no"\nside = "A"\n', "a side or a figure answers a question"),
        ('[quoted.a]\nsays = "A."\nomitted = "no"\n', "quoted a: say who found it (by)"),
        ('[claims.a]\nsays = "A."\nomited = "no"\n', "p.toml:4: claims.a.omited: Extra inputs"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "p.toml").write_text('title = "P"\n' + text)
    with pytest.raises(InputError) as error:
        read_papers(tmp_path)
    assert told in error.value.message


def test_studies_without_a_folder_are_in_the_papers(tmp_path: Path) -> None:
    text = 'title = "P"\n[claims.a]\nsays = "A."\nclaims = { s = ["x"], "o/t" = ["y"] }\n'
    (tmp_path / "p.toml").write_text(text)
    assert read_papers(tmp_path)["p"].claims["a"].claims == {"p/s": ("x",), "o/t": ("y",)}
    assert read_questions(tmp_path) == {}


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["studies", "papers", *words])
    return result.exit_code, " ".join((result.stdout + result.stderr).split())


def test_papers_are_listed_and_shown() -> None:
    code, listed = run()
    assert code == 0
    assert all(name in listed for name in read_papers())
    code, shown = run("sheth-2023")
    assert code == 0
    assert "figure 4.10" in shown
    assert "omitted:" in shown
    code, refused = run("sheth-2032")
    assert (code, "did you mean 'sheth-2023'" in refused) == (2, True)


@pytest.mark.parametrize("left", [[], ["p, claim read: no question 'r'"]])
def test_the_check_ends_with_one_if_anything_does_not_match(
    monkeypatch: pytest.MonkeyPatch, left: list[str]
) -> None:
    monkeypatch.setattr("steelyard.cli.papers.mismatches", lambda _papers: left)
    code, told = run("--check")
    assert code == len(left)
    assert all(line in told for line in left)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"by": "B", "figure": 0.5}, "p, claim read: prints 0.5, and p/s: read has 0.7 of B"),
        ({"by": "B", "figure": 0.7}, ""),
        ({"by": "C", "figure": 0.5}, ""),
        ({"by": "D", "figure": 2.5}, "prints 2.5, on the other side of 1 than p/s: read claims"),
    ],
)
def test_an_entry_prints_its_own_sources_figure(entry: dict[str, Any], told: str) -> None:
    """Not that of another source, and none that denies what the claim says."""
    check = ASKED.claims[0].check.model_copy(
        update={"papers": {"B": Printed(low=0.7, high=0.7), "D": Printed(low=2.5, high=2.5)}}
    )
    asked = ASKED.model_copy(
        update={"claims": (ASKED.claims[0].model_copy(update={"check": check}), *ASKED.claims[1:])}
    )
    side = "B" if entry["figure"] > 1 else "A"
    paper = Paper.model_validate(
        {"title": "P", "claims": {"read": {"says": "Reads.", "claims": {"p/s": ["read", "other"]},
                                           "question": "q", "side": side, **entry}}}
    )  # fmt: skip
    found = [f for f in faults({"p": paper}, {"q": Question.model_validate(QUESTION)}, {"p/s": asked})
             if "print" in f]  # fmt: skip
    assert [told in f for f in found] == ([True] if told else [])
