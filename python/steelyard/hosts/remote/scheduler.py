"""Where workers that others run come from: a scheduler's address and TLS files, or a class of clusters."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError, SteelyardError
from steelyard.hosts.remote.addresses import Address

_FORM = re.compile(r"(?P<scheme>[a-z]+)://(?P<host>\[[0-9a-fA-F:.]+\]|[^:/\s\[\]]+):(?P<port>\d{1,5})/?")
TLS_CONFIG = "distributed.comm.tls.ca-file"
"""Dask's own setting, taken where no flag names the files."""


@dataclass(frozen=True)
class Tls:
    """Files with which the laboratory proves who it is, and sees who the scheduler is.

    Attributes:
        ca: the authority's certificate.
        cert: the laboratory's own.
        key: its private key.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def files(self) -> dict[str, Path | None]:
        """Flag -> file."""
        return {"--scheduler-ca": self.ca, "--scheduler-cert": self.cert, "--scheduler-key": self.key}

    @property
    def said(self) -> bool:
        """Whether any is named."""
        return any(self.files().values())


@dataclass(frozen=True)
class Scheduler:
    """A running scheduler, whose workers' machines are used; `scheduler_of` makes one.

    Attributes:
        address: `tls://HOST:PORT`, on loopback also `tcp://`.
        tls: its files; none = as Dask's own configuration says.
    """

    address: str
    tls: Tls = Tls()

    def __str__(self) -> str:
        return self.address


@dataclass(frozen=True)
class ClusterClass:
    """A class of Dask's clusters, of which one is made, scaled, and closed at the end.

    Attributes:
        path: `MODULE:CLASS`.
        arguments: what it is made with.
    """

    path: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.path.rpartition(":")[2]

    def make(self) -> Any:
        """A cluster.

        Raises:
            InputError: there is no such class, or it is none of a cluster.
            InfrastructureError: it cannot be made with these arguments.
        """
        made = self._found()
        try:
            return made(**self.arguments)
        except SteelyardError:  # Ctrl-C among them
            raise
        except Exception as error:
            raise InfrastructureError(
                f"{self.path} cannot be made with [fleet.arguments]: {str(error) or type(error).__name__}"
            ) from error

    def _found(self) -> Any:
        module, _, name = self.path.partition(":")
        try:
            found = getattr(importlib.import_module(module), name)
        except ImportError as error:
            raise InputError(
                f"fleet.cluster: {module} cannot be imported: {error}",
                hint="install the package that has it beside Steelyard, e.g. pip install dask-kubernetes",
            ) from error
        except AttributeError:
            raise InputError(f"fleet.cluster: {module} has no {name}") from None
        lacking = [part for part in ("scale", "close", "scheduler_address") if not hasattr(found, part)]
        if lacking:
            raise InputError(f"fleet.cluster: {self.path} is no Dask cluster: it has no {lacking[0]}")
        return found


Source = Scheduler | ClusterClass


@dataclass(frozen=True)
class Borrowed:
    """A machine of which a worker of others runs, before it is known which.

    Attributes:
        source: whence it comes.
        place: it is the so-many-th that is asked for.
    """

    source: Source
    place: int

    def __str__(self) -> str:
        return f"worker {self.place + 1} of {self.source}"


Machine = Address | Borrowed
"""A machine as a user asks for it."""


def scheduler_of(text: str, tls: Tls) -> Scheduler:
    """The scheduler that `--scheduler` and its TLS files name.

    Raises:
        InputError: it is none, a file cannot be read, or it would be talked to in the open.
    """
    match = _FORM.fullmatch(text)
    if match is None or match["scheme"] not in ("tls", "tcp") or not 0 < int(match["port"]) < 2**16:
        raise InputError(
            f"--scheduler: {text!r} is no scheduler's address",
            hint="as `dask scheduler` prints it, tls://HOST:PORT",
        )
    if match["scheme"] == "tcp":
        _check_open(text, match["host"].strip("[]"), tls)
    elif tls.said:
        _check_files(tls)
    return Scheduler(text.rstrip("/"), tls)


def _check_open(text: str, host: str, tls: Tls) -> None:
    """Without TLS only loopback is talked to: whoever can reach such a scheduler runs what they like."""
    if not is_loopback(host):
        raise InputError(
            f"--scheduler {text}: without TLS whoever is on the network between can read all of it, "
            "and run what they like as the workers' user",
            hint="start scheduler and workers with --tls-ca-file, --tls-cert and --tls-key, and say tls://; "
            "or go through ssh -L 8786:localhost:8786 HOST, and say tcp://localhost:8786",
        )
    if tls.said:
        raise InputError(f"--scheduler {text}: its TLS files go with tls://")


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check_files(tls: Tls) -> None:
    for flag, path in tls.files().items():
        if path is None:
            raise InputError(f"{flag} is missing: --scheduler-ca, -cert and -key go together")
        try:
            path.expanduser().open("rb").close()
        except OSError as error:
            raise InputError(f"{flag}: {error.strerror}: {path}") from None
