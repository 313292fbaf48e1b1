"""Trials on several benches: which runs what, when one is lost, what is refused, and what comes back."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study_fixtures import TEXT

from steelyard.cli.fleet import fleet_of
from steelyard.errors import InfrastructureError, InputError, Interrupted
from steelyard.hosts.host import HostLostError
from steelyard.hosts.machine import this_machine
from steelyard.hosts.remote.addresses import addresses, chosen
from steelyard.hosts.snapshots import SnapshotChangedError
from steelyard.lab import bench_program
from steelyard.lab.bench_hosts import check_whole, unlike
from steelyard.lab.bench_program import only_one, sendable
from steelyard.lab.blocks import Blocks, Given, check_blocks
from steelyard.lab.remote_bench import packed, unpacked
from steelyard.lab.shared_rates import RateNotFoundError
from steelyard.lab.side_by_side import SideBySide
from steelyard.lab.signals import Interrupts
from steelyard.spec.models import Study, Trial
from steelyard.spec.read import read_study
from steelyard.spec.schema import study_schema
from steelyard.spec.trials import block_of, trials

FLEET = """
[fleet]
ssh = ["a", "root@b"]
benches = 2
key = "id"
"""


def study(folder: Path, *overrides: str, text: str = TEXT) -> Study:
    (folder / "s.toml").write_text(text)
    return read_study(folder / "s.toml", ["repetitions=4", *overrides])


def taken_at_once(blocks: Blocks, *benches: str) -> list[tuple[str, Trial]]:
    """What they run, each in a thread; all have begun before one goes on."""
    found, begun = list[tuple[str, Trial]](), threading.Barrier(len(benches))

    def run(bench: str) -> None:
        given = blocks.take(bench)
        begun.wait()
        while given:
            found.append((bench, given.trial))
            given = blocks.take(bench)

    threads = [threading.Thread(target=run, args=(bench,)) for bench in benches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


# --- which runs what ---


@pytest.mark.parametrize(
    "overrides", [(), ("order=listed",), ("reset=none", "starts=2"), ("reset=truncate", "starts=4")]
)
def test_all_points_of_a_repetition_are_on_one_bench(tmp_path: Path, overrides: tuple[str, ...]) -> None:
    asked = study(tmp_path, *overrides)
    planned = trials(asked)
    found = taken_at_once(Blocks(asked, planned, ["a", "b"], {}), "a", "b")
    assert sorted(trial.number for _, trial in found) == [trial.number for trial in planned]
    homes: dict[int, set[str]] = {}
    for bench, trial in found:
        homes.setdefault(block_of(asked, trial), set()).add(bench)
    assert all(len(benches) == 1 for benches in homes.values())
    assert {bench for bench, _ in found} == {"a", "b"}
    for home in homes:  # in the order of the study
        numbers = [t.number for _, t in found if block_of(asked, t) == home]
        assert numbers == sorted(numbers)


def test_a_cluster_is_kept_while_its_next_trial_is_of_its_block(tmp_path: Path) -> None:
    asked = study(tmp_path, "reset=none", "starts=2")
    blocks = Blocks(asked, trials(asked), ["a"], {})
    given = []
    while one := blocks.take("a"):
        given.append(one)
    for one, after in zip(given, [*given[1:], None], strict=True):
        assert one.keep == (after is not None and after.trial.group == one.trial.group)


def test_a_study_that_goes_on_keeps_its_blocks_where_they_were(tmp_path: Path) -> None:
    asked = study(tmp_path)
    planned = trials(asked)
    blocks = Blocks(asked, planned[3:], ["a", "b"], {1: "a", 2: "b"})
    assert blocks.take("a") == Given(next(t for t in planned[3:] if t.repetition == 3), keep=False)
    given = blocks.take("b")
    assert given is not None
    assert given.trial.repetition == 2
    gone = Blocks(asked, planned[3:], ["c"], {1: "a", 2: "b"})
    assert [trial.number for _, trial in taken_at_once(gone, "c")] == [t.number for t in planned[3:]]


def test_what_a_lost_bench_ran_others_run_first_of_its_block(tmp_path: Path) -> None:
    asked = study(tmp_path)
    planned = trials(asked)
    blocks = Blocks(asked, planned, ["a", "b"], {})
    mine, other = blocks.take("a"), blocks.take("b")
    assert mine
    assert other
    blocks.lost("a")
    rest = []
    while given := blocks.take("b"):
        rest.append(given.trial)
    assert sorted(t.number for t in (*rest, other.trial)) == [t.number for t in planned]
    again = [t.number for t in rest if t.repetition == mine.trial.repetition]
    assert again[0] == mine.trial.number


def test_a_bench_without_work_waits_for_what_another_may_lose(tmp_path: Path) -> None:
    asked = study(tmp_path, "repetitions=1")
    blocks, found = Blocks(asked, trials(asked)[:1], ["a", "b"], {}), list[Given | None]()
    running = blocks.take("a")
    waiting = threading.Thread(target=lambda: found.append(blocks.take("b")))
    waiting.start()
    blocks.lost("a")
    waiting.join()
    assert found == [running]


@pytest.mark.parametrize(
    ("overrides", "fault", "hint"),
    [
        ((), "--benches 5: the study has 4 repetitions, and each stays whole", "--benches 4"),
        (("reset=none",), "the study has 1 start of its clusters", "--set starts=6"),
        (("repetitions=1",), "the study has 1 repetition,", "--set repetitions=6"),
    ],
)
def test_more_benches_than_blocks(tmp_path: Path, overrides: Sequence[str], fault: str, hint: str) -> None:
    asked = study(tmp_path, *overrides)
    with pytest.raises(InputError, match=fault) as caught:
        check_blocks(asked, trials(asked), 5)
    assert caught.value.hint == hint
    check_blocks(asked, trials(asked), 1)


# --- how they are run ---


class Bench:
    """What a bench is told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: list[str] = []

    def stop(self) -> None:
        self.told.append("stop")

    def release(self) -> None:
        self.told.append("release")


