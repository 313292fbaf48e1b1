"""Java's property files, as `java.util.Properties` reads them, and their values typed on demand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.lines import Place

_BLANKS = " \t\f"
_PAIR = re.compile(r"((?:\\.|[^\\\s=:])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True)
class Property:
    """One property's text and where it was said, such as `workloada:3` or `-p`."""

    value: str
    origin: str


def read_properties(text: str) -> Iterator[tuple[str, str, int]]:
    """(name, value, number of the line it starts on) of every property of a file's text, in its order.

    A value keeps the blanks at its end, as in Java. A line that begins with `=` has an empty name.
    """
    for number, line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        if match:
            yield _unescaped(match[1]), _unescaped(match[2]), number


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments; one that ends in an odd number of backslashes goes on in the next."""
    held, start = "", 0
    for number, natural in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = natural.lstrip(_BLANKS)
        if not held and (not line or line[0] in "#!"):
            continue
        start = start if held else number
        held += line
        if (len(held) - len(held.rstrip("\\"))) % 2:
            held = held[:-1] or " "  # what goes on is no line of its own, even if nothing precedes it
            continue
        yield start, held
        held = ""
    if held:
        yield start, held


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _LETTERS.get(code, code)

    return _ESCAPE.sub(plain, text)


class Properties:
    """Properties, typed on demand.

    Args:
        found: name -> its text and where it was said.

    Attributes:
        origins: the setting a property was asked for as -> where it was said.
    """

    def __init__(self, found: Mapping[str, Property]) -> None:
        self.found = dict(found)
        self.origins: dict[Place, str] = {}

    def get(self, name: str, default: Any, place: str = "", convert: Callable[[str], Any] = str) -> Any:
        """A property's value, or the default.

        Args:
            name: the property.
            default: its value where it was not said.
            place: the setting it becomes, e.g. `workload.records`; "" = none.
            convert: from its text; numbers and switches may have blanks around them.

        Raises:
            InputError: the text is no such value.
        """
        said = self.found.get(name)
        if said is None:
            return default
        if place:
            self.origins[tuple(place.split("."))] = said.origin
        try:
            return convert(said.value.strip())
        except ValueError:
            kind = {int: "a whole number", float: "a number"}.get(convert, "true or false")  # type: ignore[call-overload]
            raise InputError(f"{said.origin}: {name} = {said.value!r} is not {kind}") from None

    def switch(self, name: str, default: bool, place: str = "") -> bool:
        """`true` or `false`, in any case."""
        return bool(self.get(name, default, place, _switch))

    def choice(self, name: str, default: str, words: Iterable[str], place: str = "") -> str:
        """One of some words; any other is an InputError that names the nearest."""
        value, known = str(self.get(name, default, place)), list(words)
        if value not in known:
            raise InputError(
                f"{self.origin(name)}: {name} = {value!r} is unknown{nearest(value, known)}; "
                f"known: {', '.join(known)}"
            )
        return value

    def has(self, name: str) -> bool:
        """Whether it was said."""
        return name in self.found

    def origin(self, name: str) -> str:
        """Where a property was said; "" if it was not."""
        return self.found[name].origin if name in self.found else ""


def _switch(text: str) -> bool:
    words = {"true": True, "false": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]
