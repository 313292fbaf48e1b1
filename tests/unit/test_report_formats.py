"""Reports of synthetic results: the text is a snapshot, the other formats hold what they must."""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from made import DATA, maker
from rich.console import Console

from steelyard.errors import InputError
from steelyard.report import text_report, write_report
from steelyard.report.model import build

SAMPLE = DATA / "results" / "sample"
HOSTILE = "<script>alert(1)</script>\x1b[31m|`*[x](javascript:alert(1))"


samples = maker("make_results")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    kept = shutil.ignore_patterns(
        "derived.json"
    )  # of another version, where a report was made of it in place
    return Path(shutil.copytree(SAMPLE, tmp_path / "sample", ignore=kept))


def make(folder: Path, **settings: object) -> Path:
    return Path(samples.make(folder, samples.Sample(seconds=12, load_seconds=3, pause_second=6, **settings)))


def text_of(run: Path, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    text_report(run, console)
    return console.file.getvalue()


def test_text_is_as_the_snapshot(sample: Path) -> None:
    """`STEELYARD_SNAPSHOTS=write` writes it anew, to be looked at before it is kept."""
    found = write_report(sample, "text").read_text().replace(str(sample.parent), "results")
    snapshot = DATA / "snapshots" / "report.txt"
    if os.environ.get("STEELYARD_SNAPSHOTS") == "write":
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(found)
    assert found == snapshot.read_text()


def test_text_stays_within_a_hundred_columns_and_is_plain(sample: Path) -> None:
    *lines, again = text_of(sample).splitlines()
    assert again.startswith("Again: steelyard run ")  # a command stays in one line, however long
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in "".join(lines)
    assert "..." not in "".join(lines)
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(lines)


def test_json_carries_the_numbers(sample: Path) -> None:
    found = json.loads(write_report(sample, "json").read_text())
    assert found["format"] == 1
    (trial,) = found["trials"]
    run = next(p for p in trial["phases"] if p["phase"]["name"] == "run")
    assert trial["measured"] == "run"
    assert run["phase"]["total"]["failures"] == {"timeout": 8}
    assert run["phase"]["operations"][0]["response"]["p99_ns"] > 0
    assert {w["kind"] for w in trial["warnings"]} == {"errors", "too_short", "shared_host"}
    assert trial["client_cpu_us_per_op"] > 23


def test_steal_is_told_of_each_machine_that_took_part(sample: Path) -> None:
    [trial] = (sample / "trials").iterdir()
    system = pl.read_parquet(trial / "system.parquet")
    taken = pl.when(pl.col("metric") == "cpu_steal_seconds_total").then(50).otherwise(1)
    system.with_columns(pl.col("value") * taken).write_parquet(trial / "system.parquet")
    manifest = json.loads((trial / "manifest.json").read_text())

    def stolen(*roles: str) -> list[str]:
        hosts = [{"name": role, "role": role, "engine": 0, "facts": {}} for role in roles]
        told = [{"kind": "steal", "text": "other guests of b's machine took 5 %"}]
        (trial / "manifest.json").write_text(json.dumps({**manifest, "hosts": hosts, "warnings": told}))
        warnings = build(sample).trials[0].warnings
        return [warned.text.split()[3] for warned in warnings if warned.kind == "steal"]

    assert stolen("server") == ["this", "b's"]
    assert stolen("load", "server") == ["b's"]  # the laboratory had neither engine nor nodes


def test_the_same_result_gives_the_same_report(sample: Path) -> None:
    first = {f: write_report(sample, f).read_text() for f in ("json", "text")}
    assert first == {f: write_report(sample, f).read_text() for f in ("json", "text")}


def test_markdown_names_charts_that_exist(sample: Path) -> None:
    text = write_report(sample, "md").read_text()
    charts = re.findall(r"\]\((charts/[^)]+\.svg)\)", text)
    assert len(charts) >= 8
    for chart in charts:
        assert (sample / chart).read_text().startswith("<svg")
        assert (sample / chart).with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert "| READ | response |" in text


def test_html_holds_everything_and_fetches_nothing(sample: Path) -> None:
    page = write_report(sample, "html", charts=False).read_text()
    assert len(page) < 2_000_000
    body = html.unescape(re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL))
    assert not re.search(r"""(src|href)\s*=\s*["'](https?:)?//""", body)
    assert "default-src 'none'" in body
    for words in (
        "Durability",
        "QUORUM",
        "watching and lab",
        "auto_bootstrap",
        "all attempts",
        "steelyard run",
    ):
        assert words in body


