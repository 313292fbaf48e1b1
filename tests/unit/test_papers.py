"""What papers show and claim, against the shipped studies: every entry is answered, or says why it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.errors import InputError
from steelyard.spec.asked import Asked
from steelyard.spec.checklist import asked_of_shipped, faults, not_shipped
from steelyard.spec.papers import Paper, Question, read_papers, read_questions
from steelyard.spec.printed import Printed

TABLE_4 = {
    f"4 {workload} {load} {nodes}" for workload in "AB" for load in (0.8, 1.0, 1.5) for nodes in (1, 2, 6)
}
FIGURES = {
    "sheth-2023": {*(f"4.{n}" for n in range(1, 12)), *(f"5.{n}" for n in range(1, 7))},
    "cs4224-2014": {str(n) for n in range(1, 7)},
    "seis630": {"1"},
    "load-management": {"1", *(f"{n} {part}" for n in (2, 3) for part in "abc")},
    "kuhlenkamp-2014": {
        *(f"{n} {part}" for n in (1, 2, 5) for part in "abc"),
        *(str(n) for n in (3, 4, *range(6, 14))),
    },
}
"""All that each paper has, by its numbers."""
TABLES = {
    "sheth-2023": {"4.1"},
    "cs4224-2014": {
        "machines",
        *(f"{end}-{op}" for end in ("least", "greatest") for op in ("read", "update")),
    },
    "seis630": {
        "1",
        *(f"{table} {row}" for table in (2, 3, 4) for row in ("run time", "throughput")),
        *(
            f"{table} {op} {row}"
            for table, ops in (
                (2, ["insert"]),
                (3, ["read", "update"]),
                (4, ["read", "scan", "insert", "update"]),
            )
            for op in ops
            for row in ("operations", "mean", "least", "greatest", "p95", "p99", "ok")
        ),
    },
    "load-management": {"1"},
    "kuhlenkamp-2014": {
        "1",
        "2",
        *(f"3 {size} GB" for size in (5, 10, 15, 20, 30)),
        "4",
        *TABLE_4,
        *(f"5 CS-{n}" for n in range(1, 8)),
        *(f"5 {column}" for column in ("throughput", "mean", "p99")),
    },
}
"""Rows of tables of measurements; a table of something else as a whole."""
STATED = {
    "cs4224-2014": {
        *("hbase-averages", "cassandra-averages", "least-read", "few-threads", "sharp", "sharper-read"),
        *("sharper-update", "read", "update", "more-threads", "threshold", "most", "suits"),
    },
    "seis630": {
        *("fastest", "updates", "slowest", "start-up", "without-start-up", "calls", "scans", "loads"),
        *("read-update-a", "read-update-b", "partitioners", "uniform", "ordered", "replication"),
        "instances",
    },
    "load-management": {
        *("a-1-one", "a-1-many", "b-1", "flat-1", "b-1-hbase", "a-4", "a-8", "b-4", "b-8"),
        *("gain", "speed-up", "nodes"),
    },
    "sheth-2023": {*(f"C{n}" for n in range(1, 9)), *(f"N{n}" for n in range(1, 5))},
    "kuhlenkamp-2014": {"linear", "read", "write", "throttled", "streaming", "variability", "no-streaming",
                        "vertical", "add-a", "add-b"},
}  # fmt: skip
"""Claims that a paper numbers, or draws together at its end; where it does neither, all of them."""
COUNTS = {
    "sheth-2023": (29, 6, 26, 5),
    "cs4224-2014": (13, 0, 0, 2),
    "seis630": (15, 2, 0, 0),
    "load-management": (12, 3, 0, 0),
    "kuhlenkamp-2014": (45, 3, 10, 1),
}
"""Claims, reasons, what is quoted of others, what is proposed: one that goes is missed."""


def test_every_entry_is_answered_by_what_a_shipped_study_has() -> None:
    papers, questions, shipped = read_papers(), read_questions(), asked_of_shipped()
    assert faults(papers, questions, shipped) == []
    assert not_shipped(papers, shipped) == set()


def test_no_figure_or_table_of_a_paper_is_left_out() -> None:
    papers = read_papers()
    assert {name: {*paper.figures} for name, paper in papers.items()} == FIGURES
    assert {name: {*paper.tables} for name, paper in papers.items()} == TABLES
    for name, stated in STATED.items():
        assert stated <= papers[name].claims.keys()
    assert {
        name: tuple(map(len, (one.claims, one.reasons, one.quoted, one.proposed)))
        for name, one in papers.items()
    } == COUNTS


def test_omissions_have_a_reason() -> None:
    reasons = [
        entry.omitted for paper in read_papers().values() for _, entry in paper.entries if entry.omitted
    ]
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
        "figures": [{"id": "4.1", "title": "Reads", "x": "clients", "y": "ok_per_s"}],
    }
)
QUESTION = {"asks": "Which?", "ratio": "A over B", "sides": ["A", "B"]}


def found(read: dict[str, Any], **more: Any) -> list[str]:
    """The faults of a paper `p` with the study `p/s`, whose claims are both named, and a second answer."""
    sections = {
        "claims": {"read": {"says": "Reads.", "claims": {"p/s": ["read"]}, **read}},
        "tables": {"1": {"says": "All.", "claims": {"p/s": ["other"]}}},
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


def test_claims_that_no_entry_names_and_questions_that_one_answers_are_told() -> None:
    told = found({}, tables={})
    assert told == ["p: no entry names p/s: other", "question q: 1 of 2 answers"]


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
