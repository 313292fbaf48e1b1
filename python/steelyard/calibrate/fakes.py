"""The fake servers as a process: told what to be, asked for what they saw."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.calibrate.laws import Law
from steelyard.calibrate.truth import Stamps
from steelyard.engine.path import engine_path
from steelyard.errors import EngineError

NAME = "steelyard-fakes"
ANSWER_LIMIT_S = 20.0


def fakes_path() -> Path:
    """The program: it lies beside the engine, in a wheel as in a build."""
    path = engine_path().with_name(NAME)
    if not os.access(path, os.X_OK):
        raise EngineError(f"there is no {NAME} beside the engine, at {path}", hint="`make build` makes both")
    return path


class Fakes:
    """Running fake servers, inside a `with`.

    Args:
        before: words before their command, such as those that put it into a network.
        address: where CQL listens there; empty = on loopback.

    Attributes:
        addresses: driver -> `host:port`.
        pid: the process.
    """

    def __init__(self, before: Sequence[str] = (), address: str = "") -> None:
        path = fakes_path()
        words = [*before, str(path), *(("--address", address) if address else ())]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise EngineError(f"{path} cannot be started: {error}") from error
        try:
            ready = self._line()
        except BaseException:
            self._end()
            raise
        self.addresses = {"cql": str(ready["cql"]), "hbase": str(ready["hbase"])}
        self.pid = self._process.pid

    def __enter__(self) -> Fakes:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def case(
        self,
        law: Law,
        *,
        seed: int,
        epoch_ns: int,
        faults: dict[str, Any] | None = None,
        burn_us: int = 0,
    ) -> None:
        """From now on this law; what was stamped before is forgotten."""
        words = {"seed": seed, "epoch_ns": epoch_ns, "law": law.words(), "burn_us": burn_us}
        self._ask("case", **words, faults=faults or {})

    def stamps(self, path: Path) -> Stamps:
        """What was stamped since the case began; the file stays."""
        self._ask("stamps", path=str(path.absolute()))
        return Stamps.read(path)

    def _ask(self, cmd: str, **fields: Any) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it was opened as a pipe
        try:
            self._process.stdin.write(json.dumps({"cmd": cmd, **fields}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise EngineError(f"the fake servers are gone: {error}") from error
        answer = self._line()
        if not answer.get("ok"):
            raise EngineError(f"the fake servers refused {cmd}: {answer.get('error')}")

    def _line(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it was opened as a pipe
        ready, _, _ = select.select([stdout], [], [], ANSWER_LIMIT_S)
        line = stdout.readline() if ready else b""
        try:
            found = json.loads(line)
        except ValueError:
            raise EngineError(f"the fake servers do not answer (they said {line[:200]!r})") from None
        return dict(found)

    def _end(self) -> None:
        """End of its input ends it."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
