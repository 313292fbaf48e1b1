"""How a node joins a ring and leaves it, watched from inside: who has reached what, and when it is over."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.systems.capabilities import Note
from steelyard.systems.cassandra import ring
from steelyard.systems.cassandra.inside import Inside
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.server import Server
from steelyard.systems.waiting import wait_until

MOVE_LIMIT_S = 24 * 3600.0
"""How long a ring may take to change is the action's own limit; this one ends a thread that nobody misses."""
FAILED = ("JOINING_FAILED", "DECOMMISSION_FAILED")


class Milestones:
    """Each is noted once for each node, when it is first seen."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._reached: set[tuple[str, str]] = set()

    def reached(self, node: LocalNode, what: str) -> None:
        """A node is there, now or before."""
        if not self.has(node, what):
            self._reached.add((node.name, what))
            self._note(node.name, what)

    def has(self, node: LocalNode, what: str) -> bool:
        """Whether it was seen there."""
        return (node.name, what) in self._reached


def wait_joined(
    joiners: Sequence[LocalNode], others: Sequence[LocalNode], port: int, milestones: Milestones
) -> dict[str, int]:
    """Wait until nodes that were started are full members, and all who live agree on that and on the schema.

    Args:
        joiners: they.
        others: the members.
        port: of the agents.
        milestones: is told `up` (it knows its own state), `announced` (a member knows that it joins),
            `streaming` (the first bytes of data have come), `normal` (it answers as a replica), `joined` (it
            takes clients, too, and agrees with all members who is one).

    Returns:
        Bytes that were streamed to each.

    Raises:
        InfrastructureError: one died, or gave up.
    """
    with ExitStack() as opened:
        inside = {node: opened.enter_context(Inside(node, port)) for node in [*joiners, *others]}

        def ready() -> bool:
            modes = {node: inside[node].mode() for node in joiners}
            for node, mode in modes.items():
                _note_joining(node, mode, inside[node], milestones)
            _note_announced(joiners, [inside[node] for node in others if node.alive], milestones)
            for node in joiners:
                if modes[node] == "NORMAL" and not milestones.has(node, "joined") and _agree([node], others):
                    milestones.reached(node, "joined")
            return all(milestones.has(node, "joined") for node in joiners) and _agree(joiners, others)

        servers = [node.server for node in joiners]
        wait_until(ready, servers, MOVE_LIMIT_S, "not every node has joined", _died)
        return {node.name: inside[node].received() for node in joiners}


def _note_announced(joiners: Sequence[LocalNode], members: Sequence[Inside], milestones: Milestones) -> None:
    """By any member that knows of a node that is joining."""
    if all(milestones.has(node, "announced") for node in joiners):
        return
    announced = frozenset[str]().union(*(member.joining() for member in members))
    for node in joiners:
        if node.spec.address in announced:
            milestones.reached(node, "announced")


def _note_joining(node: LocalNode, mode: str, inside: Inside, milestones: Milestones) -> None:
    if mode in FAILED:
        raise InfrastructureError(f"{node.name} could not join: it says {mode}; {node.server.why_dead()}")
    if mode:
        milestones.reached(node, "up")
        if not milestones.has(node, "streaming") and inside.received():
            milestones.reached(node, "streaming")
    if mode == "NORMAL":
        milestones.reached(node, "normal")


def _agree(joiners: Sequence[LocalNode], others: Sequence[LocalNode]) -> bool:
    """Whether the joiners answer clients, and all who live know each other with one schema."""
    alive = [*joiners, *(node for node in others if node.alive)]
    wanted = {node.spec.address for node in alive}
    with suppress(OSError):
        return all(wanted <= ring.members_seen(node.place) for node in alive)
    return False


def decommission(leaver: LocalNode, others: Sequence[LocalNode], port: int, milestones: Milestones) -> int:
    """Have a node give its data to the others and leave the ring; its server is still up then.

    Args:
        leaver: it.
        others: who stays.
        port: of the agents.
        milestones: is told `leaving` (it says so), `streaming` (the first bytes have gone), `left`.

    Returns:
        Bytes that it streamed.

    Raises:
        InfrastructureError: it refused, failed or died.
    """
    with ExitStack() as opened:
        working, looking = (opened.enter_context(Inside(leaver, port)) for _ in range(2))
        pool = opened.enter_context(ThreadPoolExecutor(1))
        before = looking.sent()
        # Forced, since Cassandra counts the copies of its own keyspaces, too; users' were looked at before.
        ended = pool.submit(working.operate, "decommission", "force", timeout_s=MOVE_LIMIT_S)

        def over() -> bool:
            if looking.mode() == "LEAVING":
                milestones.reached(leaver, "leaving")
            if looking.sent() > before:
                milestones.reached(leaver, "streaming")
            return ended.done()

        wait_until(over, [leaver.server], MOVE_LIMIT_S, f"{leaver.name} has not left", _died_leaving)
        ended.result()
        sent = looking.sent() - before
    _wait_forgotten(leaver, others)
    milestones.reached(leaver, "left")
    return sent


def remove_dead(dead: LocalNode, others: Sequence[LocalNode], port: int, milestones: Milestones) -> int:
    """Have the others share out what a node had that is dead: they stream it among themselves.

    Returns:
        Bytes that were streamed. Raises InfrastructureError: nobody is there to do it, or it failed.
    """
    alive = [node for node in others if node.alive]
    if not alive:
        raise InfrastructureError(f"{dead.name} is dead, and so is every other node")
    with ExitStack() as opened:
        inside = [opened.enter_context(Inside(node, port)) for node in alive]
        before = sum(node.received() for node in inside)
        hosts = inside[0].hosts()
        identity = next((hosts[name] for name in hosts if name.lstrip("/") == dead.spec.address), None)
        if identity is None:
            raise InfrastructureError(f"{alive[0].name} knows no node at {dead.spec.address}")
        _wait_missed(dead, alive, inside)
        milestones.reached(dead, "leaving")
        inside[0].operate("removenode", identity, timeout_s=MOVE_LIMIT_S)
        moved = sum(node.received() for node in inside) - before
    _wait_forgotten(dead, alive)
    milestones.reached(dead, "left")
    return moved


def _wait_missed(dead: LocalNode, others: Sequence[LocalNode], members: Sequence[Inside]) -> None:
    """Members refuse to remove a node while one of them counts it as alive: some 20 s after its death."""

    def missed() -> bool:
        _check_alive(others, dead)
        return all(dead.spec.address in (member.unreachable() or ()) for member in members)

    wait_until(missed, [], MOVE_LIMIT_S, f"{dead.name} is dead, and others do not notice")


def _wait_forgotten(gone: LocalNode, others: Sequence[LocalNode]) -> None:
    def forgotten() -> bool:
        alive = _check_alive(others, gone)
        with suppress(OSError):
            return not any(gone.spec.address in ring.members_seen(node.place) for node in alive)
        return False

    wait_until(forgotten, [], MOVE_LIMIT_S, f"{gone.name} is still known to others")


def _check_alive(others: Sequence[LocalNode], gone: LocalNode) -> Sequence[LocalNode]:
    """Those of the others that are alive; without any nothing would end a wait for them."""
    alive = [node for node in others if node.alive]
    if not alive:
        raise InfrastructureError(f"{gone.name} was to leave, and no other node is alive any more")
    return alive


def _died(server: Server) -> SteelyardError:
    return InfrastructureError(f"{server.name} died while it joined: {server.why_dead()}")


def _died_leaving(server: Server) -> SteelyardError:
    return InfrastructureError(f"{server.name} died while it left: {server.why_dead()}")
