"""A study's answers in every format: verdicts, reasons, the paper's figures, and files for programs."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from made import maker
from rich.console import Console
from typer.testing import CliRunner

import steelyard
from steelyard.analysis.reasons import READ
from steelyard.cli import app
from steelyard.cli.points import show_claims
from steelyard.report import write_report
from steelyard.report.figures import trial_frame
from steelyard.report.model import ReportModel, build
from steelyard.report.study.answers import Answers, answers
from steelyard.report.study.files import escape, latex
from steelyard.report.study.standing import standings_of
from steelyard.report.study.verdicts import checks_table, evidence_table, grounds, headline, methods
from steelyard.report.tables.base import Table
from steelyard.report.text import show
from steelyard.spec.metrics import CLIENT, INSIDE

studies = maker("make_study")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(studies.make_study(tmp_path_factory.mktemp("claimed")))


@pytest.fixture(scope="module")
def model(run: Path) -> ReportModel:
    return build(run)


@pytest.fixture(scope="module")
def found(model: ReportModel) -> Answers:
    told = answers(model)
    assert told is not None
    return told


def test_the_truth_put_in_comes_out(found: Answers) -> None:
    verdicts = {answer.claim.id: answer.verdict for answer in found.claims}
    assert [(v.direction, v.size) for v in verdicts.values()] == [
        ("confirmed", "refuted"),  # 3 / 1.125 = 2.67 times from 1 to 16 clients; 4 was claimed
        ("confirmed", "not claimed"),
        (
            "inconclusive",
            "not claimed",
        ),  # six seconds are too short, and this claim does not say why they count
        ("refuted", "not claimed"),
    ]
    assert verdicts["C1"].estimate is not None
    assert verdicts["C1"].estimate.estimate == pytest.approx(2.67, rel=0.08)
    assert verdicts["C2"].estimate is not None
    assert verdicts["C2"].estimate.estimate == pytest.approx(1.4, rel=0.05)
    assert verdicts["C3"].reasons == ("clients 1, consistency ONE and 5 more: 6 of 6 trials: too short",)
    assert headline(found) == (
        "4 claims: 2 confirmed, 1 refuted, 1 inconclusive; 2 checks of ours: 2 confirmed"
    )


def test_checks_of_ours_are_counted_and_shown_apart(run: Path, found: Answers) -> None:
    assert [answer.claim.id for answer in found.checks] == ["same", "level"]
    assert {answer.verdict.direction for answer in found.checks} == {"confirmed"}
    assert not any(answer.verdict.same_as for answer in found.checks), "another family than the paper's"
    text = write_report(run, "text").read_text()
    assert text.index("Claims\n") < text.index("Checks of ours\n") < text.index("What the verdicts rest on")
    assert [told["id"] for told in json.loads(write_report(run, "json").read_text())["checks"]] == [
        "same",
        "level",
    ]
    page = write_report(run, "html").read_text()
    assert page.index("<h2>Claims in words</h2>") < page.index("<h2>Checks of ours</h2>")


def test_checks_of_ours_stand_in_a_look_at_the_study(run: Path) -> None:
    assert [one.claim for one in standings_of(run)] == ["C1", "C2", "C3", "C4", "same", "level"]


def test_a_value_has_its_unit_and_other_sources_their_word(found: Answers) -> None:
    table = checks_table(found)
    assert table is not None
    assert re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\] ms", table.rows[1][4])
    assert ("other sources", "Another paper > 50 ms: size refuted") in list(grounds(found.checks[1]))


def test_deviations_say_what_this_form_has(found: Answers) -> None:
    assert found.asked.deviations == ("Field sizes are not stated: 10 of 100 bytes, 20,000 records.",)


def test_ratios_of_the_form_that_ran_stand_beside_the_papers(found: Answers) -> None:
    """20,000 records of about 1 KB, three copies, on three nodes of 1 GiB."""
    assert found.ratios is not None
    memory, rate = found.ratios.rows
    assert memory[:2] == ("data to memory", "0.1 to 1")
    assert float(memory[2]) == pytest.approx(20_000 * 1_020 / 2**30, rel=0.02)
    assert rate[2] == "no rate is offered"


def test_a_range_that_the_form_drops_is_said(tmp_path: Path) -> None:
    text = studies.TEXT.replace('id = "C1"', 'id = "C1"\ncovers = [1, 64]', 1)
    told = answers(build(studies.make_study(tmp_path, text)))
    assert told is not None
    assert told.claims[0].verdict.direction == "range not covered"
    assert dict(grounds(told.claims[0]))["not covered"] == "clients 1 to 16 measured, 1 to 64 claimed"
    assert headline(told).startswith("4 claims: 1 confirmed, 1 refuted, 1 inconclusive, 1 range not covered")
    assert not told.claims[0].holds


def test_claims_that_rest_on_one_contrast_are_one_finding(tmp_path: Path) -> None:
    again = '[[claims]]\nid = "C1-again"\nstatement = "As C1."\nmetric = "read_service_mean_ns"\n' + (
        'check = { kind = "trend", factor = "clients", direction = "up" }\n'
        'unsteady = "the paper\'s runs last seconds"\n\n[[checks]]\nid = "same"'
    )
    text = studies.TEXT.replace('[[checks]]\nid = "same"', again, 1)
    told = answers(build(studies.make_study(tmp_path, text)))
    assert told is not None
    assert [answer.verdict.same_as for answer in told.claims] == ["", "", "", "C1", "C1"]
    assert headline(told).startswith("5 claims, 4 findings: 2 confirmed, 1 refuted, 1 inconclusive")
    said = dict(grounds(told.claims[4]))
    assert said["one finding with"] == "C1: the same contrast of the same trials"


def test_a_reason_is_borne_out_by_what_the_servers_did(found: Answers) -> None:
    """At ALL as many replicas answer; the nodes' counters stand still while fewer operations are done."""
    [(why, borne)] = found.claims[1].why
    assert (why.metric, borne.direction) == ("replica_reads_per_op", "confirmed")
    assert borne.estimate is not None
    assert borne.estimate.estimate == pytest.approx(1.4, rel=0.05)


