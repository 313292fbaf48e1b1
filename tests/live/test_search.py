"""A search on the real engine: the rates it offers are those it was told, by several engines too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench_command import Command, offered, summary

import steelyard

pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
STUDY = """
workload = {{ base = "a", records = 2000 }}
system = {{ kind = "{kind}" }}
repetitions = 1
[load]
duration_s = 2
engines = {engines}
[load.search]
start = 2000
most = 8000
probe_s = 1
share = 0.5
"""


@pytest.mark.parametrize(("kind", "engines"), [("null", 2), ("embedded", 1)])
def test_the_run_offers_a_share_of_what_was_found(
    command: Start, tmp_path: Path, kind: str, engines: int
) -> None:
    study = tmp_path / "found.toml"
    study.write_text(STUDY.format(kind=kind, engines=engines))
    one = command(f"run {study}")
    assert one.end() == 0, one.stderr
    trial = one.trial()
    search = trial.manifest["search"]
    assert search["found_per_s"] <= 8000
    for probe in search["probes"]:
        assert probe["latency_ns"] > 0
        assert probe["borne"] == (probe["ok_per_s"] >= 0.98 * probe["due_per_s"] - probe["chance_per_s"])
    run = summary(trial, "run")
    rate = search["found_per_s"] / 2
    assert run["arrivals"]["rate"] == pytest.approx(rate)
    assert offered(run) == pytest.approx(2 * rate, rel=0.02)
    assert [phase["name"] for phase in trial.manifest["phases"]] == ["load", "run"]
    assert set(trial.intervals()["phase"]) == {"load", "run"}
    frame = steelyard.open(one.out).trials()
    assert frame["search_per_s"].to_list() == [search["found_per_s"]]


SHARED = """
repetitions = 2
workload = { base = "a", records = 500 }
system = { kind = "embedded" }
[rates.peak]
start = 500
most = 2000
probe_s = 1
[load]
duration_s = 1
target = { of = "peak" }
[factors]
"load.target.share" = [0.25, 0.5]
"""


def test_a_rate_is_found_once_and_shared(tmp_path: Path) -> None:
    study, out = tmp_path / "shared.toml", tmp_path / "run"
    study.write_text(SHARED)
    one = Command(f"run {study}", out)
    assert one.end() == 0, one.stderr
    run = one.result()
    [rate] = run.run["rates"]
    assert (out / rate["folder"] / "manifest.json").is_file()
    for trial in run.trials:
        share = trial.manifest["trial"]["levels"]["load.target.share"]
        assert summary(trial, "run")["arrivals"]["rate"] == pytest.approx(share * rate["found_per_s"])
        assert trial.manifest["rate"]["found_per_s"] == rate["found_per_s"]
