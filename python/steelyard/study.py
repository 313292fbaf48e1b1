"""Conducting a study: its trials one after the other, each into its folder."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.engine.path import Engine, find_engine
from steelyard.errors import InputError, Interrupted, MissingToolError, SteelyardError
from steelyard.interrupt import Interrupts
from steelyard.progress import Show
from steelyard.results.store import RunFolder
from steelyard.spec.study import Study, Trial
from steelyard.spec.trials import trials
from steelyard.testbed import create
from steelyard.trial import TrialRun

HOPELESS = (InputError, MissingToolError)
"""Errors that the next trial would meet again."""


@dataclass
class Outcome:
    """What became of a study.

    Attributes:
        path: the run's folder.
        errors: of the trials that failed, in order.
        interrupted: whether the user stopped it.
    """

    path: Path
    errors: list[SteelyardError] = field(default_factory=list)
    interrupted: bool = False


def conduct(study: Study, show: Show, since_ns: int, out: Path | None = None) -> Outcome:
    """Run every trial.

    Args:
        study: the study.
        show: receives progress.
        since_ns: when the command was given, CLOCK_MONOTONIC.
        out: the run's folder; None = `results/TIME-NAME`.

    Raises:
        InputError: the folder exists, or a system is one that cannot be; nothing was written then.
        EngineError: there is no engine of this source.
    """
    engine = find_engine()
    planned = trials(study)
    for trial in planned:
        create(trial.system, name=_name(study, trial), root=Path())  # its constructor refuses what cannot be
    folder = RunFolder.create(study, planned, out)
    outcome = Outcome(folder.path)
    with Interrupts() as interrupts:
        conductor = _Conductor(folder, study, engine, show, interrupts)
        for trial in planned:
            if len(planned) > 1:
                show.say(f"trial {trial.number} of {len(planned)}")
            error = conductor.trial(trial, since_ns if trial is planned[0] else time.monotonic_ns())
            if error:
                outcome.errors.append(error)
            outcome.interrupted = isinstance(error, Interrupted) or interrupts.requested
            if outcome.interrupted or isinstance(error, HOPELESS):
                break
    return outcome


@dataclass
class _Conductor:
    """What all trials of a run share."""

    folder: RunFolder
    study: Study
    engine: Engine
    show: Show
    interrupts: Interrupts

    def trial(self, trial: Trial, since_ns: int) -> SteelyardError | None:
        """Run one trial, seal its folder; returns what went wrong."""
        path = self.folder.open_trial(trial.number)
        run = TrialRun(
            trial=trial,
            folder=path,
            testbed=create(trial.system, name=_name(self.study, trial), root=path / "work"),
            engine=self.engine,
            show=self.show,
            interrupts=self.interrupts,
            since_ns=since_ns,
        )
        manifest = run.run()
        try:
            if run.written:
                self.folder.seal(trial.number)
            self.folder.mark(trial.number, manifest.status, manifest.reason)
        except SteelyardError as error:
            return run.error or error
        return run.error


def _name(study: Study, trial: Trial) -> str:
    """A name for the trial's system: short, and unlike any other on this host."""
    return f"{study.name[:24]}-{trial.number}-{os.getpid()}"
