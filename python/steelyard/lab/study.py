"""Conducting a study: its trials one after the other, each into its folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.engine.path import Engine, find_engine
from steelyard.errors import Interrupted, SteelyardError
from steelyard.hosts.host import Host
from steelyard.hosts.local import LocalHost
from steelyard.lab.datasets import DataSets
from steelyard.lab.hopeless import HOPELESS
from steelyard.lab.lease import Lease
from steelyard.lab.progress import Show
from steelyard.lab.shared_rates import RateNotFoundError, SharedRates
from steelyard.lab.signals import Interrupts
from steelyard.lab.time_left import TimeLeft
from steelyard.lab.trial import TrialRun
from steelyard.lab.until_decided import Extension, Stand
from steelyard.results.disturbance import Disturbance
from steelyard.results.store import RunFolder, resume_words
from steelyard.spec.estimate import each
from steelyard.spec.models import DROPS_CACHE, Study, Trial
from steelyard.spec.rules import NEEDED
from steelyard.spec.trials import APART, trials
from steelyard.systems import create
from steelyard.systems.base import Testbed
from steelyard.systems.capabilities import require

if TYPE_CHECKING:  # it is not needed where engines run here
    from steelyard.lab.load_hosts import LoadHosts

Judge = Callable[[Path], Disturbance | None]
"""From a trial's folder to what outside the study disturbed it."""


@dataclass
class Outcome:
    """What became of a study.

    Attributes:
        path: the run's folder.
        planned: how many trials it has.
        errors: of the trials that failed, in order.
        interrupted: whether the user stopped it.
        disturbed: how many trials do not count, for a reason that another attempt may be free of.
        looks: how often the claims were looked at; 0 where the plan was kept as it is, or there are none.
        added: trials beyond the plan.
        load_hosts: the machines that ran its engines; none = this one.
    """

    path: Path
    planned: int = 1
    errors: list[SteelyardError] = field(default_factory=list)
    interrupted: bool = False
    disturbed: int = 0
    looks: int = 0
    added: int = 0
    load_hosts: Sequence[str] = ()

    def again(self, *flags: str) -> str:
        """The command that goes on with it."""
        return resume_words(self.path, self.load_hosts, *flags)


def conduct(
    study: Study,
    show: Show,
    since_ns: int,
    out: Path | None = None,
    *,
    resume: bool = False,
    disturbed: bool = False,
    judge: Judge = lambda _: None,
    stand: Stand = lambda _: (),
    load_hosts: LoadHosts | None = None,
) -> Outcome:
    """Run every trial that is not done yet, and, unless the study's budget is fixed, what decides it.

    Args:
        study: the study.
        show: receives progress.
        since_ns: when the command was given, CLOCK_MONOTONIC.
        out: the run's folder; None = `results/TIME-NAME`.
        resume: `out` is an interrupted run of this study, which goes on.
        disturbed: what was done and disturbed from outside is run again, too.
        judge: looks at each finished trial; one that was disturbed is run once more.
        stand: looks at the claims when the plan has been carried out.
        load_hosts: where the engines run; None = here.

    Raises:
        InputError: the folder exists or is of another plan, or a system is one that cannot be; nothing was
            written then.
        EngineError: there is no engine of this source.
    """
    engine, host = find_engine(), LocalHost()
    planned = trials(study)
    check_able(study, planned, host)
    elsewhere = load_hosts.names if load_hosts else []
    if resume and out is not None:
        folder = RunFolder.resume(study, planned, out, elsewhere)
    else:
        folder = RunFolder.create(study, planned, out, elsewhere)
    outcome = Outcome(folder.path, len(planned), load_hosts=elsewhere)
    with Interrupts() as interrupts:
        conductor = _Conductor(folder, study, planned, host, engine, show, interrupts, judge, load_hosts)
        try:
            conductor.settle()
            conductor.conduct(outcome, folder.pending(disturbed=disturbed), since_ns, stand)
        finally:
            conductor.release()
            folder.close()
    outcome.planned, outcome.disturbed = len(folder.trials), len(folder.disturbed())
    outcome.looks, outcome.added = len(folder.looks), len(folder.trials) - len(planned)
    return outcome


