"""Repeated runs as the unit of evidence: the mean of a figure with its interval, and the contrast of two.

One run gives one value, whatever the number of operations in it: those are not independent of each other.
Runs may be nested: several runs on one start of the servers, several starts on one load of the data, or
several loads on one start. Then the highest level that was repeated is the unit, and what was not repeated
is said: an interval over runs of one load holds 'given this load'.

Above them is the host, where runs were made on several: a level is repeated if some host had more than one of
it. Hosts are blocks, not units: whatever was compared ran on each of them, so that what a host does to all
its runs is no scatter of a comparison, and is taken out of it.
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
"""(start, load) of a unit -> the mean log of its runs; None where its runs had several, or it is not
written down. Empty where runs of one start and load are the units: no other cell has a part in those."""

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
        hosts: on which host each run was made; empty = all on one.
    """

    values: Sequence[float]
    starts: Sequence[Hashable] = ()
    loads: Sequence[Hashable] = ()
    hosts: Sequence[Hashable] = ()

    def units(self) -> tuple[list[list[int]], str]:
        """Places of the runs of each independent unit, and what was not repeated."""
        hosts = len({*self._hosts})
        given = ""
        for keys, name in self._levels():
            if len(set(keys)) > hosts:
                return _grouped(keys), given
            given = name
        return [[n] for n in self._own], given if len(self.values) > hosts else ""

    @property
    def _own(self) -> range:
        return range(len(self.values))

    @property
    def _hosts(self) -> Sequence[Hashable]:
        return self.hosts or [None] * len(self.values)

    def _levels(self) -> list[tuple[Sequence[Hashable], str]]:
        """Loads and starts of the runs, each of one host, the fewer first: several starts may lie on one
        load, or several loads on one start."""
        known = ((self.loads or self._own, "this load"), (self.starts or self._own, "this start"))
        levels = [([*zip(self._hosts, keys, strict=True)], name) for keys, name in known]
        return sorted(levels, key=lambda level: len(set(level[0])))

    def by_unit(self) -> Units:
        """Which start and load each unit is of -> mean of the logarithms of its runs."""
        places = self.units()[0]
        starts, loads = (
            [*zip(self._hosts, keys, strict=True)] if keys else () for keys in (self.starts, self.loads)
        )
        ids = [(_only(starts, of), _only(loads, of)) for of in places]
        return dict(zip(ids, self.logs().tolist(), strict=True)) if len({*ids}) == len(ids) > 1 else {}

    def logs(self) -> Floats:
        """Mean of the logarithms of each unit."""
        logs = np.log(np.asarray(self.values, dtype=np.float64))
        return np.array([logs[places].mean() for places in self.units()[0]])

    def hosts_of_units(self) -> list[Hashable]:
        """The host of each unit."""
        return [self.hosts[places[0]] if self.hosts else None for places in self.units()[0]]


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
    too few to know it. `parts` are the units of each sample that it was made from: several contrasts may
    stand on the same.
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
    """B against A as a ratio of geometric means, by Welch's t on logarithms of units, within hosts."""
    logs_a, logs_b, lost = _within_hosts(a, b)
    given = a.units()[1] or b.units()[1]
    parts = (a.by_unit(), b.by_unit())
    if lost:  # what hosts do to both sides is no part of a unit's own figure
        parts = (dict.fromkeys(parts[0], math.nan), dict.fromkeys(parts[1], math.nan))
    counts = (logs_a.size, logs_b.size)
    freedoms = (counts[0] - 1 - lost, counts[1] - 1 - lost)
    errors = (_squared_error(logs_a, freedoms[0]), _squared_error(logs_b, freedoms[1]))
    return welch(float(logs_b.mean() - logs_a.mean()), errors, counts, given, freedoms, parts=parts)


def _within_hosts(a: Runs, b: Runs) -> tuple[Floats, Floats, float]:
    """Logs of units less what each host does to both sides, and the degrees of freedom that each side pays.

    The additive model of side and host by least squares. On one host nothing is taken out, and where every
    host had one unit of each side the contrast becomes that of pairs. Hosts that had one side only tell
    nothing of the other: then nothing is taken out, and their differences count as scatter.
    """
    logs_a, logs_b = a.logs(), b.logs()
    of_a, of_b = a.hosts_of_units(), b.hosts_of_units()
    known = list(dict.fromkeys(of_a))
    if len(known) < 2 or set(of_a) != set(of_b):
        return logs_a, logs_b, 0.0
    place = np.array([known.index(host) for host in (*of_a, *of_b)])
    side = np.repeat([0.0, 1.0], [logs_a.size, logs_b.size])
    columns = np.column_stack([side, *(place == host for host in range(len(known)))])
    logs = np.concatenate([logs_a, logs_b])
    effects = np.linalg.lstsq(columns, logs, rcond=None)[0][1:]
    free = logs - (effects - effects.mean())[place]
    return free[: logs_a.size], free[logs_a.size :], (len(known) - 1) / 2


def _squared_error(values: Floats, freedom: float) -> float:
    """Squared standard error of a mean with so many degrees of freedom; inf without any."""
    return float(((values - values.mean()) ** 2).sum()) / freedom / values.size if freedom > 0 else math.inf


def squared_error(values: Floats) -> float:
    """Squared standard error of a mean; inf for a single value."""
    return student.standard_error(values) ** 2 if values.size > 1 else math.inf


def welch(
    log_ratio: float, errors: tuple[float, float], counts: tuple[int, int], given: str = "",
    freedoms: tuple[float, float] | None = None, *, parts: tuple[Units, ...] = (),
) -> Contrast:  # fmt: skip
    """A contrast from both squared standard errors; degrees of freedom by Welch and Satterthwaite.

    Each error has one less than its count, or `freedoms`.
    """
    total = sum(errors)
    if not math.isfinite(total):
        return Contrast(log_ratio, math.inf, 1.0, counts, given, parts)
    freedoms = freedoms or (counts[0] - 1.0, counts[1] - 1.0)
    each = sum(e**2 / own for e, own in zip(errors, freedoms, strict=True))
    freedom = total**2 / each if each else sum(freedoms)
    return Contrast(log_ratio, math.sqrt(total), freedom, counts, given, parts)
