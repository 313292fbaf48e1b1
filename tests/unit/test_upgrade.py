"""Upgrades: which steps there are, what is refused before the start, whose turn comes when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.errors import InputError
from steelyard.hosts import artifacts
from steelyard.hosts.local import LocalHost
from steelyard.lab.timeline.commands import Cancelled
from steelyard.lab.timeline.perform import Context, perform
from steelyard.report.in_effect import system_words
from steelyard.spec.actions import Upgrade
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.kind import declared
from steelyard.spec.models import Study
from steelyard.spec.read import read_study
from steelyard.spec.system import CassandraSystem
from steelyard.systems import inventory
from steelyard.systems.cassandra import versions
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.testbed import HBaseTestbed

STUDY = """
repetitions = 1
[system]
kind = "{kind}"
{version}
[workload]
base = "a"
records = 10
[load]
duration_s = 300
[factors]
timeline = ["none", "up"]
"""


def study(folder: Path, kind: str, version: str, *steps: str, more: str = "") -> Study:
    text = STUDY.format(kind=kind, version=f'version = "{version}"' if version else "")
    for number, step in enumerate(steps):
        begins = f'after = "u{number - 1}"' if number else 'at = "5s"'
        text += f'[[timelines.up]]\nid = "u{number}"\n{begins}\ndo = "upgrade"\nversion = "{step}"\n{more}\n'
    path = folder / "s.toml"
    path.write_text(text)
    return read_study(path)


@pytest.mark.parametrize(
    ("kind", "version", "to", "told"),
    [
        ("cassandra", "5.0", "4.1", "5.0.7 to 4.1.10: a version does not read what a later one has written"),
        ("cassandra", "3.11", "5.0", "3.11.13 to 5.0.7: a major version cannot be skipped"),
        ("cassandra", "5.0", "5.0.7", "it runs that already"),
        ("cassandra", "4.1", "6.1", "Cassandra 6.1 cannot be run"),
        ("hbase", "2.6", "2.4", "HBase 2.6.4 to 2.4.16: a version does not read"),
        ("embedded", "", "2", "this system is of kind 'embedded', which has no capability 'upgrade'"),
    ],
)
def test_a_step_that_cannot_be_is_refused_before_anything_starts(
    tmp_path: Path, kind: str, version: str, to: str, told: str
) -> None:
    with pytest.raises(InputError) as caught:
        study(tmp_path, kind, version, to)
    assert told in caught.value.message
    assert caught.value.hint


def test_the_way_over_several_majors_is_said_and_can_be_gone(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        study(tmp_path, "cassandra", "3.11", "5.0")
    assert caught.value.hint == 'an upgrade each to "4.1" then "5.0"'
    found = study(tmp_path, "cassandra", "3.11", "4.1", "5.0")
    assert [point.system.upgrades for point in found.points] == [("4.1", "5.0")] * 2  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"u1: Cassandra 4\.1\.10 to 4\.1\.10: it runs that already"):
        study(tmp_path, "cassandra", "3.11", "4.1", "4.1.10")


def test_files_are_written_anew_by_cassandra_alone(tmp_path: Path) -> None:
    study(tmp_path, "cassandra", "3.11", "4.1", more="rewrite = true")
    with pytest.raises(InputError, match="has no capability 'rewrite'"):
        study(tmp_path, "hbase", "2.4", "2.6", more="rewrite = true")


def test_a_version_that_writes_the_same_format_is_asked_for_no_rewriting(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"u0: Cassandra 5\.0\.7 \(.* CASSANDRA_4, .*writes .* of 4\.1\.10"
    ) as no:
        study(tmp_path, "cassandra", "4.1", "5.0", more="rewrite = true")
    assert no.value.hint == "leave rewrite out"
    with pytest.raises(InputError, match=r"u1: Cassandra 5\.0\.7 "):  # u0 has rewritten those of 3.11
        study(tmp_path, "cassandra", "3.11", "4.1", "5.0", more="rewrite = true")
    with pytest.raises(InputError, match=r"u0: Cassandra 4\.1\.10 writes files in the format of 4\.1\.9"):
        study(tmp_path, "cassandra", "4.1.9", "4.1.10", more="rewrite = true")
    cassandra, other = declared("cassandra"), {"storage_compatibility_mode": "UPGRADING"}
    assert cassandra.no_rewrite(CassandraSystem(settings=other), "4.1", "5.0") is None
    assert cassandra.no_rewrite(CassandraSystem(), "3.11", "5.0") is None


def test_what_lacks_the_agent_or_is_one_process_is_not_upgraded() -> None:
    assert "upgrade" not in declared("cassandra").able(CassandraSystem(watch=False))
    assert "upgrade" not in declared("hbase").able(HBaseSystem(standalone=True))


def test_a_node_keeps_its_number_of_tokens_and_settings_with_old_names(tmp_path: Path) -> None:
    system = CassandraSystem(
        version="3.11", profile="quick", tokens=7, settings={"commitlog_segment_size_in_mb": 16}
    )
    cluster = CassandraTestbed(system, name="paper", root=tmp_path, host=LocalHost())
    shared = cluster._shared_under(versions.LINES["4.1"])
    assert shared["num_tokens"] == 7
    assert shared["commitlog_segment_size_in_mb"] == 16
    assert "commitlog_segment_size" not in shared
    assert shared["commitlog_total_space"] == "128MiB"
    plain = CassandraTestbed(CassandraSystem(version="3.11"), name="plain", root=tmp_path, host=LocalHost())
    assert plain._shared_under(versions.LINES["4.1"])["num_tokens"] == 256


def test_a_version_that_was_not_made_ready_is_refused(tmp_path: Path) -> None:
    cluster = CassandraTestbed(CassandraSystem(), name="paper", root=tmp_path, host=LocalHost())
    with pytest.raises(InputError, match=r"Cassandra 5\.1 was not made ready"):
        cluster.upgrade("node1", "5.1", silent, silent)


def silent(*_what: str) -> None:
    """Nobody listens."""


def test_masters_that_stand_by_come_first_and_region_servers_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = HBaseSystem(nodes=2, masters=2)
    cluster = HBaseTestbed(system, name="paper", root=tmp_path, host=LocalHost())
    cluster.specs = [*cluster._all("127.10.9", [])]
    (active,) = (spec for spec in cluster._layout if spec.name == "master1")
    monkeypatch.setattr(cluster, "_master", lambda: active)
    assert cluster.upgrade_order() == [
        "master2/master", "master1/master", "node1/regionserver", "node2/regionserver",
    ]  # fmt: skip


class Bed:
    """Two nodes; notes what is asked of it."""

    capabilities = frozenset({"upgrade", "rewrite"})

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._then = then

    def members(self) -> Sequence[str]:
        return ["node1", "node2"]

    def upgrade_order(self) -> Sequence[str]:
        return self.members()

    def upgrade(self, name: str, version: str, note: Any, _say: Any) -> None:
        self.asked.append((name, version))
        note(name, "serves")
        self._then()

    def rewrite(self, node: str) -> None:
        self.asked.append((node, "rewritten"))


def context(bed: Bed, folder: Path, noted: list[tuple[str, str]], cancelled: threading.Event) -> Context:
    return Context(bed, folder, lambda *what: noted.append(what), silent, cancelled)


def test_nodes_have_their_turn_and_files_are_rewritten_when_all_are_through(tmp_path: Path) -> None:
    action = Upgrade(id="u", do="upgrade", at=0, version="5.0", rewrite=True)
    noted: list[tuple[str, str]] = []
    bed = Bed()
    perform(action, ["node1", "node2"], context(bed, tmp_path, noted, threading.Event()))
    assert bed.asked == [("node1", "5.0"), ("node2", "5.0"), ("node1", "rewritten"), ("node2", "rewritten")]
    assert noted == [(n, what) for what in ("serves", "rewritten") for n in ("node1", "node2")]


def test_when_nobody_waits_any_more_the_next_node_is_left_alone(tmp_path: Path) -> None:
    cancelled = threading.Event()
    bed = Bed(then=cancelled.set)
    action = Upgrade(id="u", do="upgrade", at=0, version="5.0")
    with pytest.raises(Cancelled):
        perform(action, ["node1", "node2"], context(bed, tmp_path, [], cancelled))
    assert bed.asked == [("node1", "5.0")]


@pytest.mark.parametrize(
    ("upgraded", "told"),
    [
        ({}, "cassandra 4.1.10"),
        ({"node1": "5.0.7", "node2": "5.0.7"}, "cassandra 4.1.10, then 5.0.7"),
        ({"node1": "5.0.7", "node2": "4.1.10"}, "cassandra 4.1.10, then 5.0.7 (not 1 of 2 nodes)"),
    ],
)
def test_a_report_says_the_version_before_and_after(upgraded: dict[str, str], told: str) -> None:
    manifest = {
        "trial": {"system": {"kind": "cassandra"}},
        "system": {"version": "4.1.10", "upgraded": upgraded},
    }
    assert system_words(manifest, {}) == told


def test_doctor_says_which_upgrades_this_host_can_do_and_why_not_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (needs,) = [kind for kind in inventory._needs() if kind.title == "Cassandra"]
    there = [SimpleNamespace(major=11), SimpleNamespace(major=17)]
    monkeypatch.setattr(inventory, "installed", lambda: there)
    monkeypatch.setattr(inventory.shutil, "which", lambda _: "/usr/bin/mvn")
    assert inventory._upgrades(needs) == inventory.Finding("upgrades of Cassandra", "3.11 to 4.1, 4.1 to 5.0")
    monkeypatch.setattr(inventory.shutil, "which", lambda _: None)
    monkeypatch.setattr(artifacts, "cached", lambda name: None if "3.11" in name else name)
    found = inventory._upgrades(needs)
    assert (found.found, found.todo) == ("4.1 to 5.0", "3.11: no Maven, and its jars are not there")
    del there[:]
    assert inventory._upgrades(needs).found == "cannot be had"
