"""`steelyard bench`: one measurement, said in flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.hbase_options import HBASE_CLUSTER
from steelyard.cli.options import CLUSTER, FLAGS, with_flags

EXAMPLE = (
    "Example: steelyard bench cassandra -w a --nodes 3 --rf 3 --read-consistency QUORUM "
    "--write-consistency QUORUM --records 100000 --operations 200000 --clients 32"
)


@with_flags(FLAGS)
def bench(
    system: Annotated[str, typer.Argument(help="embedded, cassandra, hbase, or null (the engine alone).")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result, which must not exist.  [default: results/TIME-NAME]"),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
    set_yaml: Annotated[
        list[str] | None,
        typer.Option(help="key=value: any cassandra.yaml key; may be repeated.", rich_help_panel=CLUSTER),
    ] = None,
    set_site: Annotated[
        list[str] | None,
        typer.Option(
            help="key=value: any hbase-site key, or hdfs-site key (dfs....); may be repeated.",
            rich_help_panel=HBASE_CLUSTER,
        ),
    ] = None,
    **words: Any,
) -> None:
    """Bring a database up, load it, drive it, and report.

    The system is `embedded` (a store inside the engine's own process), `cassandra` or `hbase` (a local
    cluster of real nodes, or with --hosts one that runs already), or `null` (nothing: what the engine itself
    costs).
    """
    from steelyard.cli.bench_study import SITE, YAML, bench_study
    from steelyard.cli.conduct import conduct

    pairs = [*((YAML, pair) for pair in set_yaml or ()), *((SITE, pair) for pair in set_site or ())]
    conduct(bench_study(system, words, pairs), out=out, report=report)
