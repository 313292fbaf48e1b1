"""Figures of every kind: relative to a level, over time, histograms; papers' values as ranges and bounds."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import polars as pl
import pytest
from made import maker
from pydantic import ValidationError

from steelyard.analysis.evidence import Cell
from steelyard.errors import InputError
from steelyard.report import write_report
from steelyard.report.chart import Chart
from steelyard.report.model import build
from steelyard.report.render import svg
from steelyard.report.study.answers import answers
from steelyard.report.study.dots import MEASURED, Dots
from steelyard.report.study.dots_spec import dots_spec
from steelyard.report.study.plot_rows import Cells
from steelyard.report.study.plots import Drawn, y_axis
from steelyard.spec.plots import Plot
from steelyard.spec.read import read_study

studies = maker("make_study")

FIGURES = """
[[figures]]
id = "relative"
title = "over one client"
x = "clients"
y = "read_service_mean_ns"
relative = { clients = 1 }

[[figures.paper]]
at = { consistency = "ONE" }
x = [1, 4, 16]
y = [{ value = 10, label = "E1" }, "20 to 30", "> 40"]

[[figures]]
id = "ordered"
title = "over ONE"
x = "clients"
y = "read_service_p99_ns"
relative = { consistency = "ONE" }
paper = [
  { at = { consistency = "ONE" }, x = [1, 4], y = [10, 20] },
  { at = { consistency = "ALL" }, x = [1, 4, 16], y = [20, 60, 90] }
]

[[figures]]
id = "time"
title = "over time"
x = "time"
y = ["read_service_p50_ns", "update_service_p50_ns"]
panels = ["consistency"]
where = { clients = 1 }

[[figures]]
id = "rate"
title = "rate over time"
x = "time"
y = "ok_per_s"
where = { clients = 1, consistency = "ONE" }
paper = [{ x = [0], y = [{ low = 300, label = "by eye" }] }]

[[figures]]
id = "busy"
title = "the machine over time"
x = "time"
y = "machine_busy_share"
where = { clients = 1, consistency = "ONE" }

[[figures]]
id = "histogram"
title = "of reads"
x = "latency"
y = "read_service_p99_ns"
where = { clients = [1, 16], consistency = "ONE" }

"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    before, after = studies.TEXT.split("[[figures]]", 1)[0], studies.TEXT[studies.TEXT.index("[small]") :]
    return Path(studies.make_study(tmp_path_factory.mktemp("plots"), before + FIGURES + after))


@pytest.fixture(scope="module")
def drawn(run: Path) -> dict[str, Drawn]:
    found = answers(build(run))
    assert found is not None
    return {one.key: one for one in found.figures}


def line(drawn: Drawn, series: str, source: str = "measured") -> list[dict[str, Any]]:
    return [row for row in drawn.rows if (row["series"], row["source"]) == (series, source)]


def test_a_figure_is_drawn_over_that_at_a_level(drawn: dict[str, Drawn]) -> None:
    found = drawn["figure-relative"]
    assert found.y_title == "READ service time, mean, over clients 1"
    for series in ("consistency ONE", "consistency ALL"):
        first, four, sixteen = line(found, series)
        assert (first["x"], first["y"], first["low"], first["high"]) == (1, 1, 1, 1)
        assert four["low"] < four["y"] < four["high"]
        assert sixteen["y"] == pytest.approx(3 / 1.125, rel=0.12)  # made-up trials scatter
    ratios = line(drawn["figure-ordered"], "consistency ALL")
    assert [row["x"] for row in ratios] == [1, 4, 16]
    assert all(1.2 < row["y"] < 1.7 for row in ratios)
    assert {row["y"] for row in line(drawn["figure-ordered"], "consistency ONE")} == {1}


def test_what_is_zipped_moves_with_the_level_that_a_figure_is_drawn_over() -> None:
    keys = [
        (("nodes", nodes), ("clients", 10 * nodes), ("workload", workload))
        for nodes in (3, 5)
        for workload in ("a", "c")
    ]
    cells = Cells(dict.fromkeys(keys, cast(Cell, None)), lambda _trial, _metric: None)
    plot = Plot(id="f", title="t", x="nodes", y=("ok_per_s",), relative={"nodes": 3})
    assert [cells.base(plot, key) for key in keys] == [*keys[:2], *keys[:2]]
    assert cells.base(plot.model_copy(update={"relative": {"nodes": 4}}), keys[0]) is None