def check_able(study: Study, planned: Sequence[Trial], host: Host | None = None) -> None:
    """See, before anything starts, that this host's systems can do what their trials ask of them.

    Args:
        study: whose trials.
        planned: those that are asked about.
        host: where the systems would be; None = this machine.

    Raises:
        InputError: a system is one that cannot be, or cannot do something.
    """
    needed = [NEEDED[study.reset]] if study.reset in NEEDED else []
    for trial in planned:  # a testbed's constructor refuses what cannot be
        testbed = create(trial.system, name=_name(study, trial), root=Path(), host=host or LocalHost())
        for capability in (*needed, *(name for action in trial.timeline for name in action.capabilities)):
            require(testbed, capability)


Attempted = tuple[SteelyardError | None, Disturbance | None]


@dataclass
class _Held:
    """The cluster of a group of trials."""

    group: int
    root: Path
    testbed: Testbed
    lease: Lease


class _Conductor:
    """What all trials of a run share."""

    def __init__(  # noqa: PLR0917
        self, folder: RunFolder, study: Study, planned: list[Trial], host: Host, engine: Engine, show: Show,
        interrupts: Interrupts, judge: Judge, load_hosts: LoadHosts | None,
    ) -> None:  # fmt: skip
        self.load_hosts = load_hosts
        self.folder, self.study, self.host, self.engine = folder, study, host, engine
        self.show, self.interrupts, self.judge = show, interrupts, judge
        self.several = len(planned) > 1
        self.held: _Held | None = None
        self.data_sets = DataSets(folder.path, study.name, host, engine, show, interrupts)
        self.rates = SharedRates(folder, study, self.data_sets, host, engine, show, interrupts, load_hosts)
        self.time_left = TimeLeft(each(folder.trials), {t.number: t.point for t in folder.trials})
        for row in folder.rows.values():
            if row.status == "done" and row.seconds:
                self.time_left.took(row.number, row.seconds)

    def settle(self) -> None:
        """Judge and mark trials that were sealed just before an earlier process ended."""
        for number, status in dict(self.folder.unsettled).items():
            self.folder.mark(number, status, disturbed=self._judge(number) if status == "done" else None)

    def conduct(self, outcome: Outcome, pending: list[Trial], since_ns: int, stand: Stand) -> None:
        """Run what is pending, then what decides the study."""
        if self.several and len(pending) < (total := len(self.folder.trials)):
            self.show.say(f"going on: {total - len(pending)} of {total} trials are done")
        extension = Extension(self.folder, self.study, self.time_left, self.show, stand)
        while self.run(outcome, pending, since_ns) and self.several and (pending := extension.next()):
            since_ns = time.monotonic_ns()

    def run(self, outcome: Outcome, pending: list[Trial], since_ns: int) -> bool:
        """Run what is pending, until the end, an interruption, or an error that all trials would meet.

        Returns whether that was the end.
        """
        total = len(self.folder.trials)
        known = len(self.folder.rates)
        if not self._found_rates(outcome, pending):
            return False
        if len(self.folder.rates) > known:  # searching is no part of the first trial's time
            since_ns = time.monotonic_ns()
        for place, trial in enumerate(pending):
            rest = pending[place:]
            if self.several:
                left_s = self.time_left.left_s(t.number for t in rest)
                self.show.trial(trial.number, total, _label(trial), total - len(rest), left_s)
            keep = len(rest) > 1 and rest[1].group == trial.group
            error = self._trial(trial, since_ns if place == 0 else time.monotonic_ns(), keep=keep)
            if error:
                outcome.errors.append(error)
            outcome.interrupted = isinstance(error, Interrupted) or self.interrupts.requested
            if outcome.interrupted or isinstance(error, HOPELESS):
                return False
        return True

    def _found_rates(self, outcome: Outcome, pending: list[Trial]) -> bool:
        """Find the rates that trials share; whether the study goes on."""
        try:
            self.rates.find(pending)
        except Interrupted:
            outcome.interrupted = True
        return not outcome.interrupted

    def _trial(self, trial: Trial, since_ns: int, *, keep: bool) -> SteelyardError | None:
        """Run a trial, and once more if it failed or was disturbed for the first time.

        Returns what went wrong the last time.
        """
        try:
            self.rates.offering(trial)
        except RateNotFoundError as no_rate:
            took_s = self.folder.rows[trial.number].seconds or 0.0  # by an earlier process
            self.folder.mark(trial.number, "failed", no_rate.message, took_s)
            return no_rate
        error, disturbed = self._attempt(trial, since_ns, keep=keep)
        if self.folder.rows[trial.number].disturbed_attempts > 1:
            disturbed = None
        final = not self.several or isinstance(error, (*HOPELESS, Interrupted)) or self.interrupts.requested
        why = (
            f"failed: {error.message}" if error else disturbed.text if disturbed and disturbed.passing else ""
        )
        if why and not final:
            self.show.say(f"trial {trial.number} {why}; it is run once more, and both are kept")
            error, _ = self._attempt(trial, time.monotonic_ns(), keep=keep)
        return error

    def _attempt(self, trial: Trial, since_ns: int, *, keep: bool) -> Attempted:
        """Run one trial, seal its folder; returns what went wrong, and what disturbed it."""
        trial, rate = self.rates.offering(trial)
        path = self.folder.open_trial(trial.number)
        held = self._hold(trial, path)
        held.lease.keep = keep
        held.lease.loaded = held.lease.loaded and self.study.reset == "none"
        if self.study.reset == "restore":
            held.lease.origin = self.data_sets.provide(trial, held.testbed)
        run = TrialRun(
            trial=trial,
            folder=path,
            testbed=held.testbed,
            host=self.host,
            engine=self.engine,
            show=self.show,
            interrupts=self.interrupts,
            since_ns=since_ns,
            lease=held.lease,
            cold=self.study.cache in DROPS_CACHE,
            load_hosts=self.load_hosts,
        )
        run.manifest.rate = rate
        manifest = run.run()
        seconds = (time.monotonic_ns() - since_ns) / 1e9
        try:
            if run.written:
                self.folder.seal(trial.number)
            done = manifest.status == "done"
            found = self._judge(trial.number) if done else None
            self.folder.mark(trial.number, manifest.status, manifest.reason, round(seconds, 3), found)
            if not done:
                return run.error, None
            self.time_left.took(trial.number, seconds)
            return None, found
        except SteelyardError as error:
            return run.error or error, None

    def _judge(self, number: int) -> Disturbance | None:
        try:
            return self.judge(self.folder.final(number))
        except Exception as error:  # what was measured is on disk, and can be judged again at any time
            self.show.say(f"trial {number}: whether it was disturbed could not be told: {error!r}")
            return None

    def _hold(self, trial: Trial, path: Path) -> _Held:
        """The cluster for a trial: that of its group, or a new one."""
        if self.held is None or self.held.group != trial.group:
            self.release()
            root = (
                path / "work" if self.study.reset in APART else self.folder.path / "work" / str(trial.group)
            )
            testbed = create(trial.system, name=_name(self.study, trial), root=root, host=self.host)
            lease = Lease(empties=self.study.reset == "truncate")
            self.held = _Held(trial.group, root, testbed, lease)
        elif self.study.reset in APART:  # once more: the folder before was set aside
            name = _name(self.study, trial)
            self.held.testbed = create(trial.system, name=name, root=path / "work", host=self.host)
        else:
            self.held.testbed.next_client(trial.system)
        return self.held

    def release(self) -> None:
        """Take down the cluster that was kept for trials which do not come any more."""
        if self.held is None:
            return
        if self.held.lease.up:
            self.held.testbed.down(self.show.say)
        if self.study.reset not in APART:
            with suppress(OSError):
                self.held.root.rmdir()
                self.held.root.parent.rmdir()
        self.held = None


def _label(trial: Trial) -> str:
    """The point and repetition of a trial, for people."""
    return f"{trial.label or trial.system.kind}, repetition {trial.repetition}"


def _name(study: Study, trial: Trial) -> str:
    """A name for the trial's system: short, and unlike any other on this host."""
    return f"{study.name[:24]}-{trial.number}-{os.getpid()}"
