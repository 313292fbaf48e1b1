"""Steelyard: a benchmark laboratory for distributed wide-column databases.

import steelyard
trials = steelyard.open("results/RUN").trials()
trials.group_by("system", "clients").agg(pl.col("ok_per_s").mean())
steelyard.open("results/RUN").claims()
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.report.opened import Opened

__all__ = ["open"]


def open(path: Path | str) -> Opened:
    """A result folder as polars frames. Raises InputError when there is no result in it."""
    from steelyard.report.opened import Opened  # polars, which --help must not wait for

    return Opened(path)
