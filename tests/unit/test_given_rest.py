"""A given cluster at rest: by its own figures, else by the latency of a probe, else neither, as is said."""

from __future__ import annotations

import pytest

from steelyard.systems import given_rest, waiting
from steelyard.systems.given_rest import level, settle

LIMIT_S = 20.0


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_rest, "PROBE_GAP_S", 0.0)
    monkeypatch.setattr(waiting, "REST_POLL_S", 0.0)


def untold() -> int:
    raise OSError("no such table")


def silent() -> float:
    raise OSError("refused")


def test_its_own_figures_count() -> None:
    left = iter([4, 4, 1, 0, 0, 0])
    settled = settle(lambda: next(left), silent, LIMIT_S, lambda _: None)
    assert (settled.quiet, settled.how) == (True, "the servers' own figures")


def test_a_server_that_falls_silent_is_not_at_rest() -> None:
    left = [0, 0]
    settled = settle(lambda: left.pop() if left else untold(), silent, 0.05, lambda _: None)
    assert not settled.quiet


def test_without_figures_the_latency_of_a_probe_counts() -> None:
    probes = 0

    def latency_s() -> float:
        nonlocal probes
        probes += 1
        return max(0.001, 0.008 - probes * 0.00005)  # it falls for 140 probes

    said: list[str] = []
    settled = settle(untold, latency_s, LIMIT_S, said.append)
    assert (settled.quiet, settled.how) == (True, "the latency of a small probe")
    assert probes > 140
    assert "no such table" in said[0]


def test_a_latency_that_varies_is_no_rest() -> None:
    probes = 0

    def latency_s() -> float:
        nonlocal probes
        probes += 1
        return 0.001 * (1 + probes // given_rest.PROBES % 2)

    settled = settle(untold, latency_s, 0.1, lambda _: None)
    assert (settled.quiet, "varies" in settled.detail) == (False, True)


def test_that_neither_can_be_had_is_said() -> None:
    settled = settle(untold, silent, LIMIT_S, lambda _: None)
    assert not settled.quiet
    assert "do not tell what is pending (no such table)" in settled.detail
    assert "a probe has no answer (refused)" in settled.detail


@pytest.mark.parametrize(
    ("readings", "alike"),
    [
        ([1.0] * 4, False),
        ([9.0, 1.0, 1.1, 1.2, 1.05, 1.0], True),
        ([1.0, 1.1, 1.2, 1.3, 1.0], False),
        ([0.0001, 0.0002, 0.0003, 0.0002, 0.0001], True),
    ],
)
def test_readings_that_are_alike(readings: list[float], alike: bool) -> None:
    assert level(readings) is alike
