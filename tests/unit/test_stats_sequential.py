"""Looks that share one error rate: levels against published ones, and the law that they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from steelyard.analysis.stats.sequential import LookAt, further, levels, repeated_p, spent

FIVE = [LookAt(k, k / 5) for k in range(1, 6)]


def z_of(p: float) -> float:
    return float(-special.ndtri(p / 2))


def test_levels_are_the_published_ones() -> None:
    """Pocock's spending function at five equal looks, two-sided 5 % (Jennison and Turnbull 2000, 7.2; R's
    ldbounds prints the same)."""
    assert [z_of(p) for p in levels(FIVE, 0.05)] == pytest.approx(
        [2.4380, 2.4268, 2.4101, 2.3966, 2.3859], abs=2e-4
    )


def test_all_is_spent_at_the_end() -> None:
    assert spent(1.0, 0.05) == pytest.approx(0.05)
    assert spent(7.0, 0.05) == pytest.approx(0.05)
    assert levels([LookAt(6, 1.0)], 0.05) == pytest.approx([0.05])
    assert repeated_p(0.03, [LookAt(6, 1.0)]) == pytest.approx(0.03, rel=1e-6)
    assert repeated_p(0.03, []) == 0.03


@pytest.mark.parametrize(
    "looks", [FIVE[:1], FIVE[:3], FIVE, [LookAt(6, 0.25), LookAt(7, 0.3), LookAt(11, 1)]]
)
def test_a_level_grows_with_the_error_rate(looks: list[LookAt]) -> None:
    """So that there is one least error rate at which a look decides, and Holm's steps hold at every look."""
    found = [levels(looks, level) for level in (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3)]
    assert (np.diff(np.array(found), axis=0) > 0).all()


def test_a_repeated_p_is_the_rate_whose_level_it_meets() -> None:
    for p in (1e-5, 0.001, 0.01, 0.02):
        rate = repeated_p(p, FIVE[:3])
        assert rate > p
        assert levels(FIVE[:3], rate)[-1] == pytest.approx(p, rel=1e-4)
    assert repeated_p(0.5, FIVE[:3]) == 1.0


def test_what_was_spent_cannot_be_spent_again() -> None:
    """A look after the one that was announced as the last decides nothing."""
    assert levels([LookAt(6, 1.0), LookAt(12, 1.0)], 0.05)[-1] == 0.0
    assert repeated_p(1e-6, [LookAt(6, 1.0), LookAt(12, 1.0)]) == 1.0


def test_looks_without_an_effect_err_as_often_as_they_may() -> None:
    """Sums of normal deviates, looked at again while it seems promising: an error rate of 5 %, where a plain
    test at each of them has more."""
    draws = np.random.default_rng(7).normal(size=(20_000, 24)).cumsum(axis=1)
    erred = plain = 0
    for sums in draws[:4000]:
        looks, count = list[LookAt](), 6
        honest = loose = False
        while True:
            looks.append(LookAt(count, count / 24))
            p = 2 * float(special.ndtr(-abs(sums[count - 1]) / math.sqrt(count)))
            loose |= p < 0.05
            honest = p < levels(looks, 0.05)[-1]
            if honest or count == 24 or p > 0.5:
                break
            count += 6
        erred += honest
        plain += loose
    assert erred / 4000 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 4000)
    assert plain / 4000 > 0.07


def test_the_number_foretold_decides_as_often_as_it_says() -> None:
    """Over true effects as likely as the estimate makes them, 80 % of questions end at that number."""
    looks, p = [LookAt(6, 0.25)], 0.03
    more = further(p, looks, 24, 0.05)
    assert more is not None
    rng, z = np.random.default_rng(3), z_of(p)
    effect = rng.normal(z / math.sqrt(6), 1 / math.sqrt(6), 20_000)
    sums = z * math.sqrt(6) + effect * more + rng.normal(size=20_000) * math.sqrt(more)
    bound = z_of(levels([*looks, LookAt(6 + more, (6 + more) / 24)], 0.05)[-1])
    share = (abs(sums) / math.sqrt(6 + more) >= bound).mean()
    assert 0.79 <= share <= 0.88


def test_what_no_number_decides() -> None:
    assert further(0.4, [LookAt(6, 0.25)], 24, 0.05) is None
    assert further(0.01, [LookAt(24, 1.0)], 24, 0.05) is None
    assert further(0.03, [LookAt(6, 0.25)], 24, 0.05 / 9) is None  # in a family its share is smaller
