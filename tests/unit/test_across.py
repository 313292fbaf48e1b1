"""A page across papers: who answers what, what ours bears out, in every format."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from made import DATA, maker
from typer.testing import CliRunner

from steelyard.analysis.stats.runs import Interval
from steelyard.cli import app
from steelyard.cli.output import put_out
from steelyard.errors import InputError
from steelyard.report import write_report
from steelyard.report.across import model as across_model
from steelyard.report.across.model import Across, Ours, build_across
from steelyard.report.across.picture import ratios_chart
from steelyard.report.across.render import headline, page, question_table, render_json
from steelyard.report.formatting import clean
from steelyard.report.machine import jsonable
from steelyard.report.page import RENDERERS, render_markdown
from steelyard.spec.papers import Paper, Question

studies = maker("make_study")

LEVELS = """
[[claims]]
id = "{id}"
statement = "Reads at ALL over reads at ONE."
metric = "read_service_mean_ns"
unsteady = "the paper's runs last seconds"
[claims.check]
numerator = {{ where = {{ consistency = "ALL" }} }}
denominator = {{ where = {{ consistency = "ONE" }} }}
{check}
"""
CHECKS = {
    "slower": 'kind = "ratio"\ndirection = "above"',
    "sooner": 'kind = "ratio"\ndirection = "below"',
    "roughly": 'kind = "equality"\nmargin = 0.6',
    "alike": 'kind = "equality"\nmargin = 0.1',
}
TEXT = studies.TEXT.replace(
    '[[checks]]\nid = "same"',
    "".join(LEVELS.format(id=name, check=check) for name, check in CHECKS.items())
    + '\n[[checks]]\nid = "same"',
    1,
)
"""The made-up study, whose reads take 1.4 times as long at ALL: two claims say so, the others deny it."""
HOSTILE = "<script>alert(1)</script>\x1b[31m|"

QUESTIONS = {
    "level": Question(asks="Which level reads sooner?", ratio="ONE over ALL", sides=("ONE", "ALL")),
    "threads": Question(asks="What do threads do?", sides=("raise latency", "lower it", HOSTILE)),
    "unasked": Question(asks="Is it red?", sides=("yes", "no")),
}
PAPERS = {
    "first": {
        "a": {"says": "ONE reads sooner.", "claims": {"p/claimed": ["slower"]}, "question": "level",
              "figure": 0.7},
        "b": {"says": HOSTILE, "claims": {"p/claimed": ["C1"]}, "question": "threads",
              "side": "raise latency"},
    },
    "second": {
        "a": {"says": "ALL does.", "claims": {"p/claimed": ["sooner"]}, "question": "level", "side": "ALL"},
        "b": {"says": "Less.", "claims": {"p/claimed": ["C4"]}, "question": "threads", "side": "lower it"},
        "c": {"says": "Else.", "omitted": "no study", "question": "threads", "side": HOSTILE},
        "d": {"says": "Less.", "claims": {"p/other": ["x"]}, "question": "level", "side": "ALL"},
    },
}  # fmt: skip


def papers() -> dict[str, Paper]:
    return {name: Paper.model_validate({"title": name, "claims": claims}) for name, claims in PAPERS.items()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(studies.make_study(tmp_path_factory.mktemp("across"), TEXT))


@pytest.fixture(autouse=True)
def shipped(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up study, and one of another paper that has its name."""
    other = run.parent / "other.toml"
    other.write_text('paper = "another"\n')
    found = {"o/claimed": other, "p/claimed": run.parent / "claimed.toml"}
    monkeypatch.setattr(across_model, "shipped", lambda: found)


@pytest.fixture(scope="module")
def built(run: Path) -> Across:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(across_model, "shipped", lambda: {"p/claimed": run.parent / "claimed.toml"})
        return build_across([run], papers(), QUESTIONS)


def one_paper(*claimed: dict[str, list[str]], side: str, question: str) -> dict[str, Paper]:
    """A paper that answers a question once for each of the claims that judge it."""
    entries = {
        str(number): {"says": "So it is.", "claims": claims, "question": question, "side": side}
        for number, claims in enumerate(claimed)
    }
    return {"one": Paper.model_validate({"title": "one", "claims": entries})}


def ours(model: Across, question: str) -> dict[str, Ours]:
    (asked,) = (one for one in model.questions if one.name == question)
    return {one.claim: one for one in asked.ours}


