"""`steelyard cluster`: clusters that stay up until they are taken down."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.options import SET_HELP, cluster_flags, systems_help
from steelyard.cli.parameters import Key, Python, Ssh, with_flags

if TYPE_CHECKING:
    from steelyard.cli.found_clusters import Part, Readable

FOLLOW_S = 0.3

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Bring up clusters that stay, look at them, and take them down.",
    epilog="Example: steelyard cluster up cassandra --nodes 3 --name lab",
)


@app.command(
    cls=GroupedCommand,
    epilog="Example: steelyard cluster up cassandra --nodes 3 --name lab --profile quick",
)
@with_flags(cluster_flags())
def up(  # noqa: PLR0917 - typer calls it by name
    system: Annotated[str, typer.Argument(help=systems_help(local=True))],
    name: Annotated[str, typer.Option(help="The cluster's name.")] = "lab",
    set_: Annotated[list[str] | None, typer.Option("--set", help=SET_HELP)] = None,
    ssh: Ssh = None,
    key: Key = None,
    python: Python = None,
    **words: Any,
) -> None:
    """Bring a cluster up; it stays until `cluster down`. With --ssh each machine has a node."""
    from steelyard.cli.bench_study import bench_study
    from steelyard.cli.found_clusters import clients_folder, cluster_host
    from steelyard.errors import InputError
    from steelyard.hosts.records import clusters_folder
    from steelyard.spec.kind import declarations
    from steelyard.systems.kind import kind_of
    from steelyard.systems.placement import check_laid_over

    wanted = bench_study(system, _a_node_each(words, ssh), set_ or ()).system
    kind = kind_of(wanted.kind)
    if not kind.local:
        known = [name for name, other in declarations().items() if other.local]
        raise InputError(f"no cluster of {system} can be brought up", hint=f"known: {', '.join(known)}")
    with cluster_host(ssh, key, python) as host:
        check_laid_over(kind.typed, kind.laid_over, host)
        testbed = kind.lasting(
            wanted, name=name, root=clients_folder() if ssh else clusters_folder(), host=host
        )
        said = _warn(testbed.warnings(), 0)
        testbed.up(typer.echo)
    _warn(testbed.warnings(), said)
    typer.echo(f"{name} is up after {testbed.up_seconds:.1f} s: {', '.join(testbed.answers_at())}")
    for way in testbed.bench_words():
        typer.echo(f"used with: steelyard bench {way}")
    typer.echo(f"down again with: steelyard cluster down {name}{f' --ssh {ssh}' if ssh else ''}")


def _a_node_each(words: dict[str, Any], ssh: str | None) -> dict[str, Any]:
    """The flags' words; with other machines, a node for each unless they say how many."""
    if ssh is None:
        return words
    from steelyard.cli.load_hosts import machines_of
    from steelyard.cli.server_hosts import one_node_each

    return one_node_each(words, machines_of(ssh, None))


def _warn(warnings: list[str], said: int) -> int:
    """Print the warnings after the first `said`; returns how many have been said then."""
    for warning in warnings[said:]:
        typer.echo(f"warning: {warning}", err=True)
    return len(warnings)


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster status lab")
def status(
    name: Annotated[str, typer.Argument(help="The cluster's name.")] = "lab",
    ssh: Ssh = None,
    key: Key = None,
    python: Python = None,
) -> None:
    """Show each node: process, whether it answers, whom it sees, how much it holds."""
    from steelyard.cli.found_clusters import cluster_host, nodes_of, parts_of
    from steelyard.spec.units import bytes_text
    from steelyard.systems.kind import kind_of

    with cluster_host(ssh, key, python) as host:
        found = parts_of(name, host)
        kind = kind_of(found[0].record.kind)
        told = [kind.status(part.host, part.record, one) for part, one in nodes_of(found)]
    rows = [
        [
            node.name,
            node.address,
            node.place,
            ",".join(map(str, node.pids)) or "-",
            node.state,
            node.sees or "-",
            bytes_text(node.load_bytes),
            bytes_text(node.memory_bytes),
            " of ".join(map(bytes_text, node.heap_bytes)) if node.heap_bytes else "-",
        ]
        for node in told
    ]
    place, sees = kind.columns
    table(["node", "address", place, "pid", "state", sees, "load", "memory", "heap"], rows)


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard cluster list")
def list_(ssh: Ssh = None, key: Key = None, python: Python = None) -> None:
    """List all clusters of this user."""
    from steelyard.cli.found_clusters import cluster_host, parts

    with cluster_host(ssh, key, python) as host:
        rows = [_listed(part) for part in parts(host)]
    if rows:
        table(["name", "system", "addresses", "state", "owner"], rows)
    else:
        typer.echo("no clusters")


