"""What a study may spend beyond its plan, to end when it is decided."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from steelyard.errors import InputError
from steelyard.spec.base import Model
from steelyard.spec.units import seconds

MOST_REPETITIONS = 1000
TIMES_THE_PLAN = 4
"""Most repetitions, if nothing is said: fewer leave a question that six have not decided little chance."""


def _duration(text: str) -> str:
    seconds(text)
    return text


class Budget(Model):
    """What may be run beyond the plan, which itself is always carried out.

    What was disturbed from outside is run again; then repetitions are added at the points of claims that are
    undecided, where so many are likely to decide them.
    """

    time: Annotated[str, AfterValidator(_duration)] | None = None
    """Longest time for what is run again or added, e.g. `2h`; left out: as long as the plan took."""
    repetitions: Annotated[int, Field(ge=1, le=MOST_REPETITIONS)] | None = None
    """Most repetitions of a point; left out: four times those of the plan."""
    fixed: bool = False
    """The plan is kept as it is: nothing is run again or added at its end."""

    def most(self, planned: int) -> int:
        """Most repetitions of a point of which so many are planned."""
        return self.repetitions or planned * TIMES_THE_PLAN

    @property
    def time_s(self) -> float | None:
        """Seconds; None = as long as the plan took."""
        return None if self.time is None else seconds(self.time)


def overrides(text: str) -> list[str]:
    """The settings that `--budget 2h`, `--budget 24` or `--budget 2h,24` say.

    Raises:
        InputError: a part is neither a duration nor a number of repetitions, or there are two of a kind.
    """
    found = dict[str, str]()
    for part in text.split(","):
        word = part.strip()
        name, value = _repetitions(text, word) if word.isdecimal() else _time(text, word)
        if name in found:
            raise _no_budget(text, f"{word!r} is a second {'number' if word.isdecimal() else 'time'}")
        found[name] = value
    return [f"budget.{name}={value}" for name, value in found.items()]


def _repetitions(text: str, word: str) -> tuple[str, str]:
    if not 1 <= int(word) <= MOST_REPETITIONS:
        raise _no_budget(text, f"repetitions of a point are between 1 and {MOST_REPETITIONS}")
    return "repetitions", str(int(word))


def _time(text: str, word: str) -> tuple[str, str]:
    try:
        seconds(word)
    except ValueError:
        fault = f"{word!r} is neither a time such as 2h nor a number of repetitions"
        raise _no_budget(text, fault) from None
    return "time", f'"{word}"'


def _no_budget(text: str, fault: str) -> InputError:
    return InputError(
        f"--budget {text or repr(text)}: {fault}",
        hint="for example --budget 2h, --budget 24, or both: --budget 2h,24",
    )