def test_reports_replace_earlier_ones_and_touch_nothing_else(sample: Path) -> None:
    before = {p: p.read_bytes() for p in sample.rglob("*") if p.is_file()}
    for format in ("json", "text", "json"):
        write_report(sample, format)
    assert {p: p.read_bytes() for p in before} == before
    assert {p.name for p in sample.iterdir()} - {p.name for p in before} == {
        "report.json",
        "report.txt",
        "trials",
    }


def test_a_half_written_result_says_so(tmp_path: Path) -> None:
    run = make(tmp_path, partial=True)
    text = text_of(run)
    assert "half-written" in text
    assert "still marked .partial" in text
    assert "READ" in text
    assert re.search(r"TOTAL\s+response\s+3,\d{3}", text), text
    assert "constant 600.0/s" in text
    assert json.loads(write_report(run, "json").read_text())["partial"] is True
    assert "half-written" in write_report(run, "html", charts=False).read_text()


def test_what_a_half_written_result_was_offered_may_be_a_share_of_what_is_found(tmp_path: Path) -> None:
    """How much that came to stands in the manifest, which is written last."""
    run = make(tmp_path, partial=True)
    planned = json.loads((run / "run.json").read_text())
    settings = json.dumps(planned)
    said = settings.replace('"target": 600.0', '"target": {"of": "most", "share": 0.5}')
    assert said != settings
    (run / "run.json").write_text(said)
    text = text_of(run)
    assert re.search(r"TOTAL\s+response\s+3,\d{3}", text), text
    assert re.search(r"^run\s.*\sconstant\s", text, re.MULTILINE), text
    assert "600.0/s" not in text
    assert "offered rate was not reached" not in text


@pytest.mark.parametrize("gone", ["system.parquet", "engine/run.hdr", "engine/run.series.ndjson", "engine"])
def test_a_half_written_result_may_lack_anything(tmp_path: Path, gone: str) -> None:
    run = make(tmp_path, partial=True)
    path = run / "trials" / "001.partial" / gone
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    assert "half-written" in text_of(run)
    write_report(run, "html", charts=False)


def test_a_run_without_any_trial_yet(tmp_path: Path) -> None:
    run = make(tmp_path)
    shutil.rmtree(run / "trials")
    (run / "trials").mkdir()
    assert "no trial has left a folder yet" in text_of(run)


def test_repetitions_stand_side_by_side(tmp_path: Path) -> None:
    run = make(tmp_path, repetitions=3)
    model = build(run)
    assert model.over_trials["ok/s"].count == 3
    text = text_of(run)
    assert re.search(r"^mean ", text, re.MULTILINE)
    assert text.count("Operations and latency") == 3
    assert max(map(len, text.splitlines()[:-1])) <= 100


def test_a_closed_loop_says_that_due_is_sent(tmp_path: Path) -> None:
    run = make(tmp_path, target=False, timeouts=0)
    text = text_of(run)
    assert "Closed loop without a rate" in text
    assert "throughput x mean response" in text  # the synthetic clients are mostly idle


def test_what_servers_and_files_say_is_not_obeyed(tmp_path: Path) -> None:
    run = make(tmp_path, hostile=HOSTILE)
    assert "\x1b" not in text_of(run)
    assert "<script>alert(1)" in text_of(run)
    page = write_report(run, "html", charts=False).read_text()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    markdown = write_report(run, "md", charts=False).read_text()
    outside = re.sub(r"^```.*?^```$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<script", outside)
    assert not re.search(r"(?<!\\)\]\(javascript", outside)


def test_a_wrong_folder_is_told_politely(tmp_path: Path, sample: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        text_of(tmp_path / "none")
    with pytest.raises(InputError, match="results in it: sample"):
        text_of(tmp_path)
    with pytest.raises(InputError, match="lies inside a result"):
        text_of(sample / "trials" / "001" / "servers")
    with pytest.raises(InputError, match=r"no report format 'htm' \(did you mean 'html'\?\)"):
        write_report(sample, "htm")


def test_one_trial_alone_can_be_reported(sample: Path) -> None:
    assert "READ" in text_of(sample / "trials" / "001")
    assert "READ" in text_of(sample / "trials" / "1"), "as tables number them"
    with pytest.raises(InputError, match="there is no folder"):
        text_of(sample / "trials" / "99")


def test_out_is_obeyed(sample: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "page.md"
    assert write_report(sample, "md", target) == target
    assert any((target.parent / "charts").glob("*.svg"))
    assert not (sample / "charts").exists()
