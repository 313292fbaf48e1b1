"""A study's two forms side by side, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.markup import escape

from steelyard.pace import about
from steelyard.results.store import flat, study_values
from steelyard.spec.estimate import estimate
from steelyard.spec.study import Study
from steelyard.spec.trials import trials
from steelyard.spec.units import bytes_text

SAME = "="


def rows(full: Study, small: Study | None) -> Iterator[tuple[str, ...]]:
    """(setting, full, small) for each setting said in either form, then what each amounts to."""
    forms = [study for study in (full, small) if study]
    values = [{**flat(study_values(study)), "repetitions": study.repetitions} for study in forms]
    hidden = ("name", "question")
    for path in dict.fromkeys(path for said in values for path in said):
        if path not in hidden:
            yield _row(path, [said.get(path) for said in values])
    for name, cells in _amounts(forms).items():
        yield (name, *cells)


def _row(path: str, cells: list[Any]) -> tuple[str, ...]:
    words = ["" if cell is None else escape(str(cell)) for cell in cells]
    return (path, words[0], *(SAME if word == words[0] else word for word in words[1:]))


def _amounts(forms: list[Study]) -> dict[str, list[str]]:
    planned = [trials(study) for study in forms]
    needs = [estimate(one) for one in planned]
    return {
        "points": [str(len(study.cells)) for study in forms],
        "trials": [str(len(one)) for one in planned],
        "time (estimated)": [about(need.seconds) for need in needs],
        "disk (estimated)": [bytes_text(need.disk_bytes + need.results_bytes) for need in needs],
    }
