"""The random draws of the engine's schedule and of the fake servers, made again with numpy.

Sources: crates/engine/src/generate/random.rs (arrivals) and crates/fakes/src/draw.rs (latencies).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]

GOLDEN = 0x9E3779B97F4A7C15
STEP = np.uint64(0xA0761D6478BD642F)
SALT = np.uint64(0xE7037ED1A0B428DB)
MASK = (1 << 64) - 1
ARRIVAL = 8
"""The engine's stream of gaps between arrivals."""
LATENCY, SECOND, FAULT = 11, 12, 13
"""Uses of the fakes' draws: a latency, its second coordinate, what becomes of a request."""


def mix64(x: Words) -> Words:
    """splitmix64's finaliser, element by element."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def fold(a: Words, b: Words) -> Words:
    """Both halves of the 128-bit product, by exclusive or."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> shift, b & low, b >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    carry = a0 * b1 + (middle & low)
    high = a1 * b1 + (middle >> shift) + (carry >> shift)
    folded: Words = high ^ (a * b)
    return folded


def start(seed: int, stream: int, numbers: Words) -> Words:
    """Where the draw of each number begins."""
    inner = mix64(np.array([stream * GOLDEN & MASK], dtype=np.uint64))
    base = mix64(np.array([seed & MASK], dtype=np.uint64) ^ inner)
    return mix64(base + numbers * np.uint64(GOLDEN))


def engine_unit(seed: int, stream: int, numbers: Words) -> Floats:
    """The engine's first draw of each number, uniform in [0, 1)."""
    state = start(seed, stream, numbers) + STEP
    return (fold(state, state ^ SALT) >> np.uint64(11)).astype(np.float64) / 2.0**53


def fake_unit(seed: int, use: int, numbers: Words) -> Floats:
    """The fakes' draw of each number, uniform in (0, 1)."""
    bits = start(seed, use, numbers) >> np.uint64(12)
    return (bits.astype(np.float64) + 0.5) / 2.0**52