def test_an_axis_of_several_figures_says_what_they_share() -> None:
    def axis(*y: str) -> str:
        return y_axis(Plot(id="f", title="t", x="clients", y=y))

    assert axis("read_service_p50_ns", "read_service_p99_ns") == "READ service time, ms"
    assert axis("read_service_mean_ns", "insert_service_mean_ns") == "service time, mean, ms"
    assert axis("until_up_s", "until_joined_s") == "time until the last node was, s"
    assert axis("audit_lost", "audit_unread") == "records"
    assert axis("read_service_p50_ns", "server_cpu_us") == "ms", "nothing"
    assert axis("read_service_p50_ns") == "READ service time, p50, ms"


def test_the_papers_values_are_over_its_own(drawn: dict[str, Drawn]) -> None:
    paper = line(drawn["figure-relative"], "consistency ONE", "paper")
    assert [(row["low"], row["high"], row["bound"]) for row in paper] == [
        (1, 1, ""),
        (2, 3, ""),
        (4, 4, "above"),
    ]
    strong = line(drawn["figure-ordered"], "consistency ALL", "paper")
    assert [(row["x"], row["y"]) for row in strong] == [(1, 2), (4, 3)], "the paper has no 16 at ONE"
    chart = drawn["figure-relative"].chart
    assert chart is not None
    assert "ranges that the paper prints" in chart.note
    assert "Arrows" in chart.note
    marks = [layer["mark"] for layer in chart.spec["layer"]]
    assert [mark["shape"] for mark in marks if mark["type"] == "point"] == ["triangle-up"]


def test_a_figures_table_has_what_the_paper_prints(drawn: dict[str, Drawn]) -> None:
    """Of a range both ends and no middle, of a bound no value, and whose figure it is."""
    rows = [row for row in drawn["figure-relative"].table.rows if row[2].startswith("paper")]
    assert [row[1:] for row in rows] == [
        ("1", "paper, E1", "1.000", "-", "-", "-"),
        ("4", "paper", "-", "2.00", "3.00", "-"),
        ("16", "paper", "above 4.000", "-", "-", "-"),
    ]


def test_a_label_stands_beside_the_papers_value(drawn: dict[str, Drawn]) -> None:
    [paper] = line(drawn["figure-rate"], "throughput", "paper")
    assert (paper["y"], paper["bound"], paper["label"]) == (300, "above", "by eye")
    chart = drawn["figure-rate"].chart
    assert chart is not None
    assert "text" in [layer["mark"]["type"] for layer in chart.spec["layer"]]


def test_a_series_has_every_second_of_the_trials_that_count(drawn: dict[str, Drawn], run: Path) -> None:
    found = line(drawn["figure-rate"], "throughput")
    assert [row["x"] for row in found] == [0, 1, 2, 3]
    assert {row["trials"] for row in found} == {6}
    totals = (pl.col("op") == "TOTAL") & (pl.col("phase") == "run")
    levels = {"clients": 1, "consistency": "ONE"}
    trials = [trial for trial in build(run).trials if trial.manifest["trial"]["levels"] == levels]
    frames = [trial.intervals.filter(totals) for trial in trials]
    first = sorted(frame["ok"][0] for frame in frames)
    assert (found[0]["low"], found[0]["high"]) == (first[0], first[-1])
    assert first[2] <= found[0]["y"] <= first[3]
    panels = [key for key in drawn if key.startswith("figure-time-")]
    assert panels == ["figure-time-consistency-one", "figure-time-consistency-all"]
    slow = line(drawn[panels[0]], "READ service time, p50")
    assert 1 < slow[0]["y"] < 2.5, "milliseconds"


def test_what_the_machine_did_is_drawn_by_second(drawn: dict[str, Drawn], run: Path) -> None:
    found = line(drawn["figure-busy"], "host's CPU busy")
    assert [row["x"] for row in found] == [0, 1, 2, 3]
    levels = {"clients": 1, "consistency": "ONE"}
    trials = [trial for trial in build(run).trials if trial.manifest["trial"]["levels"] == levels]
    percent = [100 * trial.figures["machine_busy_share"] for trial in trials]
    assert fmean(row["y"] for row in found) == pytest.approx(fmean(percent), abs=5)
    assert all(row["low"] < row["y"] < row["high"] for row in found)


def test_a_histogram_holds_all_operations(drawn: dict[str, Drawn]) -> None:
    found = drawn["figure-histogram"]
    assert (found.x_title, found.y_title) == ("READ service time, ms", "% of operations")
    for clients in (1, 16):
        rows = line(found, f"clients {clients}")
        assert sum(row["y"] for row in rows) == pytest.approx(100, abs=0.1)
        middle = sum(row["x"] * row["y"] for row in rows) / 100
        assert middle == pytest.approx(1.22 * (1 + clients / 8) * 1.13, rel=0.1)
        assert all(row["low"] <= row["high"] for row in rows)


