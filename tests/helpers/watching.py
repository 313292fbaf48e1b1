"""What a sampler has seen, for tests that wait for samples, not for time: a busy machine takes some of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from steelyard.systems.waiting import wait_until
from steelyard.watch import Sampler
from steelyard.watch.target import WatchTarget

HEAP = "server_heap_used_bytes"
LIMIT_S = 60.0
SENT_NS = 100_000_000
"""What a server has sent before it was stopped has come by then."""


def times(sampler: Sampler, source: str, metric: str) -> pl.Series:
    """When a metric was told, CLOCK_MONOTONIC ns."""
    return sampler.frame().filter(source=source, metric=metric)["t_ns"]


def await_samples(sampler: Sampler, source: str, metric: str, count: int, since_ns: int = 0) -> None:
    """Wait for `count` samples of a metric after a time."""

    def there() -> bool:
        return int((times(sampler, source, metric) > since_ns).sum()) >= count

    wait_until(there, [], LIMIT_S, f"{source} has not told {metric} {count} times")


def await_value(sampler: Sampler, source: str, metric: str, least: float) -> None:
    """Wait until the newest value of a metric is as large as that."""

    def there() -> bool:
        value = sampler.latest(source, metric)
        return value is not None and value >= least

    wait_until(there, [], LIMIT_S, f"{metric} of {source} has not become {least:g}")


def await_missing(sampler: Sampler, what: str, reason: str) -> None:
    """Wait until it is noted that something could not be had, and why."""
    wait_until(
        lambda: reason in sampler.missing.get(what, ""), [], LIMIT_S, f"{what}: not noted as '{reason}'"
    )


def freeze(sampler: Sampler, frozen: WatchTarget, other: WatchTarget, pids: Sequence[int]) -> None:
    """Stop a node's processes, `pids`, until another has told its heap: its own is a gap, nothing else."""
    await_samples(sampler, frozen.name, HEAP, 1)
    with _stopped(pids) as stopped_ns:
        await_samples(sampler, other.name, HEAP, 1, stopped_ns)
        await_samples(sampler, frozen.name, "cpu_seconds_total", 3, stopped_ns)
        resumed_ns = time.monotonic_ns()
    await_samples(sampler, frozen.name, HEAP, 1, resumed_ns)
    assert not times(sampler, frozen.name, HEAP).is_between(stopped_ns + SENT_NS, resumed_ns).any()


@contextmanager
def _stopped(pids: Sequence[int]) -> Iterator[int]:
    """All these processes are stopped; yields when they were, CLOCK_MONOTONIC ns."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield time.monotonic_ns()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
