"""The highest rates that a study found once, and who shares them, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.report.formatting import clean, plain
from steelyard.report.tables.base import Table


def rates_table(info: Mapping[str, Any]) -> Table | None:
    """One row a rate, from run.json; None for a study that shares none."""
    points = {int(point["point"]): point for point in info.get("points") or ()}
    rows = [_row(said, points.get(int(said["point"]), {})) for said in info.get("rates") or ()]
    note = "Each was found once, before the trials that offer shares of it."
    columns = ("rate", "found at", "result", "operations/s", "probes")
    return Table("Highest rates", columns, rows, words=3, note=note) if rows else None


def _row(said: Mapping[str, Any], point: Mapping[str, Any]) -> tuple[str, ...]:
    levels = [f"{name} {plain(level)}" for name, level in (point.get("levels") or {}).items()]
    where = ", ".join(filter(None, (point.get("system"), point.get("variant"), *levels)))
    found, probes = float(said["found_per_s"]), int(said.get("probes") or 0)
    result = f"{said['folder']}, {said.get('reason')}"
    return clean(said["rate"]), clean(where), clean(result), f"{found:,.0f}", str(probes)
