"""Who belongs to a given Cassandra: each node is asked itself, and that nobody tells stops nobody."""

from __future__ import annotations

from cql_server import Refusal, Script, serving

from steelyard.spec.system import HostsSystem
from steelyard.systems.cassandra.given import HostsTestbed
from steelyard.systems.cassandra.login import CqlPlace

TABLES = {"system.peers": [(bytes([127, 0, 0, 2]),)], "system.local": [(b"4.1.10",)]}


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
