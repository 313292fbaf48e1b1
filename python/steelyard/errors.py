"""The one tree of errors. Each class carries the exit code that the command line ends with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SteelyardError(Exception):
    """What went wrong, and the way out.

    Args:
        message: what was found and what was expected, with file and line where a file is at fault.
        hint: what the user can do about it.
    """

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(SteelyardError):
    """The user's input: a flag, a file, a value."""

    exit_code = 2


class GateError(SteelyardError):
    """A gate the user asked for (`--fail-if`, `--fail-on-claims`) failed."""

    exit_code = 1


class InfrastructureError(SteelyardError):
    """Something beneath us: Java, Maven, disk, ports, a server that does not come up."""


class MissingToolError(InfrastructureError):
    """A program that is needed is not there; the hint says how to get it."""


class LeftChangedError(InfrastructureError):
    """Somebody else's cluster is not as it was before, and only they can put it back."""


class EngineError(InfrastructureError):
    """The engine could not run its plan, or died."""


class Interrupted(SteelyardError):  # noqa: N818 - an interruption is no error
    """Ctrl-C; what was measured has been kept."""

    exit_code = 130


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the known word nearest to `word`, else the empty string."""
    match = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{match[0]}'?)" if match else ""