def test_evidence_is_in_units_of_people(found: Answers) -> None:
    table = evidence_table(found.claims[0])
    assert table is not None
    assert table.rows[0][:2] == ("READ service time, mean", "clients 1, consistency ONE")
    value = re.fullmatch(r"([\d.]+) \[([\d.]+), ([\d.]+)\] ms", table.rows[0][2])
    assert value
    assert float(value[2]) < float(value[1]) < float(value[3])


def test_a_figure_has_the_papers_axes_lines_and_values(found: Answers) -> None:
    line, bars = found.figures
    assert (line.title, line.x_title) == (
        "Figure 4.1: Threads and consistency against read latency", "number of threads",
    )  # fmt: skip
    rows = [(row["series"], row["x"], row["source"]) for row in line.rows]
    measured = [(f"consistency {c}", n, "measured") for n in (1, 4, 16) for c in ("ONE", "ALL")]
    assert rows == [*measured, *(("consistency ONE", n, "paper") for n in (1, 4, 16))]
    assert all(row["low"] < row["y"] < row["high"] for row in line.rows if row["source"] == "measured")
    assert line.rows[0]["y"] == pytest.approx(1.1 * 1.125 * 1.13, rel=0.15), "milliseconds"
    assert [row["x"] for row in bars.rows] == ["ONE"] * 3 + ["ALL"] * 3
    assert bars.chart is not None
    assert "bar" in json.dumps(bars.chart.spec)


def test_text_leads_with_the_claims_and_ends_with_the_methods(run: Path) -> None:
    text = write_report(run, "text").read_text()
    order = ["4 claims: 2 confirmed", "Claims\n", "What the verdicts rest on", "Figure 4.1", "Points",
             "Deviations from the paper", "Methods", "Again:"]  # fmt: skip
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    wide = [line for line in text.splitlines()[:-1] if len(line) > 100]
    assert not wide or "servers us/op" in wide[0]  # a table with all its columns, rather than one that fits


