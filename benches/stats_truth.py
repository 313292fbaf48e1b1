"""How far the statistics can be trusted: intervals, verdicts, cuts and fits on sources of known truth; whole
studies, from trials as files to verdicts.

    python benches/stats_truth.py [--draws 2000] [--calls 200] [--studies 20]

Everything is seeded: the same call prints the same figures. A 95 % interval should hold the truth in 95 %,
equal things should be told apart in at most 5 %. `--draws 0 --calls 0` leaves all but the studies out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a process for each core
sys.path.insert(
    0, str(Path(__file__).parents[1] / "tests" / "unit")
)  # whose tests ask the same for few draws
import stats_sources as sources
import study_sources

Outcomes = Sequence[study_sources.Outcome]


def percent(value: float) -> str:
    """A share as text."""
    return f"{value:7.1%}"


def means(draws: int) -> None:
    """Intervals of means and ratios, nested ones too."""
    print(f"95 % intervals that hold the truth, {draws:,} draws")
    for count in (2, 3, 6, 10, 30):
        held = sources.mean_coverage(count, draws)
        print(f"  mean over {count:2} runs                     {percent(held)}")
    for counts in ((6, 6), (6, 12), (20, 6)):
        held = sources.ratio_coverage(counts, draws)
        print(f"  ratio of {counts[0]:2} and {counts[1]:2} runs, unlike scatter  {percent(held)}")
    for told in (True, False):
        words = "nested" if told else "taken for 24 alone"
        print(f"  6 loads of 4 runs, {words:18}  {percent(sources.nested_coverage(6, 4, draws, told=told))}")


def percentiles(draws: int, calls: int) -> None:
    """Intervals of merged percentiles, and equal ones told apart."""
    print(f"percentiles by bootstrap: hold the truth ({draws:,} draws), equal cells told apart ({calls:,})")
    for count in (10, 20):
        for quantile in (0.5, 0.99, 0.999):
            held = sources.percentile_coverage(count, quantile, draws)
            false = sources.percentile_false_calls(count, quantile, calls)
            print(f"  {count:2} runs, q = {quantile:<5}  {percent(held)}  {percent(false)}")


def verdicts(calls: int) -> None:
    """False words."""
    print(f"A/A comparisons in which any figure is called better or worse, {calls:,} of them")
    for count, metrics in ((6, 1), (6, 10), (10, 10), (6, 40)):
        print(
            f"  {count:2} runs, {metrics:2} figures  {percent(sources.aa_false_calls(count, metrics, calls))}"
        )
    print("a difference as large as the margin called equivalent")
    for count in (20, 100):
        print(f"  {count:3} runs  {percent(sources.false_equivalence(count, calls))}")


def power(draws: int) -> None:
    """What `power` foretells, against what happens."""
    print("questions settled: foretold and found")
    for case in ((6, 0.05, 0.03, 0.03), (10, 0.05, 0.03, 0.03), (10, 0.0, 0.02, 0.03), (30, 0.0, 0.03, 0.03),
                 (40, 0.02, 0.03, 0.03)):  # fmt: skip
        found = sources.settled_share(*case, draws=draws)
        print(f"  runs {case[0]:2}, log ratio {case[1]:.2f}, scatter {case[2]:.2f}  "
              f"{percent(sources.foretold(*case))} {percent(found)}")  # fmt: skip
    for ratio in (0.0, 0.05, 0.1):
        share, questions = sources.settled_by_advice(6, ratio, 0.05, draws)
        print(f"  open after 6 runs, log ratio {ratio:.2f}: advice settles {percent(share)} of {questions:,}")


def warm_up(calls: int) -> None:
    """Cuts of known curves."""
    print(f"warm-up, {calls:,} series each: no steady state, and the median cut (5 % noise, correlated)")
    for name, (_, truth) in sources.SERIES.items():
        cells = []
        for count in (60, 120, 600):
            none, cut = sources.cuts(name, count, calls)
            cells.append(f"{count}: {none:5.1%} {cut:5.2f}")
        print(f"  {name:20} level from {'never' if truth is None else truth}   " + "   ".join(cells))


def wandering(calls: int) -> None:
    """Runs of a cell that wander around one level, and such with a ramp in common."""
    cells = max(1, calls // 6)
    print(f"steady together, {cells:,} cells of six wandering runs of 10 s: runs, cells called unsteady")
    for ramp in (0.0, 0.2, 0.4, 0.6):
        single, together = sources.unsteady_shares(ramp, cells)
        print(f"  ramp of {ramp:.1f} on logarithms: {single:5.1%} {together:5.1%}")


def fits(calls: int) -> None:
    """Models that won, and intervals of their parameters."""
    print(f"fits, {calls:,} curves each (8 sizes, 6 runs, scatter 3 %): who won, parameters held")
    for name in sources.CURVES:
        won, held = sources.fit_recovery(name, calls)
        shares = ", ".join(f"{model} {n / calls:.1%}" for model, n in won.most_common())
        print(f"  {name:18} {shares};  {', '.join(f'{h:.0%}' for h in held)}")


def studies(count: int) -> None:
    """Whole studies without effects, and with planted ones: `count` of each for each layout."""
    print(f"studies from files to verdicts, {count} without effects and {count} with planted ones a layout")
    layouts = study_sources.LAYOUTS
    asked = [(name, has, seed) for name in layouts for seed in range(count) for has in (False, True)]
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        told = dict(zip(asked, pool.map(_study, asked, chunksize=1), strict=True))
    quiet = [one for (_, has, _), one in told.items() if not has]
    for name in layouts:
        _layout(name, *([told[name, has, seed] for seed in range(count)] for has in (False, True)))
    print(f"  all layouts: a false claim in {percent(_share([bool(one.false) for one in quiet]))}")


def _layout(name: str, quiet: Outcomes, planted: Outcomes) -> None:
    false = Counter(claim for one in quiet for claim in one.false)
    print(f"  {name}: a false claim in {percent(_share([bool(one.false) for one in quiet]))} {dict(false)}")
    print(f"    intervals hold the truth: {_held([*quiet, *planted])}")
    found = {claim: _share([one.found[claim] for one in planted]) for claim in study_sources.CLAIMS}
    print("    planted and found: " + ", ".join(f"{claim} {share:.0%}" for claim, share in found.items()))


def _study(asked: tuple[str, bool, int]) -> study_sources.Outcome:
    name, effect, seed = asked
    with tempfile.TemporaryDirectory() as folder:
        return study_sources.outcome(study_sources.LAYOUTS[name], effect, seed, Path(folder))


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)


def _held(found: Outcomes) -> str:
    """Of ratios of means (Student's t), and of percentiles (by ranks, from ten units on by a bootstrap)."""
    shares = []
    for name, claims in (("means", ("ratio", "trend")), ("percentiles", ("ratio of p99", "trend of p99"))):
        held = [one.held[claim] for one in found for claim in claims if claim in one.held]
        shares.append(f"{name} {percent(_share(held)).strip()} of {len(held)}")
    return ", ".join(shares)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=2000, help="of intervals")
    parser.add_argument("--calls", type=int, default=200, help="of comparisons, series and curves")
    parser.add_argument("--studies", type=int, default=20, help="of each layout, without effects and with")
    asked = parser.parse_args()
    if asked.draws:
        means(asked.draws)
        percentiles(asked.draws, asked.calls)
        power(asked.draws)
    if asked.calls:
        verdicts(asked.calls)
        warm_up(asked.calls)
        wandering(asked.calls)
        fits(asked.calls)
    if asked.studies:
        studies(asked.studies)


if __name__ == "__main__":
    main()