def test_a_dense_figure_has_its_ends_as_a_table_and_all_values_as_a_file(
    drawn: dict[str, Drawn], run: Path
) -> None:
    table = drawn["figure-histogram"].table
    assert [row[0] for row in table.rows] == ["clients 1", "clients 16"]
    write_report(run, "md")
    rows = pl.read_csv(run / "tables" / "figure-histogram.csv").height
    assert rows == len(drawn["figure-histogram"].rows) > 20


PLOT = {"id": "1", "title": "t", "x": "clients", "y": "ok_per_s"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"x": "time", "y": "server_cpu_us"},
            "over time there are ok_per_s, latencies, and compactions_pending, gc_share",
        ),
        ({"x": "latency"}, "a histogram"),
        ({"x": "time", "relative": {"clients": 1}}, "relative needs a factor"),
        ({"x": "time", "mark": "bar"}, "lines, no bars"),
        ({"paper": [{"x": [1], "y": ["3 s"]}]}, "the figure is in ms"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Plot.model_validate(PLOT | change)


def test_a_level_that_no_trial_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(studies.TEXT.replace('lines = ["consistency"]', "relative = { clients = 3 }"))
    with pytest.raises(InputError, match="clients has no level '3'"):
        read_study(file)
    file.write_text(studies.TEXT.replace('lines = ["consistency"]', "relative = { client = 1 }"))
    with pytest.raises(InputError, match=r"no factor 'client' in this study .did you mean 'clients'"):
        read_study(file)


@pytest.mark.parametrize(
    ("ends", "domain"),
    [((0.9, 1.2), [0.9 / 1.03, 1.2 * 1.03]), ((0.0, 200.0), [1.0 / 1.03, 200.0 * 1.03])],
)
def test_a_logarithmic_axis_ends_with_its_values(ends: tuple[float, float], domain: list[float]) -> None:
    """What is not above zero is on no such axis."""
    low, high = ends
    row = {"series": "a", "x": 1, "y": 1.0, "low": low, "high": high, "trials": 6, "point": "p"}
    spec = dots_spec(Dots([{**row, "source": MEASURED, "bound": "", "label": ""}], "x", "y", y_log=True))
    scales = [layer["encoding"]["y"].get("scale") for layer in spec["layer"]]
    (scale,) = (one for one in scales[1:2] if one)
    assert scale["type"] == "log"
    assert scale["domain"] == pytest.approx(domain)


@pytest.mark.parametrize(("log", "mark"), [(False, "bar"), (True, "circle")])
def test_bars_begin_at_zero_so_that_an_axis_without_one_has_dots(log: bool, mark: str) -> None:
    row = {"series": "a", "x": "r", "y": 2.0, "low": 1.0, "high": 3.0, "trials": 6, "point": "p"}
    dots = Dots(
        [{**row, "source": MEASURED, "bound": "", "label": ""}], "x", "y", ("r",), y_log=log, bars=True
    )
    assert {layer["mark"]["type"] for layer in dots_spec(dots)["layer"]} == {mark, "rule"}


def test_a_vertical_axis_with_a_longer_title_has_several_lines_and_each_line_once() -> None:
    row = {"series": "a", "x": 1, "y": 1.0, "low": 0.9, "high": 1.1, "trials": 6, "point": "p"}
    title = "reads and writes as replica of the busiest node over the mean"
    spec = dots_spec(Dots([{**row, "source": MEASURED, "bound": "", "label": ""}], "x", title))
    (said,) = re.findall(r"Y-axis titled '([^']*)'", svg(Chart("a", "a", "", "", lambda: spec)))
    assert said == title
    lines = {tuple(layer["encoding"]["y"]["title"]) for layer in spec["layer"]}
    assert lines == {("reads and writes as replica of the busiest", "node over the mean")}


def test_an_axis_names_the_levels_that_were_run_and_over_time_round_seconds(drawn: dict[str, Drawn]) -> None:
    def named(key: str) -> list[list[float] | None]:
        chart = drawn[key].chart
        assert chart
        axes = [layer["encoding"].get("x", {}).get("axis") for layer in chart.spec["layer"]]
        return [axis.get("values") for axis in axes if axis]

    assert {tuple(values or ()) for values in named("figure-ordered")} == {(1, 4, 16)}
    assert set(named("figure-rate")) == {None}
