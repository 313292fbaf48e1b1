"""The report as one HTML file that opens without a network: all inside, nothing fetched, all text escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from steelyard.report import headline, logs, tables
from steelyard.report.chart import ROWS
from steelyard.report.charts import Chart, charts_of
from steelyard.report.formatting import clean, digits, plain
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.render import charts_of_interest, write_charts
from steelyard.report.study import Overview, overview
from steelyard.report.study.answers import Answer, Answers, answers
from steelyard.report.study.files import write_tables
from steelyard.report.study.picture import curves_first, forest_chart
from steelyard.report.study.verdicts import checks_table, claims_table, closing, evidence_table, grounds
from steelyard.report.study.verdicts import headline as claims_headline
from steelyard.report.tables import Table
from steelyard.report.timeline.charts import timeline_charts
from steelyard.report.timeline.tables import timeline_tables
from steelyard.results.flat import flat
from steelyard.results.in_effect import part

TEMPLATES = Path(__file__).parent / "templates"
EXPOSED = "window.vegaEmbed = vegaEmbed;"
"""All of the chart library that the page's own script uses."""
FACTS = {
    "system": "System",
    "host": "Host",
    "engine": "Load engine",
    "trial": "Settings",
    "plan": "The engine's plan",
}
"""Manifest section -> heading of its folded table."""


def render_html(model: ReportModel, charts: Path | None) -> str:
    """The page; writes the charts as files as well, if a folder for them is given."""
    study = overview(model)
    views = []
    for trial in () if study else model.trials:
        if charts:
            write_charts(charts_of_interest(trial), charts)
        views.append(_trial(trial, model))
    found = answers(model)
    if charts:
        write_charts({c.key: c for c in _charts(study, found)}, charts)
        if found:
            write_tables(found, charts.parent / "tables")
    scripts = [_script(_bundle()), _script((TEMPLATES / "report.js").read_text(encoding="utf-8"))]
    template = environment().get_template("report.html.j2")
    return template.render(
        model=model,
        subject=headline.subject(model),
        overview=tables.trials(model),
        study=study,
        answers=_answers(found) if found else None,
        curves=_study_figures(study),
        trials=views,
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        scripts=scripts,
        policy=policy([_digest(s) for s in scripts]),
        repeat=headline.repeat_command(model),
    )


def environment() -> jinja2.Environment:
    """Our templates; everything put into them is escaped."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    found = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"clean": clean, "data": _data}
    return found


@lru_cache(maxsize=1)
def _bundle() -> str:
    import vl_convert

    return str(vl_convert.javascript_bundle(EXPOSED))


def _script(source: str) -> Markup:
    """A script that cannot end its element early; line ends as a browser will hash them."""
    safe = (
        source.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
    )
    return Markup(safe)  # noqa: S704 - our own script, or the library's


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def policy(digests: list[str]) -> str:
    """Nothing may be fetched, and only the scripts of these digests may run."""
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _data(value: Any) -> Markup:
    """JSON inside a script element of type application/json; `<` and `&` cannot end it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704


def _audits(trial: TrialReport) -> list[Table]:
    found = tables.audits(trial)
    return [found] if found else []


def _trial(trial: TrialReport, model: ReportModel) -> dict[str, Any]:
    """Everything the template shows of a trial, ready as words."""
    charts = [*timeline_charts(trial), *charts_of(trial)]
    measured = trial.measured.phase.name if trial.measured else ""
    others = [r for r in trial.phases if r is not trial.measured]
    return {
        "trial": trial,
        "subject": headline.subject(model, trial),
        "cards": headline.cards(trial),
        "tables": [*(tables.for_phase(trial.measured) if trial.measured else []), *_audits(trial)],
        "acted": timeline_tables(trial),
        "acted_charts": _figures(trial, charts, "timeline"),
        "effect": [
            t for t in (tables.search(trial), tables.effect(trial), tables.deviations(trial)) if t and t.rows
        ],
        "phases": tables.phases(trial),
        "charts": _figures(trial, charts, measured),
        "system_charts": _figures(trial, charts, "system"),
        "others": [
            {
                "name": r.phase.name,
                "tables": tables.for_phase(r),
                "charts": _figures(trial, charts, r.phase.name),
            }
            for r in others
        ],
        "timeline": _timeline(trial),
        "timing": headline.timing(trial),
        "facts": _facts(trial),
        "files": logs.files(trial),
        "tails": logs.tails(trial),
        "folder": trial.path.relative_to(model.path).as_posix(),
    }


def _figures(trial: TrialReport, charts: list[Chart], group: str) -> list[dict[str, Any]]:
    return [
        {"id": f"chart-{trial.number}-{n}", "title": c.title, "note": c.note, "spec": c.spec}
        for n, c in enumerate(charts)
        if c.group == group
    ]


def _charts(study: Overview | None, found: Answers | None) -> list[Chart]:
    forest = forest_chart(found) if found else None
    drawn = [drawn.chart for drawn in found.figures if drawn.chart] if found else []
    return [*([forest] if forest else []), *drawn, *(study.charts if study else ())]


def _answers(found: Answers) -> dict[str, Any]:
    """What the template shows of claims and the paper's figures."""
    forest = forest_chart(found)
    return {
        "headline": claims_headline(found),
        "paper": bool(found.asked.paper),
        "forest": forest and {"id": "claims", "title": "", "note": forest.note, "spec": forest.spec | ROWS},
        "lists": [
            _claims(heading, table, judged)
            for heading, table, judged in (
                ("Claims in words", claims_table(found), found.claims),
                ("Checks of ours", checks_table(found), found.checks),
            )
            if table
        ],
        "figures": [
            {"id": f"figure-{n}", "title": drawn.title, "note": drawn.chart.note if drawn.chart else "",
             "spec": drawn.chart.spec if drawn.chart else None, "table": drawn.table}
            for n, drawn in enumerate(found.figures)
        ],
        "curves_first": curves_first(found),
        "closing": closing(found),
    }  # fmt: skip


def _claims(heading: str, table: Table, judged: Sequence[Answer]) -> dict[str, Any]:
    """The paper's claims, or our checks, with what each rests on."""
    return {
        "heading": heading,
        "table": table,
        "claims": [
            {"answer": answer, "grounds": list(grounds(answer)), "evidence": evidence_table(answer)}
            for answer in judged
        ],
    }


def _study_figures(study: Overview | None) -> list[dict[str, Any]]:
    return [
        {"id": f"curve-{n}", "title": c.title, "note": c.note, "spec": c.spec}
        for n, c in enumerate(study.charts if study else ())
    ]


def _facts(trial: TrialReport) -> list[Table]:
    found = []
    for section, heading in FACTS.items():
        facts = part(trial.manifest, section)
        facts.pop("deviations", None)
        rows = [(clean(name), plain(value)) for name, value in flat(facts).items()]
        if rows:
            found.append(Table(heading, ("fact", "value"), rows, words=2))
    return found


def _timeline(trial: TrialReport) -> Table | None:
    events = trial.manifest.get("timeline") or ()
    if not events:
        return None
    first = float(events[0].get("t_ns") or 0)
    rows = [
        (
            digits((float(e.get("t_ns") or 0) - first) / 1e9, 4),
            clean(e.get("event", "")),
            plain(e.get("detail")),
        )
        for e in events
    ]
    return Table("Timeline", ("second", "event", "detail"), rows, words=3)
