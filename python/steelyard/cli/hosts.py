"""`steelyard hosts`: other machines, before anything is measured with them."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.parameters import SSH_HELP, Key, Python

SECONDS = 0.5
"""How long bytes are sent between two machines."""
COLUMNS = [
    "host", "version", "engine", "Java", "cores", "memory", "clock ahead by", "known to", "left over",
]  # fmt: skip

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Other machines: whether they can be used, and how they are connected.",
    epilog="Example: steelyard hosts check --ssh a,b --key ~/.ssh/id_ed25519",
)


@app.callback()
def main() -> None:
    """Keep `check` a word of its own while it is the only one."""


@app.command(cls=GroupedCommand, epilog="Example: steelyard hosts check --ssh a,b --key ~/.ssh/id_ed25519")
def check(
    ssh: Annotated[str, typer.Option(help=SSH_HELP)],
    key: Key = None,
    python: Python = None,
) -> None:
    """Look at machines: version, Java, cores, memory, clocks, leftovers, and bandwidth between them."""
    from steelyard.cli.cluster import table
    from steelyard.cli.load_hosts import machines_of, workers
    from steelyard.hosts.remote.check import bandwidths, look

    with workers(machines_of(ssh, None), key, python) as found:
        seen = [look(host) for host in found.hosts]
        table(COLUMNS, [one.words() for one in seen])
        rates = bandwidths(found.hosts, SECONDS)
    if rates:
        typer.echo()
        table(["from", "to", "bandwidth"], [list(row) for row in rates])
    for text in (text for one in seen for text in one.warnings()):
        typer.echo(f"warning: {text}", err=True)
