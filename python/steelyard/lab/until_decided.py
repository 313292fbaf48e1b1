"""What a study runs beyond its plan: what was disturbed, then repetitions that are to decide its claims.

Nothing is run here: asked at the end of the plan, and again whenever what it named has been run, this says
which trials come next, until there are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.analysis.claims.standing import Standing, tally
from steelyard.lab.progress import Show
from steelyard.lab.time_left import TimeLeft
from steelyard.report.derived import sources
from steelyard.results.clock import now_text
from steelyard.results.store import RunFolder
from steelyard.spec.estimate import each
from steelyard.spec.models import Study, Trial
from steelyard.spec.trials import further_trials, whole_starts
from steelyard.spec.units import about

MOST_DISTURBED = 4
"""Attempts at one trial: a host that is never quiet is not waited for."""

Stand = Callable[[Path], Sequence[Standing]]
"""From a run's folder to where its claims stand."""


@dataclass
class _Chosen:
    """What is added after a look.

    Attributes:
        wanted: point -> repetitions of it in all.
        claims: those for which it is added.
        standings: of all claims, with why nothing is added for one.
    """

    wanted: dict[int, int] = field(default_factory=dict)
    claims: list[Standing] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)


class Extension:
    """Says what is run beyond the plan.

    Args:
        folder: the run, its plan carried out.
        study: what was asked.
        time_left: what trials of each point take.
        show: receives what is run again or added, and why.
        stand: looks at the claims.
    """

    def __init__(
        self, folder: RunFolder, study: Study, time_left: TimeLeft, show: Show, stand: Stand
    ) -> None:
        self.folder, self.study, self.time_left, self.show, self.stand = folder, study, time_left, show, stand

    def next(self) -> list[Trial]:
        """The trials that come next; none when the study has ended."""
        if self.folder.budget.fixed:
            return []
        return self._again() or (self._look() if self.study.claims or self.study.checks else [])

    @property
    def left_s(self) -> float:
        """Seconds of the budget that are left.

        A trial of the plan costs nothing until it is done, however often it failed or was interrupted; what
        follows that, and every attempt at an added trial, is beyond the plan.
        """
        plan_s, beyond_s = 0.0, 0.0
        for row in self.folder.rows.values():
            costs = [self._cost_s(row.point, seconds) for _, seconds in row.tried]
            done = next((n for n, (status, _) in enumerate(row.tried) if status == "done"), None)
            if row.look is not None:
                beyond_s += sum(costs)
            elif done is not None:
                plan_s += costs[done]
                beyond_s += sum(costs[done + 1 :])
        allowed = self.folder.budget.time_s
        return (plan_s if allowed is None else allowed) - beyond_s

    def _cost_s(self, point: int, seconds: float | None) -> float:
        """Seconds of an attempt; one that was cut short costs what a trial of its point takes."""
        return self.time_left.of_point(point) if seconds is None else seconds

    def _again(self) -> list[Trial]:
        """Trials that were disturbed, as many as there is time for."""
        disturbed, rows = self.folder.disturbed(), self.folder.rows
        found = [
            t
            for t in self.folder.trials
            if t.number in disturbed and rows[t.number].disturbed_attempts < MOST_DISTURBED
        ]
        left, fits = self.left_s, list[Trial]()
        for trial in found:
            left -= self.time_left.of_point(trial.point)
            fits += [trial] if left >= 0 else []
        if short := len(found) - len(fits):
            self.show.say(f"{short} disturbed trials are not run again: the budget's time is too short")
        if fits:
            why = rows[fits[0].number].tainted
            listed = ", ".join(str(t.number) for t in fits)
            self.show.say(f"run again, since it was disturbed: trial {listed} ({why})")
        return fits

    def _look(self) -> list[Trial]:
        """Look at all claims; the trials that are added for those which are undecided."""
        most = self.folder.budget.most(self.study.repetitions)
        points = {trial.point for trial in self.folder.trials}
        self.folder.looked(
            {
                "time": now_text(),
                "repetitions": {str(point): count for point, count in self.folder.done().items()},
                "most": most,
                "analysis": sources(),
                "last": self.left_s < min(map(self.time_left.of_point, points)),
                "claims": [],
            }
        )
        try:
            found = self.stand(self.folder.path)
        except Exception as error:  # what was measured is on disk, and can be judged at any time
            self.show.say(f"the claims could not be judged: {error!r}")
            return []
        chosen = self._chosen(found)
        self.folder.noted(
            [
                {
                    "claim": s.claim,
                    "further": s.further,
                    "words": s.words,
                    "alone": s.alone,
                    "over_looks": s.over_looks,
                }
                for s in chosen.standings
            ]
        )
        self._tell(chosen.standings)
        return self._added(chosen) if chosen.wanted else []

    def _refused(self, one: Standing) -> str:
        """Why repetitions that a claim needs are not added, though there were time; empty if they are.

        Attempts count, not only those that are done: else what always fails would be added without end.
        """
        if failed := sorted(number for point in one.points for number in self._in_vain(point)):
            listed = ", ".join(map(str, failed))
            return f"what was added for it last failed (trial {listed}), and nothing more is added"
        count, most = max(self._repetitions(one).values()), self.folder.budget.most(self.study.repetitions)
        if count <= most:
            return ""
        lost = sum(row.point in one.points and row.status != "done" for row in self.folder.rows.values())
        also = f", {lost} that failed included" if lost else ""
        return f"that would be {count} repetitions of a point{also}, and the budget allows {most}"

    def _in_vain(self, point: int) -> list[int]:
        """The trials that were last added at a point, if none of them is done."""
        added = [row for row in self.folder.rows.values() if row.point == point and row.look is not None]
        last = [row for row in added if row.look == max(row.look or 0 for row in added)]
        return [] if any(row.status == "done" for row in last) else [row.number for row in last]

    def _chosen(self, found: Sequence[Standing]) -> _Chosen:
        """Repetitions that claims need, those of the cheapest first, as far as there is time."""
        chosen, left = _Chosen(), self.left_s
        for one in sorted(found, key=lambda s: (s.further or 0) * len(s.points)):
            wanted = self._with(chosen.wanted, one)
            takes = self._takes_s(wanted)
            if not one.further:
                chosen.standings.append(one)
            elif refused := self._refused(one):
                chosen.standings.append(replace(one, further=None, words=f"{one.words}; {refused}"))
            elif takes <= left:
                chosen.wanted = wanted
                chosen.claims.append(one)
                chosen.standings.append(one)
            else:
                words = f"{one.words}, {about(takes)}, and the budget has {about(max(left, 0.0))} left"
                chosen.standings.append(replace(one, words=words))
        return chosen

    def _with(self, wanted: Mapping[int, int], one: Standing) -> dict[int, int]:
        """Repetitions that are wanted already, and those that a claim needs."""
        own = self._repetitions(one) if one.further else {}
        return {p: max(own.get(p, 0), wanted.get(p, 0)) for p in {*wanted, *own}}

    def _repetitions(self, one: Standing) -> dict[int, int]:
        """Point -> repetitions in all that a claim needs."""
        done, have = self.folder.done(), self._have()
        goal = min(done[point] for point in one.points) + (one.further or 0)
        return {
            point: whole_starts(self.study, have[point] + max(goal - done[point], 0)) for point in one.points
        }

    def _have(self) -> Counter[int]:
        """Point -> repetitions up to now."""
        return Counter(trial.point for trial in self.folder.trials)

    def _takes_s(self, wanted: Mapping[int, int]) -> float:
        """About how long it takes until there are so many repetitions."""
        have = self._have()
        return sum((count - have[point]) * self.time_left.of_point(point) for point, count in wanted.items())

    def _tell(self, found: Sequence[Standing]) -> None:
        decided, never = tally((one.further, one.words) for one in found)
        number, done = len(self.folder.looks), sum(self.folder.done().values())
        told = f"{decided} of {len(found)} claims are decided" + (
            f"; {never} cannot be here" if never else ""
        )
        self.show.say(f"look {number}, at {done} trials: {told}")
        for one in found:
            if one.further != 0:
                self.show.say(f"  {one.claim}: {one.words}")

    def _added(self, chosen: _Chosen) -> list[Trial]:
        takes = self._takes_s(chosen.wanted)
        new = further_trials(self.study, self.folder.trials, chosen.wanted)
        why = {
            point: ", ".join(one.claim for one in chosen.claims if point in one.points)
            for point in chosen.wanted
        }
        self.folder.add(new, why)
        self.time_left.expect(each(new), {t.number: t.point for t in new})
        names = ", ".join(one.claim for one in chosen.claims)
        self.show.say(f"{len(new)} trials are added for {names}, {about(takes)}")
        return new
