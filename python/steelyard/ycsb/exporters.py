"""YCSB's exporters: lines of text, JSON objects, a JSON array; and one JSON document, which is ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable

from steelyard.ycsb.java import number_text
from steelyard.ycsb.kinds import Row


def text(rows: Iterable[Row]) -> str:
    """`[READ], Operations, 511`, a line each."""
    return "".join(f"[{metric}], {what}, {number_text(value)}\n" for metric, what, value in rows)


def json_objects(rows: Iterable[Row]) -> str:
    """Objects one after another, which is no JSON document: as YCSB's JSONMeasurementsExporter."""
    return " ".join(map(_object, rows)) + "\n"


def json_array(rows: Iterable[Row]) -> str:
    """An array of objects: as YCSB's JSONArrayMeasurementsExporter."""
    return f"[ {', '.join(map(_object, rows))} ]\n"


def json_document(rows: Iterable[Row]) -> str:
    """One object: section -> measurement -> value; what is no number is null."""
    found: dict[str, dict[str, float | None]] = {}
    for metric, what, value in rows:
        found.setdefault(metric, {})[what] = value if math.isfinite(value) else None
    return json.dumps(found, indent=2) + "\n"


def _object(row: Row) -> str:
    metric, what, value = row
    number = number_text(value) if math.isfinite(value) else json.dumps(number_text(value))
    words = f'"metric" : {json.dumps(metric)},\n  "measurement" : {json.dumps(what)}'
    return f'{{\n  {words},\n  "value" : {number}\n}}'


EXPORTERS: dict[str, Callable[[Iterable[Row]], str]] = {
    "text": text,
    "json-objects": json_objects,
    "json-array": json_array,
    "json": json_document,
}
