"""Recorded loads: CSV files whose lines are a second and the operations per second at it."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

FORM = "expected lines of a second and a rate, such as 60,1200"


def read_trace(path: Path) -> list[tuple[float, float]]:
    """The points of a trace, its first time taken as 0; a heading, empty lines and those that begin with `#`
    are left out.

    Args:
        path: of the file; further columns are not looked at.

    Raises:
        ValueError: it cannot be read, or a line is no such one; told with its number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ValueError(f"trace {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"trace {path}: no text; {FORM}") from None
    found: list[tuple[float, float]] = []
    heading = True  # one at most, above all figures
    for number, row in enumerate(_rows(path, lines), start=1):
        if not row or row[0].lstrip().startswith("#"):
            continue
        point = _point(row)
        if point is None and not heading:
            raise ValueError(f"trace {path}:{number}: {','.join(row)[:60]!r}: {FORM}")
        heading = False
        if point is None:
            continue
        if found and point[0] <= found[-1][0]:
            raise ValueError(
                f"trace {path}:{number}: second {point[0]:g} does not come after {found[-1][0]:g}"
            )
        found.append(point)
    if len(found) < 2:
        raise ValueError(f"trace {path}: fewer than two lines of figures; {FORM}")
    first = found[0][0]
    return [(at - first, rate) for at, rate in found]


def _rows(path: Path, lines: Sequence[str]) -> Iterator[list[str]]:
    """The cells of each line; raises ValueError as `read_trace`."""
    reader = csv.reader(lines)
    try:
        yield from reader
    except csv.Error as error:
        raise ValueError(f"trace {path}:{reader.line_num}: {error}; {FORM}") from None


def _point(row: list[str]) -> tuple[float, float] | None:
    """Second and rate; None of what is neither."""
    try:
        at, rate = float(row[0]), float(row[1])
    except (ValueError, IndexError):
        return None
    return (at, rate) if math.isfinite(at) and math.isfinite(rate) and rate >= 0 else None
