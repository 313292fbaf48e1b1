"""A study's two forms side by side, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.markup import escape

from steelyard.analysis.warnings.base import percent
from steelyard.report.needs import unreached
from steelyard.results.flat import flat
from steelyard.results.store import study_values
from steelyard.spec.asked import Asked
from steelyard.spec.estimate import estimate, searches_seconds
from steelyard.spec.models import Study
from steelyard.spec.trials import data_to_memory, trials
from steelyard.spec.units import about, bytes_text

SAME = "="


def rows(full: Study, small: Study | None) -> Iterator[tuple[str, ...]]:
    """(setting, full, small) for each setting said in either form, then what each amounts to."""
    forms = [study for study in (full, small) if study]
    values = [{**flat(study_values(study)), "repetitions": study.repetitions} for study in forms]
    hidden = ("name", "question", *Asked.model_fields)
    for path in dict.fromkeys(path for said in values for path in said):
        if path not in hidden:
            yield _row(path, [said.get(path) for said in values])
    for name, cells in _amounts(forms).items():
        yield (name, *cells)
    yield from _asked(full, small)


def _asked(full: Study, small: Study | None) -> Iterator[tuple[str, ...]]:
    """Claims are the same in both forms; what the small one does not reach, or leaves out, it says."""
    for what, claims in (("claim", full.claims), ("check", full.checks)):
        left = unreached(claims, small.cells) if small else {}
        for claim in claims:
            same = escape(left.get(claim.id, SAME))
            yield (f"{what} {claim.id}", escape(claim.statement), *([same] if small else []))
    if full.figures:
        drawn = ", ".join(plot.id for plot in full.figures)
        yield ("figures", drawn, *([SAME] if small else []))
    if small and small.dropped:
        yield ("left out", "", escape("; ".join(small.dropped)))


def _row(path: str, cells: list[Any]) -> tuple[str, ...]:
    words = ["" if cell is None else escape(str(cell)) for cell in cells]
    return (path, words[0], *(SAME if word == words[0] else word for word in words[1:]))


def _amounts(forms: list[Study]) -> dict[str, list[str]]:
    planned = [trials(study) for study in forms]
    needs = [estimate(one) for one in planned]
    return {
        "points": [str(len(study.cells)) for study in forms],
        "trials": [str(len(one)) for one in planned],
        "data to memory of a node": [_data_to_memory(study) for study in forms],
        "time (estimated)": [
            about(need.seconds + searches_seconds(study, one))
            for study, one, need in zip(forms, planned, needs, strict=True)
        ],
        "disk (estimated)": [bytes_text(need.disk_bytes + need.results_bytes) for need in needs],
    }


def _data_to_memory(study: Study) -> str:
    """The least and the most data on a node, with all copies, as a share of the memory it may use."""
    shares = data_to_memory(study.cells)
    if not shares:
        return ""
    least, most = (percent(share) for share in (min(shares), max(shares)))
    return least if least == most else f"{least} to {most}"
