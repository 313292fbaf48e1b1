"""Conducting a study: its trials one after the other, or side by side on benches, each into its folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.engine.path import find_engine
from steelyard.errors import Interrupted, SteelyardError
from steelyard.hosts.host import Host, HostLostError
from steelyard.hosts.local import LocalHost
from steelyard.hosts.remote.host import RemoteHost
from steelyard.lab.bench import Bench, LocalBench, cluster_name
from steelyard.lab.blocks import Blocks, Given
from steelyard.lab.hopeless import HOPELESS
from steelyard.lab.progress import Show
from steelyard.lab.remote_bench import RemoteBench
from steelyard.lab.room import room_of, shortages
from steelyard.lab.server_hosts import ServerMachines
from steelyard.lab.shared_rates import RateNotFoundError, SharedRates
from steelyard.lab.side_by_side import SideBySide
from steelyard.lab.signals import Interrupts
from steelyard.lab.time_left import TimeLeft
from steelyard.lab.timeline.commands import check_programs
from steelyard.lab.until_decided import Extension, Stand
from steelyard.results.disturbance import Disturbance
from steelyard.results.elsewhere import Elsewhere
from steelyard.results.store import HERE, RunFolder
from steelyard.spec.estimate import each
from steelyard.spec.models import Study, Trial
from steelyard.spec.rules import NEEDED
from steelyard.spec.trials import block_of, trials
from steelyard.systems import create
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
        elsewhere: the machines beside this one that its trials were on.
    """

    path: Path
    planned: int = 1
    errors: list[SteelyardError] = field(default_factory=list)
    interrupted: bool = False
    disturbed: int = 0
    looks: int = 0
    added: int = 0
    elsewhere: Elsewhere = HERE

    def again(self, *flags: str) -> str:
        """The command that goes on with it."""
        return self.elsewhere.resume_words(self.path, *flags)


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
    host: Host | None = None,
    bench_hosts: Sequence[RemoteHost] = (),
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
        host: where the systems are; None = here.
        bench_hosts: machines that run whole trials, side by side; none = they run here, one after the other.

    Raises:
        InputError: the folder exists or is of another plan, or a system is one that cannot be; nothing was
            written then.
        EngineError: there is no engine of this source.
    """
    engine, host = find_engine(), host or LocalHost()
    planned = trials(study)
    check_able(study, planned, bench_hosts[0].as_host() if bench_hosts else host)
    if not bench_hosts:  # otherwise commands run there
        check_programs(action for trial in planned for action in trial.timeline)
    if not bench_hosts and not ServerMachines(host).names:
        for line in shortages(planned, room_of(host)):
            show.say(line)
    elsewhere = Elsewhere(tuple(load_hosts.names if load_hosts else ()), ServerMachines(host).names)
    with ExitStack() as closing:
        interrupts = closing.enter_context(Interrupts())
        benches = list[RemoteBench]()
        for one in bench_hosts:
            benches.append(RemoteBench(one, study, show))
            closing.callback(benches[-1].close)
        if resume and out is not None:
            folder = RunFolder.resume(study, planned, out, elsewhere)
        else:
            folder = RunFolder.create(study, planned, out, elsewhere)
        closing.callback(folder.close)
        outcome = Outcome(folder.path, len(planned), elsewhere=elsewhere)
        local = LocalBench(folder.path, study, host, engine, show, interrupts, load_hosts)
        closing.callback(local.release)
        conductor = _Conductor(folder, study, planned, show, interrupts, judge, local, benches)
        conductor.settle()
        conductor.conduct(outcome, folder.pending(disturbed=disturbed), since_ns, stand)
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
        testbed = create(trial.system, name=cluster_name(study, trial), root=Path(), host=host or LocalHost())
        for capability in (*needed, *(name for action in trial.timeline for name in action.capabilities)):
            require(testbed, capability)


Attempted = tuple[SteelyardError | None, Disturbance | None]


class _Conductor:
    """What all trials of a run share."""

    def __init__(  # noqa: PLR0917
        self, folder: RunFolder, study: Study, planned: list[Trial], show: Show, interrupts: Interrupts,
        judge: Judge, local: LocalBench, benches: Sequence[RemoteBench],
    ) -> None:  # fmt: skip
        self.folder, self.study, self.local, self.benches = folder, study, local, benches
        self.show, self.interrupts, self.judge = show, interrupts, judge
        self.several = len(planned) > 1
        self.lock = threading.RLock()  # around what several benches note, and what is shown of them
        self.rates = SharedRates(
            folder, study, local.data_sets, local.host, local.engine, show, interrupts, local.load_hosts
        )
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
        known = len(self.folder.rates)
        if not self._found_rates(outcome, pending):
            return False
        if len(self.folder.rates) > known:  # searching is no part of the first trial's time
            since_ns = time.monotonic_ns()
        return self._on_benches(outcome, pending) if self.benches else self._here(outcome, pending, since_ns)

    def _here(self, outcome: Outcome, pending: list[Trial], since_ns: int) -> bool:
        """Run trials on this machine, one after the other; as `run`."""
        for place, trial in enumerate(pending):
            rest = pending[place:]
            self._tell(trial, [t.number for t in rest])
            keep = len(rest) > 1 and rest[1].group == trial.group
            since_ns = since_ns if place == 0 else time.monotonic_ns()
            error = self._trial(self.local, trial, since_ns, keep=keep)
            if error:
                outcome.errors.append(error)
            outcome.interrupted = isinstance(error, Interrupted) or self.interrupts.requested
            if outcome.interrupted or isinstance(error, HOPELESS):
                return False
        return True

    def _on_benches(self, outcome: Outcome, pending: list[Trial]) -> bool:
        """Run trials on other machines, side by side; as `run`."""
        benches = [bench for bench in self.benches if not bench.lost]
        if not benches:
            outcome.errors.append(HostLostError("all benches are lost"))
            return False
        done = [t for t in self.folder.trials if self.folder.rows[t.number].status == "done"]
        homes = {block_of(self.study, t): self.folder.rows[t.number].host or "" for t in done}
        blocks = Blocks(self.study, pending, [bench.name for bench in benches], homes)

        def run(bench: RemoteBench, given: Given) -> SteelyardError | None:
            with self.lock:
                self._tell(given.trial, blocks.left(), f"on {bench.name}: ")
            try:
                return self._trial(bench, given.trial, time.monotonic_ns(), keep=given.keep)
            except HostLostError as lost:
                with self.lock:
                    self.folder.mark(given.trial.number, "interrupted", lost.message)
                    again = "it is begun again on another bench"
                    self.show.say(f"trial {given.trial.number}: {lost.message}; {again}")
                raise

        work = SideBySide(benches, blocks, run)
        whole = work.until_done(self.interrupts)
        outcome.errors += work.failed if whole else [*work.failed, *work.lost]
        outcome.interrupted = self.interrupts.requested
        return whole and not outcome.interrupted

    def _tell(self, trial: Trial, left: Sequence[int], where: str = "") -> None:
        """Say which trial begins."""
        if self.several:
            total = len(self.folder.trials)
            left_s = self.time_left.left_s(left) / max(len(self.benches), 1)
            label = f"{where}{trial.label or trial.system.kind}, repetition {trial.repetition}"
            self.show.trial(trial.number, total, label, total - len(left), left_s)

    def _found_rates(self, outcome: Outcome, pending: list[Trial]) -> bool:
        """Find the rates that trials share; whether the study goes on."""
        try:
            self.rates.find(pending)
        except Interrupted:
            outcome.interrupted = True
        return not outcome.interrupted

    def _trial(self, bench: Bench, trial: Trial, since_ns: int, *, keep: bool) -> SteelyardError | None:
        """Run a trial, and once more if it failed or was disturbed for the first time.

        Returns what went wrong the last time.
        """
        try:
            self.rates.offering(trial)
        except RateNotFoundError as no_rate:
            took_s = self.folder.rows[trial.number].seconds or 0.0  # by an earlier process
            self.folder.mark(trial.number, "failed", no_rate.message, took_s)
            return no_rate
        error, disturbed = self._attempt(bench, trial, since_ns, keep=keep)
        if self.folder.rows[trial.number].disturbed_attempts > 1:
            disturbed = None
        final = not self.several or isinstance(error, (*HOPELESS, Interrupted)) or self.interrupts.requested
        why = (
            f"failed: {error.message}" if error else disturbed.text if disturbed and disturbed.passing else ""
        )
        if why and not final:
            self.show.say(f"trial {trial.number} {why}; it is run once more, and both are kept")
            error, _ = self._attempt(bench, trial, time.monotonic_ns(), keep=keep)
        return error

    def _attempt(self, bench: Bench, trial: Trial, since_ns: int, *, keep: bool) -> Attempted:
        """Run one trial, seal its folder; returns what went wrong, and what disturbed it."""
        trial, rate = self.rates.offering(trial)
        with self.lock:
            path = self.folder.open_trial(trial.number, bench.name)
        ran = bench.run(trial, path, rate, since_ns, keep=keep)
        seconds = (time.monotonic_ns() - since_ns) / 1e9
        try:
            with self.lock:
                if ran.written:
                    self.folder.seal(trial.number)
            done = ran.status == "done"
            found = self._judge(trial.number) if done else None
            with self.lock:
                self.folder.mark(trial.number, ran.status, ran.reason, round(seconds, 3), found)
                if not done:
                    return ran.error, None
                self.time_left.took(trial.number, seconds)
            return None, found
        except SteelyardError as error:
            return ran.error or error, None

    def _judge(self, number: int) -> Disturbance | None:
        try:
            return self.judge(self.folder.final(number))
        except Exception as error:  # what was measured is on disk, and can be judged again at any time
            self.show.say(f"trial {number}: whether it was disturbed could not be told: {error!r}")
            return None
