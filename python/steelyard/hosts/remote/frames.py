"""Values between two processes of one machine and one user: each is its length and its pickle."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from typing import IO, Any

LENGTH = struct.Struct("<Q")


def framed(value: Any) -> bytes:
    """A value as it is sent; raises what `pickle` raises."""
    content = pickle.dumps(value)
    return LENGTH.pack(len(content)) + content


def send(out: IO[bytes], frame: bytes) -> None:
    """Write what `framed` made; raises OSError, ValueError when nobody reads any more."""
    out.write(frame)
    out.flush()


def received(into: IO[bytes]) -> Iterator[Any]:
    """Values until the end; one that is cut short is the end."""
    while len(head := into.read(LENGTH.size)) == LENGTH.size:
        content = into.read(*LENGTH.unpack(head))
        if len(content) < LENGTH.unpack(head)[0]:
            return
        yield pickle.loads(content)  # noqa: S301 - our own process wrote it
