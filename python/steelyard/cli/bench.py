"""`steelyard bench`: one measurement, said in flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.options import CLUSTER, FLAGS, with_flags

EXAMPLE = (
    "Example: steelyard bench cassandra -w a --nodes 3 --rf 3 --read-consistency QUORUM "
    "--write-consistency QUORUM --records 100000 --operations 200000 --clients 32"
)


@with_flags(FLAGS)
def bench(
    system: Annotated[str, typer.Argument(help="embedded, cassandra, or null (the engine alone).")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result, which must not exist.  [default: results/TIME-NAME]"),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
    set_yaml: Annotated[
        list[str] | None,
        typer.Option(help="key=value: any cassandra.yaml key; may be repeated.", rich_help_panel=CLUSTER),
    ] = None,
    **words: Any,
) -> None:
    """Bring a database up, load it, drive it, and report.

    The system is `embedded` (a store inside the engine's own process), `cassandra` (a local cluster of
    real nodes, or with --hosts one that runs already), or `null` (nothing: what the engine itself costs).
    """
    from steelyard.cli.conduct import conduct
    from steelyard.cli.words import bench_study

    conduct(bench_study(system, words, set_yaml or ()), out=out, report=report)
