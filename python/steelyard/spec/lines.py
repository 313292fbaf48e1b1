"""Where a key of a TOML file stands: tomllib forgets lines, and an error must name one."""

from __future__ import annotations

import re

Place = tuple[str | int, ...]

_PART = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_TRIPLE = ('"""', "'''")


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))


class _Finder:
    """Walks a file's lines once, remembering the table it is in."""

    def __init__(self) -> None:
        self.found: dict[Place, int] = {}
        self.table: Place = ()
        self.counts: dict[Place, int] = {}
        self.open: str | None = None

    def line(self, number: int, text: str) -> None:
        if self.open:
            if self.open in text:
                self.open = None
            return
        if table := _TABLE.match(text):
            self._enter(_parts(table[2]), repeated=table[1] == "[[")
            self._note(self.table, number)
        elif key := _KEY.match(text):
            self._note((*self.table, *_parts(key[1])), number)
            self.open = next((quote for quote in _TRIPLE if text.count(quote) == 1), None)

    def _enter(self, name: Place, *, repeated: bool) -> None:
        place: Place = ()
        for depth, part in enumerate(name, start=1):
            place = (*place, part)
            if place in self.counts and not (repeated and depth == len(name)):
                place = (*place, self.counts[place] - 1)  # inside the newest element of that array
        if repeated:
            index = self.counts.get(place, 0)
            self.counts[place] = index + 1
            place = (*place, index)
        self.table = place

    def _note(self, place: Place, number: int) -> None:
        for length in range(1, len(place) + 1):
            self.found.setdefault(place[:length], number)


def key_lines(text: str) -> dict[Place, int]:
    """Line number (from 1) of every key and table of a TOML text.

    Keys inside an inline table are not listed: their nearest listed parent stands on the same line.
    """
    finder = _Finder()
    for number, line in enumerate(text.splitlines(), start=1):
        finder.line(number, line)
    return finder.found
