"""Lines that are kept until whoever reads them says that they have come."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


class Numbered:
    """Lines numbered from 0 on; asking for those from a number on acknowledges all before it."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._first = 0

    def push(self, line: bytes) -> None:
        """Add a line."""
        self._lines.append(line)

    def since(self, number: int) -> tuple[int, list[bytes]]:
        """(number of the first, all lines kept), after those before `number` were dropped."""
        while self._first < number and self._lines:
            self._lines.popleft()
            self._first += 1
        return self._first, list(self._lines)


def unread(number: int, first: int, lines: Sequence[bytes]) -> Sequence[bytes]:
    """Of an answer to `since`, the lines from `number` on: an answer to an earlier question may come late."""
    return lines[max(0, number - first) :]
