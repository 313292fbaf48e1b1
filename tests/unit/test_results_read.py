"""Reading results: whole ones, half-written ones, and folders that are none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from hdrh.histogram import HdrHistogram

from steelyard.errors import InputError
from steelyard.results.histograms import read_log, read_totals
from steelyard.results.intervals import SCHEMA, read_series, write_intervals
from steelyard.results.read import open_run

SAMPLE = Path(__file__).parents[1] / "data" / "results" / "sample"


def row(second: int, **changes: object) -> str:
    times = {"count": 4, "mean_ns": 1.5, "p50_ns": 1, "p95_ns": 2, "p99_ns": 3, "p999_ns": 4, "max_ns": 5}
    op = {"count": 4, **dict.fromkeys(("response", "service", "wait", "all"), times)}
    words = {"second": second, "t_ns": 10**9 * second, "due": 5, "started": 5, "done": 5, "ok": 4,
             "failed": {"timeout": 1}, "in_flight": 2, "backlog": 0, "cpu_ns": 9,
             "ops": {"READ": op, "TOTAL": op}}  # fmt: skip
    return json.dumps(words | changes) + "\n"


def test_a_sample_of_the_format() -> None:
    run = open_run(SAMPLE)
    assert run.run["format"] == 1
    [trial] = run.trials
    assert (trial.number, trial.partial, trial.status) == (1, False, trial.manifest["status"])
    assert trial.phases
    assert dict(trial.intervals().schema).keys() == SCHEMA.keys()
    assert trial.system().columns == ["t_ns", "source", "metric", "value"]
    assert isinstance(trial.histograms("run")["TOTAL.response"], HdrHistogram)
    assert trial.summary("run") is not None
    assert next(iter(trial.histogram_log("run")))[1] >= 0


def test_completions_in_tenths_of_a_second_are_kept_and_older_tables_have_none(tmp_path: Path) -> None:
    whole = pl.col("op") == "TOTAL"
    rows = open_run(SAMPLE).trials[0].intervals()
    tenths = rows.filter(whole)["tenths"]
    assert (tenths.list.len() == 10).all()
    assert (tenths.list.sum() == rows.filter(whole)["done"]).all()
    assert rows.filter(~whole)["tenths"].is_null().all()
    older = tmp_path / "001"
    shutil.copytree(SAMPLE / "trials" / "001", older)
    rows.drop("tenths").write_parquet(older / "intervals.parquet")
    assert open_run(older).trials[0].intervals()["tenths"].is_null().all()


def test_how_long_answers_lay_unread_is_known_of_each_second_that_tells(tmp_path: Path) -> None:
    lag = {"reads": 9, "p50_ns": 1, "p99_ns": 70, "max_ns": 90}
    (tmp_path / "run.series.ndjson").write_text(row(0, lag=lag) + row(1, lag=None) + row(2))
    rows = read_series(tmp_path)
    whole = rows.filter(pl.col("op") == "TOTAL")
    assert whole["lag_p99_ns"].to_list() == [70, None, None]
    assert whole["lag_max_ns"].to_list() == [90, None, None]
    assert rows.filter(pl.col("op") == "READ")["lag_max_ns"].is_null().all()


def test_a_trials_folder_is_a_run_of_one() -> None:
    run = open_run(SAMPLE / "trials" / "001")
    assert run.run == {}
    assert [t.number for t in run.trials] == [1]


def test_a_half_written_trial(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(SAMPLE, folder)
    trial = (folder / "trials" / "001").rename(folder / "trials" / "001.partial")
    for name in ("manifest.json", "intervals.parquet", "system.parquet", "engine/run.totals.hdr"):
        (trial / name).unlink()
    series = trial / "engine" / "run.series.ndjson"
    series.write_bytes(series.read_bytes()[:-20])
    (trial / "intervals.parquet").write_bytes(b"cut short")
    spooled = {"t_ns": 5, "source": "machine", "values": {"a": 1.0, "b": 2.0}}
    (trial / "system.spool.ndjson").write_text(json.dumps(spooled) + '\n{"t_ns"')
    [found] = open_run(folder).trials
    assert found.partial
    assert (found.manifest, found.status) == ({}, "cut short")
    assert found.phases == ["load", "run"]
    assert found.intervals().height > 0
    assert found.system().rows() == [(5, "machine", "a", 1.0), (5, "machine", "b", 2.0)]
    assert found.histograms("run")["TOTAL.response"].get_total_count() > 0  # from the seconds
    assert found.summary("nothing") is None


def test_a_half_written_manifest_of_a_half_written_trial(tmp_path: Path) -> None:
    trial = tmp_path / "001.partial"
    trial.mkdir()
    (trial / "manifest.json").write_text("{")
    assert open_run(trial).trials[0].manifest == {}
    whole = trial.rename(tmp_path / "001")
    with pytest.raises(InputError, match="cannot be read"):
        _ = open_run(whole).trials[0].manifest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "expected an object, found list"),
        ('{"format": 9}', "format 9, this Steelyard reads 1"),
    ],
)
def test_a_run_that_cannot_be_read(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=message):
        open_run(tmp_path)


def test_no_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no result") as caught:
        open_run(tmp_path)
    assert caught.value.hint
    with pytest.raises(InputError, match="is no folder"):
        open_run(tmp_path / "nothing")


def test_intervals_from_the_series(tmp_path: Path) -> None:
    (tmp_path / "run.series.ndjson").write_text(row(0) + row(1, ops={}) + row(2)[:-30])
    frame = write_intervals(tmp_path, tmp_path / "intervals.parquet")
    assert frame["op"].to_list() == ["TOTAL", "READ", "TOTAL"]  # the line cut short is left out
    total, read, _ = frame.to_dicts()
    assert (total["failed"], total["in_flight"], total["response_p99_ns"], total["all_mean_ns"]) == (
        1,
        2,
        3,
        1.5,
    )
    assert (read["due"], read["count"], read["wait_max_ns"]) == (None, 4, 5)
    assert read_series(tmp_path, ["load"]).height == 0


def test_a_log_cut_short(tmp_path: Path) -> None:
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    histogram.record_value(1_000_000)
    line = f"Tag=READ.response,0.000,1.000,1.0,{histogram.encode().decode()}\n"
    log = tmp_path / "run.hdr"
    log.write_text("#[StartTime: 1.0 (seconds since epoch)]\n" + line + line + line[:60])
    assert [(tag, start) for tag, start, _ in read_log(log)] == [("READ.response", 0.0)] * 2
    assert read_totals(tmp_path, "run")["READ.response"].get_total_count() == 2


def test_verdicts_clients_coordinators_and_marks_are_read(tmp_path: Path) -> None:
    engine = tmp_path / "001" / "engine"
    engine.mkdir(parents=True)
    told = {
        "client": "starved",
        "on_wire": 3,
        "run_wait_ns": 7,
        "late_count": 4,
        "late_sum_ns": 10,
        "late_max_ns": 9,
        "verdicts": {"stale": 1, "lost": 2, "not_yet": 3, "corrupt": 0, "foreign": 0},
        "coordinators": {
            "10.0.0.1:9042": {
                "attempts": 5,
                "ok": 3,
                "failed": {"timeout": 2},
                "service": {"mean_ns": 1.5, "p99_ns": 2},
            }
        },
    }
    (engine / "run.series.ndjson").write_text(row(0, **told) + row(1))
    (engine / "marks.ndjson").write_text('{"id": 1, "label": "join", "phase": "run", "t_ns": 5}\n')
    write_intervals(engine, tmp_path / "001" / "intervals.parquet")
    trial = open_run(tmp_path / "001").trials[0]
    first, second = trial.intervals().filter(pl.col("op") == "TOTAL").to_dicts()
    assert (first["client"], first["lost"], first["late_mean_ns"], first["on_wire"]) == ("starved", 2, 2.5, 3)
    assert (second["client"], second["lost"], second["late_mean_ns"]) == (None, None, None)
    (share,) = trial.coordinators().to_dicts()
    assert (share["coordinator"], share["attempts"], share["failed"]) == ("10.0.0.1:9042", 5, 2)
    assert (share["failures"], share["service_p99_ns"]) == ('{"timeout": 2}', 2)
    assert [mark["label"] for mark in trial.marks()] == ["join"]