def test_a_ratio_of_ours_is_turned_to_the_questions(built: Across) -> None:
    """Both claims rest on 1.4 times as long at ALL: ONE over ALL it is 0.71, whatever a claim says of it."""
    level = ours(built, "level")
    assert {claim: one.direction for claim, one in level.items()} == {
        "slower": "confirmed", "sooner": "refuted", "x": "not given",
    }  # fmt: skip
    for claim in ("slower", "sooner"):
        ratio = level[claim].ratio
        assert ratio is not None
        assert ratio.low < ratio.estimate < ratio.high
    assert level["slower"].ratio.estimate == pytest.approx(1 / 1.4, rel=0.05)  # type: ignore[union-attr]


def test_what_is_confirmed_bears_out_and_what_is_refuted_bears_out_the_other(
    built: Across, run: Path
) -> None:
    level, threads = ours(built, "level"), ours(built, "threads")
    assert [level[claim].bears_out for claim in ("slower", "sooner", "x")] == ["ONE", "ONE", ""]
    assert (threads["C1"].bears_out, threads["C1"].against) == ("raise latency", "")
    assert (threads["C4"].bears_out, threads["C4"].against) == ("", "lower it"), "one of three sides"
    apart = {**QUESTIONS, "threads": QUESTIONS["threads"].model_copy(update={"beyond_trend": True})}
    on = ours(build_across([run], papers(), apart), "threads")
    assert (on["C1"].direction, on["C1"].bears_out) == ("confirmed", ""), "what levels off rises, too"
    assert threads["C1"].ratio is None
    assert threads["C1"].found.startswith("READ service time, mean: slope 0.")
    assert "last level over first 2." in threads["C1"].found


def test_an_equality_that_is_refuted_bears_no_other_side_out(run: Path) -> None:
    """What does not take as long may take longer or less long, so that two sides are not all there are."""
    beside = Question(asks="How long do reads take at ALL, beside ONE?", sides=("as long", "longer"))
    paper = one_paper({"p/claimed": ["roughly", "alike"]}, side="as long", question="beside")
    model = build_across([run], paper, {"beside": beside})
    assert [(one.claim, one.direction, one.bears_out, one.against) for one in model.questions[0].ours] == [
        ("roughly", "confirmed", "as long", ""),
        ("alike", "refuted", "", "as long"),
    ]
    assert question_table(model.questions[0]).note.endswith(
        "Ours bears out as long (p/claimed: roughly); speaks against as long (p/claimed: alike)."
    )


def test_the_table_says_who_contradicts_whom_and_what_ours_says(built: Across) -> None:
    table = question_table(built.questions[0])
    assert table.title == "Which level reads sooner? (ONE over ALL)"
    assert [row[:5] for row in table.rows] == [
        ("first", "ONE reads sooner.", "ONE", "p/claimed: slower", "confirmed"),
        ("second", "ALL does.", "ALL", "p/claimed: sooner", "refuted"),
        ("second", "Less.", "ALL", "p/other: x", "not given"),
    ]
    assert [row[5] for row in table.rows] == ["0.700", "-", "-"]
    assert table.note == (
        "Contradictory: ONE (first); ALL (second). Ours bears out ONE (p/claimed: slower, p/claimed: sooner)."
    )
    told = "2 questions: sources contradict each other in 2; ours bears out one answer in 2"
    assert headline(built) == told


def test_without_results_the_papers_stand_alone() -> None:
    alone = build_across([], papers(), QUESTIONS)
    assert headline(alone) == "2 questions: sources contradict each other in 2"
    assert {one.direction for asked in alone.questions for one in asked.ours} == {"not given"}
    assert question_table(alone.questions[0]).note.endswith("Ours is not given.")
    assert "No result was given" in RENDERERS["text"](page(alone))


def test_two_results_of_one_study_stand_side_by_side(run: Path) -> None:
    twice = build_across([run, run], papers(), QUESTIONS)
    assert len(twice.questions[0].said[0].ours) == 2


