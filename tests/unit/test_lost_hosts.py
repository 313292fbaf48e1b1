"""Load hosts that are lost, frozen or at fault, and what becomes of the others' work."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_remote_hosts import Actor, Answer, Client, manifest

from steelyard.engine.clock import Clock
from steelyard.engine.fleet import Fleet, merge_limit_s
from steelyard.engine.session import EngineSession, Event
from steelyard.errors import EngineError, InfrastructureError, InputError
from steelyard.hosts.host import HostLostError
from steelyard.hosts.remote import check, host
from steelyard.hosts.remote.engine import RemoteEngine
from steelyard.hosts.remote.host import RemoteHost
from steelyard.lab.hopeless import HOPELESS
from steelyard.lab.load_hosts import LoadHosts
from steelyard.lab.study import Outcome
from steelyard.results.elsewhere import Elsewhere
from steelyard.results.store import RunFolder
from steelyard.spec.models import Study
from steelyard.spec.system import NullSystem
from steelyard.spec.trials import trials
from steelyard.spec.workload import CORE

LOST = HostLostError("the host a is lost")


class Session(EngineSession):
    """An engine elsewhere that does what it is told; its machine can be lost at any step."""

    def __init__(self, index: int, folder: Path) -> None:
        super().__init__(index, folder, queue.Queue(), Clock())
        self.waited: list[float] = []
        self.collecting: Callable[[], None] = lambda: None
        self.lost_by: str = ""

    pid = 1

    def _write(self, line: bytes) -> None:
        if self.lost_by == "write":
            self.lost = LOST
            raise BrokenPipeError
        command = json.loads(line)
        if self.lost_by == "ack":
            self.lost, self._ended = LOST, True
        else:
            self._acks[command["id"]] = {"ok": True, "at_ns": 10 + self.index}

    def stderr_tail(self) -> str:
        return ""

    def wait(self, limit_s: float) -> int | None:
        self.waited.append(limit_s)
        return 0

    def close_input(self) -> None:
        """Nothing is there to close."""

    def kill(self) -> None:
        """Nothing is there to end."""

    def collect(self) -> None:
        self.collecting()


def fleet(folder: Path, count: int = 2) -> tuple[Fleet, list[Session]]:
    found = Fleet(folder, count, folder, lambda _out, _k: {})
    sessions = [Session(index, folder) for index in range(count)]
    found.processes = list[EngineSession](sessions)
    return found, sessions


def fails(error: Exception) -> Callable[[], None]:
    def step() -> None:
        raise error

    return step


def test_a_machine_lost_after_its_phase_fails_the_trial_when_the_others_have_ended(tmp_path: Path) -> None:
    two, (a, b) = fleet(tmp_path)
    a.lost = LOST
    with pytest.raises(HostLostError):
        two.finish()
    assert b.waited


def test_files_that_cannot_be_had_keep_no_others_from_coming(tmp_path: Path) -> None:
    three, sessions = fleet(tmp_path, 3)
    came: list[int] = []
    for one in sessions:
        one.collecting = lambda one=one: came.append(one.index)  # type: ignore[misc]
    sessions[0].collecting = fails(EngineError("first"))
    sessions[1].collecting = fails(OSError("second"))
    with pytest.raises(EngineError, match="first"):
        three.collect()
    assert came == [2]


@pytest.mark.parametrize("step", ["write", "ack"])
def test_a_mark_goes_to_the_machines_that_are_left(tmp_path: Path, step: str) -> None:
    two, (a, b) = fleet(tmp_path)
    a.lost_by = step
    assert two.mark("x") == 11
    assert two.mark("y") == 11  # now it is known
    b.lost_by = step
    with pytest.raises(HostLostError):
        two.mark("z")


def test_a_mark_that_a_living_engine_refuses_is_an_error(tmp_path: Path) -> None:
    two, (a, _) = fleet(tmp_path)
    a._ended = True  # it has ended, its machine has not
    a._write = lambda _line: None  # type: ignore[method-assign]
    with pytest.raises(EngineError):
        two.mark("x")


class Silent(Answer):
    """An answer that does not come, so many times."""

    def __init__(self, found: Any, times: int) -> None:
        super().__init__(found)
        self.left = times

    def result(self, _timeout: float | None = None) -> Any:
        self.left -= 1
        if self.left >= 0:
            raise TimeoutError
        return self._found

    def done(self) -> bool:
        return self.left < 0


class Frozen:
    """The actor of a worker that stands still for a while; its clock answers or does not."""

    def __init__(self, silent: int, *, alive: bool) -> None:
        self.answer, self.alive, self.clocks = Silent((True, "found"), silent), alive, 0

    def hello(self) -> Answer:
        return self.answer

    def clock_ns(self) -> Answer:
        self.clocks += 1
        return Answer(1) if self.alive else Silent(1, 1)


def test_a_slow_answer_is_waited_for_while_the_machine_tells_its_time() -> None:
    actor = Frozen(3, alive=True)
    assert RemoteHost("a", "10.0.0.1", actor, None).ask("hello") == "found"
    assert actor.clocks == 3


def test_a_machine_that_tells_nothing_is_lost(tmp_path: Path) -> None:
    log = tmp_path / "0.txt"
    log.write_text("begun\nOut of memory\n\n")
    frozen = RemoteHost("a", "10.0.0.1", Frozen(99, alive=False), None, log)
    said = "the host a is lost: it does not answer; its worker said: Out of memory"
    with pytest.raises(HostLostError, match=said) as caught:
        frozen.ask("hello")
    assert "--resume" in str(caught.value.hint)
    assert frozen.lost_ns


def test_an_answer_that_failed_by_a_timeout_is_not_asked_for_again() -> None:
    actor = Frozen(0, alive=True)
    actor.answer = Answer(TimeoutError("a connection"))  # type: ignore[assignment]
    with pytest.raises(HostLostError, match="a connection"):
        RemoteHost("a", "10.0.0.1", actor, None).ask("hello")


def test_clocks_are_asked_for_within_a_limit() -> None:
    limits: list[float] = []

    class Limited(Client):
        def sync(self, exchanges: Any, callback_timeout: float | None = None) -> Any:
            limits.append(callback_timeout or 0)
            return super().sync(exchanges)

    RemoteHost("a", "10.0.0.1", None, Limited(1000)).measure_clock()
    assert limits == [2 * host.ANSWER_S]


def test_a_fault_of_a_machine_names_it() -> None:
    full = OSError(28, "No space left on device", "/home/b/.cache")
    far = RemoteHost("a", "10.0.0.1", Actor((False, full), (False, full), (False, full)), None)
    with pytest.raises(InfrastructureError, match=r"the host a: .*No space left on device"):
        far.ask("begin_engine", {})
    for method in ("write", "call"):
        with pytest.raises(OSError, match="No space left"):
            far.ask(method)


@pytest.mark.parametrize("name", ["../report.html", "a/../../b", "/etc/passwd"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    far = RemoteHost("a", "10.0.0.1", Actor((True, [(name, 1)]), (True, b"x")), None)
    with pytest.raises(InfrastructureError, match="a file outside its folder"):
        far.fetch(Path("/there"), tmp_path / "here")
    assert not list(tmp_path.rglob("*"))


def remote_engine(folder: Path, *answers: Any) -> tuple[RemoteEngine, Actor]:
    """An engine that has ended, and answers to what is asked of its machine afterwards."""
    actor = Actor((True, (7, 1, Path("/there"))), (True, (0, [], 0)), *answers)
    engine = RemoteEngine(RemoteHost("a", "10.0.0.1", actor, Client(1000)), {}, folder, queue.Queue(), 0)
    assert engine.wait(10) == 0
    return engine, actor


def test_what_was_fetched_is_dropped_there(tmp_path: Path) -> None:
    line = b'{"event":"mark"}\n'
    files = [("events.ndjson", len(line))]
    engine, actor = remote_engine(tmp_path, (True, files), (True, line), (True, None))
    engine.collect()
    assert (tmp_path / "events.ndjson").read_bytes() == line
    assert actor.asked[-1] == ("forget", 7)


def test_what_came_before_a_fetch_failed_has_our_times(tmp_path: Path) -> None:
    line = b'{"event":"mark","t_ns":7200000000000}\n'
    files = [("events.ndjson", len(line)), ("more", 1)]
    engine, _ = remote_engine(tmp_path, (True, files), (True, line), OSError("gone"))
    with pytest.raises(HostLostError):
        engine.collect()
    told: Event = json.loads((tmp_path / "events.ndjson").read_text())
    assert told["t_ns"] == pytest.approx(3600e9, abs=1e6)  # its clock is an hour ahead


class Watching:
    """A machine's samples, or why there are none."""

    def __init__(self, error: Exception | None, *, kept: bool = False) -> None:
        self.error, self.kept = error, kept

    def stop(self) -> None:
        if self.error:
            raise self.error

    def write(self, path: Path) -> None:
        if self.error and not self.kept:
            raise self.error
        rows = {"t_ns": [1], "source": ["engine-1"], "metric": ["cpu"], "value": [1.0]}
        pl.DataFrame(rows).write_parquet(path)


