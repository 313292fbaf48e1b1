"""`steelyard bench`: one measurement, said in flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.options import DO_HELP, FLAGS, SET_HELP, systems_help
from steelyard.cli.parameters import (
    Count,
    Key,
    Python,
    Scheduler,
    SchedulerCa,
    SchedulerCert,
    SchedulerKey,
    Servers,
    Ssh,
    Watched,
    with_flags,
)

EXAMPLE = (
    "Example: steelyard bench cassandra -w a --nodes 3 --rf 3 --read-consistency QUORUM "
    "--write-consistency QUORUM --records 100000 --operations 200000 --clients 32"
)


@with_flags(FLAGS)
def bench(  # noqa: PLR0917 - typer calls it by name
    system: Annotated[str, typer.Argument(help=systems_help())],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result, which must not exist.  [default: results/TIME-NAME]"),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
    set_: Annotated[list[str] | None, typer.Option("--set", help=SET_HELP)] = None,
    do: Annotated[list[str] | None, typer.Option("--do", help=DO_HELP)] = None,
    ssh: Ssh = None,
    scheduler: Scheduler = None,
    load_hosts: Count = None,
    server_hosts: Servers = None,
    watch_hosts: Watched = None,
    key: Key = None,
    python: Python = None,
    scheduler_ca: SchedulerCa = None,
    scheduler_cert: SchedulerCert = None,
    scheduler_key: SchedulerKey = None,
    set_yaml: Annotated[list[str] | None, typer.Option("--set-yaml", hidden=True)] = None,
    set_site: Annotated[list[str] | None, typer.Option("--set-site", hidden=True)] = None,
    **words: Any,
) -> None:
    """Bring a database up, load it, drive it, and report.

    The system is `embedded` (a store inside the engine's own process), `cassandra` or `hbase` (a local
    cluster of real nodes, or with --hosts one that runs already), or `null` (nothing: what the engine itself
    costs).
    """
    from steelyard.cli.bench_study import bench_study
    from steelyard.cli.conduct import conduct

    pairs = [*(set_ or ()), *(set_yaml or ()), *(set_site or ())]  # the last two are what --set was called
    elsewhere = (
        ssh,
        scheduler,
        load_hosts,
        server_hosts,
        watch_hosts,
        key,
        python,
        scheduler_ca,
        scheduler_cert,
        scheduler_key,
    )
    if elsewhere == (None,) * len(elsewhere):
        conduct(bench_study(system, words, pairs, do or ()), out=out, report=report)
        return
    from steelyard.cli.server_hosts import roles_of, using
    from steelyard.cli.sources import source_of

    source = source_of(ssh, scheduler, scheduler_ca, scheduler_cert, scheduler_key)
    roles = roles_of(source, load_hosts, server_hosts, watch_hosts)
    study = bench_study(system, roles.words(words), pairs, do or ())
    with using(study, roles, key, python) as (loading, host):
        conduct(study, out=out, report=report, load_hosts=loading, host=host)
