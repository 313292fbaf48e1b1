"""Commands on other machines over ssh: what they have of us, and their workers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote.addresses import Address
from steelyard.hosts.remote.hello import Hello, check_alike, install_words, read_hello
from steelyard.hosts.remote.launch import HELLO, command

CONNECT_LIMIT_S = 10
HELLO_LIMIT_S = 60.0
KEEP_ALIVE: dict[str, Any] = {"keepalive_interval": 5, "keepalive_count_max": 4}
"""A way that is down for 5 s is waited for; for 20 s it is gone."""


@contextmanager
def told(address: Address) -> Iterator[None]:
    """What goes wrong on the way to a machine, as an InfrastructureError that names it."""
    try:
        yield
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise InfrastructureError(
            f"{address}: the private key cannot be used: {error}",
            hint="a private key without a passphrase is needed; with one, leave --key out "
            "and add it to the agent (ssh-add)",
        ) from error
    except (OSError, asyncssh.Error, ValueError) as error:
        hint = f"`ssh {address.host}` must work without a question: a known host, a key it takes"
        raise InfrastructureError(
            f"{address} cannot be reached by ssh: {str(error) or 'no answer'}", hint=hint
        ) from error


@dataclass(frozen=True)
class Access:
    """How machines are entered, and what runs there.

    Attributes:
        key: the private key's file; None = as ssh's own configuration and agent have it.
        python: Python there, with our installation.
    """

    key: Path | None
    python: str

    async def connect(self, address: Address) -> Any:
        """A connection; raises InfrastructureError with what hinders, the machine named."""
        options: dict[str, Any] = {"connect_timeout": CONNECT_LIMIT_S, **KEEP_ALIVE}
        options |= {"username": address.user} if address.user else {}
        options |= {"client_keys": [str(self.key)]} if self.key else {}
        options |= {"port": address.port} if address.port else {}
        with told(address):
            return await asyncssh.connect(address.host, **options)

    async def hello(self, address: Address, ours: Hello) -> tuple[Hello, str]:
        """What the machine has of us, and our address on the way there, empty where it is not known.

        Raises:
            InfrastructureError: that cannot be told.
        """
        with told(address):
            async with await self.connect(address) as connection:
                here = (connection.get_extra_info("sockname") or ("",))[0]
                done = await connection.run(command(self.python, HELLO), timeout=HELLO_LIMIT_S)
        found = read_hello(done.stdout)
        if found is None:
            said = ((done.stderr or "").strip().splitlines() or ["nothing was said"])[-1]
            raise InfrastructureError(
                f"{address} has no Steelyard at {self.python}: {said}",
                hint=install_words(address, self.python, ours),
            )
        return found, here


def check_all(machines: tuple[Address, ...], access: Access, ours: Hello) -> dict[Address, str]:
    """See that every machine has our own version and engine; returns our address on the way to each.

    Raises:
        InfrastructureError: one has not, or cannot be reached; with the command that installs it.
    """

    async def ask() -> list[tuple[Hello, str]]:
        return await asyncio.gather(*(access.hello(address, ours) for address in machines))

    found = dict(zip(machines, asyncio.run(ask()), strict=True))
    for address, (theirs, _) in found.items():
        check_alike(address, access.python, ours, theirs)
    return {address: here for address, (_, here) in found.items()}
