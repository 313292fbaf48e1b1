"""Small kernel files that are read every second: opened once, read from the start again and again."""

from __future__ import annotations

import os
from contextlib import suppress

LARGEST = 1 << 16
"""Bytes read at most; the files read here are far smaller, and a longer one is read piece by piece."""


class OpenFiles:
    """Keeps what it has read open, so that a sample costs one system call a file.

    A file of `/proc/PID` stays that process's: when the number is used again, reading fails instead of lying.
    """

    def __init__(self) -> None:
        self._handles: dict[str, int] = {}

    def read(self, path: str) -> str:
        """The whole text of a file.

        Raises:
            OSError: it is not there (any more), or may not be read; the next call tries to open it again.
        """
        handle = self._handles.get(path)
        if handle is None:
            handle = self._handles[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = part = os.pread(handle, LARGEST, 0)
            while len(part) == LARGEST:
                part = os.pread(handle, LARGEST, len(text))
                text += part
        except OSError:
            self.close(path)
            raise
        return text.decode(errors="replace")

    def close(self, path: str) -> None:
        """Forget one file."""
        handle = self._handles.pop(path, None)
        if handle is not None:
            with suppress(OSError):
                os.close(handle)

    def close_under(self, prefix: str) -> None:
        """Forget every file whose path begins with `prefix`."""
        for path in [p for p in self._handles if p.startswith(prefix)]:
            self.close(path)

    def close_all(self) -> None:
        """Forget every file."""
        self.close_under("")
