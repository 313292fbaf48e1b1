"""The report as JSON for other programs: the model's numbers, units in their names."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from steelyard.report.model import FIGURES, PhaseReport, ReportModel, TrialReport
from steelyard.report.study.answers import Answer, Answers, answers
from steelyard.report.study.points import PointReport, points
from steelyard.report.timeline.machine import timeline_json

FORMAT = 1
"""Of report.json; raised when a field changes its meaning or goes."""


def render_json(model: ReportModel) -> str:
    """The model as JSON text, keys in a fixed order."""
    found = answers(model)
    facts = {
        "format": FORMAT,
        "name": model.name,
        "created": model.created,
        "steelyard": model.version,
        "partial": model.partial,
        "study": model.study,
        "warnings": [asdict(w) for w in model.warnings],
        **(_answers(found) if found else {}),
        "points": [_point(p) for p in points(model)],
        "over_trials": {name: asdict(spread) for name, spread in model.over_trials.items()},
        "trials": [_trial(t) for t in model.trials],
    }
    return json.dumps(jsonable(facts), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _answers(found: Answers) -> dict[str, Any]:
    return {
        "form": found.asked.form,
        "claims": [_claim(answer) for answer in found.claims],
        "checks": [_claim(answer) for answer in found.checks],
        "figures": [
            {
                "id": drawn.key,
                "title": drawn.title,
                "x": drawn.x_title,
                "y": drawn.y_title,
                "points": drawn.rows,
            }
            for drawn in found.figures
        ],
        "deviations": found.asked.deviations,
        "dropped": found.asked.dropped,
    }


def _claim(answer: Answer) -> dict[str, Any]:
    said = {"statement": answer.claim.statement, "source": answer.claim.source, "metric": answer.claim.metric}
    why = [{**why.model_dump(), **asdict(borne)} for why, borne in answer.why]
    return {**asdict(answer.verdict), **said, "holds": answer.holds, "why": why}


def _point(point: PointReport) -> dict[str, Any]:
    figures = {name: point.interval(figure) for name, figure in FIGURES.items()}
    return {
        "system": point.system,
        "variant": point.variant,
        "levels": dict(point.levels),
        "trials": [trial.number for trial in point.trials],
        "planned": point.planned,
        "figures": {name: asdict(found) for name, found in figures.items() if found},
    }


def _trial(trial: TrialReport) -> dict[str, Any]:
    return {
        "number": trial.number,
        "repetition": trial.repetition,
        "status": trial.status,
        "partial": trial.partial,
        "measured": trial.measured.phase.name if trial.measured else None,
        "client_cpu_us_per_op": trial.client_cpu_us,
        "server_cpu_us_per_op": trial.server_cpu_us,
        "node_cpu_us_per_op": trial.node_cpu_us,
        "master_cpu_us_per_op": trial.master_cpu_us,
        "warnings": [asdict(w) for w in trial.warnings],
        "phases": [_phase(p) for p in trial.phases],
        **({"timeline": told} if (told := timeline_json(trial)) else {}),
        "timing_s": trial.manifest.get("timing") or {},
    }


def _phase(report: PhaseReport) -> dict[str, Any]:
    traffic = report.phase.traffic
    return {
        **asdict(report),
        "ok_per_s": report.phase.ok_per_s,
        "closed_loop": report.phase.closed,
        "requests_per_write": traffic and traffic.requests_per_write,
        "answers_per_read": traffic and traffic.answers_per_read,
    }


def jsonable(value: Any) -> Any:
    """Tables and lists of plain values; a number JSON has no word for is null."""
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
