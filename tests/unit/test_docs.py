"""Every command that the documents show can be said: its options are there, and its words are understood."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer import BadParameter, Exit
from typer.exceptions import TyperException
from typer.main import get_command

from steelyard.cli import app
from steelyard.errors import SteelyardError

ROOT = Path(__file__).parents[2]
OF_A_READER = ("extending",)
"""Its commands are of a system that the reader adds."""
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.stem not in OF_A_READER)]
INLINE = re.compile(r"`(steelyard [^`\n]+)`")
COMMANDS = 60
"""Fewer would say that they are not found."""


def blocks(text: str) -> Iterator[str]:
    """What stands between fences, whatever language they name."""
    yield from text.split("\n```")[1::2]


def commands(text: str) -> Iterator[str]:
    for block in blocks("\n" + text):
        for line in block.replace("\\\n", " ").splitlines():
            for said in line.partition(" # ")[0].split(" ; "):
                if said.strip().removeprefix("$ ").startswith("steelyard "):
                    yield said.strip().removeprefix("$ ")
    yield from (said for said in INLINE.findall(text) if " [" not in said)  # that is how usage is written


def test_commands_are_found() -> None:
    assert sum(len([*commands(page.read_text())]) for page in PAGES) >= COMMANDS


def understood(words: list[str]) -> None:
    """Raises TyperException where the command is none, or has no such option."""
    command: Any = get_command(app)
    context = None
    while hasattr(command, "commands"):
        context = command.make_context(command.name, [*words], parent=context, resilient_parsing=True)
        context.resilient_parsing = False  # from here on what is unknown is an error
        _, command, words = command.resolve_command(context, words)
    with suppress(BadParameter, SteelyardError, Exit):  # a file of the reader's, which is not here; --help
        command.make_context(command.name, words, parent=context).close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_documents_say_can_be_said(page: Path) -> None:
    for said in commands(page.read_text()):
        words = shlex.split(said)[1:]
        try:
            understood(words)
        except TyperException as error:
            pytest.fail(f"{said}: {error.format_message()}")


@pytest.mark.parametrize("said", ["bnch", "bench cassandra --consistency QUORUM", "studies lst"])
def test_what_cannot_be_said_is_found(said: str) -> None:
    with pytest.raises(TyperException):
        understood(shlex.split(said))
