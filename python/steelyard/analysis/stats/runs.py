"""Repeated runs as the unit of evidence: the mean of a figure with its interval, and the contrast of two.

One run gives one value, whatever the number of operations in it: those are not independent of each other.
Runs may be nested: several runs on one start of the servers, several starts on one load of the data, or
several loads on one start. Then the highest level that was repeated is the unit, and what was not repeated
is said: an interval over runs of one load holds 'given this load'.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats import student

Floats = NDArray[np.float64]

Units = Mapping[tuple[Hashable, Hashable], float]
"""(start, load) of a unit -> the mean log of its runs; None where its runs had several, or it is not written down.
Empty where runs of one start and load are the units: no other cell has a part in those."""

CONFIDENCE = 0.95
FEW = 6
"""Fewer runs decide nothing: five give no distribution-free interval of a median, six do (97 %)."""


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % interval; (0, inf) or (-inf, inf) where the runs are too few to bound it.

    Attributes:
        count: units it rests on.
        given: what was not repeated, `this load` or `this start`; empty when every run has its own.
    """

    estimate: float
    low: float
    high: float
    count: int
    given: str = ""

    def excludes(self, value: float) -> bool:
        """Whether the value lies outside."""
        return not self.low <= value <= self.high

    def within(self, low: float, high: float) -> bool:
        """Whether all of it lies between two values."""
        return low <= self.low and self.high <= high

    def times(self, factor: float) -> Interval:
        """The same in another unit."""
        ends = (self.estimate * factor, self.low * factor, self.high * factor)
        return Interval(*ends, self.count, self.given)


@dataclass(frozen=True)
class Runs:
    """One figure over the runs of one cell.

    Attributes:
        values: one for each run, above zero.
        starts: which start of the servers each run had; empty = each its own.
        loads: which load of the data each run had; empty = each its own.
    """

    values: Sequence[float]
    starts: Sequence[Hashable] = ()
    loads: Sequence[Hashable] = ()

    def units(self) -> tuple[list[list[int]], str]:
        """Places of the runs of each independent unit, and what was not repeated."""
        given = ""
        for keys, name in self._levels():
            if len(set(keys)) > 1:
                return _grouped(keys), given
            given = name
        return [[n] for n in self._own], given if len(self.values) > 1 else ""

    @property
    def _own(self) -> range:
        return range(len(self.values))

    def _levels(self) -> list[tuple[Sequence[Hashable], str]]:
        """Loads and starts of the runs, the fewer first: several starts may lie on one load, or several loads
        on one start."""
        levels = [(self.loads or self._own, "this load"), (self.starts or self._own, "this start")]
        return sorted(levels, key=lambda level: len(set(level[0])))

    def by_unit(self) -> Units:
        """Which start and load each unit is of -> mean of the logarithms of its runs."""
        places = self.units()[0]
        ids = [(_only(self.starts, of), _only(self.loads, of)) for of in places]
        return dict(zip(ids, self.logs().tolist(), strict=True)) if len({*ids}) == len(ids) > 1 else {}

    def logs(self) -> Floats:
        """Mean of the logarithms of each unit."""
        logs = np.log(np.asarray(self.values, dtype=np.float64))
        return np.array([logs[places].mean() for places in self.units()[0]])


def _only(keys: Sequence[Hashable], places: Sequence[int]) -> Hashable:
    """The key that all runs at these places have; None if there is none such."""
    found = {keys[place] for place in places} if keys else set()
    return found.pop() if len(found) == 1 else None


def _grouped(keys: Sequence[Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    return list(groups.values())


@dataclass(frozen=True)
class Contrast:
    """How far two samples lie apart on logarithms: an estimate, its standard error, its degrees of freedom.

    Everything that is decided about two samples is decided from these three. `error` is inf when the runs are
    too few to know it. `parts` are the units of each sample that it was made from: several contrasts may stand
    on the same.
    """

    log_ratio: float
    error: float
    freedom: float
    counts: tuple[int, int]
    given: str = ""
    parts: tuple[Units, ...] = field(default=(), compare=False, repr=False)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """The ratio with its interval."""
        half = self.half_width(confidence)
        low = math.exp(self.log_ratio - half)
        high = math.exp(self.log_ratio + half) if half < math.inf else math.inf
        return Interval(math.exp(self.log_ratio), low, high, min(self.counts), self.given)

    def half_width(self, confidence: float = CONFIDENCE) -> float:
        """Half of the interval of the log ratio; inf when the error is not known."""
        if not math.isfinite(self.error):
            return math.inf
        return student.quantile((1 + confidence) / 2, self.freedom) * self.error

    def difference_p(self) -> float:
        """Chance of an estimate this far from 1 when the samples are equal (two-sided)."""
        return self._two_sided(abs(self.log_ratio))

    def equivalence_p(self, margin: float) -> float:
        """Chance of an estimate this well inside `1 / (1 + margin) .. 1 + margin` when the truth lies at its
        border: twice the larger of the two one-sided tests, so that 0.05 is the 95 % interval inside."""
        inside = math.log1p(margin) - abs(self.log_ratio)
        return self._two_sided(inside) if inside > 0 else 1.0

    def _two_sided(self, distance: float) -> float:
        if not math.isfinite(self.error):
            return 1.0
        if self.error == 0:
            return 0.0 if distance > 0 else 1.0
        return student.two_sided(distance / self.error, self.freedom)


def mean(runs: Runs) -> Interval:
    """Geometric mean over units with its interval by Student's t on logarithms."""
    logs, given = runs.logs(), runs.units()[1]
    centre = float(logs.mean())
    if logs.size < 2:
        return Interval(math.exp(centre), 0.0, math.inf, logs.size, given)
    half = student.quantile((1 + CONFIDENCE) / 2, logs.size - 1) * student.standard_error(logs)
    return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half), logs.size, given)


def contrast(a: Runs, b: Runs) -> Contrast:
    """B against A as a ratio of geometric means, by Welch's t on logarithms of units."""
    logs_a, logs_b = a.logs(), b.logs()
    given = a.units()[1] or b.units()[1]
    return welch(
        float(logs_b.mean() - logs_a.mean()),
        (squared_error(logs_a), squared_error(logs_b)),
        (logs_a.size, logs_b.size),
        given,
        (a.by_unit(), b.by_unit()),
    )


def squared_error(values: Floats) -> float:
    """Squared standard error of a mean; inf for a single value."""
    return student.standard_error(values) ** 2 if values.size > 1 else math.inf


def welch(
    log_ratio: float,
    errors: tuple[float, float],
    counts: tuple[int, int],
    given: str = "",
    parts: tuple[Units, ...] = (),
) -> Contrast:
    """A contrast from both squared standard errors; degrees of freedom by Welch and Satterthwaite."""
    total = sum(errors)
    if not math.isfinite(total):
        return Contrast(log_ratio, math.inf, 1.0, counts, given, parts)
    each = sum(e**2 / (n - 1) for e, n in zip(errors, counts, strict=True))
    freedom = total**2 / each if each else float(sum(counts) - 2)
    return Contrast(log_ratio, math.sqrt(total), freedom, counts, given, parts)
