"""The end of a cluster that was made: one that fails or hangs is told, and nothing else."""

from __future__ import annotations

import threading
from asyncio import CancelledError

import pytest

from steelyard.hosts.remote.closing import close_in_time


def test_one_that_is_closed_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    closed = threading.Event()
    close_in_time("Cluster", closed.set)
    assert closed.is_set()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "said"), [(TypeError("no room"), "no room"), (CancelledError(), "CancelledError")]
)
def test_one_that_fails_is_told(error: BaseException, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    def close() -> None:
        raise error

    close_in_time("Cluster", close)
    assert capsys.readouterr().err == f"warning: Cluster may still run: {said}\n"


def test_one_that_hangs_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    go_on = threading.Event()
    close_in_time("Cluster", go_on.wait, 0.01)
    go_on.set()
    assert capsys.readouterr().err == "warning: Cluster may still run: it was not closed within 0.01 s\n"
