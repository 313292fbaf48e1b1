"""The looks that were taken at a study's trials, and what each of its claims has seen of them.

A study that ends when it is decided is looked at more than once. A claim's own looks are those before which
some of its points got further repetitions; between the others its data stayed the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from steelyard.analysis.stats.sequential import LookAt, repeated_p

ROUNDING = 1e-9
"""Of the information of two looks between which nothing was added."""


@dataclass(frozen=True)
class Look:
    """One look at all claims.

    Attributes:
        repetitions: point -> trials of it that were done undisturbed.
        most: repetitions of a point that there may be in all.
        last: whether it was known, before anything was judged, that the budget's time allows no more.
        shown: claim -> what it would be if it stood alone, and the chance of that over all looks up to this.
    """

    repetitions: Mapping[int, int]
    most: int
    last: bool = False
    shown: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    def least(self, points: Iterable[int]) -> int:
        """Repetitions of that point which has the fewest."""
        return min((self.repetitions.get(point, 0) for point in points), default=0)

    def of(self, points: Iterable[int]) -> float:
        """Repetitions of these points: their harmonic mean, by which a contrast's information grows."""
        counts = [self.repetitions.get(point, 0) for point in points]
        return len(counts) / sum(1 / count for count in counts) if counts and all(counts) else 0.0


@dataclass(frozen=True)
class Looks:
    """All looks up to now, in their order; none where the plan was kept as it was."""

    taken: tuple[Look, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.taken)

    def at(self, points: Iterable[int], least: int = 0) -> list[LookAt]:
        """The looks of a claim that rests on these points.

        Args:
            least: repetitions of each point without which nothing can be decided: a look that had fewer, as
                where trials were disturbed, could not err, and spends nothing.
        """
        points, found = frozenset(points), list[LookAt]()
        for look in self.taken:
            count = look.of(points) if look.least(points) >= least else 0.0
            if count > (found[-1].information if found else 0.0) * (1 + ROUNDING):
                found.append(LookAt(count, 1.0 if look.last else min(count / look.most, 1.0)))
        return found

    def chance(
        self, points: Iterable[int], p: float, least: int = 0, claim: str = "", answer: str = ""
    ) -> float:
        """A claim's p-value that holds at whichever look the study ends; 1 while it can decide nothing.

        What an earlier look had shown stays shown: looks share one error rate, and each has its part of it.
        What is certain, as a counterexample is, needs none of it: also where all of it was spent.

        Args:
            least: as of `at`.
            claim: its id.
            answer: what it is if it stands alone; what was shown for the opposite counts for nothing.
        """
        at = self.at(points, least)
        certain = not p and answer == "refuted"
        now = (0.0 if certain else repeated_p(p, at)) if at or not self.taken else 1.0
        told = [look.shown[claim] for look in self.taken if claim in look.shown]
        return min([now, *(chance for before, chance in told if before == answer)])


ONE_TEST = Looks()
"""Of a plan that was kept as it was."""
