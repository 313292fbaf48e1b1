"""What another machine has of us, printed there as JSON: `python -m steelyard.hosts.remote.hello`."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Any

from steelyard.engine.path import find_engine
from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.hosts.remote.addresses import Address
from steelyard.version import version


@dataclass(frozen=True)
class Hello:
    """A machine's installation.

    Attributes:
        version: of Steelyard.
        source_hash: of its engine; empty when it has none.
        python: the interpreter's version.
        distributed: Dask's version; empty when it is not installed.
        engine_fault: why there is no engine.
    """

    version: str
    source_hash: str
    python: str
    distributed: str
    engine_fault: str = ""


def own_hello() -> Hello:
    """This machine's."""
    try:
        distributed = installed("distributed")
    except PackageNotFoundError:
        distributed = ""
    try:
        source_hash, fault = find_engine().source_hash, ""
    except SteelyardError as error:
        source_hash, fault = "", error.message
    return Hello(version(), source_hash, platform.python_version(), distributed, fault)


def read_hello(text: str) -> Hello | None:
    """The last line of what a machine printed, if it is such a one."""
    try:
        found: dict[str, Any] = json.loads((text.strip().splitlines() or [""])[-1])
        return Hello(**found)
    except (ValueError, TypeError):
        return None


def unlike(ours: Hello, theirs: Hello) -> str:
    """In what a machine's installation is not ours; empty when it is. Python's patch release may differ."""
    if theirs.version != ours.version:
        return f"has Steelyard {theirs.version}, this is {ours.version}"
    if theirs.source_hash != ours.source_hash:
        has = (
            f"the engine {theirs.source_hash}" if theirs.source_hash else f"no engine ({theirs.engine_fault})"
        )
        return f"has {has}, this is {ours.source_hash}"
    if theirs.distributed != ours.distributed:
        return f"has distributed {theirs.distributed or 'not'}, this is {ours.distributed}"
    if theirs.python.split(".")[:2] != ours.python.split(".")[:2]:
        return f"has Python {theirs.python}, this is {ours.python}"
    return ""


def check_alike(address: Address, python: str, ours: Hello, theirs: Hello) -> None:
    """Refuse a machine whose installation is not ours; raises InfrastructureError with what installs it."""
    if difference := unlike(ours, theirs):
        raise InfrastructureError(f"{address} {difference}", hint=install_words(address, python, ours))


def install_words(address: Address, python: str, ours: Hello) -> str:
    """What installs our version there; nothing is installed unasked."""
    port = f"-p {address.port} " if address.port else ""
    user = f"{address.user}@" if address.user else ""
    needed = f"steelyard[fleet]=={ours.version}"
    dask = f" distributed=={ours.distributed}" if ours.distributed else ""
    install = f"{python} -m pip install '{needed}'{dask}"
    return f'ssh {port}{user}{address.host} "{install}" (a checkout: `make build` there)'


if __name__ == "__main__":
    print(json.dumps(own_hello().__dict__))
