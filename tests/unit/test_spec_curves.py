"""Loads with a form: steps, ramps, sines, flash crowds and recorded traces become points."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cli_bench import fault
from test_cli_bench import study as asked

from steelyard.errors import InputError
from steelyard.results.store import study_toml
from steelyard.spec.curves import points_of
from steelyard.spec.flag import EXAMPLES, curve
from steelyard.spec.load import Load
from steelyard.spec.models import Study
from steelyard.spec.read import read_study

STUDY = """
[system]
kind = "null"
[workload]
base = "a"
"""


def study(folder: Path, more: str) -> Study:
    path = folder / "load.toml"
    path.write_text(STUDY + more)
    return read_study(path)


@pytest.mark.parametrize(
    ("said", "points"),
    [
        (
            {"kind": "steps", "rates": [100, 300], "every": "1m"},
            [[0, 100], [60, 100], [60, 300], [120, 300]],
        ),
        ({"kind": "ramp", "from": 100, "to": 400, "over": 30}, [[0, 100], [30, 400]]),
        (
            {"kind": "ramp", "from": 100, "to": 50, "over": "30s", "before": 10, "after": 5},
            [[0, 100], [10, 100], [40, 50], [45, 50]],
        ),
        (
            {"kind": "flash-crowd", "base": 100, "peak": 900, "at": 60, "rise": 5, "hold": 20, "fall": 40},
            [[0, 100], [60, 100], [65, 900], [85, 900], [125, 100], [185, 100]],
        ),
        (
            {"kind": "flash-crowd", "base": 0, "peak": 9, "at": 6, "rise": 0, "hold": 2, "fall": 0}
            | {"after": 0},
            [[0, 0], [6, 0], [6, 9], [8, 9], [8, 0]],
        ),
    ],
)
def test_a_form_is_its_corners(said: dict[str, Any], points: list[list[float]]) -> None:
    assert points_of(said) == points


@given(
    mean=st.floats(10, 1e5), share=st.floats(0.01, 1), period=st.floats(10, 3600), periods=st.floats(0.1, 20)
)
def test_a_sine_is_one_within_a_fifth_of_a_percent(
    mean: float, share: float, period: float, periods: float
) -> None:
    amplitude, lasts = share * mean, periods * period
    said = {"kind": "sine", "mean": mean, "amplitude": amplitude, "period": period, "for": lasts}
    points = points_of(said)
    assert points[0] == [0, pytest.approx(mean - amplitude, abs=1e-6 * mean)]
    assert points[-1][0] == lasts
    Load(curve=points) if any(rate for _, rate in points) and points[-1][1] else None
    at = np.linspace(0, lasts, 1000)
    true = mean - amplitude * np.cos(2 * np.pi * at / period)
    found = np.interp(at, *np.array(points).T)
    assert np.abs(found - true).max() <= 0.002 * amplitude + 1e-9


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"kind": "sinus"}, "kind is steps, ramp, sine, flash-crowd, trace, .*here 'sinus'"),
        ({"kind": "sine", "mean": 5, "amplitude": 9, "period": 9, "for": 9}, "amplitude 9 is above the mean"),
        ({"kind": "sine", "mean": 5, "amplitude": 1, "for": 9}, "curve.period: Field required"),
        ({"kind": "ramp", "from": 1, "to": 2, "over": 9, "til": 3}, "curve.til: Extra inputs"),
        ({"kind": "steps", "rates": [], "every": 9}, "curve.rates"),
        ({"kind": "trace", "file": "a.csv", "rate": 2.0, "peak": 1.2}, "say either rate or peak"),
        ({"kind": "steps", "rates": [1, -1], "every": 9}, "curve.rates.1: .*greater than or equal to 0"),
        ({"kind": "flash-crowd", "base": 9, "peak": 9, "at": 6}, "peak 9 is not above the base, 9"),
        ({"kind": "sine", "mean": 5, "amplitude": 1, "period": "1s", "for": "2h"}, "at most 20,000"),
        ({"kind": "sine", "mean": 5, "amplitude": 1, "period": 1e-300, "for": 1e300}, "at most 20,000"),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_in_words(said: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        points_of(said)


def test_a_run_along_a_form_ends_with_it(tmp_path: Path) -> None:
    load = study(tmp_path, '[load]\ncurve = { kind = "steps", rates = [100, 300], every = "1m" }\n').load
    assert load.duration_s == 120
    assert load.curve == ((0, 100), (60, 100), (60, 300), (120, 300))


def test_a_mistake_in_a_form_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"load\.toml:\d+: .*curve\.every"):
        study(tmp_path, '[load]\ncurve = { kind = "steps", rates = [100, 300], every = "soon" }\n')


def test_forms_are_levels_of_a_factor(tmp_path: Path) -> None:
    found = study(
        tmp_path,
        '[factors]\n"load.curve" = [{ kind = "ramp", from = 1, to = 9, over = 60 }, [[0, 5], [60, 5]]]\n',
    )
    assert [point.load.curve for point in found.points] == [((0, 1), (60, 9)), ((0, 5), (60, 5))]


def test_a_trace_is_put_into_the_study(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("second,rate,who\n# made up\n\n1700000000,10\n1700000060,30.5,x\n")
    text = '[load]\ncurve = { kind = "trace", file = "day.csv", rate = 100, speed = 2 }\n'
    found = study(tmp_path, text + "[factors]\nclients = [8, 16]\n")
    digest = hashlib.sha256((tmp_path / "day.csv").read_bytes()).hexdigest()
    (tmp_path / "day.csv").unlink()
    for load in (found.load, *(point.load for point in found.points)):
        assert load.curve == ((0, 1000), (30, 3050))
        assert load.curve_from == f"day.csv (SHA-256 {digest})"
    assert found.source["load"]["curve"] == [[0, 1000], [30, 3050]]


def test_a_trace_is_scaled_to_its_peak(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("0,1000\n60,4000\n120,2000\n")
    found = study(tmp_path, '[load]\ncurve = { kind = "trace", file = "day.csv", peak = 1.2 }\n')
    assert found.load.curve == ((0, pytest.approx(0.3)), (60, pytest.approx(1.2)), (120, pytest.approx(0.6)))
    (tmp_path / "night.csv").write_text("0,0\n60,0\n")
    with pytest.raises(InputError, match=r"night.csv: no rate is above 0"):
        study(tmp_path, '[load]\ncurve = { kind = "trace", file = "night.csv", peak = 1.2 }\n')


def test_operations_per_second_are_no_shares(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("0,1000\n60,3900\n")
    trace = 'curve = { kind = "trace", file = "day.csv" }\ncurve_of = "borne"\n'
    with pytest.raises(InputError, match=r"3900 times a highest rate: .*of a trace say peak = 1.2"):
        study(tmp_path, f"[rates.borne]\nbound_ms = 100\n[load]\n{trace}")


def test_a_variant_may_have_a_trace_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,10\n60,30\n")
    found = study(
        tmp_path,
        "[load]\ntarget = 5\n[variants.plain]\n"
        '[variants.day.load]\ncurve = { kind = "trace", file = "a.csv" }\ntarget = "max"\n'.replace(
            'target = "max"\n', ""
        ).replace("[load]\ntarget = 5\n", ""),
    )
    assert [point.load.curve for point in found.points] == [(), ((0, 10), (60, 30))]


def test_a_curve_that_is_laid_over_a_trace_is_not_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("0,10\n60,30\n")
    text = '[load]\ncurve = { kind = "trace", file = "day.csv" }\n'
    own = "[variants.day]\n[variants.own.load]\ncurve = [[0, 5], [60, 5]]\n"
    found = study(tmp_path, f"{text}{own}[variants.flat.load]\ncurve = []\ntarget = 7\n")
    (tmp_path / "again.toml").write_text(study_toml(found))
    for points in (found.points, read_study(tmp_path / "again.toml").points):
        of = {point.variant: (len(point.load.curve), bool(point.load.curve_from)) for point in points}
        assert of == {"day": (2, True), "own": (2, False), "flat": (0, False)}
    levels = study(tmp_path, f'{text}[factors]\n"load.curve" = [[[0, 1], [9, 9]], [[0, 5], [60, 5]]]\n')
    assert [point.load.curve_from for point in levels.points] == [None, None]
    (tmp_path / "once.toml").write_text(study_toml(study(tmp_path, text)))
    said = read_study(tmp_path / "once.toml", ["load.curve=[[0, 5], [60, 5]]"])
    assert (said.load.curve, said.load.curve_from) == (((0, 5), (60, 5)), None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("0,1\n", "fewer than two"),
        ("0,1\n9,x\n", r"day\.csv:2: '9,x': expected lines of a second and a rate"),
        ("0,1\n5,-3\n", r"day\.csv:2"),
        ("0,1\n5,3\n5,4\n", r"day\.csv:3: second 5 does not come after 5"),
        ("a,b\nc,d\n", r"day\.csv:2"),
        ("0,1\n5,nan\n", r"day\.csv:2"),
        (f"0,1\n5,{'3' * 200_000}\n", r"day\.csv:2: field larger than field limit"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_its_line(
    tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "day.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        study(tmp_path, '[load]\ncurve = { kind = "trace", file = "day.csv" }\n')


def test_a_trace_is_no_level(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a trace cannot be a level") as refused:
        study(tmp_path, '[factors]\n"load.curve" = [{ kind = "trace", file = "a.csv" }]\n')
    assert "variants" in str(refused.value.hint)


@pytest.mark.parametrize("text", [one for kind, one in EXAMPLES.items() if kind != "trace"])
def test_the_forms_of_the_command_line_are_forms(text: str) -> None:
    said = curve(text)
    assert isinstance(said, dict)
    assert points_of(said)[0][0] == 0


def test_a_form_in_words_that_is_none() -> None:
    assert curve("trace:load.csv") == {"kind": "trace", "file": "load.csv"}
    with pytest.raises(ValueError, match="expected sine:NAME=VALUE"):
        curve("sine:fast")


def test_what_is_written_down_needs_the_file_no_more(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("0,10\n60,30\n")
    text = '[load]\ncurve = { kind = "trace", file = "day.csv" }\n[factors]\nin-flight = [8, 16]\n'
    found = study(tmp_path, text)
    (tmp_path / "day.csv").unlink()
    again = tmp_path / "again.toml"
    again.write_text(study_toml(found))
    assert [point.load for point in read_study(again).points] == [point.load for point in found.points]


def test_a_trace_in_words_is_looked_for_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "day.csv").write_text("0,10\n60,30\n")
    monkeypatch.chdir(tmp_path)
    load = asked("null", "-w", "a", "--curve", "trace:day.csv").load
    assert (load.curve, load.duration_s) == (((0, 10), (60, 30)), 60)
    assert str(load.curve_from).startswith("day.csv (SHA-256 ")
    told = fault("bench", "null", "-w", "a", "--curve", "trace:night.csv")
    assert "--curve: trace" in told
    assert "No such file" in told


def test_a_form_in_words_is_what_a_file_says() -> None:
    load = asked("null", "-w", "a", "--curve", "steps:rates=10/20,every=1m").load
    assert load.curve == ((0, 10), (60, 10), (60, 20), (120, 20))
    assert "curve.every" in fault("bench", "null", "-w", "a", "--curve", "steps:rates=10/20,every=soon")
