"""A trial on the fake engine: its testbed, whose steps can be told to fail, and what its manifest says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
from engine_fixtures import Heard
from pydantic import TypeAdapter

from steelyard.engine.path import find_engine
from steelyard.hosts.local import LocalHost
from steelyard.hosts.say import Say
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.spec.do_words import actions_of
from steelyard.spec.load import Load
from steelyard.spec.models import Study
from steelyard.spec.system import NullSystem
from steelyard.spec.timeline import Timeline
from steelyard.spec.trials import trials
from steelyard.spec.workload import CORE
from steelyard.systems.base import Death, Settled
from steelyard.systems.null import NullTestbed
from steelyard.watch.target import WatchTarget


class Bed(NullTestbed):
    """Counts its ups and downs; each step can be told to fail."""

    def __init__(self, **steps: Callable[[], Any]) -> None:
        self.steps = steps
        self.calls: list[str] = []

    def _step(self, name: str, otherwise: Any = None) -> Any:
        self.calls.append(name)
        return self.steps[name]() if name in self.steps else otherwise

    def up(self, _say: Say) -> None:
        self._step("up")

    def down(self, _say: Say) -> None:
        self._step("down")

    def settle(self, _limit_s: float, _say: Say) -> Settled:
        return self._step("settle", Settled(True, 0.0))  # type: ignore[no-any-return]

    def dead(self) -> Sequence[Death]:
        return self.steps["dead"]() if "dead" in self.steps else []

    def serves(self) -> bool:
        return len(self.dead()) < len(self.targets()) or not self.targets()

    def targets(self) -> Sequence[WatchTarget]:
        return [WatchTarget(name) for name in ("node1", "node2") if "dead" in self.steps]

    def collect(self, _into: Path) -> None:
        self._step("collect")


def fail(error: Exception) -> Callable[[], None]:
    def step() -> None:
        raise error

    return step


def trial_run(folder: Path, bed: Bed, interrupts: Interrupts | None = None, **load: Any) -> TrialRun:
    study = Study(name="x", system=NullSystem(), workload=CORE["a"], load=Load(**load))
    path = folder / "001.partial"
    path.mkdir()
    return TrialRun(
        trial=trials(study)[0], folder=path, testbed=bed, host=LocalHost(), engine=find_engine(),
        show=Heard(),        interrupts=interrupts or Interrupts(), since_ns=1,
    )  # fmt: skip


def events(run: TrialRun) -> list[str]:
    return [entry["event"] for entry in run.manifest.timeline]


def engine_left() -> bool:
    return any("fake_engine" in " ".join(p.cmdline()) for p in psutil.Process().children(recursive=True))


def with_timeline(run: TrialRun, *texts: str) -> TrialRun:
    actions = TypeAdapter(Timeline).validate_python(actions_of(texts))
    run.trial = run.trial.model_copy(update={"timeline": actions})
    return run
