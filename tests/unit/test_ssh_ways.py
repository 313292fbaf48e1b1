"""What stands in the way to a machine, each told with its name. Needs the extra `fleet`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote.addresses import Address
from steelyard.hosts.remote.hello import Hello
from steelyard.hosts.remote.launch import up_line

OURS = Hello("0.9.0", "0a1b", "3.11.7", "2026.8.0")


def first(*lines: str, limit_s: float = 5.0) -> str:
    async def said() -> AsyncIterator[str]:
        for line in lines:
            yield line
        await asyncio.Event().wait()

    return asyncio.run(up_line(said(), limit_s))


def test_what_a_login_shell_prints_is_no_worker() -> None:
    assert first("Welcome!\n", "\n", "UP tls://10.0.0.1:5\n") == "UP tls://10.0.0.1:5\n"
    assert first("Welcome!\n", limit_s=0.05) == ""


@pytest.mark.parametrize("passphrase", [None, "secret"])
def test_a_key_that_cannot_be_used_names_the_machine(tmp_path: Path, passphrase: str | None) -> None:
    asyncssh = pytest.importorskip("asyncssh")
    from steelyard.hosts.remote.ssh import Access

    path = tmp_path / "key"
    path.write_text("no key\n")
    if passphrase:
        key = asyncssh.generate_private_key("ssh-ed25519")
        path.write_bytes(key.export_private_key("pkcs8-pem", passphrase=passphrase))
    with pytest.raises(InfrastructureError, match=r"^a:22: the private key cannot be used") as caught:
        asyncio.run(Access(path, "python").hello(Address("a", port=22), OURS))
    assert "passphrase" in str(caught.value.hint)


def test_a_connection_that_breaks_off_names_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    asyncssh = pytest.importorskip("asyncssh")
    from steelyard.hosts.remote.ssh import Access

    class Broken:
        async def __aenter__(self) -> Broken:
            return self

        async def __aexit__(self, *_: object) -> None:
            """It is gone already."""

        def get_extra_info(self, _name: str) -> tuple[str, int]:
            return ("10.0.0.9", 4)

        async def run(self, *_: object, **_words: object) -> None:
            raise asyncssh.ChannelOpenError(1, "no sessions")

    async def connected(*_: object, **_words: object) -> Broken:
        return Broken()

    monkeypatch.setattr(asyncssh, "connect", connected)
    with pytest.raises(InfrastructureError, match="a cannot be reached by ssh: no sessions"):
        asyncio.run(Access(None, "python").hello(Address("a"), OURS))


def test_an_alias_of_ssh_is_no_name_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from steelyard.hosts.remote.workers import own_address

    def unknown(*_: object, **_words: object) -> None:
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    machines = [Address("bench1"), Address("bench2")]
    assert own_address(machines, dict.fromkeys(machines, "10.0.0.9")) == "10.0.0.9"
    with pytest.raises(InfrastructureError, match="bench1 cannot be found"):
        own_address(machines, {})
    with pytest.raises(InfrastructureError, match="one address must do for all"):
        own_address(machines, {machines[0]: "10.0.0.9", machines[1]: "10.1.0.9"})


def test_workers_that_do_not_answer_are_no_traceback() -> None:
    pytest.importorskip("distributed")
    from steelyard.hosts.remote.workers import _reached

    with pytest.raises(InfrastructureError, match="do not answer: TimeoutError") as caught, _reached():
        raise TimeoutError
    assert "ports" in str(caught.value.hint)
