"""Getting into a CQL cluster: certificates made for it, passwords, what is said of a node that refuses."""

from __future__ import annotations

import socket
import ssl
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

from steelyard.errors import InputError
from steelyard.hosts.local import LocalHost
from steelyard.spec.system import CassandraSystem, HostsSystem
from steelyard.systems.cassandra import secured
from steelyard.systems.cassandra.certificates import STORE_PASSWORD, Authority
from steelyard.systems.cassandra.config import node_specs
from steelyard.systems.cassandra.given import HostsTestbed
from steelyard.systems.cassandra.testbed import CassandraTestbed

READY = struct.pack(">BBhBI", 0x84, 0, 1, 2, 0)
SUPPORTED = struct.pack(">BBhBIH", 0x84, 0, 1, 6, 2, 0)
NAME = b"org.apache.cassandra.auth.PasswordAuthenticator"
AUTHENTICATE = struct.pack(">BBhBIH", 0x84, 0, 1, 3, 2 + len(NAME), len(NAME)) + NAME
SUCCESS = struct.pack(">BBhBIi", 0x84, 0, 1, 0x10, 4, -1)
NO = b"Provided username u and/or password are incorrect"
BAD_CREDENTIALS = struct.pack(">BBhBIIH", 0x84, 0, 1, 0, 6 + len(NO), 0x0100, len(NO)) + NO
PROTOCOL_ERROR = struct.pack(">BBhBIIH", 0x84, 0, 1, 0, 6, 0x0A, 0)


class Served:
    """A server of one's own: it answers each connection alike, after TLS if there is a context."""

    def __init__(self, context: ssl.SSLContext | None, *answers: bytes) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._context, self._answers = context, answers
        self.port = self._listener.getsockname()[1]
        self.heard: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                try:
                    self._answer(client)
                except OSError:
                    continue

    def _answer(self, client: socket.socket) -> None:
        link = self._context.wrap_socket(client, server_side=True) if self._context else client
        for answer in self._answers:
            self.heard.append(link.recv(65536))
            link.sendall(answer)
        link.recv(65536)

    def close(self) -> None:
        self._listener.close()


Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    made: list[Served] = []

    def start(context: ssl.SSLContext | None, *answers: bytes) -> Served:
        made.append(Served(context, *answers))
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    made = Authority("lab")
    certificate, key = made.client("client")
    (tmp_path / "ca.pem").write_text(made.pem)
    (tmp_path / "client.pem").write_text(certificate)
    (tmp_path / "client-key.pem").write_bytes(key)
    return made


def server_context(authority: Authority, folder: Path, address: str = "127.0.0.1") -> ssl.SSLContext:
    """TLS as a node speaks it that reads the stores made for it."""
    keystore, _ = authority.stores("node1", address)
    store = pkcs12.load_pkcs12(keystore, STORE_PASSWORD.encode())
    assert store.key
    assert store.cert
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "node.pem").write_bytes(store.cert.certificate.public_bytes(Encoding.PEM) + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "node.pem")
    return context


def up(port: int, **login: object) -> None:
    given = HostsSystem.model_validate({"hosts": ("127.0.0.1",), "port": port, **login})
    HostsTestbed(given).up(lambda _: None)


