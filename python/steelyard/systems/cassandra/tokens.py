"""Tokens for a ring that is laid out at once: evenly spaced, and taken by the nodes in turn."""

from __future__ import annotations

from collections.abc import Callable

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
