"""What disturbs a trial, and which studies do not mind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_acted import make_acted

from steelyard.report.taint import taint
from steelyard.spec.asked import Asked
from steelyard.watch.machine import STEAL

LOST: dict[str, Any] = {
    "id": "LOST",
    "statement": "Nothing is lost.",
    "metric": "audit_lost",
    "check": {"kind": "value", "below": 1, "every": True},
}
LATE = LOST | {"id": "LATE", "metric": "audit_missing"}
SLOW = LOST | {"id": "SLOW", "metric": "ok_per_s"}


@pytest.fixture(scope="module")
def stolen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial on whose machine other guests take a tenth of a core."""
    folder = make_acted(tmp_path_factory.mktemp("stolen")) / "trials" / "001"
    system = pl.read_parquet(folder / "system.parquet")
    machine = system.filter((pl.col("source") == "machine") & (pl.col("metric") != STEAL))
    ticks = (
        machine.unique("t_ns").sort("t_ns").with_columns(metric=pl.lit(STEAL), value=pl.col("t_ns") / 1e10)
    )
    rest = system.filter(pl.col("metric") != STEAL)
    pl.concat([rest, ticks.select(rest.columns).cast(dict(rest.schema))]).write_parquet(
        folder / "system.parquet"
    )
    return folder


def test_steal_disturbs_figures_of_time_and_no_count_of_what_was_lost(stolen: Path) -> None:
    found = taint(stolen)
    assert found is not None
    assert found.text.startswith("steal: ")
    assert found.passing
    assert taint(stolen, steal=False) is None


@pytest.mark.parametrize(
    ("claims", "checks", "only"),
    [
        ([], [], False),
        ([], [LOST], True),
        ([LOST], [LOST], True),
        ([LOST], [LATE], False),
        ([LOST], [SLOW], False),
        ([SLOW], [], False),
    ],
)
def test_who_asks_for_nothing_else(claims: list[Any], checks: list[Any], only: bool) -> None:
    asked = Asked.model_validate({"claims": claims, "checks": checks})
    assert asked.only_losses == only
