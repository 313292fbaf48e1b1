"""Chart definitions: thin enough, complete, and never an averaged percentile."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from steelyard.report.charts import charts_of
from steelyard.report.charts.thin import MOST_POINTS, bin_seconds, highest, means
from steelyard.report.formatting import clean, digits, duration, plain, size
from steelyard.report.model import build

SAMPLE = Path(__file__).parents[1] / "data" / "results" / "sample"


def test_the_sample_has_every_chart() -> None:
    keys = [c.key for c in charts_of(build(SAMPLE).trials[0])]
    assert keys == [
        "run-throughput", "run-latency-read", "run-latency-update", "run-spectrum-read",
        "run-spectrum-update", "system-cpu", "system-memory", "system-disk", "system-network",
        "system-requests", "system-gc", "system-compactions", "system-compacted", "load-throughput",
        "load-latency-insert", "load-spectrum-insert",
    ]  # fmt: skip


def test_a_source_keeps_its_colour_over_charts() -> None:
    charts = {c.key: c.spec["layer"][0]["encoding"] for c in charts_of(build(SAMPLE).trials[0])}
    scales = [charts[key]["color"]["scale"] for key in ("system-cpu", "system-network")]
    colours = [dict(zip(scale["domain"], scale["range"], strict=True)) for scale in scales]
    assert colours[0]["machine"] == colours[1]["machine"]


def test_a_long_run_is_thinned_to_the_highest_percentile_and_the_mean_count() -> None:
    seconds = 3600
    every = bin_seconds(seconds)
    frame = pl.DataFrame({"second": range(seconds), "done": [10, 20, 30] * 1200, "p99": list(range(seconds))})
    assert means(frame, ["done"], every)["done"].to_list() == [20.0] * (seconds // every)
    found = highest(frame, ["p99"], every)
    assert found.height <= MOST_POINTS
    assert found["p99"][0] == every - 1


@pytest.mark.parametrize(("value", "told"), [
    (None, "-"), (0, "0"), (0.0123, "0.0123"), (1.234, "1.23"), (12345.6, "12,346"), (float("nan"), "-"),
])  # fmt: skip
def test_digits(value: float | None, told: str) -> None:
    assert digits(value) == told


def test_units_fit() -> None:
    assert [duration(v) for v in (5, 12_340, 4.56e6, 1.2e9)] == ["5 ns", "12.3 us", "4.56 ms", "1.20 s"]
    assert [size(v) for v in (10, 2048, 3 << 30)] == ["10.0 B", "2.00 KiB", "3.00 GiB"]


def test_foreign_text_is_plain() -> None:
    assert clean("a\x1b[31mb\u202e") == "a\N{REPLACEMENT CHARACTER}[31mb\N{REPLACEMENT CHARACTER}"
    assert plain({"a": [1, True, None]}) == "a = 1, yes, -"