def worked(
    folder: Path, run: Any, interrupts: Interrupts | None = None
) -> tuple[SideBySide, bool, Blocks, list[Bench]]:
    asked = study(folder)
    blocks, benches = Blocks(asked, trials(asked), ["a", "b"], {}), [Bench("a"), Bench("b")]
    work = SideBySide(benches, blocks, run)  # type: ignore[arg-type]
    return work, work.until_done(interrupts or Interrupts()), blocks, benches


def test_a_lost_bench_is_no_error_of_a_study_that_is_whole(tmp_path: Path) -> None:
    done: list[tuple[str, int]] = []
    begun = threading.Event()

    def run(bench: Bench, given: Given) -> None:
        if bench.name == "a":
            begun.set()
            raise HostLostError("the host a is lost")
        assert begun.wait(60), "a takes a trial too"
        done.append((bench.name, given.trial.number))

    work, whole, _, benches = worked(tmp_path, run)
    assert (whole, work.failed) == (True, [])
    assert [error.message for error in work.lost] == ["the host a is lost"]
    assert sorted(done) == [("b", number) for number in range(1, 9)]
    assert benches[1].told == ["release"]


def test_a_study_whose_benches_are_all_lost_has_something_left(tmp_path: Path) -> None:
    def run(bench: Bench, _given: Given) -> None:
        raise HostLostError(f"the host {bench.name} is lost")

    work, whole, blocks, _ = worked(tmp_path, run)
    assert not whole
    assert len(work.lost) == 2
    assert sorted(blocks.left()) == list(range(1, 9))


def test_a_signal_is_told_to_all_benches_and_nothing_more_begins(tmp_path: Path) -> None:
    interrupts, both = Interrupts(), threading.Barrier(2)

    def run(_bench: Bench, _given: Given) -> Interrupted:
        both.wait()
        interrupts.count = 1
        return Interrupted("interrupted")

    _, whole, blocks, benches = worked(tmp_path, run, interrupts)
    assert not whole
    assert len(blocks.left()) == 6
    assert all("release" in bench.told for bench in benches)


def test_a_fault_in_a_thread_is_raised(tmp_path: Path) -> None:
    def run(_bench: Bench, _given: Given) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        worked(tmp_path, run)


# --- which hosts, and which studies ---


def test_in_what_benches_are_unlike() -> None:
    one = {"cpu_model": "X", "cores_usable": 8, "memory_bytes": 64 << 30, "kernel": "6.1"}
    assert unlike({"a": one, "b": {**one, "memory_bytes": (64 << 30) - (1 << 28)}}) == []
    told = unlike({"a": one, "b": {**one, "cores_usable": 4, "memory_bytes": 32 << 30}, "c": one})
    assert [words.partition(" is ")[0] for words in told] == ["cores of a", "memory of a"]
    assert "of b 4" in told[0]
    assert unlike({"a": one, "b": {**one, "java": "17"}}) == ["Java of a is not known, of b 17"]


