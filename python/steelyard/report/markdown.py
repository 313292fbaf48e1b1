"""The report as Markdown, with charts as SVG files beside it."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.analysis.warnings import Warned
from steelyard.report import tables
from steelyard.report.chart import Chart
from steelyard.report.formatting import clean, plain
from steelyard.report.headline import cards, repeat_command, subject, timing
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.study import overview
from steelyard.report.study.answers import Answers, answers
from steelyard.report.study.picture import curves_first, forest_chart
from steelyard.report.study.verdicts import closing, evidence_table, headline, top
from steelyard.report.tables import Table
from steelyard.report.timeline.tables import timeline_tables
from steelyard.results.flat import flat
from steelyard.results.in_effect import part

CHARTS = "charts"
"""The folder of charts beside a page."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~])")


def escape(value: str) -> str:
    """Text that neither Markdown nor HTML takes for markup, in one line."""
    return SPECIAL.sub(r"\\\1", clean(value)).replace("\n", " ").replace("&", "&amp;")


def render_markdown(model: ReportModel, charts: Path | None) -> str:
    """The report as Markdown; writes its charts into `charts`, if that is given."""
    from steelyard.report.render import charts_of_interest, write_charts

    lines = [f"# {escape(model.name)}", "", escape(subject(model)), ""]
    if question := str(model.study.get("question") or ""):
        lines += [f"> {escape(question)}", ""]
    if model.partial:
        lines += ["**This result is half-written; it shows what reached the disk.**", ""]
    lines += _warnings(model.warnings)
    found = answers(model)
    study = overview(model)
    curves = _charts(write_charts({c.key: c for c in study.charts}, charts)) if study and charts else []
    first = found is not None and curves_first(found)
    lines += curves if first else []
    lines += _answers(found, charts) if found else []
    if study:
        for table in study.tables:
            lines += table_lines(table)
        lines += [] if first else curves
    lines += table_lines(tables.trials(model))
    for trial in () if study else model.trials:
        lines += _trial(trial, write_charts(charts_of_interest(trial), charts) if charts else {})
    for table in closing(found) if found else ():
        lines += table_lines(table)
    lines += [
        "## How to repeat",
        "",
        "```",
        repeat_command(model),
        "```",
        "",
        *_fenced(model.study_toml, "toml"),
    ]
    lines += [f"Made by Steelyard {escape(model.version)} from results of {escape(model.created)}.", ""]
    return "\n".join(lines)


def _answers(found: Answers, charts: Path | None) -> list[str]:
    """A picture of all claims or checks, the paper's figures, the claims in words, the evidence."""
    from steelyard.report.study.files import write_tables

    lines = [f"**{escape(said)}**", ""] if (said := headline(found)) else []
    if charts:
        lines += _drawn(forest_chart(found), charts)
        write_tables(found, charts.parent / "tables")
    for drawn in found.figures:
        pictured = _drawn(drawn.chart, charts) if charts else []
        lines += [*pictured, *table_lines(drawn.table, titled=not pictured)]
    for table in top(found):
        lines += table_lines(table)
    for answer in (*found.claims, *found.checks):
        lines += table_lines(evidence_table(answer))
    return lines


def _drawn(chart: Chart | None, folder: Path) -> list[str]:
    """A chart with its note; nothing where there is none."""
    from steelyard.report.render import write_charts

    return [*_charts(write_charts({chart.key: chart}, folder)), escape(chart.note), ""] if chart else []


def _trial(trial: TrialReport, charts: dict[str, str]) -> list[str]:
    lines = [f"## Trial {trial.number}: {escape(trial.status)}", ""]
    lines += [f"- {escape(c.name)}: **{escape(c.value)}** ({escape(c.remark)})" for c in cards(trial)] + [""]
    lines += _warnings(trial.warnings)
    found = timeline_tables(trial) + (tables.for_phase(trial.measured) if trial.measured else [])
    for table in (
        *found,
        tables.audits(trial),
        tables.search(trial),
        tables.phases(trial),
        tables.effect(trial),
        tables.deviations(trial),
    ):
        lines += table_lines(table)
    lines += _charts(charts)
    lines += [f"Timing: {escape(timing(trial))}", ""]
    for heading in ("host", "system"):
        rows = [(name, plain(value)) for name, value in flat(part(trial.manifest, heading)).items()]
        lines += table_lines(Table(heading.capitalize(), ("fact", "value"), rows, words=2) if rows else None)
    return lines


def _charts(charts: dict[str, str]) -> list[str]:
    lines = []
    for title, file in charts.items():
        lines += [f"### {escape(title)}", "", f"![{escape(title)}]({CHARTS}/{file})", ""]
    return lines


def _warnings(warnings: tuple[Warned, ...]) -> list[str]:
    lines = [f"- **{w.level}** ({escape(w.kind)}): {escape(w.text)}" for w in warnings]
    return [*lines, ""] if lines else []


def table_lines(table: Table | None, *, titled: bool = True) -> list[str]:
    """One table, under its title unless it stands below a chart of that; nothing for an empty one."""
    if table is None or not table.rows:
        return []
    marks = ["---" if n < table.words else "---:" for n in range(len(table.columns))]
    rows = [table.columns, *table.rows]
    lines = ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join(marks) + " |")
    note = [escape(table.note), ""] if table.note else []
    return [*([f"### {escape(table.title)}", ""] if titled else []), *lines, "", *note]


def _fenced(text: str, language: str) -> list[str]:
    if not text:
        return []
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, *(clean(line) for line in text.rstrip().splitlines()), fence, ""]
