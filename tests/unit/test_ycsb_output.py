"""What is printed: text exactly as YCSB's exporter has it, the JSON forms, `.hdr` files, status lines."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from steelyard.lab.progress import Live
from steelyard.lab.study import Outcome
from steelyard.results.read import TrialResult
from steelyard.spec.properties import Properties, Property
from steelyard.ycsb import exporters
from steelyard.ycsb.choices import Choices, choose
from steelyard.ycsb.client import failure
from steelyard.ycsb.hdr_files import write_hdr_files
from steelyard.ycsb.sections import overall, rows
from steelyard.ycsb.status import LogTail, Status

US = 1000
Seconds = Sequence[Mapping[str, Sequence[int]]]
RUN: Seconds = (
    {
        "READ.service": [100, 200],
        "READ.response": [100, 2200],
        "UPDATE.service": [400],
        "UPDATE.response": [400],
    },
    {"READ.service": [300], "READ.response": [300], "READ.failed": [50, 70]},
)
"""Latencies (us) of each second."""
OPS = {
    "READ": {"count": 5, "ok": 3, "failures": {"not_found": 2}},
    "UPDATE": {"count": 1, "ok": 1, "failures": {}},
}


def line(tag: str, second: int, latencies_us: Sequence[int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for us in latencies_us:
        histogram.record_value(us * US)
    return f"Tag={tag},{second}.000,1.000,1.000,{histogram.encode().decode()}\n"


def log(seconds: Seconds) -> str:
    return "".join(line(tag, n, values) for n, second in enumerate(seconds) for tag, values in second.items())


def trial(folder: Path, seconds: Seconds = RUN, **summary: Any) -> TrialResult:
    (folder / "engine").mkdir()
    (folder / "engine" / "run.hdr").write_text(log(seconds))
    times = {"start_ns": 10**9, "end_ns": 3_500_000_000, "seconds": 2.5}
    told = {**times, "operations": 6, "ok": 4, "failed": {"not_found": 2}, "ops": OPS, **summary}
    manifest = {
        "timing": {"engines": 0.5},
        "clock": {"start": {"monotonic_ns": 0, "realtime_ns": 10**18}},
        "phases": [{"name": "run", "start_ns": 10**9, "end_ns": 2, "summary": told}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return TrialResult(folder)


def choices(*, as_ycsb: bool = False, **properties: str) -> Choices:
    found = {name.replace("_", "."): Property(value, "-p") for name, value in properties.items()}
    return choose(Properties(found), as_ycsb=as_ycsb)


def text(of: TrialResult, chosen: Choices, *, as_ycsb: bool = False) -> str:
    return exporters.text(rows(of, "run", chosen, overall(of, "run", as_ycsb=as_ycsb)))


def near(found: str, expected: str) -> None:
    """Equal, numbers to three digits: that is what a histogram keeps."""
    ours, theirs = found.splitlines(), expected.strip().splitlines()
    assert [row.rpartition(", ")[0] for row in ours] == [row.rpartition(", ")[0] for row in theirs]
    for row, wanted in zip(ours, theirs, strict=True):
        value, number = (float(r.rpartition(", ")[2]) for r in (row, wanted))
        assert value == pytest.approx(number, rel=2e-3), row


def test_text_as_ycsb_prints_it(tmp_path: Path) -> None:
    near(
        text(trial(tmp_path), choices()),
        """