def test_samples_that_cannot_be_had_keep_no_others_from_being_written(tmp_path: Path) -> None:
    hosts = LoadHosts([RemoteHost(name, "10.0.0.1", None, None) for name in "ab"])
    hosts._watches = {0: Watching(HostLostError("lost")), 1: Watching(None)}  # type: ignore[dict-item]
    Watching(None).write(tmp_path / "system.parquet")
    with pytest.raises(HostLostError):
        hosts.keep_samples(manifest(), tmp_path)
    assert [path.name for path in (tmp_path / "hosts").iterdir()] == ["1.parquet"]
    assert pl.read_parquet(tmp_path / "system.parquet").height == 2


@pytest.mark.parametrize("known", [True, False])
def test_of_a_machine_that_was_lost_there_is_what_had_come_before(tmp_path: Path, *, known: bool) -> None:
    far = RemoteHost("a", "10.0.0.1", None, None)
    far.lost_ns = 1 if known else None
    hosts = LoadHosts([far])
    hosts._watches = {0: Watching(LOST, kept=True)}  # type: ignore[dict-item]
    Watching(None).write(tmp_path / "system.parquet")
    with nullcontext() if known else pytest.raises(HostLostError):  # the engine has said it already
        hosts.keep_samples(manifest(), tmp_path)
    assert (tmp_path / "hosts" / "0.parquet").is_file()
    assert pl.read_parquet(tmp_path / "system.parquet").height == 2


