"""Controllers: what they decide on recorded series, what becomes of it in a run, and supply beside demand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_seconds import NS, START_NS, action, milestone
from played_timeline import LIMIT_S, Growing, Play
from test_spec_timeline import STUDY, fault, one, read, said
from typer.testing import CliRunner

from steelyard.analysis.provision import demand, provision, supply
from steelyard.cli import app
from steelyard.errors import InfrastructureError
from steelyard.lab.shared_rates import RateNotFoundError, SharedRates
from steelyard.lab.timeline.controller import Controller
from steelyard.lab.timeline.figures import Second
from steelyard.lab.timeline.scaling import Scaling
from steelyard.report.provisioned import figures, provisioned
from steelyard.report.timeline.provision_chart import provision_charts
from steelyard.results.actions import ActionRow, Actions
from steelyard.spec.actions import Add
from steelyard.spec.models import Study
from steelyard.spec.rates import first_of_each, of_size, rate_key
from steelyard.spec.scale import Scale
from steelyard.spec.timeline import spare_nodes
from steelyard.spec.trials import trials

S = 1_000_000_000
RULE = Scale(
    id="c",
    do="scale",
    at=0,
    metric="cpu_share",
    above=0.7,
    below=0.3,
    average=5,
    cool_down=10,
    least=2,
    most=4,
)
DAY = [0.2] * 10 + [0.5] * 10 + [0.9] * 60 + [0.5] * 10 + [0.1] * 60
"""CPU of a day in seconds, as if nodes that come and go changed nothing of it."""
RECORDED = [
    51, 41, 12, 14, 15, 32, 35, 50, 40, 25, 32, 35, 36, 32, 30, 36, 38, 39, 33, 37, 48, 80, 78, 178, 178, 140,
    177, 178, 208, 258, 126, 170, 172, 166, 167, 82, 129, 95, 82, 121, 195, 222, 189, 304, 163, 184, 183, 259,
    250, 348, 377, 289, 147, 108, 162, 181, 228, 185, 142, 226, 222, 149, 158, 154, 133, 201, 186, 209, 92,
    164, 153, 238, 374, 346, 264, 83, 78, 126, 255, 371, 453, 561, 655, 586, 436, 265, 192, 222, 303, 268,
    195, 325, 570, 802, 879, 930, 955, 1042, 1005, 931, 996, 1118, 1152, 1011, 875, 616, 388, 210, 271, 122,
    122, 266, 206, 121, 169, 110, 83, 66, 76, 52, 18, 6, 18, 14, 18, 19, 6, 7, 10, 17, 21, 30, 34, 15, 25, 25,
    10, 3, 7, 6, 4, 3, 3, 3, 5, 6, 32, 4, 3, 4, 13, 20, 4, 4, 5, 30, 6, 5, 22, 20, 38, 15, 25, 29, 33, 30, 24,
    22, 24, 35, 20, 4, 8, 29, 28,
]  # fmt: skip
"""p99 by second, in ms, of two Cassandra nodes under a load of 0.1, 1.2 and 0.1 of what they bear: the second
trial of elasticity/controller-cassandra, small form, in which nothing was done."""


def decisions(series: list[float | None], rule: Scale = RULE, nodes: int = 2, takes_s: int = 8) -> list[Any]:
    """(second, what) of all decisions, each carried out within so many seconds."""
    controller, found, ends = Controller(rule, nodes), [], {}
    for second, value in enumerate(series, start=1):
        if second in ends:
            nodes += ends.pop(second)
            controller.changed(second * S, nodes)
        if decided := controller.second(second * S, value):
            found.append((second, decided))
            ends[second + takes_s] = 1 if decided == "add" else -1
    return found


def test_it_grows_and_shrinks_within_its_bounds_with_pauses() -> None:
    # the average is above 0.7 from the third second of 0.9 on; a change takes 8 s, and 10 s are quiet
    assert decisions(list(DAY)) == [(23, "add"), (41, "add"), (93, "remove"), (111, "remove")]


def test_a_recorded_series_is_followed_by_its_average() -> None:
    said = {"metric": "p99_ms", "above": 250, "below": 100, "average": 8, "cool_down": 8, "most": 3}
    rule = RULE.model_copy(update=said)
    takes_s = 44
    means = np.convolve(RECORDED, np.ones(8) / 8, "valid")  # means[i] is known in second i + 8
    added = int(np.argmax(means > 250)) + 8
    again = added + takes_s + rule.cool_down + 1
    removed = next(s for s in range(int(again), len(RECORDED)) if means[s - 8] < 100)
    series: list[float | None] = [*map(float, RECORDED)]
    assert decisions(series, rule, takes_s=takes_s) == [(added, "add"), (removed, "remove")]
    assert 45 < added < 55, "when the load had risen"
    assert 115 < removed < 125, "when it had fallen"


def test_least_and_most_hold() -> None:
    assert decisions([0.9] * 100, nodes=4) == []
    assert decisions([0.1] * 100, nodes=2) == []
    assert decisions([0.1] * 100, RULE.model_copy(update={"below": None}), nodes=4) == []


def test_nothing_is_decided_by_what_is_not_known() -> None:
    assert decisions([0.9, 0.9, 0.9, 0.9]) == []
    assert decisions([0.9, None, 0.9, 0.9, 0.9]) == [(5, "add")]
    assert decisions([0.9, None, 0.9, None, 0.9, None] * 5) == []


def test_a_peak_that_the_average_does_not_follow_is_let_pass() -> None:
    assert decisions([0.5] * 20 + [1.0, 1.0] + [0.5] * 20) == []


def test_what_failed_is_decided_again_after_the_pause() -> None:
    controller = Controller(RULE, 2)
    told = [controller.second(second * S, 0.9) for second in range(1, 6)]
    controller.changed(6 * S, 2)
    told += [controller.second(second * S, 0.9) for second in range(7, 18)]
    assert [second for second, decided in enumerate([*told[:5], None, *told[5:]], 1) if decided] == [5, 16]


def test_cpu_is_of_what_quotas_let_nodes_use() -> None:
    bed: Any = Growing()
    bed.cpu = {"node1": 0.5, "node2": 0.5, "node3": None}
    scaling = Scaling(RULE.model_copy(update={"least": 3, "average": 2.0}), bed)
    used = {("node1", "cpu_cores"): 0.5, ("node2", "cpu_cores"): 0.25}

    def of_node(node: str, metric: str) -> float | None:
        return used.get((node, metric))

    second = Second(0, 1, 0, None, None, 0, 0)
    first, made = (scaling.second(second, n * S, of_node) for n in (1, 2))
    assert first is None
    assert (made and made.id, made and made.what) == ("c-1", "add")
    assert made.limited  # type: ignore[union-attr]


def test_its_nodes_may_join_without_their_quota() -> None:
    bed: Any = Growing()
    rule = RULE.model_copy(update={"metric": "p99_ms", "average": 1.0, "least": 3, "limited": False})
    made = Scaling(rule, bed).second(Second(0, 1, 0, None, 9.0, 0, 0), S, lambda *_: None)
    assert isinstance(made, Add)
    assert not made.limited


def test_a_controller_acts_in_a_run_until_its_end(tmp_path: Path) -> None:
    text = "0s scale id=c metric=p99_ms above=0.5 average=2 cool_down=3 least=3 most=4 limit=99"
    play = Play(tmp_path, text)
    play.at(0)
    wait_for(play, "c", "started")
    play.bed.go_on.set()
    for second in (1, 2):
        play.at(second)
    assert play.bed.streaming.wait(LIMIT_S)
    wait_for(play, "c-1", "ended")
    assert play.bed.names[-1] == "node4"
    for second in range(3, 60):  # there are as many as there may be
        play.at(second)
    play.director.end(play.now_ns)
    assert play.director.join(LIMIT_S) == []
    assert [(a.id, a.do, a.how, a.by) for a in play.kept().each()] == [("c-1", "add", "done", "c")]
    own = [row for row in play.kept().rows if row.id == "c"]
    assert [(row.do, row.state, row.how) for row in own] == [
        ("scale", "requested", None),
        ("scale", "started", None),
        ("scale", "ended", "done"),
    ]
    assert play.director.undone == []
    assert not play.manifest.warnings


def test_nothing_is_decided_while_a_change_past_its_limit_goes_on(tmp_path: Path) -> None:
    text = "0s scale id=c metric=p99_ms above=0.5 average=2 cool_down=3 least=3 most=5 limit=4"
    play = Play(tmp_path, text)
    for second in (0, 1, 2):
        play.at(second)
    assert play.bed.streaming.wait(LIMIT_S)
    for second in range(3, 60):
        play.at(second)
    assert [(a.id, a.how) for a in play.kept().each()] == [("c-1", "limit")]
    play.bed.go_on.set()
    wait_for(play, "c-2", "started", each_s=1)
    play.director.end(play.now_ns)
    assert play.director.join(LIMIT_S) == []


def wait_for(play: Play, id_: str, state: str, each_s: int = 0) -> None:
    """The loop turns until an action's row of that state is kept, so many seconds of the run later each."""
    import time

    until = time.monotonic() + LIMIT_S
    while f"{id_} {state}" not in play.labels:
        assert time.monotonic() < until
        if each_s:
            play.at((play.now_ns - play.began_ns) / NS + each_s)
        else:
            play.labels += play.director.tick(play.now_ns, {})


