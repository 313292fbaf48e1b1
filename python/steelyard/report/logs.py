"""What a trial's folder holds of its servers: the files, and the ends of logs where something went wrong."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path

from steelyard.report.formatting import clean
from steelyard.report.model import TrialReport

TAIL_LINES = 25
"""A stack trace with what led to it."""
MOST_FILES = 200
"""Of one trial; more would hide the rest of the page, and the folder shows them all."""


@dataclass(frozen=True)
class Tail:
    """The last lines of one log."""

    name: str
    lines: tuple[str, ...]


def files(trial: TrialReport) -> list[str]:
    """Paths of the servers' files, relative to the trial's folder."""
    folder = trial.path / "servers"
    found = (p.relative_to(trial.path).as_posix() for p in sorted(folder.rglob("*")) if p.is_file())
    return [name for name, _ in zip(found, range(MOST_FILES), strict=False)]


def tails(trial: TrialReport) -> list[Tail]:
    """Ends of the servers' logs, when the trial failed or a server died; else nothing."""
    troubled = {"server_died", "failed"} & {w.kind for w in trial.warnings}
    if not troubled:
        return []
    logs = sorted((trial.path / "servers").glob("*/*.log"))
    return [Tail(p.relative_to(trial.path).as_posix(), _last_lines(p)) for p in logs]


def _last_lines(file: Path) -> tuple[str, ...]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return tuple(clean(line.rstrip("\n"))[:500] for line in deque(lines, TAIL_LINES))