def test_a_user_and_a_password_get_in(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("s3cret\n")
    server = serve(None, AUTHENTICATE, SUCCESS)
    up(server.port, user="u", password_file=tmp_path / "p")
    assert server.heard[1].endswith(b"\0u\0s3cret")


def test_a_wrong_password_and_none_at_all_are_told_apart(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("wrong\n")
    refused = serve(None, AUTHENTICATE, BAD_CREDENTIALS)
    with pytest.raises(InputError, match="username u and/or password are incorrect"):
        up(refused.port, user="u", password_file=tmp_path / "p")
    with pytest.raises(InputError, match="asks for a user and a password") as caught:
        up(serve(None, AUTHENTICATE).port)
    assert "--user and --password-file" in (caught.value.hint or "")
    with pytest.raises(InputError, match="password file cannot be read"):
        up(refused.port, user="u", password_file=tmp_path / "absent")


@pytest.mark.usefixtures("authority")
def test_certificates_of_one_authority_know_each_other(
    serve: Serve, authority: Authority, tmp_path: Path
) -> None:
    server = serve(server_context(authority, tmp_path), READY)
    up(server.port, tls_ca=tmp_path / "ca.pem")
    assert server.heard


def test_a_certificate_that_does_not_hold_is_refused(
    serve: Serve, authority: Authority, tmp_path: Path
) -> None:
    contexts = {
        "unable to get local issuer|self-signed": server_context(Authority("another"), tmp_path),
        "mismatch": server_context(authority, tmp_path, "127.0.0.9"),
    }
    for why, context in contexts.items():
        with pytest.raises(InputError, match=f"certificate does not hold: .*({why})") as caught:
            up(serve(context, READY).port, tls_ca=tmp_path / "ca.pem")
        assert "--tls-ca" in (caught.value.hint or "")


def test_a_plain_client_at_a_tls_port_hears_of_tls(
    serve: Serve, authority: Authority, tmp_path: Path
) -> None:
    server = serve(server_context(authority, tmp_path), READY)
    with pytest.raises(InputError, match="speaks TLS") as caught:
        up(server.port)
    assert "--tls-ca FILE" in (caught.value.hint or "")


@pytest.mark.usefixtures("authority")
def test_a_tls_client_at_a_plain_port_hears_that_there_is_none(tmp_path: Path) -> None:
    class Plain(Served):
        def _answer(self, client: socket.socket) -> None:
            known = client.recv(65536)[0] == 4  # else as Cassandra answers what is no CQL
            client.sendall(SUPPORTED if known else PROTOCOL_ERROR)

    server = Plain(None)
    with pytest.raises(InputError, match="speaks no TLS") as caught:
        up(server.port, tls_ca=tmp_path / "ca.pem")
    assert "leave --tls-ca" in (caught.value.hint or "")
    server.close()


def test_a_client_shows_its_certificate_or_hears_of_it(
    serve: Serve, authority: Authority, tmp_path: Path
) -> None:
    context = server_context(authority, tmp_path)
    context.load_verify_locations(tmp_path / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    server = serve(context, READY)
    own = {"tls_cert": tmp_path / "client.pem", "tls_key": tmp_path / "client-key.pem"}
    up(server.port, tls_ca=tmp_path / "ca.pem", **own)
    with pytest.raises(InputError, match="breaks the TLS handshake off") as caught:
        up(server.port, tls_ca=tmp_path / "ca.pem")
    assert "--tls-cert and --tls-key" in (caught.value.hint or "")


def test_what_a_secure_cluster_writes(tmp_path: Path) -> None:
    """Keys and the password are for their owner only; a password that was restored stays."""
    system = CassandraSystem(secure=True)
    [spec] = node_specs(system, "127.10.251", tmp_path, [])
    secured.Security(system, "lab", tmp_path).write(LocalHost(), spec)
    password = spec.folder / secured.PASSWORD
    secret = {spec.folder / secured.KEYSTORE, tmp_path / "tls" / "client-key.pem", password}
    assert {stat.S_IMODE(path.stat().st_mode) for path in secret} == {0o600}
    first = password.read_text()
    assert len(first) > 30
    again = secured.Security(system, "lab", tmp_path)
    again.write(LocalHost(), spec)
    assert again.login().password() == first.strip()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"settings": {"authenticator": "PasswordAuthenticator"}}, "no user of a new cluster is known"),
        (
            {
                "settings": {
                    "authenticator": {"class_name": "org.apache.cassandra.auth.PasswordAuthenticator"}
                }
            },
            "no user of a new cluster is known",
        ),
        ({"settings": {"client_encryption_options": {"enabled": True}}}, "certificates of these nodes"),
        ({"secure": True, "settings": {"authenticator": "AllowAllAuthenticator"}}, "secure = true sets it"),
    ],
)
def test_what_would_let_nobody_in_is_refused_at_once(
    tmp_path: Path, settings: dict[str, object], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        CassandraTestbed(CassandraSystem.model_validate(settings), name="x", root=tmp_path, host=LocalHost())


def test_an_open_authenticator_is_nothing_to_refuse(tmp_path: Path) -> None:
    system = CassandraSystem(settings={"authenticator": "AllowAllAuthenticator"})
    testbed = CassandraTestbed(system, name="x", root=tmp_path, host=LocalHost())
    assert testbed.bench_words() == ["cassandra --hosts "]


def test_mutual_tls_needs_secure() -> None:
    with pytest.raises(ValueError, match="mutual_tls needs secure"):
        CassandraSystem(mutual_tls=True)
