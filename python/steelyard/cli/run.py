"""`steelyard run`: a study from its file, or one that is shipped, from its beginning or from where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.parameters import (
    Benches,
    Count,
    Key,
    Python,
    Scheduler,
    SchedulerCa,
    SchedulerCert,
    SchedulerKey,
    Servers,
    Ssh,
    Unlike,
    Watched,
)
from steelyard.errors import InputError

EXAMPLE = "Example: steelyard run noise-floor --small --set repetitions=3 --dry-run"


def run(  # noqa: PLR0917 - typer calls it by name
    study: Annotated[
        str,
        typer.Argument(help="A study's TOML file, or a shipped one's name (`steelyard studies list`)."),
    ] = "",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="path=value laid over the study; may be repeated.")
    ] = None,
    small: Annotated[
        bool, typer.Option("--small", help="The study's small form: its [small] overlay.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the trials, with an estimate of time and disk, and stop.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result; an interrupted run goes on.  [default: results/TIME-NAME]"),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the study of this result folder; no study is named then.")
    ] = None,
    disturbed: Annotated[
        bool,
        typer.Option("--disturbed", help="With --resume: run again also what was disturbed from outside."),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|N|TIME,N",
            help="What may be run beyond the plan: 2h, 24 (most repetitions of a point), or 2h,24.  "
            "[default: as long as the plan takes, four times its repetitions]",
        ),
    ] = None,
    fixed: Annotated[
        bool,
        typer.Option("--fixed", help="Keep the plan as it is: nothing is run again or added at its end."),
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
    fail_on_claims: Annotated[
        bool,
        typer.Option("--fail-on-claims", help="End with 1 unless every claim of the study is confirmed."),
    ] = False,
    ssh: Ssh = None,
    scheduler: Scheduler = None,
    load_hosts: Count = None,
    server_hosts: Servers = None,
    benches: Benches = None,
    unlike_hosts: Unlike = False,
    watch_hosts: Watched = None,
    key: Key = None,
    python: Python = None,
    scheduler_ca: SchedulerCa = None,
    scheduler_cert: SchedulerCert = None,
    scheduler_key: SchedulerKey = None,
) -> None:
    """Run every trial of a study, and report.

    A study that was interrupted goes on where it was when the same command is given again with the same
    --out, or with --resume RESULT: trials that are done are kept, one that was not finished is begun again.
    With --disturbed so is one that other guests of the host or other programs disturbed; both are kept.

    A study ends when it is decided: when its plan has been carried out, what was disturbed is run again, and
    repetitions are added for claims that so many are likely to decide, within --budget. However often the
    claims are looked at, they share one error rate of 5 % (docs/statistics.md). --fixed keeps the plan.
    """
    from steelyard.cli.conduct import conduct, list_trials
    from steelyard.results.store import keeps_plan
    from steelyard.spec.budget import overrides
    from steelyard.spec.read import read_study
    from steelyard.spec.shipped import find_study

    if fixed and budget is not None:
        raise InputError("--fixed keeps the plan, and --budget says what may be added to it: leave one out")
    if disturbed and resume is None:
        raise InputError("--disturbed goes with --resume: it is about trials that are done")
    if resume is not None:
        if study or set_ or small or out:
            raise InputError(
                "--resume goes on with the study as it was: no study, --set, --small or --out beside it"
            )
        path, out = resume / "study.toml", resume
    elif not study:
        raise InputError("Missing argument 'STUDY'.", hint="`steelyard studies list` names the shipped ones")
    else:
        path = find_study(study)
    said = [
        *(set_ or ()),
        *(overrides(budget) if budget is not None else ()),
        *(["budget.fixed=true"] if fixed else ()),
    ]
    read = read_study(path, said, small=small)
    if budget is not None and (read.budget.fixed or (out is not None and keeps_plan(out))):
        raise InputError(
            f"--budget {budget}: {path} keeps its plan (budget.fixed), and nothing is added to it",
            hint="leave --budget out; a study that ran --fixed stays fixed, and another --out starts it anew",
        )
    if fail_on_claims and not read.claims:
        raise InputError(f"--fail-on-claims: {path} has no [[claims]]")
    if dry_run:
        list_trials(read, here=server_hosts is None and benches is None)
        return
    from steelyard.cli.fleet import fleet_of, taking_part

    fleet = fleet_of(
        read,
        {
            "ssh": tuple(ssh.split(",")) if ssh is not None else None,
            "scheduler": scheduler,
            "scheduler_ca": str(scheduler_ca) if scheduler_ca else None,
            "scheduler_cert": str(scheduler_cert) if scheduler_cert else None,
            "scheduler_key": str(scheduler_key) if scheduler_key else None,
            "load_hosts": load_hosts,
            "server_hosts": server_hosts,
            "benches": benches,
            "unlike_hosts": unlike_hosts,
            "watch": tuple(watch_hosts.split(",")) if watch_hosts is not None else None,
            "key": str(key) if key else None,
            "python": python,
        },
    )
    with taking_part(read, fleet) as machines:
        conduct(
            read, out=out, report=report, resume=True, disturbed=disturbed, fail_on_claims=fail_on_claims,
            load_hosts=machines.load_hosts, host=machines.host, bench_hosts=machines.bench_hosts,
        )  # fmt: skip
