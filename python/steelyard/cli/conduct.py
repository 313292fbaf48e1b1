"""From a checked study to a result on disk, its summary on the terminal, and an exit code."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from steelyard.errors import InfrastructureError, Interrupted
from steelyard.progress import make_show
from steelyard.results.clock import process_start_ns
from steelyard.spec.study import Study
from steelyard.spec.trials import data_bytes, trials
from steelyard.spec.units import bytes_text
from steelyard.study import Outcome
from steelyard.study import conduct as conduct_study


def conduct(study: Study, *, out: Path | None, report: bool) -> None:
    """Run a study, print its summary, write its report.

    Raises:
        SteelyardError: what went wrong first; the result is written all the same.
    """
    show = make_show(Console(stderr=True, highlight=False))
    try:
        outcome = conduct_study(study, show, process_start_ns(), out)
    finally:
        show.close()
    _present(outcome, report=report)
    if outcome.interrupted:
        raise Interrupted(f"interrupted; what was measured is in {outcome.path}")
    if outcome.errors:
        raise outcome.errors[0]


def _present(outcome: Outcome, *, report: bool) -> None:
    """Say what came out; a report that cannot be made hides neither the result nor what went wrong first."""
    from steelyard.report import text_report, write_report

    console = Console(highlight=False)
    lines = [f"result: {outcome.path}"]
    try:
        text_report(outcome.path, console)
        if report:
            lines.append(f"report: {write_report(outcome.path, 'html', None)}")
    except Exception as error:
        outcome.errors.append(InfrastructureError(f"the report could not be made: {error}"))
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def list_trials(study: Study) -> None:
    """Print the trials a study becomes, with about how much data each loads."""
    console = Console(highlight=False)
    planned = trials(study)
    for trial in planned:
        load = trial.load
        limit = f"{load.operations:,} operations" if load.operations else f"{load.duration_s:g} s"
        rate = (
            f"{load.target:g}/s due, at most {load.cap} in flight" if load.target else f"{load.cap} clients"
        )
        data = f"{trial.workload.records:,} records, about {bytes_text(data_bytes(trial))} with replicas"
        console.print(
            f"{trial.number:4}  seed {trial.seed}  {trial.system.kind}  workload {trial.workload.name}  "
            f"{data}  {limit}, {rate}",
            soft_wrap=True,
            markup=False,
        )
    console.print(f"{len(planned)} trial{'s' * (len(planned) > 1)}; nothing was started", markup=False)
