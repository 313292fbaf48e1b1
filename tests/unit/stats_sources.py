"""Synthetic sources with a known truth, and how often the statistics find it. Tests ask for few draws,
`benches/stats_truth.py` for many; both are seeded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from steelyard.analysis.stats import percentiles as pc
from steelyard.analysis.stats.fits import compare
from steelyard.analysis.stats.models import LATENCY, MODELS, THROUGHPUT
from steelyard.analysis.stats.power import more_runs, settled
from steelyard.analysis.stats.runs import Contrast, Interval, Runs, contrast, mean
from steelyard.analysis.stats.verdicts import verdicts
from steelyard.analysis.steady import level_together, steady, throughput

Floats = np.ndarray
SCATTER = 0.05
"""Standard deviation of the log figure between runs."""


def runs(rng: np.random.Generator, count: int, log_level: float = 0.0, scatter: float = SCATTER) -> Runs:
    return Runs(np.exp(rng.normal(log_level, scatter, count)).tolist())


def nested(rng: np.random.Generator, loads: int, each: int) -> Runs:
    """Every load moves all its runs by as much as runs scatter."""
    levels = np.repeat(rng.normal(0, SCATTER, loads), each) + rng.normal(0, SCATTER, loads * each)
    keys = np.repeat(np.arange(loads), each).tolist()
    return Runs(np.exp(levels).tolist(), loads=keys)


def share(hits: list[bool]) -> float:
    return float(np.mean(hits))


def mean_coverage(count: int, draws: int, seed: int = 1) -> float:
    """How often the interval of a mean over `count` runs holds the truth, 1."""
    rng = np.random.default_rng(seed)
    return share([not mean(runs(rng, count)).excludes(1.0) for _ in range(draws)])


def nested_coverage(loads: int, each: int, draws: int, seed: int = 2, *, told: bool = True) -> float:
    """The same over runs of several loads; `told` False hides which load a run had."""
    rng = np.random.default_rng(seed)
    found = [nested(rng, loads, each) for _ in range(draws)]
    return share([not mean(r if told else Runs(r.values)).excludes(1.0) for r in found])


def ratio_coverage(counts: tuple[int, int], draws: int, ratio: float = 1.2, seed: int = 3) -> float:
    """How often the interval of a ratio holds it, with twice the scatter in B."""
    rng = np.random.default_rng(seed)
    found = [
        contrast(runs(rng, counts[0]), runs(rng, counts[1], math.log(ratio), 2 * SCATTER))
        for _ in range(draws)
    ]
    return share([not one.interval().excludes(ratio) for one in found])


def histogram(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(values, counts) of one run: it has a level of its own, and so has each of its twenty blocks."""
    blocks = np.repeat(rng.normal(0, 0.1, 20), 100)
    values = np.exp(13 + rng.normal(0, SCATTER) + blocks + rng.normal(0, 0.5, 2000))
    return values, np.ones(values.size)


def true_quantile(quantile: float) -> float:
    """Of what `histogram` draws, over all runs."""
    from scipy import stats

    deviation = math.sqrt(SCATTER**2 + 0.1**2 + 0.5**2)
    return float(np.exp(stats.norm.ppf(quantile, 13, deviation)))


def percentile_coverage(count: int, quantile: float, draws: int, seed: int = 4) -> float:
    rng, truth = np.random.default_rng(seed), true_quantile(quantile)

    def interval() -> Interval:
        return pc.bounds(pc.merged([histogram(rng) for _ in range(count)]), [1.0] * count, quantile)

    return share([not interval().excludes(truth) for _ in range(draws)])


def percentile_false_calls(count: int, quantile: float, draws: int, seed: int = 5) -> float:
    """How often two equal cells are told apart by one percentile."""
    rng = np.random.default_rng(seed)

    def p() -> float:
        a, b = (pc.merged([histogram(rng) for _ in range(count)]) for _ in range(2))
        return pc.merged_contrast(a, b, quantile).difference_p()

    return share([p() < 0.05 for _ in range(draws)])


def aa_false_calls(count: int, metrics: int, draws: int, margin: float = 0.03, seed: int = 6) -> float:
    """How often any of many figures of equal cells is called better or worse. Half of them are means, half
    percentiles judged by extremes; all hang together, as figures of the same runs do."""
    rng = np.random.default_rng(seed)

    def side() -> list[Floats]:
        common = rng.normal(0, SCATTER, count)
        return [np.exp(common + rng.normal(0, SCATTER, count)) for _ in range(metrics)]

    def calls() -> list[str]:
        found: list[Contrast | pc.Extremes] = []
        for place, (a, b) in enumerate(zip(side(), side(), strict=True)):
            found.append(contrast(Runs(a.tolist()), Runs(b.tolist())) if place % 2 else pc.Extremes(a, b))
        return [str(word) for word in verdicts(found, ["lower"] * metrics, [margin] * metrics)]

    return share([bool({"better", "worse"} & set(calls())) for _ in range(draws)])


def false_equivalence(count: int, draws: int, margin: float = 0.03, seed: int = 7) -> float:
    """How often a difference as large as the margin is called equivalent."""
    rng = np.random.default_rng(seed)
    found = [contrast(runs(rng, count), runs(rng, count, math.log1p(margin))) for _ in range(draws)]
    return share([verdicts([one], ["lower"], [margin]) == ["equivalent"] for one in found])


