"""Who belongs to a given Cassandra: each node is asked itself, and that nobody tells stops nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cql_server import Refusal, Script, serving

from steelyard.spec.system import HostsSystem
from steelyard.systems.cassandra.given import HostsTestbed
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.roll import Roll

PEER = (b"2" * 16, bytes([127, 0, 0, 2]))
TABLES = {"system.peers": [PEER], "system.local": [(b"4.1.10", b"COMPLETED")]}


def given(place: CqlPlace, **words: object) -> tuple[HostsTestbed, list[str]]:
    """The testbed of a cluster that one address leads to, up, and what was said."""
    testbed, said = HostsTestbed(HostsSystem.model_validate({"hosts": (str(place),), **words})), list[str]()
    testbed.up(said.append)
    return testbed, said


def test_each_node_is_asked_itself() -> None:
    with serving(Script(TABLES)) as place:
        testbed, _ = given(place)
    assert [target.name for target in testbed.targets()] == ["127.0.0.1", "127.0.0.2"]
    assert {inquiry.place.port for target in testbed.targets() for inquiry in target.inquiries} == {
        place.port
    }  # type: ignore[attr-defined]
    assert testbed.targets() == testbed.targets()
    facts = testbed.facts()
    assert (facts["version"], facts["warnings"]) == ("4.1.10", [])
    assert [node["address"] for node in facts["nodes"]] == ["127.0.0.1", "127.0.0.2"]


def test_it_can_be_left_in_peace() -> None:
    with serving(Script(TABLES)) as place:
        testbed, _ = given(place, watch=False)
    assert (testbed.targets(), len(testbed.facts()["nodes"])) == ([], 2)


def test_a_cluster_that_tells_of_nobody_is_measured_all_the_same() -> None:
    refused = {**TABLES, "system.peers": Refusal(0x2100, "no SELECT permission on system.peers")}
    with serving(Script(refused)) as place:
        testbed, said = given(place)
    assert [target.name for target in testbed.targets()] == ["127.0.0.1"]
    assert said[-1].endswith("are known and watched: no SELECT permission on system.peers")
    assert testbed.facts()["warnings"] == said[-1:]


def member(n: int) -> tuple[bytes, bytes]:
    """A row of peers: id and address of 127.0.0.n."""
    return bytes([n]) * 16, bytes([127, 0, 0, n])


def told(testbed: HostsTestbed) -> list[tuple[str, str]]:
    """Who is there, and the last that each has behind it."""
    return [(one.name, one.passed[-1]) for one in testbed.roll()]


def test_nodes_that_come_are_told_and_watched() -> None:
    script = Script(dict(TABLES))
    with serving(script) as place:
        testbed, _ = given(place)
        there = [("127.0.0.1", "joined"), ("127.0.0.2", "joined")]
        assert told(testbed) == there
        script.tables = {**TABLES, "system.peers": [PEER, member(3)]}
        assert told(testbed) == [*there, ("127.0.0.3", "normal")]
        with serving(script, at=("127.0.0.3", place.port)):
            assert told(testbed) == [*there, ("127.0.0.3", "joined")]
        assert told(testbed)[2][1] == "joined", "once it has been seen"
        script.tables = dict(TABLES)
        assert told(testbed) == there
        script.tables = {**TABLES, "system.peers": [PEER, member(3)]}
        assert told(testbed)[2][1] == "normal", "it has come anew"
        assert [target.name for target in testbed.targets()] == [name for name, _ in told(testbed)]
        testbed.end_roll()
        assert len(testbed.facts()["nodes"]) == 3


def test_who_has_left_is_no_part_of_the_next_trial() -> None:
    script = Script({**TABLES, "system.peers": [PEER, member(3)]})
    with serving(script) as place:
        testbed, _ = given(place)
        script.tables = dict(TABLES)
        testbed.roll()
        assert len(testbed.targets()) == 3
        testbed.end_roll()
        assert [node["name"] for node in testbed.facts()["nodes"]] == ["127.0.0.1", "127.0.0.2"]
        assert len(testbed.targets()) == 2


def test_when_one_does_not_tell_another_is_asked_the_next_time() -> None:
    with serving(Script(TABLES)) as place:
        roll = Roll([replace(place, address="127.0.0.9"), place])
        with pytest.raises(OSError, match="refused"):
            roll.call()
        assert [one.place.address for one in roll.call()] == ["127.0.0.1", "127.0.0.2"]
        roll.close()


def test_a_node_that_is_known_by_a_name_is_no_other_when_a_peer_tells_of_it() -> None:
    """One is reached as localhost; then 127.0.0.3 is asked, which calls it 127.0.0.1."""
    first = Script({"system.local": [(member(1)[0], b"COMPLETED")], "system.peers": [member(3)]})
    second = Script({"system.local": [(member(3)[0], b"COMPLETED")], "system.peers": [member(1)]})
    with serving(second, at=("127.0.0.3", 0)) as other:
        with serving(first, at=("127.0.0.1", other.port)):
            roll = Roll([replace(other, address="localhost"), other])
            assert [one.place.address for one in roll.call()] == ["localhost", "127.0.0.3"]
            roll.close()
        with pytest.raises(OSError, match="refused"):
            roll.call()
        assert [one.place.address for one in roll.call()] == ["127.0.0.3", "localhost"]
        roll.close()


def test_one_that_has_left_is_asked_no_more() -> None:
    gone = Script({**TABLES, "system.local": [(member(1)[0], b"DECOMMISSIONED")]})
    there = Script({"system.local": [(member(3)[0], b"COMPLETED")], "system.peers": [PEER]})
    with serving(gone) as place, serving(there, at=("127.0.0.3", place.port)) as other:
        roll = Roll([place, other])
        with pytest.raises(OSError, match="has left the ring"):
            roll.call()
        assert [one.place.address for one in roll.call()] == ["127.0.0.3", "127.0.0.2"]
        roll.close()