GIVEN = """
repetitions = 4
reset = "none"
workload = "c"
[system]
kind = "hosts"
hosts = ["10.0.0.1"]
[load]
duration_s = 1
"""
RATES = """
repetitions = 4
workload = "c"
[system]
kind = "null"
[rates.peak]
start = 100
[load]
duration_s = 1
target = { of = "peak" }
[factors]
"load.target.share" = [0.5, 0.8]
"""


@pytest.mark.parametrize(
    ("text", "fault"), [(GIVEN, "trials side by side share none"), (RATES, "a rate that points share")]
)
def test_studies_that_benches_cannot_run(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        check_whole(study(tmp_path, text=text), 2)
    check_whole(study(tmp_path), 2)


def test_a_machine_is_one_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path))
    lock = only_one()
    with pytest.raises(InfrastructureError, match="is a bench of another study"):
        only_one()
    there = replace(this_machine(), boot_id="another machine's, which shares the folder")
    monkeypatch.setattr(bench_program, "this_machine", lambda: there)
    assert lock != only_one()


def test_errors_come_back_as_what_they_are() -> None:
    for error in (InputError("no", hint="yes"), SnapshotChangedError("changed")):
        found = unpacked(packed(sendable(error)).strip())
        assert (type(found), found.message, found.hint) == (type(error), error.message, error.hint)
    lost = unpacked(packed(sendable(RateNotFoundError("peak", InputError("no", hint="yes")))).strip())
    assert isinstance(lost, InfrastructureError)
    assert (lost.message, lost.hint) == ("not run, as rate peak was not found: no", "yes")


def test_an_error_that_cannot_be_sent_as_it_is_is_sent_by_what_it_says() -> None:
    """Whether one can be depends on what else is imported: Dask teaches pickle more of them."""
    held = RateNotFoundError("peak", InputError("no", hint="yes"))
    held.why = lambda: None  # type: ignore[attr-defined]
    found = sendable(held)
    assert (type(found), found.message, found.hint) == (InfrastructureError, held.message, "yes")


# --- what is said of them ---


def test_a_fleet_is_said_in_the_study_and_flags_go_before(tmp_path: Path) -> None:
    asked = study(tmp_path, text=TEXT + FLEET)
    none = dict.fromkeys(("ssh", "benches", "load_hosts", "key", "python"))
    assert fleet_of(asked, none) == asked.fleet
    assert (asked.fleet.ssh, asked.fleet.benches) == (("a", "root@b"), 2)
    other = fleet_of(asked, {**none, "load_hosts": 1, "key": "other"})
    assert (other.benches, other.load_hosts, other.key, other.ssh) == (None, 1, "other", ("a", "root@b"))
    assert fleet_of(study(tmp_path), none).ssh == ()
    here = fleet_of(study(tmp_path, "fleet.ssh=[]", text=TEXT + FLEET), none)
    assert (here.key, here.elsewhere) == ("id", False)  # the study's, and of no use
    with pytest.raises(InputError, match="go with --ssh"):
        fleet_of(study(tmp_path, "fleet.ssh=[]", text=TEXT + FLEET), {**none, "key": "other"})
    assert trials(asked) == trials(study(tmp_path))


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("fleet.bench=2", r"unknown key 'bench' in fleet \(did you mean 'benches'"),
        ("fleet.load_hosts=2", "benches and load_hosts exclude each other"),
        ("fleet.benches=0", "fleet.benches"),
    ],
)
def test_a_fleet_that_cannot_be(tmp_path: Path, override: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        study(tmp_path, override, text=TEXT + FLEET)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"benches": 2}, "go with --ssh"),
        ({"ssh": ("a",), "unlike_hosts": True}, "--unlike-hosts goes with --benches"),
        ({"ssh": ("a", "b"), "benches": 1, "load_hosts": 1}, "--benches and --load-hosts exclude"),
    ],
)
def test_flags_that_do_not_go_together(tmp_path: Path, said: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        fleet_of(study(tmp_path), said)


def test_more_benches_than_machines() -> None:
    with pytest.raises(InputError, match="--benches 3: --ssh names 2 machines"):
        chosen(addresses("a,b"), 3, "--benches")


def test_the_schema_knows_the_fleet() -> None:
    schema = study_schema()
    assert set(schema["$defs"]["Fleet"]["properties"]) >= {"ssh", "benches", "load_hosts", "unlike_hosts"}
