"""One engine and several, driven through their whole life by the fake."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import FakeEngine

from steelyard.engine.fleet import Fleet
from steelyard.engine.session import Event
from steelyard.errors import EngineError, InfrastructureError, InputError, SteelyardError


def plan(out: Path, index: int, count: int = 1) -> dict[str, Any]:
    phases = [
        {"name": "load", "kind": "load", "in_flight": 2, "limit": {}},
        {"name": "run", "kind": "run", "in_flight": 2, "limit": {"seconds": 0.2}},
    ]
    return {
        "out": str(out),
        "engine": {"index": index, "count": count},
        "workload": {"records": 5},
        "phases": phases,
    }


def fleet(engine: FakeEngine, folder: Path, count: int = 1) -> Fleet:
    return Fleet(engine.path, count, folder, lambda out, k: plan(out, k, count))


def until(fleet: Fleet, name: str, count: int = 1) -> list[Event]:
    """Events up to the last `phase_end`."""
    seen: list[Event] = []
    while sum(e["event"] == name for e in seen) < count:
        found = fleet.poll(10)
        assert found is not None, f"no {name} in {seen}"
        seen.append(found[1])
    return seen


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_whole_life(fake_engine: FakeEngine, tmp_path: Path) -> None:
    one = fleet(fake_engine, tmp_path)
    [ready] = one.start()
    assert ready["driver"] == {"kind": "fake"}
    assert one.pids() == {"engine": ready["pid"]}
    at_ns = one.phase("load")
    events = until(one, "phase_end")
    assert next(e for e in events if e["event"] == "phase_start")["at_ns"] == at_ns
    one.finish()
    one.merge()
    assert one.processes[0].wait(0) == 0
    assert (tmp_path / "engine" / "plan.json").is_file()


def test_engines_start_together_and_go_on_where_the_last_ended(
    fake_engine: FakeEngine, tmp_path: Path
) -> None:
    three = fleet(fake_engine, tmp_path, 3)
    three.start()
    assert list(three.pids()) == ["engine-0", "engine-1", "engine-2"]
    three.phase("run")
    events = until(three, "phase_end", 3)
    assert len({e["at_ns"] for e in events if e["event"] == "phase_start"}) == 1
    ends = [e for e in events if e["event"] == "phase_end"]
    three.ended_phase(ends, counts=True)
    three.phase("run")
    again = until(three, "phase_end", 3)
    assert {e["first"] for e in again if e["event"] == "phase_start"} == {12}  # the most of 10, 11, 12
    three.finish()
    three.merge()
    assert (tmp_path / "engine" / "events.ndjson").is_file()
    assert [p["engine"]["index"] for p in three.plans] == [0, 1, 2]


def test_commands_of_many_threads_are_whole_and_in_order(fake_engine: FakeEngine, tmp_path: Path) -> None:
    one = fleet(fake_engine, tmp_path)
    one.start()
    written: list[bytes] = []
    (process,) = one.processes
    stdin = process._process.stdin
    assert stdin is not None

    class Pipe:
        """Lets another thread go on between a line and its end."""

        def write(self, line: bytes) -> None:
            written.append(line)
            for part in (line[:9], line[9:]):
                stdin.write(part)
                stdin.flush()

        def flush(self) -> None:
            """Done."""

        close = stdin.close

    process._process.stdin = Pipe()  # type: ignore[assignment]
    marks: list[int] = []
    threads = [
        threading.Thread(target=lambda: marks.extend(one.mark(f"m{n}") for n in range(20))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(marks) == 160
    ids = [json.loads(line)["id"] for line in written]
    assert ids == sorted(ids)
    one.finish()


def test_a_phase_is_ended_before_its_time_and_another_follows(
    fake_engine: FakeEngine, tmp_path: Path
) -> None:
    phases = [{"name": n, "kind": "run", "in_flight": 2, "limit": {"seconds": 600}} for n in ("one", "other")]
    two = Fleet(fake_engine.path, 2, tmp_path, lambda out, k: {**plan(out, k, 2), "phases": phases})
    two.start()
    two.end_phase()  # nobody asks whether it was refused
    for name in ("one", "other"):
        begun_ns = two.phase(name)
        until(two, "interval")
        two.end_phase()
        ends = [event for event in until(two, "phase_end", 2) if event["event"] == "phase_end"]
        assert [(end["phase"], end["reason"]) for end in ends] == [(name, "time")] * 2
        assert all(begun_ns < end["end_ns"] < begun_ns + 60e9 for end in ends)
    two.finish()


def test_stop_ends_phase_and_process(fake_engine: FakeEngine, tmp_path: Path) -> None:
    fake_engine.mode("hang-in-run")
    one = fleet(fake_engine, tmp_path)
    one.start()
    one.phase("run")
    until(one, "interval")
    one.stop()
    assert until(one, "phase_end")[-1]["reason"] == "stop"
    assert one.processes[0].wait(10) == 0


def test_a_refused_command(fake_engine: FakeEngine, tmp_path: Path) -> None:
    fake_engine.mode("refuse")
    one = fleet(fake_engine, tmp_path)
    one.start()
    with pytest.raises(EngineError, match="refused phase: not today"):
        one.phase("load")
    one.kill()
    assert gone(one.processes[0].pid)


@pytest.mark.parametrize(
    ("mode", "error", "text"),
    [
        ("plan-refused", InputError, "workload.records must be above 0"),
        ("unreachable", InfrastructureError, "connection refused"),
        ("silent-death", EngineError, "ended with status 101: fake: no memory"),
    ],
)
def test_an_engine_that_does_not_become_ready(
    fake_engine: FakeEngine,
    tmp_path: Path,
    mode: str,
    error: type[SteelyardError],
    text: str,
) -> None:
    fake_engine.mode(mode)
    with pytest.raises(error, match=text):
        fleet(fake_engine, tmp_path).start()


@pytest.mark.parametrize(
    ("mode", "error", "text"),
    [
        ("die-in-run", EngineError, "was killed by SIGKILL: fake: a segmentation fault"),
        ("garbage-in-run", EngineError, "no event: 'this is no event'"),
        ("disk-full-in-run", InfrastructureError, "cannot write to .*/engine: No space left"),
    ],
)
def test_an_engine_that_fails_in_a_phase(
    fake_engine: FakeEngine,
    tmp_path: Path,
    mode: str,
    error: type[SteelyardError],
    text: str,
) -> None:
    fake_engine.mode(mode)
    one = fleet(fake_engine, tmp_path)
    one.start()
    one.phase("run")
    with pytest.raises(error, match=text):
        until(one, "phase_end")
    one.kill()
    assert gone(one.processes[0].pid)


def test_an_engine_that_cannot_be_started(tmp_path: Path) -> None:
    nothing = Fleet(tmp_path / "nothing", 1, tmp_path, plan)
    with pytest.raises(EngineError, match="cannot be started"):
        nothing.start()


def test_a_phase_is_given_its_rate_with_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command of its own would come after the first operations, on an engine that was put aside."""
    told: list[tuple[str, dict[str, Any]]] = []
    one = Fleet(tmp_path, 1, tmp_path, lambda _out, _k: {})
    monkeypatch.setattr(one, "_command", lambda cmd, **fields: told.append((cmd, fields)))
    at_ns = one.phase("probe", 300.0)
    assert told == [("phase", {"name": "probe", "at_ns": at_ns, "first": None, "rate": 300.0})]
