"""What every table says of its command and its machine, and its place in a document."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from steelyard.watch import host_facts


def machine(load: float) -> Iterator[str]:
    """The command and the machine, as lines of Markdown; `load` is the load average before."""
    host = host_facts([])
    yield f"`{' '.join(['python', *sys.argv])}`, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    yield ""
    yield f"- {host['cpu_model']}, {os.cpu_count()} cores, Linux {host['kernel']}; load before {load:.2f}"


def write(path: Path, who: str, lines: Sequence[str]) -> None:
    """Replace what stands between the marks of this program."""
    begin, end = f"<!-- {who} writes from here -->", f"<!-- to here ({who}) -->"
    text = path.read_text() if path.exists() else f"{begin}\n{end}\n"
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise SystemExit(f"{path} has no place for it: {begin} ... {end}")
    path.write_text("\n".join([before + begin, "", *lines, "", end + after]))
