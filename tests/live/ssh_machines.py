"""Machines for tests: namespaces of this one, each with an address, sshd, processes and clock of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "steelyard.data" / "scripts" / "steelyard"
SSHD = "/usr/sbin/sshd"
NET = "10.77.0"
AHEAD_S = 1000
"""The clock of machine i is i times that ahead."""
LIMIT_S = 180
CONFIG = """Port 22
ListenAddress {address}
HostKey {folder}/hostkey
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PidFile none
SetEnv {environment}
"""


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def entered(space: str) -> list[str]:
    """Words before a command that put it into a network. `ip netns exec` would hide control groups: it mounts
    /sys anew."""
    return ["nsenter", f"--net=/run/netns/{space}"]


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it printed until its end; one that does not end is killed, and what it said is shown."""
    try:
        return process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("\n".join(process.communicate()))


def until_line(
    process: subprocess.Popen[str], ending: str, count: int = 1, after: tuple[str, ...] = ()
) -> None:
    """Wait until so many lines of its progress have ended so, from one with any of `after` on."""
    assert process.stderr is not None
    said, counts = [], not after
    for line in process.stderr:
        said.append(line)
        counts |= any(word in line for word in after)
        count -= counts and line.rstrip().endswith(ending)
        if not count:
            return
    pytest.fail("it has ended:\n" + "".join(said))


RUN = "  run"
"""So ends the line that is shown when the run phase begins."""


class Machines:
    """Machines 1 to `count`, and a laboratory beside them that reaches them.

    Args:
        count: how many.
        folder: receives keys, logs and what each machine keeps.
        engine: the engine they all have.
        cache: a folder with servers' jars that they all have, each with workers of its own; None = each has
            an empty one.
    """

    def __init__(self, count: int, folder: Path, engine: Path, cache: Path | None = None) -> None:
        self.folder, self.engine, self.cache = folder, engine, cache
        self.tag = f"sy{os.getpid() % 100000}"
        self.lab = f"{self.tag}-lab"
        self.key = folder / "id"
        self.addresses = [f"{NET}.{10 + i}" for i in range(1, count + 1)]
        self._inits: list[subprocess.Popen[bytes]] = []
        self._spaces: list[str] = []

    def start(self) -> None:
        (self.folder / ".ssh").mkdir(parents=True)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key))
        self._space(self.lab)
        run("ip", "-n", self.lab, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", self.lab, "addr", "add", f"{NET}.1/24", "dev", "br0")
        run("ip", "-n", self.lab, "link", "set", "br0", "up")
        Path("/run/sshd").mkdir(exist_ok=True)
        known = [self._machine(i, address) for i, address in enumerate(self.addresses, 1)]
        (self.folder / ".ssh" / "known_hosts").write_text("".join(known))
        for address in self.addresses:
            self._until_it_answers(address)

    def _space(self, name: str) -> None:
        run("ip", "netns", "add", name)
        self._spaces.append(name)
        run("ip", "-n", name, "link", "set", "lo", "up")

    def _machine(self, i: int, address: str) -> str:
        folder, space, wire = self.folder / f"m{i}", f"{self.tag}-m{i}", f"v{i}"
        folder.mkdir()
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "hostkey"))
        (folder / "authorized_keys").write_text(self.key.with_suffix(".pub").read_text())
        environment = " ".join(f"{name}={word}" for name, word in self.environment(folder).items())
        config = folder / "sshd_config"
        config.write_text(CONFIG.format(address=address, folder=folder, environment=environment))
        self._space(space)
        run("ip", "-n", self.lab, "link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "-n", self.lab, "link", "set", wire, "master", "br0", "up")
        run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", space, "link", "set", "eth0", "up")
        ahead = ["--time", "--monotonic", str(i * AHEAD_S), "--boottime", str(i * AHEAD_S)]
        apart = [
            "unshare",
            "--uts",
            "--ipc",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount",
            "--mount-proc",
            *ahead,
        ]
        with (folder / "sshd.log").open("wb") as log:
            words = [*entered(space), *apart, *self._own_workers()]
            words += [SSHD, "-D", "-e", "-f", str(config)]
            init = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._inits.append(init)
        return f"{address} {' '.join((folder / 'hostkey.pub').read_text().split()[:2])}\n"

    def environment(self, folder: Path) -> dict[str, str]:
        """What a machine has of us: this checkout, with folders of its own."""
        return {
            "PYTHONPATH": str(ROOT / "python"),
            "STEELYARD_ENGINE": str(self.engine),
            "STEELYARD_STATE": str(folder / "state"),
            "STEELYARD_CACHE": str(self.cache or folder / "cache"),
        }

    def _own_workers(self) -> list[str]:
        """Words before a machine's sshd: of a cache that all have, workers' folders are its own."""
        if self.cache is None:
            return []
        workers = self.cache / "workers"
        workers.mkdir(parents=True, exist_ok=True)
        return ["sh", "-c", f'mount -t tmpfs none {workers} && exec "$@"', "sh"]

    def cut(self, i: int) -> None:
        """Let no packet reach machine i, or leave it."""
        run("ip", "-n", self.lab, "link", "set", f"v{i}", "down")

    def join(self, i: int) -> None:
        """Let packets reach it again."""
        run("ip", "-n", self.lab, "link", "set", f"v{i}", "up")

    def _until_it_answers(self, address: str) -> None:
        code = f"import socket; socket.create_connection(('{address}', 22), 1)"
        probe = [*self.inside(), sys.executable, "-c", code]
        self.until(lambda: not subprocess.run(probe, check=False, capture_output=True).returncode)

    def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is true."""
        end = time.monotonic() + LIMIT_S
        while not true():
            assert time.monotonic() < end
            time.sleep(0.05)

    def inside(self) -> list[str]:
        """Words before a command that put it into the laboratory's network."""
        return entered(self.lab)

    @property
    def ssh(self) -> str:
        """The machines, for `--ssh`."""
        return ",".join(f"root@{address}" for address in self.addresses)

    def steelyard(self, *words: str) -> subprocess.Popen[str]:
        """The command, in the laboratory."""
        environment = {**os.environ, **self.environment(self.folder / "lab"), "HOME": str(self.folder)}
        return subprocess.Popen(
            [*self.inside(), sys.executable, str(SCRIPT), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def processes(self, i: int) -> Sequence[str]:
        """Command lines on machine i, sshd's own left out."""
        pids = subprocess.run(
            ["ip", "netns", "pids", f"{self.tag}-m{i}"], check=True, capture_output=True, text=True
        ).stdout.split()
        found = []
        for pid in pids:
            with suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                if line and "sshd" not in line:
                    found.append(f"{pid} {line}")
        return found

    def worker(self, i: int) -> int:
        """The process of the laboratory's worker on machine i."""
        [pid] = [line.split()[0] for line in self.processes(i) if "steelyard.hosts.remote.worker" in line]
        return int(pid)

    def stop(self) -> None:
        for init in self._inits:
            with suppress(ProcessLookupError):
                init.send_signal(signal.SIGKILL)
            init.wait()
        for space in reversed(self._spaces):
            subprocess.run(["ip", "netns", "del", space], check=False)


@contextmanager
def machines(count: int, folder: Path, engine: Path, cache: Path | None = None) -> Iterator[Machines]:
    """Machines, for as long as the `with` lasts; arguments as of `Machines`."""
    made = Machines(count, folder, engine, cache)
    try:
        made.start()
        yield made
    finally:
        made.stop()
