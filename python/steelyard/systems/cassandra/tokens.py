"""Tokens: of a ring that is laid out at once, evenly spaced and taken in turn; of nodes that join one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.errors import InputError

MURMUR3_MIN, MURMUR3_RANGE = -(2**63), 2**64
RANDOM_RANGE = 2**127
PLACES: dict[str, Callable[[int, int], str]] = {
    "Murmur3Partitioner": lambda n, total: str(MURMUR3_MIN + 1 + n * MURMUR3_RANGE // total),
    "RandomPartitioner": lambda n, total: str(n * RANDOM_RANGE // total),
    "ByteOrderedPartitioner": lambda n, total: f"user{10**6 + 9 * 10**6 * n // total}".encode().hex(),
}
"""Partitioner -> the token of place n of a total."""


def initial_tokens(partitioner: str, nodes: int, per_node: int) -> list[str]:
    """Each node's `initial_token`, a comma-separated list.

    With ByteOrderedPartitioner the ring is the keys' own order; the tokens lie evenly in the decimal digits
    that follow `user`, the form of YCSB's keys. Give `initial_token` as a list in the settings for keys of
    another form.
    """
    place = PLACES[partitioner]
    total = nodes * per_node
    tokens = [place(number, total) for number in range(total)]
    return [",".join(tokens[node::nodes]) for node in range(nodes)]


Ring = Mapping[str, Sequence[int]]
"""Node -> its places on the ring; a node owns what lies before each of them, down to the next lower one."""
MOST_OF_A_RANGE = 4, 5
"""At most so much of a range goes to a node that joins, so that no owner keeps next to nothing of it."""


def joining_tokens(
    partitioner: str, tokens: Mapping[str, Sequence[str]], joiners: int, each: int
) -> list[str]:
    """`initial_token` of nodes that join a ring, so that each owns as much of it as any other, if it can be.

    A joiner takes part of the largest range of the node that owns most, `each` times. Nothing is drawn: the
    same ring grows the same way.

    Args:
        partitioner: whose tokens they are.
        tokens: each member's.
        joiners: how many nodes join at once.
        each: tokens of each of them.

    Raises:
        InputError: tokens that are no places on a ring of known width, as ByteOrderedPartitioner's may be.
    """
    span = SPANS[partitioner]
    ring = {name: [span.place(token) for token in found] for name, found in tokens.items()}
    share = span.width / (len(ring) + joiners)
    made: list[str] = []
    for _ in range(joiners):
        taken: list[int] = []
        for left in range(each, 0, -1):
            need = (share - owned(ring | {"": taken}, span.width).get("", 0)) / left
            taken.append(_split(ring | {"": taken}, span.width, int(need)))
        ring[f"joiner {len(made)}"] = taken
        made.append(",".join(span.token(place) for place in sorted(taken)))
    return made


def owned(ring: Ring, width: int) -> dict[str, int]:
    """How much of the ring each node owns, without its copies of others'."""
    found = dict.fromkeys(ring, 0)
    for gap, _, owner in _ranges(ring, width):
        found[owner] += gap
    return found


def _ranges(ring: Ring, width: int) -> list[tuple[int, int, str]]:
    """Each range's length, its lower end, and its owner."""
    places = sorted((place, name) for name, found in ring.items() for place in found)
    lower = [places[-1][0] - width, *(place for place, _ in places)]
    return [(place - low, low, name) for (place, name), low in zip(places, lower, strict=False)]


def _split(ring: Ring, width: int, need: int) -> int:
    """Where a joiner, whose own name is empty, begins: it takes what lies before in the largest range."""
    shares = owned(ring, width)
    most = max((name for name in ring if name), key=lambda name: shares[name])
    gap, low, _ = max(found for found in _ranges(ring, width) if found[2] == most)
    part, whole = MOST_OF_A_RANGE
    return (low + max(1, min(need, gap * part // whole))) % width


@dataclass(frozen=True)
class Span:
    """A ring as numbers from 0 up.

    Attributes:
        width: how many places it has.
        place: a token's.
        token: of a place.
    """

    width: int
    place: Callable[[str], int]
    token: Callable[[int], str]


def _key_place(token: str) -> int:
    found = KEY.fullmatch(bytes.fromhex(token).decode(errors="replace"))
    if found is None:
        raise InputError(
            f"nobody knows what lies around the token {token}: it is not of the form of YCSB's keys",
            hint="initial_token as a list with a line for each spare node, too",
        )
    return int(found[1]) - KEY_MIN


KEY, KEY_MIN = re.compile(r"user(\d{7})"), 10**6
SPANS = {
    # the lowest number is no token of Murmur3's; place 0 is the one above it
    "Murmur3Partitioner": Span(
        MURMUR3_RANGE - 1, lambda token: int(token) - MURMUR3_MIN - 1, lambda n: str(MURMUR3_MIN + 1 + n)
    ),
    "RandomPartitioner": Span(RANDOM_RANGE, int, str),
    "ByteOrderedPartitioner": Span(9 * 10**6, _key_place, lambda n: f"user{KEY_MIN + n}".encode().hex()),
}
"""Partitioner -> its ring."""