def settled_share(
    count: int, log_ratio: float, scatter: float, margin: float, *, draws: int, seed: int = 8
) -> float:
    """How often so many runs settle a question, which `power.settled` foretells."""
    rng = np.random.default_rng(seed)
    found = [
        contrast(runs(rng, count, 0, scatter), runs(rng, count, log_ratio, scatter)) for _ in range(draws)
    ]
    return share([verdicts([one], ["lower"], [margin]) != ["open"] for one in found])


def foretold(count: int, log_ratio: float, scatter: float, margin: float) -> float:
    return settled(count, log_ratio, scatter, margin)


def settled_by_advice(
    count: int, log_ratio: float, scatter: float, draws: int, seed: int = 9
) -> tuple[float, int]:
    """(share settled, questions): open after `count` runs, run again with as many as `more_runs` says."""
    rng = np.random.default_rng(seed)
    hits = []
    for _ in range(draws):
        pilot = contrast(runs(rng, count, 0, scatter), runs(rng, count, log_ratio, scatter))
        if verdicts([pilot], ["lower"], [0.03]) != ["open"]:
            continue
        more = more_runs(pilot, 0.03)
        if more is not None:
            total = count + more
            again = contrast(runs(rng, total, 0, scatter), runs(rng, total, log_ratio, scatter))
            hits.append(verdicts([again], ["lower"], [0.03]) != ["open"])
    return share(hits), len(hits)


SERIES: dict[str, tuple[Callable[[Floats], Floats], float | None]] = {
    "level": (np.ones_like, 0.0),
    "step": (lambda t: np.where(t < 0.2, 0.6, 1.0), 0.2),
    "ramp, then level": (lambda t: np.minimum(1.0, 0.5 + 2 * t), 0.25),
    "exponential": (lambda t: 1 - 0.6 * np.exp(-t / 0.08), 0.2),
    "level with a stall": (lambda t: np.where((t > 0.7) & (t < 0.75), 0.5, 1.0), 0.0),
    "ramp to the end": (lambda t: 0.5 + 0.5 * t, None),
    "late step": (lambda t: np.where(t < 0.75, 1.0, 1.4), None),
    "up and down": (lambda t: 1 + 0.2 * np.sign(np.sin(6 * np.pi * t)), None),
}
"""Name -> the curve over time 0..1, and the share at which it is level (within 5 %); None = never."""


def noise(rng: np.random.Generator, count: int, related: float) -> Floats:
    """Standard normal, neighbours correlated by `related` (AR(1))."""
    from scipy import signal

    steps = rng.normal(0, math.sqrt(1 - related**2), count + 100)
    return np.asarray(signal.lfilter([1], [1, -related], steps)[100:])


def cuts(name: str, count: int, draws: int, related: float = 0.5, seed: int = 10) -> tuple[float, float]:
    """(share without a steady state, median cut as a share of the series) with 5 % of noise."""
    rng, curve = np.random.default_rng(seed), SERIES[name][0](np.arange(count) / count)
    found = [steady(1000 * (curve + 0.05 * noise(rng, count, related)), name) for _ in range(draws)]
    reached = [f.warm_up_s / count for f in found if f.reached]
    return share([not f.reached for f in found]), float(np.median(reached)) if reached else math.nan


def wandering(rng: np.random.Generator, ramp: float = 0.0, tenths: int = 100) -> Floats:
    """A closed loop on nodes under a quota: what is above its level now stays so for a second or two; level
    but for a ramp over the whole run, on logarithms."""
    return np.asarray(100 * np.exp(0.09 * noise(rng, tenths, 0.9) + np.linspace(-ramp / 2, ramp / 2, tenths)))


def unsteady_shares(ramp: float, cells: int, runs: int = 6, seed: int = 11) -> tuple[float, float]:
    """Shares of runs of 10 s that wander, and of cells of them by their mean, that are called unsteady."""
    rng = np.random.default_rng(seed)
    found = [[throughput(wandering(rng, ramp)) for _ in range(runs)] for _ in range(cells)]
    together = [not level_together([run.batches for run in cell]) for cell in found]
    return share([not run.reached for cell in found for run in cell]), share(together)


CURVES: dict[str, tuple[float, ...]] = {
    "constant": (5.0,),
    "linear": (2.0, 0.5),
    "logarithmic": (3.0, 1.5),
    "flat-then-linear": (5.0, 0.3, 16.0),
    "linear-then-flat": (900.0, 40.0, 20.0),
    "amdahl": (100.0, 0.05),
    "usl": (100.0, 0.03, 0.0005),
    "peak": (500.0, 20.0, 1.5),
}
"""Model -> true parameters, over 1 to 128 in powers of two."""
SIZES = 2.0 ** np.arange(8)


def fit_recovery(name: str, draws: int, repetitions: int = 6, seed: int = 11) -> tuple[Counter[str], Floats]:
    """(how often each model won, how often each parameter's interval held the truth), 3 % of scatter."""
    rng, truth = np.random.default_rng(seed), CURVES[name]
    family = LATENCY if name in LATENCY and name != "peak" else THROUGHPUT
    x = np.repeat(SIZES, repetitions)
    won: Counter[str] = Counter()
    held = []
    for _ in range(draws):
        found = compare(x, MODELS[name].function(x, *truth) * np.exp(rng.normal(0, 0.03, x.size)), family)
        won[found.winner] += 1
        fit = next(fit for fit in found.fits if fit.name == name)
        held.append([not i.excludes(v) for i, v in zip(fit.parameters.values(), truth, strict=True)])
    return won, np.mean(held, axis=0)
