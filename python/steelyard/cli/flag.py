"""A flag of `bench` and `cluster up`: what it is called, what it sets; and how its word is read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes:
        name: as typed, perhaps with its opposite: `--read-all/--read-one`.
        setting: the study's setting it stands for, or "" when the command itself deals with it.
        kind: the type of its word.
        help: one line.
        panel: the heading in the help under which it stands.
        convert: turns the word into the setting's value; its ValueError names the flag.
        elsewhere: kind of system -> the setting it stands for there, where that is another.
    """

    name: str
    setting: str
    kind: Any
    help: str
    panel: str
    convert: Callable[[Any], Any] | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameter(self) -> str:
        """The name of the function's parameter."""
        return self.name.split("/")[0].split()[0].removeprefix("--").replace("-", "_")

    @property
    def long(self) -> str:
        """The name that an error shows."""
        return self.name.split("/")[0].split()[0]

    def setting_of(self, kind: str) -> str:
        """The setting it stands for in a system of that kind."""
        return self.elsewhere.get(kind, self.setting)


def seconds(text: str) -> float:
    """Seconds of a duration."""
    from steelyard.spec import units

    return units.seconds(text)


def milliseconds(text: str) -> int:
    """Milliseconds of a duration."""
    from steelyard.spec import units

    return units.milliseconds(text)


def mebibytes(text: str) -> int:
    """MiB of a size."""
    from steelyard.spec import units

    return units.mebibytes(text)


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


def compat(word: str) -> str | None:
    """`none` is none."""
    return None if word == "none" else word


def byte_count(text: str) -> int:
    """Bytes of a size; 0 = none."""
    from steelyard.spec import units

    return 0 if text.strip() == "0" else units.byte_count(text)


def whole_seconds(text: str) -> int:
    """Seconds of a duration, whole ones."""
    return round(seconds(text))


def with_flags(
    flags: Sequence[Flag],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a parameter for each flag; its function receives them as `words`, absent ones None."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        kept = [p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD]
        command.__signature__ = inspect.Signature(kept + [_parameter(f) for f in flags])  # type: ignore[attr-defined]
        return command

    return decorate


def _parameter(flag: Flag) -> inspect.Parameter:
    option = typer.Option(
        *flag.name.split(" "), help=flag.help, rich_help_panel=flag.panel, show_default=False
    )
    return inspect.Parameter(
        flag.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[flag.kind | None, option],
    )
