"""Machines as a user names them: `user@host:port` with commas between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from steelyard.errors import InputError

SSH_PORT = 22
M = TypeVar("M")
_FORM = re.compile(
    r"(?:(?P<user>[^@\s:]+)@)?(?P<host>\[[0-9a-fA-F:.%a-z]+\]|[^@:\s\[\]]+)(?::(?P<port>\d{1,5}))?"
)


@dataclass(frozen=True)
class Address:
    """Where a machine's sshd answers.

    Attributes:
        host: its name or address.
        user: who logs in there; None = as ssh's own configuration says.
        port: the port; None likewise.
    """

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = f"{self.user}@" if self.user else ""
        return f"{user}{host}" + (f":{self.port}" if self.port else "")


def addresses(text: str, flag: str = "--ssh") -> tuple[Address, ...]:
    """The machines of `a,root@b,c:2222`, which `flag` names; an address of IPv6 stands in brackets.

    Raises:
        InputError: one is none, or stands there twice.
    """
    found = tuple(_address(word.strip(), flag) for word in text.split(","))
    check_distinct(found, flag)
    return found


def check_distinct(machines: Sequence[Address], flag: str) -> None:
    """See that no machine stands there twice; raises InputError."""
    hosts = [machine.host for machine in machines]
    if twice := [host for place, host in enumerate(hosts) if host in hosts[:place]]:
        raise InputError(f"{flag}: {twice[0]} stands there twice; each machine is one host")


def _address(word: str, flag: str) -> Address:
    match = _FORM.fullmatch(word)
    if match is None or not 0 < int(match["port"] or SSH_PORT) < 2**16:
        raise InputError(
            f"{flag}: {word!r} is no machine",
            hint="expected [USER@]HOST[:PORT] with commas between, e.g. a,root@b",
        )
    port = int(match["port"]) if match["port"] else None
    return Address(match["host"].strip("[]"), match["user"], port)


def chosen(machines: Sequence[M], count: int | None, flag: str = "--load-hosts") -> tuple[M, ...]:
    """The first `count` machines, which `flag` asks for; all of them if no count is given.

    Raises:
        InputError: there are fewer.
    """
    if count is not None and not 1 <= count <= len(machines):
        raise InputError(f"{flag} {count}: --ssh names {len(machines)} machine{'s' * (len(machines) > 1)}")
    return tuple(machines[:count])
