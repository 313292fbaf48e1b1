"""Two systems side by side are judged as claims of their ratios would be, on trials whose truth is known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from made_trials import one, trials

from steelyard.analysis.claims.looks import ONE_TEST, Look, Looks
from steelyard.analysis.evidence import Trials
from steelyard.report.study.beside import beside
from steelyard.report.study.points import PointReport
from steelyard.report.tables.base import Table

RATIO = {
    "kind": "ratio", "direction": "below",
    "numerator": {"where": {"system": "hbase"}}, "denominator": {"where": {"system": "cassandra"}},
}  # fmt: skip
OK, P99 = 3, 6
"""Where the ratios stand in a row, after the target and both systems' figures."""


def law(hbase: float) -> Any:
    def figures(system: str, target: int) -> dict[str, float]:
        factor = hbase if system == "hbase" else 1.0
        return {"ok_per_s": target * factor, "total_response_p99_ns": 5e6 / factor**3}

    return figures


def frame(hbase: float = 0.8, scatter: float = 0.01, repetitions: int = 6, **levels: Any) -> pl.DataFrame:
    points = [
        {"system": s, "target": t} for s in ("cassandra", "hbase") for t in levels.get("targets", [500])
    ]
    found = trials(law(hbase), points, repetitions, scatter)
    return found.with_columns(point=pl.struct("system", "target").rank("dense"))


def side_by_side(rows: pl.DataFrame, looks: Looks = ONE_TEST) -> Table:
    cells = Trials(rows, ("target",)).cells()
    found = [
        PointReport(str(dict(key)["system"]), "", {"target": dict(key)["target"]}, (), cell)
        for key, cell in cells.items()
    ]
    table = beside(found, looks)
    assert table is not None
    return table


def with_one(rows: pl.DataFrame, **said: Any) -> pl.DataFrame:
    """The same with something said of the second trial alone."""
    return rows.with_columns(
        pl.when(pl.col("trial") == 2).then(pl.lit(value)).otherwise(pl.col(name) if name in rows.columns
        else pl.lit(None)).alias(name) for name, value in said.items()
    )  # fmt: skip


def test_what_differs_is_told_with_its_ratio() -> None:
    table = side_by_side(frame())
    [row] = table.rows
    assert row[OK].endswith(" worse")
    assert row[P99].endswith(" worse")
    assert "not judged" not in table.note


def test_what_does_not_differ_is_equivalent() -> None:
    [row] = side_by_side(frame(1.0, 0.002)).rows
    assert row[OK].endswith(" equivalent")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"status": "failed", "reason": "no route to host"}, "1 of 6 trials do not count: failed"),
        ({"earlier": [{"status": "failed", "reason": "x", "tainted": None}]}, "were run again: failed"),
        ({"server_died": "node 1 died"}, "a server died"),
        ({"steady": "too short"}, "1 of 6 trials: too short"),
        ({"tainted": "steal: 9 %"}, "5 of 6 repetitions needed have ok_per_s"),
    ],
)
def test_no_word_where_a_claim_is_inconclusive(said: dict[str, Any], reason: str) -> None:
    rows = with_one(frame(), **said)
    assert one(RATIO, rows, ["target"], metric="ok_per_s").direction == "inconclusive"
    table = side_by_side(rows)
    [row] = table.rows
    assert " " not in row[OK]
    assert "not judged, in 1 of 1 rows" in table.note
    assert reason in table.note


def test_trials_that_never_came_to_rest_are_not_judged() -> None:
    rows = frame().with_columns(steady=pl.lit("no steady state"))
    assert one(RATIO, rows, ["target"], metric="ok_per_s").direction == "inconclusive"
    table = side_by_side(rows)
    assert " " not in table.rows[0][OK]
    assert "6 of 6 trials: no steady state" in table.note


def test_clusters_that_were_started_once_each_are_not_compared() -> None:
    rows = frame().with_columns(group=pl.col("point"))
    table = side_by_side(rows)
    assert " " not in table.rows[0][OK]
    assert "shared one start of a cluster" in table.note


def test_what_was_disturbed_and_run_again_is_left_out_and_said() -> None:
    rows = frame(repetitions=7)
    table = side_by_side(with_one(rows, tainted="steal: 9 %"))
    assert table.rows[0][OK].endswith(" worse")
    assert (
        "Trials: system cassandra, target 500: 1 of 7 trials do not count: disturbed by steal" in table.note
    )


def test_a_study_that_ends_when_it_is_decided_is_judged_over_all_looks() -> None:
    """One of many looks has spent a part of the error rate only."""
    rows = frame(0.98, 0.03)
    one_of_many = Looks((Look({1: 6, 2: 6}, 24),))
    alone = one(RATIO, rows, ["target"], metric="ok_per_s").chance
    assert alone is not None
    assert one_of_many.chance({1, 2}, alone, 6) > 0.05 > 2 * alone
    assert side_by_side(rows).rows[0][OK].endswith(" worse")
    assert side_by_side(rows, one_of_many).rows[0][OK].endswith(" open")


def test_all_ratios_of_the_table_are_one_family() -> None:
    """What stands out alone is open among others that do not."""
    lone, many = frame(0.98, 0.03), frame(1.0, 0.03, targets=[1000 * n for n in range(1, 6)])
    assert side_by_side(lone).rows[0][OK].endswith(" worse")
    both = pl.concat([lone, many.with_columns(trial=pl.col("trial") + 100)], how="diagonal")
    [row] = [row for row in side_by_side(both).rows if row[0] == "500"]
    assert row[OK].endswith(" open")
