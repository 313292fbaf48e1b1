"""Little's law as a check of a closed loop: clients = throughput x mean response."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 0.05
"""A closed loop keeps every client busy but for start, end and its own work; past 5 % something else took the
time."""


@dataclass(frozen=True)
class Little:
    """The check's outcome.

    Attributes:
        clients: operations meant to be in flight.
        found: throughput x mean response.
        deviation: |clients - found| / clients.
    """

    clients: float
    found: float
    deviation: float

    @property
    def holds(self) -> bool:
        """Whether the deviation is within the tolerance."""
        return self.deviation <= TOLERANCE


def little(clients: float, throughput_per_s: float, mean_response_s: float) -> Little:
    """Compare the clients of a closed loop with throughput x mean response."""
    found = throughput_per_s * mean_response_s
    return Little(clients=clients, found=found, deviation=abs(clients - found) / clients)