[OVERALL], RunTime(ms), 2500
[OVERALL], Throughput(ops/sec), 1.6
[TOTAL_GCs], Count, 0
[TOTAL_GC_TIME], Time(ms), 0
[TOTAL_GC_TIME_%], Time(%), 0.0
[READ], Operations, 3
[READ], AverageLatency(us), 866.6667
[READ], MinLatency(us), 100
[READ], MaxLatency(us), 2200
[READ], 50thPercentileLatency(us), 300
[READ], 95thPercentileLatency(us), 2200
[READ], 99thPercentileLatency(us), 2200
[READ], Return=OK, 3
[READ], Return=NOT_FOUND, 2
[READ-FAILED], Operations, 2
[READ-FAILED], AverageLatency(us), 60.0
[READ-FAILED], MinLatency(us), 50
[READ-FAILED], MaxLatency(us), 70
[READ-FAILED], 50thPercentileLatency(us), 50
[READ-FAILED], 95thPercentileLatency(us), 70
[READ-FAILED], 99thPercentileLatency(us), 70
[UPDATE], Operations, 1
[UPDATE], AverageLatency(us), 400.0
[UPDATE], MinLatency(us), 400
[UPDATE], MaxLatency(us), 400
[UPDATE], 50thPercentileLatency(us), 400
[UPDATE], 95thPercentileLatency(us), 400
[UPDATE], 99thPercentileLatency(us), 400
[UPDATE], Return=OK, 1
""",
    )


def lines_of(found: str, section: str) -> list[str]:
    return [row for row in found.splitlines() if row.startswith(f"[{section}]")]


def test_as_ycsb_counts_connecting_and_failures_and_hides_the_wait(tmp_path: Path) -> None:
    found = text(trial(tmp_path), choices(as_ycsb=True), as_ycsb=True)
    assert "[OVERALL], RunTime(ms), 3000\n[OVERALL], Throughput(ops/sec), 2.0\n" in found
    assert any(row.startswith("[READ], MaxLatency(us), 300") for row in found.splitlines())


def test_both_intervals(tmp_path: Path) -> None:
    found = text(trial(tmp_path), choices(measurement_interval="both"))
    assert lines_of(found, "READ")[3].startswith("[READ], MaxLatency(us), 300")
    intended = lines_of(found, "Intended-READ")
    assert intended[0] == "[Intended-READ], Operations, 3"
    assert float(intended[3].rpartition(", ")[2]) == pytest.approx(2200, rel=2e-3)
    assert not any("Return=" in row for row in intended)


def test_percentiles_that_are_asked_for(tmp_path: Path) -> None:
    found = text(trial(tmp_path), choices(hdrhistogram_percentiles="1,2,3,11,99.9"))
    names = [row.split(", ")[1].removesuffix("PercentileLatency(us)") for row in lines_of(found, "UPDATE")]
    assert names[4:9] == ["1st", "2nd", "3rd", "11th", "99.9"]


def test_failures_of_one_status_have_their_section(tmp_path: Path) -> None:
    result = trial(tmp_path)
    for asked in ({"reportlatencyforeacherror": "true"}, {"latencytrackederrors": "ERROR, NOT_FOUND"}):
        assert lines_of(text(result, choices(**asked)), "READ-NOT_FOUND")
    assert lines_of(text(result, choices(latencytrackederrors="ERROR")), "READ-FAILED")


def test_nothing_but_failures(tmp_path: Path) -> None:
    seconds = ({"READ.failed": [50]},)
    ops = {"READ": {"count": 1, "ok": 0, "failures": {"timeout": 1}}}
    found = text(trial(tmp_path, seconds, ops=ops, ok=0), choices())
    assert lines_of(found, "READ") == [
        "[READ], Operations, 0",
        "[READ], AverageLatency(us), NaN",
        "[READ], MinLatency(us), 9223372036854775807",
        "[READ], MaxLatency(us), 0",
        "[READ], 50thPercentileLatency(us), 0",
        "[READ], 95thPercentileLatency(us), 0",
        "[READ], 99thPercentileLatency(us), 0",
        "[READ], Return=ERROR, 1",
    ]


def test_histogram(tmp_path: Path) -> None:
    result = trial(tmp_path)
    verbose = {
        "measurementtype": "histogram",
        "measurement_histogram_verbose": "true",
        "histogram_buckets": "2",
    }
    near(
        "\n".join(lines_of(text(result, choices(**verbose)), "READ")),
        """
