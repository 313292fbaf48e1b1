"""The order of trials: seeds, repetitions and groups are fixed by the study alone."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from steelyard.spec.estimate import each, estimate, run_seconds, trial_seconds
from steelyard.spec.models import Study, Trial
from steelyard.spec.read import read_study
from steelyard.spec.trials import STRIDE, plan_hash, trials

TEXT = """
repetitions = 3
workload = "a"
[systems.one]
kind = "cassandra"
[systems.two]
kind = "cassandra"
nodes = 2
[load]
operations = 1000
[factors]
clients = [1, 2, 4]
consistency = ["ONE", "ALL"]
"""


def read(folder: Path, *overrides: str) -> Study:
    path = folder / "s.toml"
    path.write_text(TEXT)
    return read_study(path, overrides)


def planned(folder: Path, *overrides: str) -> list[Trial]:
    return trials(read(folder, *overrides))


def blocks(found: list[Trial]) -> list[list[int]]:
    """The points of each run of equal repetitions."""
    return [[t.point for t in block] for _, block in groupby(found, key=lambda t: t.repetition)]


def test_random_order_runs_every_point_once_in_each_repetition(tmp_path: Path) -> None:
    found = planned(tmp_path)
    orders = blocks(found)
    assert [sorted(order) for order in orders] == [list(range(1, 13))] * 3
    assert len({tuple(order) for order in orders}) == 3
    assert [t.number for t in found] == list(range(1, 37))
    assert found == planned(tmp_path)
    assert [t.point for t in found] != [t.point for t in planned(tmp_path, "seed=1")]


def test_of_n_points_each_stands_at_each_place_once_in_n_repetitions(tmp_path: Path) -> None:
    points, n = range(1, 13), 12
    orders = blocks(planned(tmp_path, "repetitions=24"))
    for square in (orders[:n], orders[n:]):
        assert all(sorted(order[place] for order in square) == list(points) for place in range(n))
    assert orders[:n] != orders[n:]


def test_points_of_one_cluster_are_balanced_over_its_starts(tmp_path: Path) -> None:
    found = planned(tmp_path, "reset=truncate", "repetitions=6", "starts=6")
    starts = [[t.point for t in part] for _, part in groupby(found, key=lambda t: t.group)]
    one = [start for start in starts if 1 in start]
    assert all(sorted(start[place] for start in one) == list(range(1, 7)) for place in range(6))
    two = [[point - 6 for point in start] for start in starts if 1 not in start]
    assert one == two  # what a place does to a point it does to both systems
    first = [1 in start for start in starts[::2]]
    assert sum(first) == 3


def test_other_orders(tmp_path: Path) -> None:
    assert blocks(planned(tmp_path, "order=interleaved")) == [list(range(1, 13))] * 3
    assert [t.point for t in planned(tmp_path, "order=listed")][:4] == [1, 1, 1, 2]


def test_equal_repetitions_draw_alike_in_every_system(tmp_path: Path) -> None:
    seeds: dict[int, set[int]] = {}
    for trial in planned(tmp_path):
        seeds.setdefault(trial.repetition, set()).add(trial.seed)
    assert [len(found) for found in seeds.values()] == [1, 1, 1]
    assert len(set.union(*seeds.values())) == 3


def test_fresh_trials_share_nothing(tmp_path: Path) -> None:
    found = planned(tmp_path)
    assert [t.group for t in found] == [t.data for t in found] == [t.number for t in found]


@pytest.mark.parametrize("order", ["random", "interleaved", "listed"])
def test_trials_that_share_a_cluster_follow_each_other(tmp_path: Path, order: str) -> None:
    found = planned(tmp_path, "reset=truncate", f"order={order}")
    runs = [(group, list(part)) for group, part in groupby(found, key=lambda t: t.group)]
    assert [group for group, _ in runs] == [1, 2]
    for _, part in runs:
        assert len({t.system_name for t in part}) == 1
        assert len(part) == 18
    assert len({t.data for t in found}) == 36


def test_what_only_the_client_knows_needs_no_other_cluster(tmp_path: Path) -> None:
    shared = planned(tmp_path, "reset=truncate", "factors.connections=[1, 2]")
    apart = planned(tmp_path, "reset=truncate", "factors.rf=[1, 2]", "systems.one.nodes=2")
    assert (len({t.group for t in shared}), len({t.group for t in apart})) == (2, 4)


def test_trials_on_one_data_set_draw_different_operations_from_one_seed(tmp_path: Path) -> None:
    found = planned(tmp_path, "reset=none", "factors.records=[10, 20]")
    assert len({t.seed for t in found}) == 1
    assert {t.first_operation for t in found} == {0, STRIDE, 2 * STRIDE}
    assert len({t.group for t in found}) == len({t.data for t in found}) == 4
    for part in {t.group for t in found}:
        assert len({t.workload.records for t in found if t.group == part}) == 1


def test_a_trial_does_not_take_for_its_own_what_another_wrote(tmp_path: Path) -> None:
    judged = planned(tmp_path, "reset=none", "workload.verify=full", "factors.records=[10, 20]")
    assert [t.first_operation for t in judged] == [(t.number - 1) * STRIDE for t in judged]
    restored = planned(tmp_path, "reset=restore", "workload.verify=full", "factors.records=[10, 20]")
    assert {t.first_operation for t in restored} == {0, STRIDE, 2 * STRIDE}


def test_plans_are_told_apart(tmp_path: Path) -> None:
    same = plan_hash(planned(tmp_path))
    assert same == plan_hash(planned(tmp_path))
    for change in ("seed=1", "repetitions=2", "order=listed", "load.timeout_ms=9000", "reset=truncate"):
        assert plan_hash(planned(tmp_path, change)) != same


def test_the_estimate_counts_what_is_shared_once(tmp_path: Path) -> None:
    fresh, shared = (each(planned(tmp_path, f"reset={reset}")) for reset in ("fresh", "truncate"))
    assert sum(shared.values()) < sum(fresh.values()) / 2
    assert estimate(planned(tmp_path)).seconds == sum(fresh.values())


def test_loads_go_through_the_quotas_of_nodes_by_every_copy(tmp_path: Path) -> None:
    def load_seconds(*overrides: str) -> float:
        """What 100,000 records more take on two nodes."""
        fewer, more = (
            next(t for t in planned(tmp_path, f"workload.records={n}", *overrides) if t.system.size == 2)
            for n in (1_000, 101_000)
        )
        return trial_seconds(more) - trial_seconds(fewer)

    quota = [f"systems.{name}.limits.cpu=0.25" for name in ("one", "two")]
    assert load_seconds() == pytest.approx(100_000 / 8_000, rel=0.2)
    assert load_seconds(*quota) == pytest.approx(100_000 / (0.5 * 4_000))
    copies = "systems.two.access.replication.factor=2"
    assert load_seconds(*quota, copies) == pytest.approx(2 * load_seconds(*quota))


def test_a_trial_with_neither_a_start_nor_a_load_has_less_around_it(tmp_path: Path) -> None:
    trial = planned(tmp_path)[0]
    alone, loaded = (trial_seconds(trial, starts=False, loads=loads) for loads in (False, True))
    records = trial.workload.records / 8_000
    assert loaded - alone > records + 3


def test_a_run_lasts_until_the_limit_that_comes_first(tmp_path: Path) -> None:
    def seconds(*overrides: str) -> float:
        return run_seconds(planned(tmp_path, *overrides)[0])

    assert seconds("load.target=10") == 100
    assert seconds("load.target=10", "load.duration_s=5") == 5
