"""Who belongs to a given Cassandra, asked again and again on one connection: logging in costs a node CPU."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from ipaddress import ip_address

from steelyard.systems.cassandra.cql_probe import Probe, Row, answers
from steelyard.systems.cassandra.login import CqlPlace

ANSWER_S = 2.0
"""The longest wait for an answer; who waits asks another node the next time."""
SIGN_S = 0.5
"""The longest wait for a sign that a node takes clients."""
PEERS = "SELECT host_id, rpc_address FROM system.peers"
OWN = "SELECT host_id, bootstrapped FROM system.local"
LEFT = b"DECOMMISSIONED"
"""What a node says of itself that has left and answers for a while yet."""


@dataclass(frozen=True)
class Member:
    """A normal member of the ring.

    Attributes:
        id: its own, which stays when its address becomes another.
        place: where it answers clients, if it does.
        takes_clients: whether it does, or did since it is a member.
    """

    id: str
    place: CqlPlace
    takes_clients: bool


class Roll:
    """Asks one node as long as it answers, then another. Who is there at first counts as taking clients.

    Args:
        places: nodes that are known, the first to be asked first.
    """

    def __init__(self, places: Sequence[CqlPlace]) -> None:
        self._places = list(places)
        self._probe: Probe | None = None
        self._reached: dict[str, CqlPlace] = {}
        self._taking_clients: set[str] | None = None

    def call(self) -> list[Member]:
        """All normal members of the ring. Raises OSError: the node that is asked does not tell."""
        try:
            if self._probe is None:
                self._probe = Probe(self._places[0], ANSWER_S)
                self._probe.start()
            own = _own(self._probe)
            self._reached[own] = self._places[0]  # by a name, or through another address than peers tell
            found = {own: self._places[0], **others(self._probe.query(PEERS), self._places[0])}
        except (OSError, ValueError):
            self.close()
            self._places = [*self._places[1:], self._places[0]]
            raise
        found = {id_: self._reached.get(id_, place) for id_, place in found.items()}
        self._places = [self._places[0], *(place for id_, place in found.items() if id_ != own)]
        self._note_signs(found)
        taking = self._taking_clients or set()
        return [Member(id_, place, id_ in taking) for id_, place in found.items()]

    def close(self) -> None:
        """Ask no more."""
        if self._probe is not None:
            with suppress(OSError):
                self._probe.close()
        self._probe = None

    def _note_signs(self, found: dict[str, CqlPlace]) -> None:
        """Who takes clients; one that has left and comes back has to show it again."""
        if self._taking_clients is None:
            self._taking_clients = {*found}
        self._taking_clients &= {*found}
        others = [id_ for id_ in found if id_ not in self._taking_clients]
        self._taking_clients |= {id_ for id_ in others if answers(found[id_], SIGN_S)}


def _own(probe: Probe) -> str:
    """The id of the node that is asked. Raises OSError: it has left, and what it knows is no longer true."""
    [[id_, state]] = probe.query(OWN)
    if state == LEFT:
        raise OSError("it has left the ring")
    return _id(id_)


def others(rows: Sequence[Row], asked: CqlPlace) -> dict[str, CqlPlace]:
    """Those that a node knows besides itself, at its port."""
    told = [(_id(id_), str(ip_address(cell))) for id_, cell in rows if id_ and cell]
    return {id_: replace(asked, address=address) for id_, address in told}


def _id(cell: bytes | None) -> str:
    return (cell or b"").hex()