[READ], Operations, 3
[READ], AverageLatency(us), 866.67
[READ], LatencyVariance(us), 895555.6
[READ], MinLatency(us), 100
[READ], MaxLatency(us), 2200
[READ], 95thPercentileLatency(us), 2200
[READ], 99thPercentileLatency(us), 2200
[READ], Return=OK, 3
[READ], Return=NOT_FOUND, 2
[READ], 0, 2
[READ], 1, 0
[READ], >2, 1
""",
    )
    theirs = text(result, choices(as_ycsb=True, **verbose, measurement_interval="intended"), as_ycsb=True)
    assert "PercentileLatency" not in "".join(lines_of(theirs, "READ"))  # beyond its buckets
    assert "[UPDATE], 95thPercentileLatency(us), 0\n" in theirs  # whole milliseconds


def test_two_in_one(tmp_path: Path) -> None:
    found = text(trial(tmp_path), choices(measurementtype="hdrhistogram+histogram"))
    assert lines_of(found, "HdrREAD")
    assert lines_of(found, "BucketREAD")
    assert not lines_of(found, "READ")


def test_time_series(tmp_path: Path) -> None:
    seconds = ({"READ.response": [100, 300]}, {}, {"READ.response": [500]})
    found = text(trial(tmp_path, seconds), choices(measurementtype="timeseries"))
    near("\n".join(lines_of(found, "READ")[-3:-2]), "[READ], 0, 200.0")
    assert "[READ], 1000, NaN" in found
    wide = text(TrialResult(tmp_path), choices(measurementtype="timeseries", timeseries_granularity="2000"))
    assert [row.split(", ")[1] for row in lines_of(wide, "READ")[-2:]] == ["0", "2000"]


def test_json(tmp_path: Path) -> None:
    result = trial(tmp_path, ({"READ.failed": [50]},), ops={"READ": {"ok": 0, "failures": {"timeout": 1}}})
    found = list(rows(result, "run", choices(), overall(result, "run", as_ycsb=False)))
    array = json.loads(exporters.json_array(found))
    assert array[0] == {"metric": "OVERALL", "measurement": "RunTime(ms)", "value": 2500}
    assert {"metric": "READ", "measurement": "AverageLatency(us)", "value": "NaN"} in array
    assert exporters.json_array(found).startswith(
        '[ {\n  "metric" : "OVERALL",\n  "measurement" : "RunTime(ms)"'
    )
    document = json.loads(exporters.json_document(found))
    assert document["OVERALL"]["RunTime(ms)"] == 2500
    assert document["READ"]["AverageLatency(us)"] is None
    decoder, rest, objects = json.JSONDecoder(), exporters.json_objects(found).strip(), []
    while rest:
        one, end = decoder.raw_decode(rest)
        objects.append(one)
        rest = rest[end:].lstrip()
    assert objects == array


def test_dataintegrity(tmp_path: Path) -> None:
    result = trial(tmp_path, verify={"mode": "all", "checked": 30, "corrupt": 1, "foreign": 0})
    assert lines_of(text(result, choices()), "VERIFY") == [
        "[VERIFY], Operations, 3",
        "[VERIFY], Return=OK, 2",
        "[VERIFY], Return=UNEXPECTED_STATE, 1",
    ]
    wrong = failure(Outcome(tmp_path), result, "run")
    assert wrong is not None
    assert wrong.message == "dataintegrity: 1 of 30 values are wrong"


def test_what_has_failed(tmp_path: Path) -> None:
    result = trial(tmp_path)
    assert failure(Outcome(tmp_path), result, "run") is None  # some operations failed: that is a measurement
    result.manifest["phases"][0]["name"] = "load"
    assert "2 of 6 records were not stored" in str(failure(Outcome(tmp_path), result, "load"))


def test_flushes_of_collected_writes_have_their_section(tmp_path: Path) -> None:
    flush = {"FLUSH": {"count": 2, "ok": 1, "rows": 9, "failures": {"timeout": 1}}}
    seconds = ({"FLUSH.service": [700], "FLUSH.response": [900], "FLUSH.failed": [50]},)
    result = trial(tmp_path, seconds, ops=flush, unflushed=3)
    found = text(result, choices())
    assert lines_of(found, "FLUSH")[0] == "[FLUSH], Operations, 1"
    assert lines_of(found, "FLUSH")[-2:] == ["[FLUSH], Return=OK, 1", "[FLUSH], Return=ERROR, 1"]
    assert lines_of(found, "FLUSH-FAILED")[0] == "[FLUSH-FAILED], Operations, 1"
    assert "3 collected writes were never acknowledged" in str(failure(Outcome(tmp_path), result, "run"))


def test_hdr_files_have_a_line_for_each_status(tmp_path: Path) -> None:
    result = trial(tmp_path)
    prefix = {"hdrhistogram_fileoutput": "true", "hdrhistogram_output_path": f"{tmp_path}/x-"}
    files = write_hdr_files(result, "run", choices(**prefix, status="true", status_interval="1"))
    assert [file.name for file in files] == ["x-READ.hdr", "x-READ-FAILED.hdr", "x-UPDATE.hdr"]
    header = files[0].read_text().splitlines()[:4]
    assert header[:2] == ["#[Logging for: READ]", "#[Histogram log format version 1.3]"]
    assert header[2].startswith("#[StartTime: 1000000001.000 (seconds since epoch), ")

    def counts(file: Path) -> list[tuple[int, int]]:
        reader = HistogramLogReader(str(file), HdrHistogram(1, 3_600_000_000, 3))
        found = []
        while (histogram := reader.get_next_interval_histogram()) is not None:
            found.append((histogram.get_total_count(), histogram.get_max_value()))
        reader.close()
        return found

    near("\n".join(f"c, {c}\nm, {m}" for c, m in counts(files[0])), "c, 2\nm, 2200\nc, 1\nm, 300")
    whole = write_hdr_files(result, "run", choices(**prefix))
    assert [count for count, _ in counts(whole[0])] == [3]


def test_status_lines(tmp_path: Path) -> None:
    path, out = tmp_path / "run.hdr", io.StringIO()
    status = Status(choices(status="true", status_interval="1", label="mine "), path, 10, out)
    status.begin("run")
    path.write_text(log(RUN[:1]) + "Tag=READ.service,1.0")  # a line that is still being written
    status.update(Live(0.4, 4, 0, 0, done=4))  # too early
    status.end("")
    first, last = out.getvalue().splitlines()
    stamp = r"mine \d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3} 0 sec: "
    assert re.fullmatch(stamp + r"0 operations; est completion in 106751991167300 days 15 hours ", first)
    assert re.match(stamp + r"4 operations; [\d.]+ current ops/sec; est completion in ", last)
    assert "[READ: Count=2, Max=2" in last
    assert last.endswith("99.99=400] ") or last.endswith("99.99=399] ")


def test_a_growing_log_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "run.hdr"
    tail = LogTail(path)
    assert tail.interval() == {}
    whole = log(RUN)
    path.write_text(whole[:-20])
    first = tail.interval()
    path.write_text(whole)
    second = tail.interval()
    assert {tag: h.get_total_count() for tag, h in first.items()} == {
        "READ.service": 3, "READ.response": 3, "UPDATE.service": 1, "UPDATE.response": 1
    }  # fmt: skip
    assert {tag: h.get_total_count() for tag, h in second.items()} == {"READ.failed": 2}
    assert tail.interval() == {}
