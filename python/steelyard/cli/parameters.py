"""From a table of flags to the parameters of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from steelyard.spec.flag import Flag


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