def _listed(part: Part) -> list[str]:
    """What `list` says of what is on one machine; whose a cluster on another is, that machine knows."""
    record, look = part.record, part.host.look
    names = [str(node["name"]) for node in record.nodes]
    started = [[*record.processes_of(name).values()] for name in names]
    whole = sum(bool(some) and all(look(one) for one in some) for some in started)
    owner = f"pid {record.owner.pid}" if record.owner else "cluster up"
    told = {"abandoned": "left over", "elsewhere": f"on {record.machine.hostname}"}
    state = f"{whole}/{len(record.nodes)} run"
    if not part.machine:
        state = told.get(record.state(), state)
    version = f"{record.kind} {record.system.get('version', '')}"
    return [record.name, version, record.addresses, state, owner]


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster logs lab node2 --follow")
def logs(  # noqa: PLR0917 - typer calls it by name
    name: Annotated[str, typer.Argument(help="The cluster's name.")],
    node: Annotated[str | None, typer.Argument(help="One node of it.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as the log grows.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Lines from the end of each log.")] = 40,
    ssh: Ssh = None,
    key: Key = None,
    python: Python = None,
) -> None:
    """Show the ends of the servers' logs."""
    from steelyard.cli.found_clusters import Files, cluster_host, nodes_of, parts_of
    from steelyard.errors import InputError, nearest

    with cluster_host(ssh, key, python) as host:
        nodes = {str(known["name"]): (part.host, known) for part, known in nodes_of(parts_of(name, host))}
        if node is not None and node not in nodes:
            raise InputError(
                f"there is no node {node!r}{nearest(node, nodes)}", hint=f"there are: {', '.join(nodes)}"
            )
        chosen = [nodes[node]] if node else list(nodes.values())
        where = {
            Path(known["folder"], "logs", log): there for there, known in chosen for log in known["logs"]
        }
        try:
            _show_logs(Files(where), list(where), lines, follow=follow)
        except KeyboardInterrupt:
            typer.echo()


def _show_logs(host: Readable, paths: list[Path], lines: int, *, follow: bool) -> None:
    """Print the last lines of each log that there is, then, if wanted, what comes on, without end."""
    from steelyard.errors import InfrastructureError

    shown: dict[Path, int] = {}
    while not shown or follow:
        first = not shown
        for path in paths:
            try:
                new = host.get(path, shown.get(path, 0))
            except FileNotFoundError:
                continue
            shown[path] = shown.get(path, 0) + len(new)
            told = new.decode(errors="replace").splitlines(keepends=True)
            if told:
                typer.echo(f"==> {path} <==" if len(paths) > 1 else "", nl=len(paths) > 1)
                typer.echo("".join(told[-lines:] if first else told), nl=False)
        if not shown:
            raise InfrastructureError("nothing has been logged yet")
        time.sleep(FOLLOW_S if follow else 0.0)


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster down lab")
def down(
    name: Annotated[str, typer.Argument(help="The cluster's name.")],
    ssh: Ssh = None,
    key: Key = None,
    python: Python = None,
) -> None:
    """Stop a cluster's servers and remove all it stored."""
    from steelyard.cli.found_clusters import cluster_host, end

    with cluster_host(ssh, key, python) as host:
        end(name, host)
    typer.echo(f"{name} is down")


def table(header: list[str], rows: list[list[str]]) -> None:
    """Print rows under a header, not cut to a width when the output is no terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=box.SIMPLE_HEAD, show_edge=False)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160).print(table)
