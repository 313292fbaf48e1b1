"""Nested tables as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(values: Mapping[str, Any], under: str = "") -> dict[str, Any]:
    """Nested tables as dotted path -> value."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        path = f"{under}.{key}" if under else str(key)
        found |= flat(value, path) if isinstance(value, Mapping) and value else {path: value}
    return found
