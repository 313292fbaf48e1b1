"""A flag of the command line as data: what it is called, what it sets; and how its word is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steelyard.spec import units
from steelyard.spec.curves import KINDS


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


def curve(text: str) -> list[list[float]] | dict[str, Any]:
    """`0s=1000,30s=4000`: points of a curve, each a time of the run and operations per second then; or
    `sine:mean=2000,amplitude=1000,period=10m,for=30m`, a form with a name and what it takes."""
    kind, named, words = text.partition(":")
    if named and kind in KINDS:
        return _shape(kind, words)
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


def _shape(kind: str, words: str) -> dict[str, Any]:
    """A form of a load, as a study file says it: numbers are numbers, rates are told apart by `/`."""
    if kind == "trace" and "=" not in words:
        words = f"file={words}"
    found: dict[str, Any] = {"kind": kind}
    for part in words.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise ValueError(f"expected {kind}:NAME=VALUE with commas between, e.g. {EXAMPLES[kind]}")
        found[name] = [_number(one) for one in value.split("/")] if name == "rates" else _number(value)
    return found


EXAMPLES = {
    "steps": "steps:rates=1000/2000/4000,every=60s",
    "ramp": "ramp:from=1000,to=4000,over=5m",
    "sine": "sine:mean=2000,amplitude=1000,period=10m,for=30m",
    "flash-crowd": "flash-crowd:base=1000,peak=5000,at=2m",
    "trace": "trace:load.csv",
}


def _number(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def compat(word: str) -> str | None:
    """`none` is none."""
    return None if word == "none" else word


def byte_count(text: str) -> int:
    """Bytes of a size; 0 = none."""
    return 0 if text.strip() == "0" else units.byte_count(text)


def whole_seconds(text: str) -> int:
    """Seconds of a duration, whole ones."""
    return round(units.seconds(text))
