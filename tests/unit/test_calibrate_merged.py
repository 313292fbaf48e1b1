"""What a cell of calibration says of answers that were read together."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.calibrate.cells import CalibrationCell
from steelyard.calibrate.drive import Observed
from steelyard.calibrate.judge import judge
from steelyard.calibrate.laws import Constant

CELL = CalibrationCell(Constant(1_000), "closed", 1, 1)


def merged_share(lag: dict[str, Any] | None, answers: int) -> float | None:
    summary = {
        "operations": 0, "seconds": 1.0, "rss_max_bytes": 0, "cpu_user_ns": 0, "cpu_system_ns": 0,
        "censored": {"unanswered": 0}, "saturation": {"max_backlog": 0, "seconds_saturated": 0},
        "pacing": {} if lag is None else {"lag": lag},
        "traffic": {"reads": 0, "writes": 0, "requests": 0, "answers": answers},
    }  # fmt: skip
    return judge(CELL, Observed(summary, None, 0)).merged_share


def test_of_answers_those_without_a_read_of_their_own_were_merged() -> None:
    assert merged_share({"reads": 60}, 100) == pytest.approx(0.4)


@pytest.mark.parametrize("lag", [None, {"reads": 0}])
def test_where_no_read_had_a_stamp_nobody_knows_what_was_merged(lag: dict[str, Any] | None) -> None:
    assert merged_share(lag, 100) is None
