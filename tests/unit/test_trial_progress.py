"""What is shown while a trial runs, and what signals do meanwhile."""

from __future__ import annotations

import io
import os
import signal

import pytest
from rich.console import Console

from steelyard.errors import Interrupted
from steelyard.lab.progress import Bars, Lines, Live, latency, make_show
from steelyard.lab.signals import Interrupts


def interval(**changes: object) -> dict[str, object]:
    words = {"second": 3, "seconds_since_start": 4, "done": 100, "total_done": 400, "total_failed": 1,
             "response_p99_ns": 2_000_000, "limit_operations": 1000, "limit_seconds": None}  # fmt: skip
    return words | changes


def test_a_second_of_one_engine() -> None:
    assert Live.of([interval()]) == Live(share=0.4, rate=100, p99_ns=2_000_000, failed=1, done=400)


def test_engines_add_up_but_percentiles_do_not() -> None:
    live = Live.of([interval(), interval(response_p99_ns=5_000_000, total_done=300)])
    assert (live.rate, live.failed, live.p99_ns, live.share) == (200, 2, 5_000_000, 0.7)


def test_the_limit_that_comes_first_tells_the_share() -> None:
    assert Live.of([interval(limit_seconds=5)]).share == 0.8
    assert Live.of([interval(limit_operations=None)]).share is None
    assert Live.of([interval(total_done=2000)]).share == 1


def test_texts() -> None:
    assert Live(0.45, 12345, 3_210_000, 0).text() == " 45%  12,345/s  p99 3.21 ms"
    assert Live(None, 5, 900, 7).text() == "5/s  p99 900 ns  7 failed"
    assert Live(None, 5, 900, 0, client="starved").text() == "5/s  p99 900 ns  client starved of CPU"
    assert [latency(n) for n in (12.0, 4_500, 7_000_000, 1.5e9)] == ["12 ns", "4.5 us", "7 ms", "1.5 s"]


def test_lines_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    show = make_show(Console(file=out))
    assert type(show) is Lines
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    show.begin("run")
    for _ in range(60):  # a minute in which every second is told
        now += 1
        show.update(Live(0.5, 1, 1, 0))
    show.end("run: over")
    lines = out.getvalue().splitlines()
    assert len(lines) == 2 + 60 / 5
    assert lines[-1].endswith("run: over")


def test_a_terminal_gets_bars() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    show = make_show(console)
    assert type(show) is Bars
    show.begin("run")
    show.update(Live(0.5, 7, 1000, 0))
    show.end("run: over")
    show.close()
    assert "run: over" in console.file.getvalue()  # type: ignore[attr-defined]


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_signals_are_counted_unless_told_otherwise() -> None:
    with Interrupts() as interrupts:
        interrupt()
        interrupt()
        assert (interrupts.count, interrupts.requested, interrupts.aborted) == (2, True, False)
        with pytest.raises(Interrupted), interrupts.raising():
            pytest.fail("entered although a stop was asked for")


def twice_while_bringing_up(interrupts: Interrupts) -> None:
    with interrupts.raising():
        try:
            interrupt()
        finally:
            interrupt()  # while what was begun is taken back


def test_while_bringing_up_one_is_enough_and_a_second_cuts_nothing_short() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(Interrupted):
            twice_while_bringing_up(interrupts)
        assert (interrupts.count, interrupts.aborted) == (2, False)


def twice_while_measuring(interrupts: Interrupts) -> None:
    with interrupts.raising(), interrupts.noting():
        interrupt()
        assert interrupts.requested
        interrupt()


def test_while_measuring_the_second_aborts() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(Interrupted):
            twice_while_measuring(interrupts)
        assert interrupts.aborted


def test_afterwards_signals_are_what_they_were() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
