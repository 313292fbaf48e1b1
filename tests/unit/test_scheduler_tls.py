"""The laboratory's scheduler takes connections with the certificate of this command only."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from distributed import Client, Security

from steelyard.hosts.remote.ssh import Access
from steelyard.hosts.remote.workers import _cluster

LIMIT_S = 10


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A scheduler as the laboratory has it, without workers."""
    made = _cluster([], Access(None, "python3"), "127.0.0.1", [])
    yield made
    made.close()


def told(cluster: Any, context: ssl.SSLContext | None, hello: bytes = b"") -> bytes:
    """What the scheduler says first to whoever connects so; nothing where it hangs up."""
    where = urlsplit(cluster.scheduler_address)
    assert where.scheme == "tls"
    with socket.create_connection((where.hostname, where.port), LIMIT_S) as plain:
        with suppress(ssl.SSLError, ConnectionError):  # a refusal; no answer at all is a TimeoutError
            found = context.wrap_socket(plain) if context else plain
            found.sendall(hello)
            return found.recv(4096)
        return b""


def knowing(security: Any, folder: Path) -> ssl.SSLContext:
    """A client's TLS with that certificate, which takes any server's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if security is not None:
        pair = folder / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_text(security.tls_client_key + security.tls_client_cert)
        context.load_cert_chain(pair)
    return context


def test_the_scheduler_s_own_certificate_is_taken(cluster: Any, tmp_path: Path) -> None:
    assert told(cluster, knowing(cluster.security, tmp_path)), (
        "so that what is refused below is refused for its own"
    )
    with Client(cluster.scheduler_address, security=cluster.security, timeout=LIMIT_S) as client:
        assert client.scheduler_info()["workers"] == {}


def test_a_plain_connection_is_refused(cluster: Any) -> None:
    assert told(cluster, None, b"\0" * 64) == b""


def test_nobody_is_taken_without_a_certificate(cluster: Any, tmp_path: Path) -> None:
    assert told(cluster, knowing(None, tmp_path)) == b""


def test_a_foreign_certificate_is_refused(cluster: Any, tmp_path: Path) -> None:
    assert told(cluster, knowing(Security.temporary(), tmp_path)) == b""


def test_there_is_no_dashboard(cluster: Any) -> None:
    """Dask's HTTP server is on loopback alone, and has no page."""
    scheduler = cluster.scheduler
    assert [urlsplit(listener.contact_address).hostname for listener in scheduler.listeners] == ["127.0.0.1"]
    sockets = list(scheduler.http_server._sockets.values())
    assert {one.getsockname()[0] for one in sockets} <= {"127.0.0.1"}
    for path in ("/", "/status", "/info/main/workers.html", "/json/counts.json", "/metrics"):
        asked = HTTPConnection("127.0.0.1", sockets[0].getsockname()[1], timeout=LIMIT_S)
        asked.request("GET", path)
        assert asked.getresponse().status == HTTPStatus.NOT_FOUND
        asked.close()
