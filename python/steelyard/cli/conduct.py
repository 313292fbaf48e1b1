"""From a checked study to a result on disk, its summary on the terminal, and an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from steelyard.cli.fail_on import require_claims
from steelyard.cli.points import show_claims, show_points
from steelyard.errors import InfrastructureError, Interrupted, SteelyardError
from steelyard.hosts.local import LocalHost
from steelyard.lab.progress import make_show
from steelyard.lab.room import room_of, shortages
from steelyard.lab.study import Outcome, check_able
from steelyard.lab.study import conduct as conduct_study
from steelyard.lab.timeline.commands import check_programs
from steelyard.results.clock import process_start_ns
from steelyard.spec.estimate import assumptions, estimate, searches_seconds
from steelyard.spec.models import Study, Trial
from steelyard.spec.rates import first_of_each, share_of
from steelyard.spec.timeline import schedule
from steelyard.spec.trials import APART, data_bytes, trials
from steelyard.spec.units import about, bytes_text

if TYPE_CHECKING:  # it is not needed where engines run here
    from steelyard.hosts.host import Host
    from steelyard.hosts.remote.host import RemoteHost
    from steelyard.lab.load_hosts import LoadHosts


def conduct(
    study: Study, *, out: Path | None, report: bool, resume: bool = False, disturbed: bool = False,
    fail_on_claims: bool = False, load_hosts: LoadHosts | None = None, host: Host | None = None,
    bench_hosts: Sequence[RemoteHost] = (),
) -> None:  # fmt: skip
    """Run a study, print its summary, write its report.

    Args:
        study: the study.
        out: the result's folder.
        report: write the HTML report.
        resume: `out` may be an interrupted run of this study, which then goes on.
        disturbed: trials of it that were disturbed from outside are run again.
        load_hosts: where the engines run; None = here.
        host: where the systems are; None = here.
        bench_hosts: machines that run whole trials, side by side; none = they run here.
        fail_on_claims: raise GateError when a claim of the study is not confirmed.

    Raises:
        SteelyardError: what went wrong first; the result is written all the same.
    """
    from steelyard.report.study.standing import standings_of
    from steelyard.report.taint import taint

    goes_on = resume and out is not None and (out / "run.json").is_file()
    judge = partial(taint, steal=False) if study.only_losses else taint
    show = make_show(Console(stderr=True, highlight=False))
    try:
        outcome = conduct_study(
            study, show, process_start_ns(), out, resume=goes_on, disturbed=disturbed, judge=judge,
            stand=standings_of, load_hosts=load_hosts, host=host, bench_hosts=bench_hosts,
        )  # fmt: skip
    finally:
        show.finish()
    failed = len(outcome.errors)  # before a report that cannot be made adds to them
    _present(outcome, report=report, points=len(study.cells))
    if outcome.interrupted:
        again = f"; `{outcome.again()}` goes on with it" if outcome.planned > 1 else ""
        raise Interrupted(f"interrupted; what was measured is in {outcome.path}{again}")
    if outcome.errors:
        if outcome.planned > 1 and failed:
            outcome.errors[0].message += f" ({failed} of {outcome.planned} trials failed)"
        raise outcome.errors[0]
    if fail_on_claims:
        require_claims(outcome.path)


def _present(outcome: Outcome, *, report: bool, points: int) -> None:
    """Say what came out; a report that cannot be made hides neither the result nor what went wrong first."""
    from steelyard.report import text_report, write_report

    console = Console(highlight=False)
    lines = [*_looked(outcome), *_disturbed(outcome), *_undone(outcome), f"result: {outcome.path}"]
    try:
        if points > 1:  # a page of each trial would be long; any of them can be had afterwards
            show_points(outcome.path, console)
            show_claims(outcome.path, console)
        else:
            text_report(outcome.path, console)
        lines += [f"report: {write_report(outcome.path, 'html', None)}"] if report else []
    except Exception as error:
        outcome.errors.append(InfrastructureError(f"the report could not be made: {error}"))
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def _looked(outcome: Outcome) -> list[str]:
    if not outcome.looks:
        return []
    looks = f"{outcome.looks} look{'s' * (outcome.looks > 1)} at the claims"
    return [f"{looks}; {outcome.added or 'no'} trials were added to the plan"]


def _disturbed(outcome: Outcome) -> list[str]:
    if not outcome.disturbed or outcome.planned == 1:
        return []
    return [
        f"{outcome.disturbed} of {outcome.planned} trials were disturbed from outside and do not count; "
        f"`{outcome.again('--disturbed')}` runs them again"
    ]


def _undone(outcome: Outcome) -> list[str]:
    """Actions that did not end as they should, of which no error tells; a controller's are left out."""
    from steelyard.results.read import open_run

    try:
        found = [
            (trial.path.name, one)
            for trial in open_run(outcome.path).trials
            for one in trial.actions().each()
            if one.how not in (None, "done") and not one.by
        ]
    except (SteelyardError, OSError):  # what is wrong with the result is said elsewhere
        return []
    if not found:
        return []
    number, one = found[0]
    count = len({name for name, _ in found})
    said = f"trial {number}, {one.id}: {one.how}" + (f": {one.reason}" if one.reason else "")
    return [f"in {count} of {outcome.planned} trials actions were not done; the first: {said}"]


