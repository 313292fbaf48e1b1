"""`steelyard snapshots`: loaded data sets that are kept for the trials of studies with reset = "restore"."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.help import GroupedCommand

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None,
    help="Loaded data sets that are kept for later trials: list, check and remove them.",
    epilog="Example: steelyard snapshots list",
)  # fmt: skip


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard snapshots list")
def list_() -> None:
    """List all snapshots: what is in each, when it was loaded, and what it takes of the disk."""
    from steelyard.cli.cluster import table
    from steelyard.hosts.snapshots import files, store
    from steelyard.spec.units import bytes_text

    rows, total = [], 0
    for key in store.listed():
        used = files.used_bytes(store.folder() / key)
        total += used
        rows.append([key, *_words(key), bytes_text(used)])
    if not rows:
        typer.echo("no snapshots")
        return
    table(["snapshot", "system", "nodes", "records", "loaded", "disk"], rows)
    typer.echo(f"{bytes_text(total)} in {store.folder()}")


def _words(key: str) -> list[str]:
    from steelyard.hosts.snapshots import store
    from steelyard.hosts.snapshots.checksums import SnapshotChangedError

    try:
        found = store.find(key)
    except SnapshotChangedError:
        return ["cannot be read", "-", "-", "-"]
    if found is None:
        return ["gone", "-", "-", "-"]
    version = found.shape.get("result", {}).get("version", "")
    records, loaded = found.load.get("records", 0), str(found.load.get("created", "-"))
    return [f"{found.kind} {version}", str(len(found.nodes)), f"{records:,}", loaded]


@app.command("check", cls=GroupedCommand, epilog="Example: steelyard snapshots check 0a1b2c3d4e5f6071")
def check(key: Annotated[str, typer.Argument(help="The snapshot.")]) -> None:
    """See that a snapshot still is, byte for byte, what was taken; every restore does that, too."""
    from steelyard.hosts.snapshots import store

    found = store.get(key)
    found.check()
    typer.echo(f"{key}: {found.files} files are what they were")


@app.command("rm", cls=GroupedCommand, epilog="Example: steelyard snapshots rm 0a1b2c3d4e5f6071")
def rm(
    keys: Annotated[list[str] | None, typer.Argument(help="The snapshots.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Remove all there are.")] = False,
) -> None:
    """Remove snapshots; a study that needs one loads its data anew."""
    from steelyard.errors import InputError
    from steelyard.hosts.snapshots import store

    if bool(keys) == every:
        raise InputError("name snapshots, or say --all", hint="`steelyard snapshots list` shows all")
    for key in keys or store.listed():
        store.remove(key)
        typer.echo(f"{key} is removed")