def window(columns: int, *, terminal: bool = True) -> Console:
    return Console(file=io.StringIO(), width=columns, force_terminal=terminal, color_system=None)


def shown(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def only_checks(run: Path, folder: Path) -> Path:
    """The same study without a claim of a paper."""
    shutil.copytree(run, folder / "checked")
    path = folder / "checked" / "run.json"
    content = json.loads(path.read_text())
    del content["study"]["claims"]
    path.write_text(json.dumps(content))
    return folder / "checked"


@pytest.mark.parametrize("claimed", [True, False])
@pytest.mark.parametrize(("columns", "terminal"), [(60, True), (140, True), (80, False)])
def test_verdicts_have_one_form_at_the_end_of_a_run_and_in_its_report(
    run: Path, tmp_path: Path, columns: int, terminal: bool, claimed: bool
) -> None:
    path = run if claimed else only_checks(run, tmp_path)
    after, report = window(columns, terminal=terminal), window(columns, terminal=terminal)
    show_claims(path, after)
    show(build(path), report)
    listed = [line for line in shown(after) if "our check same:" in line]
    assert (listed != []) == (columns == 60)
    assert set(shown(after)) <= set(shown(report))
    if columns == 60:
        assert max(map(len, shown(after))) <= 60
    assert shown(after)[-1].endswith("checks of ours: 2 confirmed") or columns == 60


def test_json_has_every_verdict_with_its_evidence(run: Path) -> None:
    told = json.loads(write_report(run, "json").read_text())
    claim = told["claims"][0]
    assert (claim["id"], claim["direction"], claim["size"], claim["holds"]) == (
        "C1",
        "confirmed",
        "refuted",
        False,
    )
    assert claim["paper"] == 4
    assert claim["evidence"][0]["metric"] == "read_service_mean_ns"
    assert claim["why"][0]["direction"] == "confirmed"
    assert told["figures"][0]["points"][0]["trials"] == 6


def test_markdown_and_html_write_charts_and_tables_beside_them(run: Path) -> None:
    text = write_report(run, "md").read_text()
    for file in re.findall(r"\]\((charts/[^)]+\.svg)\)", text):
        assert (run / file).read_text().startswith("<svg")
    titles = re.findall(r"^### (Figure .*)$", text, re.MULTILINE)
    assert sorted(titles) == sorted(set(titles)), "above the chart, not above its table again"
    assert len(titles) == 2
    bare = write_report(run, "md", run / "bare.md", charts=False).read_text()
    assert re.findall(r"^### (Figure .*)$", bare, re.MULTILINE) == titles
    page = write_report(run, "html").read_text()
    assert 'class="badge refuted"' in page
    assert "The paper&#39;s figures" in page
    assert page.count('data-for="figure-') == 2
    with (run / "tables" / "claims.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["direction"] for row in rows[:4]] == ["confirmed", "confirmed", "inconclusive", "refuted"]
    assert [row["ours"] for row in rows] == ["false"] * 4 + ["true"] * 2
    with (run / "tables" / "figure-4.1.csv").open() as file:
        drawn = list(csv.DictReader(file))
    assert len(drawn) == 9
    assert float(drawn[0]["low"]) < float(drawn[0]["READ service time, mean, ms"]) < float(drawn[0]["high"])
    assert pl.read_csv(run / "tables" / "trials.csv").height == 36
    assert r"\begin{tabular}{llllrr}" in (run / "tables" / "claims.tex").read_text()


def test_latex_has_no_accidental_commands() -> None:
    assert escape("50 % of a_b & {c} \\d #1 $x ~^") == (
        r"50 \% of a\_b \& \{c\} \textbackslash{}d \#1 \$x \textasciitilde{}\textasciicircum{}"
    )
    text = latex(Table("A % title", ("a", "b"), [("x\ny", "1")], note="50 %"))
    assert text.splitlines()[1:5] == [r"\begin{tabular}{lr}", r"\hline", r"a & b \\", r"\hline"]
    assert r"x y & 1 \\" in text


def test_attempts_that_failed_before_are_data(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    info = json.loads((copy / "run.json").read_text())
    attempt = {"status": "failed", "reason": "no route to host", "tainted": None}
    info["trials"][1]["attempts"] = [{**attempt, "folder": "attempts/002.1", "seconds": 1.0}]
    (copy / "run.json").write_text(json.dumps(info))
    first, second = trial_frame(copy).sort("trial")["earlier"].to_list()[:2]
    assert (first, second) == (None, [attempt])
    assert "no route to host" in steelyard.open(copy).analysed().write_csv()


def test_scripts_get_all_of_it_as_a_frame(run: Path, model: ReportModel) -> None:
    frame = trial_frame(run, model)
    assert {"replica_reads_per_op", "load_ok_per_s", "server_cpu_share", "outside_s"} <= set(frame.columns)
    shares = frame["outside_s"] / frame["run_s"]
    assert shares.null_count() == 0
    assert frame["outside_share"].to_list() == shares.to_list()
    assert frame["load_insert_service_mean_ns"].null_count() == 0
    strong = frame.filter(pl.col("consistency") == "ALL")["replica_reads_per_op"].mean()
    weak = frame.filter(pl.col("consistency") == "ONE")["replica_reads_per_op"].mean()
    assert strong / weak == pytest.approx(1.4, rel=0.1)  # type: ignore[operator]


def test_every_name_that_claims_may_use_is_measured(run: Path, model: ReportModel) -> None:
    assert set(INSIDE) - {"server_cpu_us"} == set(READ)
    searched = {"search_per_s"}  # only where a rate was searched
    assert set(CLIENT) | set(INSIDE) <= set(trial_frame(run, model).columns) | searched


def test_three_lines_of_a_script_give_everything(run: Path) -> None:
    opened = steelyard.open(run)
    claims = opened.claims()
    assert claims["direction"].to_list()[:4] == ["confirmed", "confirmed", "inconclusive", "refuted"]
    assert claims["found"][1] == pytest.approx(1.4, rel=0.05)
    assert "server_cpu_share" in opened.analysed().columns


def test_the_exit_code_is_the_claims(run: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(run), "--format", "json", "--fail-on-claims"])
    assert result.exit_code == 1
    assert "claims not confirmed: C1 size refuted; C3 inconclusive; C4 refuted" in result.stderr
    plain = tmp_path / "s.toml"
    plain.write_text('workload = "a"\nsystem = { kind = "null" }\nload = { operations = 1 }\n')
    refused = CliRunner().invoke(app, ["run", str(plain), "--fail-on-claims", "--out", str(tmp_path / "out")])
    assert refused.exit_code == 2
    assert "has no [[claims]]" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_the_small_form_claims_direction_only_and_says_what_it_left_out(tmp_path: Path) -> None:
    small = answers(build(studies.make_study(tmp_path, small=True)))
    assert small is not None
    assert {answer.verdict.size for answer in small.claims} == {"not claimed"}
    assert {answer.verdict.direction for answer in small.claims} == {"inconclusive"}, (
        "two repetitions decide nothing"
    )
    assert headline(small).endswith("the small form claims direction only")
    assert small.asked.dropped == ("16 threads",)
    assert any("reset fresh" in text for text in methods(small))


def test_what_no_trial_measured_is_inconclusive(tmp_path: Path) -> None:
    text = studies.TEXT.replace('metric = "ok_per_s"', 'metric = "scan_service_mean_ns"', 1)
    told = answers(build(studies.make_study(tmp_path, text, small=True)))
    assert told is not None
    assert told.claims[2].verdict.direction == "inconclusive"
