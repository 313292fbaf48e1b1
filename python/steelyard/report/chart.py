"""A chart before it is drawn: the chart library takes a second to load, and text shows no charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Rows = list[dict[str, Any]]
ROWS: dict[str, Any] = {"autosize": {"type": "fit-x", "contains": "padding"}}
"""Of a chart that is as high as it has rows, however wide the page is."""


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        key: its file name without ending.
        title: above it.
        note: a sentence below it.
        group: `system`, or the phase it belongs to; empty for a whole study's.
        draw: makes the Vega-Lite specification with its data.
    """

    key: str
    title: str
    note: str
    group: str
    draw: Callable[[], dict[str, Any]] = field(compare=False)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification."""
        return self.draw()
