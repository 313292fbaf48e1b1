"""A flag of the command line as data: what it is called, what it sets; and how its word is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steelyard.spec import units


@dataclass(frozen=True)
class Flag:
    """One flag of `bench` or `cluster up`.

    Attributes:
        name: as typed, perhaps with its opposite: `--read-all/--read-one`.
        setting: the study's setting it stands for, or "" when the command itself deals with it.
        kind: the type of its word.
        help: one line.
        panel: the heading in the help under which it stands.
        convert: turns the word into the setting's value; its ValueError names the flag.
    """

    name: str
    setting: str
    kind: Any
    help: str
    panel: str
    convert: Callable[[Any], Any] | None = None

    @property
    def parameter(self) -> str:
        """The name of the function's parameter."""
        return self.long.removeprefix("--").replace("-", "_")

    @property
    def long(self) -> str:
        """The name that an error shows."""
        return self.name.split("/")[0].split()[0]


def constant_length(length: int) -> dict[str, Any]:
    """The length of a field that never varies."""
    return {"kind": "constant", "length": length}


def hosts(text: str) -> list[str]:
    """Addresses with commas between them."""
    hosts = [host.strip() for host in text.split(",")]
    if not all(hosts):
        raise ValueError("expected addresses with commas between them, e.g. 10.0.0.1,10.0.0.2")
    return hosts


def datacenters(text: str) -> list[dict[str, Any]]:
    """`dc1=2,dc2=3:2`: nodes and racks of each datacenter."""
    found = []
    for part in text.split(","):
        name, _, size = part.partition("=")
        nodes, _, racks = size.partition(":")
        if not (name.strip() and nodes.isdigit() and (racks or "1").isdigit()):
            raise ValueError(
                "expected NAME=NODES or NAME=NODES:RACKS with commas between, e.g. dc1=2,dc2=3:2"
            )
        found.append({"name": name.strip(), "nodes": int(nodes), "racks": int(racks or 1)})
    return found


def curve(text: str) -> list[list[float]]:
    """`0s=1000,30s=4000`: points of a curve, each a time of the run and operations per second then."""
    points = []
    for part in text.split(","):
        at, equals, rate = (word.strip() for word in part.partition("="))
        try:
            points.append([0.0 if at == "0" else units.seconds(at), float(rate)])
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(
                "expected TIME=RATE with commas between, e.g. 0s=1000,30s=4000,30s=1000,60s=1000"
            )
    return points


def compat(word: str) -> str | None:
    """`none` is none."""
    return None if word == "none" else word


def byte_count(text: str) -> int:
    """Bytes of a size; 0 = none."""
    return 0 if text.strip() == "0" else units.byte_count(text)


def whole_seconds(text: str) -> int:
    """Seconds of a duration, whole ones."""
    return round(units.seconds(text))
