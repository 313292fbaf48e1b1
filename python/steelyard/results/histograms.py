"""HdrHistogram logs as the engine writes them: one line per interval and tag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hdrh.histogram import HdrHistogram

_LINE = re.compile(r"Tag=([^,]+),([\d.]+),([\d.]+),[\d.]+,(\S+)")


def read_log(file: Path) -> Iterator[tuple[str, float, HdrHistogram]]:
    """(tag, start in seconds since the phase began, histogram of ns) of every line of a log.

    A last line cut short, as a killed engine leaves it, is left out.
    """
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        try:
            yield match[1], float(match[2]), HdrHistogram.decode(match[4])
        except Exception:  # hdrh raises whatever its decoder trips over
            return


def read_totals(folder: Path, phase: str) -> dict[str, HdrHistogram]:
    """Tag -> histogram over a whole phase; from the log of its seconds when the phase never ended."""
    totals = folder / f"{phase}.totals.hdr"
    seconds = folder / f"{phase}.hdr"
    found: dict[str, HdrHistogram] = {}
    for file in (totals, seconds):
        if not file.is_file():
            continue
        for tag, _, histogram in read_log(file):
            if tag in found:
                found[tag].add(histogram)
            else:
                found[tag] = histogram
        if found:
            break
    return found
