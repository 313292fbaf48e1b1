"""The samples of a run: compact in memory, a spool on disk against a crash, one Parquet file at the end."""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

SCHEMA = {"t_ns": pl.Int64, "source": pl.String, "metric": pl.String, "value": pl.Float64}


class Table:
    """Rows of (t_ns, source, metric, value), 20 bytes each; one thread adds, any may read.

    Args:
        spool: a file to append to at each `flush`, one JSON line a sample; None for none.
    """

    def __init__(self, spool: Path | None = None) -> None:
        self._spool = spool
        self._unspooled: list[tuple[int, str, dict[str, float]]] = []
        self._lock = threading.Lock()
        self._series: dict[tuple[str, str], int] = {}
        self._t_ns, self._id, self._value = array("q"), array("i"), array("d")
        self._latest: dict[tuple[str, str], float] = {}

    def add(self, t_ns: int, source: str, values: Mapping[str, float]) -> None:
        """Add one source's sample."""
        if not values:
            return
        with self._lock:
            for metric, value in values.items():
                key = (source, metric)
                self._t_ns.append(t_ns)
                self._id.append(self._series.setdefault(key, len(self._series)))
                self._value.append(value)
                self._latest[key] = value
        if self._spool is not None:
            self._unspooled.append((t_ns, source, dict(values)))

    def latest(self, source: str, metric: str) -> float | None:
        """The newest value, or None if there is none yet."""
        return self._latest.get((source, metric))

    def flush(self) -> None:
        """Append what is new to the spool.

        Raises:
            OSError: the disk is full or the folder is gone; nothing in memory is lost.
        """
        if self._spool is None or not self._unspooled:
            return
        lines = [
            json.dumps({"t_ns": t_ns, "source": source, "values": values})
            for t_ns, source, values in self._unspooled
        ]
        self._unspooled = []
        with self._spool.open("a") as out:
            out.write("\n".join(lines) + "\n")

    def frame(self, start: int = 0) -> pl.DataFrame:
        """All rows from the `start`-th on, in the columns of `system.parquet`, in their order."""
        with self._lock:
            t_ns, ids, value = (np.array(column[start:]) for column in (self._t_ns, self._id, self._value))
            names = list(self._series)
        which = pl.Series(ids, dtype=pl.UInt32)
        source = pl.Series([name[0] for name in names], dtype=pl.String).gather(which)
        metric = pl.Series([name[1] for name in names], dtype=pl.String).gather(which)
        return pl.DataFrame({"t_ns": t_ns, "source": source, "metric": metric, "value": value}, schema=SCHEMA)

    def write(self, path: Path) -> None:
        """Write the Parquet file, then remove the spool, which it replaces."""
        partial = path.with_name(path.name + ".partial")
        self.frame().write_parquet(partial)
        partial.replace(path)
        if self._spool is not None:
            self._spool.unlink(missing_ok=True)
