"""Where the claims of a study stand while it is being run."""

from __future__ import annotations

from pathlib import Path

from steelyard.analysis.claims.standing import Standing, standings
from steelyard.report.model import build
from steelyard.report.study.answers import answers
from steelyard.report.study.looks import looks_of
from steelyard.results.frames import Results


def standings_of(path: Path) -> list[Standing]:
    """Of the study in this folder, by the trials that are done; none for a study without claims or checks.

    Raises:
        InputError: its claims cannot be judged.
    """
    found = answers(build(path))
    if found is None:
        return []
    looks = looks_of(Results(path).info)
    families = (found.claims, found.checks)
    return [one for judged in families for one in standings([answer.verdict for answer in judged], looks)]
