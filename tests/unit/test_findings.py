"""Pages of findings: each is listed and of a shipped study; which of the papers' studies have none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.report.across.form import changed
from steelyard.report.across.kept import read_claims
from steelyard.report.across.model import build_across
from steelyard.report.across.render import page
from steelyard.report.page import render_markdown
from steelyard.spec.papers import read_papers, read_questions
from steelyard.spec.read import both_forms
from steelyard.spec.shipped import find_study, shipped

FINDINGS = Path(__file__).parents[2] / "docs" / "findings"
PAGES = sorted(path.parent.name for path in FINDINGS.glob("*/README.md"))
COMMAND = re.compile(r"`steelyard run ([\w/.-]+)[^`]*`")
PAPERS = ("cs4224-2014", "kuhlenkamp-2014", "load-management", "seis630", "sheth-2023", "versions")
WITHOUT: set[str] = set()
"""Studies of the papers that no page is of yet."""


def text_of(page: str) -> str:
    return (FINDINGS / page / "README.md").read_text(encoding="utf-8")


def shown_of(page: str) -> str:
    """The study that a page is of."""
    command = COMMAND.search(text_of(page))
    assert command, "the command with which it was run"
    return command[1]


def test_every_page_is_listed_once() -> None:
    listed = re.findall(r"^\| \[([\w-]+)\]\(\1/README\.md\) \|", text_of("."), re.MULTILINE)
    assert sorted(listed) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_with_the_command_of_a_shipped_study_that_it_is_named_after(page: str) -> None:
    study = shown_of(page)
    assert study in shipped()
    assert page.startswith(study.replace("/", "-"))


@pytest.mark.parametrize("path", sorted(FINDINGS.glob("*/claims.json")), ids=lambda path: path.parent.name)
def test_verdicts_that_are_kept_can_be_read_and_stand_on_their_page(path: Path) -> None:
    kept = read_claims(path)
    assert path.parent.name.endswith(kept.name.removesuffix("-small"))
    shown = text_of(path.parent.name).replace("\\", "")
    full, _ = both_forms(find_study(shown_of(path.parent.name)))
    assert {a.claim.id for a in kept.answers} == {c.id for c in (*full.claims, *full.checks)}, (
        "the study was changed since: run it, or judge its run, anew"
    )
    for answer in kept.answers:
        rows = re.findall(rf"^\| {re.escape(answer.claim.id)} \| .*$", shown, re.MULTILINE)
        said = f"| {answer.verdict.direction} | {answer.verdict.size} | {answer.found} |"
        assert any(said in row for row in rows), answer.claim.id


def test_every_page_of_the_papers_keeps_its_verdicts() -> None:
    """But those on elasticity, to which no question is put."""
    of_papers = {page for page in PAGES if shown_of(page).startswith(PAPERS) and "elasticity" not in page}
    assert not {page for page in of_papers if not (FINDINGS / page / "claims.json").exists()}


def test_pages_of_another_form_than_is_shipped_now_are_listed_as_such() -> None:
    """A form that was changed since wants to be run again; until then it is said."""
    listed = re.findall(r"^\| \[([\w-]+)\].*\*another form\*", text_of("."), re.MULTILINE)
    kept = {path.parent.name: read_claims(path) for path in FINDINGS.glob("*/claims.json")}
    other = [
        name for name, one in kept.items() if changed(one.study, find_study(shown_of(name)), one.asked.form)
    ]
    assert sorted(listed) == sorted(other)


def test_every_study_of_the_papers_has_a_page_but_these() -> None:
    ran = {shown_of(page) for page in PAGES}
    assert {study for study in shipped() if study.startswith(PAPERS)} - ran == WITHOUT


def test_the_page_across_papers_is_of_all_verdicts_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made again by `steelyard studies across docs/findings/*/claims.json --format md --out ...`."""
    monkeypatch.chdir(FINDINGS.parents[1])
    kept = sorted(Path("docs/findings").glob("*/claims.json"))
    made = render_markdown(page(build_across(kept, read_papers(), read_questions())))
    assert (FINDINGS / "across-papers.md").read_text(encoding="utf-8") == made
