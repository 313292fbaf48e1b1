"""The picture of all claims that opens a page, and the list of them on a narrow terminal."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made import maker
from rich.console import Console
from test_stats_claims import claim

from steelyard.analysis.claims.verdict import Evidence, Verdict
from steelyard.analysis.stats.runs import Interval
from steelyard.report import write_report
from steelyard.report.model import build
from steelyard.report.render import still
from steelyard.report.study.answers import Answer, Answers
from steelyard.report.study.forest import PAPER, forest_of
from steelyard.report.study.forest_spec import ticks
from steelyard.report.study.picture import forest_chart
from steelyard.report.text import show
from steelyard.spec.asked import Asked

studies = maker("make_study")

RATIO = {"kind": "ratio", "direction": "above", "numerator": {"where": {"x": 1}}, "denominator": {}}
ORDER = {"kind": "order", "factor": "x", "groups": [[1], [2]]}
KNEE = {"kind": "threshold", "factor": "x", "of": "knee"}


def answer(
    check: dict[str, Any], found: Interval | None, paper: float | None = None, **verdict: Any
) -> Answer:
    size = "not claimed" if paper is None else "confirmed"
    told = {"direction": "confirmed", "size": size, "words": "", "estimate": found, "paper": paper}
    check = check if paper is None else {**check, "paper": paper}
    return Answer(claim(check), Verdict("C1", **{**told, **verdict}))


def answers(*found: Answer) -> Answers:
    return Answers(Asked(), found, (), pl.DataFrame(), {})


def test_a_ratio_stands_with_its_interval_beside_the_papers() -> None:
    forest = forest_of(answers(answer(RATIO, Interval(2.0, 1.5, 2.5, 6), 3.0)))
    assert forest is not None
    assert [(row["series"], row["x"]) for row in forest.marks] == [("confirmed", 2.0), (PAPER, 3.0)]
    [span], [band] = forest.spans, forest.bands
    assert (span["low"], span["high"], span["from"], span["to"]) == (1.5, 2.5, True, True)
    assert (band["low"], band["high"]) == (2.0, 4.5)
    assert forest.domain[0] < 1
    assert forest.domain[1] > 4.5
    assert forest.claims[0]["told"] == ["confirmed, size confirmed", "2.00 [1.50, 2.50]; paper 3.00"]


def test_what_the_paper_prints_has_a_line_of_its_own_where_one_is_too_short() -> None:
    printed = {"low": 3, "high": 5, "label": "three to five times"}
    found = answer({**RATIO, "paper": printed}, Interval(1.01, 0.908, 1.12, 6), size="refuted")
    found = replace(found, verdict=replace(found.verdict, paper=3.9))
    forest = forest_of(answers(found))
    assert forest is not None
    assert forest.claims[0]["told"][1:] == ["1.01 [0.908, 1.12]", "paper 3 to 5 (three to five times)"]


def test_a_mean_of_unlike_cells_is_told_with_them() -> None:
    assert answer(RATIO, Interval(3.0, 2.0, 4.0, 6)).found == "3.00 [2.00, 4.00]"
    unlike = answer(RATIO, Interval(3.0, 2.0, 4.0, 6), cells=(1.5, 6.0))
    assert unlike.found == "3.00 [2.00, 4.00] (cells 1.50 to 6.00)"
    forest = forest_of(answers(unlike))
    assert forest is not None
    assert forest.claims[0]["told"] == ["confirmed", "3.00 [2.00, 4.00]", "cells 1.50 to 6.00"]


@pytest.mark.parametrize("high", [math.inf, 1000.0])
def test_an_interval_without_bounds_is_cut_and_says_so(high: float) -> None:
    forest = forest_of(answers(answer(RATIO, Interval(2.0, 0.0, high, 3), direction="inconclusive")))
    assert forest is not None
    [span] = forest.spans
    assert (span["low"], span["high"]) == forest.domain
    assert not span["from"]
    assert not span["to"]
    assert forest.domain[1] < 10, "the ratios are still to be seen"


def test_what_is_no_ratio_is_shown_over_the_papers_figure() -> None:
    found = answers(answer(KNEE, Interval(20.0, 18.0, 22.0, 6), 40.0))
    forest, chart = forest_of(found), forest_chart(found)
    assert forest is not None
    assert [row["x"] for row in forest.marks] == [0.5, 1.0]
    assert chart is not None
    assert "no ratios" in chart.note
    assert forest_of(answers(answer(KNEE, Interval(20.0, 18.0, 22.0, 6)))) is None


def test_a_study_of_checks_alone_has_the_picture_of_its_checks() -> None:
    ratio = answer(RATIO, Interval(2.0, 1.5, 2.5, 6))
    late = {"kind": "value", "above": 4, "unit": "ms"}
    bound = answer(late, Interval(8e6, 6e6, 9e6, 6))
    found = Answers(Asked(), (), (), pl.DataFrame(), {}, checks=(ratio, bound))
    forest, chart = forest_of(found), forest_chart(found)
    assert forest is not None
    assert [row["x"] for row in forest.marks] == [2.0, 2.0], "8 ms are twice the bound of 4 ms"
    assert len(forest.claims) == 2
    assert chart is not None
    assert chart.title == "Checks: what was found"
    assert "hollow squares" not in chart.note
    assert "over the bound" in chart.note
    beside = Answers(Asked(), (ratio,), (), pl.DataFrame(), {}, checks=(bound,))
    [only] = (forest_of(beside) or forest).claims
    assert only["told"] == ["confirmed", "2.00 [1.50, 2.50]"], "a paper's claims stand alone"


def test_an_order_shows_the_ratios_of_its_pairs() -> None:
    pairs = tuple(Evidence(f"{n + 1} over {n}", Interval(n + 1, n, n + 2, 6)) for n in (1, 2))
    figure = Evidence("x 1", Interval(5.0, 4.0, 6.0, 6), "read_service_mean_ns")
    forest = forest_of(answers(answer(ORDER, None, evidence=(figure, *pairs))))
    assert forest is not None
    assert [row["x"] for row in forest.cells] == [2, 3]
    assert (forest.marks, forest.spans) == ([], [])
    assert forest_of(answers(answer(ORDER, None, evidence=(figure,)))) is None


@pytest.mark.parametrize(
    "domain",
    [(0.9, 1.1), (0.87, 1.15), (0.7, 1.4), (0.705, 1.44), (0.5, 2.0), (0.6, 6.0), (0.01, 100.0), (1e-6, 1e6)],
)
def test_ticks_are_round_and_few(domain: tuple[float, float]) -> None:
    found = ticks(domain)
    assert 3 <= len(found) <= 13
    assert all(domain[0] <= value <= domain[1] for value in found)
    assert 1.0 in found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(studies.make_study(tmp_path_factory.mktemp("pictured")))


def test_a_page_opens_with_the_picture_then_figures_then_words(run: Path) -> None:
    page = write_report(run, "html").read_text()
    places = [page.index(words) for words in ('data-for="claims"', 'data-for="figure-0"', "Claims in words")]
    assert places == sorted(places)
    text = write_report(run, "md").read_text()
    places = [text.index(words) for words in ("charts/claims.svg", "charts/figure-4.1.svg", "### Claims\n")]
    assert places == sorted(places)
    svg = (run / "charts" / "claims.svg").read_text()
    assert "confirmed, size refuted" in svg
    assert "Read latency rises with the number of threads." in svg


@pytest.mark.parametrize(
    ("figures", "check", "first"),
    [
        (True, "ratio", 'data-for="claims"'),
        (False, "ratio", 'data-for="claims"'),
        (True, "value", 'data-for="figure-0"'),
        (False, "value", 'data-for="curve-0"'),
    ],
)
def test_a_page_without_claims_opens_with_a_picture_too(
    tmp_path: Path, figures: bool, check: str, first: str
) -> None:
    """Where the checks have nothing to draw, with the study's figures or its curves."""
    text = studies.TEXT[: studies.TEXT.index("[[claims]]")]
    nothing = 'metric = "block_cache_hit_share"\ncheck = { kind = "value", below = 1 }'
    sides = "numerator = { where = { clients = 4 } }, denominator = { where = { clients = 1 } }"
    ratio = f'metric = "read_service_mean_ns"\ncheck = {{ kind = "ratio", direction = "above", {sides} }}'
    text += f'[[checks]]\nid = "K"\nstatement = "s"\n{ratio if check == "ratio" else nothing}\n'
    if figures:
        text += '[[figures]]\nid = "1"\ntitle = "f"\nx = "clients"\ny = "ok_per_s"\n'
    run = Path(studies.make_study(tmp_path, text))
    page = write_report(run, "html").read_text()
    assert page.index(first) < page.index("Checks of ours") < page.index("What was measured")
    assert page.index(first) == page.index('data-for="')
    markdown = write_report(run, "md").read_text()
    assert markdown.index(".svg") < markdown.index("### Checks of ours")