def test_a_study_of_the_same_name_of_another_paper_answers_nothing(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are shipped as `claimed`, with a claim of the same name; the result is of one of them."""
    paper = one_paper({"o/claimed": ["slower"]}, {"p/claimed": ["slower"]}, side="ONE", question="level")
    model = build_across([run], paper, QUESTIONS)
    assert [given.study for given in model.given] == ["p/claimed"]
    assert [(one.study, one.direction) for one in model.questions[0].ours] == [
        ("o/claimed", "not given"),
        ("p/claimed", "confirmed"),
    ]
    monkeypatch.setattr(across_model, "shipped", lambda: {"o/claimed": run.parent / "other.toml"})
    with pytest.raises(InputError, match="a run of 'claimed', which is no shipped study"):
        build_across([run], paper, QUESTIONS)


def test_a_result_that_answers_nothing_is_said(run: Path) -> None:
    only = {"second": papers()["second"].model_copy(update={"claims": {}})}
    model = build_across([run], only, QUESTIONS)
    assert model.questions == ()
    (given,) = page(model).tables
    assert list(given.rows) == [("p/claimed", "full", "-", "-", str(run), "none of these")]


def test_answers_stand_at_a_glance_above_the_tables(built: Across) -> None:
    table = page(built).tables[0]
    assert table.title == "Answers"
    assert [row[1:] for row in table.rows] == [
        ("ONE (1) against ALL (1)", "ONE (2)"),
        (
            f"raise latency (1) against lower it (1) against {clean(HOSTILE)} (1)",
            "raise latency (1); against lower it (1)",
        ),
    ]


def test_what_decides_nothing_says_why(run: Path) -> None:
    """A trend that several answers have, and a study of which nothing is given."""
    apart = {"threads": QUESTIONS["threads"].model_copy(update={"beyond_trend": True, "note": "So it is."})}
    only = one_paper({"p/claimed": ["C1"]}, {"o/claimed": ["x"]}, side="raise latency", question="threads")
    model = build_across([run], only, apart)
    note = question_table(model.questions[0]).note
    assert "Ours is open: 1 confirmed of a trend that several answers have, 1 not given. So it is." in note
    assert page(model).tables[0].rows[0][2] == "open (1)"


def test_ratios_are_drawn_with_the_papers(built: Across, run: Path, tmp_path: Path) -> None:
    chart = ratios_chart(built)
    assert chart is not None
    data = chart.spec["datasets"]
    assert [row["claim"] for row in data["claims"]] == ["claimed: slower", "claimed: sooner"]
    drawn = [(mark["claim"], mark["series"], mark["x"]) for mark in data["marks"]]
    assert [one for one in drawn if one[1] == "the paper"] == [("claimed: slower", "the paper", 0.7)]
    assert [one[2] for one in drawn if one[1] != "the paper"] == pytest.approx([1 / 1.4] * 2, rel=0.05)
    kept = write_report(run, "claims", tmp_path / "kept.json")
    twice = ratios_chart(build_across([run, kept], papers(), QUESTIONS))
    assert twice is not None
    assert len({row["claim"] for row in twice.spec["datasets"]["claims"]}) == 4
    assert ratios_chart(build_across([], papers(), QUESTIONS)) is None


@pytest.mark.parametrize(
    ("figure", "drawn"), [({"low": 0.2, "high": 0.8}, [0.4]), ({"low": 0.2}, []), ({"high": 0.8}, [])]
)
def test_a_bound_is_no_figure_to_be_drawn(run: Path, figure: dict[str, float], drawn: list[float]) -> None:
    """Of a range its middle; that something lies beyond says not where."""
    told = {"says": "So it is.", "claims": {"p/claimed": ["slower"]}, "question": "level", "side": "ONE"}
    paper = Paper.model_validate({"title": "one", "claims": {"a": {**told, "figure": figure}}})
    chart = ratios_chart(build_across([run], {"one": paper}, QUESTIONS))
    assert chart is not None
    marks = chart.spec["datasets"]["marks"]
    assert [mark["x"] for mark in marks if mark["series"] == "the paper"] == pytest.approx(drawn)


@pytest.mark.parametrize("format", ["text", "md", "html"])
def test_every_format_says_the_same_and_obeys_nothing(built: Across, format: str) -> None:
    written = RENDERERS[format](page(built))
    assert "bears out ONE" in " ".join(html.unescape(written).split())
    assert "\x1b" not in written
    if format == "html":
        assert "<script" not in written
        assert "<svg" in written
        assert "default-src 'none'" in html.unescape(written)
    if format == "md":
        assert "<script" not in written.replace("\\<", "")
    if format == "text":
        assert max(map(len, written.splitlines())) <= 100


def test_what_a_file_says_is_escaped_in_a_pages_picture(run: Path) -> None:
    """Its SVG stands in the page itself."""
    asks = {"level": QUESTIONS["level"].model_copy(update={"asks": "<img src=x onerror=alert(1)>"})}
    written = RENDERERS["html"](page(build_across([run], papers(), asks)))
    picture = written[written.index("<svg") : written.index("</svg>")]
    assert "&lt;img" in picture
    assert "<img" not in written


def test_json_has_every_figure(built: Across, run: Path) -> None:
    told = json.loads(render_json(built))
    assert told["results"] == [
        {"path": str(run), "study": "p/claimed", "form": "full", "kept": "", "changed": []}
    ]
    first = told["questions"][0]["said"][0]
    assert (first["source"], first["side"], first["figure"]["low"]) == ("first", "ONE", 0.7)
    assert first["ours"][0]["ratio"]["estimate"] == pytest.approx(1 / 1.4, rel=0.05)


def test_a_result_of_another_form_than_is_shipped_says_by_which_settings(
    run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its verdicts count, and are marked; more trials, or other words, are no other form."""
    values = tomlkit.parse((run / "study.toml").read_text(encoding="utf-8"))
    values["repetitions"], values["question"] = 7, "What else?"
    values["workload"]["records"], values["load"]["warmup_s"] = 12_345, 3  # type: ignore[index]
    now = tmp_path / "claimed.toml"
    now.write_text(tomlkit.dumps(values), encoding="utf-8")
    monkeypatch.setattr(across_model, "shipped", lambda: {"p/claimed": now})
    model = build_across([run], papers(), QUESTIONS)
    assert model.given[0].changed == ("load.warmup_s", "workload.records")
    assert ours(model, "level")["slower"].other_form
    text = render_markdown(page(model))
    assert "| p/claimed | full | load.warmup\\_s, workload.records |" in text
    assert "| refuted, another form |" in text


def test_a_result_of_no_shipped_study_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(across_model, "shipped", lambda: {"p/claims": run.parent / "claimed.toml"})
    with pytest.raises(
        InputError, match=r"a run of 'claimed', which is no shipped study \(did you mean 'claims'"
    ):
        build_across([run], papers(), QUESTIONS)
    with pytest.raises(InputError, match="it is no run of a study with claims"):
        build_across([DATA / "results" / "sample"], papers(), QUESTIONS)


@pytest.mark.parametrize("format", ["claims", "json"])
def test_what_a_report_wrote_down_says_the_same_as_the_run(
    built: Across, run: Path, tmp_path: Path, format: str
) -> None:
    kept = write_report(run, format, tmp_path / "kept.json")
    model = build_across([kept], papers(), QUESTIONS)
    assert [asked.ours for asked in model.questions] == [
        tuple(replace(one, run=one.run.replace(str(run), str(kept))) for one in asked.ours)
        for asked in built.questions
    ]
    given = page(model).tables[-1]
    created = json.loads(kept.read_text())["created"][:10]
    assert list(given.rows) == [
        ("p/claimed", "full", "-", f"run of {created}, as it was judged then", str(kept), "2")
    ]


def test_an_interval_without_an_end_comes_back_without_one(run: Path, tmp_path: Path) -> None:
    kept = tmp_path / "claims.json"
    told = json.loads(write_report(run, "claims", kept).read_text())
    (slower,) = (one for one in told["claims"] if one["id"] == "slower")
    slower["estimate"] = json.loads(jsonable_text(Interval(0.5, 0, float("inf"), 2)))
    kept.write_text(json.dumps(told))
    ratio = ours(build_across([kept], papers(), QUESTIONS), "level")["slower"].ratio
    assert ratio == Interval(2, 0, float("inf"), 2)


@pytest.mark.parametrize(("ratio", "sides", "told"), [
    ("ONE over ALL", ("ONE", "ALL"), "(cells 0.500 to 0.800)"),
    ("ALL over ONE", ("ALL", "ONE"), "(cells 1.25 to 2.00)"),
])  # fmt: skip
def test_unlike_cells_are_turned_with_their_mean(
    run: Path, tmp_path: Path, ratio: str, sides: tuple[str, str], told: str
) -> None:
    kept = tmp_path / "claims.json"
    written = json.loads(write_report(run, "claims", kept).read_text())
    for one in written["claims"]:
        one["cells"] = [1.25, 2.0]
    kept.write_text(json.dumps(written))
    question = Question(asks="Which level reads sooner?", ratio=ratio, sides=sides)
    model = build_across(
        [kept], one_paper({"p/claimed": ["slower"]}, side="ONE", question="q"), {"q": question}
    )
    (found,) = model.questions[0].ours
    assert found.found.endswith(told)


def test_a_finding_without_an_estimate_is_kept_in_words(run: Path, tmp_path: Path) -> None:
    kept = tmp_path / "claims.json"
    written = json.loads(write_report(run, "claims", kept).read_text())
    written["claims"][0] |= {"id": "C1", "estimate": None, "words": "slopes 1 against 2"}
    kept.write_text(json.dumps(written))
    found = ours(build_across([kept], papers(), QUESTIONS), "threads")["C1"].found
    assert found == "READ service time, mean: slopes 1 against 2"


def jsonable_text(interval: Interval) -> str:
    return json.dumps(jsonable(asdict(interval)), allow_nan=False)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"format": 1,\n"x"}', r"kept.json:2: not JSON"),
        ('{"format": 99}', r"kept.json: it is no report of format 1"),
        ("[]", r"kept.json: it is no report of format 1"),
        ('{"format": 1, "study": {"name": "claimed"}}', r"kept.json: claims: Field required"),
    ],
)
def test_a_file_that_is_no_report_of_claims_is_refused(tmp_path: Path, text: str, answer: str) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(text)
    with pytest.raises(InputError, match=answer):
        build_across([kept], papers(), QUESTIONS)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (lambda told: told["claims"][0].update(direction=HOSTILE), r"claims.0.direction: Input should be"),
        (lambda told: told["claims"][0].update(estimate={"low": "x"}), r"claims.0.estimate.estimate: Field"),
        (lambda told: told["claims"][0].update(id="C99"), r"its study has no claim 'C99'"),
        (lambda told: told["study"].update(claims=[1]), r"kept.json: its claims cannot be read"),
    ],
)
def test_claims_that_were_changed_by_hand_are_refused(
    run: Path, tmp_path: Path, change: Callable[[Any], None], answer: str
) -> None:
    kept = write_report(run, "claims", tmp_path / "kept.json")
    told = json.loads(kept.read_text())
    change(told)
    kept.write_text(json.dumps(told))
    with pytest.raises(InputError, match=answer):
        build_across([kept], papers(), QUESTIONS)


