"""A table of words, which every format lays out in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """A table of words.

    Attributes:
        title: above it.
        columns: headings; the first `words` columns are text, the others numbers, which stand right.
        rows: cells.
        note: a sentence below it.
        breaks: rows before which a new group begins.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    note: str = ""
    breaks: frozenset[int] = field(default_factory=frozenset)