# --- in words ---

CONTROLLED = """
id = "c"
at = "0s"
do = "scale"
metric = "cpu_share"
above = 0.7
below = 0.3
least = 3
most = 5
"""
LIMITED = "system.limits={cpu=0.5}"


def test_a_study_with_a_controller_reserves_what_it_may_add(tmp_path: Path) -> None:
    asked = read(tmp_path, one(CONTROLLED), LIMITED)
    assert [point.system.spare for point in asked.points] == [2, 2]  # type: ignore[attr-defined]
    assert asked.points[1].timeline[0].capabilities == ("add", "remove")
    assert spare_nodes({"x": said("1s scale metric=p99_ms above=9 least=2 most=5")}) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("below = 0.3", "below = 0.7"), "below = 0.7 is not under above = 0.7: it would swing"),
        (("least = 3", "least = 5"), "least = 5 and most = 5 leave nothing to decide"),
        (("least = 3", "least = 4"), "3 nodes are not between least = 4 and most = 5"),
        (("least = 3", 'least = 3\ndone = "joined"'), "goes on until the run ends"),
        (("least = 3", 'least = 3\n[[timelines.add-1]]\nid="x"\nat="1s"\ndo="add"'), "decides alone"),
    ],
)
def test_what_a_controller_cannot_be_is_refused(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    text = one(CONTROLLED)
    if change[1].endswith('"add"'):
        text, change = text + change[1].removeprefix("least = 3"), ("", "")
    assert words in fault(tmp_path, text.replace(*change) if change[0] else text, LIMITED)


@pytest.mark.parametrize(("id_", "free"), [("c-1", False), ("c-20", False), ("c-x", True), ("cc-1", True)])
def test_ids_of_its_changes_are_its_own(tmp_path: Path, id_: str, free: bool) -> None:
    other = f'\n[[timelines.add-1]]\nid = "{id_}"\nat = "1s"\ndo = "flush"\n'
    if free:
        point = read(tmp_path, one(CONTROLLED) + other, LIMITED).points[1]
        assert [action.id for action in point.timeline] == ["c", id_]
    else:
        told = fault(tmp_path, one(CONTROLLED) + other, LIMITED)
        assert f"'{id_}' is what 'c' calls one of its changes: call it otherwise" in told


def test_nothing_comes_after_a_controller(tmp_path: Path) -> None:
    flush = '[[timelines.add-1]]\nid = "f"\nafter = "c"\ndo = "flush"\n'
    told = fault(tmp_path, one(CONTROLLED) + flush, LIMITED)
    assert "after = 'c': a controller goes on until the run ends" in told


def test_cpu_without_a_quota_is_refused(tmp_path: Path) -> None:
    assert "cpu_share is of what nodes may use" in fault(tmp_path, one(CONTROLLED))


# --- rates by nodes ---

CURVE = "load.curve=[[0, 0.5], [60, 1.5]]"
RATED = STUDY + "\n[rates.borne]\nstart = 100\n[[timelines.add-1]]" + CONTROLLED


def rated(folder: Path, *more: str) -> Study:
    return read(folder, RATED, LIMITED, CURVE, "load.curve_of=borne", *more)


def test_the_rate_of_every_number_of_nodes_is_found_once(tmp_path: Path) -> None:
    asked = rated(tmp_path)
    found = first_of_each(asked, trials(asked))
    sizes = [(trial.system.nodes, trial.system.spare) for trial in found.values()]  # type: ignore[attr-defined]
    assert sorted(sizes) == [(3, 2), (4, 1), (5, 0)]
    words = [word for text in (LIMITED, CURVE, "load.curve_of=borne") for word in ("--set", text)]
    told = CliRunner().invoke(app, ["run", str(tmp_path / "s.toml"), "--dry-run", *words])
    assert "rate borne: 3 searches before the first trial, on 3, 4, 5 nodes" in told.stdout


def test_a_rate_that_leaves_out_the_nodes_is_refused(tmp_path: Path) -> None:
    text = RATED.replace("start = 100", 'start = 100\nper = ["timeline"]')
    told = fault(tmp_path, text, LIMITED, CURVE, "load.curve_of=borne")
    assert "rates.borne: per leaves out how many nodes there are" in told


def test_shares_need_a_curve_and_a_rate_that_there_is(tmp_path: Path) -> None:
    assert "there is no curve" in fault(tmp_path, STUDY, "load.curve_of=borne", "factors.timeline=['none']")
    told = fault(tmp_path, RATED, LIMITED, CURVE, "load.curve_of=born")
    assert "there is no [rates.born]" in told


def test_a_curve_of_shares_becomes_one_of_rates(tmp_path: Path) -> None:
    load = rated(tmp_path).points[0].load
    with pytest.raises(ValueError, match="'borne' is not known yet"):
        _ = load.rate
    offered = load.offering(200)
    assert (offered.curve, offered.curve_of, offered.rate) == (((0, 100), (60, 300)), None, 100)
    assert load.searching(rated(tmp_path).rates["borne"]).curve == ()


def test_a_trial_is_told_the_rate_of_every_number_of_nodes(tmp_path: Path) -> None:
    asked = rated(tmp_path)
    trial = trials(asked)[0]
    keys = {nodes: rate_key(of_size(trial, nodes), asked.rates["borne"]) for nodes in (3, 4, 5)}
    found = dict(zip(keys.values(), (100.0, 140.0, 170.0), strict=True))
    rates = [{"rate": "borne", "key": k, "found_per_s": v, "folder": "rates/001"} for k, v in found.items()]
    shared = SharedRates(SimpleNamespace(rates=rates), asked, *[None] * 5)  # type: ignore[arg-type]
    offered, told = shared.offering(trial)
    assert offered.load.curve == ((0, 50), (60, 150))
    assert told["capacity"] == [[3, 100], [4, 140], [5, 170]]
    rates.pop()
    shared.errors["borne", keys[5]] = InfrastructureError("it fell over")
    with pytest.raises(RateNotFoundError, match="it fell over"):
        shared.offering(trial)


# --- demand and supply ---

SIZES = [(3, 100.0), (4, 150.0)]


def test_demand_is_the_least_number_of_nodes_that_bears_the_load() -> None:
    curve = [(0, 50), (4, 50), (4, 120), (6, 120), (6, 400), (8, 400)]
    assert demand(curve, SIZES, 10).tolist() == [3, 3, 3, 3, 4, 4, 4, 4, 4, 4]
    assert demand([(0, 100), (10, 150)], SIZES, 3).tolist() == [4, 4, 4]


def test_supply_counts_who_does_its_share() -> None:
    join = action("c-1", 1, 9, nodes=("node4",), milestones=(
        milestone("c-1", "node4", "up", 2), milestone("c-1", "node4", "assigned", 4),
    ))  # fmt: skip
    leave = action("c-2", 6, 8, do="remove", nodes=("node4",), milestones=(
        milestone("c-2", "node4", "leaving", 6), milestone("c-2", "node4", "left", 7.6),
    ))  # fmt: skip
    assert supply(3, [join, leave], START_NS, 10).tolist() == [3, 3, 3, 3, 4, 4, 4, 4, 3, 3]
    assert supply(3, [action("c-1", 1, None, None, nodes=("node4",))], START_NS, 2).tolist() == [3, 3]


def test_accuracy_and_timeshare() -> None:
    found = provision(np.array([3, 4, 5, 3]), np.array([3, 3, 3, 4]))
    assert found is not None
    assert (found.under_nodes, found.over_nodes, found.under_share, found.over_share) == (
        0.75,
        0.25,
        0.5,
        0.25,
    )
    assert provision(np.array([], dtype=np.int64), np.array([], dtype=np.int64)) is None
    assert figures(None) == {}


def test_a_trial_is_judged_and_drawn_by_what_was_found_beforehand() -> None:
    asked = {"system": {"nodes": 3}, "load": {"curve": [[0, 50], [4, 50], [4, 120]]}}
    manifest = {"rate": {"capacity": [list(size) for size in SIZES]}, "trial": asked}
    phase: Any = SimpleNamespace(start_ns=START_NS + 2 * NS, seconds=8.0)
    rows = (milestone("c-1", "node4", "assigned", 6),)
    actions = Actions((ActionRow("c-1", "add", "started", START_NS),), rows)
    found = provisioned(manifest, actions, phase, 2.0)
    assert figures(found) == {"under_nodes": 0.2, "over_nodes": 0, "under_share": 0.2, "over_share": 0}
    trial: Any = SimpleNamespace(
        manifest=manifest, measured=SimpleNamespace(phase=phase), cut_s=2.0,
        source=SimpleNamespace(actions=lambda: actions),
    )  # fmt: skip
    [chart] = provision_charts(trial)
    lines = chart.spec["datasets"]["lines"]
    assert [row["y"] for row in lines if row["series"] == "needed"] == [3] * 4 + [4] * 6
    assert [row["y"] for row in lines if row["series"] == "serving"] == [3] * 6 + [4] * 4
    assert provisioned({**manifest, "rate": {}}, actions, phase, 2.0) is None
