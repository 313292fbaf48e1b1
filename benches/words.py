"""The words of `steelyard bench` for benches: what describes a system there describes it here."""

from __future__ import annotations

from collections.abc import Sequence

from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from steelyard.cli import app
from steelyard.cli.bench_study import bench_study
from steelyard.errors import SteelyardError
from steelyard.spec.models import Study


def study_of(words: Sequence[str]) -> Study:
    """The study that `steelyard bench WORDS` would run; ends the program with the reason if there is none."""
    commands = get_command(app)
    assert isinstance(commands, TyperGroup)  # noqa: S101 - `bench` is one of several
    try:
        said = commands.commands["bench"].make_context("bench", list(words)).params
        return bench_study(said.pop("system"), said, said.pop("set_") or ())
    except (TyperException, SteelyardError) as error:
        raise SystemExit(f"{error}; see steelyard bench --help") from None
