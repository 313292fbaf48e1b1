"""When the ring is complete: every node answers, knows every other by its tokens, and reaches all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from steelyard.errors import InputError, SteelyardError
from steelyard.hosts.say import Say
from steelyard.systems.cassandra.cql_probe import ALL, answers, ask, texts
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.server import Server
from steelyard.systems.waiting import died, wait_until

PEERS = "SELECT peer, tokens, schema_version FROM system.peers"
LOCAL = "SELECT bootstrapped, schema_version FROM system.local"
OWN_TOKENS = "SELECT tokens FROM system.local"
SMALL_TABLES = {
    1: "SELECT host_id FROM system.local",
    2: "SELECT session_id FROM system_traces.sessions LIMIT 1",
    3: "SELECT parent_id FROM system_distributed.parent_repair_history LIMIT 1",
}
"""Replication factor -> a read over the whole ring of a small table that every release makes with it. At ALL
it needs every replica of every range alive, as this node sees it."""


def members_seen(place: CqlPlace) -> frozenset[str]:
    """The addresses of full members with its own schema that this node knows, its own included.

    Raises:
        OSError: it does not answer.
    """
    local = ask(place, LOCAL)[0]
    if local[0] != b"COMPLETED":
        return frozenset()
    peers = ask(place, PEERS)
    return frozenset(
        [place.address, *(_address(peer) for peer, tokens, schema in peers if tokens and schema == local[1])]
    )


def _address(cell: bytes | None) -> str:
    return str(ip_address(cell or b""))


def normal_members(place: CqlPlace) -> int:
    """How many full members with its own schema this node knows, itself included; raises OSError."""
    return len(members_seen(place))


def tokens(place: CqlPlace) -> dict[str, list[str]]:
    """Each member's address and tokens, as this node knows them. Raises OSError: it does not answer."""
    found = {_address(peer): texts(cell) for peer, cell, _ in ask(place, PEERS) if cell}
    return {place.address: texts(ask(place, OWN_TOKENS)[0][0] or b""), **found}


def complete(place: CqlPlace, size: int) -> bool:
    """Whether this node sees `size` members and reaches all their data."""
    try:
        if normal_members(place) != size:
            return False
        ask(place, SMALL_TABLES[min(size, 3)], ALL)
    except OSError:
        return False
    return True


def wait_answers(node: LocalNode, limit_s: float, say: Say) -> None:
    """Wait until a node answers CQL. Raises InfrastructureError if it dies, or after `limit_s` seconds."""
    start = time.monotonic()
    _wait([node], lambda: answers(node.place), limit_s, f"{node.spec.name} does not answer CQL")
    seconds = time.monotonic() - start
    say(f"{node.spec.name} answers on {node.spec.address}:{node.place.port} ({seconds:.1f} s)")


def wait_complete(nodes: Sequence[LocalNode], limit_s: float, say: Say) -> None:
    """Wait until each of these nodes sees them all; errors as `wait_answers`."""
    start = time.monotonic()
    waiting = list(nodes)

    def ready() -> bool:
        waiting[:] = [node for node in waiting if not complete(node.place, len(nodes))]
        return not waiting

    _wait(nodes, ready, limit_s, "not every node sees all others")
    say(f"{len(nodes)} nodes see each other ({time.monotonic() - start:.1f} s)")


def _died(server: Server) -> SteelyardError:
    why = server.why_dead()
    # The server's own word for a setting it does not know: the user's slip, not the host's.
    if "Invalid yaml" in why:
        return InputError(f"{server.name} refused its settings: {why}")
    return died(server)


def _wait(nodes: Sequence[LocalNode], ready: Callable[[], bool], limit_s: float, what: str) -> None:
    wait_until(ready, [node.server for node in nodes], limit_s, what, _died)
