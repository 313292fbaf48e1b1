"""Studies that end when they are decided: how often they err, how much they find, how long they are.

    python benches/stats_looks.py --studies 1000

Made-up studies: claims that a second system is faster, each about two cells of its own; runs scatter by 3 %,
one trial in twenty is disturbed and does not count. They go through `judge` and `standings` as a real study's
trials do, and get the repetitions that these ask for, from a plan of 6 up to 24. Beside them the same studies
with a fixed plan, and extended likewise by someone who tests each time as if it were the only time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from steelyard.analysis.claims import judge
from steelyard.analysis.claims.looks import ONE_TEST, Look, Looks
from steelyard.analysis.claims.standing import standings
from steelyard.spec.checks import Claim

PLAN, MOST = 6, 24
SCATTER, DISTURBED = 0.03, 1 / 20
METRIC = "ok_per_s"


@dataclass(frozen=True)
class Ended:
    """What became of a study: claims decided, and repetitions of a point at its end."""

    decided: int
    repetitions: float


def claims(count: int) -> list[Claim]:
    """Of each pair of cells, that the second is faster."""
    return [
        Claim.model_validate(
            {"id": f"C{n}", "statement": "s", "metric": METRIC, "where": {"pair": n},
             "check": {"kind": "ratio", "direction": "above", "numerator": {"where": {"side": 2}},
                       "denominator": {"where": {"side": 1}}}}
        )
        for n in range(count)
    ]  # fmt: skip


class Source:
    """Trials of one study, drawn as they are asked for."""

    def __init__(self, seed: int, count: int, effect: float) -> None:
        rng = np.random.default_rng(seed)
        self.logs = rng.normal(0, SCATTER, (count, 2, MOST)) + np.array([0, np.log1p(effect)])[:, np.newaxis]
        self.disturbed = rng.random((count, 2, MOST)) < DISTURBED

    def frame(self, repetitions: Sequence[int]) -> pl.DataFrame:
        """Of each pair so many repetitions."""
        rows = [
            {"system": "x", "variant": None, "status": "done", "steady": "steady", "pair": pair,
             "side": side + 1, "point": 2 * pair + side + 1, "repetition": n + 1,
             METRIC: float(np.exp(self.logs[pair, side, n])),
             "tainted": "steal: 5 %" if self.disturbed[pair, side, n] else None}
            for pair, count in enumerate(repetitions) for side in (0, 1) for n in range(count)
        ]  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None).with_row_index("trial", offset=1)


def study(source: Source, asked: list[Claim], *, honest: bool) -> Ended:
    """Look, add what is likely to decide, and look again; what a look has shown stays shown."""
    repetitions, taken = [PLAN] * len(asked), list[Look]()
    while True:
        done = {2 * pair + side: count for pair, count in enumerate(repetitions) for side in (1, 2)}
        taken.append(Look(done, MOST))
        looks = Looks(tuple(taken))
        verdicts = judge(
            asked, source.frame(repetitions), ["pair", "side"], looks=looks if honest else ONE_TEST
        )
        found = standings(verdicts, looks)
        shown = {one.claim: (one.alone, one.over_looks) for one in found if one.over_looks is not None}
        taken[-1] = replace(taken[-1], shown=shown)
        if not any(one.further for one in found):
            decided = sum(verdict.direction != "inconclusive" for verdict in verdicts)
            return Ended(decided, float(np.mean(repetitions)))
        repetitions = [count + (one.further or 0) for count, one in zip(repetitions, found, strict=True)]


def fixed(source: Source, asked: list[Claim]) -> Ended:
    """One test at the end of the plan."""
    verdicts = judge(asked, source.frame([PLAN] * len(asked)), ["pair", "side"])
    return Ended(sum(verdict.direction != "inconclusive" for verdict in verdicts), PLAN)


def main() -> None:
    """Print one line for each kind of study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--claims", type=int, nargs="*", default=[1, 3, 10])
    parser.add_argument("--effects", type=float, nargs="*", default=[0.0, 0.03, 0.05, 0.1])
    words = parser.parse_args()
    print("effect  claims  way             studies with a claim decided  claims decided  repetitions")
    for effect in words.effects:
        for count in words.claims:
            asked = claims(count)
            ways = {
                "fixed plan": lambda source, asked=asked: fixed(source, asked),
                "until decided": lambda source, asked=asked: study(source, asked, honest=True),
                "tested anew": lambda source, asked=asked: study(source, asked, honest=False),
            }
            for name, way in ways.items():
                ended = [way(Source(seed, count, effect)) for seed in range(words.studies)]
                any_ = sum(one.decided > 0 for one in ended) / len(ended)
                all_ = sum(one.decided for one in ended) / len(ended) / count
                mean = sum(one.repetitions for one in ended) / len(ended)
                print(f"{effect:6.0%}  {count:6}  {name:14}  {any_:28.1%}  {all_:14.1%}  {mean:11.1f}")


if __name__ == "__main__":
    main()
