"""Runs on several hosts: what is a unit, and what a host does to all its runs is no scatter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.analysis.evidence import Cell, within
from steelyard.analysis.stats.runs import Runs, contrast

HOSTS = ["a", "a", "a", "b", "b", "b"]


def test_one_load_on_each_host_is_not_repeated() -> None:
    runs = Runs([1.0] * 6, list(range(6)), [1] * 6, HOSTS)
    assert runs.units() == ([[0], [1], [2], [3], [4], [5]], "this load")


def test_a_start_belongs_to_its_host() -> None:
    runs = Runs([1.0] * 6, [1, 1, 2, 1, 1, 2], [1] * 6, HOSTS)
    assert runs.units() == ([[0, 1], [2], [3, 4], [5]], "this load")


def test_a_run_on_each_of_many_hosts_is_a_unit() -> None:
    runs = Runs([1.0] * 6, list(range(6)), list(range(6)), list("abcdef"))
    assert (len(runs.units()[0]), runs.units()[1]) == (6, "")


def noisy(seed: int, centre: float, hosts: list[str], of_host: dict[str, float]) -> Runs:
    logs = np.random.default_rng(seed).normal(math.log(centre), 0.01, len(hosts))
    values = [math.exp(log + of_host[host]) for log, host in zip(logs, hosts, strict=True)]
    return Runs(values, hosts=hosts)


def test_what_a_host_does_to_all_its_runs_is_no_scatter() -> None:
    alike, unlike = {"a": 0.0, "b": 0.0}, {"a": -0.4, "b": 0.4}
    on_alike = contrast(noisy(1, 100, HOSTS, alike), noisy(2, 110, HOSTS, alike))
    on_unlike = contrast(noisy(1, 100, HOSTS, unlike), noisy(2, 110, HOSTS, unlike))
    assert on_unlike.log_ratio == pytest.approx(on_alike.log_ratio)
    assert on_unlike.error == pytest.approx(on_alike.error)
    assert on_unlike.interval().low > 1
    sides = (noisy(1, 100, HOSTS, unlike), noisy(2, 110, HOSTS, unlike))
    blind = contrast(*(Runs(runs.values) for runs in sides))
    assert blind.interval().low < 1


def test_as_many_hosts_as_repetitions_is_a_contrast_of_pairs() -> None:
    hosts = list("abcdef")
    shifts = dict(zip(hosts, np.linspace(-0.5, 0.5, 6), strict=True))
    a, b = noisy(3, 100, hosts, shifts), noisy(4, 103, hosts, shifts)
    ratios = np.log(np.array(b.values) / np.array(a.values))
    found = contrast(a, b)
    assert found.log_ratio == pytest.approx(ratios.mean())
    assert found.error == pytest.approx(ratios.std(ddof=1) / math.sqrt(6))
    assert found.freedom == pytest.approx(5)


def test_unlike_numbers_of_runs_on_a_host_do_not_shift_the_ratio() -> None:
    shifts = {"a": 0.0, "b": 1.0}
    a = Runs([100 * math.exp(shifts[h]) for h in "aab"], hosts=list("aab"))
    b = Runs([110 * math.exp(shifts[h]) for h in "abb"], hosts=list("abb"))
    assert contrast(a, b).log_ratio == pytest.approx(math.log(1.1))


def test_on_one_host_nothing_is_taken_out() -> None:
    plain = contrast(Runs([1.0, 1.1, 1.2]), Runs([2.0, 2.1, 2.3]))
    same = contrast(Runs([1.0, 1.1, 1.2], hosts="aaa"), Runs([2.0, 2.1, 2.3], hosts="aaa"))
    assert plain == same


def test_hosts_that_had_one_side_only_tell_nothing_of_the_other() -> None:
    a, b = Runs([1.0, 1.1, 1.2], hosts="aaa"), Runs([2.0, 2.1, 2.3], hosts="bbb")
    assert contrast(a, b) == contrast(Runs(a.values), Runs(b.values))


def cell(name: str, hosts: str) -> Cell:
    rows = [
        {"trial": n, "repetition": n, "status": "done", "host": host, "ok_per_s": 100.0 + n + len(name)}
        for n, host in enumerate(hosts, 1)
    ]
    return Cell((("system", name),), tuple(rows))


def test_pairs_lie_within_a_host() -> None:
    whole = within(cell("x", "aabbaa"), cell("yy", "aabbaa"), "ok_per_s", "ok_per_s")
    torn = within(cell("x", "aabbaa"), cell("yy", "aabbab"), "ok_per_s", "ok_per_s")
    assert whole is not None
    assert torn is not None
    assert whole.interval().count == 6
    assert torn.interval().count == 5
    assert within(cell("x", "aa"), cell("yy", "bb"), "ok_per_s", "ok_per_s") is None
