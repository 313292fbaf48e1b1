"""A director, the made-up testbed that it acts on, and the loop that tells it the time: the test itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine_fixtures import Heard

from steelyard.errors import InfrastructureError
from steelyard.lab.timeline.director import Director
from steelyard.results.actions import Actions, ActionTimes, read_actions
from steelyard.results.manifest import Manifest
from steelyard.spec.do_words import actions_of
from steelyard.spec.load import Load
from steelyard.spec.models import Study
from steelyard.spec.system import NullSystem
from steelyard.spec.timeline import Timeline
from steelyard.spec.trials import trials
from steelyard.spec.workload import CORE
from steelyard.systems.base import Death
from steelyard.systems.changes import AddOptions, Note
from steelyard.watch.target import WatchTarget

NS = 1_000_000_000
LIMIT_S = 20.0
"""Nothing here takes so long; a test that hangs ends."""


class Growing:
    """A testbed of three nodes and two in reserve; an add waits until it is let go on."""

    def __init__(self) -> None:
        self.names = ["node1", "node2", "node3"]
        self.reserve = ["node4", "node5"]
        self.calls: list[tuple[Any, ...]] = []
        self.deaths: list[Death] = []
        self.go_on = threading.Event()
        self.streaming = threading.Event()

    capabilities = frozenset({"detect"})

    def missed(self, node: str) -> bool:
        """Only when it is asked for the third time; the first time nobody can tell."""
        self.calls.append(("missed", node))
        if self.calls.count(("missed", node)) == 1:
            raise InfrastructureError("not now")
        return self.calls.count(("missed", node)) > 2

    def serves(self) -> bool:
        return True

    def dead(self) -> Sequence[Death]:
        return self.deaths

    def freeze(self, name: str) -> None:
        self.calls.append(("freeze", name))

    def heal(self, name: str) -> None:
        self.calls.append(("heal", name))

    def restart(self, name: str, say: Callable[[str], None]) -> None:  # noqa: ARG002
        self.calls.append(("restart", name))

    def resize(self, name: str, cpu: float | None) -> None:
        """Nothing is told of it."""

    def members(self) -> Sequence[str]:
        return self.names

    def spares(self) -> Sequence[str]:
        return self.reserve

    def targets(self) -> Sequence[WatchTarget]:
        return [WatchTarget(name) for name in self.names]

    def add(self, names: Sequence[str], options: AddOptions, note: Note, say: Callable[[str], None]) -> int:
        self.calls.append(("add", *names, options.stream_mbit))
        say("node4 answers")
        for name in names:
            note(name, "streaming")
        self.names += names
        self.streaming.set()
        assert self.go_on.wait(LIMIT_S)
        for name in names:
            note(name, "joined")
        return 1000

    def remove(self, names: Sequence[str], note: Note, say: Callable[[str], None]) -> None:  # noqa: ARG002
        self.calls.append(("remove", *names))
        for name in names:
            self.names.remove(name)
            note(name, "left")

    def kill(self, name: str) -> None:
        self.calls.append(("kill", name))
        raise InfrastructureError("it is dead already")

    def flush(self, node: str, table: str | None = None, /) -> None:  # noqa: ARG002
        self.calls.append(("flush", node))

    def balance(self) -> int:
        raise ZeroDivisionError


class Watch:
    """Knows nothing, and remembers which nodes it was told of."""

    def __init__(self) -> None:
        self.told: list[list[str]] = []

    def latest(self, _source: str, _metric: str) -> float | None:
        return None

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        self.told.append([target.name for target in targets])


class Play:
    """A director, and the loop that tells it the time."""

    def __init__(
        self, folder: Path, *texts: str, bed: Growing | None = None, rest_s: float | None = None
    ) -> None:
        from pydantic import TypeAdapter

        self.actions = TypeAdapter(Timeline).validate_python(actions_of(texts))
        study = Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load(duration_s=1))
        self.manifest = Manifest(trials(study)[0], 1)
        self.bed, self.watch, self.show, self.folder = bed or Growing(), Watch(), Heard(), folder
        self.director = Director(
            self.actions, testbed=self.bed, folder=folder, manifest=self.manifest, show=self.show,
            watch=self.watch, paced=True, rest_s=rest_s,
        )  # type: ignore[arg-type] # fmt: skip
        self.labels: list[str] = []
        self.began_ns = self.now_ns = time.monotonic_ns()
        self.director.begin(self.began_ns, 1)

    def at(self, seconds: float) -> None:
        """The loop turns at that time of the run; a second is told when it is whole."""
        self.now_ns = self.began_ns + round(seconds * NS)
        event = {"second": int(seconds) - 1, "done": 1, "response_p99_ns": 1e6, "response_p50_ns": 1e6}
        self.labels += self.director.tick(self.now_ns, {0: event} if seconds >= 1 else {})

    def labels_now(self) -> list[str]:
        """All labels, the loop having turned once more."""
        self.labels += self.director.tick(time.monotonic_ns(), {})
        return self.labels

    def settled(self) -> None:
        """All that was begun has come to its end, and the loop turns once more."""
        assert self.director.join(LIMIT_S) == []
        self.now_ns = max(self.now_ns, time.monotonic_ns())
        self.labels += self.director.tick(self.now_ns, {})

    def kept(self) -> Actions:
        return read_actions(self.folder)

    def one(self, id_: str) -> ActionTimes:
        [found] = [action for action in self.kept().each() if action.id == id_]
        return found


def wait_until(holds: Callable[[], bool]) -> None:
    """Until a thread has done something; fails past LIMIT_S."""
    until = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)
