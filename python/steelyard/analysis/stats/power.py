"""How many more repetitions would settle an open question, if the runs go on to scatter as they did."""

from __future__ import annotations

import math

from scipy import special

from steelyard.analysis.stats import student
from steelyard.analysis.stats.runs import Contrast

WANTED = 0.8
"""Chance with which the number named settles the question; the usual one for planning."""
CHANCES = [(k + 0.5) / 15 for k in range(15)]
"""The true ratio is not the one seen: the chance is averaged over where it may lie. Planned for the estimate
alone, the advice settled 86 % of questions between systems 5 % apart (benches/stats_truth.py)."""
MOST = 1000
"""Beyond this nobody repeats; change the set-up or widen the margin."""


def scatter(contrast: Contrast) -> float:
    """Standard deviation of the log figure of one run, as the contrast's error implies it for both sides."""
    n, m = contrast.counts
    return contrast.error / math.sqrt(1 / n + 1 / m)


def settled(runs: int, log_ratio: float, deviation: float, margin: float, level: float = 0.05) -> float:
    """Chance that `runs` on each side end in better, worse or equivalent.

    Args:
        runs: repetitions of A, and as many of B.
        log_ratio: the true logarithm of the ratio.
        deviation: standard deviation of the log figure of a run.
        margin: relative difference that does not matter.
        level: of each test after correction.
    """
    freedom = 2 * runs - 2
    error = deviation * math.sqrt(2 / runs)
    if error == 0:
        return 1.0
    critical = float(special.stdtrit(freedom, 1 - level / 2))
    shift = abs(log_ratio) / error
    spread = math.sqrt(1 + critical**2 / (2 * freedom))  # the estimate scatters, and so does its known error
    room = math.log1p(margin) / error - critical

    def below(border: float) -> float:
        """Chance that the estimate lies between minus and plus the border."""
        return float(special.ndtr((border - shift) / spread) - special.ndtr((-border - shift) / spread))

    return min(1 - below(critical) + max(below(room), 0.0), 1.0)


def more_runs(contrast: Contrast, margin: float, family: int = 1) -> int | None:
    """Further repetitions on each side after which the question is settled with a chance of 80 %.

    Args:
        contrast: what is known, at least two runs on each side.
        margin: relative difference that does not matter.
        family: contrasts judged together; the first step of Holm's correction is assumed.

    Returns:
        None when more than a thousand are needed, or nothing is known of the scatter.
    """
    if not math.isfinite(contrast.error):
        return None
    now = max(min(contrast.counts), 2)
    deviation, level = scatter(contrast), 0.05 / family
    truths = [contrast.log_ratio + contrast.error * student.quantile(p, contrast.freedom) for p in CHANCES]

    def enough(runs: int) -> bool:
        chances = [settled(runs, truth, deviation, margin, level) for truth in truths]
        return sum(chances) / len(chances) >= WANTED

    if not enough(now + MOST):
        return None
    low, high = now, now + MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high - now
