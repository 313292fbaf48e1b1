"""What there is to say about single trials, gathered: the same remark of many trials is one row."""

from __future__ import annotations

from steelyard.report.formatting import clean
from steelyard.report.model import ReportModel
from steelyard.report.tables.base import Table


def remarks(model: ReportModel) -> Table | None:
    """Disturbances and warnings by kind, with the trials they are about; None when there are none."""
    found: dict[tuple[str, str], tuple[str, list[int]]] = {}
    for trial in model.trials:
        told = [(w.level, w.kind, w.text) for w in trial.warnings]
        if trial.tainted:
            told.append(("fault", "disturbed", trial.tainted))
        for level, kind, text in told:
            _, numbers = found.setdefault((level, kind), (text, []))
            if trial.number not in numbers:
                numbers.append(trial.number)
    if not found:
        return None
    rows = [
        (level, f"{len(numbers)} of {len(model.trials)}", _listed(numbers), clean(text))
        for (level, _), (text, numbers) in sorted(found.items(), key=_severity)
    ]
    note = f"Details of one trial: steelyard report {clean(model.path)}/trials/NUMBER"
    return Table("Remarks on trials", ("level", "how many", "trials", "of the first"), rows, 4, note)


def _severity(item: tuple[tuple[str, str], tuple[str, list[int]]]) -> tuple[int, int]:
    (level, _), (_, numbers) = item
    return ("fault", "warning", "note").index(level), -len(numbers)


def _listed(numbers: list[int]) -> str:
    """`3, 5, 8` and at most so many."""
    told = ", ".join(str(n) for n in numbers[:8])
    return told if len(numbers) <= 8 else f"{told}, ..."
