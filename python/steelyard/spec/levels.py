"""Levels of factors, compared by value: 1, 1.0 and, in a column with words among the numbers, '1' are one
level."""

from __future__ import annotations

from typing import Any


def level_value(level: Any) -> Any:
    """A level as it is shown: numbers without a fraction as whole ones."""
    return int(level) if isinstance(level, float) and level.is_integer() else level


def level_text(level: Any) -> str:
    """A level as text that is equal for equal levels.

    Text stays as it is: '4.10' is a version and not the number 4.1.
    """
    return str(level).lower() if isinstance(level, bool) else str(level_value(level))


def level_number(level: Any) -> float | None:
    """The number a level is; None for words and switches."""
    if isinstance(level, bool):
        return None
    try:
        return float(level)
    except (TypeError, ValueError):
        return None
