"""Steady state: where warm-up ends, whether there is a steady part at all, and whether it drifts.

Two methods that fail in different ways must both find a steady part, and the later of their cuts counts:

- MSER-5 (White, Cobb and Spratt 2000; found the most robust of many by Hoad, Robinson and Davies 2010) drops
  as many leading batches of five as make the standard error of the rest least;
- change points (after Barrett et al. 2017): the series is cut into level pieces, and the steady part begins
  with the first piece from which on nearly all are at the level of the last half. The few that are not, a
  flush or a compaction, belong to steady state and are kept from MSER-5, which takes them for its end.

A cut in the last half means that no steady state was reached.

Both take what scatters around a level for independent from batch to batch. Servers under a CPU quota, with
pauses and compactions, do not scatter so: on them a quarter of level runs of 10 s is called unsteady. What a
warm-up is, all runs of a cell have in common; what is chance differs from run to run. So the mean over a
cell's runs tells them apart (Welch 1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats import student
from steelyard.analysis.stats.changes import change_points

Floats = NDArray[np.float64]

BATCH = 5
LEAST_INTERVALS = 60
"""Below twelve batches of five the cut is decided by single batches: too short to judge."""
MOST_INTERVALS = 6000
"""Ten minutes of tenths of a second."""
TENTH_S = 0.1
LEAST_REST = 5
"""Batches that stay in any case: the standard error of fewer is mostly chance."""
LATE_GAIN = 0.5
"""A cut in the last half counts only if it halves the variance of the mean: few batches lie close by chance.
On level noise of 60 to 300 s plain MSER-5 finds no steady state in 3 to 23 % of series, this in 0 to 5 %."""
ALIKE = 0.05
"""A change of 5 % is as large as effects one measures: a lasting one ends the warm-up, or is a drift."""
EXCURSIONS = 0.1
"""Share of the steady part that may lie at another level."""
DRIFT_P = 0.01
"""Chance of calling a level series drifting (Kendall's tau over batch means)."""
FALSE_ALARMS = ((600, 0.015), (120, 0.025), (LEAST_INTERVALS, 0.05))
"""Intervals from which on at most this share of level series is called unsteady: found were 0 of 200 series,
2.5 % and 4.5 %."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Steady:
    """What is known about steadiness of one series.

    Attributes:
        measure: what was judged, in words.
        intervals: values judged (the unfinished last one left out).
        too_short: fewer than 60 intervals, so nothing more was judged.
        reached: whether a steady state was reached; None when too short.
        warm_up_s: seconds to drop at the start, the later of the two methods' cuts.
        drift: relative change over the steady part if it is significant and above 5 %, else 0.
        mean, half_width: of the steady part, with the half-width of its 95 % interval from batch means.
        interval_s: seconds of one interval.
        mser_s, changes_s: each method's cut in seconds; None where it found no steady state.
        alarms: `false_alarms` of a judgement that was put together from several series.
        batches: means of batches of five intervals, over their mean; empty where it was put together,
            or is too short.
    """

    measure: str
    intervals: int
    too_short: bool
    reached: bool | None = None
    warm_up_s: float = 0.0
    drift: float = 0.0
    mean: float | None = None
    half_width: float | None = None
    interval_s: float = 1.0
    mser_s: float | None = None
    changes_s: float | None = None
    alarms: float | None = None
    batches: tuple[float, ...] = ()

    @property
    def seconds(self) -> float:
        """Length of the series."""
        return self.intervals * self.interval_s

    @property
    def false_alarms(self) -> float:
        """Share of level series as long as this that are called unsteady, at most."""
        if self.alarms is not None:
            return self.alarms
        return next((share for least, share in FALSE_ALARMS if self.intervals >= least), 0.0)

    @property
    def word(self) -> str:
        """`steady`, `too short` or `no steady state`."""
        return {None: "too short", True: "steady", False: "no steady state"}[self.reached]


def batch_means(series: Floats) -> Floats:
    """Means of consecutive batches of five; an unfinished last batch is left out."""
    whole = series.size // BATCH * BATCH
    return np.asarray(series[:whole].reshape(-1, BATCH).mean(axis=1))


def mser(means: Floats) -> int | None:
    """Batches to drop at the start; None when the best cut lies in the last half."""
    cuts = range(max(means.size - LEAST_REST, 0) + 1)
    errors = np.array([means[cut:].var() / (means.size - cut) for cut in cuts])
    half = means.size // 2 + 1
    early = int(np.argmin(errors[:half]))
    return None if errors.min() < LATE_GAIN * errors[early] else early


def level_from(means: Floats) -> tuple[int, Floats] | None:
    """The first level piece from which on at most a tenth lies at another level than the last half's.

    Args:
        means: batch means.

    Returns:
        Its first batch, and the batch means with those excursions put at the level; None when that piece
        begins in the last half.
    """
    borders = [0, *change_points(means), means.size]
    level = float(np.median(means[means.size // 2 :]))
    unlike = np.zeros(means.size, dtype=bool)
    for start, end in pairwise(borders):
        unlike[start:end] = abs(means[start:end].mean() - level) > ALIKE * abs(level)
    for start in borders[:-1]:
        if start > means.size // 2:
            return None
        if not unlike[start] and unlike[start:].mean() <= EXCURSIONS:
            unlike[:start] = False
            return start, np.where(unlike, level, means)
    return None


def drift(series: Floats) -> float:
    """Relative change from start to end (Theil-Sen slope of batch means) if significant and above 5 %, else
    0."""
    means = batch_means(series)
    centre = float(np.median(means))
    if means.size < LEAST_REST or centre == 0 or np.ptp(means) == 0:
        return 0.0
    from scipy import stats  # takes longer to load than a report to make, and is asked for once a trial

    places = np.arange(means.size)
    change = float(stats.theilslopes(means, places)[0]) * (means.size - 1) / centre
    significant = stats.kendalltau(places, means).pvalue < DRIFT_P
    return change if significant and abs(change) > ALIKE else 0.0


def half_width(series: Floats) -> float | None:
    """Half-width of the 95 % interval of the mean by batch means (ten batches, Student's t); None for too few
    intervals."""
    batches = 10
    size = series.size // batches
    if size < BATCH:
        return None
    means = series[series.size - batches * size :].reshape(batches, size).mean(axis=1)
    return student.quantile((1 + CONFIDENCE) / 2, batches - 1) * student.standard_error(means)


def steady(series: Floats, measure: str, interval_s: float = 1.0) -> Steady:
    """Judge one series of a value per interval, such as completions per second in each tenth of a second.

    Args:
        series: a rate or level in each whole interval of a phase.
        measure: what it is, in words.
        interval_s: seconds of one interval.
    """
    if series.size < LEAST_INTERVALS:
        return Steady(measure, series.size, too_short=True, interval_s=interval_s)
    means = batch_means(series)
    cuts = _cuts(means)
    known = [cut * BATCH for cut in cuts if cut is not None]
    mser_s, changes_s = (None if cut is None else cut * BATCH * interval_s for cut in cuts)
    found = Steady(
        measure,
        series.size,
        too_short=False,
        reached=len(known) == len(cuts),
        interval_s=interval_s,
        mser_s=mser_s,
        changes_s=changes_s,
        batches=tuple((means / centre).tolist()) if (centre := float(means.mean())) else (),
    )
    return _measured(found, series, max(known)) if found.reached else found


def _cuts(means: Floats) -> tuple[int | None, int | None]:
    """Batches to drop by MSER-5 and by change points; None where one finds no steady part."""
    level = level_from(means)
    return mser(means if level is None else level[1]), None if level is None else level[0]


def level_together(runs: Sequence[Sequence[float]]) -> bool:
    """Whether the mean over several runs has a steady part, by both methods (Welch 1983).

    Args:
        runs: `Steady.batches` of each, cut to the shortest; two or more, else it says no more than each
            alone.
    """
    shortest = min((len(run) for run in runs), default=0)
    if len(runs) < 2 or shortest * BATCH < LEAST_INTERVALS:
        return False
    means = np.mean([run[:shortest] for run in runs], axis=0)
    return all(cut is not None for cut in _cuts(np.asarray(means, dtype=np.float64)))


def throughput(tenths: Floats) -> Steady:
    """Judge the throughput of a closed loop.

    Args:
        tenths: operations completed in each whole tenth of a second. Of a long run several make one interval:
            a cut to the tenth would then be as good as one to the second, and cost its square in time.
    """
    together = max(1, -(-tenths.size // MOST_INTERVALS))
    whole = tenths.size // together * together
    interval_s = together * TENTH_S
    counts = tenths[:whole].reshape(-1, together).sum(axis=1)
    return steady(np.asarray(counts / interval_s), "throughput", interval_s)


def _measured(found: Steady, series: Floats, cut: int) -> Steady:
    rest = series[cut:]
    return replace(
        found,
        warm_up_s=cut * found.interval_s,
        drift=drift(rest),
        mean=float(rest.mean()),
        half_width=half_width(rest),
    )
