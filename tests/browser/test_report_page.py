"""The HTML report in a real browser without a network: charts drawn, nothing fetched, nothing foreign run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from made import maker
from made_acted import make_acted
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from steelyard.report import write_report

pytestmark = pytest.mark.browser
CHROMIUM = Path("/usr/bin/chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
         "--disable-background-networking", "--disable-sync"]  # fmt: skip
HOSTILE = "</pre></script><script>window.attacked = 1; alert(1)</script><img src=x onerror='attacked = 1'>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM.exists(), "needs Debian's chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = maker("make_results")
    run = samples.make(
        tmp_path_factory.mktemp("run"), samples.Sample(seconds=20, load_seconds=4, hostile=HOSTILE)
    )
    (run / "trials" / "001" / "servers" / "node1" / "system.log").write_text(f"ERROR {HOSTILE}\n" * 3)
    manifest = run / "trials" / "001" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"settle", "detail"', '"server died", "detail"').replace(
        '"event": "settle"', '"event": "server died"'))  # fmt: skip
    return write_report(run, "html", charts=False)


@pytest.fixture(scope="module")
def study_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with claims and a paper's figures, one statement of which means harm."""
    studies, hostile = maker("make_study"), json.dumps("Reads slow down. " + HOSTILE)
    text = studies.TEXT.replace('"More threads give shorter reads."', hostile)
    return write_report(studies.make_study(tmp_path_factory.mktemp("study"), text), "html", charts=False)


@pytest.fixture(scope="module")
def acted_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial in which a node joined."""
    run = make_acted(tmp_path_factory.mktemp("acted"), hostile=HOSTILE)
    return write_report(run / "trials" / "002", "html", charts=False)


class Visit:
    """One opened page with all it complained about and asked for."""

    def __init__(self, browser: Browser, file: Path, width: int, scheme: str) -> None:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            offline=True,
            reduced_motion="reduce",
        )
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def draw_all(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        for chart in self.page.locator(".chart").all():
            chart.scroll_into_view_if_needed()
        expect(self.page.locator(".chart:not([data-drawn])")).to_have_count(0, timeout=30_000)


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]
)
def test_the_page_opens_without_a_network(browser: Browser, report: Path, width: int, scheme: str) -> None:
    visit = Visit(browser, report, width, scheme)
    visit.draw_all()
    page = visit.page
    assert visit.said == []
    assert visit.asked == [report.as_uri()]
    assert page.locator(".chart").count() >= 12
    for chart in page.locator(".chart").all():
        assert chart.locator("svg .mark-line path").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("table").count() >= 8
    assert page.get_by_text("watching and lab").first.is_visible()
    page.context.close()


@pytest.mark.parametrize("width", [1280, 400])
def test_a_studys_page_leads_with_claims_and_figures(
    browser: Browser, study_report: Path, width: int
) -> None:
    visit = Visit(browser, study_report, width, "light")
    visit.draw_all()
    page = visit.page
    assert visit.said == []
    assert visit.asked == [study_report.as_uri()]
    assert page.evaluate("window.attacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    papers, ours = page.locator(".claims").all()
    assert papers.locator(".badge.confirmed").count() == 2
    assert ours.locator(".badge.confirmed").count() == 2
    assert [h2.inner_text() for h2 in page.locator("h2").all()[:3]] == [
        "The paper's figures",
        "Claims in words",
        "Checks of ours",
    ]
    claims, line, bars = page.locator(".chart").all()[:3]
    assert claims.locator("svg .mark-symbol.role-mark path").count() == 4 + 1, (
        "a mark a claim, and one of the paper's"
    )
    assert "confirmed, size refuted" in (claims.locator("svg").text_content() or "")
    assert line.locator("svg .mark-line path").count() == 2
    assert line.locator("svg .mark-rule.role-mark line").count() == 6, "an error bar for each point"
    assert bars.locator("svg .mark-rect.role-mark path").count() == 6
    names = [text.text_content() for text in line.locator("svg .role-legend-label text").all()]
    assert names == ["consistency ONE", "consistency ALL"]
    page.context.close()


def drawn(page: Page, title: str) -> Locator:
    """The chart of that title."""
    whole = page.locator("h3", has_text=re.compile(f"^{title}$"))
    return page.locator("figure", has=whole).locator(".chart svg")


@pytest.mark.parametrize("width", [1280, 400])
def test_what_was_done_to_the_cluster_is_drawn(browser: Browser, acted_report: Path, width: int) -> None:
    visit = Visit(browser, acted_report, width, "light")
    visit.draw_all()
    page = visit.page
    assert visit.said == []
    assert page.evaluate("window.attacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for title in ("Latency around the actions", "Throughput around the actions", "Nodes", "CPU of the nodes"):
        chart = drawn(page, title)
        box = chart.bounding_box()
        assert box, title
        assert box["height"] > 100, title
        assert chart.locator(".mark-rect.role-mark path").count() >= 1, f"{title}: shaded while a node joins"
    lanes = drawn(page, "Nodes").locator(".mark-rect.role-mark path").all()
    assert all(box and box["height"] > 5 for box in (path.bounding_box() for path in lanes))
    titles = [title.inner_text() for title in page.locator("section.table h3").all()]
    assert {"Actions", "Milestones", "Before, during and after", "What was felt"} <= {*titles}
    page.context.close()


def test_foreign_text_is_shown_and_never_run(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, 1280, "light")
    visit.draw_all()
    assert visit.page.evaluate("window.attacked") is None
    assert visit.said == []
    assert visit.page.get_by_text("window.attacked").count() > 0
    assert visit.page.locator("img").count() == 0
    assert "ERROR" in visit.page.locator("pre", has_text="ERROR").first.inner_text()
    visit.page.context.close()


def test_even_an_inserted_script_is_refused(browser: Browser, report: Path) -> None:
    """The second lock: the page's own policy runs nothing but the two scripts whose digests it names."""
    visit = Visit(browser, report, 1280, "light")
    visit.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.attacked = 1';"
        " document.body.append(s); }"
    )
    assert visit.page.evaluate("window.attacked") is None
    assert any("Content Security Policy" in line for line in visit.said)
    visit.page.context.close()


def test_pointing_at_a_line_shows_its_figures(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, 1280, "light")
    visit.draw_all()
    visit.page.evaluate("document.querySelectorAll('.chart')[0].scrollIntoView()")
    box = visit.page.locator(".chart").first.locator(".mark-symbol path").nth(5).bounding_box()
    assert box
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = visit.page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    assert "operations per second" in tip.inner_text()
    visit.page.context.close()