def test_marks_are_drawn_into_files_too() -> None:
    chart = forest_chart(answers(answer(RATIO, Interval(2.0, 1.5, 2.5, 6), 3.0)))
    assert chart is not None
    assert [layer["mark"]["type"] for layer in still(chart)["layer"]].count("point") == 2


def test_a_long_statement_has_two_lines_and_a_longer_one_says_that_it_goes_on() -> None:
    one = answer(RATIO, Interval(2.0, 1.5, 2.5, 6))
    said = [replace(one, claim=one.claim.model_copy(update={"statement": "word " * n})) for n in (4, 30, 60)]
    chart = forest_chart(answers(*said))
    assert chart is not None
    lines = [row["statement"] for row in still(chart)["datasets"]["claims"]]
    assert [len(each) for each in lines] == [1, 2, 2]
    assert [" ".join(each).split().count("word") for each in lines[:2]] == [4, 30]
    assert lines[2][1].endswith(" …")


def test_a_title_longer_than_its_chart_has_several_lines() -> None:
    chart = forest_chart(answers(answer(RATIO, Interval(2.0, 1.5, 2.5, 6), 3.0)))
    assert chart is not None
    lines = still(replace(chart, title="word " * 40))["title"]
    assert " ".join(lines).split() == ["word"] * 40
    assert len(lines) > 1
    assert max(map(len, lines)) < 100


