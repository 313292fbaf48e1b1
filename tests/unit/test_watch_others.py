"""What processes of others used, between looks at the whole machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl

from steelyard.analysis.summary import Phase
from steelyard.report.taint import crowd, crowds
from steelyard.watch.others import EVERY_S, Others, Spent, growth

BURN = """
import sys, time
until = time.process_time() + 0.5
while time.process_time() < until: pass
print("x", flush=True)
sys.stdin.readline()
"""


def test_a_process_of_others_is_counted_and_one_of_ours_is_not() -> None:
    clock = [0.0]
    counted, without = Others(lambda: clock[0]), Others(lambda: clock[0])
    burner = subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert burner.stdout is not None
    try:
        ours = [os.getpid(), os.getppid()]
        assert counted.sample(lambda: ours) == {"cpu_seconds_total": 0.0}
        without.sample(lambda: [*ours, burner.pid])
        burner.stdout.readline()
        assert counted.sample(lambda: ours) == {}
        clock[0] += EVERY_S
        # in this order: what goes on between the two is then in `spent`, and never taken off it
        rest = without.sample(lambda: [*ours, burner.pid])["cpu_seconds_total"]
        spent = counted.sample(lambda: ours)["cpu_seconds_total"]
    finally:
        burner.communicate(b"\n")
    assert spent - rest > 0.2  # the rest of the machine is in both


def test_what_an_ended_child_had_spent_is_counted_once() -> None:
    before = {10: Spent(1, 5), 11: Spent(10, 100)}
    after = {10: Spent(1, 5, 130)}  # it has waited for the child, which had spent 30 more
    assert growth(before, after) == 30


def test_what_a_whole_family_had_spent_is_counted_once() -> None:
    """As of a build: its shell and the compiler end together, and the terminal has waited for both."""
    before = {10: Spent(1, 5), 11: Spent(10, 3, 20), 12: Spent(11, 100)}
    after = {10: Spent(1, 5, 3 + 20 + 100 + 7)}
    assert growth(before, after) == 7


def test_an_orphan_takes_nothing_off_what_others_spent() -> None:
    """Its shell was killed, and init has waited for it: the terminal never had its ticks."""
    before = {1: Spent(0, 9), 10: Spent(1, 5), 11: Spent(10, 3), 12: Spent(11, 9000)}
    after = {1: Spent(0, 9), 10: Spent(1, 505, 3)}
    assert growth(before, after) == 500


def test_a_server_of_ours_that_somebody_else_waited_for_is_nobody_elses_work() -> None:
    before = {10: Spent(1, 5), 11: Spent(10, 9000)}
    assert growth(before, {10: Spent(1, 6, 9002)}, ours=[11]) == 3


def test_what_ended_below_ours_takes_nothing_off() -> None:
    before = {10: Spent(1, 5), 11: Spent(10, 3), 12: Spent(11, 100)}
    after = {10: Spent(1, 6), 11: Spent(10, 50, 100)}
    assert growth(before, after, ours=[11]) == 1


def test_a_new_process_counts_whole_and_one_that_became_ours_not_at_all() -> None:
    before, after = {11: Spent(1, 100)}, {11: Spent(1, 150), 12: Spent(1, 7, 2)}
    assert growth(before, after, ours=[11]) == 9


PHASE = cast(Phase, SimpleNamespace(start_ns=10 * 10**9, end_ns=30 * 10**9))


def system(cores: float) -> pl.DataFrame:
    """Samples of a machine on which others used so many cores."""
    rows = [(second * 10**9, cores * second) for second in range(0, 40, 5)]
    return pl.DataFrame({"t_ns": [t for t, _ in rows], "value": [v for _, v in rows]}).with_columns(
        source=pl.lit("others"), metric=pl.lit("cpu_seconds_total")
    )


def test_a_trial_beside_a_build_is_crowded() -> None:
    host = {"cores": 2}
    assert "used 0.50 of 2 cores" in crowd(host, system(0.5), PHASE)
    assert crowd(host, system(0.2), PHASE) == ""
    assert crowd(host, system(0.5).clear(), PHASE) == ""


def test_a_trial_is_crowded_where_its_engines_and_nodes_are(tmp_path: Path) -> None:
    busy, quiet = system(0.5), system(0.2)
    (tmp_path / "hosts").mkdir()
    cassandra = {"trial": {"system": {"kind": "cassandra"}}, "host": {"cores": 2}}

    def said(*roles: str, here: pl.DataFrame, there: pl.DataFrame) -> str:
        hosts = [{"name": f"h{k}", "role": role, "facts": {"cores": 2}} for k, role in enumerate(roles)]
        for index in range(len(hosts)):
            there.write_parquet(tmp_path / "hosts" / f"{index}.parquet")
        return crowds(tmp_path, {**cassandra, "hosts": hosts}, here, PHASE)

    assert said(here=busy, there=quiet)
    assert said("server", here=busy, there=quiet)  # the engine is here
    assert said("load", "server", here=busy, there=quiet) == ""
    assert said("load", "server", here=quiet, there=busy).endswith("used 0.50 of 2 cores of h0")
    assert said("watched", here=quiet, there=busy) == ""
