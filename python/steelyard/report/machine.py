"""The report as JSON for other programs, or its claims alone: the model's numbers, units in their names."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from steelyard.errors import InputError
from steelyard.report.model import FIGURES, PhaseReport, ReportModel, TrialReport
from steelyard.report.study.answers import Answer, Answers, answers
from steelyard.report.study.points import PointReport, points
from steelyard.report.timeline.machine import timeline_json

FORMAT = 1
"""Of report.json and claims.json; raised when a field changes its meaning or goes."""


def render_json(model: ReportModel) -> str:
    """The model as JSON text, keys in a fixed order."""
    found = answers(model)
    return _text(
        {
            **_head(model),
            "warnings": [asdict(w) for w in model.warnings],
            **(_claims(found) | _figures(found) if found else {}),
            "points": [_point(p) for p in points(model)],
            "over_trials": {name: asdict(spread) for name, spread in model.over_trials.items()},
            "trials": [_trial(t) for t in model.trials],
        }
    )


def render_claims(model: ReportModel) -> str:
    """Of the same what a study asked and what became of each claim, without trials: small enough to be kept.

    Raises:
        InputError: it is no run of a study with claims.
    """
    found = answers(model)
    if found is None or not (found.claims or found.checks):
        raise InputError(f"{model.path}: it is no run of a study with claims")
    return _text({**_head(model), **_claims(found)})


def _text(facts: Mapping[str, Any]) -> str:
    return json.dumps(jsonable(facts), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _head(model: ReportModel) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": model.name,
        "created": model.created,
        "steelyard": model.version,
        "partial": model.partial,
        "study": model.study,
    }


def _claims(found: Answers) -> dict[str, Any]:
    return {
        "form": found.asked.form,
        "claims": [_claim(answer) for answer in found.claims],
        "checks": [_claim(answer) for answer in found.checks],
    }


def _figures(found: Answers) -> dict[str, Any]:
    return {
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
    said["estimate_metric"] = answer.verdict.metric  # whose unit the estimate has; empty for a ratio
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
