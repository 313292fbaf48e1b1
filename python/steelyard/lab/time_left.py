"""How long a study still takes, from what its trials have taken so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean


class TimeLeft:
    """Estimates what is left of a study.

    A trial is expected to take as long as the finished ones of its point; one of a point not yet run, as
    long as was estimated before the start, times the ratio of measured to estimated time so far.

    Args:
        estimated: trial -> seconds estimated before the start.
        point_of: trial -> its point.
    """

    def __init__(self, estimated: Mapping[int, float], point_of: Mapping[int, int]) -> None:
        self._estimated, self._point_of = dict(estimated), dict(point_of)
        self._took: dict[int, float] = {}

    def expect(self, estimated: Mapping[int, float], point_of: Mapping[int, int]) -> None:
        """Further trials are planned."""
        self._estimated.update(estimated)
        self._point_of.update(point_of)

    def took(self, trial: int, seconds: float) -> None:
        """A trial was finished in so many seconds."""
        self._took[trial] = seconds

    def left_s(self, pending: Iterable[int]) -> float:
        """Seconds that these trials will take."""
        estimated = sum(self._estimated[trial] for trial in self._took)
        ratio = sum(self._took.values()) / estimated if estimated else 1.0
        return sum(self._one(trial, ratio) for trial in pending)

    def of_point(self, point: int) -> float:
        """Seconds that a further trial of a point will take."""
        return self.left_s([next(trial for trial, of in self._point_of.items() if of == point)])

    def _one(self, trial: int, ratio: float) -> float:
        point = self._point_of[trial]
        alike = [seconds for other, seconds in self._took.items() if self._point_of[other] == point]
        return fmean(alike) if alike else self._estimated[trial] * ratio
