"""An engine on another machine: commands go to its worker's actor, and its events are asked for."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.session import EXIT_LIMIT_S, STDERR, EngineSession, Queue
from steelyard.errors import SteelyardError
from steelyard.hosts.host import HostLostError
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.remote.numbered import unread

POLL_S = 2.0
LEAD_NS = 10_000_000
"""A command takes 1.5 ms to a machine near by."""
TAIL_BYTES = 4096
FILES = ("password_file", "tls_ca", "tls_cert", "tls_key")
"""What of a plan's `driver` names a file of this machine, which the other one needs."""


class RemoteEngine(EngineSession):
    """A running engine of another machine.

    Args:
        host: the machine.
        plan: the plan; its `out` is the machine's own folder.
        folder: receives its files, with times of our clock, when they are collected.
        events: receives its events.
        index: the engine's index in the fleet.
    """

    def __init__(
        self, host: RemoteHost, plan: dict[str, Any], folder: Path, events: Queue, index: int
    ) -> None:
        super().__init__(index, folder, events, host.measure_clock())
        self.host = host
        self._status: int | None = None
        self._number, self._pid, self._there = host.ask("begin_engine", plan, _files(plan))
        self._reader = threading.Thread(target=self._read, name=f"engine-{index}-events", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """See `EngineSession`."""
        return int(self._pid)

    def prepare(self) -> int:
        """See `EngineSession`; its clock is measured again."""
        return LEAD_NS + 8 * self.host.measure_clock().bound_ns

    def collect(self) -> None:
        """See `EngineSession`; of a machine that is lost there is nothing."""
        if self.lost:
            return
        if self._ended:
            with suppress(SteelyardError):  # a clock is known well enough from before
                self.host.measure_clock()
        try:
            self.host.fetch(self._there, self._folder)
        finally:  # also what came before it failed is merged
            for path in self._folder.glob("*.ndjson"):
                self._translate(path)
        if self._ended:
            with suppress(HostLostError):  # its files are here
                self.host.ask("forget", self._number)

    def stderr_tail(self) -> str:
        """See `EngineSession`."""
        with suppress(OSError, SteelyardError):
            said: bytes = self.host.as_host().get(self._there / STDERR, -TAIL_BYTES)
            return (said.decode(errors="replace").strip().splitlines() or [""])[-1]
        return ""

    def wait(self, limit_s: float) -> int | None:
        """See `EngineSession`."""
        self._reader.join(limit_s)
        return self._status

    def close_input(self) -> None:
        """See `EngineSession`."""
        with suppress(HostLostError):
            self.host.ask("close_input", self._number)

    def kill(self) -> None:
        """See `EngineSession`."""
        with suppress(HostLostError):
            self.host.ask("kill", self._number)
        self._reader.join(EXIT_LIMIT_S)

    def _write(self, line: bytes) -> None:
        try:
            self.host.ask("write", self._number, line)
        except HostLostError as lost:
            self.lost = lost
            raise BrokenPipeError from lost

    def _read(self) -> None:
        """Ask for events until there will be no more; the reader's thread."""
        number, status = 0, None
        try:
            while status is None:
                first, lines, status = self.host.ask("lines", self._number, number, POLL_S)
                for line in unread(number, first, lines):
                    self._take(line)
                number = first + len(lines)
            self._status = status
        except HostLostError as lost:
            self.lost = lost
        finally:
            self._end_of_events()

    def _translate(self, path: Path) -> None:
        """Put a file's times into ours; a torn last line stays as it is."""
        told = []
        for line in path.read_text(errors="replace").splitlines():
            try:
                told.append(json.dumps(self.clock.translated(json.loads(line)), separators=(",", ":")))
            except ValueError:
                told.append(line)
        path.write_text("".join(f"{line}\n" for line in told))


def _files(plan: Mapping[str, Any]) -> dict[str, bytes]:
    """What is in the files that a plan's `driver` names, by their settings."""
    driver = plan.get("driver", {})
    return {name: Path(driver[name]).read_bytes() for name in FILES if driver.get(name)}
