"""From a table of flags to the parameters of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.spec.flag import Flag

HOSTS = "Many hosts"
SCHEDULER_HELP = (
    "Instead of --ssh a running Dask scheduler, tls://HOST:PORT, whose workers' machines are used; "
    "needs steelyard[fleet]."
)
SSH_HELP = "Machines reached by ssh, [USER@]HOST[:PORT] with commas between; needs steelyard[fleet]."
Ssh = Annotated[str | None, typer.Option("--ssh", help=SSH_HELP, rich_help_panel=HOSTS)]
Scheduler = Annotated[str | None, typer.Option("--scheduler", help=SCHEDULER_HELP, rich_help_panel=HOSTS)]


def _tls(flag: str, what: str) -> Any:
    words = f"{what} for --scheduler.  [default: as Dask's own configuration says]"
    return typer.Option(flag, help=words, rich_help_panel=HOSTS)


SchedulerCa = Annotated[Path | None, _tls("--scheduler-ca", "Certificate of the authority,")]
SchedulerCert = Annotated[Path | None, _tls("--scheduler-cert", "Certificate of this laboratory,")]
SchedulerKey = Annotated[Path | None, _tls("--scheduler-key", "Its private key,")]
Count = Annotated[
    int | None,
    typer.Option(
        "--load-hosts",
        help="How many of them run an engine each.  [default: of --ssh all but the server hosts]",
        rich_help_panel=HOSTS,
    ),
]
Servers = Annotated[
    int | None,
    typer.Option(
        "--server-hosts",
        help="How many of them, after the load hosts, have the nodes of the local cluster.  [default: none]",
        rich_help_panel=HOSTS,
    ),
]
Watched = Annotated[
    str | None,
    typer.Option(
        "--watch-hosts",
        help="Machines of a given cluster whose CPU, memory, disk and network are sampled; as --ssh.",
        rich_help_panel=HOSTS,
    ),
]
Benches = Annotated[
    int | None,
    typer.Option(
        "--benches",
        help="How many of them run whole trials, side by side, each with a testbed of its own.",
        rich_help_panel=HOSTS,
    ),
]
Unlike = Annotated[
    bool,
    typer.Option(
        "--unlike-hosts",
        help="Benches may differ in processor, cores, memory, kernel and Java.",
        rich_help_panel=HOSTS,
    ),
]
Key = Annotated[
    Path | None,
    typer.Option(
        "--key",
        help="Private key for --ssh and --watch-hosts.  [default: as ssh's configuration and agent have it]",
        rich_help_panel=HOSTS,
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        help="Python with this Steelyard on those machines.  [default: the path of this one]",
        rich_help_panel=HOSTS,
    ),
]
"""Flags of all commands that use other machines."""


def with_flags(
    flags: Sequence[Flag],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a parameter for each flag; its function receives them as `words`, absent ones None."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        kept = [p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD]
        command.__signature__ = inspect.Signature(kept + [_parameter(f) for f in flags])  # type: ignore[attr-defined]
        return command

    return decorate


def _parameter(flag: Flag) -> inspect.Parameter:
    option = typer.Option(
        *flag.name.split(" "), help=flag.help, rich_help_panel=flag.panel, show_default=False
    )
    return inspect.Parameter(
        flag.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[flag.kind | None, option],
    )