def test_on_a_narrow_terminal_claims_are_a_list(run: Path) -> None:
    told = {}
    for width in (60, 100):
        console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
        show(build(run), console)
        assert isinstance(console.file, io.StringIO)
        told[width] = console.file.getvalue().split("Figure 4.1")[0]
    assert "What the verdicts rest on" in told[100]
    assert "What the verdicts rest on" not in told[60]
    assert "  verdict: confirmed, size refuted (the paper: 4.00)" in told[60]
    assert all(len(line) <= 60 for line in told[60].splitlines())
    claims = told[60][told[60].index("C1:") : told[60].index("Direction is")]
    lone = [line for line in claims.splitlines() if re.fullmatch(r"\s*\S{1,10}", line)]
    assert not lone, "no line of a single short word"


def test_what_a_form_does_not_cover_takes_no_room_and_is_counted() -> None:
    away = answer(RATIO, None, direction="range not covered")
    found = answers(answer(RATIO, Interval(2.0, 1.5, 2.5, 6)), away)
    forest, chart = forest_of(found), forest_chart(found)
    assert forest is not None
    assert chart is not None
    assert len(forest.claims) == 1
    assert chart.note.endswith("Not drawn: 1 of 2, for which this form has no trials.")
    assert forest_chart(answers(away)) is None
