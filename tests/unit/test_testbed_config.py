"""A cluster's settings on paper: tokens, names, profiles, datacenters, replication. Nothing is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InputError
from steelyard.spec.kind import declared
from steelyard.spec.system import CassandraSystem, CqlAccess, Datacenter, Replication
from steelyard.systems.cassandra import config, old_names, profile, replication, shipped
from steelyard.systems.cassandra.tokens import (
    MURMUR3_MIN,
    RANDOM_RANGE,
    SPANS,
    initial_tokens,
    joining_tokens,
    owned,
)
from steelyard.systems.cassandra.versions import LINES, coordinates, resolve

FIVE, THREE = LINES["5.0"], LINES["3.11"]


@pytest.mark.parametrize(("partitioner", "low", "width"), [
    ("Murmur3Partitioner", MURMUR3_MIN, 2**64),
    ("RandomPartitioner", 0, RANDOM_RANGE),
])  # fmt: skip
@pytest.mark.parametrize(("nodes", "each"), [(1, 1), (3, 4), (5, 16), (7, 3)])
def test_tokens_are_even_and_taken_in_turn(
    partitioner: str, low: int, width: int, nodes: int, each: int
) -> None:
    by_node = [
        [int(token) for token in tokens.split(",")] for tokens in initial_tokens(partitioner, nodes, each)
    ]
    assert [len(tokens) for tokens in by_node] == [each] * nodes
    ring = sorted(token for tokens in by_node for token in tokens)
    assert low <= ring[0]
    assert ring[-1] < low + width
    gaps = [b - a for a, b in zip(ring, [*ring[1:], ring[0] + width], strict=True)]
    assert max(gaps) - min(gaps) <= 1
    owner = {token: node for node, tokens in enumerate(by_node) for token in tokens}
    assert [owner[token] for token in ring] == list(range(nodes)) * each


def test_byte_ordered_tokens_spread_over_ycsb_keys() -> None:
    tokens = [
        bytes.fromhex(token) for line in initial_tokens("ByteOrderedPartitioner", 3, 1) for token in [line]
    ]
    assert tokens == [b"user1000000", b"user4000000", b"user7000000"]


def test_default_profile_changes_no_setting_of_upstream() -> None:
    system = CassandraSystem(nodes=3)
    shared = config.settings(system, FIVE)
    assert shared == shipped.SETTINGS["5.0"]
    assert profile.setting_deviations(FIVE, shared, system) == []
    assert config.tokens_of(system, shared) == [None, None, None]


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_every_deviation_of_quick_has_a_reason_and_a_default(line: object) -> None:
    system = CassandraSystem(nodes=3, profile="quick")
    shared = config.settings(system, line)  # type: ignore[arg-type]
    found = profile.setting_deviations(line, shared, system)  # type: ignore[arg-type]
    changed = {name for name, value in shared.items() if shipped.SETTINGS[line.name].get(name) != value}  # type: ignore[attr-defined]
    assert {deviation.setting for deviation in found} >= changed
    assert all(deviation.default is not None for deviation in found)
    assert {deviation.reason for deviation in found} <= {why for _, why in profile.QUICK.values()}


def test_old_line_has_old_names_and_bare_numbers() -> None:
    shared = config.settings(CassandraSystem(profile="quick"), THREE)
    assert shared["commitlog_segment_size_in_mb"] == 8
    assert shared["compaction_throughput_mb_per_sec"] == 0
    assert not set(shared) & set(old_names.OLD_NAMES)
    assert shared["start_rpc"] is False


def test_settings_by_their_new_names_hold_for_old_lines_too() -> None:
    given = {
        "memtable_heap_space": "128MiB", "commitlog_total_space": "1GiB", "commitlog_sync_period": "2s",
        "stream_throughput_outbound": "25MiB/s", "key_cache_size_in_mb": 5, "concurrent_reads": 3,
        "max_hint_window_in_ms": -1,
        "allocate_tokens_for_local_replication_factor": 3,
    }  # fmt: skip
    system = CassandraSystem(profile="quick", settings=given)
    shared = config.settings(system, THREE)
    assert shared["memtable_heap_space_in_mb"] == 128
    assert shared["commitlog_total_space_in_mb"] == 1024
    assert shared["commitlog_sync_period_in_ms"] == 2000
    assert shared["stream_throughput_outbound_megabits_per_sec"] == 210
    assert shared["max_hint_window_in_ms"] == -1, "what an old name may say is the server's to judge"
    assert (shared["key_cache_size_in_mb"], shared["concurrent_reads"]) == (5, 3)
    assert set(shared) & set(old_names.OLD_NAMES) == {"allocate_tokens_for_local_replication_factor"}
    assert config.settings(system, FIVE)["memtable_heap_space"] == "128MiB"
    assert config.settings(system, FIVE)["stream_throughput_outbound"] == "25MiB/s"
    why = {one.setting: one.reason for one in profile.setting_deviations(THREE, shared, system)}
    assert why["memtable_heap_space_in_mb"] == "given by the user"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"key_cache_size": "4MiB", "key_cache_size_in_mb": 4}, "are one setting"),
        ({"memtable_heap_space": "1000B"}, "cannot be said to Cassandra 3.11"),
        ({"commitlog_sync_period": "2 days"}, "cannot be said"),
    ],
)
def test_a_setting_that_an_older_line_cannot_be_told_is_refused(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        config.settings(CassandraSystem(settings=given), THREE)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"limits": {"cpu": 0.3}}, True),
        ({"limits": {"cpu": 0.3}, "timer_slack_us": 1000}, False),
        ({"limits": {"cpu": 1.0}}, False),
        ({}, False),
    ],
)
def test_a_small_quota_without_timer_slack_is_told_of(more: dict[str, Any], *, told: bool) -> None:
    found = profile.waiting(CassandraSystem.model_validate(more))
    assert ["quota of 0.3 cores that may take a large part" in one for one in found] == [True] * told


def test_users_settings_lie_over_everything_and_are_deviations() -> None:
    system = CassandraSystem(profile="quick", tokens=8, settings={"concurrent_reads": 64, "num_tokens": 2})
    shared = config.settings(system, FIVE)
    assert (shared["concurrent_reads"], shared["num_tokens"]) == (64, 2)
    why = {found.setting: found.reason for found in profile.setting_deviations(FIVE, shared, system)}
    assert why["concurrent_reads"] == why["num_tokens"] == "given by the user"


def test_initial_tokens_of_the_user_must_be_one_a_node() -> None:
    system = CassandraSystem(nodes=2, settings={"initial_token": ["1", "2"]})
    assert config.tokens_of(system, config.settings(system, FIVE)) == ["1", "2"]
    with pytest.raises(InputError, match="1 values for 2 nodes"):
        config.tokens_of(CassandraSystem(nodes=2, settings={"initial_token": "1"}), {})


@pytest.mark.parametrize(("sync", "line", "there", "gone"), [
    ("batch", FIVE, {"commitlog_sync": "batch"}, "commitlog_sync_period"),
    ("group", FIVE, {"commitlog_sync_group_window": config.GROUP_WINDOW}, "commitlog_sync_period"),
    ("batch", THREE, {"commitlog_sync_batch_window_in_ms": 2}, "commitlog_sync_period_in_ms"),
])  # fmt: skip
def test_commitlog_sync(sync: str, line: object, there: dict[str, object], gone: str) -> None:
    shared = config.settings(CassandraSystem(commitlog_sync=sync), line)  # type: ignore[arg-type]
    assert there.items() <= shared.items()
    assert gone not in shared


def test_group_sync_is_refused_where_there_is_none() -> None:
    with pytest.raises(InputError, match=r"3\.11 has no commitlog_sync group"):
        config.settings(CassandraSystem(commitlog_sync="group"), THREE)


def test_datacenters_take_turns_and_racks_go_round(tmp_path: Path) -> None:
    system = CassandraSystem(
        datacenters=(Datacenter(name="a", nodes=3, racks=2), Datacenter(name="b", nodes=1))
    )
    specs = config.node_specs(system, "127.10.9", tmp_path, [])
    assert [(s.datacenter, s.rack) for s in specs] == [
        ("a", "rack1"), ("b", "rack1"), ("a", "rack2"), ("a", "rack1"),
    ]  # fmt: skip
    assert [s.address for s in specs] == [f"127.10.9.{n}" for n in (1, 2, 3, 4)]
    assert config.settings(system, FIVE)["endpoint_snitch"] == "GossipingPropertyFileSnitch"


def test_written_yaml_reads_as_what_was_meant(tmp_path: Path) -> None:
    system = CassandraSystem(nodes=2)
    first, second = config.node_specs(system, "127.10.9", tmp_path, [])
    shared = config.settings(system, FIVE)
    seeds = config.seeds(first.address, second.address)
    settings = config.node_settings(shared, second, "lab", seeds, None)
    files = config.files(second, settings, [first, second])
    lines = files["conf/cassandra.yaml"].splitlines()
    read = {key: json.loads(value) for key, value in (line.split(": ", 1) for line in lines)}
    assert read["listen_address"] == read["rpc_address"] == "127.10.9.2"
    assert read["seed_provider"][0]["parameters"] == [{"seeds": "127.10.9.1,127.10.9.2"}]
    assert read["commitlog_directory"] == str(second.folder / "commitlog")
    assert files["conf/cassandra-rackdc.properties"] == "dc=datacenter1\nrack=rack1\n"


def system_of(nodes: int, factor: int, level: str, **more: object) -> CassandraSystem:
    access = CqlAccess(read_consistency=level, replication=Replication(factor=factor, **more))  # type: ignore[arg-type]
    return CassandraSystem(nodes=nodes, access=access)


@pytest.mark.parametrize(("nodes", "factor", "level"), [
    (1, 3, "QUORUM"), (2, 3, "ALL"), (1, 2, "TWO"), (2, 5, "QUORUM"), (1, 3, "LOCAL_QUORUM"), (2, 2, "THREE"),
])  # fmt: skip
def test_a_level_that_cannot_be_met_is_refused(nodes: int, factor: int, level: str) -> None:
    with pytest.raises(InputError, match=f"read consistency {level} needs"):
        replication.check(system_of(nodes, factor, level))


@pytest.mark.parametrize(("nodes", "factor", "level"), [(1, 3, "ONE"), (2, 3, "QUORUM")])
def test_more_replicas_than_nodes_is_a_warning(nodes: int, factor: int, level: str) -> None:
    (warning,) = replication.check(system_of(nodes, factor, level))
    assert f"factor {factor} is above the {nodes} nodes" in warning


@pytest.mark.parametrize(("nodes", "factor", "level"), [(1, 1, "ALL"), (3, 3, "ALL"), (3, 2, "QUORUM")])
def test_what_can_be_met_is_silent(nodes: int, factor: int, level: str) -> None:
    assert replication.check(system_of(nodes, factor, level)) == []


def test_replication_by_datacenter() -> None:
    access = CqlAccess(
        read_consistency="EACH_QUORUM",
        replication=Replication(strategy="NetworkTopologyStrategy", factor=1, datacenters={"a": 3}),
    )
    dcs = (Datacenter(name="a", nodes=2), Datacenter(name="b", nodes=1))
    system = CassandraSystem(datacenters=dcs, access=access)
    assert replication.replication_map(access, ["a", "b"]) == {
        "class": "NetworkTopologyStrategy", "a": "3", "b": "1",
    }  # fmt: skip
    assert replication.check(system) == [
        "replication factor 3 is above the 2 nodes of a: only 2 replicas exist"
    ]
    wrong = access.model_copy(update={"local_datacenter": "c"})
    with pytest.raises(InputError, match="no datacenter 'c'"):
        replication.check(system.model_copy(update={"access": wrong}))


def test_versions() -> None:
    assert resolve("5.0") == ("5.0.7", FIVE)
    assert resolve("4.1.3")[0] == "4.1.3"
    assert coordinates("3.11.13", THREE)[1] == "org.apache.cassandra:cassandra-thrift:3.11.13"
    with pytest.raises(InputError, match=r"Cassandra 4\.0 cannot be run"):
        resolve("4.0")


def places(partitioner: str, tokens: list[str]) -> list[list[int]]:
    span = SPANS[partitioner]
    return [[span.place(token) for token in line.split(",")] for line in tokens]


@pytest.mark.parametrize("partitioner", ["Murmur3Partitioner", "RandomPartitioner", "ByteOrderedPartitioner"])
@pytest.mark.parametrize(
    ("nodes", "each", "joiners"), [(1, 4, 1), (2, 4, 1), (3, 4, 1), (3, 16, 3), (6, 4, 6)]
)
def test_joiners_take_their_share_of_the_ring(partitioner: str, nodes: int, each: int, joiners: int) -> None:
    there = initial_tokens(partitioner, nodes, each)
    tokens = {f"node{n}": line.split(",") for n, line in enumerate(there, 1)}
    made = joining_tokens(partitioner, tokens, joiners, each)
    assert made == joining_tokens(partitioner, tokens, joiners, each)  # nothing is drawn
    found = places(partitioner, [*there, *made])
    everywhere = [place for line in found for place in line]
    width = SPANS[partitioner].width
    assert [len(line) for line in found] == [each] * (nodes + joiners)
    assert len(set(everywhere)) == len(everywhere)
    assert all(0 <= place < width for place in everywhere)
    shares = owned({str(n): line for n, line in enumerate(found)}, width)
    assert sum(shares.values()) == width
    ideal = width / (nodes + joiners)
    assert all(abs(shares[str(n)] - ideal) <= ideal * 1e-3 for n in range(nodes, nodes + joiners))
    assert max(shares.values()) <= 1.35 * ideal


def test_a_ring_grows_again_after_a_node_left() -> None:
    there = initial_tokens("Murmur3Partitioner", 3, 4)
    tokens = {f"node{n}": line.split(",") for n, line in enumerate(there, 1)}
    (fourth,) = joining_tokens("Murmur3Partitioner", tokens, 1, 4)
    del tokens["node2"]
    (again,) = joining_tokens("Murmur3Partitioner", tokens | {"node4": fourth.split(",")}, 1, 4)
    assert not set(again.split(",")) & set(fourth.split(","))


def test_tokens_of_unknown_keys_cannot_be_split() -> None:
    with pytest.raises(InputError, match="not of the form of YCSB's keys") as caught:
        joining_tokens("ByteOrderedPartitioner", {"node1": [b"apple".hex()]}, 1, 1)
    assert "spare" in str(caught.value.hint)


def test_spare_nodes_come_after_all_others_and_take_turns(tmp_path: Path) -> None:
    system = CassandraSystem(nodes=2, spare=2)
    specs = config.node_specs(system, "127.10.9", tmp_path, [])
    assert [spec.name for spec in specs] == ["node1", "node2", "node3", "node4"]
    assert [spec.address for spec in specs[2:]] == ["127.10.9.3", "127.10.9.4"]
    two = (Datacenter(name="a", nodes=2, racks=2), Datacenter(name="b", nodes=1))
    specs = config.node_specs(CassandraSystem(datacenters=two, spare=3), "127.10.9", tmp_path, [])
    there = [(spec.datacenter, spec.rack) for spec in specs]
    assert there == [
        ("a", "rack1"), ("b", "rack1"), ("a", "rack2"), ("a", "rack1"), ("b", "rack1"), ("a", "rack2")
    ]  # fmt: skip


def test_spare_nodes_shape_no_data() -> None:
    two, more = (CassandraSystem(nodes=2, spare=spare, profile="quick") for spare in (0, 3))
    shared = config.settings(two, FIVE)
    assert config.settings(more, FIVE) == shared
    assert config.tokens_of(more, shared) == config.tokens_of(two, shared)
    assert "spare" in declared("cassandra").shapeless


def test_tokens_given_for_spare_nodes_are_theirs() -> None:
    system = CassandraSystem(nodes=2, spare=1, settings={"initial_token": ["1", "2", "3"]})
    shared = config.settings(system, FIVE)
    assert config.tokens_of(system, shared) == ["1", "2"]
    assert config.given_tokens(system) == ["1", "2", "3"]
    with pytest.raises(InputError, match="3 values for 2 nodes"):
        config.given_tokens(system.model_copy(update={"spare": 0}))


def test_nodes_that_hold_the_copies_stay(tmp_path: Path) -> None:
    three = config.node_specs(CassandraSystem(nodes=3), "127.10.9", tmp_path, [])
    replication.check_left(CqlAccess(replication=Replication(factor=3)), three)
    with pytest.raises(InputError, match="2 nodes would be left, too few for replication factor 3"):
        replication.check_left(CqlAccess(replication=Replication(factor=3)), three[:2])
    with pytest.raises(InputError, match="0 nodes would be left"):
        replication.check_left(CqlAccess(), [])


def test_a_repair_that_does_not_tell_its_end_is_refused_before_anything_starts() -> None:
    kind = declared("cassandra")
    assert {"add", "remove", "cleanup", "repair"} <= kind.able(CassandraSystem())
    old = CassandraSystem(version="3.11")
    assert kind.able(CassandraSystem()) - kind.able(old) == {"repair"}
    fault = kind.why_not("repair", old)
    assert fault is not None
    assert "3.11 does not tell when a repair ends" in fault[0]
    assert not {"add", "remove"} & kind.able(CassandraSystem(watch=False))
