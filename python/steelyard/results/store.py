"""Creating a run's folder and sealing its trials. An existing folder is never written into."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomlkit

from steelyard.errors import InfrastructureError, InputError
from steelyard.results.clock import now_text
from steelyard.results.disk import write_atomically, write_json, writing
from steelyard.spec.study import Study, Trial
from steelyard.version import version

FORMAT = 1
ROOT = Path("results")
RESERVE = "reserve"
"""A file of a running trial, removed before its manifest is written: a full disk has room for that."""
RESERVE_BYTES = 128 * 1024


@dataclass
class TrialRow:
    """A trial's line in run.json."""

    number: int
    repetition: int
    seed: int
    status: str = "planned"
    reason: str | None = None


class RunFolder:
    """One run's folder while it is being written.

    Args:
        path: the folder, just made.
        study: what was asked.
        trials: its trials, in order.
    """

    def __init__(self, path: Path, study: Study, trials: Sequence[Trial]) -> None:
        self.path = path
        self._study = study
        self._created = now_text()
        self._rows = {t.number: TrialRow(t.number, t.repetition, t.seed) for t in trials}
        write_atomically(path / "study.toml", study_toml(study))
        self._write()

    @classmethod
    def create(cls, study: Study, trials: Sequence[Trial], out: Path | None = None) -> RunFolder:
        """Make the folder of a run: `out`, or `results/TIME-NAME`.

        Raises:
            InputError: `out` exists. InfrastructureError: it cannot be made.
        """
        path = out if out is not None else _free(ROOT / f"{time.strftime('%Y%m%d-%H%M%S')}-{study.name}")
        try:
            path.mkdir(parents=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(
                f"--out {path}: it exists already, and a result is never written over",
                hint="name a folder that is not there yet, or leave --out out",
            ) from None
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be made: {error.strerror}") from None
        return cls(path.absolute(), study, trials)

    def open_trial(self, number: int) -> Path:
        """Make a trial's folder, `.partial` until it is sealed."""
        folder = self._partial(number)
        with writing(self.path):
            folder.mkdir(parents=True)
            (folder / RESERVE).write_bytes(bytes(RESERVE_BYTES))
        self.mark(number, "running")
        return folder

    def seal(self, number: int) -> Path:
        """A trial's manifest is complete: give its folder its name."""
        final = self._partial(number).with_suffix("")
        with writing(self.path):
            self._partial(number).rename(final)
        return final

    def mark(self, number: int, status: str, reason: str | None = None) -> None:
        """Note a trial's status in run.json."""
        self._rows[number].status = status
        self._rows[number].reason = reason
        self._write()

    def _partial(self, number: int) -> Path:
        return self.path / "trials" / f"{number:03d}.partial"

    def _write(self) -> None:
        content = {
            "format": FORMAT,
            "run": self.path.name,
            "created": self._created,
            "steelyard": version(),
            "study": self._study.model_dump(mode="json"),
            "trials": [asdict(row) for row in self._rows.values()],
        }
        write_json(self.path / "run.json", content)


def _free(path: Path) -> Path:
    """The path, or the first of `path-2`, `path-3` ... that is free: two runs may start in one second."""
    names = (path, *(path.with_name(f"{path.name}-{n}") for n in range(2, 1000)))
    return next(name for name in names if not os.path.lexists(name))


def study_toml(study: Study) -> str:
    """The resolved study as a file that can be run again."""
    values: dict[str, Any] = study.model_dump(mode="json", exclude_none=True)
    return tomlkit.dumps(values)