def test_a_merge_has_time_for_all_seconds_of_all_engines() -> None:
    """A thousand engines that ran for an hour take 1,508 s (docs/performance.md)."""
    assert merge_limit_s(2, 10) < 660
    assert merge_limit_s(1000, 3600) > 3 * 1508


def test_clocks_are_told_of_those_whose_facts_are_known() -> None:
    hosts = LoadHosts([RemoteHost(name, "10.0.0.1", None, Client(1000)) for name in "ab"])
    for one in hosts._hosts:
        one.measure_clock()
    told = manifest()
    told.hosts.append({"name": "a"})
    hosts.note_clocks(told)
    assert [said["name"] for said in told.hosts] == ["a"]


def test_no_other_trial_is_begun_without_a_machine() -> None:
    assert isinstance(LOST, HOPELESS)


def test_a_run_goes_on_where_its_engines_were(tmp_path: Path) -> None:
    study = Study(name="x", system=NullSystem(), workload=CORE["a"])
    path, hosts = tmp_path / "run", Elsewhere(("a", "root@b"))
    RunFolder.create(study, trials(study), path, hosts).close()
    for others, are in (([], "this machine"), (["root@b", "a"], "root@b, a")):
        with pytest.raises(InputError, match=f"on a, root@b, and would go on on {are}") as caught:
            RunFolder.resume(study, trials(study), path, Elsewhere(tuple(others)))
        assert f"steelyard run --resume {path} --ssh a,root@b" in str(caught.value.hint)
    RunFolder.resume(study, trials(study), path, hosts).close()
    again = Outcome(path, elsewhere=hosts).again("--disturbed")
    assert again == f"steelyard run --resume {path} --disturbed --ssh a,root@b"


def test_machines_that_do_not_reach_each_other_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def between(source: RemoteHost, _target: RemoteHost, _seconds: float) -> float:
        if source.name == "a":
            raise InfrastructureError("the host b: timed out")
        return 2.0**20

    monkeypatch.setattr(check, "_bandwidth", between)
    found = check.bandwidths([RemoteHost(name, "", None, None) for name in "ab"], 0.1)
    assert found[0] == ("a", "b", "not reachable: the host b: timed out")
    assert found[1][2].endswith("/s")
