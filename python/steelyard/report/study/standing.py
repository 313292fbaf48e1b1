"""Where the claims of a study stand while it is being run."""

from __future__ import annotations

from pathlib import Path

from steelyard.analysis.claims.standing import Standing, standings
from steelyard.report.model import build
from steelyard.report.study.answers import answers
from steelyard.report.study.looks import looks_of
from steelyard.results.frames import Results


def standings_of(path: Path) -> list[Standing]:
    """Of the study in this folder, by the trials that are done; none for a study without claims.

    Raises:
        InputError: its claims cannot be judged.
    """
    found = answers(build(path))
    if found is None:
        return []
    return standings([answer.verdict for answer in found.claims], looks_of(Results(path).info))
