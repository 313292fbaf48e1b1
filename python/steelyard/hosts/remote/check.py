"""What is looked at before machines are used: each by itself, and how fast bytes travel between them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations

from steelyard.engine.clock import Offset
from steelyard.errors import InfrastructureError
from steelyard.hosts.host import HostLostError
from steelyard.hosts.remote.hello import Hello
from steelyard.hosts.remote.host import REFUSED_NS, WARNED_NS, RemoteHost
from steelyard.spec.units import bytes_text


@dataclass(frozen=True)
class Seen:
    """A machine.

    Attributes:
        name: what it is called.
        hello: its installation.
        java: the version's line; empty when there is none.
        cores, memory_bytes: as its kernel says.
        offset: of its clock.
        leftovers: what nobody has ended there yet.
    """

    name: str
    hello: Hello
    java: str
    cores: int
    memory_bytes: int
    offset: Offset
    leftovers: tuple[str, ...]

    def words(self) -> list[str]:
        """For a table: host, version, engine, Java, cores, memory, clock, bound, leftovers."""
        return [
            self.name, self.hello.version, self.hello.source_hash, self.java or "-", str(self.cores),
            bytes_text(self.memory_bytes), f"{self.offset.offset_ns / 1e9:,.6f} s",
            f"{self.offset.bound_ns / 1e3:,.0f} us", ", ".join(self.leftovers) or "-",
        ]  # fmt: skip

    def warnings(self) -> list[str]:
        """What hinders a measurement there."""
        bound = self.offset.bound_ns
        if bound <= WARNED_NS:
            return []
        use = "no run uses it so" if bound > REFUSED_NS else "start times are that uncertain"
        return [f"the clock of {self.name} is known to {bound / 1e6:.1f} ms only: {use}"]


def look(host: RemoteHost) -> Seen:
    """Look at a machine; raises HostLostError, InfrastructureError."""
    facts = host.as_host().facts([])
    return Seen(
        name=host.name,
        hello=host.ask("hello"),
        java=str(facts.get("java", "")),
        cores=int(facts["cores"]),
        memory_bytes=int(facts["memory_bytes"]),
        offset=host.measure_offset(),
        leftovers=tuple(host.ask("leftovers")),
    )


def bandwidths(hosts: Sequence[RemoteHost], seconds: float) -> list[tuple[str, str, str]]:
    """(from, to, how fast bytes travel or why they do not) of every pair in turn, over one connection each.

    Raises:
        HostLostError: one is lost.
    """
    return [(one.name, other.name, _told(one, other, seconds)) for one, other in permutations(hosts, 2)]


def _told(source: RemoteHost, target: RemoteHost, seconds: float) -> str:
    try:
        return f"{bytes_text(_bandwidth(source, target, seconds))}/s"
    except HostLostError:
        raise
    except InfrastructureError as error:
        return f"not reachable: {error.message}"


def _bandwidth(source: RemoteHost, target: RemoteHost, seconds: float) -> float:
    number, port, token = source.ask("offer_bytes", source.address)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(source.ask, "send_bytes", number, seconds)
        rate: float = target.ask("receive_bytes", source.address, port, token)
        sent.result()
    return rate
