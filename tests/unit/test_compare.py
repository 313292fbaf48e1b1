"""`steelyard compare` on synthetic results: cells, refusals, gates, formats."""

from __future__ import annotations

import functools
import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made import maker
from typer.testing import CliRunner

from steelyard.analysis.metrics import USUAL
from steelyard.cli import app
from steelyard.errors import InputError
from steelyard.report.compare import side
from steelyard.report.compare.model import Asked, build_comparison
from steelyard.spec.gate import parse_gate, parse_share

samples = maker("make_results")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`same` and `again` (drawn alike), `slow` (twice the service time), of six repetitions; `one` of one."""
    root = tmp_path_factory.mktemp("runs")
    for name, slow, repetitions in (("same", 1.0, 6), ("again", 1.0, 6), ("slow", 2.0, 6), ("one", 1.0, 1)):
        sample = samples.Sample(name=name, slow=slow, repetitions=repetitions, seconds=2, load_seconds=1,
                              pause_second=None, rate=200, target=False, timeouts=0)  # fmt: skip
        samples.make(root, sample)
    return root


@pytest.fixture(scope="module", autouse=True)
def read_once(runs: Path) -> Iterator[None]:
    """The runs that no test changes are read once for all tests."""

    def once(read: Any) -> Any:
        kept = functools.cache(read)
        return lambda path, *rest: kept(path) if path.parent == runs else read(path, *rest)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("build", "trial_frame"):
            patch.setattr(side, name, once(getattr(side, name)))
        yield


def words(runs: Path, a: str, b: str, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["compare", str(runs / a), str(runs / b), *options])
    return result.exit_code, result.output


def rows(runs: Path, a: str, b: str, **asked: Any) -> dict[str, Any]:
    found = build_comparison(str(runs / a), str(runs / b), Asked(**asked)).rows
    return {row.metric.words: row for row in found}


def edit(run: Path, change: Any) -> None:
    for path in run.glob("trials/*/manifest.json"):
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))


def copy(runs: Path, tmp_path: Path, name: str = "same") -> Path:
    return Path(shutil.copytree(runs / name, tmp_path / name))


def test_a_slower_system_is_worse_and_by_how_much(runs: Path) -> None:
    found = rows(runs, "same", "slow")
    assert found["service p50"].word == "worse"
    assert found["service p50"].ratio.estimate == pytest.approx(2.0, abs=0.5)
    assert found["service p50"].by == "extremes"
    assert found["throughput"].by == "t on logs"
    assert set(found) == set(USUAL)
    assert found["success share"].word == "equivalent"


def test_equal_results_are_not_told_apart(runs: Path) -> None:
    assert {row.word for row in rows(runs, "same", "again").values()} <= {"equivalent", "open"}


def test_a_result_against_itself_is_called_that(runs: Path) -> None:
    _, said = words(runs, "same", "same/../same")
    assert "A and B share 6 trials: a result is compared with itself" in " ".join(said.split())
    assert "with itself" not in words(runs, "same", "again")[1]


def test_better_is_worse_the_other_way_round(runs: Path) -> None:
    there, back = rows(runs, "same", "slow")["service p50"], rows(runs, "slow", "same")["service p50"]
    assert (there.word, back.word) == ("worse", "better")
    assert there.ratio.estimate == pytest.approx(1 / back.ratio.estimate)


def test_one_repetition_bounds_nothing(runs: Path) -> None:
    code, text = words(runs, "same", "one")
    assert code == 0
    assert "unknown" in text
    assert "Fewer than 6 repetitions" in text
    assert "worse" not in text


@pytest.mark.parametrize(
    ("gate", "code"),
    [("service p50 worse than 5%", 1), ("service p50 worse than 300%", 0),
     ("READ service p50 worse than 5%", 1),
     ("service p50 better than 5%", 0), ("service p50 different than 5%", 1),
     ("read_service_p50_ns surely worse than 5%", 1),
     ("service p50 possibly worse than 20%", 1), ("failures worse than 1%", 0)],
)  # fmt: skip
def test_gates_set_the_exit_code(runs: Path, gate: str, code: int) -> None:
    assert words(runs, "same", "slow", "--metric", "throughput", "--fail-if", gate)[0] == code


def test_a_gate_that_cannot_be_judged_fails_and_says_so(runs: Path) -> None:
    code, text = words(runs, "same", "one", "--fail-if", "p99 worse than 5%")
    assert code == 1
    assert "repetitions are too few" in text


@pytest.mark.parametrize(
    ("gate", "told"),
    [("p99 > 5", "is no gate"), ("p99 wors than 5%", r"did you mean 'worse'\?"),
     ("raed p99 worse than 5%", r"did you mean 'read p99'\?")],
)  # fmt: skip
def test_a_gate_that_says_nothing_is_the_users_error(runs: Path, gate: str, told: str) -> None:
    code, text = words(runs, "same", "slow", "--fail-if", gate)
    assert code == 2
    assert re.search(told, text)


def test_words_of_gates_and_margins() -> None:
    gate = parse_gate("READ service p99  surely worse than 7.5 %")
    assert (gate.metric, gate.sure, gate.way, gate.bound) == ("READ service p99", "surely", "worse", 0.075)
    assert parse_share("3%", "--margin") == parse_share("3", "--margin") == 0.03
    with pytest.raises(InputError, match="--margin 0%: expected a percentage above 0"):
        parse_share("0%", "--margin")


def test_a_wide_margin_makes_equivalents(runs: Path) -> None:
    assert rows(runs, "same", "slow", margin=5.0)["service p50"].word == "equivalent"


def test_aa_trials_widen_the_margin(runs: Path) -> None:
    found = rows(runs, "same", "slow", noise=str(runs / "again"), margin=0.0001)
    assert found["throughput"].margin > 0.0001


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [("host", "cpu_model", "another"), ("workload", "records", 5), ("load", "clients", 99)],
)
def test_unlike_results_are_refused_unless_forced(
    runs: Path, tmp_path: Path, section: str, key: str, value: Any
) -> None:
    other = copy(runs, tmp_path)

    def change(manifest: dict[str, Any]) -> None:
        (manifest["host"] if section == "host" else manifest["trial"][section])[key] = value

    edit(other, change)
    code, text = words(runs, "same", str(other))
    assert code == 2
    assert f"{section}.{key}" in text
    assert "--force" in text
    code, text = words(runs, "same", str(other), "--force")
    assert code == 0
    assert f"{section}.{key} (!)" in text


def test_unlike_systems_are_the_subject(runs: Path, tmp_path: Path) -> None:
    other = copy(runs, tmp_path)
    edit(other, lambda manifest: manifest["trial"]["system"].update(version="4.1.0"))
    code, text = words(runs, "same", str(other))
    assert code == 0
    assert re.search(r"system\.version +5\.0\.7 +4\.1\.0", text)
    assert "A/A" not in text
    assert "A/A" in words(runs, "same", "again")[1]


def study_of(run: Path, clients: tuple[int, ...], system: str = "x") -> None:
    """Make the run a sweep: its trials are handed out to points in turn."""
    path = run / "run.json"
    content = json.loads(path.read_text())
    content["factors"] = ["clients"]
    for place, trial in enumerate(content["trials"]):
        level = clients[place % len(clients)]
        trial |= {
            "system": system,
            "levels": {"clients": level},
            "group": place,
            "data": place,
            "tainted": None,
        }
    path.write_text(json.dumps(content))


def test_cells_are_matched_by_point(runs: Path, tmp_path: Path) -> None:
    a, b = copy(runs, tmp_path, "same"), copy(runs, tmp_path, "slow")
    study_of(a, (1, 2), "old")
    study_of(b, (2, 4), "new")
    model = build_comparison(str(a), str(b), Asked(metrics=("throughput",)))
    assert [row.cell for row in model.rows] == ["clients 2"]
    assert model.unmatched == ("clients 1", "clients 4")
    one = build_comparison(f"{a}@clients=1", f"{b}@clients=4", Asked(metrics=("throughput",)))
    assert len(one.rows) == 1
    with pytest.raises(InputError, match=r"selects nothing \(did you mean 'clients'\?\)"):
        build_comparison(f"{a}@client=1", str(b), Asked())


def test_runs_of_one_load_are_said_to_be(runs: Path, tmp_path: Path) -> None:
    a = copy(runs, tmp_path)
    study_of(a, (1,))
    path = a / "run.json"
    content = json.loads(path.read_text())
    for trial in content["trials"]:
        trial["data"] = 1
    path.write_text(json.dumps(content))
    assert "given this load" in words(runs, "same", str(a))[1]


def test_disturbed_trials_are_left_out(runs: Path, tmp_path: Path) -> None:
    a = copy(runs, tmp_path)
    path = a / "run.json"
    content = json.loads(path.read_text())
    content["trials"][0]["tainted"] = "steal: 4 %"
    path.write_text(json.dumps(content))
    found = build_comparison(str(a), str(runs / "same"), Asked(metrics=("throughput",)))
    assert found.rows[0].a.count == 5
    assert "A: 1 of 6 trials do not count: disturbed by steal (4 %)." in found.notes


@pytest.mark.parametrize("format", ["text", "md", "html", "json"])
def test_every_format_says_the_same(runs: Path, tmp_path: Path, format: str) -> None:
    target = tmp_path / f"out.{format}"
    code, text = words(runs, "same", "slow", "--format", format, "--out", str(target))
    assert code == 0
    assert str(target) in text.replace("\n", "")
    written = target.read_text()
    assert "worse" in written
    assert "service p99.9" in written.replace("\\", "")
    if format == "json":
        found = json.loads(written)
        assert len(found["rows"]) == len(USUAL)
        assert found["rows"][0]["metric"]["column"] == "ok_per_s"
    if format == "html":
        assert "<script" not in written
        assert "default-src 'none'" in html.unescape(written)


def test_text_stays_within_a_hundred_columns(runs: Path) -> None:
    _, text = words(runs, "same", "slow", "--metric", "all")
    table = [line for line in text.splitlines() if "service" in line]
    assert max(map(len, table)) <= 100


def test_an_unknown_metric_is_told_with_the_nearest(runs: Path) -> None:
    code, text = words(runs, "same", "slow", "--metric", "thruput")
    assert code == 2
    assert "did you mean 'throughput'?" in text
