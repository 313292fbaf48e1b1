"""How one gets into a CQL cluster: TLS, and a user with a password; and why a node let nobody in."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.hosts.place import Place

DEFAULT_USER = DEFAULT_PASSWORD = "cassandra"  # noqa: S105 - everybody knows it
"""Of every new cluster that asks for passwords."""


@dataclass(frozen=True)
class Login:
    """What a client shows a node, and what it asks of it. Files are PEM.

    Attributes:
        user: its name; None = none is given.
        password_file: a file whose first line is the password; None with a user = upstream's default one.
        tls_ca: the authorities that a node's certificate must come from; None = no TLS.
        tls_cert: the client's own certificate.
        tls_key: the key of that.
    """

    user: str | None = None
    password_file: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Login:
        """The one that settings, or a plan's words, describe."""
        files = {field.name: settings.get(field.name) for field in fields(cls) if field.name != "user"}
        return cls(
            settings.get("user"), **{name: Path(file) if file else None for name, file in files.items()}
        )

    def plan(self) -> dict[str, str]:
        """The words of the engine's plan; files stand for what is in them."""
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: str(value) for name, value in given if value is not None}

    def password(self) -> str:
        """Raises InputError when the file cannot be read."""
        if self.password_file is None:
            return DEFAULT_PASSWORD
        try:
            return next(iter(self.password_file.read_text().splitlines()), "")
        except (OSError, ValueError) as error:
            raise InputError(f"the password file cannot be read: {error}") from error

    def wrap(self, plain: socket.socket, address: str) -> socket.socket:
        """Speak TLS on a connection, if it is asked for.

        Raises:
            InputError: a file is not what it should be.
            OSError: the node refuses, or is not who it should be.
        """
        if self.tls_ca is None:
            return plain
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
            if self.tls_cert is not None:
                context.load_cert_chain(self.tls_cert, self.tls_key)
        except OSError as error:  # of which SSLError is one
            raise InputError(f"TLS: {self.tls_ca} or the client's certificate: {error}") from error
        try:
            return context.wrap_socket(plain, server_hostname=address)
        except OSError:
            plain.close()
            raise


@dataclass(frozen=True)
class CqlPlace(Place):
    """Where a node answers CQL, and how one gets in there."""

    login: Login = Login()

    def connect(self, timeout_s: float) -> socket.socket:
        """A connection to it, with TLS if that is on; errors as `Place.connect` and `Login.wrap`."""
        return self.login.wrap(super().connect(timeout_s), self.address)


def speaks_tls(place: Place, timeout_s: float) -> bool:
    """Whether a server answers a TLS handshake, whatever its certificate, and whatever it asks of ours."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with Place(place.address, place.port, place.namespace).connect(timeout_s) as plain:
            context.wrap_socket(plain).close()
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
    return True
