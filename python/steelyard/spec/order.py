"""In what order things run: drawn from the study's seed, and balanced over the places."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def digest(*words: object) -> int:
    """A number of 64 bits that is equal in every version of Python, which a shuffle is not."""
    text = "/".join(map(str, words))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def balanced(things: Sequence[T], row: int, *of: object) -> list[T]:
    """One row of a drawn Latin square (Fisher, The Design of Experiments, 1935): of n things each stands
    at each place exactly once in n rows, and a new square is drawn for the next n.

    What runs first on a cluster meets cold servers: orders drawn one by one give one thing that place more
    often than another, and that servers warm up then passes for a difference between the two.

    Args:
        things: n that are to be ordered.
        row: which order of it, from 0.
        of: what tells this drawing from others, the seed first.
    """
    n = len(things)
    if n == 0:
        return []
    square, row = divmod(row, n)
    rows, places = (_shuffled(range(n), *of, square, axis) for axis in ("row", "place"))
    symbols = _shuffled(things, *of, square, "thing")
    return [symbols[(rows[row] + place) % n] for place in places]


def _shuffled(things: Sequence[T], *of: object) -> list[T]:
    drawn = sorted((digest(*of, k), k) for k in range(len(things)))
    return [things[k] for _, k in drawn]
