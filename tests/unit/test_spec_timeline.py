"""Timelines: what study files and `--do` may say, what they become, and what is refused before the start."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.errors import InputError
from steelyard.results.store import study_toml
from steelyard.spec.actions import Add, Remove, Run
from steelyard.spec.do_words import actions_of
from steelyard.spec.kind import declared
from steelyard.spec.models import Study
from steelyard.spec.read import read_study
from steelyard.spec.schema import study_schema
from steelyard.spec.timeline import schedule, spare_nodes
from steelyard.spec.trials import trials
from steelyard.spec.triggers import Command, Figure
from steelyard.systems.null import NullTestbed

PAGE = (Path(__file__).parents[2] / "docs" / "elasticity.md").read_text()
STUDY = """
repetitions = 2
reset = "restore"

[system]
kind = "cassandra"
nodes = 3
[workload]
base = "a"
records = 10
[load]
duration_s = 300
[factors]
timeline = ["none", "add-1"]
"""
EMBEDDED = STUDY.replace('"cassandra"\nnodes = 3', '"embedded"').replace("restore", "fresh")
ADD = """
[[timelines.add-1]]
id = "join"
after = "steady"
do = "add"
stream_mbit = 40
done = "joined"
limit = "10m"
[[timelines.add-1]]
id = "leave"
after = "join"
wait = "30s"
do = "remove"
"""
RUN = """
[[timelines.add-1]]
id = "scale"
when = { metric = "p99_ms", above = 50, for = "10s" }
do = "run"
command = ["kubectl", "scale"]
done = { command = ["kubectl", "rollout"], every = "3s" }
"""


def read(folder: Path, text: str, *overrides: str) -> Study:
    path = folder / "s.toml"
    path.write_text(text)
    return read_study(path, overrides)


def fault(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text, *overrides)
    return caught.value.message.replace(f"{folder}/", "")


def one(action: str) -> str:
    """The study with one action."""
    return f"{STUDY}\n[[timelines.add-1]]\n{action}"


def test_a_timeline_is_a_factor_and_its_control_is_none(tmp_path: Path) -> None:
    study = read(tmp_path, STUDY + ADD)
    without, with_ = study.points
    assert (without.timeline, without.load.timeline, without.label) == ((), "none", "timeline=none")
    join, leave = with_.timeline
    assert isinstance(join, Add)
    assert (join.nodes, join.stream_mbit, join.done, join.limit) == (1, 40, "joined", 600)
    assert isinstance(leave, Remove)
    assert (leave.after, leave.wait) == ("join", 30)
    assert with_.label == "timeline=add-1"


def test_trials_of_one_repetition_are_pairs_and_share_a_data_set(tmp_path: Path) -> None:
    planned = trials(read(tmp_path, STUDY + ADD))
    pairs = {r: [t for t in planned if t.repetition == r] for r in (1, 2)}
    for pair in pairs.values():
        assert len({t.seed for t in pair}) == 1
        assert sorted(len(t.timeline) for t in pair) == [0, 2]
    assert len({t.data for t in planned}) == 1


def test_every_point_reserves_what_any_timeline_adds(tmp_path: Path) -> None:
    study = read(tmp_path, STUDY + ADD)
    assert [point.system.spare for point in study.points] == [1, 1]  # type: ignore[attr-defined]
    assert study.points[0].system.node_names == ("node1", "node2", "node3", "node4")


def test_what_no_point_adds_is_not_reserved(tmp_path: Path) -> None:
    more = '\n[[timelines.unused]]\nid = "j"\nat = "1s"\ndo = "add"\nnodes = 6\n'
    study = read(tmp_path, STUDY + ADD + more)
    assert [point.system.spare for point in study.points] == [1, 1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("texts", "spare"),
    [
        ([], 0),
        (["1s add", "2s add nodes=2"], 3),
        (["1s remove", "2s add"], 1),  # nobody has waited for the one that leaves
        (["1s remove", "after:remove add"], 0),
        (["1s add nodes=2", "after:add remove nodes=2", "after:remove add"], 2),
        (["1s kill node=node1"], 0),
    ],
)
def test_nodes_that_have_left_for_certain_are_spare_again(texts: list[str], spare: int) -> None:
    assert spare_nodes({"x": said(*texts)} if texts else {}) == spare


def said(*texts: str) -> tuple[Any, ...]:
    from pydantic import TypeAdapter

    from steelyard.spec.timeline import Timeline

    found: tuple[Any, ...] = TypeAdapter(Timeline).validate_python(actions_of(texts))
    return found


def test_what_takes_back_says_so_and_has_something_to_take_back(tmp_path: Path) -> None:
    kill, back = said("1s kill node=node2", "after:kill restart node=node2 undo=true")
    assert (kill.undo, back.undo) == (False, True)
    assert "undo" not in back.parameters
    assert [line.partition("restart node=node2")[2] for line in schedule("x", (kill, back))] == [
        "",
        "; takes back what was done; at most 600 s",
    ]
    told = fault(tmp_path, one('id = "back"\nat = "1s"\ndo = "restart"\nnode = "node2"\nundo = true'))
    assert "'back' has undo = true, and no action before it that it could take back" in told


def test_what_is_written_down_can_be_read_again(tmp_path: Path) -> None:
    study = read(tmp_path, STUDY + ADD + RUN)
    assert read(tmp_path, study_toml(study)).points == study.points
    trial = trials(study)[-1]
    again = type(trial).model_validate_json(json.dumps(trial.model_dump(mode="json")))
    assert again == trial


def test_a_command_is_an_action_that_needs_nothing_of_the_system(tmp_path: Path) -> None:
    study = read(tmp_path, EMBEDDED + RUN)
    [scale] = study.points[1].timeline
    assert isinstance(scale, Run)
    assert scale.when == Figure.model_validate({"metric": "p99_ms", "above": 50, "for": 10})
    assert scale.done == Command(command=("kubectl", "rollout"), every=3)
    assert scale.capabilities == ()


def test_dry_run_tells_what_will_be_done_when(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + ADD + RUN)
    told = CliRunner().invoke(app, ["run", str(tmp_path / "s.toml"), "--dry-run"])
    assert told.exit_code == 0, told.output
    assert [line for line in told.stdout.splitlines() if line.startswith("timeline")] == [
        "timeline add-1: once the run is steady: join: add stream_mbit=40.0; done when joined; at most 600 s",
        "timeline add-1: after join, and 30 s more: leave: remove; at most 600 s",
        "timeline add-1: when p99_ms above 50 for 10 s: scale: run kubectl scale; "
        'done when "kubectl rollout" succeeds; at most 600 s',
    ]


def test_dry_run_asks_this_host_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text(STUDY + ADD)
    monkeypatch.setattr("steelyard.lab.study.create", lambda *_, **__: NullTestbed())
    told = CliRunner().invoke(app, ["run", str(tmp_path / "s.toml"), "--dry-run"])
    assert told.exit_code == 2
    assert "this system cannot do 'snapshot' on this host" in " ".join(told.stderr.split())


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ('id = "a"\nat = "1s"\ndo = "add"\nnods = 2', "s.toml:20: unknown key 'nods' in timelines.add-1.0"
         " of do 'add' (did you mean 'nodes'?)"),
        ('id = "a"\nat = "1s"\ndo = "ad"', "'ad' is unknown (did you mean 'add'?)"),
        ('id = "a"\nat = "1s"', "timelines.add-1.0.do is missing"),
        ('id = "a"\ndo = "add"', "say when it begins"),
        ('id = "a"\nafter = "b"\ndo = "add"', "no action before 'a' is called so"),
        ('id = "a"\nat = "1 hour"\ndo = "add"', "s.toml:18: timelines.add-1.0.at: '1 hour' is no duration"),
        ('id = "a"\nat = "5m"\ndo = "add"', "begins at 300 s at the soonest, and the run ends after 300 s"),
        ('id = "a"\nat = "1s"\ndo = "add"\n[[timelines.add-1]]\nid = "b"\nafter = "a"\nwait = "5m"\n'
         'do = "remove"', "add-1.b: it begins at 301 s at the soonest, and the run ends after 300 s"),
        ('id = "a"\nwhen = { metric = "p99_ms", above = 9, for = "2h" }\ndo = "add"', "begins at 7200 s at"),
        ('id = "a"\nat = "1s"\ndo = "kill"\nnode = "nod2"', "no node 'nod2' in this system (did you mean"),
        ('id = "a"\nat = "1s"\ndo = "kill"\nnode = "node4/datanode"', "no node 'node4'"),
        ('id = "a"\nat = "1s"\ndo = "restart"', "say either node or rolling"),
        ('id = "a"\nat = "1s"\ndo = "remove"\nnode = "node1"\nnodes = 2', "say either node or nodes"),
        ('id = "a"\nat = "1s"\ndo = "run"\ncommand = []', "at least 1 item"),
        ('id = "a"\nat = "1s"\ndo = "run"\ncommand = ["x"]\ndone = "up"', "tells of normal, joined"),
        ('id = "a"\nat = "1s"\ndo = "run"\ncommand = ["x"]\nnodes = 2', "nodes goes with a milestone"),
        ('id = "a"\nat = "1s"\ndo = "run"\ncommand = ["x"]\ndone = "joined"', "tells nothing of that"),
        ('id = "a"\ndo = "add"\nwhen = { metric = "p9_ms", above = 3 }', "no metric 'p9_ms' of the client"),
        ('id = "a"\ndo = "add"\nwhen = { metric = "p99_ms" }', "say either above or below"),
        ('id = "a"\ndo = "add"\nwhen = { metric = "cpu_cores", node = "n1", above = 3 }', "no node 'n1'"),
        ('id = "steady"\nat = "1s"\ndo = "add"', "'steady' is a condition"),
        ('id = "a"\nat = "1s"\ndo = "add"\n[[timelines.add-1]]\nid = "a"\nat = "1s"\ndo = "add"', "two"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_where_it_was_said(tmp_path: Path, action: str, words: str) -> None:
    assert words in fault(tmp_path, one(action))


def test_a_run_that_is_to_end_with_its_timeline_has_one_that_ends(tmp_path: Path) -> None:
    after = "load.after_timeline_s=10"
    assert len(read(tmp_path, STUDY + ADD, after).points) == 2
    alone = STUDY.replace('["none", "add-1"]', '["none"]')
    assert fault(tmp_path, alone, after).startswith("--set load.after_timeline_s: no run has a timeline")
    told = fault(tmp_path, alone.replace("duration_s", "after_timeline_s = 9\nduration_s"))
    assert told.startswith("s.toml:12: no run has a timeline")
    rule = 'id = "rule"\nat = "1s"\ndo = "scale"\nmetric = "rate_per_s"\nabove = 9\nleast = 3\nmost = 4'
    assert "add-1.rule: a controller goes on until the run ends" in fault(tmp_path, one(rule), after)


def test_steady_state_must_have_time_to_be_told(tmp_path: Path) -> None:
    assert "steady state is told from 60 s on" in fault(tmp_path, STUDY + ADD, "load.duration_s=60")


def test_along_a_curve_nothing_is_meant_to_be_steady(tmp_path: Path) -> None:
    told = fault(tmp_path, STUDY.replace("duration_s = 300", "curve = [[0, 100], [300, 200]]") + ADD)
    assert "s.toml:16: add-1.join: along a curve nothing is meant to be steady" in told


def test_a_timeline_that_is_not_there_is_told_once_with_the_nearest(tmp_path: Path) -> None:
    told = fault(tmp_path, STUDY.replace('"add-1"', '"ad-1"') + ADD)
    assert told.splitlines() == [
        "s.toml:14: timeline 'ad-1': there is no [[timelines.ad-1]] (did you mean 'add-1'?)"
    ]


def test_none_is_the_control_and_no_timelines_name(tmp_path: Path) -> None:
    assert "call this one otherwise" in fault(tmp_path, STUDY + ADD + ADD.replace("add-1", "none"))


@pytest.mark.parametrize("reset", ["none", "truncate"])
def test_a_cluster_that_changes_is_not_shared_between_trials(tmp_path: Path, reset: str) -> None:
    assert "changes it: add" in fault(tmp_path, (STUDY + ADD).replace('"restore"', f'"{reset}"'))


def test_what_a_system_lacks_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(declared("cassandra")), "capabilities", frozenset({"snapshot"}))
    assert "join: do = 'add': this system is of kind 'cassandra', which has no capability 'add'" in fault(
        tmp_path, STUDY + ADD
    )


def test_a_search_for_a_shared_rate_and_a_load_do_nothing_to_the_cluster(tmp_path: Path) -> None:
    study = read(tmp_path, EMBEDDED + RUN)
    load = study.points[1].load
    assert (load.timeline, load.loading().timeline) == ("add-1", "none")


def test_editors_are_told_of_actions() -> None:
    schema = study_schema()
    assert "timelines" in schema["properties"]
    assert {"Add", "Run", "PowerLoss"} <= schema["$defs"].keys()


def test_the_page_says_what_can_be_run(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    text, searched, controller = [block for kind, block in blocks if kind == "toml"]
    head, load = 'reset = "fresh"\n[workload]\nbase = "b"\n', text.index("[load]\n")
    assert [len(point.timeline) for point in read(tmp_path, head + controller).points] == [0, 1]
    back = text.index("[[timelines.scale]]                           # as it was")
    whole = text[:load] + searched + text[text.index("[factors]\n") : back]
    assert read(tmp_path, whole).load.search.again  # type: ignore[union-attr]
    study = read(tmp_path, text)
    assert [len(point.timeline) for point in study.points] == [0, 2]
    said = [words for kind, block in blocks if not kind for words in shlex.split(block)]
    texts = [text for flag, text in itertools.pairwise(said) if flag == "--do"]
    assert [action["do"] for action in actions_of(texts)] == ["run", "add", "remove", "upgrade"]


# --- in words ---


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("30s add nodes=1", {"id": "add", "at": 30.0, "do": "add", "nodes": 1}),
        ("0 add bootstrap=false", {"id": "add", "at": 0.0, "do": "add", "bootstrap": False}),
        ("steady add id=join", {"id": "join", "after": "steady", "do": "add"}),
        ("after:join remove wait=5s", {"id": "remove", "after": "join", "do": "remove", "wait": "5s"}),
        (
            "when:node1.cpu_cores>1.5,10s add",
            {"id": "add", "do": "add",
             "when": {"metric": "cpu_cores", "node": "node1", "above": 1.5, "for": "10s"}},
        ),
        (
            "1m kill node=node2 done=p99_ms<50,10s",
            {"id": "kill", "at": 60.0, "do": "kill", "node": "node2",
             "done": {"metric": "p99_ms", "below": 50.0, "for": "10s"}},
        ),
        (
            "30s run done='rollout status' every=1s -- scale --replicas=4 'a b'",
            {"id": "run", "at": 30.0, "do": "run", "command": ["scale", "--replicas=4", "a b"],
             "done": {"command": ["rollout", "status"], "every": "1s"}},
        ),
        (
            "steady run done=joined nodes=2 -- scale",
            {"id": "run", "after": "steady", "do": "run", "command": ["scale"], "done": "joined", "nodes": 2},
        ),
        ("1s restart rolling=true", {"id": "restart", "at": 1.0, "do": "restart", "rolling": True}),
    ],
)  # fmt: skip
def test_words_of_the_command_line_are_actions(text: str, values: dict[str, Any]) -> None:
    assert actions_of([text]) == [values]


def test_actions_without_an_id_are_told_apart() -> None:
    assert [a["id"] for a in actions_of(["1s add", "2s add", "3s kill node=node1"])] == [
        "add",
        "add-2",
        "kill",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("add", "expected WHEN ACTION"),
        ("soon add", "'soon' says no time to begin"),
        ("1s add nodes", "'nodes': expected key=value"),
        ("when:p99 add", "'p99' is no condition"),
        ("1s run -- 'x", "No closing quotation"),
        ("1s ad", "'ad' is unknown (did you mean 'add'?)"),
        ("1s run nods=2 -- true", "unknown key 'nods'"),
        ("1s add", "has no capability 'add'"),
        ("200s run -- true", "the run ends after 100 s"),
    ],
)
def test_mistakes_in_words_name_the_flag(words: str, told: str) -> None:
    result = CliRunner().invoke(app, ["bench", "embedded", "--duration", "100s", "--do", words])
    assert result.exit_code == 2, result.output
    assert told in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_bench_has_the_same_models_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Study] = []
    monkeypatch.setattr("steelyard.cli.conduct.conduct", lambda study, **_: seen.append(study))
    words = [
        "bench",
        "null",
        "--duration",
        "100s",
        "--request",
        "uniform",
        "--do",
        "3s run id=x -- a b",
        "--do",
        "after:x run -- c",
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    [point] = seen[0].cells
    assert schedule("actions", point.timeline) == [
        "timeline actions: at 3 s: x: run a b; at most 600 s",
        "timeline actions: after x: run: run c; at most 600 s",
    ]
    assert point.label == ""
    (tmp_path / "again.toml").write_text(study_toml(seen[0]))
    assert read_study(tmp_path / "again.toml").points == seen[0].points
