"""The shapes that a curve may have: each a function of a positive factor, with a first guess and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Guess = Callable[[Floats, Floats], list[list[float]]]

LEAST_SIZES_USL = 6
"""Fewer sizes leave the coherency term of the Universal Scalability Law undetermined."""


@dataclass(frozen=True)
class Model:
    """One shape.

    Attributes:
        name: as studies say it.
        words: the formula.
        parameters: their names, in order.
        function: (x, *parameters) -> y.
        guess: first values to start a fit from, several if it may end in a side valley.
        low, high: bounds of the parameters.
        least_sizes: distinct values of x below which it cannot be told.
    """

    name: str
    words: str
    parameters: tuple[str, ...]
    function: Callable[..., Floats]
    guess: Guess
    low: tuple[float, ...]
    high: tuple[float, ...]
    least_sizes: int
    special_cases: tuple[str, ...] = ()
    """Simpler models that it becomes for some values of its parameters."""


INF = math.inf


def _line(x: Floats, y: Floats) -> list[float]:
    """(value at x = 0, slope) by least squares."""
    slope, start = np.polyfit(x, y, 1)
    return [float(start), float(slope)]


def _constant(x: Floats, level: float) -> Floats:
    return np.full_like(x, level)


def _knees(x: Floats) -> list[float]:
    """Places where a curve may bend: the sizes between the first and the last."""
    return [float(v) for v in np.unique(x)[1:-1]]


def _flat_then_linear(x: Floats, level: float, slope: float, knee: float) -> Floats:
    return level + slope * np.maximum(x - knee, 0.0)


def _linear_then_flat(x: Floats, level: float, slope: float, knee: float) -> Floats:
    return level - slope * np.maximum(knee - x, 0.0)


def _bend(x: Floats, y: Floats, *, first: bool) -> list[list[float]]:
    """A bend at each size, and one between two sizes, where the line meets the level: from a bend at a size
    that lies far beyond it a fit does not find back."""
    found = []
    for knee in _knees(x):
        flat, rest = (x <= knee, x >= knee) if first else (x >= knee, x <= knee)
        found.append([float(y[flat].mean()), _line(x[rest], y[rest])[1], knee])
    for low, high in pairwise(np.unique(x)):
        flat, rest = (x <= low, x >= high) if first else (x >= high, x <= low)
        level = float(y[flat].mean())
        if np.unique(x[rest]).size > 1 and (line := _line(x[rest], y[rest]))[1]:
            met = (level - line[0]) / line[1]
            found += [[level, line[1], met]] if low <= met <= high else []
    return found


def _scaled(x: Floats, y: Floats) -> float:
    """Rate of one unit, from the smallest size."""
    return float((y / x)[x == x.min()].mean())


def _amdahl(x: Floats, rate: float, contention: float) -> Floats:
    return rate * x / (1 + contention * (x - 1))


def _usl(x: Floats, rate: float, contention: float, coherency: float) -> Floats:
    return rate * x / (1 + contention * (x - 1) + coherency * x * (x - 1))


def _peak(x: Floats, top: float, place: float, width: float) -> Floats:
    return np.asarray(top * np.exp(-((np.log(x / place)) ** 2) / (2 * width**2)))


def _highest(x: Floats, y: Floats) -> list[list[float]]:
    place = x[np.argmax(y)]
    return [[float(y.max()), float(place), width] for width in (1.0, 3.0)]


_MODELS = (
    Model("constant", "a", ("a",), _constant, lambda _, y: [[float(y.mean())]], (0,), (INF,), 2),
    Model("linear", "a + b x", ("a", "b"), lambda x, a, b: a + b * x, lambda x, y: [_line(x, y)],
          (-INF, -INF), (INF, INF), 3, ("constant",)),
    Model("logarithmic", "a + b ln x", ("a", "b"), lambda x, a, b: a + b * np.log(x),
          lambda x, y: [_line(np.log(x), y)], (-INF, -INF), (INF, INF), 3, ("constant",)),
    Model("flat-then-linear", "a up to k, then a + b (x - k)", ("a", "b", "k"), _flat_then_linear,
          lambda x, y: _bend(x, y, first=True), (0, -INF, 0), (INF, INF, INF), 4, ("constant", "linear")),
    Model("linear-then-flat", "a - b (k - x) up to k, then a", ("a", "b", "k"), _linear_then_flat,
          lambda x, y: _bend(x, y, first=False), (0, -INF, 0), (INF, INF, INF), 4, ("constant", "linear")),
    Model("amdahl", "c x / (1 + s (x - 1))", ("c", "s"), _amdahl, lambda x, y: [[_scaled(x, y), 0.05]],
          (0, 0), (INF, 1), 3),
    Model("usl", "c x / (1 + s (x - 1) + k x (x - 1))", ("c", "s", "k"), _usl,
          lambda x, y: [[_scaled(x, y), 0.05, k] for k in (1e-2, 1e-4)],
          (0, 0, 0), (INF, 1, 1), LEAST_SIZES_USL, ("amdahl",)),
    Model("peak", "top exp(-ln(x / place)^2 / (2 width^2))", ("top", "place", "width"), _peak, _highest,
          (0, 0, 0.01), (INF, INF, 50), 4, ("constant",)),
)  # fmt: skip

MODELS: Mapping[str, Model] = {model.name: model for model in _MODELS}

LATENCY = ("constant", "linear", "logarithmic", "flat-then-linear", "peak")
"""What the latency over a factor may be."""
THROUGHPUT = ("constant", "linear", "logarithmic", "linear-then-flat", "amdahl", "usl", "peak")
"""What the throughput over a factor may be; without the universal law below six sizes."""
