"""`steelyard hosts`: other machines, before anything is measured with them."""

from __future__ import annotations

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.parameters import Key, Python, Scheduler, SchedulerCa, SchedulerCert, SchedulerKey, Ssh
from steelyard.errors import InputError

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
def check(  # noqa: PLR0917 - typer calls it by name
    ssh: Ssh = None,
    scheduler: Scheduler = None,
    key: Key = None,
    python: Python = None,
    scheduler_ca: SchedulerCa = None,
    scheduler_cert: SchedulerCert = None,
    scheduler_key: SchedulerKey = None,
) -> None:
    """Look at machines: version, Java, cores, memory, clocks, leftovers, and bandwidth between them."""
    from steelyard.cli.cluster import table
    from steelyard.cli.load_hosts import all_of
    from steelyard.cli.sources import source_of
    from steelyard.hosts.remote.check import bandwidths, look

    source = source_of(ssh, scheduler, scheduler_ca, scheduler_cert, scheduler_key)
    if source is None:
        raise InputError("--ssh or --scheduler names the machines that are looked at")
    with all_of(source, key, python) as found:
        seen = [look(host) for host in found.hosts]
        table(COLUMNS, [one.words() for one in seen])
        rates = bandwidths(found.hosts, SECONDS)
    if rates:
        typer.echo()
        table(["from", "to", "bandwidth"], [list(row) for row in rates])
    for text in (text for one in seen for text in one.warnings()):
        typer.echo(f"warning: {text}", err=True)