def list_trials(study: Study, *, here: bool) -> None:
    """Print the trials a study becomes, in their order, and about how much time and disk they need.

    Args:
        study: the study.
        here: its systems would be on this machine, if they are ours.
    """
    console = Console(highlight=False)
    planned = trials(study)
    check_able(study, [trial for trial in planned if trial.timeline])
    check_programs(action for trial in planned for action in trial.timeline)
    shares = study.reset not in APART
    for trial in planned:
        words = [f"{trial.number:4}", f"#{trial.repetition}", f"seed {trial.seed}"]
        words += [f"cluster {trial.group}"] if shares else []
        words += [f"data set {trial.data}"] if study.reset == "restore" else []
        words += [
            trial.label or trial.system.kind,
            f"workload {trial.workload.name}",
            _data(trial),
            _rate(trial),
        ]
        console.print("  ".join(words), soft_wrap=True, markup=False)
    for line in _timelines(study):
        console.print(line, soft_wrap=True, markup=False)
    for line in _searches(study, planned):
        console.print(line, soft_wrap=True, markup=False)
    console.print(_size(study, planned), soft_wrap=True, markup=False)
    for line in assumptions(study):
        console.print(f"  assumed: {line}", soft_wrap=True, markup=False)
    for line in shortages(planned, room_of(LocalHost())) if here else ():
        console.print(line, soft_wrap=True, markup=False)


def _timelines(study: Study) -> list[str]:
    """What will be done to the systems during runs, and when."""
    named = {point.load.timeline: point.timeline for point in study.cells if point.timeline}
    return [line for name, actions in named.items() for line in schedule(name, actions)]


def _searches(study: Study, planned: list[Trial]) -> list[str]:
    """The rates that are found before the first trial, and on clusters of which sizes."""
    found: dict[str, list[int | None]] = {}
    for (name, _), trial in first_of_each(study, planned).items():
        found.setdefault(name, []).append(getattr(trial.system, "nodes", None))
    lines = []
    for name, sizes in found.items():
        nodes = ", ".join(str(size) for size in sorted({size for size in sizes if size is not None}))
        many = f"{len(sizes)} search{'es' * (len(sizes) > 1)}"
        on = f", on {nodes} node{'s' * (nodes != '1')}" if nodes else ""
        lines.append(f"rate {name}: {many} before the first trial{on}")
    return lines


def _size(study: Study, planned: list[Trial]) -> str:
    needs = estimate(planned)
    seconds = needs.seconds + searches_seconds(study, planned)
    count = f"{len(planned)} trial{'s' * (len(planned) > 1)}"
    points = (
        f" of {len(study.cells)} points, order {study.order}, reset {study.reset}" if study.points else ""
    )
    return (
        f"{count}{points}; nothing was started\n"
        f"{about(seconds)}; disk: about {bytes_text(needs.disk_bytes)} at a time for the systems, "
        f"{bytes_text(needs.results_bytes)} for the results{_beyond(study, needs.seconds)}"
    )


def _beyond(study: Study, plan_s: float) -> str:
    """What may be run beyond the plan."""
    budget, count = study.budget, len(study.claims) + len(study.checks)
    if budget.fixed or len(study.cells) * study.repetitions == 1:
        return ""
    allowed = about(plan_s if budget.time_s is None else budget.time_s)
    most = budget.most(study.repetitions)
    until = f"{count} claims and checks are decided" if count > 1 else "the claim is decided"
    added = (
        f", and up to {most} repetitions of a point until {until}"
        if count and most > study.repetitions
        else ""
    )
    return f"\nbeyond the plan, {allowed} at most: what was disturbed is run again{added} (--fixed: nothing)"


def _data(trial: Trial) -> str:
    return f"{trial.workload.records:,} records, about {bytes_text(data_bytes(trial))} with replicas"


def _rate(trial: Trial) -> str:
    load = trial.load
    limit = f"{load.operations:,} operations" if load.operations else f"{load.duration_s:g} s"
    if load.search:
        return f"{limit}, at {load.search.share:g} of the highest rate, which is searched"
    if load.curve_of:
        shares = _along(load.curve).removesuffix("/s")
        return f"{limit}, {shares} of rate {load.curve_of}, at most {load.cap} in flight"
    if share := share_of(trial):
        return f"{limit}, {share.share:g} of rate {share.of}, at most {load.cap} in flight"
    due = _along(load.curve) if load.curve else f"{load.target:g}/s" if load.target else ""
    return f"{limit}, {due} due, at most {load.cap} in flight" if due else f"{limit}, {load.cap} clients"


def _along(curve: Sequence[tuple[float, float]]) -> str:
    """`a curve of 1,000 to 4,000/s`; where it never changes, the rate alone."""
    rates = [rate for _, rate in curve]
    least, greatest = min(rates), max(rates)
    return f"a curve of {least:,.6g} to {greatest:,.6g}/s" if least < greatest else f"{greatest:g}/s"