def test_a_run_without_claims_has_none_to_be_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is no run of a study with claims"):
        write_report(DATA / "results" / "sample", "claims", tmp_path / "claims.json")
    assert not (tmp_path / "claims.json").exists()


def words(*told: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["studies", "across", *told])
    return result.exit_code, result.output


def test_the_shipped_papers_and_questions_on_the_command_line(tmp_path: Path) -> None:
    code, text = words("--question", "throughput-b")
    assert code == 0
    assert "sources contradict each other in 1" in text, (
        "load-management has HBase ahead, the others Cassandra"
    )
    out = tmp_path / "page" / "across.html"
    code, text = words("--format", "html", "--out", str(out))
    assert (code, text.strip()) == (0, str(out))
    assert "Which system reads faster" in out.read_text()


def test_markdown_has_its_picture_beside_it(built: Across, tmp_path: Path) -> None:
    out = tmp_path / "page" / "across.md"
    put_out(page(built), lambda: "", "md", out, "across")
    (picture,) = re.findall(r"!\[.*\]\((.*)\)", out.read_text())
    assert (out.parent / picture).read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("told", "answer"),
    [(["--question", "read-c"], "did you mean 'read-"), (["--format", "htm"], "did you mean 'html'?"),
     (["nowhere"], "nowhere")],
)  # fmt: skip
def test_what_there_is_not_is_the_users_error(told: list[str], answer: str) -> None:
    code, text = words(*told)
    assert code == 2
    assert answer in text


def test_help_teaches() -> None:
    code, text = words("--help")
    assert code == 0
    assert "Example: steelyard studies across" in text
